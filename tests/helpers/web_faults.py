"""Faults in what browsers, proxies and networks are told or believed: headers, origins, defaults, files."""

from __future__ import annotations

import secrets
from dataclasses import replace as changed
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from flask import Flask, Response, request
from werkzeug.middleware.proxy_fix import ProxyFix

from deniable_server import app as app_module
from deniable_server import settings
from deniable_server.pages import layout
from deniable_server.serving import gateway
from deniable_server.web import context, middleware, static
from deniable_server.web.middleware import SecurityHeaders
from tests.helpers.planting import constant, instead_of, replace

# --- what browsers and proxies are told ------------------------------------------------------------------------------


def a_policy_that_allows_inline_scripts() -> None:
    replace(layout, "POLICY", lambda policy: policy.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'"))


def pages_may_be_framed() -> None:
    replace(layout, "POLICY", lambda policy: policy.replace("; frame-ancestors 'none'", ""))


def documents_may_be_guessed_to_be_pages() -> None:
    middleware.HEADERS.pop("X-Content-Type-Options")


@instead_of(context, "as_json")
def results_may_be_kept_by_browsers(original: Any, *given: Any) -> Any:
    response = original(*given)
    response.headers["Cache-Control"] = "private, max-age=60"
    return response


@instead_of(middleware, "protected")
def tls_is_asked_for_a_minute(original: Any, *given: Any) -> Any:
    tls = "Strict-Transport-Security"
    return [(name, "max-age=60" if name == tls else value) for name, value in original(*given)]


@instead_of(SecurityHeaders, "__call__")
def errors_leave_without_headers(original: Any, self: SecurityHeaders, environ: Any, start_response: Any) -> Any:
    return (self._inner if environ["PATH_INFO"] == "/nowhere" else lambda *given: original(self, *given))(
        environ, start_response
    )


@instead_of(middleware, "_is_public")
def other_origins_read_results(_: Any, path: str) -> bool:
    return True


@instead_of(middleware, "sharing")
def other_origins_send_cookies(original: Any, *given: Any) -> Any:
    return [*original(*given), ("Access-Control-Allow-Credentials", "true")]


@instead_of(middleware, "sharing")
def every_origin_is_a_named_one(original: Any, allowed: Any, origin: str | None) -> Any:
    return original((*allowed, origin), origin)


@instead_of(middleware, "sharing")
def a_permission_for_one_origin_is_cached_for_others(original: Any, *given: Any) -> Any:
    return [header for header in original(*given) if header[0] != "Vary"]


def _on_every_response(change: Any) -> None:
    def faulty(original: Any) -> Any:
        def create_app(*given: Any, **named: Any) -> Flask:
            app: Flask = original(*given, **named)
            app.after_request(change)
            return app

        return create_app

    replace(app_module, "create_app", faulty)


def a_cookie_for_respondents() -> None:
    def change(response: Response) -> Response:
        if request.path.startswith("/s/"):
            response.set_cookie("visitor", secrets.token_hex(8), httponly=True, samesite="Strict")
        return response

    _on_every_response(change)


def a_tag_for_every_visitor() -> None:
    def change(response: Response) -> Response:
        if request.path.startswith("/api/v1/surveys/") and request.method == "GET":
            response.set_etag(secrets.token_hex(8))
        return response

    _on_every_response(change)


def _default(**values: Any) -> None:
    """Another value of a setting, where nobody sets it."""
    for name, value in values.items():
        settings.SETTINGS[name] = changed(settings.SETTINGS[name], default=value)
    replace(
        settings.Settings,
        "__init__",
        lambda original: lambda self, **named: original(self, **{**values, **named}),
    )


def the_server_listens_everywhere() -> None:
    _default(bind="0.0.0.0:8000")


def groups_of_one_are_shown_by_default() -> None:
    _default(minimum_group=1)


def a_secret_key_of_128_bits() -> None:
    constant(settings, "secrets", SimpleNamespace(token_hex=lambda _: secrets.token_hex(16)))


def a_short_secret_key_is_taken() -> None:
    constant(settings, "MIN_KEY", 1)


def a_visitor_names_the_host() -> None:
    constant(middleware, "ProxyFix", lambda app, **named: ProxyFix(app, **{**named, "x_host": 1}))


@instead_of(middleware, "register")
def every_visitor_is_taken_for_a_proxy(original: Any, app: Flask, settings: Any) -> None:
    original(app, changed(settings, trusted_proxies=max(1, settings.trusted_proxies)))


@instead_of(gateway, "_environ")
def a_header_with_underscores_passes_for_another(original: Any, scope: Any, body: bytes) -> Any:
    environ = original(scope, body)
    for name, value in scope.headers.items():
        environ.setdefault("HTTP_" + name.upper().replace("-", "_"), value)
    return environ


@instead_of(static, "_serve")
def sources_of_the_server_are_served(original: Any, path: str) -> Any:
    file = Path(layout.__file__).parent / path.rpartition("/")[2]
    if file.is_file():
        return Response(file.read_bytes(), content_type="text/plain; charset=utf-8")
    return original(path)
