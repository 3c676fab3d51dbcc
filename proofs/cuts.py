"""A disk that forgets: which files can be left when the power fails, given the writes and syncs so far.

What was synced is there. Of what was not, anything may be: each write, each change of size and each name of the folder
by itself reached the disk or did not, and a write may be torn between sectors of 512 bytes, with what was there before
or with zeros in the rest. The rules are those of POSIX, without what a file system may do beyond them: a new file is
found again only once its folder was synced; syncing a file says nothing about its name. Of a sync that failed, nothing
is kept that it should have written, even where a later one succeeds: the system has then forgotten that it was owed.

Two things are taken as given, as SQLite does: a write leaves the bytes next to it alone, also in its own sectors; and
fdatasync keeps a file's size.
"""

from __future__ import annotations

import random
from pathlib import Path

from .traces import Event, Named, Resize, Synced, Write

SECTOR = 512
MANNERS = ("none", "all", "first", "last", "prefix", "some", "torn")
FORGOTTEN = ("-shm",)
"""Files that do not matter after a cut: SQLite rebuilds the index of its log."""


class File:
    """What is surely on disk of a file, and what has been done to it since."""

    def __init__(self, content: bytes = b"") -> None:
        self.kept = bytearray(content)
        self.since: list[Write | Resize] = []

    def sync(self, synced: Synced) -> None:
        covered = [change for change in self.since if change.ended < synced.begun]
        self.since = [change for change in self.since if change.ended >= synced.begun]
        if not synced.failed:
            for change in covered:
                _do(self.kept, change)

    def now(self) -> bytes:
        """The content as processes see it, unless a sync failed."""
        content = bytearray(self.kept)
        for change in self.since:
            _do(content, change)
        return bytes(content)

    def left(self, rng: random.Random, manner: str) -> bytes:
        """The content after a cut in which unsynced changes came to this end."""
        content, since = bytearray(self.kept), self.since
        upto = rng.randrange(len(since) + 1)
        share = rng.choice((0.1, 0.5, 0.9))
        for i, change in enumerate(since):
            if manner == "torn" and isinstance(change, Write) and rng.random() < 0.8:
                _tear(content, change, rng)
            elif (
                manner == "all"
                or (manner == "first" and i == 0)
                or (manner == "last" and i == len(since) - 1)
                or (manner == "prefix" and i < upto)
                or (manner in ("some", "torn") and rng.random() < share)
            ):
                _do(content, change)
        if manner in ("some", "torn") and rng.random() < 0.3:
            # The new size reached the disk, and what belongs there did not.
            content.extend(bytes(max(0, len(self.now()) - len(content))))
        return bytes(content)


def _do(content: bytearray, change: Write | Resize) -> None:
    if isinstance(change, Resize):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    else:
        _put(content, change.offset, change.data)


def _put(content: bytearray, offset: int, data: bytes) -> None:
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def _tear(content: bytearray, change: Write, rng: random.Random) -> None:
    begin, end = change.offset, change.offset + len(change.data)
    while begin < end:
        stop = min(end, (begin // SECTOR + 1) * SECTOR)
        fate = rng.random()
        if fate < 0.5:
            _put(content, begin, change.data[begin - change.offset : stop - change.offset])
        elif fate < 0.75:
            _put(content, begin, bytes(stop - begin))
        begin = stop


class Disk:
    """A folder on such a disk. Events come in the order of their lines."""

    def __init__(self, folder: Path) -> None:
        """As the folder is now, and all of it on disk."""
        self.live = {path.name: File(path.read_bytes()) for path in folder.iterdir() if path.is_file()}
        self._kept: dict[str, File | None] = dict(self.live)
        self._since: list[tuple[Named, File | None]] = []

    def happen(self, event: Event) -> None:
        match event:
            case Write() | Resize():
                self.live[event.name].since.append(event)
            case Named(what="new"):
                self.live[event.name] = File()
                self._since.append((event, self.live[event.name]))
            case Named(what="link"):
                self.live[event.name] = self.live[event.old]
                self._since.append((event, self.live[event.name]))
            case Named():
                del self.live[event.name]
                self._since.append((event, None))
            case Synced(name=""):
                if not event.failed:
                    self._kept.update({named.name: file for named, file in self._since if named.ended < event.begun})
                self._since = [(named, file) for named, file in self._since if named.ended >= event.begun]
            case Synced():
                if event.name in self.live:
                    self.live[event.name].sync(event)

    @property
    def unsynced(self) -> int:
        """How many changes a cut could undo."""
        return len(self._since) + sum(
            len(file.since) for name, file in self.live.items() if not name.endswith(FORGOTTEN)
        )

    def left(self, rng: random.Random) -> dict[str, bytes]:
        """What is left of the folder after a cut, at random: one end for all files and names, or for each its own."""
        manner = rng.choice((*MANNERS, "each", "each", "each"))
        names = dict(self._kept)
        ends: dict[str, int] = {}
        for i, (named, file) in enumerate(self._since):
            # Later news about a name overwrites earlier; of each name, it is the news up to some point that arrived.
            if named.name not in ends:
                ends[named.name] = _end(len(self._since), _own(manner, rng), rng)
            if i < ends[named.name]:
                names[named.name] = file
        return {
            name: file.left(rng, _own(manner, rng))
            for name, file in names.items()
            if file is not None and not name.endswith(FORGOTTEN)
        }


def _own(manner: str, rng: random.Random) -> str:
    return rng.choice(MANNERS) if manner == "each" else manner


def _end(length: int, manner: str, rng: random.Random) -> int:
    ends = {"none": 0, "first": 1, "last": length, "all": length}
    return ends[manner] if manner in ends else rng.randrange(length + 1)
