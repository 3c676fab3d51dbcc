"""The contract of invitations: what every storage must do. It runs where ``storage_contract`` does."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from deniable_protocol import survey_from_tree
from deniable_server.errors import BadInvitations, InvitationUnknown, InvitationUsed, StorageError, SurveyClosed
from deniable_server.planning import publish_survey
from deniable_server.storage import Published, Storage, invitations, open_storage
from deniable_server.storage.sqlite.backup import restore

from .by_invitation import INVITED
from .storage_contract import KEY, TODAY, Open

TOMORROW = TODAY + timedelta(1)


def digest(word: str) -> bytes:
    return sha256(word.encode()).digest()


A, B, C, X, Y, Z = map(digest, "ABCXYZ")


def outcome(storage: Storage, survey: Published, code: bytes, blinded: bytes) -> str:
    """What became of asking for a token."""
    try:
        storage.invitations.take(survey, code, blinded)
    except (InvitationUnknown, InvitationUsed, SurveyClosed) as error:
        return type(error).__name__
    return "taken"


def counts(storage: Storage, survey: Published) -> tuple[int, ...]:
    """Codes, and how many uses were made, are used, unused, revoked and expired."""
    found = storage.invitations.numbers(survey)
    return found.codes, found.made, found.used, found.unused, found.revoked, found.expired


def test_a_use_is_taken_once(storage: Storage, survey: Published, reopen: Open) -> None:
    """The same blinded value again finds its row, on another server too. Another one finds that it is used."""
    storage.invitations.add(survey, [A])
    assert [outcome(storage, survey, A, value) for value in (X, X, Y)] == ["taken", "taken", "InvitationUsed"]
    assert [outcome(reopen(), survey, A, value) for value in (Y, X)] == ["InvitationUsed", "taken"]
    assert counts(storage, survey) == (1, 1, 1, 0, 0, 0)


def test_a_document_has_the_key_that_signs(storage: Storage) -> None:
    """With a key that nobody here has, no token could ever be signed: such a document is not published."""
    survey = survey_from_tree(INVITED)
    storage.invitations.issuer_of(survey)
    with pytest.raises(StorageError, match="not the one that signs"):
        storage.publish(publish_survey(survey))
    assert storage.find(survey.id) is None


def test_a_shared_code_has_so_many_uses(storage: Storage, survey: Published) -> None:
    """Each value counts once, and the last one too many is refused."""
    storage.invitations.add(survey, [A], uses=2)
    assert [outcome(storage, survey, A, value) for value in (X, Y, X, Z, Y)] == [
        "taken", "taken", "taken", "InvitationUsed", "taken",
    ]  # fmt: skip
    assert counts(storage, survey) == (1, 2, 2, 0, 0, 0)


@pytest.mark.parametrize("code", ["unknown", "revoked", "expired"])
def test_codes_that_are_not_valid_look_the_same(storage: Storage, survey: Published, code: str) -> None:
    """Unknown, revoked and expired codes give one and the same error, and take no use."""
    storage.invitations.add(survey, [A], expires_on=TODAY)
    if code == "expired":
        storage.invitations._today = lambda: TOMORROW
    if code == "revoked":
        assert storage.invitations.revoke(survey, [A, B]) == 1
    with pytest.raises(InvitationUnknown) as raised:
        storage.invitations.take(survey, B if code == "unknown" else A, X)
    assert str(raised.value) == str(InvitationUnknown())
    assert storage.invitations.numbers(survey).used == 0
    assert storage.invitations.states(survey, [A]) == {A: "unused" if code == "unknown" else code}


def test_a_lost_answer_is_repeated_after_the_last_day(storage: Storage, survey: Published) -> None:
    """A use that was taken in time can be asked for again, with the same value only. One that was revoked cannot."""
    storage.invitations.add(survey, [A, B], uses=2, expires_on=TODAY)
    assert outcome(storage, survey, A, X) == outcome(storage, survey, B, X) == "taken"
    storage.invitations.revoke(survey, [B])
    storage.invitations._today = lambda: TOMORROW
    assert [outcome(storage, survey, A, value) for value in (X, Y)] == ["taken", "InvitationUnknown"]
    assert outcome(storage, survey, B, X) == "InvitationUnknown"
    assert counts(storage, survey) == (2, 4, 2, 0, 1, 1)


def test_a_race_for_the_last_use_has_one_winner(storage: Storage, survey: Published, reopen: Open) -> None:
    """Threads of two servers ask for the uses of shared and personal codes, each value twice: as many get one as there
    are, everybody is told the same both times, and no number of uses is exceeded.
    """
    storage.invitations.add(survey, [A], uses=3)
    storage.invitations.add(survey, [B, C])
    servers, barrier = [storage, reopen()], threading.Barrier(16)
    asked = [(code, digest(f"{place} {code.hex()}")) for place in range(8) for code in (A, B, C)]

    def ask(thread: int) -> list[str]:
        barrier.wait()
        order = asked if thread % 4 < 2 else asked[::-1]
        found = {pair: outcome(servers[thread % 2], survey, *pair) for pair in order}
        return [found[pair] for pair in asked]

    with ThreadPoolExecutor(16) as pool:
        rounds = list(pool.map(ask, range(16)))
    assert all(each == rounds[0] for each in rounds), "a value that got a use has it for everybody"
    winners = [code for (code, _), result in zip(asked, rounds[0], strict=True) if result == "taken"]
    assert sorted(winners) == sorted([A, A, A, B, C])
    assert storage.invitations.numbers(survey).used == 5 and storage.verify() == []


def test_invitations_are_of_one_survey(storage: Storage, survey: Published, textbook_survey: Published) -> None:
    """A code of another survey is unknown here, and neither is counted there."""
    storage.invitations.add(survey, [A])
    assert outcome(storage, textbook_survey, A, X) == "InvitationUnknown"
    assert counts(storage, textbook_survey) == (0, 0, 0, 0, 0, 0)
    assert storage.invitations.revoke(textbook_survey, [A]) == 0
    assert outcome(storage, survey, A, X) == "taken"


@pytest.fixture
def textbook_survey(storage: Storage) -> Published:
    from tests.helpers.surveys import textbook

    storage.publish(textbook())
    found = storage.find("textbook")
    assert found is not None
    return found


def test_a_closed_survey_gives_no_tokens_and_forgets_which(storage: Storage, survey: Published, reopen: Open) -> None:
    """After closing, only counts are left: how often each code was used, and no value that a device sent."""
    storage.invitations.add(survey, [A], uses=5)
    storage.invitations.add(survey, [B, C])
    for code, value in ((A, X), (A, Y), (B, Z)):
        storage.invitations.take(survey, code, value)
    before = storage.invitations.numbers(survey)
    storage.close_survey(survey)
    for server in (storage, reopen()):
        assert outcome(server, survey, A, X) == outcome(server, survey, C, X) == "SurveyClosed"
        assert server.invitations.numbers(survey) == before
        assert server.invitations.states(survey, [A, B, C]) == {A: "unused", B: "used", C: "unused"}
        with server._reading() as view:  # type: ignore[attr-defined]
            assert view.rows("SELECT * FROM issued") == []
    assert storage.verify() == []


def test_all_codes_are_kept_or_none(storage: Storage, survey: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many at once are refused, and so are uses out of range."""
    monkeypatch.setattr(invitations, "MOST_AT_ONCE", 2)
    for codes, uses in (([A, B, C], 1), ([], 1), ([A], 0), ([A], 10**9)):
        with pytest.raises(BadInvitations):
            storage.invitations.add(survey, codes, uses)
    assert storage.invitations.numbers(survey).made == 0


