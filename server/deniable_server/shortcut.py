"""A shorter way for submissions, around what Flask does for every request: its contexts, routing and hooks take several
times as long as reading a submission and storing it.

It takes the plain case only. Whatever differs in anything goes the ordinary way, to ``api.post_submissions``, and who
asks cannot tell which way it went.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from werkzeug.exceptions import ClientDisconnected

from .edges import sharing
from .installation import Installation
from .problems import as_response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BEFORE, AFTER = "/api/v1/surveys/", "/submissions"
ROUTE = f"{BEFORE}<survey>{AFTER}"


class Shortcut:
    """Stores plain submissions, and passes everything else on."""

    def __init__(self, inner: WSGIApplication, installation: Installation) -> None:
        self._inner, self._installation = inner, installation

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if (
            path.endswith(AFTER)
            and path.startswith(BEFORE)
            and environ["REQUEST_METHOD"] == "POST"
            and environ.get("CONTENT_TYPE") == "application/json"
            and environ.get("CONTENT_LENGTH", "").isdecimal()
            and "HTTP_CONTENT_ENCODING" not in environ
            and "HTTP_TRANSFER_ENCODING" not in environ
            and int(environ["CONTENT_LENGTH"]) <= self._installation.settings.max_body_bytes
        ):
            return self._store(path[len(BEFORE) : -len(AFTER)], environ, start_response)
        return self._inner(environ, start_response)

    def _store(self, survey: str, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        installation = self._installation
        shared = sharing(installation.settings.allowed_origins, environ.get("HTTP_ORIGIN"))
        try:
            published = installation.storage.find(survey)
            if published is None:
                return self._inner(environ, start_response)
            installation.admit(environ.get("REMOTE_ADDR"))
            length = int(environ["CONTENT_LENGTH"])
            body = environ["wsgi.input"].read(length)
            if len(body) < length:
                raise ClientDisconnected
            stored = installation.store(published, body)
        except Exception as error:
            response = as_response(error)
            response.headers.extend(shared)
            installation.metrics.answered(ROUTE, response.status_code)
            return response(environ, start_response)
        installation.metrics.answered(ROUTE, 201)
        answer = b'{"accepted":%d,"duplicates":%d}' % stored
        start_response(
            "201 CREATED",
            [
                ("Content-Type", "application/json"),
                ("Cache-Control", "no-store"),
                ("Content-Length", str(len(answer))),
                *shared,
            ],
        )
        return [answer]
