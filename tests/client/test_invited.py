"""Surveys with invitations: one token for each, kept before every step, and nothing that links it to the submission."""

from __future__ import annotations

import itertools
import json
import pickle
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import deniable
from deniable import DeniableError, InvitationError, TokenError, Unreachable
from deniable.database import Database
from deniable_protocol import verify
from deniable_protocol.blind_signatures import Token, submission_id, verify_token
from deniable_protocol.invitations import show_code
from tests.helpers.fake_server import ANSWERS, JSON, PORTAL, SEGMENTS, FakeServer, Scripted
from tests.helpers.invited import (
    CODE,
    INVITED,
    ISSUER,
    OTHER_ISSUER,
    SECOND_CODE,
    TYPED_CODE,
    InvitingServer,
    problem,
)

LINK = "https://survey.test/s/campus-health"
PERSONAL = f"{LINK}#{verify(INVITED).digest}.{CODE}"
HUNG_UP: Scripted = (0, {}, b"")


@pytest.fixture
def server() -> InvitingServer:
    return InvitingServer()


def rows(state: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(state)) as connection:
        return connection.execute("SELECT invitation, blinded, inverse, signature FROM tokens").fetchall()


def test_a_personal_link_gives_one_submission(server: InvitingServer, state: Path) -> None:
    """The token is fetched when the survey is opened and sent with the submission, whose id is that of the token."""
    with deniable.Client(PERSONAL, state=state, transport=server) as client:
        (asked,) = server.asked
        assert asked.keys() == {"invitation", "blinded"} and asked["invitation"] == CODE
        assert client.fingerprint == ISSUER.public.fingerprint
        receipt = client.submit(ANSWERS, SEGMENTS)
        assert receipt.delivered
    sent = json.loads(server.counted[receipt.id])
    token = Token.read(sent["token"])
    assert verify_token(ISSUER.public, token) and submission_id(token.message) == receipt.id
    assert asked["blinded"] not in server.counted[receipt.id].decode() and CODE not in str(sent)
    with (
        deniable.Client(PERSONAL, state=state, transport=server) as again,
        pytest.raises(deniable.AlreadyAnswered),
    ):
        again.submit(ANSWERS, SEGMENTS)
    assert len(server.asked) == 1 and len(server.counted) == 1


def test_a_code_that_was_typed(server: InvitingServer) -> None:
    """In small letters, with spaces and with letters that look like digits, it is the same code."""
    typed = show_code(TYPED_CODE).lower().replace("-", " ").replace("0", "o").replace("1", "l")
    with deniable.Client(LINK, transport=server, invitation=f" {typed} ") as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert server.asked[0]["invitation"] == TYPED_CODE


def test_a_typing_error_is_found_before_anything_is_sent(server: InvitingServer) -> None:
    """Neither a wrong code nor a link with one leads to a request, and the message does not repeat it."""
    wrong = CODE[1:] + CODE[0]
    for link, code in ((LINK, wrong), (PERSONAL.replace(CODE, wrong), None), (LINK, "")):
        with pytest.raises(InvitationError) as caught:
            deniable.Client(link, transport=server, invitation=code)
        assert caught.value.reason in ("format", "checksum") and wrong[:5] not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (problem(403, "invitation-unknown"), "unknown"),
        (problem(409, "invitation-used"), "used"),
        (problem(409, "survey-closed"), "closed"),
        (problem(422, "invalid"), "refused"),
    ],
)
def test_a_refusal_says_why(server: InvitingServer, reply: Scripted, reason: str) -> None:
    """The server's word is final, and comes before anything is asked. Nothing is tried again."""
    server.replies = [(200, JSON, INVITED), reply]
    with pytest.raises(InvitationError) as caught:
        deniable.Client(PERSONAL, transport=server)
    assert caught.value.reason == reason and caught.value.place == "invitation" and len(server.asked) == 1


def test_a_survey_with_invitations_needs_one(server: InvitingServer) -> None:
    """Without a code nothing is sent. A survey without invitations ignores one."""
    with pytest.raises(InvitationError) as caught:
        deniable.Client(LINK, transport=server)
    assert caught.value.reason == "missing" and server.asked == []
    with deniable.Client(LINK, transport=FakeServer(), invitation=CODE) as client:
        assert client.fingerprint is None and client.submit(ANSWERS, SEGMENTS).delivered


