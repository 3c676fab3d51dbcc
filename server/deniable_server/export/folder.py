"""Folders that are there whole or not at all, for their owner alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable_server.errors import ExportError
from deniable_server.storage.files import sync


@contextmanager
def making(folder: Path, also: type[Exception] = OSError) -> Iterator[Path]:
    """A folder to fill. It gets its name once it is finished, and is gone where it is not: ExportError for trouble with
    the disk, and for this other exception.
    """
    folder = folder.absolute()
    partial = folder.with_name(f".{folder.name}.partial")
    _refuse_taken(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        partial.mkdir(mode=0o700)
    except FileExistsError:
        raise ExportError(
            f"{partial} exists: another export to {folder.name} is running, or one broke off. "
            "Where none is running, delete it and try again"
        ) from None
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield partial
        sync(partial)
        _refuse_taken(folder)
        partial.rename(folder)  # onto an empty folder too, but onto no other
        sync(folder.parent)
    except (OSError, also) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ExportError(f"{folder} could not be written: {reason}. Nothing was left behind.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_file(path: Path, content: bytes) -> None:
    """A small file, on disk."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _refuse_taken(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportError(f"{folder} exists already, and is not overwritten; use another path")
