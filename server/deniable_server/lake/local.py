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

from deniable_server.relations import Axis, Crossing
from deniable_server.tallies import Counts, Statistics, merge, tally_columns

from . import DOCUMENT, MANIFEST, Engine, ExportError, File, damaged, read_export
from .arrow import pa, pq, schema_of

T = TypeVar("T")
S = TypeVar("S")
THREADS = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class _Group(NamedTuple):
    """One group of rows of a file."""

    file: str
    number: int


class LocalEngine(Engine):
    """Reads with Arrow, on all cores."""

    def __init__(self, folder: str) -> None:
        path = self._path = Path(folder)
        self.export = read_export(folder, _content(path / MANIFEST), _content(path / DOCUMENT))
        self._document = self.export.published.document
        self._segments = self._document.survey.segments
        self._questions = self._document.survey.questions
        self._groups = [group for groups in _together(self._check, self.export.manifest.files) for group in groups]

    def statistics(self) -> Statistics:
        total: Statistics = {}
        for part in _together(self._tally, self._groups):
            total = merge([total, part])
        return total

    def count(self, crossing: Crossing) -> None:
        counts = np.zeros(crossing.joint.slots, dtype=np.int64)
        for part in _together(lambda group: self._count(group, crossing), self._groups):
            counts += part
        crossing.joint.add_counts(counts)

    def beside(self, folder: str) -> LocalEngine:
        return LocalEngine(folder)

    def _check(self, file: File) -> list[_Group]:
        """The groups of a file that is what the manifest says."""
        path = self._path / file.name
        try:
            with path.open("rb") as reader:
                if os.fstat(reader.fileno()).st_size != file.bytes:
                    raise damaged(self.export.folder, file.name, "has another size than when it was written")
                if hashlib.file_digest(reader, "sha256").hexdigest() != file.sha256:
                    raise damaged(self.export.folder, file.name, "is not the file that was written")
            metadata = pq.read_metadata(path)
        except FileNotFoundError:
            raise damaged(self.export.folder, file.name, "is missing") from None
        except (OSError, pa.ArrowException) as error:
            raise damaged(self.export.folder, file.name, f"cannot be read ({type(error).__name__})") from None
        wanted = schema_of(self._document)
        found = metadata.schema.to_arrow_schema()
        kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in wanted]
        if found.names != wanted.names or found.types != kinds or metadata.num_rows != file.rows:
            raise damaged(
                self.export.folder, file.name, "has other columns or rows than the survey and the manifest say"
            )
        return [_Group(file.name, number) for number in range(metadata.num_row_groups)]

    def _tally(self, group: _Group) -> Statistics:
        with self._opened(group) as file:
            segments = [self._positions(file, group, place) for place in range(len(self._segments))]
            reports = (self._reports(file, group, place) for place in range(len(self._questions)))
            rows = file.metadata.row_group(group.number).num_rows
            try:
                return tally_columns(self._document, rows, segments, reports)
            except ValueError as error:
                raise damaged(self.export.folder, group.file, f"does not fit the survey ({error})") from None

    def _count(self, group: _Group, crossing: Crossing) -> Counts:
        with self._opened(group) as file:
            chosen: Any = slice(None)
            for place, positions in crossing.wanted.items():
                here = np.isin(self._positions(file, group, place), [*positions])
                chosen = here if isinstance(chosen, slice) else chosen & here

            def read(axis: Axis) -> Counts:
                if axis.groups is None:
                    reports: Counts = self._reports(file, group, axis.place)[chosen]
                    return reports
                positions: Counts = self._positions(file, group, axis.place)[chosen]
                return np.array(axis.groups)[positions]

            return crossing.joint.count(read(crossing.rows), read(crossing.columns))

    def _opened(self, group: _Group) -> Any:
        segments = [segment.id for segment in self._segments]
        return pq.ParquetFile(self._path / group.file, read_dictionary=segments)

    def _reports(self, file: Any, group: _Group, place: int) -> Counts:
        reports: Counts = self._column(file, group, self._questions[place].id).to_numpy().astype(np.int64)
        return reports

    def _positions(self, file: Any, group: _Group, place: int) -> Counts:
        """The positions of a segment's codes. Each file, and each part of one, numbers codes in a way of its own."""
        known = {option.code: position for position, option in enumerate(self._segments[place].options)}
        parts = []
        for chunk in self._column(file, group, self._segments[place].id).chunks:
            here = np.array([known.get(code, -1) for code in chunk.dictionary.to_pylist()], dtype=np.int64)
            parts.append(here[chunk.indices.to_numpy()])
        return np.concatenate(parts)

    def _column(self, file: Any, group: _Group, name: str) -> Any:
        try:
            return file.read_row_group(group.number, columns=[name], use_threads=False).column(0)
        except (OSError, pa.ArrowException) as error:
            raise damaged(self.export.folder, group.file, f"cannot be read ({type(error).__name__})") from None


def _together(work: Callable[[S], T], items: Sequence[S]) -> Iterator[T]:
    """The results of some work on each item, in order, a few at a time on several threads."""
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


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from None
