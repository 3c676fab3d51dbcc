"""One SQLite file, or one in memory: making it, opening it, transactions, and what its errors mean.

May not: know what the tables mean. Every transaction on a file opens a connection of its own, and none is open while
the process forks: that is what makes it safe across threads, processes and forks.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from .errors import StateError

Result = TypeVar("Result")

PATIENCE = 5.0
"""How long a transaction waits for others, in seconds."""

# At most one thread is inside SQLite, and the thread that forks holds the lock while it does: a child that inherited
# one of SQLite's own locks, held by a thread that it does not have, would wait for it forever.
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

DAMAGED = "it is damaged, or another kind of file; move it away to go on without what it remembers"
_MEANINGS = {
    sqlite3.SQLITE_BUSY: "another process holds it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_READONLY: "it cannot be written",
}

Work = Callable[[sqlite3.Connection], Result]


class Database:
    """Runs functions as transactions: all of what one does is kept, or none. Raises nothing but StateError.

    A file that does not exist yet appears with all that ``make`` writes into it, or not at all.
    """

    def __init__(self, path: str | os.PathLike[str] | None, make: Work[None]) -> None:
        self._memory: sqlite3.Connection | None = None
        if path is None:
            self._name = "in memory"
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            # Not at exit: deliveries get their last chance then, and read from here.
            weakref.finalize(self, self._memory.close).atexit = False
            self.write(make)
            return
        # Absolute, so that the file stays the same one when the process changes its folder.
        self._path = Path(os.path.abspath(os.path.expanduser(path)))
        self._name = str(self._path)
        try:
            with _lock:
                if not os.path.lexists(self._path):
                    _create(self._path, make)
        except (OSError, sqlite3.Error) as error:
            raise self.unusable(f"it cannot be created: {getattr(error, 'strerror', None) or error}") from error

    def write(self, work: Work[Result], *, patience: float = PATIENCE) -> Result:
        """Run ``work`` as the only writer. It may run again, where another process was in the way."""
        return self._transact("BEGIN IMMEDIATE", work, patience)

    def read(self, work: Work[Result]) -> Result:
        return self._transact("BEGIN", work, PATIENCE)

    def _transact(self, begin: str, work: Work[Result], patience: float) -> Result:
        deadline = time.monotonic() + patience
        while True:
            if not _lock.acquire(timeout=max(deadline - time.monotonic(), 0)):
                raise self.unusable("this process is still busy with it")
            try:
                with self._connection() as connection, connection:  # the second commits, or rolls back
                    connection.execute(begin)
                    return work(connection)
            except sqlite3.Error as error:
                # SQLite's own waiting would hold the lock, and with it every fork of this process.
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise self.unusable(f"{_MEANINGS.get(code, 'SQLite refuses it')} ({error})") from error
            except UnicodeError:  # of a damaged file, even the message may be no text
                raise self.unusable(DAMAGED) from None
            finally:
                _lock.release()
            time.sleep(0.01)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            yield self._memory
            return
        with _connected(self._path) as connection:
            yield connection

    def unusable(self, reason: str) -> StateError:
        return StateError(f"the state ({self._name}) cannot be used: {reason}")


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    # mode=rw: a file that has vanished is an error, not a new and empty ledger.
    location = f"{path.as_uri()}?mode=rw"
    with contextlib.closing(sqlite3.connect(location, uri=True, timeout=0, isolation_level=None)) as connection:
        # FULL, and the folder too: what was accepted is still there after a power cut.
        connection.execute("PRAGMA synchronous = EXTRA")
        # What is deleted is overwritten: SQLite would leave it in the file.
        connection.execute("PRAGMA secure_delete = ON")
        yield connection


def _create(path: Path, make: Work[None]) -> None:
    """A file that only its owner may read, in folders of the same kind where they are missing.

    It gets its name when it is complete. So an empty file is never one that another process is about to fill, and a
    process that is killed here leaves no half of a ledger.
    """
    for folder in [parent for parent in reversed(path.parents) if not parent.exists()]:
        with contextlib.suppress(FileExistsError):  # another process was faster
            folder.mkdir(mode=0o700)
    from tempfile import mkstemp  # once per device, and slow to load

    handle, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600, whatever the umask
    os.close(handle)
    try:
        with _connected(Path(name)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            make(connection)
        _give_name(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _give_name(name: str, path: Path) -> None:
    """Of several processes the first one wins, and the others go on with its file."""
    try:
        os.link(name, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not path.exists():
            os.rename(name, path)
