"""What is between the network and the routes: base path, proxies, security headers and other origins."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, request
from werkzeug.exceptions import NotFound
from werkzeug.middleware.proxy_fix import ProxyFix

from deniable_server.errors import Kind
from deniable_server.settings import LOCALHOST, Settings

from .problems import problem

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


log = logging.getLogger(__name__)


def register(app: Flask, settings: Settings) -> None:
    """Wrap the app in what the settings ask for."""
    if settings.base_path:
        app.wsgi_app = BasePath(app.wsgi_app, settings.base_path)  # type: ignore[method-assign]
    app.wsgi_app = SecurityHeaders(app.wsgi_app, settings)  # type: ignore[method-assign]
    if not settings.trusted_proxies:
        app.wsgi_app = WarnUntrustedProxy(app.wsgi_app)  # type: ignore[method-assign]
    else:
        app.wsgi_app = trusting(app.wsgi_app, settings.trusted_proxies)  # type: ignore[method-assign, assignment]
    _share_with_other_origins(app, settings.allowed_origins)

    @app.before_request
    def compare_as_it_came() -> None:
        # Flask takes any number of slashes at the start for one, and a proxy that keeps /metrics from visitors may not.
        if request.environ["PATH_INFO"].startswith("//"):
            raise NotFound


def trusting(inner: WSGIApplication, proxies: int) -> WSGIApplication:
    """An app that believes so many proxies who sent a request, and whether that was encrypted.

    The host's name comes in the Host header: a proxy that does not overwrite X-Forwarded-Host would let a visitor
    choose what the links on our pages say.
    """
    return ProxyFix(inner, x_for=proxies, x_proto=proxies, x_host=0)


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "Cache-Control": "no-store",
}
"""What every response says to browsers unless it says otherwise: load, run, guess, keep and pass on nothing."""


def protected(headers: Sequence[tuple[str, str]], scheme: str, settings: Settings) -> list[tuple[str, str]]:
    """These headers, with what every response says."""
    said = {name.lower() for name, _ in headers}
    added = [(name, value) for name, value in HEADERS.items() if name.lower() not in said]
    if scheme == "https":
        # Under a base path this is only a part of a site, and does not speak for all of it.
        whole_host = "" if settings.base_path else "; includeSubDomains"
        added.append(("Strict-Transport-Security", "max-age=31536000" + whole_host))
    return [*headers, *added]


class SecurityHeaders:
    """Adds these headers to whatever leaves the app: outermost, so that no error can get around it."""

    def __init__(self, inner: WSGIApplication, settings: Settings) -> None:
        self._inner, self._settings = inner, settings

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            scheme = environ.get("wsgi.url_scheme", "")
            return start_response(status, protected(headers, scheme, self._settings), *rest)

        return self._inner(environ, start)


class WarnUntrustedProxy:
    """Warns once if X-Forwarded-Proto arrives while trusted_proxies is 0. Cookies are then not Secure, and the rate
    limit sees one address for all visitors.
    """

    def __init__(self, inner: WSGIApplication) -> None:
        self._inner, self._said = inner, False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._said and "HTTP_X_FORWARDED_PROTO" in environ:
            self._said = True
            log.warning("A proxy in front says X-Forwarded-Proto, but --trusted-proxies is 0: it is not listened to")
        return self._inner(environ, start_response)


class BasePath:
    """Serves the app under a path, for proxies that pass addresses on unchanged."""

    def __init__(self, inner: WSGIApplication, path: str) -> None:
        self._inner, self._path = inner, path

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path != self._path and not path.startswith(self._path + "/"):
            response = problem(Kind.NOT_FOUND, f"This server's addresses start with {self._path}/.")
            return response(environ, start_response)
        environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + self._path
        environ["PATH_INFO"] = path[len(self._path) :] or "/"
        return self._inner(environ, start_response)


def _share_with_other_origins(app: Flask, allowed: tuple[str, ...]) -> None:
    """CORS on what respondents' pages use, errors included. No credentials are ever allowed."""

    @app.after_request
    def share(response: Response) -> Response:
        if not _is_public(request.path):
            return response
        response.headers.extend(sharing(allowed, request.headers.get("Origin")))
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "GET, POST"
            response.headers["Access-Control-Allow-Headers"] = "Content-Type"
            response.headers["Access-Control-Max-Age"] = "86400"
        return response


_LOOPBACK = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")


def sharing(allowed: tuple[str, ...], origin: str | None) -> list[tuple[str, str]]:
    """The headers by which a page of this origin may read a response, if it may."""
    headers = [("Access-Control-Expose-Headers", "Deniable-Digest, Deniable-Status, Deniable-Opens, Retry-After")]
    if "*" in allowed:
        headers.append(("Access-Control-Allow-Origin", "*"))
    else:
        headers.append(("Vary", "Origin"))
        if origin is not None and (origin in allowed or (LOCALHOST in allowed and _LOOPBACK.fullmatch(origin))):
            headers.append(("Access-Control-Allow-Origin", origin))
    return headers


def _is_public(path: str) -> bool:
    """Whether this is a survey, its submissions or tokens, or the module that pages load."""
    if path == "/deniable.js" or path.startswith("/deniable/"):
        return True
    head, _, rest = path.partition("/api/v1/surveys/")
    survey, _, action = rest.partition("/")
    return not head and bool(survey) and action in ("", "submissions", "tokens")
