"""The contract of access tokens for some surveys, and of activity: what every storage must do. It runs where
``storage_contract`` does.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable_protocol import publish, survey_from_tree
from deniable_server.errors import BadAccess, StorageError
from deniable_server.storage import Published, Role, Session, Storage, Token, activity, open_storage
from deniable_server.storage.activity import Deed
from deniable_server.storage.sqlite.backup import restore

from .storage_contract import KEY, OTHER, Open

A, B = "campus-health", "other"


def person(name: str, role: Role, *surveys: str, maker: str | None = None) -> Token:
    """Somebody with the same role on each of these surveys, or on all."""
    on = dict.fromkeys(surveys, role) or None
    return Token(name, role, name, name * 32, "2026-03-01", on, None, maker, "Eve" if maker is None else "")


@pytest.fixture
def both(storage: Storage, survey: Published) -> Storage:
    """A storage with two surveys."""
    storage.publish(publish(survey_from_tree(OTHER)))
    return storage


def test_a_token_is_for_all_surveys_or_for_some(both: Storage, reopen: Open) -> None:
    """Whichever way it is found, another server reads the same surveys, in order, with the role on each."""
    mixed = replace(person("bb", "editor"), surveys={A: "reader", B: "editor"})
    for token in (person("aa", "analyst"), mixed, person("cc", "reader", B)):
        both.tokens.add(token)
        both.tokens.begin(Session(token.id[0] * 64, token.id, 0, 900, 900), now=0, most=9)
        tokens = reopen().tokens
        shown = tokens.shown(token.id[0] * 64, now=1)
        assert tokens.find(token.digest) == token and shown is not None and shown[0] == token
    assert [[*(token.surveys or ())] for token in both.tokens.all()] == [[], [A, B], [B]]
    assert both.tokens.open_sessions(1) == {"aa": 1, "bb": 1, "cc": 1} and both.tokens.open_sessions(900) == {}


@pytest.mark.parametrize(
    ("role", "surveys"),
    [
        ("reader", None),
        ("reader", {}),
        ("collector", None),
        ("collector", {A: "collector", B: "collector"}),
        ("collector", {A: "reader"}),
        ("editor", {}),
        ("admin", {A: "admin"}),
        ("reader", {A: "analyst"}),
        ("analyst", {A: "analyst", B: "editor"}),
        ("editor", {A: "admin"}),
        ("editor", {A: "collector"}),
        ("editor", {A: "king"}),
    ],
)
def test_a_role_is_for_as_many_surveys_as_it_may_be(both: Storage, role: Role, surveys: dict[str, Role] | None) -> None:
    """Readers have at least one, collectors one, admins all, and on no survey a token allows more than its own role;
    other tokens are refused, and not changed to it.
    """
    with pytest.raises(BadAccess):
        both.tokens.add(replace(person("aa", role), surveys=surveys))
    both.tokens.add(person("bb", "analyst", A))
    with pytest.raises(BadAccess):
        both.tokens.change("bb", role, surveys)
    assert both.tokens.all() == [person("bb", "analyst", A)]


def test_access_is_given_and_withdrawn(both: Storage, reopen: Open) -> None:
    """At once on every server; once is enough; and never to a token that is a link, a collector's, or for all."""
    for token in (person("aa", "editor", A), person("bb", "analyst"), person("cc", "collector", A)):
        both.tokens.add(token)
    both.tokens.add(person("dd", "reader", A, maker="aa"))
    tokens = reopen().tokens
    assert [both.tokens.grant("aa", B, "reader"), both.tokens.grant("aa", B, "reader")] == [True, False]
    assert not any(both.tokens.grant(token, B, "editor") for token in ("bb", "cc", "dd", "nobody"))
    assert [token.surveys for token in tokens.all()] == [
        {A: "editor", B: "reader"},
        None,
        {A: "collector"},
        {A: "reader"},
    ]
    assert [tokens.withdraw("aa", B), tokens.withdraw("aa", B), tokens.withdraw("bb", B)] == [True, False, False]
    with pytest.raises(StorageError, match="No survey has the id nothing"):
        tokens.grant("aa", "nothing", "reader")


def test_a_role_on_a_survey_changes_by_itself(both: Storage) -> None:
    """Roles on other surveys stay. A token's own role goes up with it, and never down. Links to the survey end where
    their maker becomes only its reader.
    """
    both.tokens.add(replace(person("aa", "analyst"), surveys={A: "analyst", B: "reader"}))
    both.tokens.add(person("bb", "reader", A, maker="aa"))

    def roles() -> tuple[str, dict[str, Role] | None, bool]:
        own, *links = both.tokens.all()
        return own.role, own.surveys, bool(links)

    assert both.tokens.grant("aa", B, "editor") is True
    assert roles() == ("editor", {A: "analyst", B: "editor"}, True)
    assert both.tokens.grant("aa", A, "editor") is True and both.tokens.grant("aa", B, "reader") is True
    assert roles() == ("editor", {A: "editor", B: "reader"}, True)
    assert both.tokens.grant("aa", A, "reader") is True
    assert roles() == ("editor", {A: "reader", B: "reader"}, False)


