"""How a result is shown: as aligned text, and as tables of HTML for notebooks.

May not: know what the numbers mean, or pass on a character that a terminal or a browser would obey.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

MOST_LABEL = 48
"""Characters of the first column, in text. Longer labels are cut."""
MOST_WIDTH = 110
"""Characters of a line of text. A table that is wider is shown as a list, where the result has one."""


class Heading(NamedTuple):
    """A line over all columns."""

    text: str


class Grid(NamedTuple):
    """A table. The first column has labels, the others numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str] | Heading]
    title: str = ""


class View(NamedTuple):
    """A result: what it is, whom it is about, its tables, what they say in words, and what a reader must know.

    ``lists`` are the tables once more, for text that would get too wide.
    """

    title: str
    about: Sequence[str]
    grids: Sequence[Grid]
    words: Sequence[str] = ()
    notes: Sequence[str] = ()
    lists: Sequence[Grid] = ()

    @property
    def _sentences(self) -> list[str]:
        return [*self.words, *(f"⚠ {note}" for note in self.notes)]

    def as_text(self) -> str:
        tables = [_lines(grid) for grid in self.grids]
        if self.lists and max(_width(line) for lines in tables for line in lines) > MOST_WIDTH:
            tables = [_lines(grid) for grid in self.lists]
        pieces = [[_plain(self.title), _plain(" · ".join(self.about))], *tables, [*map(_plain, self._sentences)]]
        return "\n\n".join("\n".join(lines) for lines in pieces if lines)

    def as_html(self) -> str:
        """No colours of its own: it looks right on a light page and on a dark one."""
        about = f"<div style='opacity:.75'>{_safe(' · '.join(self.about))}</div>"
        words = "".join(f"<p style='margin:.5em 0 0'>{_safe(sentence)}</p>" for sentence in self._sentences)
        tables = "".join(map(_table, self.grids))
        return f"<div><div style='font-weight:600'>{_safe(self.title)}</div>{about}{tables}{words}</div>"


# --- text ------------------------------------------------------------------------------------------------------------


def _lines(grid: Grid) -> list[str]:
    plain = [row if isinstance(row, Heading) else [_cut(row[0]), *map(_plain, row[1:])] for row in grid.rows]
    cells = [row for row in plain if not isinstance(row, Heading)]
    names = [_plain(name) for name in grid.columns]
    widths = [max(map(_width, column)) for column in zip(names, *cells, strict=True)]
    found = [_plain(grid.title)] if grid.title else []
    found += [_aligned(names, widths), "  ".join("─" * width for width in widths)]
    return found + [_plain(row.text) if isinstance(row, Heading) else _aligned(row, widths) for row in plain]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The first to the left, the others to the right."""
    blanks = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    first, *rest = zip(cells, blanks, strict=True)
    return "  ".join(["".join(first), *(blank + cell for cell, blank in rest)]).rstrip()


def _cut(text: str) -> str:
    text = _plain(text)
    return text if len(text) <= MOST_LABEL else f"{text[: MOST_LABEL - 1]}…"


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _width(text: str) -> int:
    """In a terminal: some characters take two columns, and accents of their own take none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


# --- HTML ------------------------------------------------------------------------------------------------------------


def _table(grid: Grid) -> str:
    caption = ""
    if grid.title:
        caption = f"<caption style='caption-side:top;text-align:left;font-weight:600'>{_safe(grid.title)}</caption>"
    head = "".join(_cell("th scope='col'", name, place, "font-weight:600;") for place, name in enumerate(grid.columns))
    rows = "".join(f"<tr>{_row(row, len(grid.columns))}</tr>" for row in grid.rows)
    table = f"{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    style = "border-collapse:collapse;margin:.75em 0 0;font-variant-numeric:tabular-nums"
    return f"<div style='overflow-x:auto'><table style='{style}'>{table}</table></div>"


def _row(row: Sequence[str] | Heading, columns: int) -> str:
    if isinstance(row, Heading):
        style = "text-align:left;font-weight:600;padding:.5em .75em .15em"
        return f"<th colspan='{columns}' scope='rowgroup' style='{style}'>{_safe(row.text)}</th>"
    first, *rest = row
    indent = f"font-weight:normal;padding-left:{0.75 + 0.5 * (len(first) - len(first.lstrip()))}em;"
    return _cell("th scope='row'", first, 0, indent) + "".join(_cell("td", text, 1) for text in rest)


def _cell(tag: str, text: str, place: int, more: str = "") -> str:
    style = f"text-align:{'right' if place else 'left'};white-space:nowrap;padding:.15em .75em;{more}"
    return f"<{tag} style='{style}'>{_safe(text)}</{tag.partition(' ')[0]}>"


def _safe(text: str) -> str:
    return escape(_plain(text))