@pytest.mark.parametrize(
    "reply",
    [HUNG_UP, PORTAL, (503, {"Retry-After": "0"}, b""), (201, JSON, b"{}"), problem(404, "not-found"),
     problem(403, "forbidden"), (403, JSON, b"{}"), (409, {"Content-Type": "text/html"}, b"")],
)  # fmt: skip
def test_what_is_not_the_servers_word_is_tried_again(server: InvitingServer, reply: Scripted) -> None:
    """A lost response, a portal, a proxy: the same question, byte for byte, until there is an answer."""
    server.replies = [(200, JSON, INVITED), reply, reply]
    with deniable.Client(PERSONAL, transport=server) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    first, *others = server.asked
    assert others == [first, first] and server.issued == {CODE: [first["blinded"]]}


def test_a_server_that_is_away(server: InvitingServer, state: Path) -> None:
    """The client gives up in time, and says so. The next one remembers the invitation and sends the same again."""
    server.replies = [(200, JSON, INVITED), *[HUNG_UP] * 500]
    started = time.monotonic()
    with pytest.raises(Unreachable, match="remembers the invitation"):
        deniable.Client(PERSONAL, state=state, transport=server, timeout=0.3)
    assert time.monotonic() - started < 2
    server.replies = []
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert len({asked["blinded"] for asked in server.asked}) == 1


@pytest.mark.parametrize("signed", ["another key", "another value", "no signature", "too short"])
def test_what_the_issuer_signed_is_checked(server: InvitingServer, state: Path, signed: str) -> None:
    """A signature that is not valid is never kept or sent. It would be a mark that the issuer recognises."""

    def answer(request: Any) -> Scripted:
        blinded = json.loads(request.body)["blinded"]
        given = {
            "another key": OTHER_ISSUER.sign(blinded),
            "another value": ISSUER.sign(OTHER_ISSUER.sign(blinded)),
            "no signature": blinded,
            "too short": ISSUER.sign(blinded)[:-3],
        }
        return 201, JSON, json.dumps({"signature": given[signed]}).encode()

    server.replies = [(200, JSON, INVITED), answer]
    with pytest.raises(TokenError):
        deniable.Client(PERSONAL, state=state, transport=server)
    ((invitation, *_, signature),) = rows(state)
    assert invitation == CODE and signature is None


def test_another_invitation_replaces_one_that_was_refused(server: InvitingServer, state: Path) -> None:
    """What was drawn for one code is not sent with another: the server could link the two."""
    server.uses.pop(CODE)
    with pytest.raises(InvitationError):
        deniable.Client(PERSONAL, state=state, transport=server)
    with deniable.Client(LINK, state=state, transport=server, invitation=SECOND_CODE) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    first, second = server.asked
    assert first["blinded"] != second["blinded"] and second["invitation"] == SECOND_CODE


def test_an_invitation_is_forgotten_once_the_token_is_there(server: InvitingServer, state: Path) -> None:
    """Neither the code nor what blinds the token is in the file then, in no page of it. Nor is the token, later."""
    server.replies = [(200, JSON, INVITED), problem(409, "invitation-used")]
    with pytest.raises(InvitationError):
        deniable.Client(PERSONAL, state=state, transport=server)
    ((_, blinded, inverse, _),) = rows(state)
    kept = (CODE.encode(), blinded, inverse)
    assert all(secret in state.read_bytes() for secret in kept)
    client = deniable.Client(LINK, state=state, transport=server)
    assert not any(secret in state.read_bytes() for secret in kept)
    ((*nothing, signature),) = rows(state)
    assert nothing == [None, None, None] and signature in state.read_bytes()
    client.submit(ANSWERS, SEGMENTS)
    client.close()
    assert rows(state) == [] and signature not in state.read_bytes()


def test_forgetting_removes_the_token(server: InvitingServer, state: Path) -> None:
    """After that the survey needs an invitation again: the one that was used does not help."""
    deniable.Client(PERSONAL, state=state, transport=server).forget()
    assert rows(state) == []
    with pytest.raises(InvitationError) as caught:
        deniable.Client(PERSONAL, state=state, transport=server)
    assert caught.value.reason == "used"


def test_a_token_works_without_a_network(server: InvitingServer, state: Path) -> None:
    """A device that has its token opens the survey offline, and sends later."""
    deniable.Client(PERSONAL, state=state, transport=server).close()
    server.replies = [HUNG_UP] * 3
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert len(server.asked) == 1


def test_processes_that_open_at_once_get_one_token(server: InvitingServer, state: Path) -> None:
    """Each of several clients on one state goes on with what the first one drew."""
    with ThreadPoolExecutor(6) as pool:
        opened = [pool.submit(deniable.Client, PERSONAL, state=state, transport=server) for _ in range(6)]
    clients = [each.result() for each in opened]
    assert len({asked["blinded"] for asked in server.asked}) == 1
    assert clients[0].submit(ANSWERS, SEGMENTS).delivered
    for client in clients[1:]:
        with pytest.raises(deniable.AlreadyAnswered):
            client.submit(ANSWERS, SEGMENTS)
        client.close()
    clients[0].close()
    assert len(server.counted) == 1


