"""Who may do what: tokens and their roles."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import current_app, request

from .problems import Kind, Refusal
from .storage import Role, Storage, Token, utc_today

P = ParamSpec("P")
R = TypeVar("R")

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="deniable"'}


def make_token(storage: Storage, role: Role, label: str) -> tuple[str, Token]:
    """A new token: the secret, which is not kept, and what is."""
    secret = secrets.token_urlsafe(32)  # 256 bits: nobody guesses it, so its plain digest is safe to keep
    token = Token(secrets.token_hex(4), role, label, digest_of(secret), utc_today().isoformat())
    storage.add_token(token)
    return secret, token


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def requires(role: Role) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The route is for tokens of this role. Admins may do whatever analysts may."""

    def decorate(route: Callable[P, R]) -> Callable[P, R]:
        @wraps(route)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            check_role(role)
            return route(*args, **kwargs)

        return guarded

    return decorate


def check_role(role: Role) -> None:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise Refusal(Kind.UNAUTHORIZED, "Send the header  Authorization: Bearer <token>.", _CHALLENGE)
    storage: Storage = current_app.extensions["deniable"].storage
    token = storage.token(digest_of(secret.strip()))
    if token is None:
        raise Refusal(Kind.UNAUTHORIZED, "This token is not known; it may have been revoked.", _CHALLENGE)
    if token.role != role and token.role != "admin":
        raise Refusal(Kind.FORBIDDEN, f"This needs a token of the role {role}.")
