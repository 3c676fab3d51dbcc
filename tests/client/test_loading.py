"""Loading a survey: verified, pinned, kept for offline starts, and never another one than before."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import deniable
import deniable.delivery
from deniable_protocol import publish, survey_from_tree
from tests.helpers.fake_server import ANSWERS, DOCUMENT, JSON, PORTAL, SEGMENTS, FakeServer, Scripted, tree

DIGEST = hashlib.sha256(DOCUMENT).hexdigest()
OTHER = publish(survey_from_tree(tree() | {"title": "Another title"}))
LINK = "https://survey.test/s/campus-health"


@pytest.fixture
def cached(server: FakeServer, state: Path) -> Path:
    """A state that has seen the survey."""
    deniable.Client(LINK, state=state, transport=server).close()
    return state


def test_the_survey_is_loaded_from_its_address(server: FakeServer) -> None:
    """One GET of the API address gives the survey, its bytes and its digest; nothing is sent before submit."""
    with deniable.Client(LINK, transport=server) as client:
        assert client.survey == survey_from_tree(tree())
        assert (client.document, client.digest) == (DOCUMENT, DIGEST)
        assert client.receipt is None
        assert repr(client) == "<deniable.Client https://survey.test/api/v1/surveys/campus-health>"
    assert [(r.method, r.path) for r in server.requests] == [
        ("GET", "https://survey.test/api/v1/surveys/campus-health")
    ]


def test_a_pinned_digest_is_kept(server: FakeServer) -> None:
    """The document that a link pins is taken; any other is refused, however private it is."""
    deniable.Client(f"{LINK}#{DIGEST}", transport=server).close()
    server.documents["campus-health"] = OTHER
    with pytest.raises(deniable.DocumentError) as caught:
        deniable.Client(f"{LINK}#{DIGEST}", transport=server)
    assert caught.value.reason == "digest"


def test_a_tampered_document_is_refused(server: FakeServer) -> None:
    """A document with one unit more of favour than epsilon allows gives no client."""
    favour = b'"favour":6584790284608188'
    assert favour in DOCUMENT
    server.documents["campus-health"] = DOCUMENT.replace(favour, b'"favour":6584790284608189')
    with pytest.raises(deniable.DocumentError, match="is not the channel that goes with this part"):
        deniable.Client(LINK, transport=server)


def test_the_document_of_another_survey_is_refused(server: FakeServer) -> None:
    """A valid document that does not belong to the link is refused."""
    server.documents["campus-health"] = publish(survey_from_tree(tree("another-one")))
    with pytest.raises(deniable.DocumentError) as caught:
        deniable.Client(LINK, transport=server)
    assert (caught.value.place, caught.value.reason) == ("survey.id", "mismatch")


NO_SURVEY: list[Scripted] = [
    (0, {}, b""),
    PORTAL,
    (200, JSON, b'{"login": "https://portal.example"}'),
    (200, JSON, b"[]"),
    (200, JSON, b"[" * 100_000),
    (200, JSON, b'{"deniable": ' + b"[" * 100_000),
    (200, JSON, DOCUMENT[:-1]),
    (200, JSON, DOCUMENT + b" " * 1_000_000 + b"x"),
    (200, {}, b""),
    (302, {"Location": LINK}, b""),
    (404, JSON, b"{}"),
    (500, JSON, DOCUMENT),
    (503, {"Retry-After": "1"}, b""),
]


@pytest.mark.parametrize("reply", NO_SURVEY)
def test_no_survey_and_no_copy_is_unreachable(server: FakeServer, reply: Scripted) -> None:
    """Whatever is not a document, with nothing kept from before, is an Unreachable that says what came instead."""
    server.replies = [reply]
    with pytest.raises(deniable.Unreachable, match="cannot be loaded"):
        deniable.Client(LINK, transport=server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", NO_SURVEY)
def test_an_offline_start_uses_the_kept_document(server: FakeServer, cached: Path, reply: Scripted) -> None:
    """With a saved copy, people can answer without a network or behind a captive portal; delivery follows later."""
    server.replies = [reply, (0, {}, b"")]
    with deniable.Client(f"{LINK}#{DIGEST}", state=cached, transport=server) as client:
        assert client.document == DOCUMENT
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert len(server.counted) == 1


def test_a_pin_holds_for_the_kept_document_too(server: FakeServer, cached: Path) -> None:
    """An offline start does not get around the digest in the link."""
    server.replies = [(0, {}, b"")]
    with pytest.raises(deniable.DocumentError) as caught:
        deniable.Client(f"{LINK}#{'0' * 64}", state=cached, transport=server)
    assert caught.value.reason == "digest"


def test_a_changed_document_is_refused(server: FakeServer, cached: Path) -> None:
    """A published survey never changes: another document at a known address is refused, with what to do about it."""
    server.documents["campus-health"] = OTHER
    for link in (LINK, f"{LINK}#{hashlib.sha256(OTHER).hexdigest()}"):
        with pytest.raises(deniable.DocumentError, match="Ask the people who run the survey") as caught:
            deniable.Client(link, state=cached, transport=server)
        assert caught.value.reason == "changed"
    deniable.Client(LINK, transport=server).close()  # a device that has not seen the first takes it


def test_a_refused_document_is_not_kept(server: FakeServer, state: Path) -> None:
    """A document that failed verification is not used at the next, offline start."""
    server.replies = [(200, JSON, b'{"deniable": 1}'), (0, {}, b"")]
    with pytest.raises(deniable.DocumentError):
        deniable.Client(LINK, state=state, transport=server)
    with pytest.raises(deniable.Unreachable):
        deniable.Client(LINK, state=state, transport=server)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 86_401])
def test_a_timeout_that_makes_no_sense_is_a_value_error(server: FakeServer, timeout: float) -> None:
    """A timeout is more than zero and at most a day."""
    with pytest.raises(ValueError, match="timeout"):
        deniable.Client(LINK, transport=server, timeout=timeout)


@pytest.mark.parametrize("timeout", ["1", True, None])
def test_a_timeout_that_is_no_number_is_a_type_error(server: FakeServer, timeout: object) -> None:
    """A timeout is a number of seconds."""
    with pytest.raises(TypeError, match="timeout"):
        deniable.Client(LINK, transport=server, timeout=timeout)  # type: ignore[arg-type]
