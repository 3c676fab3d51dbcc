"""Exports: the submissions of a survey as Parquet files, and the sufficient statistics counted from them.

A folder contains ``published.json``, the published document; ``reports/part-00000.parquet`` and so on, a row per
submission with the segments' codes, the booklet, and a randomised report for each of its parts; and ``export.json``,
written last, which names every file with its size and digest. Engines differ in where they count; what they count is
the same as in a database, and so is every estimate.

May not: contain the id of a submission, or estimate anything.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec

from deniable_protocol import Channel, DocumentError, verify
from deniable_server.analysis.crossing import Crossing
from deniable_server.errors import ExportError
from deniable_server.statistics import Statistics
from deniable_server.storage import Published, Status

FORMAT = 1
MANIFEST, DOCUMENT, REPORTS = "export.json", "published.json", "reports"
ENGINES = ("local", "spark")

_FILE = re.compile(rf"{REPORTS}/part-[0-9]{{5,9}}\.parquet")


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of reports, by its path within the export."""

    name: str
    rows: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is in an export, and that it is complete. ``exported_on`` is the day, in UTC."""

    deniable_export: int
    survey: str
    digest: str
    status: Status
    exported_on: str
    submissions: int
    files: list[File]


@dataclass(frozen=True)
class Export:
    """An export whose manifest and document are sound; its files are the engine's to check."""

    folder: str
    published: Published
    manifest: Manifest


class Engine(ABC):
    """Counts what is in the files of one export."""

    export: Export

    @abstractmethod
    def statistics(self) -> Statistics:
        """The sufficient statistics of all submissions. ExportError where a file is not what the manifest says."""

    @abstractmethod
    def count(self, crossing: Crossing) -> None:
        """Count two variables together, over all submissions."""

    @abstractmethod
    def another(self, folder: str) -> Engine:
        """The same for another export."""


@contextmanager
def opened(folder: str, engine: str = "local", master: str | None = None) -> Iterator[Engine]:
    """The export in this folder, every file of which is there and unchanged."""
    if engine == "local":
        from .local import LocalEngine

        yield LocalEngine(folder)
    else:
        from .spark import spark_engine

        with spark_engine(folder, master) as made:
            yield made


def content(path: Path) -> bytes | None:
    """A small file of an export; None where it is not there."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from None


def read_export(folder: str, manifest: bytes | None, document: bytes | None) -> Export:
    """The export of which these were read; None for what is not there."""
    if manifest is None or document is None:
        part = MANIFEST if manifest is None else DOCUMENT
        raise ExportError(
            f"{folder} has no {part}: it is not an export, or one that broke off. Make it with  "
            "deniable export ID --to DIR"
        )
    try:
        number = msgspec.json.decode(manifest, type=_Numbered).deniable_export
        if number > FORMAT:
            raise ExportError(f"{folder} was exported by a newer Deniable (format {number}); install that version")
        known = msgspec.json.decode(manifest, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ExportError(f"{folder}/{MANIFEST} is damaged, or not one of Deniable's; export again") from None
    if (
        known.submissions != sum(file.rows for file in known.files)
        or not _is_day(known.exported_on)
        or not all(_FILE.fullmatch(file.name) and file.rows > 0 and file.bytes > 0 for file in known.files)
    ):
        raise ExportError(f"{folder}/{MANIFEST} contradicts itself; export again")
    try:
        verified = verify(document)
    except DocumentError:
        raise ExportError(f"{folder}/{DOCUMENT} is damaged, or no published document; export again") from None
    if (verified.survey.id, verified.digest) != (known.survey, known.digest):
        raise ExportError(f"{folder}/{DOCUMENT} is not the document that these reports belong to; export again")
    return Export(folder, Published(0, document, verified), known)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


class _Numbered(msgspec.Struct):
    deniable_export: int


def column_bits(channel: Channel) -> int:
    """The width of the signed integers that hold the reports of a channel: what every engine reads as it is."""
    return next(bits for bits in (8, 16, 32, 64) if channel.largest_report < 1 << bits - 1)


def damaged(folder: str, file: str, what: str) -> ExportError:
    return ExportError(f"{Path(folder).name}/{file} {what}: the export is damaged; export again")
