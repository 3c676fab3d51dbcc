"""Counts an export on Spark: expressions of its own only, so that the workers need nothing of ours installed.

What comes back is counts, a bounded number whatever the size of the export; the rest is done here, as always.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from deniable_protocol import Document
from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.reports import report_columns
from deniable_server.errors import ExportError
from deniable_server.estimator.pieces import Piece
from deniable_server.statistics import MODULUS, Codes, Counts, Statistics, nothing, repeats_of, step_of

from . import DOCUMENT, MANIFEST, Engine, column_bits, content, damaged, read_export
from .slots import Slot, from_slots, slots

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MASTER = re.compile(r"local(\[[^\]]+\])?|yarn|spark://[^/:]+:\d+(,[^/:]+:\d+)*|k8s://.+")
SHUFFLE = 16
"""Parts that counts are collected in; there are few."""
TOGETHER = 4_096
"""Values that slots may have together and still be counted as one."""
VALUE, COUNT = " value", " count"
"""Columns of our own; no id of a survey has a space."""


@dataclass(frozen=True)
class _Bundle:
    """Slots of one booklet that are counted as one number, from ``start``: each value times its step. One bundle of
    each booklet also counts the booklet.
    """

    start: int
    booklet: int
    counts_booklet: bool
    slots: list[Slot]

    @property
    def steps(self) -> list[int]:
        return [prod(slot.piece.values for slot in self.slots[:i]) for i in range(len(self.slots))]

    @property
    def stop(self) -> int:
        return self.start + prod(slot.piece.values for slot in self.slots)

    def slot_values(self, value: Column) -> list[Column]:
        """Which value each of the slots has."""
        from pyspark.sql import functions as sf

        found = [sf.lit(self.booklet).cast("long")] if self.counts_booklet else []
        for slot, step in zip(self.slots, self.steps, strict=True):
            # Whole numbers far below 2^53: their quotients as doubles round down right.
            digit = sf.floor((value - self.start) / step).cast("long") % slot.piece.values
            found.append(digit + slot.start)
        return found


def _bundled(document: Document) -> list[_Bundle]:
    """The bundles of all booklets."""
    known, bundles, stop = slots(document), list[_Bundle](), 0
    for number, booklet in enumerate(document.booklets):
        bundles.append(_Bundle(stop, number, True, []))
        for slot in known:
            if slot.part not in booklet.parts:
                continue
            last = bundles[-1]
            if last.slots and (last.stop - last.start) * slot.piece.values > TOGETHER:
                bundles.append(_Bundle(last.stop, number, False, []))
            bundles[-1].slots.append(slot)
        stop = bundles[-1].stop
    return bundles


@contextmanager
def spark_engine(folder: str, master: str | None) -> Iterator[SparkEngine]:
    """Spark for as long as it is needed."""
    if importlib.util.find_spec("pyspark") is None:
        raise ExportError("--engine spark needs pyspark: install it with  pip install 'deniable[spark]'")
    home = os.environ.get("JAVA_HOME")
    if not shutil.which(os.path.join(home, "bin", "java") if home else "java"):
        raise ExportError("Spark needs Java, 17 or newer: install it, or set JAVA_HOME to where it is")
    master = master or os.environ.get("SPARK_MASTER") or "local[*]"
    if not MASTER.fullmatch(master):
        raise ExportError("--master (SPARK_MASTER) takes spark://HOST:PORT, yarn, k8s://… or local[N]")
    if "://" not in folder:  # before Java is started, which takes its time
        read_export(folder, content(Path(folder) / MANIFEST), content(Path(folder) / DOCUMENT))
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    with tempfile.TemporaryFile() as said:
        try:
            session = _start(master, said)
        except (Py4JError, PySparkException, OSError) as error:
            raise ExportError(f"Spark did not start on {master}: {_reason(said) or _in_short(error)}") from None
        try:
            yield SparkEngine(session, folder)
        except (Py4JError, PySparkException) as error:
            raise ExportError(f"Spark failed: {_in_short(error)}") from None
        finally:
            session.stop()


def _start(master: str, said: IO[bytes]) -> SparkSession:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(SHUFFLE),
        "spark.sql.caseSensitive": "true",  # codes of options, which columns are called by, may differ in case only
    }
    if master.startswith("local") or "//127.0.0.1:" in master or "//localhost:" in master:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(master).appName("deniable")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _quiet(said):
        return builder.getOrCreate()


@contextmanager
def _quiet(said: IO[bytes]) -> Iterator[None]:
    """What a process that is started meanwhile prints goes to this file, for as long as it lives: the JVM is talkative,
    and standard output is for the result.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in (1, 2)]
    try:
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


