"""What all pages of analysts and admins share: who may see them, their headers, and how an error looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from flask import Flask, Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from deniable_server.errors import Kind, Refusal, StorageError
from deniable_server.storage import Role, Token
from deniable_server.web.auth import comes_from_own_form, form_word, may, signed_in, why_not
from deniable_server.web.context import here
from deniable_server.web.problems import explain

P = ParamSpec("P")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def page(template: str, code: int = 200, /, **values: Any) -> Response:
    """A page that the browser does not keep: the next person at this computer cannot find it."""
    return as_page(render(template, **values), code)


def render(template: str, /, **values: Any) -> str:
    """A template, with what all pages know."""
    try:
        token = signed_in()
    except StorageError:  # a page that says so can still be shown
        token = None
    survey = values["survey"].id if "survey" in values else None
    # Any page that shows a survey says whether it is a test run: no page can forget to. A view has found the survey.
    known = None if survey is None else here().storage.known(survey)
    return render_template(
        template,
        token=token,
        may_write=token is not None and may(token, "editor", None),
        # What one may do with the survey that the page shows; on a page without one, with any.
        **{f"is_{role}": token is not None and may(token, role, survey) for role in ("admin", "editor", "analyst")},
        home=None if token is None else home(token),
        word=form_word(),
        tested=known and known.draft,
        **values,
    )


def as_page(html: str, code: int = 200) -> Response:
    """A response with the headers of every page."""
    response = Response(html, code, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    # To ourselves only. Without it, browsers do not say which page a form comes from.
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def shown_to(role: Role) -> Callable[[Callable[P, ResponseReturnValue]], Callable[P, ResponseReturnValue]]:
    """The page is for browsers that have signed in with this role or a higher one, and with a token for the survey of
    the page, if it has one; others are asked to. Readers are taken to what they may see.
    """

    def decorate(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
            token = signed_in()
            if token is None:
                return _ask_to_sign_in()
            survey = kwargs.get("survey")
            survey = survey if isinstance(survey, str) else None
            if not may(token, role, survey):
                here().events.refused("forbidden", token, needs=role, route=request.endpoint or "")
                if token.role == "reader" and request.method == "GET":
                    # People with a shared link know nothing of roles. The link is for one page: there it is.
                    return redirect(home(token, elsewhere=1), 303)
                raise Refusal(Kind.FORBIDDEN, why_not(token, role, survey))
            if request.method == "POST":
                check_form()
            return view(*args, **kwargs)

        return guarded

    return decorate


def home(token: Token, **values: Any) -> str:
    """Where the holder of a token starts: at the list of surveys, or a reader of one survey at its results."""
    if token.role == "reader" and token.surveys is not None and len(token.surveys) == 1:
        survey = next(iter(token.surveys))
        if may(token, "reader", survey):  # not a test run: who is led there would be led here again, without end
            return url_for("dashboard.overview", survey=survey, **values)
    return url_for("surveys.index", **values)


def holder() -> Token:
    """The token that the browser of this request is signed in with, on a page that is shown to nobody else."""
    token = signed_in()
    assert token is not None
    return token


def check_form() -> None:
    """Refusal unless the form that was sent is one of ours."""
    if not comes_from_own_form():
        here().events.refused("foreign-form", signed_in(), route=request.endpoint or "")
        raise Refusal(
            Kind.FORM,
            "Nothing was changed. Probably the page is from before you signed in. Go back, reload it and try again. "
            "For operators, if that never helps: the proxy must pass on the Host header unchanged, with its port.",
        )


def _ask_to_sign_in() -> ResponseReturnValue:
    if request.method == "POST":
        raise Refusal(Kind.UNAUTHORIZED, "The session has ended, and nothing was changed. Sign in and try again.")
    # The browser does not send our cookie with a link from another site. With one from our own page it does.
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return page("again.html", address=_here())
    return redirect(url_for("sign_in.sign_in", next=_here()), 303)


def _here() -> str:
    return request.script_root + request.full_path.rstrip("?")


def register(app: Flask) -> None:
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.add_template_filter(lambda number: f"{number:,}", "thousands")

    app.register_error_handler(Exception, show_problem)


def show_problem(error: Exception) -> Response:
    """People who ask for a page get the error as a page. Programs get it as a document."""
    explained = explain(error)
    is_program = request.accept_mimetypes.best_match(["application/problem+json", "text/html"]) != "text/html"
    if is_program or request.path.startswith("/api/"):
        return explained.as_response()
    shown = page("problem.html", explained.document.status, problem=explained.document)
    for name in ("Retry-After", "Allow"):
        if name in explained.headers:
            shown.headers[name] = explained.headers[name]
    return shown
