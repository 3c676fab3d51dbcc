"""Invitations to a survey as its owners see them: made, counted, revoked, and as a sheet to print.

Lists of people stay in the browser (static/invitations.js): only codes are sent.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from typing import Any

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from deniable_protocol.invitations import show_code
from deniable_server.errors import BadInvitations, Kind, Refusal, SurveyClosed
from deniable_server.storage import Published
from deniable_server.storage.invitations import MOST_AT_ONCE, MOST_USES, code_in
from deniable_server.web.context import here
from deniable_server.web.invitations import find_inviting
from deniable_server.wording import invitation_in_words

from .invitation_sheet import place_of, tickets
from .layout import as_page, holder, page, shown_to
from .sentences import counted, response_rate

inviting = Blueprint("inviting", __name__, template_folder="templates")


@inviting.get("/surveys/<survey>/invitations")
@shown_to("analyst")
def invitations(survey: str) -> ResponseReturnValue:
    return _page(find_inviting(survey))


@inviting.post("/surveys/<survey>/invitations")
@shown_to("editor")
def make(survey: str) -> ResponseReturnValue:
    published, token = find_inviting(survey), holder()
    try:
        number, uses = _number("number", "How many"), _number("uses", "People per code")
        last = _day(request.form.get("expires", ""))
        codes = here().invite(
            published, token, number, uses=uses, short=request.form.get("kind") == "short", expires_on=last
        )
    except (BadInvitations, SurveyClosed) as error:
        return _page(published, 422, problem=str(error))
    text = invitation_in_words(published.document.survey, uses, last)
    many = f"{counted(len(codes), 'invitation')}{f', each for {uses:,} people' if uses > 1 else ''}"
    return _page(published, made=many, shared=uses > 1, table=_table(published, codes), text=text)


@inviting.post("/surveys/<survey>/invitations/sheet")
@shown_to("editor")
def sheet(survey: str) -> ResponseReturnValue:
    """The codes that the form has, as a sheet to print. The server has none to add."""
    published = find_inviting(survey)
    address, codes = _address(published), _codes()
    if not codes:
        raise Refusal(Kind.BAD_PARAMETER, "There is no code to print.")
    asked = published.document.survey
    return as_page(
        render_template(
            "invitation-sheet.html", survey=asked, place=place_of(address), tickets=tickets(address, codes), style=""
        )
    )


@inviting.post("/surveys/<survey>/invitations/unused")
@shown_to("editor")
def unused(survey: str) -> ResponseReturnValue:
    published, codes = find_inviting(survey), _codes()
    left = here().storage.invitations.unused(published, codes)
    said = f"{len(left):,} of {counted(len(codes), 'code')} can still be used."
    return _page(published, found=said, table=_table(published, left))


@inviting.post("/surveys/<survey>/invitations/revoke")
@shown_to("editor")
def revoke(survey: str) -> ResponseReturnValue:
    published, codes, token = find_inviting(survey), _codes(), holder()
    if request.form.get("sure") != "1":
        return _page(
            published, 422, problem="Nothing was revoked. To stop these codes for good, tick the box above the button."
        )
    revoked = here().revoke_invitations(published, codes, token)
    return _page(
        published, found=f"{revoked:,} of {counted(len(codes), 'code')} could still be used. They are revoked."
    )


def _page(published: Published, code: int = 200, /, **values: Any) -> ResponseReturnValue:
    storage = here().storage
    numbers = storage.invitations.numbers(published)
    shown = {"problem": "", "made": "", "shared": False, "found": "", "table": "", "text": "", **values}
    return page(
        "invitations.html",
        code,
        survey=published.document.survey,
        status=storage.status(published),
        numbers=numbers,
        rate=response_rate(numbers.used, numbers.invited),
        fingerprint=published.document.issuer.fingerprint if published.document.issuer else "",
        given=request.form,
        most=MOST_AT_ONCE,
        most_uses=MOST_USES,
        **shown,
    )


def _address(published: Published) -> str:
    link = url_for("respondent.survey_page", survey=published.document.survey.id, _external=True)
    return f"{link}#{published.document.digest}"


def _table(published: Published, codes: list[str]) -> str:
    """Codes and links, as a file for spreadsheets."""
    address, text = _address(published), io.StringIO()
    rows = ((show_code(code), f"{address}.{code}") for code in codes)
    csv.writer(text, lineterminator="\n").writerows([("code", "link"), *rows])
    return text.getvalue()


def _codes() -> list[str]:
    """The codes in what was typed or pasted: one in a line, by itself or in a link."""
    lines = request.form.get("codes", "").splitlines()
    found = [next((code for cell in re.split("[,;\t]", line) if (code := code_in(cell))), None) for line in lines]
    codes = list(dict.fromkeys(code for code in found if code))
    if len(codes) > MOST_AT_ONCE:
        raise Refusal(Kind.TOO_LARGE, f"At most {MOST_AT_ONCE:,} codes at a time.")
    return codes


def _number(name: str, label: str) -> int:
    text = request.form.get(name, "").replace(",", "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise BadInvitations(f"{label}: give a whole number, such as 30.")
    return int(text)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadInvitations("Give the last day as 2026-12-31.") from None