def _reason(said: IO[bytes]) -> str:
    """The last line in which Java says what went wrong, without its stacks."""
    said.seek(0)
    lines = said.read().decode(errors="replace").splitlines()
    if any("All masters are unresponsive" in line for line in lines):
        return "no master answers there"
    told = [line.strip() for line in lines if re.search(r"(Exception|Error): ", line) and not line.startswith("\tat ")]
    return told[-1][:300] if told else ""


def _in_short(error: Exception) -> str:
    """The first line that says what happened, without the stacks of two languages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    causes = [line for line in lines if line.startswith("Caused by:")]
    return " ".join([*lines[:2], *causes[-1:]])[:600]


class SparkEngine(Engine):
    """Reads wherever Spark can: a path that all workers see, or an address such as s3a:// or hdfs://."""

    def __init__(self, session: SparkSession, folder: str) -> None:
        self._session = session
        self._path = None if "://" in folder else Path(folder).absolute()
        # Spark takes addresses for patterns.
        self._base = re.sub(r"([\\{}\[\]*?])", r"\\\1", folder if self._path is None else f"file://{self._path}")
        self.export = read_export(folder, self._content(MANIFEST), self._content(DOCUMENT))
        self._document = self.export.published.document
        self._segments = self._document.survey.segments
        names = report_columns(self._document)
        self._booklet, self._parts = names[len(self._segments)], names[len(self._segments) + 1 :]
        self._check()

    def another(self, folder: str) -> SparkEngine:
        return SparkEngine(self._session, folder)

    def statistics(self) -> Statistics:
        from pyspark.sql import functions as sf

        if not self.export.manifest.files:
            return nothing(self._document)
        segments = [segment.id for segment in self._segments]
        bundles = _bundled(self._document)
        # Twice: the values of a bundle together, which makes few of many rows; then each slot's from those.
        rows = _counted(self._reports(), segments, self._bundle_values(bundles))
        value = _column(VALUE)
        single = sf.when(value < 0, sf.array(sf.lit(-1).cast("long")))
        for bundle in bundles:
            single = single.when(value < bundle.stop, sf.array(*bundle.slot_values(value)))
        exploded = rows.select(*map(_column, segments), sf.explode(single).alias(VALUE), _column(COUNT))
        counted = exploded.groupBy(*map(_column, segments), value).agg(sf.sum(_column(COUNT))).collect()
        return self._from_counts(counted)

    def _repeats(self) -> Counts:
        """How often whole reports came, in a pass of its own: by segments, it would be too many numbers."""
        from pyspark.sql import functions as sf

        counts, known = nothing(self._document).repeats, repeats_of(self._document)
        if not known:
            return counts
        values = []
        for repeats in known:
            number = self._sum() if repeats.part is None else self._report(repeats.part)
            values.append(number % repeats.size + repeats.start)
        found = sf.array_compact(sf.array(*values))  # a part that the booklet does not have is null
        for value, count in _counted(self._reports(), [], found).collect():
            counts[value] = count
        return counts

    def _sum(self) -> Column:
        """As ``RepeatCounter.add`` sums it."""
        from pyspark.sql import functions as sf

        total = sf.lit(0).cast("long")
        for part in range(len(self._parts)):
            total = total + sf.coalesce(self._report(part) % MODULUS * step_of(part), sf.lit(0))
        return total

    def _from_counts(self, counted: list[Any]) -> Statistics:
        """The statistics from rows of codes, a slot's value and its count."""
        known = slots(self._document)
        positions = [{option.code: i for i, option in enumerate(segment.options)} for segment in self._segments]
        cells: dict[Codes, Counts] = {}
        for *codes, value, count in counted:
            places = tuple(position.get(code, -1) for position, code in zip(positions, codes, strict=True))
            if value is None or value < 0 or -1 in places:
                raise damaged(self.export.folder, "reports", "has a report or a code that does not fit the survey")
            if places not in cells:
                cells[places] = np.zeros(known[-1].place.stop, dtype=np.int64)
            cells[places][value] = count
        statistics = from_slots(self._document, cells, self._repeats())
        if statistics.submissions != self.export.manifest.submissions:
            raise damaged(self.export.folder, "reports", "has another number of rows than the manifest says")
        return statistics

    def _bundle_values(self, bundles: Sequence[_Bundle]) -> Column:
        """The values of the bundles of each row's booklet; one below zero where anything does not fit."""
        from pyspark.sql import functions as sf

        booklet = _column(self._booklet)
        sizes = sf.array(*(sf.lit(len(each.parts)) for each in self._document.booklets))
        there = sf.size(sf.array_compact(sf.array(*(self._report(part) for part in range(len(self._parts))))))
        fits = there == sf.get(sizes, booklet.cast("int"))  # null where there is no such booklet
        found = sf.when(~sf.coalesce(fits, sf.lit(False)), sf.array(sf.lit(-1).cast("long")))
        for number in range(len(self._document.booklets)):
            values = [self._bundle_value(bundle) for bundle in bundles if bundle.booklet == number]
            found = found.when(booklet == number, sf.array(*values))
        return found

    def _bundle_value(self, bundle: _Bundle) -> Column:
        """The values of the bundle's slots as one number; below zero where a report is none."""
        from pyspark.sql import functions as sf

        valid, value = sf.lit(True), sf.lit(bundle.start).cast("long")
        for slot, step in zip(bundle.slots, bundle.steps, strict=True):
            channel, report = self._document.parts[slot.part].channel, self._report(slot.part)
            valid = valid & (report >= 0) & (report <= channel.largest_report)
            if channel.held is not None:
                valid = valid & (sf.bit_count(report) == channel.held)
            value = value + _value(slot.piece, report) * step
        return sf.when(valid, value).otherwise(-1)

    def count(self, crossing: Crossing) -> None:
        from pyspark.sql import functions as sf

        if not self.export.manifest.files:
            return
        reports = self._reports()
        for place, positions in crossing.wanted.items():
            codes = [self._segments[place].options[position].code for position in positions]
            reports = reports.where(_column(self._segments[place].id).isin(codes))
        variables = [self._report(part) for part in crossing[:2]]
        values = []
        for pair in crossing.joint.crossed:
            first, second = (_value(each.piece, variables[each.variable]) for each in (pair.first, pair.second))
            values.append(first * pair.second.piece.values + second + pair.start)
        counts = np.zeros(crossing.joint.slots, dtype=np.int64)
        for value, count in _counted(reports, [], sf.array(*values)).collect():
            counts[value] = count
        crossing.joint.add_counts(counts)

    def _report(self, place: int) -> Column:
        return _column(self._parts[place]).cast("long")

    def _reports(self) -> DataFrame:
        from pyspark.sql import types as st

        kinds = {8: st.ByteType(), 16: st.ShortType(), 32: st.IntegerType(), 64: st.LongType()}
        fields = [st.StructField(segment.id, st.StringType()) for segment in self._segments]
        fields.append(st.StructField(self._booklet, st.ShortType()))
        for name, part in zip(self._parts, self._document.parts, strict=True):
            fields.append(st.StructField(name, kinds[column_bits(part.channel)]))
        return self._session.read.schema(st.StructType(fields)).parquet(*map(self._address, self._names()))

    def _names(self) -> list[str]:
        return [file.name for file in self.export.manifest.files]

    def _address(self, name: str) -> str:
        return f"{self._base.rstrip('/')}/{name}"

    def _content(self, name: str) -> bytes | None:
        """A small file; Spark knows the addresses that we do not."""
        from pyspark.errors import AnalysisException

        if self._path is not None:
            return content(self._path / name)
        try:
            (row,) = self._session.read.format("binaryFile").load(self._address(name)).select("content").collect()
        except AnalysisException as error:
            if "PATH_NOT_FOUND" in (error.getCondition() or ""):
                return None
            raise
        return bytes(row["content"])

    def _check(self) -> None:
        """That every file is there and is the one that was written: the workers take the digests."""
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as sf

        files = self.export.manifest.files
        if not files:
            return
        try:
            found = self._session.read.format("binaryFile").load([self._address(file.name) for file in files])
            digests = found.select("path", "length", sf.sha2("content", 256).alias("sha256")).collect()
        except AnalysisException as error:
            if "PATH_NOT_FOUND" in (error.getCondition() or ""):
                raise damaged(self.export.folder, "reports", "lacks a file") from None
            raise
        seen = {row["path"].rpartition("/")[2]: (row["length"], row["sha256"]) for row in digests}
        for file in files:
            if seen.get(file.name.rpartition("/")[2]) != (file.bytes, file.sha256):
                raise damaged(self.export.folder, file.name, "is not the file that was written")


def _counted(reports: DataFrame, by: Sequence[str], values: Column) -> DataFrame:
    """How often each of the values comes, in one pass; each row has an array of them."""
    from pyspark.sql import functions as sf

    exploded = reports.select(*map(_column, by), sf.explode(values).alias(VALUE))
    return exploded.groupBy(*map(_column, by), _column(VALUE)).agg(sf.count("*").alias(COUNT))


def _column(name: str) -> Column:
    from pyspark.sql import functions as sf

    return sf.col(f"`{name}`")


def _value(piece: Piece, report: Column) -> Column:
    """What Piece.of gives, as an expression."""
    from pyspark.sql import functions as sf

    return report if piece.is_whole else sf.shiftright(report, piece.shift).bitwiseAND(piece.values - 1)
