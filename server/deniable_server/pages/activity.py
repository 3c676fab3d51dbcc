"""What people with access did, in sentences, for admins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from deniable_protocol.checks import SURVEY_ID
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
    titles = cache(_draft_title)
    return page(
        "activity.html",
        lines=[_line(deed, titles, Markup, Markup("<bdi>{}</bdi>").format) for deed in deeds],
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
    deeds, titles = here().storage.activity.every(**_chosen()), cache(_draft_title)

    def rows() -> Iterator[list[Any]]:
        yield ["at", "token", "person", "role", "event", "survey", "what"]
        for deed in deeds:
            line = _line(deed, titles)
            yield [line.at, deed.token, deed.label, deed.role, deed.event, deed.survey or "", line.what]

    response = Response(b"".join(csv_pieces(rows())), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="activity.csv"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _chosen() -> dict[str, str | None]:
    """The token and the survey of the address. What none can be called is left out: no database looks for any text."""
    token, survey = request.args.get("token", ""), request.args.get("survey", "")
    return {
        "token": token if token.isascii() and token.isalnum() else None,
        "survey": survey if SURVEY_ID.fullmatch(survey) else None,
    }


Titles = Callable[[str], str]
"""The title of the draft of a number: ``_draft_title``, which a request asks once for each draft."""


def _line(deed: Deed, titles: Titles, sentence: Callable[[str], str] = str, quoted: Callable[[str], str] = str) -> Line:
    at = datetime.fromtimestamp(deed.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return Line(at, deed.label or deed.token, deed.role, in_words(deed, titles, sentence, quoted))


def in_words(
    deed: Deed, titles: Titles, sentence: Callable[[str], str] = str, quoted: Callable[[str], str] = str
) -> str:
    """What somebody did. ``sentence`` makes the pattern, ``quoted`` what people wrote: for a page both are Markup."""
    about, event = deed.about, deed.event
    if event == "results-held" and about.get("until") == "0":
        event = "results-shown"
    until, number = about.get("until", ""), about.get("number", "")
    draft = _draft(about.get("draft", ""), titles, sentence, quoted)
    reach = "all surveys" if about.get("surveys") == "all" else counted(int(about.get("surveys", "0")), "survey")
    if about.get("to"):
        reach = f"{reach} ({about['to']})"
    values = {
        "survey": sentence("a test run of {}").format(draft)
        if draft
        else quoted(about.get("title") or deed.survey or ""),
        "for": quoted(about.get("for") or about.get("person") or about.get("link") or "somebody"),
        "draft": draft,
        "what": DOWNLOADS.get(about.get("what", ""), about.get("what", "")),
        "until": "it is closed" if until == "closed" else f"it has {until} answers",
        "invitations": counted(int(number), "invitation") if number else "invitations",
        "given": about.get("given", ""),
        "reach": quoted(reach),
    }
    pattern = SENTENCES.get(event, event.replace("-", " ") + (": {survey}" if deed.survey else ""))
    return sentence(pattern).format(**values)


def _draft(number: str, titles: Titles, sentence: Callable[[str], str], quoted: Callable[[str], str]) -> str:
    """A draft by its title, or by its number where it is gone."""
    title = titles(number) if number else ""
    return sentence("the draft “{}”").format(quoted(title)) if title else number and f"draft {number}"


def _draft_title(number: str) -> str:
    """Nothing where the draft is gone. A draft may have two million characters: each is to be read once."""
    draft = here().storage.drafts.find(int(number))
    return "" if draft is None else editing.read(draft.content).title
