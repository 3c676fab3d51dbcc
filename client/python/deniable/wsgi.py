"""A WSGI app as the server, without sockets: for the tests of apps that embed the client.

May not: be used in production, where the server is another machine. The app runs in the calling thread, so a timeout
cannot cut it short.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from .transport import MAX_RESPONSE, Response

WSGIApp = Callable[[dict[str, Any], Callable[..., Callable[[bytes], object]]], Iterable[bytes]]


class WSGITransport:
    """Calls a WSGI app directly: ``deniable.Client(url, transport=deniable.WSGITransport(app))``. ``most`` bytes of a
    response are read.
    """

    def __init__(self, app: WSGIApp, *, most: int | None = None) -> None:
        self._app = app
        self._most = MAX_RESPONSE if most is None else most

    def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Response:
        started: list[tuple[str, list[tuple[str, str]]]] = []
        written = io.BytesIO()

        def start_response(status: str, response_headers: list[tuple[str, str]], exc_info: object = None) -> Any:
            started[:] = [(status, response_headers)]
            return written.write

        chunks = self._app(_environ(method, url, body or b"", headers), start_response)
        try:
            for chunk in chunks:
                written.write(chunk)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        if not started:
            raise ConnectionError("the app returned without calling start_response")
        status, response_headers = started[0]
        return Response(int(status.split()[0]), dict(response_headers), written.getvalue()[: self._most])


def _environ(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The request as PEP 3333 wants it."""
    parts = urlsplit(url)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(parts.path).decode("latin-1"),
        "QUERY_STRING": parts.query,
        "SERVER_NAME": parts.hostname,
        "SERVER_PORT": str(parts.port or {"http": 80, "https": 443}[parts.scheme]),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": parts.netloc,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return environ
