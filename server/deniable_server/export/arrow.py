"""Arrow, where it is installed, and the columns of an export in its terms."""

from __future__ import annotations

from typing import Any

from deniable_protocol import Document
from deniable_server.errors import ExportError
from deniable_server.statistics import channels_of

from . import column_bits

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
except ModuleNotFoundError:
    raise ExportError("Exports need pyarrow: install it with  pip install 'deniable[parquet]'") from None

__all__ = ["pa", "pq", "schema_of"]


def schema_of(document: Document) -> Any:
    """A column per segment, of codes, and a column per question, of reports. Their ids differ from each other."""
    segments = [pa.field(each.id, pa.dictionary(pa.int32(), pa.string()), False) for each in document.survey.segments]
    widths = [getattr(pa, f"int{column_bits(channel)}")() for channel in channels_of(document)]
    questions = [pa.field(each.id, kind, False) for each, kind in zip(document.survey.questions, widths, strict=True)]
    return pa.schema([*segments, *questions])
