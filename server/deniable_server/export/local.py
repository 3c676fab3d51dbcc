"""Counts an export on this machine: group of rows by group of rows, so that its size costs time but no memory."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.reports import report_columns
from deniable_server.errors import ExportError
from deniable_server.statistics import Codes, Counts, RepeatCounter, Statistics

from . import DOCUMENT, MANIFEST, Engine, File, content, damaged, read_export
from .arrow import pa, pq, schema_of
from .slots import ABSENT, count_columns, from_slots

T = TypeVar("T")
S = TypeVar("S")
THREADS = 2
"""That read ahead: one is enough where reading is quicker than counting."""


class _Group(NamedTuple):
    """One group of rows of a file."""

    file: str
    number: int


class LocalEngine(Engine):
    """Arrow reads ahead on other threads, while this one counts: numpy counts too quickly for threads to share it."""

    def __init__(self, folder: str) -> None:
        if "://" in folder:
            raise ExportError(f"{folder} is an address: the local engine reads folders; use --engine spark")
        path = self._path = Path(folder)
        self.export = read_export(folder, content(path / MANIFEST), content(path / DOCUMENT))
        self._document = self.export.published.document
        self._segments = self._document.survey.segments
        names = report_columns(self._document)
        self._booklet, self._parts = names[len(self._segments)], names[len(self._segments) + 1 :]
        self._groups = [group for groups in _ahead(self._check, self.export.manifest.files) for group in groups]

    def another(self, folder: str) -> LocalEngine:
        return LocalEngine(folder)

    def statistics(self) -> Statistics:
        total: dict[Codes, Counts] = {}
        repeats = RepeatCounter(self._document)
        for group, table in self._tables(report_columns(self._document)):
            segments = [self._positions(table, place) for place in range(len(self._segments))]
            reports = (_numbers(table, part) for part in self._parts)
            try:
                counted = count_columns(self._document, segments, _numbers(table, self._booklet), reports, repeats)
            except ValueError as error:
                raise damaged(self.export.folder, group.file, f"does not fit the survey ({error})") from None
            for codes, row in counted.items():
                total[codes] = total[codes] + row if codes in total else row.copy()
        return from_slots(self._document, total, repeats.counts)

    def count(self, crossing: Crossing) -> None:
        asked = [self._parts[part] for part in crossing[:2]]
        wanted = [self._segments[place].id for place in crossing.wanted]
        counts = np.zeros(crossing.joint.slots, dtype=np.int64)
        for _, table in self._tables([*asked, *wanted]):
            chosen: Any = slice(None)
            for place, positions in crossing.wanted.items():
                here = np.isin(self._positions(table, place), [*positions])
                chosen = here if isinstance(chosen, slice) else chosen & here
            rows, columns = (_numbers(table, name)[chosen] for name in asked)
            counts += crossing.joint.count(rows, columns)
        crossing.joint.add_counts(counts)

    def _check(self, file: File) -> list[_Group]:
        """The groups of a file that is what the manifest says."""
        path = self._path / file.name
        try:
            with path.open("rb") as reader:
                if os.fstat(reader.fileno()).st_size != file.bytes:
                    raise damaged(self.export.folder, file.name, "has another size than when it was written")
                if hashlib.file_digest(reader, hashlib.sha256).hexdigest() != file.sha256:
                    raise damaged(self.export.folder, file.name, "is not the file that was written")
            metadata = pq.read_metadata(path)
        except FileNotFoundError:
            raise damaged(self.export.folder, file.name, "is missing") from None
        except (OSError, pa.ArrowException) as error:
            raise damaged(self.export.folder, file.name, f"cannot be read ({type(error).__name__})") from None
        wanted, found = schema_of(self._document), metadata.schema.to_arrow_schema()
        kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in wanted]
        if found.names != wanted.names or found.types != kinds or metadata.num_rows != file.rows:
            raise damaged(self.export.folder, file.name, "has other columns or rows than were written")
        return [_Group(file.name, number) for number in range(metadata.num_row_groups)]

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[_Group, Any]]:
        """These columns, group by group."""
        codes = [segment.id for segment in self._segments]

        def read(group: _Group) -> tuple[_Group, Any]:
            try:
                with pq.ParquetFile(self._path / group.file, read_dictionary=codes) as file:
                    return group, file.read_row_group(group.number, columns=names, use_threads=False)
            except (OSError, pa.ArrowException) as error:
                raise damaged(self.export.folder, group.file, f"cannot be read ({type(error).__name__})") from None

        return _ahead(read, self._groups)

    def _positions(self, table: Any, place: int) -> Counts:
        """The positions of a segment's codes. Each file, and each part of one, numbers codes in a way of its own."""
        known = {option.code: position for position, option in enumerate(self._segments[place].options)}
        parts = []
        for chunk in table.column(self._segments[place].id).chunks:
            here = np.array([known.get(code, -1) for code in chunk.dictionary.to_pylist()], dtype=np.int64)
            parts.append(here[chunk.indices.to_numpy()])
        return np.concatenate(parts)


def _numbers(table: Any, name: str) -> Counts:
    """The booklets, or the reports of a part; ABSENT where there is none."""
    column = table.column(name)
    numbers: Counts = (column.fill_null(ABSENT) if column.null_count else column).to_numpy().astype(np.int64)
    return numbers


def _ahead(work: Callable[[S], T], items: Sequence[S]) -> Iterator[T]:
    """The results of some work on each item, in order; other threads are a few items ahead."""
    with ThreadPoolExecutor(THREADS) as pool:
        running: deque[Future[T]] = deque()
        try:
            for item in items:
                running.append(pool.submit(work, item))
                if len(running) > THREADS:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
