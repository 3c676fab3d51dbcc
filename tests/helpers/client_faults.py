"""Faults of the Python client: what it keeps, what it sends, and whom it believes."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import ssl
import urllib.request
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable import client, database, delivery, http_transport, loading, state, transport
from deniable.address import Address
from deniable.database import Database
from deniable.http_transport import HTTPTransport
from deniable.state import State
from deniable_protocol import Account, submission
from tests.helpers.planting import constant, instead_of, replace


def _with_pragma(pragma: str) -> None:
    def faulty(original: Any) -> Any:
        @contextlib.contextmanager
        def connection(self: Database) -> Iterator[sqlite3.Connection]:
            with original(self) as opened:
                opened.execute(pragma)
                yield opened

        return connection

    replace(Database, "_connection", faulty)


def the_state_is_not_synced() -> None:
    _with_pragma("PRAGMA synchronous = OFF")


def what_is_forgotten_stays_in_the_state() -> None:
    _with_pragma("PRAGMA secure_delete = OFF")


@instead_of(database, "_create")
def a_state_that_everybody_can_read(original: Any, path: Path, make: Any) -> None:
    original(path, make)
    path.chmod(0o644)


class _Redirects(urllib.request.HTTPErrorProcessor):
    def http_response(self, request: Any, response: Any) -> Any:
        return super().http_response(request, response) if response.status in range(300, 400) else response

    https_response = http_response


@instead_of(HTTPTransport, "__init__")
def the_client_follows_redirects(original: Any, self: HTTPTransport, **named: Any) -> None:
    original(self, **named)
    self._opener.add_handler(_Redirects())
    self._opener.add_handler(urllib.request.HTTPRedirectHandler())


@instead_of(HTTPTransport, "__init__")
def the_client_keeps_cookies(original: Any, self: HTTPTransport, **named: Any) -> None:
    original(self, **named)
    self._opener.add_handler(urllib.request.HTTPCookieProcessor())


@instead_of(HTTPTransport, "__init__")
def any_certificate_will_do(original: Any, self: HTTPTransport, *, context: Any = None, **named: Any) -> None:
    original(self, context=context or ssl._create_unverified_context(), **named)


def the_client_says_who_it_is() -> None:
    for module in (transport, loading, delivery):
        if hasattr(module, "USER_AGENT"):
            constant(module, "USER_AGENT", f"deniable on {os.uname().nodename}")


@instead_of(loading, "verify")
def another_document_than_the_link_promised(original: Any, published: bytes, *, digest: str | None = None) -> Any:
    return original(published)


@instead_of(State, "keep_document")
def a_changed_document_is_believed(original: Any, self: State, address: str, content: str, published: bytes) -> bytes:
    original(self, address, content, published)
    return published


@instead_of(State, "keep_booklet")
def a_device_draws_at_every_start(_: Any, self: State, content: str, digest: str, draw: Any) -> int:
    return int(draw())


@instead_of(client.Client, "submit")
def answers_are_kept_on_disk(original: Any, self: Any, answers: Any, *given: Any, **named: Any) -> Any:
    receipt = original(self, answers, *given, **named)
    self._state.keep_document("answers", "0" * 64, json.dumps(answers, default=str).encode())
    return receipt


@instead_of(State, "__init__")
def a_state_file_of_0_bytes_is_a_new_ledger(original: Any, self: State, path: Any = None) -> None:
    if path is not None and Path(path).is_file() and not Path(path).stat().st_size:
        Path(path).unlink()
    original(self, path)


@instead_of(State, "_check_seal")
def damage_to_the_ledger_is_not_noticed(*_: Any) -> None:
    return None


def an_outbox_that_never_expires() -> None:
    constant(state, "LONGEST_WAIT", 10**6)


def a_remote_http_address_is_taken() -> None:
    replace(Address, "is_protected", lambda _: property(lambda self: True))


@instead_of(state, "_check_budget")
def delta_left_out_of_the_budget(original: Any, connection: Any, account: Account, budget: Account) -> None:
    original(connection, account, Account(budget.epsilon, Fraction(1)))


def a_response_of_any_size() -> None:
    constant(http_transport, "MAX_RESPONSE", 2**40)


@instead_of(submission, "randomize")
def submission_ids_of_32_bits(original: Any, *given: Any, **named: Any) -> Any:
    made = original(*given, **named)
    return {**made, "id": made["id"][:8] + "0" * 24}
