"""The contract of drafts: what every storage must do. It runs where ``storage_contract`` does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deniable_server.storage import Storage, open_storage
from deniable_server.storage.sqlite.backup import restore

from .storage_contract import KEY, TODAY, Open

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


def test_only_what_was_seen_is_deleted(storage: Storage) -> None:
    """With a version, a draft that somebody has changed since stays; without one it goes."""
    number = storage.drafts.create("{}")
    assert storage.drafts.save(number, '{"title": "later"}', 1) is True
    assert storage.drafts.delete(number, 1) is False and storage.drafts.find(number) is not None
    assert storage.drafts.delete(number, 2) is True and storage.drafts.find(number) is None


def test_a_backup_has_the_drafts(storage: Storage, tmp_path: Path) -> None:
    """With their numbers and versions: a link to a draft works after a restore."""
    number = storage.drafts.create(TEXT, "ab12")
    storage.drafts.save(number, TEXT, 1)
    storage.backup(str(tmp_path / "copy.db"), KEY)
    restore(tmp_path / "copy.db", tmp_path / "restored.db", KEY)
    restored = open_storage(str(tmp_path / "restored.db"))
    assert restored.drafts.all() == storage.drafts.all()
    restored.close()
