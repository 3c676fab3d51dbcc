"""People with access, for admins: their access tokens, the surveys that these are for, and who can see a survey."""

from __future__ import annotations

import time
from typing import Any

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from deniable_server.errors import BadAccess, BadLabel, Kind, Refusal
from deniable_server.storage import Role, Token
from deniable_server.storage.tokens import RANKS, make_token
from deniable_server.web.context import find, here
from deniable_server.wording import with_roles

from .layout import holder, page, shown_to

people = Blueprint("people", __name__, template_folder="templates")

ROLES: dict[Role, str] = {
    "reader": "sees the results of the surveys that you choose, and downloads the estimates.",
    "analyst": "also downloads the randomised reports, sees how far a survey is, and makes links that share results.",
    "editor": "also writes and publishes surveys, closes them, holds results back, and makes invitations.",
    "admin": "may do everything, with all surveys: also give people access, and see what they did.",
    "collector": "is for a program: it sends the answers of many people to one survey, and reads nothing.",
}
"""The roles, and what each allows: a sentence that goes on after its name."""
ON_A_SURVEY: tuple[Role, ...] = ("reader", "analyst", "editor")
"""What somebody can be on one survey, and something else on others."""
MOST_DAYS = 36_500
DAYS = 365
"""For so long a new access token is valid, unless somebody says otherwise."""


@people.get("/people")
@shown_to("admin")
def index() -> ResponseReturnValue:
    return _index()


@people.post("/people")
@shown_to("admin")
def make() -> ResponseReturnValue:
    """The new access token is in this answer only."""
    label = " ".join(request.form.get("label", "").split())[:100]
    try:
        if not label:
            raise BadLabel("Give a name. It is shown here and under Activity.")
        role, surveys = _given_access()
        secret, made = make_token(
            here().storage, role, label, surveys=surveys, days=_days(), made_by=holder().label or holder().id
        )
    except (BadAccess, BadLabel) as error:
        return _index(422, problem=str(error))
    _note("token-made", made)
    return _index(made=made, secret=secret)


@people.get("/people/<person>")
@shown_to("admin")
def one(person: str) -> ResponseReturnValue:
    return _one(_found(person))


@people.post("/people/<person>")
@shown_to("admin")
def change(person: str) -> ResponseReturnValue:
    known = _others_only(_found(person))
    try:
        role, surveys = _given_access()
        if known.is_link or "collector" in (role, known.role):
            raise BadAccess("A link or a collector cannot be changed. Revoke it, and make another one.")
        here().storage.tokens.change(person, role, surveys)
    except BadAccess as error:
        return _one(known, 422, problem=str(error))
    _note("token-changed", _found(person))
    return redirect(url_for("people.index"), 303)


@people.get("/people/<person>/revoke")
@shown_to("admin")
def ask_to_revoke(person: str) -> ResponseReturnValue:
    known, tokens = _found(person), here().storage.tokens
    ending = [each for each in tokens.all() if each.maker == person]
    sessions = tokens.open_sessions(int(time.time()))
    return page(
        "revoke.html",
        person=known,
        links=ending,
        sessions=sum(sessions.get(each.id, 0) for each in (known, *ending)),
        titles=_titles(),
    )


@people.post("/people/<person>/revoke")
@shown_to("admin")
def revoke(person: str) -> ResponseReturnValue:
    known = _others_only(_found(person))
    here().storage.tokens.revoke(person)
    _note("token-revoked", known)
    return redirect(url_for("people.index"), 303)


# --- from the side of a survey ---------------------------------------------------------------------------------------


@people.get("/surveys/<survey>/access")
@shown_to("admin")
def access(survey: str) -> ResponseReturnValue:
    published, storage = find(survey), here().storage
    known = sorted(storage.tokens.all(), key=_by_name)
    own = [token for token in known if not token.is_link and token.role != "collector"]
    return page(
        "access.html",
        survey=published.document.survey,
        status=storage.status(published),
        can=[(token, role, storage.tokens.is_valid(token)) for token in own if (role := token.role_on(survey))],
        cannot=[token for token in own if token.role_on(survey) is None and storage.tokens.is_valid(token)],
        links=sum(token.is_link and token.role_on(survey) is not None for token in known),
        roles=ON_A_SURVEY,
    )


