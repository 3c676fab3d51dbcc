"""From one storage to another, of whatever kind: copies that are proved by a recount.

An installation can be moved while its servers run. First everything is copied while they go on; then the old database
is fenced, so that servers which still use it acknowledge nothing more (devices keep what they could not send, and try
again); then the rest is copied, which is little; and at last both are counted and compared.

May not: know which kinds of databases these are, but for backups, which are SQLite files.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from deniable_server.errors import StorageError
from deniable_server.statistics import Statistics, merge

from . import STANDINGS, Listed, Published, Row, Storage
from .queries import CHUNK, tally_texts

Progress = Callable[[int], None]

PATIENCE = 60.0
"""Seconds for which giving the old database back is tried."""


class Moved(NamedTuple):
    """What an installation held when it was moved, and for how many seconds it took no submissions."""

    surveys: int
    submissions: int
    tokens: int
    sessions: int
    fenced_seconds: float


def move(source: Storage, target: Storage, progress: Progress = lambda done: None) -> Moved:
    """Everything from one storage to another, while servers use the first; they end with it fenced.

    Can be repeated where it broke off. StorageError where the target has submissions of its own.
    """
    before = source.standing
    if before in ("moved", "filling"):
        raise StorageError(f"Nothing can be moved from here: {STANDINGS[before]}")
    if target.standing in ("moving", "moved"):
        raise StorageError("The target was itself left by a move; use another, or let it be used again with --undo")
    try:
        target.stand("filling")
        if source.standing == "filling":
            target.stand(before)
            raise StorageError("Source and target are the same database")
        source.finish_closing()
        for listed in source.surveys():
            _copy(source, target, listed, progress)
        began = time.monotonic()
        source.stand("moving")
        for listed in source.surveys():
            _copy(source, target, listed, progress)
            _settle(source, target, listed)
        tokens, sessions = _copy_keys(source, target)
        submissions = _compare(source, target)
    except BaseException as error:
        if before is None:
            _give_back(source, error)
        raise
    target.stand(None)
    source.stand("moved")
    return Moved(len(source.surveys()), submissions, tokens, sessions, time.monotonic() - began)


def _give_back(source: Storage, error: BaseException) -> None:
    """Nothing has changed for those who use it, as soon as that can be written."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return source.stand(None)
        except StorageError:
            if time.monotonic() > deadline:
                raise StorageError(
                    f"{error}\nThe old database still takes nothing: repeat the move, or  deniable move --undo --from …"
                ) from None
            time.sleep(1)


def _known(storage: Storage, survey: str) -> Published:
    found = storage.find(survey)
    if found is None:
        raise StorageError(f"{survey} is missing in the target")
    return found


def _copy(source: Storage, target: Storage, listed: Listed, progress: Progress) -> None:
    """All submissions that the target does not have. One that is closed is then closed there as well: written anew, so
    that nothing tells which of them were copied when.
    """
    survey = _known(source, listed.id)
    target.publish(survey.published)
    there = _known(target, listed.id)
    if there.published != survey.published:
        raise StorageError(f"{listed.id} is in the target already, published by another version")
    with source.stored(survey) as stored, target.stored(there) as known:
        new = _missing(iter(stored), iter(known), progress)
        while chunk := list(islice(new, CHUNK)):
            target.receive(there, chunk)
        days = stored.days
    if listed.status == "closed" and target.status(there) == "open":
        target.settle(there, days, listed)
        target.close_survey(there)


def _missing(rows: Iterator[Row], known: Iterator[Row], progress: Progress) -> Iterator[Row]:
    """Both are in the order of ids: what the second does not have of the first. It may have nothing else."""
    there = next(known, None)
    done = 0
    for row in rows:
        if there is not None and there.id < row.id:
            break
        if there is not None and there.id == row.id:
            if there != row:
                break
            there = next(known, None)
        else:
            yield row
        done += 1
        if done == CHUNK:
            progress(done)
            done = 0
    progress(done)
    if there is not None:
        raise StorageError("The target has submissions that the source does not have: it is in use, or is another's")


