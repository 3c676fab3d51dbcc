"""Files that pages load: the browser client, which any site may load, and what this server's own pages look like.

May not: serve a file that is not part of the installed packages, except the logo of the operator. All are known
before the first request.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from deniable_server.errors import Kind, Refusal
from deniable_web import web_files

from .context import here
from .routes import route

static = Blueprint("static_files", __name__)

TYPES = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
}


class Asset(NamedTuple):
    """A file as it is sent, plain and compressed; its tag changes with its content."""

    content_type: str
    plain: bytes
    compressed: bytes
    tag: str


def _asset(name: str, plain: bytes) -> Asset:
    content_type = TYPES[name.rpartition(".")[2]]
    return Asset(content_type, plain, gzip.compress(plain, mtime=0), hashlib.sha256(plain).hexdigest()[:32])


@cache
def _known() -> dict[str, Asset]:
    """All files by address; read once: they belong to the version that is installed."""
    return {f"/{name}": _asset(name, content) for name, content in (*web_files(), *_page_files())}


def addresses() -> list[str]:
    """Where files are served, each below the base path: all that pages load, also on demand."""
    return sorted(_known())


def _page_files() -> Iterator[tuple[str, bytes]]:
    for file in (files("deniable_server") / "pages" / "static").iterdir():
        yield f"static/{file.name}", file.read_bytes()


def _serve(path: str) -> ResponseReturnValue:
    asset = _known().get(path)
    if asset is None:
        raise Refusal(Kind.NOT_FOUND, "No file has this address.")
    # Revalidated each time, and answered by 304: a page never runs with half of an old version.
    packed = request.accept_encodings["gzip"] > 0
    response = Response(asset.compressed if packed else asset.plain, content_type=asset.content_type)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Vary"] = "Accept-Encoding"
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.set_etag(f"{asset.tag}{'-gzip' if packed else ''}")
    return response.make_conditional(request)


@route(
    static,
    "GET",
    "/deniable.js",
    "The module that pages load: it randomises in the respondent's browser.",
    gives="text/javascript",
)
def deniable_js() -> ResponseReturnValue:
    return _serve("/deniable.js")


@route(static, "GET", "/deniable/<name>", "What deniable.js loads when it is needed.", gives="text/javascript")
def deniable_part(name: str) -> ResponseReturnValue:
    return _serve(f"/deniable/{name}")


@route(static, "GET", "/deniable/texts/<name>", "The questionnaire's words in one language.", gives="text/javascript")
def deniable_texts(name: str) -> ResponseReturnValue:
    return _serve(f"/deniable/texts/{name}")


@route(static, "GET", "/static/<name>", "Styles, scripts and pictures of this server's own pages.", gives="text/css")
def page_file(name: str) -> ResponseReturnValue:
    return _serve(f"/static/{name}")


@route(static, "GET", "/logo", "The logo of this server, if it has one.", gives="image/*", problems=(Kind.NOT_FOUND,))
def logo() -> ResponseReturnValue:
    picture = here().logo
    if picture is None:
        raise Refusal(Kind.NOT_FOUND, "This server has no logo.")
    response = Response(picture.content, content_type=picture.content_type)
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(hashlib.sha256(picture.content).hexdigest()[:32])
    return response.make_conditional(request)
