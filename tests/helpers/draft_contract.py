"""The contract of drafts: what every storage must do. It runs where ``storage_contract`` does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deniable_protocol import publish, survey_from_tree
from deniable_server.errors import DraftChanged, StorageError
from deniable_server.storage import Storage, Token, base, open_storage
from deniable_server.storage.drafts import Draft
from deniable_server.storage.sqlite.backup import restore

from .storage_contract import KEY, OTHER, TODAY, Open

TEXT = '{"title": "¿Qué? \\u0000 \\" \U0001f642"}'


def test_a_draft_is_kept_as_it_is(storage: Storage, reopen: Open) -> None:
    """Whatever is written in it, another server reads it, with who began it and when it was changed."""
    number = storage.drafts.create(TEXT, "ab12")
    found = reopen().drafts.find(number)
    assert found is not None
    assert (found.content, found.version, found.maker, found.changed_on) == (TEXT, 1, "ab12", TODAY.isoformat())
    assert storage.drafts.find(number + 1) is None and storage.drafts.all() == [found]


def test_of_two_who_save_at_the_same_time_one_looks_again(storage: Storage, reopen: Open) -> None:
    """Ten servers save over the same version: one does, and nine are told so. Nobody's change is overwritten unseen."""
    number = storage.drafts.create("{}")
    servers = [reopen() for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        saved = [*pool.map(lambda each: servers[each].drafts.save(number, f'{{"by": {each}}}', 1), range(10))]
    found = storage.drafts.find(number)
    assert saved.count(True) == 1 and found is not None
    assert (found.content, found.version) == (f'{{"by": {saved.index(True)}}}', 2)


def test_a_deleted_draft_stays_deleted(storage: Storage) -> None:
    """Saving does not bring it back, and deleting it again says that there is none."""
    number = storage.drafts.create("{}")
    assert storage.drafts.delete(number) is True
    assert storage.drafts.save(number, '{"title": "late"}', 1) is False
    assert storage.drafts.find(number) is None and storage.drafts.delete(number) is False


# --- publishing -------------------------------------------------------------------------------------------------------


@pytest.fixture
def draft(storage: Storage) -> Draft:
    """A draft, and an editor who is for another survey so far."""
    storage.publish(publish(survey_from_tree(OTHER)))
    storage.tokens.add(Token("ed", "editor", "Ed", "e" * 64, "2026-03-01", {"other": "editor"}))
    found = storage.drafts.find(storage.drafts.create("{}", "ed"))
    assert found is not None
    return found


def new_survey(name: str = "new") -> bytes:
    return publish(survey_from_tree(OTHER | {"id": name}))


def state(storage: Storage) -> tuple[list[str], list[str], list[Draft]]:
    """Which surveys there are, which the editor is for, and the drafts."""
    (token,) = storage.tokens.all()
    return [each.id for each in storage.surveys()], [*(token.surveys or {})], storage.drafts.all()


def test_a_draft_becomes_a_survey_in_one_step(storage: Storage, reopen: Open, draft: Draft) -> None:
    """The survey is there, its editor may edit it, and the draft is gone."""
    assert storage.publish(new_survey(), editor="ed", replaces=draft) is True
    for each in (storage, reopen()):
        assert state(each) == (["new", "other"], ["new", "other"], [])
    (token,) = storage.tokens.all()
    assert token.role_on("new") == "editor"


@pytest.mark.parametrize("fails", ["ended", "granted"])
def test_where_a_part_of_publishing_fails_nothing_was_done(
    storage: Storage, draft: Draft, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The survey is not there, and the draft is: publishing it again publishes it once."""
    before = state(storage)
    broken = ("UPDATE nothing SET number = 1", {})
    with monkeypatch.context() as patch:
        patch.setattr(base, fails, lambda *_: broken if fails == "ended" else [broken])
        with pytest.raises(StorageError):
            storage.publish(new_survey(), editor="ed", replaces=draft)
    assert state(storage) == before
    assert storage.publish(new_survey(), editor="ed", replaces=draft) is True
    assert state(storage) == (["new", "other"], ["new", "other"], [])


def test_only_what_was_seen_is_published(storage: Storage, draft: Draft) -> None:
    """Where somebody has changed the draft, or deleted it, nothing is published, and the change is kept."""
    storage.drafts.save(draft.number, '{"title": "later"}', 1)
    before = state(storage)
    with pytest.raises(DraftChanged):
        storage.publish(new_survey(), editor="ed", replaces=draft)
    assert state(storage) == before and len(before[2]) == 1
    storage.drafts.delete(draft.number)
    with pytest.raises(DraftChanged):
        storage.publish(new_survey(), editor="ed", replaces=draft)
    assert state(storage) == (["other"], ["other"], [])


def test_a_draft_of_what_is_published_stays(storage: Storage, draft: Draft) -> None:
    """The same survey is there already: nothing is published, so the draft is not gone."""
    before = state(storage)
    assert storage.publish(new_survey("other"), 500, editor="ed", replaces=draft) is False
    assert state(storage) == before and storage.surveys()[0].expected is None


def test_a_draft_is_published_once(storage: Storage, reopen: Open, draft: Draft) -> None:
    """Of eight servers that publish it at the same time under different ids, one does."""
    servers = [reopen() for _ in range(8)]

    def post(number: int) -> bool:
        try:
            return servers[number].publish(new_survey(f"new-{number}"), editor="ed", replaces=draft)
        except DraftChanged:
            return False

    with ThreadPoolExecutor(8) as pool:
        done = [*pool.map(post, range(8))]
    name = f"new-{done.index(True)}"
    assert done.count(True) == 1 and state(storage) == ([name, "other"], [name, "other"], [])
    assert storage.verify() == []


def test_a_backup_has_the_drafts(storage: Storage, tmp_path: Path) -> None:
    """With their numbers and versions: a link to a draft works after a restore."""
    number = storage.drafts.create(TEXT, "ab12")
    storage.drafts.save(number, TEXT, 1)
    storage.backup(str(tmp_path / "copy.db"), KEY)
    restore(tmp_path / "copy.db", tmp_path / "restored.db", KEY)
    restored = open_storage(str(tmp_path / "restored.db"))
    assert restored.drafts.all() == storage.drafts.all()
    restored.close()