def test_every_server_has_the_same_key(storage: Storage, reopen: Open) -> None:
    """Servers that make the key of a survey at the same time get the same one, and so does one that starts later."""
    servers, barrier = [storage, reopen(), reopen()], threading.Barrier(3)

    def make(server: Storage) -> bytes:
        barrier.wait()
        return server.invitations.ensure_key("soon").dump()

    with ThreadPoolExecutor(3) as pool:
        made = set(pool.map(make, servers))
    assert made == {reopen().invitations.key("soon").dump()}


def test_a_backup_keeps_keys_invitations_and_uses(storage: Storage, survey: Published, tmp_path: Path) -> None:
    """A restored database knows which uses are taken: a crash of a disk gives nobody a second token."""
    storage.invitations.ensure_key("campus-health")
    storage.invitations.add(survey, [A], uses=2, expires_on=date(2030, 1, 1))
    storage.invitations.add(survey, [B, C])
    storage.invitations.take(survey, A, X)
    storage.invitations.take(survey, B, X)
    storage.invitations.revoke(survey, [C])
    storage.backup(str(tmp_path / "copy"), KEY)
    restore(tmp_path / "copy", tmp_path / "restored.db", KEY)
    there = open_storage(str(tmp_path / "restored.db"))
    try:
        there.invitations._today = lambda: TODAY
        found = there.find("campus-health")
        assert found is not None
        assert there.invitations.key("campus-health").dump() == storage.invitations.key("campus-health").dump()
        assert there.invitations.numbers(found) == storage.invitations.numbers(survey)
        assert [outcome(there, found, A, value) for value in (X, Y, Z)] == ["taken", "taken", "InvitationUsed"]
        assert [outcome(there, found, B, value) for value in (Y, X)] == ["InvitationUsed", "taken"]
    finally:
        there.close()
