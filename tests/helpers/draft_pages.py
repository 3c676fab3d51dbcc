"""The pages of drafts, as a browser uses them."""

from __future__ import annotations

import json
import re
from typing import Any
from zlib import crc32

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server import editing
from deniable_server.editing import Sketch
from deniable_server.storage.drafts import Draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, send, word_in

CANARY = "Zebra crossing at noon"
"""A text that is in a draft and nowhere else."""
QUESTION = {"id": "q", "type": "yes_no", "text": "Q?"}
ENGLISH: dict[str, Any] = {
    "questions": [QUESTION],
    "segments": [],
    "together": [],
    "notice": "N",
    "closing": "C",
    "asked_by": "A",
    "contact": "B",
}
"""What makes a small survey in one language of the example."""


def found(app: Flask, number: int) -> Draft:
    """The draft of this number, as it is stored."""
    draft = storage_of(app).drafts.find(number)
    assert draft is not None
    return draft


def sketch_of(app: Flask, number: int) -> Sketch:
    """What is in it."""
    return editing.read(found(app, number).content)


def number_in(response: TestResponse) -> int:
    """The draft that this leads to."""
    assert response.status_code == 303, response.text
    led = re.fullmatch(r"/drafts/(\d+)", response.location)
    assert led is not None, response.location
    return int(led[1])


def begin(http: FlaskClient, **fields: str) -> TestResponse:
    """Begin a draft, as the form does it."""
    return send(http, "/surveys/new", "/surveys/new", **fields)


def word(http: FlaskClient) -> str:
    """What the forms of this session carry."""
    return word_in(http.get("/sign-in"))


def changing(http: FlaskClient, number: int, *changes: dict[str, Any], **fields: str) -> TestResponse:
    """Send changes, as the script of the page does."""
    numbered = [{"id": f"{crc32(json.dumps(each).encode())}", **each} for each in changes]
    data = {"word": word(http), "changes": json.dumps(numbered), "version": "1", **fields}
    return http.post(f"/drafts/{number}/changes", data=data, headers={**BROWSER, "Accept": "application/json"})


def title(value: str, was: str = "Campus health 2026") -> dict[str, Any]:
    """A change of the title of the example."""
    return {"op": "set", "at": "title:en", "value": value, "was": was}
