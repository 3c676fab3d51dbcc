"""Signing in to an app in this process, as a browser does it."""

from __future__ import annotations

import re

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server.storage import Role
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import storage_of

BROWSER = {"Accept": "text/html", "Origin": "http://localhost"}


def word_in(page: TestResponse) -> str:
    """The word that the forms of a page carry."""
    found = re.search(r'name="word" value="([0-9a-f]{64})"', page.text)
    assert found is not None, page.text
    return found[1]


def send(http: FlaskClient, path: str, page: str, **fields: str) -> TestResponse:
    """A form, as the browser sends it from this page."""
    return http.post(path, data={"word": word_in(http.get(page)), **fields}, headers=BROWSER)


def enter(http: FlaskClient, app: Flask, role: Role = "analyst", *surveys: str) -> str:
    """Sign in with a new token of this role, for these surveys or for all; its secret."""
    secret, _ = make_token(storage_of(app), role, "test", surveys=dict.fromkeys(surveys, role) or None)
    assert send(http, "/sign-in", "/sign-in", token=secret).status_code == 303
    return secret