def test_links_end_with_the_access_of_their_maker(both: Storage) -> None:
    """Only those to the survey that was withdrawn, or is not among the new ones; and all when the token is revoked."""
    both.tokens.add(person("aa", "editor", A, B))
    both.tokens.add(person("ee", "admin"))
    for name, survey, maker in (("bb", A, "aa"), ("cc", B, "aa"), ("dd", A, "ee")):
        both.tokens.add(person(name, "reader", survey, maker=maker))
    both.tokens.withdraw("aa", A)
    assert [token.id for token in both.tokens.all()] == ["aa", "cc", "dd", "ee"]
    both.tokens.change("aa", "analyst", {A: "analyst"})
    assert [token.id for token in both.tokens.all()] == ["aa", "dd", "ee"]
    both.tokens.add(person("ff", "reader", A, maker="aa"))
    both.tokens.change("aa", "analyst", {A: "reader"})
    assert [token.id for token in both.tokens.all()] == ["aa", "dd", "ee"]
    both.tokens.change("aa", "analyst", {A: "analyst"})
    both.tokens.revoke("ee")
    assert both.tokens.all() == [person("aa", "analyst", A)]


def test_a_token_is_changed(both: Storage) -> None:
    """To another role, to other surveys, to all and back; one that is not there is not made."""
    both.tokens.add(person("aa", "reader", A))
    changes: list[tuple[Role, dict[str, Role] | None]] = [
        ("editor", {A: "editor", B: "reader"}),
        ("analyst", {B: "analyst"}),
        ("admin", None),
        ("reader", {A: "reader"}),
    ]
    for role, surveys in changes:
        assert both.tokens.change("aa", role, surveys) is True
        assert both.tokens.all() == [replace(person("aa", role), surveys=surveys)]
    assert both.tokens.change("zz", "analyst", {A: "analyst"}) is False and len(both.tokens.all()) == 1


def test_a_token_without_its_survey_is_for_none(both: Storage) -> None:
    """When its only survey is deleted it can do nothing, rather than everything."""
    both.tokens.add(person("aa", "analyst", B))
    both._write(("DELETE FROM surveys WHERE id = :id", {"id": B}))  # type: ignore[attr-defined]
    assert both.tokens.find("aa" * 32) == replace(person("aa", "analyst"), surveys={})


# --- activity --------------------------------------------------------------------------------------------------------


def deed(at: int, token: str = "aa", survey: str | None = None, **about: str) -> Deed:
    return Deed(at, token, f"label of {token} ü\"'", "editor", "survey-closed", survey, about)


def test_what_people_did_is_read_newest_first(storage: Storage, reopen: Open) -> None:
    """In the order in which it was noted, a page at a time, of one person or one survey."""
    noted = [deed(1_000 + n // 3, "ab"[n % 2], [A, B, None][n % 3], number=str(n)) for n in range(250)]
    for each in noted:
        storage.activity.note(each)
    known = reopen().activity
    everything = [replace(each, number=0) for each in known.every()]
    assert everything == noted[::-1] and len(known.newest()) == 100
    chosen = [replace(each, number=0) for each in known.every(token="a", survey=A)]
    assert chosen == [each for each in noted[::-1] if each.token == "a" and each.survey == A]
    assert known.people() == {"a": "label of a ü\"'", "b": "label of b ü\"'"}


def test_activity_is_forgotten(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a year, and all but the newest so many."""
    storage.activity.note(deed(1_000))
    storage.activity.note(deed(1_001))
    storage.activity.note(deed(1_001 + activity.KEPT_SECONDS))
    assert [each.at for each in storage.activity.every()] == [1_001 + activity.KEPT_SECONDS, 1_001]
    monkeypatch.setattr(activity, "KEPT_ROWS", 5)
    for n in range(20):
        storage.activity.note(deed(2_000_000_000 + n))
    assert [each.at - 2_000_000_000 for each in storage.activity.every()] == [19, 18, 17, 16, 15]


def test_a_backup_has_people_and_activity(both: Storage, tmp_path: Path) -> None:
    """Tokens with their surveys, and what people did, in the same order."""
    both.tokens.add(replace(person("zz", "editor"), surveys={A: "editor", B: "analyst"}))
    both.tokens.add(person("bb", "reader", B, maker="zz"))
    for n in range(12):
        both.activity.note(deed(1_000 - n, n=str(n)))
    both.backup(str(tmp_path / "copy.db"), KEY)
    restore(tmp_path / "copy.db", tmp_path / "restored.db", KEY)
    restored = open_storage(str(tmp_path / "restored.db"))
    assert restored.tokens.all() == both.tokens.all()
    assert [replace(each, number=0) for each in restored.activity.every()] == [
        deed(1_000 - n, n=str(n)) for n in reversed(range(12))
    ]
    restored.close()
