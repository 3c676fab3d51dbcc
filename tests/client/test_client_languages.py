"""A survey in several languages, for an app that speaks one of them."""

from __future__ import annotations

from pathlib import Path

import deniable
from deniable_protocol import publish, survey_from_tree
from tests.helpers.fake_server import FakeServer
from tests.helpers.surveys import JOINT, JOINT_BOOKLETS, JOINT_PARTS

LINK = "https://survey.test/s/joint"
ANSWERS = {"vaped": True, "how_often": "weekly", "support": ["friend"], "stress": 2, "hours": 10}


def translated() -> bytes:
    questions = [each | {"text": {"en": each["text"], "es": f"¿{each['id']}?"}} for each in JOINT["questions"]]
    tree = JOINT | {"languages": ["en", "es"], "title": {"en": "Joint", "es": "Conjunta"}, "questions": questions}
    return publish(survey_from_tree(tree), JOINT_PARTS, JOINT_BOOKLETS)


def test_a_client_in_another_language(state: Path) -> None:
    """Its survey and questions are in that language; booklet, digest and what is sent are those of the one survey."""
    server = FakeServer(translated())
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.survey.title == "Joint" and client.survey.languages == ("en", "es")
        booklet, digest = client.booklet, client.digest
    with deniable.Client(LINK, state=state, transport=server, language="es-MX") as client:
        assert client.survey.title == "Conjunta"
        assert all(question.text == f"¿{question.id}?" for question in client.questions)
        assert all(question.text.startswith("¿") for question in client.shown(ANSWERS))
        receipt = client.submit(ANSWERS, {"campus": "north"})
        assert (client.booklet, client.digest, receipt.booklet, receipt.delivered) == (booklet, digest, booklet, True)
    with deniable.Client(LINK, state=state, transport=server, language="de") as client:
        assert client.survey.title == "Joint" and client.receipt is not None
