"""Arrow, where it is installed, and the columns of an export in its terms."""

from __future__ import annotations

from typing import Any

import msgspec

from deniable_protocol import Document, Part
from deniable_server.analysis.reports import report_columns
from deniable_server.errors import ExportError

from . import column_bits

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
except ModuleNotFoundError:
    raise ExportError("Exports need pyarrow: install it with  pip install 'deniable[parquet]'") from None

__all__ = ["meanings", "pa", "pq", "schema_of"]


def schema_of(document: Document) -> Any:
    """A column per segment, of codes; the booklet; and a column per part, of reports, null where the booklet has not
    that part.
    """
    segments, parts = document.survey.segments, document.parts
    names = report_columns(document)
    kinds = [pa.dictionary(pa.int32(), pa.string())] * len(segments)
    kinds += [pa.int16(), *(getattr(pa, f"int{column_bits(part.channel)}")() for part in parts)]
    always = [number for number in range(len(parts)) if all(number in each.parts for each in document.booklets)]
    nullable = [False] * (len(segments) + 1) + [number not in always for number in range(len(parts))]
    return pa.schema([pa.field(*each) for each in zip(names, kinds, nullable, strict=True)])


def meanings(document: Document) -> bytes:
    """JSON: for each column of reports the questions, and the path that each bit of a report stands for; no paths where
    the report is a level or a bit.
    """
    names = report_columns(document)[-len(document.parts) :]
    return msgspec.json.encode(
        {
            "digest": document.digest,
            "columns": {
                name: {"questions": part.names, "paths": _paths(part) if part.channel.held is not None else []}
                for name, part in zip(names, document.parts, strict=True)
            },
        }
    )


def _paths(part: Part) -> list[list[str | None]]:
    """The codes along each path; null where a question is not shown."""
    codes = [item.codes for item in part.items]
    return [
        [None if place is None else known[place] for known, place in zip(codes, path, strict=True)]
        for path in part.paths
    ]
