"""A survey with invitations, and what a device does to answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import survey_from_tree
from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, Token, from_text, to_text
from deniable_server.planning import publish_survey
from deniable_server.storage import Published, Storage
from deniable_server.storage.invitations import make_invitations

INVITED: dict[str, Any] = {
    "id": "invited",
    "title": "Only by invitation",
    "invitations": True,
    "epsilon": "2.0",
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Have you vaped?"},
        {"id": "stress", "type": "scale", "text": "Stress?", "labels": ["none", "some", "much"]},
    ],
}


def publish_invited(storage: Storage) -> Published:
    """Publishes the survey, as the command and the server do."""
    survey = survey_from_tree(INVITED)
    storage.publish(publish_survey(survey, storage.invitations.issuer_of(survey)))
    found = storage.find(survey.id)
    assert found is not None
    return found


def invite(storage: Storage, number: int = 1, **details: Any) -> list[str]:
    return make_invitations(storage, publish_invited(storage), number, **details)


@dataclass
class Device:
    """Asks for a token with one code, as often as wanted, with the same blinded value."""

    http: FlaskClient
    key: PublicKey
    code: str
    blinding: Blinding = field(init=False)

    def __post_init__(self) -> None:
        self.blinding = Blinding.draw(self.key)

    def ask(self, **instead: Any) -> TestResponse:
        sent = {"invitation": self.code, "blinded": to_text(self.blinding.blinded), **instead}
        return self.http.post("/api/v1/surveys/invited/tokens", json=sent)

    def token(self) -> Token:
        answer = self.ask()
        assert answer.status_code == 201 and answer.json is not None, answer.text
        return self.blinding.finish(self.key, from_text(answer.json["signature"], BYTES, "signature"))
