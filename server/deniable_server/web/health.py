"""What operators and their tools ask: is it alive, is it ready, what has it done, what can it do."""

from __future__ import annotations

from flask import Blueprint, Response, current_app
from flask.typing import ResponseReturnValue

from deniable_server.errors import Kind
from deniable_server.web.context import as_json, here

from .metrics import CONTENT_TYPE
from .openapi import describe_api
from .routes import route

health = Blueprint("health", __name__)


@route(health, "GET", "/healthz", "200 while the process answers. Says nothing about storage.", gives=dict)
def healthz() -> ResponseReturnValue:
    return as_json({"status": "ok"})


@route(
    health,
    "GET",
    "/readyz",
    "200 while submissions can be stored; 503 otherwise.",
    gives=dict,
    problems=(Kind.UNAVAILABLE,),
)
def readyz() -> ResponseReturnValue:
    here().storage.ready()
    return as_json({"status": "ready"})


@route(health, "GET", "/metrics", "Counters for Prometheus.", gives="text/plain")
def metrics() -> ResponseReturnValue:
    return Response(here().metrics.text(), content_type=CONTENT_TYPE)


@route(health, "GET", "/openapi.json", "This interface, described.", gives=dict)
def openapi() -> ResponseReturnValue:
    return as_json(describe_api(current_app._get_current_object()))  # type: ignore[attr-defined]  # a proxy has it