def test_a_submission_waits_for_a_random_time(server: InvitingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a delay nothing is sent before a part of it is over, drawn from the system; closing does not hurry it."""
    monkeypatch.setattr(deniable.client, "chance", lambda: 0.5)
    with deniable.Client(PERSONAL, transport=server, delay=0.6) as client:
        started = time.monotonic()
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert 0.3 <= time.monotonic() - started < 3
    later = deniable.Client(LINK, transport=server, invitation=SECOND_CODE, delay=86_400)
    receipt = later.submit(ANSWERS, SEGMENTS, timeout=0.05)
    later.close(0.05)
    assert not receipt.delivered and len(server.counted) == 1
    for wrong in (-1, 86_401, float("nan")):
        with pytest.raises(ValueError, match="delay"):
            deniable.Client(PERSONAL, transport=server, delay=wrong)


class Crash(BaseException):
    """The process is gone: nothing in it goes on."""


class Fragile:
    """Lets the process end at the n-th step, before it or after it; a step is a write to the state, or a request."""

    def __init__(self, server: InvitingServer, ends_at: int, *, after: bool) -> None:
        self.server, self.left, self.after = server, ends_at, after

    def step(self, work: Callable[[], Any]) -> Any:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.after):
            raise Crash
        result = work()
        if self.left == 0:
            raise Crash
        return result

    def send(self, *request: Any) -> Any:
        return self.step(lambda: self.server.send(*request))


@pytest.fixture
def fragile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Fragile], None]]:
    write = Database.write

    def plant(one: Fragile) -> None:
        monkeypatch.setattr(Database, "write", lambda *given, **named: one.step(lambda: write(*given, **named)))

    yield plant
    monkeypatch.setattr(Database, "write", write)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # a thread may be the one to crash
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_between_any_two_steps(
    tmp_path: Path, fragile: Callable[[Fragile], None], monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """Wherever the process ends, a new one goes on, from the same file and without the code once it was kept: one
    token, one submission, one blinded value.
    """
    write = Database.write
    steps = 0
    for steps in itertools.count(1):
        server, state = InvitingServer(), tmp_path / f"{after} {steps}.db"
        one = Fragile(server, steps, after=after)
        fragile(one)
        try:
            with deniable.Client(PERSONAL, state=state, transport=one) as client:
                client.submit(ANSWERS, SEGMENTS, timeout=0)
        except Crash:
            pass
        ended = one.left <= 0
        monkeypatch.setattr(Database, "write", write)
        _go_on(server, state)
        assert len(server.counted) == 1 and len(server.issued[CODE]) == 1, steps
        assert len({asked["blinded"] for asked in server.asked}) == 1, steps
        if not ended:
            break
    assert steps > 8


def _go_on(server: InvitingServer, state: Path) -> None:
    """What an app does when it is started again: without the code if it was kept, as it was before it was sent."""
    was_sent = bool(server.asked)
    with deniable.Client(LINK if was_sent else PERSONAL, state=state, transport=server) as client:
        if client.receipt is None:
            client.submit(ANSWERS, SEGMENTS)
        assert client.flush()
        assert isinstance(client.receipt, deniable.Receipt) and client.receipt.delivered


def test_errors_are_in_the_tree() -> None:
    """An app that catches DeniableError catches these, too; they can be sent between processes."""
    for kind in (InvitationError, TokenError):
        error = kind([deniable.Problem("invitation", "used", "used")])
        assert isinstance(error, DeniableError) and pickle.loads(pickle.dumps(error)).reason == "used"


def test_randomize_takes_a_token(server: InvitingServer) -> None:
    """An app with its own transport gives the token as texts; without one, or with a foreign one, nothing is made."""
    with deniable.Client(PERSONAL, transport=server) as client:
        client.submit(ANSWERS, SEGMENTS)
    token = json.loads(server.posts[-1])["token"]
    made = deniable.randomize(INVITED, ANSWERS, SEGMENTS, token=token)
    assert made["token"] == token and made["id"] in server.counted
    # No bytes have 85 characters in base64. (86 may: then four bits are spare, and by chance they are zero.)
    for wrong, reason in ((None, "missing"), ({**token, "message": token["signature"][:85]}, "format"),
                          ({"message": token["message"]}, "type")):  # fmt: skip
        with pytest.raises(TokenError) as caught:
            deniable.randomize(INVITED, ANSWERS, SEGMENTS, token=wrong)
        assert caught.value.reason == reason
