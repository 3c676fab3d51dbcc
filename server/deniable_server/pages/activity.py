"""What people with access did, in sentences, for admins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from deniable_server import editing
from deniable_server.analysis.tables import csv_pieces
from deniable_server.storage.activity import KEPT_ROWS, KEPT_SECONDS, PAGE, Deed
from deniable_server.web.context import here

from .layout import page, shown_to
from .sentences import counted

activity_pages = Blueprint("activity", __name__, template_folder="templates")

SENTENCES = {
    "signed-in": "signed in",
    "signed-out": "signed out",
    "session-ended": "ended a session in another browser",
    "token-used": "used the access token in a program",
    "downloaded": "downloaded {what} of {survey}",
    "link-made": "made a link to the results of {survey} for {for}",
    "link-revoked": "revoked the link to the results of {survey} for {for}",
    "draft-made": "began {draft}",
    "draft-deleted": "deleted {draft}",
    "test-run-started": "started a test run of {draft}",
    "test-run-ended": "ended the test run of {draft}, and deleted its answers",
    "survey-published": "published {survey}",
    "survey-scheduled": "changed when {survey} takes answers",
    "survey-closed": "closed {survey}",
    "survey-deleted": "deleted {survey} for good",
    "survey-archived": "moved {survey} to the archive",
    "survey-listed": "took {survey} out of the archive",
    "invitations-made": "made {invitations} to {survey}",
    "invitations-revoked": "revoked {invitations} to {survey}",
    "results-held": "held the results of {survey} back until {until}",
    "results-shown": "let the results of {survey} be shown at any time",
    "token-made": "gave {for} access as {given}, to {reach}",
    "token-changed": "changed the access of {for}: {given}, {reach}",
    "token-revoked": "revoked the access of {for}",
    "access-given": "gave {for} access to {survey} as {given}",
    "access-withdrawn": "withdrew the access of {for} to {survey}",
}
"""What each event of the security log is in words, after the name of the person."""
DOWNLOADS = {
    "reports": "the randomised reports",
    "estimates": "the estimates",
    "compare": "a comparison",
    "crosstab": "a cross-tab",
    "regression": "a regression",
}


class Line(NamedTuple):
    """A deed as it is shown: when (UTC), who in which role, and what."""

    at: str
    who: str
    role: str
    what: str


@activity_pages.get("/activity")
@shown_to("admin")
def index() -> ResponseReturnValue:
    storage, chosen, before = here().storage, _chosen(), request.args.get("before", "")
    deeds = storage.activity.newest(
        **chosen, before=int(before) if before.isascii() and before.isdecimal() and len(before) < 19 else None
    )
    return page(
        "activity.html",
        lines=[_line(deed, Markup, Markup("<bdi>{}</bdi>").format) for deed in deeds],
        older=deeds[-1].number if len(deeds) == PAGE else None,
        is_first=not before,
        chosen=chosen,
        people=storage.activity.people(),
        surveys=[(survey.id, survey.title) for survey in storage.surveys()],
        days=KEPT_SECONDS // (24 * 3600),
        most=KEPT_ROWS,
    )


@activity_pages.get("/activity.csv")
@shown_to("admin")
def table() -> ResponseReturnValue:
    deeds = here().storage.activity.every(**_chosen())

    def rows() -> Iterator[list[Any]]:
        yield ["at", "token", "person", "role", "event", "survey", "what"]
        for deed in deeds:
            line = _line(deed, str, str)
            yield [line.at, deed.token, deed.label, deed.role, deed.event, deed.survey or "", line.what]

    response = Response(b"".join(csv_pieces(rows())), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="activity.csv"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _chosen() -> dict[str, str | None]:
    return {name: request.args.get(name) or None for name in ("token", "survey")}


def _line(deed: Deed, sentence: Callable[[str], str], quoted: Callable[[str], str]) -> Line:
    at = datetime.fromtimestamp(deed.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return Line(at, deed.label or deed.token, deed.role, in_words(deed, sentence, quoted))


def in_words(deed: Deed, sentence: Callable[[str], str] = str, quoted: Callable[[str], str] = str) -> str:
    """What somebody did. ``sentence`` makes the pattern, ``quoted`` what people wrote: for a page both are Markup."""
    about, event = deed.about, deed.event
    if event == "results-held" and about.get("until") == "0":
        event = "results-shown"
    until, number = about.get("until", ""), about.get("number", "")
    draft = _draft_title(about.get("draft"))
    reach = "all surveys" if about.get("surveys") == "all" else counted(int(about.get("surveys", "0")), "survey")
    if about.get("to"):
        reach = f"{reach} ({about['to']})"
    values = {
        "survey": quoted(_title(deed.survey)),
        "for": quoted(about.get("for") or about.get("person") or about.get("link") or "somebody"),
        "draft": sentence("the draft “{}”").format(quoted(draft)) if draft else f"draft {about.get('draft')}",
        "what": DOWNLOADS.get(about.get("what", ""), about.get("what", "")),
        "until": "it is closed" if until == "closed" else f"it has {until} answers",
        "invitations": counted(int(number), "invitation") if number else "invitations",
        "given": about.get("given", ""),
        "reach": quoted(reach),
    }
    pattern = SENTENCES.get(event, event.replace("-", " ") + (": {survey}" if deed.survey else ""))
    return sentence(pattern).format(**values)


def _title(survey: str | None) -> str:
    """The title of a survey, or its id where it was deleted."""
    published = None if survey is None else here().storage.find(survey)
    return survey or "" if published is None else published.document.survey.title


def _draft_title(number: str | None) -> str:
    """Nothing where the draft is gone."""
    draft = here().storage.drafts.find(int(number)) if number else None
    return "" if draft is None else editing.read(draft.content).title
