"""An endpoint that does nothing, in Flask and below it, as a reference for what a server could do at most."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Flask

from deniable_server.serving.gateway import Gateway

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

app = Flask("empty")


@app.post("/api/v1/surveys/bench/submissions")
def nothing() -> str:
    return ""


def bare(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Without Flask."""
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]


def gateway() -> Gateway:
    return Gateway(app, int(os.environ["DENIABLE_THREADS"]), 1 << 24)


def bare_gateway() -> Gateway:
    return Gateway(bare, int(os.environ["DENIABLE_THREADS"]), 1 << 24)
