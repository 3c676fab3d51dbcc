"""The page that respondents see: the questionnaire, how it protects them, and what they have to trust.

May not: set a cookie, log or keep anything about a visitor, or load anything from elsewhere.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, render_template
from flask.typing import ResponseReturnValue

from deniable_protocol import DEFAULT_BUDGET
from deniable_server.web.context import here
from deniable_server.web.routes import route
from deniable_server.wording import STRENGTHS, account_in_words, in_symbols, strength

respondent = Blueprint("respondent", __name__, template_folder="templates")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@route(respondent, "GET", "/s/<survey>", "The page with the questionnaire, for respondents.", gives="text/html")
def survey_page(survey: str) -> ResponseReturnValue:
    storage = here().storage
    published = storage.find(survey)
    if published is None:
        return _page(404, document=None)
    document = published.document
    account = document.account
    return _page(
        200,
        document=document,
        closed=storage.status(published) == "closed",
        picked=len(document.booklets) > 1,
        refused=not account.within(DEFAULT_BUDGET),
        allowed=in_symbols(DEFAULT_BUDGET),
        spent=in_symbols(account),
        strength=strength(account),
        told=STRENGTHS[strength(account)],
        total=account_in_words(account),
    )


def _page(status: int, **values: Any) -> Response:
    response = Response(render_template("respondent.html", **values), status, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response
