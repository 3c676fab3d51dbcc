"""The OpenAPI document, generated from the routes and from the types that they take and give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from flask import Flask
from werkzeug.routing import Rule

from deniable_server.analysis.query import FLAGS, Query
from deniable_server.errors import Kind
from deniable_server.storage import Role

from .problems import ProblemDocument, responses


@dataclass(frozen=True)
class Operation:
    """What a route says about itself. It takes any of ``takes`` and gives ``gives``: each a type, or the media type of
    something that is not JSON. Without a ``role`` it is for anyone; tokens of the ``optional_role`` may do more.
    """

    summary: str
    gives: Any
    takes: Sequence[Any] = ()
    status: int = 200
    also: Sequence[int] = ()
    role: Role | None = None
    optional_role: Role | None = None
    query: type[Query] | None = None
    problems: Sequence[Kind] = ()


@lru_cache(maxsize=4)  # anyone may ask, and routes do not change
def describe_api(app: Flask) -> dict[str, Any]:
    """The OpenAPI 3.1 document of every documented route."""
    operations = [
        (rule, getattr(app.view_functions[rule.endpoint], "operation", None)) for rule in app.url_map.iter_rules()
    ]
    known = [(rule, operation) for rule, operation in operations if operation is not None]
    types = [kind for _, op in known for kind in (*op.takes, op.gives) if not isinstance(kind, str)]
    _, schemas = msgspec.json.schema_components([*types, ProblemDocument], ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for rule, operation in sorted(known, key=lambda pair: pair[0].rule):
        path = paths.setdefault(re.sub(r"<(\w+)>", r"{\1}", rule.rule), {})
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            path[method.lower()] = _describe(rule, operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Deniable", "version": "1", "description": "Surveys under local differential privacy."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(rule: Rule, operation: Operation) -> dict[str, Any]:
    problems = list(operation.problems)
    if rule.arguments:
        problems.append(Kind.NOT_FOUND)
    if operation.role is not None:
        problems += [Kind.UNAUTHORIZED, Kind.FORBIDDEN, Kind.RATE_LIMIT]
    described: dict[str, Any] = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "summary": operation.summary,
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": _ID} for name in sorted(rule.arguments)),
            *([] if operation.query is None else _parameters(operation.query)),
        ],
        "responses": {
            **{
                str(status): {"description": "As asked.", "content": _content([operation.gives])}
                for status in (operation.status, *operation.also)
            },
            **responses(*sorted(problems, key=lambda kind: kind.status), as_pages=operation.gives == "text/html"),
        },
    }
    if operation.takes:
        described["requestBody"] = {"required": True, "content": _content(operation.takes)}
    if operation.role is not None:
        described["security"] = [{"token": []}]
        described["description"] = f"For tokens of the role {operation.role}."
    if operation.optional_role is not None:
        described["security"] = [{}, {"token": []}]
        described["description"] = f"For anyone; with a token of the role {operation.optional_role}, more."
    return described


def _parameters(query: type[Query]) -> list[dict[str, Any]]:
    flag = {"type": "string", "enum": [*FLAGS]}
    return [
        {
            "name": name,
            "in": "query",
            "description": text,
            "schema": flag if name in query.flags else {"type": "string"},
        }
        for name, text in query.parameters.items()
    ]


_ID = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{1,62}$"}


def _content(kinds: Sequence[Any]) -> dict[str, Any]:
    described: dict[str, Any] = {kind: {"schema": {"type": "string"}} for kind in kinds if isinstance(kind, str)}
    types = [kind for kind in kinds if not isinstance(kind, str)]
    if types:
        schemas, _ = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
        described["application/json"] = {"schema": schema}
    return described