@people.post("/surveys/<survey>/access")
@shown_to("admin")
def give_access(survey: str) -> ResponseReturnValue:
    """Gives somebody a role on this survey or, with ``withdraw=1``, takes it away."""
    find(survey)
    person, tokens = _found(request.form.get("person", "")), here().storage.tokens
    if request.form.get("withdraw") == "1":
        if tokens.withdraw(person.id, survey):
            here().events.did("access-withdrawn", holder(), {"for": person.label}, survey=survey, person=person.id)
    else:
        role = next((each for each in ON_A_SURVEY if each == request.form.get("role")), None)
        if role is None:
            raise Refusal(Kind.BAD_PARAMETER, f"On a survey, a person is {', '.join(ON_A_SURVEY)}.")
        if tokens.grant(person.id, survey, role):
            here().events.did(
                "access-given", holder(), {"for": person.label}, survey=survey, person=person.id, given=role
            )
    return redirect(url_for("people.access", survey=survey), 303)


# --- what forms say --------------------------------------------------------------------------------------------------


def _found(person: str) -> Token:
    for token in here().storage.tokens.all():
        if token.id == person:
            return token
    raise Refusal(Kind.NOT_FOUND, "No access token has this id. It may have been revoked.")


def _others_only(person: Token) -> Token:
    """Nobody can shut themselves out, and so there is always an admin left."""
    if person.id == holder().id:
        raise Refusal(
            Kind.BAD_PARAMETER, "This is the access token that you are signed in with. Ask another admin to do this."
        )
    return person


def _given_access() -> tuple[Role, dict[str, Role] | None]:
    """The role that was chosen, or the highest one on a survey; and the surveys with the role on each, None: all."""
    role = request.form.get("role", "")
    if role not in ROLES:
        raise BadAccess("Choose a role.")
    if request.form.get("reach") == "all":
        return role, None
    known = _titles()
    surveys = {survey: _role_on(survey, role) for survey in request.form.getlist("survey") if survey in known}
    return max((role, *surveys.values()), key=lambda each: RANKS.get(each, -1)), surveys


def _role_on(survey: str, role: Role) -> Role:
    """The one that was chosen for this survey, or else that for all."""
    chosen = request.form.get(f"role-{survey}")
    return role if role == "collector" else next((each for each in ON_A_SURVEY if each == chosen), role)


def _days() -> int | None:
    text = request.form.get("days", "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= MOST_DAYS):
        raise BadAccess(f"Valid for: give a number of days from 1 to {MOST_DAYS:,}, or leave it empty.")
    return int(text)


def _note(event: str, person: Token) -> None:
    surveys = "all" if person.surveys is None else str(len(person.surveys))
    named = {"for": person.label, "to": with_roles(person.surveys or {}, person.role)}
    here().events.did(event, holder(), named, person=person.id, given=person.role, surveys=surveys)


# --- the pages -------------------------------------------------------------------------------------------------------


def _index(code: int = 200, /, **values: Any) -> ResponseReturnValue:
    tokens = here().storage.tokens
    known = tokens.all()
    shown = {"problem": "", "made": None, "secret": "", **values}
    given = request.form if shown["problem"] else MultiDict[str, str]()
    return page(
        "people.html",
        code,
        people=[(each, tokens.is_valid(each)) for each in sorted(known, key=_by_name) if not each.is_link],
        links=[(each, tokens.is_valid(each)) for each in sorted(known, key=_by_name) if each.is_link],
        labels={each.id: each.label or each.id for each in known},
        sessions=tokens.open_sessions(int(time.time())),
        address=url_for("sign_in.sign_in", _external=True),
        given=given,
        days=DAYS,
        most=MOST_DAYS,
        **_choices(given.get("role", "analyst"), given.get("reach", "some"), _ticked(given)),
        **shown,
    )


def _by_name(token: Token) -> tuple[str, str]:
    return token.label.lower(), token.id


def _one(person: Token, code: int = 200, /, problem: str = "") -> ResponseReturnValue:
    if problem:
        chosen = _choices(request.form.get("role", ""), request.form.get("reach", ""), _ticked(request.form))
    else:
        on = {survey: "" if role == person.role else role for survey, role in (person.surveys or {}).items()}
        chosen = _choices(person.role, "all" if person.surveys is None else "some", on)
    return page("person.html", code, person=person, problem=problem, **chosen)


def _ticked(form: MultiDict[str, str]) -> dict[str, str]:
    return {survey: form.get(f"role-{survey}", "") for survey in form.getlist("survey")}


def _choices(role: str, reach: str, chosen: dict[str, str]) -> dict[str, Any]:
    """What the fields for role and surveys show. ``chosen``: surveys, with the role there if it is another one."""
    titles = _titles()
    return {
        "roles": ROLES,
        "on_a_survey": ON_A_SURVEY,
        "role": role,
        "reach": reach,
        "chosen": chosen,
        "titles": titles,
    }


def _titles() -> dict[str, str]:
    return {survey.id: survey.title for survey in here().storage.surveys()}