def _settle(source: Storage, target: Storage, listed: Listed) -> None:
    if listed.status == "open":
        target.settle(_known(target, listed.id), source.days(_known(source, listed.id)), listed)


def _copy_keys(source: Storage, target: Storage) -> tuple[int, int]:
    """Tokens, those that others were made with before these, and the sessions that are not over; and no others, for
    between two attempts some may have been revoked.
    """
    now = int(time.time())
    tokens = source.keyring.tokens()
    target.keyring.end_all()
    for token in target.keyring.tokens():
        if token not in tokens:
            target.keyring.revoke(token.id)
    known = {token.id for token in target.keyring.tokens()}
    waiting = [token for token in tokens if token.id not in known]
    while waiting:
        ready = [token for token in waiting if token.maker is None or token.maker in known]
        if not ready:
            raise StorageError("A token was made with one that does not exist")
        for token in ready:
            target.keyring.add(token)
            known.add(token.id)
        waiting = [token for token in waiting if token.id not in known]
    moved = 0
    for token in tokens:
        sessions = source.keyring.sessions(token.id, now)
        for session in sessions:
            target.keyring.begin(session, now, len(sessions))
        moved += len(sessions)
    return len(tokens), moved


def _compare(source: Storage, target: Storage) -> int:
    """Read everything again from both, and count it; returns how many submissions there are. StorageError where
    anything differs.
    """
    if source.surveys() != target.surveys() or source.keyring.tokens() != target.keyring.tokens():
        raise StorageError("Surveys or tokens differ after the copy")
    submissions = 0
    for listed in source.surveys():
        survey, there = _known(source, listed.id), _known(target, listed.id)
        if survey.published != there.published or source.days(survey) != target.days(there):
            raise StorageError(f"{listed.id} differs after the copy")
        counted: Statistics = {}
        with source.stored(survey) as stored, target.stored(there) as copied:
            pairs = zip_longest(stored, copied)
            while chunk := list(islice(pairs, CHUNK)):
                if any(row != copy for row, copy in chunk):
                    raise StorageError(f"The submissions of {listed.id} differ after the copy")
                counted = merge([counted, tally_texts(survey.document, [copy.content for _, copy in chunk])])
                submissions += len(chunk)
        if not target.statistics(there) == counted == source.statistics(survey):
            raise StorageError(f"The statistics of {listed.id} differ from a recount after the copy")
    return submissions


def restore_from_sqlite(backup: Path, target: Storage) -> None:
    """Everything from a backup into a storage that has nothing yet. The backup itself is left as it is."""
    from deniable_server.storage.sqlite.backup import restore
    from deniable_server.storage.sqlite.storage import SQLiteStorage

    if target.surveys() or target.keyring.tokens():
        raise StorageError("The target has surveys or tokens already, and is not overwritten; use an empty database")
    with tempfile.TemporaryDirectory(prefix="deniable-restore-") as folder:
        restore(backup, Path(folder) / "copy.db")
        with _closing(SQLiteStorage(Path(folder) / "copy.db")) as copy:
            move(copy, target)


def copy_to_sqlite(source: Storage, target: Path) -> None:
    """A backup of any storage as an SQLite file: each survey as it was when its turn came, proved sound."""
    from deniable_server.storage.sqlite.backup import finished
    from deniable_server.storage.sqlite.storage import SQLiteStorage

    with finished(target, "the copy") as partial, _closing(SQLiteStorage(partial)) as copy:
        for listed in source.surveys():
            survey = _known(source, listed.id)
            copy.publish(survey.published)
            there = _known(copy, listed.id)
            with source.stored(survey) as stored:
                rows = iter(stored)
                while chunk := list(islice(rows, CHUNK)):
                    copy.receive(there, chunk)
                copy.settle(there, stored.days, listed)
        copy.finish_closing()
        _copy_keys(source, copy)


@contextmanager
def _closing(storage: Storage) -> Iterator[Storage]:
    try:
        yield storage
    finally:
        storage.close()
