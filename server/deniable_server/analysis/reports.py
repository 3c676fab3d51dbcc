"""Submissions as a table, for people who want to do their own analysis: the randomised reports, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from deniable_protocol import Document
from deniable_server.statistics import Content


def report_columns(document: Document) -> list[str]:
    """The columns of a table of submissions: the segments, the booklet, and a part each, called by what it reports on.

    A name that is taken (two parts may report on the same, and a question may be called booklet) gets a number.
    """
    segments = [segment.id for segment in document.survey.segments]
    wanted = [*segments, "booklet", *("+".join(part.names) for part in document.parts)]
    seen: Counter[str] = Counter()
    found = []
    for name in wanted:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def report_rows(document: Document, submissions: Iterable[tuple[bytes, Content]]) -> Iterator[list[Any]]:
    """The ids of submissions are left out: with them, a receipt would point at its row. A part that the booklet does
    not have is empty.
    """
    codes = [[option.code for option in segment.options] for segment in document.survey.segments]
    parts = [booklet.parts for booklet in document.booklets]
    yield report_columns(document)
    for _, content in submissions:
        reports: list[int | None] = [None] * len(document.parts)
        for part, report in zip(parts[content.booklet], content.reports, strict=True):
            reports[part] = report
        yield [*(known[i] for known, i in zip(codes, content.segments, strict=True)), content.booklet, *reports]
