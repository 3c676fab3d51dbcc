"""Registers routes. Each says in one place where it is, who may use it, what it takes and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from flask import Blueprint
from flask.typing import ResponseReturnValue

from deniable_server.storage import Role

from .auth import check_role
from .openapi import Operation

P = ParamSpec("P")
View = Callable[P, ResponseReturnValue]


def route(
    blueprint: Blueprint, method: str, rule: str, summary: str, *, role: Role | None = None, **details: Any
) -> Callable[[View[P]], View[P]]:
    """A route of the interface for programs. With a ``role``, only tokens of this role or a higher one pass.

    ``summary`` and ``details`` are for its description (``Operation``).
    """

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
            if role is not None:
                survey = kwargs.get("survey")
                check_role(role, survey if isinstance(survey, str) else None)
            return view(*args, **kwargs)

        guarded.operation = Operation(summary, role=role, **details)  # type: ignore[attr-defined]
        blueprint.add_url_rule(rule, view_func=guarded, methods=[method])
        return guarded

    return decorate
