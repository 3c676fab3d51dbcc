"""Writes exports: streamed, in files that engines read in parallel, there whole or not at all.

Rows come in the order of the submissions' random ids, which are not written. The rows of a group are then sorted by
what they say: the place of a row within its group says nothing about its id, and the files are smaller.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from deniable_protocol import Document, verify
from deniable_server.statistics import Content
from deniable_server.storage import Published, Status, Storage, utc_today
from deniable_server.storage.files import sync

from . import DOCUMENT, FORMAT, MANIFEST, REPORTS, File, Manifest, column_bits
from .arrow import meanings, pa, pq, schema_of
from .folder import making, write_file
from .readme import README, readme_of_reports
from .slots import ABSENT

GROUP_ROWS = 1 << 17
"""Rows that are held in memory, sorted and written at a time, and read by one task."""
FILE_ROWS = 1 << 21
FILE_BYTES = 64 << 20
"""Of a file before it is compressed, so that surveys with many questions have smaller files, not larger ones."""
BATCH = 5_000
"""Submissions that are turned into columns at a time."""

Column = npt.NDArray[Any]


def export(
    storage: Storage, survey: Published, folder: Path, advance: Callable[[int], None] = lambda done: None
) -> Manifest:
    """All submissions of a survey as one moment saw them, in a folder that is made for them."""
    storage.check_shown(survey)
    # Before the submissions: where this says closed, there are no later ones.
    status = storage.status(survey)
    with storage.submissions(survey) as submissions, writing(folder, survey.raw) as writer:
        for group in columns(writer.document, (content for _, content in submissions)):
            writer.add(group)
            advance(len(group[0]))
        return writer.finish(status)


def columns(document: Document, contents: Iterable[Content]) -> Iterator[list[Column]]:
    """So many submissions at a time, column by column: the positions of the segments' codes, the booklets, and the
    reports of each part, ABSENT where the booklet does not have it.
    """
    kinds = [np.dtype(f"i{column_bits(part.channel) // 8}") for part in document.parts]
    contents = iter(contents)
    while batch := list(islice(contents, BATCH)):
        reports = [np.full(len(batch), ABSENT, kind) for kind in kinds]
        rows: dict[int, list[int]] = {}
        for row, content in enumerate(batch):
            rows.setdefault(content.booklet, []).append(row)
        for booklet, places in rows.items():
            values = np.array([batch[row].reports for row in places], dtype=np.int64)
            for part, column in zip(document.booklets[booklet].parts, values.T, strict=True):
                reports[part][places] = column
        segments = np.array([content.segments for content in batch], dtype=np.uint8)
        yield [*segments.T, np.array([content.booklet for content in batch], dtype=np.int16), *reports]


@contextmanager
def writing(
    folder: Path, published: bytes, group_rows: int = GROUP_ROWS, file_rows: int = FILE_ROWS
) -> Iterator[Writer]:
    """A folder to fill, for its owner alone; it gets its name once it is finished, and is gone where it is not."""
    with making(folder, pa.ArrowException) as partial, Writer(partial, published, group_rows, file_rows) as writer:
        yield writer


class Writer:
    """Fills the folder of an export, group by group and file by file."""

    def __init__(self, folder: Path, published: bytes, group_rows: int, file_rows: int) -> None:
        self.document = verify(published)
        survey = self.document.survey
        self._folder, self._schema = folder, schema_of(self.document)
        row = sum(column_bits(part.channel) // 8 for part in self.document.parts) + len(survey.segments) + 2
        self._group_rows = min(group_rows, file_rows, FILE_BYTES // row)
        self._file_rows = min(file_rows, FILE_BYTES // row) // self._group_rows * self._group_rows
        self._codes = [pa.array([option.code for option in segment.options]) for segment in survey.segments]
        self._waiting: list[list[Column]] = []
        self._held = 0
        self._parquet: Any = None
        self._output: Any = None
        self._files: list[File] = []
        self._rows = 0
        (folder / REPORTS).mkdir(mode=0o700)
        write_file(folder / DOCUMENT, published)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output is not None:
            with suppress(OSError, pa.ArrowException):  # what is left unfinished is thrown away
                self._parquet.close()
            self._output.close()

    def add(self, rest: Sequence[Column]) -> None:
        """These submissions, in columns as ``columns`` gives them."""
        while len(rest[0]):
            room = self._group_rows - self._held
            self._waiting.append([column[:room] for column in rest])
            self._held += len(self._waiting[-1][0])
            rest = [column[room:] for column in rest]
            if self._held == self._group_rows:
                self._write_group()

    def finish(self, status: Status) -> Manifest:
        """The rest, and last the manifest: where that is, all is."""
        if self._held:
            self._write_group()
        self._close_file()
        survey, digest = self.document.survey.id, self.document.digest
        total, day = sum(file.rows for file in self._files), utc_today().isoformat()
        manifest = Manifest(FORMAT, survey, digest, status, day, total, self._files)
        sync(self._folder / REPORTS)
        write_file(self._folder / README, readme_of_reports(self.document, manifest).encode())
        write_file(self._folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        return manifest

    def _write_group(self) -> None:
        group = [np.concatenate(each) for each in zip(*self._waiting, strict=True)]
        self._waiting, self._held = [], 0
        order = np.lexsort(group[::-1])
        group = [column[order] for column in group]
        coded = len(self._codes)
        arrays = [
            pa.DictionaryArray.from_arrays(column.astype(np.int32), codes)
            for column, codes in zip(group[:coded], self._codes, strict=True)
        ]
        numbers = [pa.array(column, mask=column == ABSENT) for column in group[coded:]]
        table = pa.Table.from_arrays([*arrays, *numbers], schema=self._schema)
        if self._parquet is None:
            self._open_file()
        self._parquet.write_table(table, row_group_size=self._group_rows)
        self._rows += table.num_rows
        if self._rows >= self._file_rows:
            self._close_file()

    def _open_file(self) -> None:
        path = self._folder / REPORTS / f"part-{len(self._files):05}.parquet"
        self._output = _Digested(path)
        self._parquet = pq.ParquetWriter(
            pa.PythonFile(self._output, mode="w"), self._schema, compression="zstd", store_schema=False
        )

    def _close_file(self) -> None:
        if self._parquet is None:
            return
        self._parquet.add_key_value_metadata({"deniable": meanings(self.document)})
        self._parquet.close()
        self._output.sync()
        name = f"{REPORTS}/part-{len(self._files):05}.parquet"
        self._files.append(File(name, self._rows, self._output.tell(), self._output.digest.hexdigest()))
        self._output.close()
        self._parquet = self._output = None
        self._rows = 0


class _Digested:
    """A file for its owner alone, whose digest is taken while it is written."""

    def __init__(self, path: Path) -> None:
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self.digest = hashlib.sha256()

    closed = False

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
        self.closed = True
