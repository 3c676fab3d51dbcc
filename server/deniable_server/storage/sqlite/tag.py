"""The tag at the end of a backup: it shows that the file is as it was made, by somebody with the secret key.

HMAC-SHA256 (RFC 2104) over every byte before the tag, with a key that is derived from the secret key for this alone.
SQLite does not look at what follows its last page, so that a backup can still be opened with any SQLite.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import BinaryIO

from deniable_server.errors import StorageError

MARK = b"deniable backup\n"
LENGTH = len(MARK) + hashlib.sha256().digest_size
PIECE = 2**20


def append_tag(file: Path, key: str) -> None:
    """Tag a file that is complete."""
    with file.open("r+b") as content:
        mac = _mac(key)
        while piece := content.read(PIECE):
            mac.update(piece)
        content.write(MARK + mac.digest())


def copy_untagged(source: BinaryIO, target: Path, name: str, key: str | None) -> None:
    """Copy a file without its tag. StorageError unless it was tagged with this key; None: not checked."""
    size, mac = os.fstat(source.fileno()).st_size, _mac(key or "")
    source.seek(max(0, size - LENGTH))
    tag = source.read(LENGTH)
    tagged = len(tag) == LENGTH and tag.startswith(MARK)
    source.seek(0)
    left = size - LENGTH if tagged else size
    with target.open("r+b") as copy:
        while left and (piece := source.read(min(PIECE, left))):
            copy.write(piece)
            mac.update(piece)
            left -= len(piece)
    if key is None:
        return
    if not tagged:
        raise StorageError(
            f"{name} has no tag at its end: it is cut off, or  deniable backup  did not make it. {ANYWAY}"
        )
    if left or not hmac.compare_digest(tag, MARK + mac.digest()):
        raise StorageError(f"{name} was altered after it was made, or was made with another secret key. {ANYWAY}")


ANYWAY = (
    "Nothing was restored. Give the key that it was made with (--key-file, or DENIABLE_SECRET_KEY). If that key is "
    "lost,  --unauthenticated  restores the file without this check"
)


def _mac(key: str) -> hmac.HMAC:
    return hmac.new(hmac.digest(key.encode(), b"deniable backup", "sha256"), digestmod="sha256")
