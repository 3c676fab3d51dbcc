"""Files that survive a power cut, and that nobody else sees before they are finished."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable_server.errors import StorageError

UNFINISHED = ".deniable-unfinished-"
"""How the names of unfinished files begin. A process has a lock on its own, which ends with it, however it ends."""


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def workshop(folder: Path) -> Iterator[Path]:
    """A folder to make a file in that will belong in ``folder``: for its owner only, and gone at the end.

    It is made in ``folder`` itself, or, where others could rename what is in there, in the folder for temporary files:
    programs such as SQLite open files by name, and would write into what somebody else has put there. What processes
    that were killed have left is removed.
    """
    place = folder if _only_we_rename(folder) else Path(tempfile.gettempdir())
    for each in {folder, place}:
        _sweep(each)
    made, descriptor = _locked_folder(place)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(descriptor)


def locks_work(folder: Path) -> bool | None:
    """Whether a process that locks a file in this folder keeps others out, as SQLite needs it; None: no file can be
    made here to try.

    Network file systems can be mounted so that everybody gets every lock. Two processes must try: one that asks again
    gets a lock that it has already.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=UNFINISHED, dir=folder)
    except OSError:
        return None
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        command = [sys.executable, "-I", "-S", "-c", _LOCK_IT_TOO, name]
        return subprocess.run(command, check=False, timeout=60).returncode == _REFUSED  # noqa: S603 -- our own
    except OSError:  # no locks at all: SQLite does not get any either
        return False
    finally:
        os.close(descriptor)
        os.unlink(name)


_REFUSED = 75
_LOCK_IT_TOO = f"""
import fcntl, sys
with open(sys.argv[1], "r+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit({_REFUSED})
"""


def put(made: Path, final: Path) -> None:
    """Give a file that was made in a workshop its name. FileExistsError where something has this name by now."""
    try:
        os.link(made, final)  # unlike a rename, a link does not overwrite what came into being meanwhile
        return
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(final):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
    try:
        made.rename(final)  # some file systems have no links
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_across(made, final)


def _copy_across(made: Path, final: Path) -> None:
    """From one file system to another: only this process ever opens the new file, and by its descriptor."""
    descriptor, name = tempfile.mkstemp(prefix=UNFINISHED, dir=final.parent)  # 0600, new, and no link
    try:
        with open(descriptor, "wb") as copy, made.open("rb") as source:
            fcntl.flock(copy, fcntl.LOCK_EX)
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
            try:
                os.link(name, final)
            except FileExistsError:
                raise
            except OSError:
                Path(name).rename(final)
            if not os.path.samestat(os.fstat(copy.fileno()), os.lstat(final)):
                raise StorageError(
                    f"Somebody else has exchanged {final} while it was written; use a folder of your own"
                )
    finally:
        with suppress(OSError):
            os.unlink(name)


def _only_we_rename(folder: Path) -> bool:
    """Whether nobody but us (and root) can rename what we make in this folder, or a folder on the way to it."""
    real = folder.resolve()
    statuses = [each.stat() for each in (real, *real.parents)]
    return all(
        status.st_uid in (0, os.geteuid()) and (not status.st_mode & 0o022 or status.st_mode & stat.S_ISVTX)
        for status in statuses
    )


def _locked_folder(place: Path) -> tuple[Path, int]:
    while True:
        made = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=place))  # 0700
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        with suppress(OSError):  # some file systems have no locks: what is left there stays
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if made.exists():
            return made, descriptor
        os.close(descriptor)  # another process came before the lock, and took it for a leftover


def _sweep(folder: Path) -> None:
    """Remove unfinished files of ours that no process is working on."""
    for left in folder.glob(UNFINISHED + "*"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                status = os.fstat(descriptor)
                if status.st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left) if stat.S_ISDIR(status.st_mode) else left.unlink()
            finally:
                os.close(descriptor)
