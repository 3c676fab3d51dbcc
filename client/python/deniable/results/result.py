"""What every result can do: print itself, show itself in a notebook, and become a table of pandas or polars.

A result keeps the JSON that it came as. Tables take named columns from it, and add every other number that is there,
so what a newer server adds is not lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.errors import missing_package
from deniable_protocol import Question, Survey
from deniable_protocol.labels import answer_texts, group_texts, merged_text

from .view import View

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

NUMBERS = ("estimate", "low", "high", "standard_error", "unbiased")
"""What a share has, and a mean."""

Tree = dict[str, Any]
Row = dict[str, Any]


class Result(ABC):
    """A result of a survey, and the day that it is of (UTC): as the server says, or else the day it was read."""

    def __init__(self, raw: bytes, survey: Survey, today: date) -> None:
        self._raw, self._survey, self._today = raw, survey, today

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def date(self) -> date:
        """The day that it is of (UTC)."""
        day = self._tree.get("date")
        return date.fromisoformat(day) if day else self._today

    @property
    def confidence(self) -> float:
        """The level of the intervals."""
        return float(self._tree["confidence"])

    @property
    def where(self) -> dict[str, str]:
        """The filters: which code each of these segments has."""
        return dict(self._tree.get("where", {}))

    @property
    def notes(self) -> list[str]:
        """What a reader must know about the numbers."""
        return list(self._tree.get("notes", ()))

    @property
    @abstractmethod
    def n(self) -> int:
        """How many submissions it is from."""

    # --- what it becomes ----------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the HTTP interface, with every number as it was computed."""
        tree: dict[str, Any] = msgspec.json.decode(self._raw)
        return tree

    def rows(self) -> list[dict[str, Any]]:
        """A row for every number. All rows have the same columns; what is unknown is None."""
        found = [{**row, **self._context()} for row in self._rows()]
        columns = list(dict.fromkeys(name for row in found for name in row))
        return [{name: row.get(name) for name in columns} for row in found]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table of pandas."""
        try:
            import pandas
        except ImportError as error:
            raise missing_package("to_pandas", "pandas", error.name) from None
        return pandas.DataFrame(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The rows as a table of polars."""
        try:
            import polars
        except ImportError as error:
            raise missing_package("to_polars", "polars", error.name) from None
        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it with matplotlib, on these axes or on new ones."""
        try:
            from .plots import finish, new_axes
        except ImportError as error:
            raise missing_package("plot", "matplotlib", error.name) from None
        axes = new_axes(sum(1 for _ in self._rows())) if ax is None else ax
        self._draw(axes)
        view = self._view()
        finish(axes, view.title, view.about)
        return axes

    def __str__(self) -> str:
        return self._view().as_text()

    def __repr__(self) -> str:
        """As text too: at a prompt, a result is what one wants to see."""
        return str(self)

    def _repr_html_(self) -> str:
        return self._view().as_html()

    # --- for subclasses -----------------------------------------------------------------------------------------------

    @cached_property
    def _tree(self) -> Tree:
        return self.to_dict()

    @abstractmethod
    def _rows(self) -> Iterator[Row]: ...

    @abstractmethod
    def _view(self) -> View: ...

    @abstractmethod
    def _draw(self, axes: Axes) -> None: ...

    def _context(self) -> Row:
        """What every row says of the result as a whole."""
        return {
            "survey": self._survey.id,
            "submissions": self.n,
            "where": " ".join(f"{segment}:{code}" for segment, code in self.where.items()),
            "without": " ".join(self._tree.get("without", ())),
            "confidence": self.confidence,
            "date": self.date,
        }

    def _about(self, first: str) -> list[str]:
        """Whom a result is about, how sure the intervals are, and when it was read: on everything that shows it."""
        tree = self._tree
        filters = [f"{self._name(segment)} {self._group(segment, code)}" for segment, code in self.where.items()]
        said = [first, f"only {', '.join(filters)}" if filters else "no filters"]
        if without := tree.get("without"):
            said.append(f"without what came from {', '.join(without)}")
        said.append(f"{self._level} intervals")
        if tree.get("simultaneous"):
            said.append("valid for all options of a question at once")
        if tree.get("anytime"):
            said.append("valid however often you look")
        if tree.get("target", "population") != "population":
            said.append(f"about the {tree['target']}")
        if population := tree.get("population"):
            said.append(f"population of {population:,}")
        if (deff := tree.get("deff", 1)) != 1:
            said.append(f"design effect {deff:g}")
        weighting = tree.get("weighting") or []
        margins = [
            name for each in (weighting if isinstance(weighting, list) else [weighting]) for name in each["margins"]
        ]
        if margins:
            said.append(f"weighted to {', '.join(dict.fromkeys(margins))}")
        return [*said, f"as of {self.date}"]

    @property
    def _level(self) -> str:
        return f"{100 * self.confidence:.4g}%"

    @property
    def _between(self) -> str:
        """The heading of a column of limits."""
        return f"Between ({self._level})"

    def _question(self, name: str) -> Question:
        return next(question for question in self._survey.questions if question.id == name)

    def _name(self, segment: str) -> str:
        """What a segment is called: its id is shorter than its text, which is a question."""
        return segment

    def _group(self, segment: str, code: str) -> str:
        texts = {each.id: group_texts(each) for each in self._survey.segments}
        return merged_text(texts.get(segment, {}), code)

    def _label(self, variable: str, code: str) -> str:
        """What a code of a question, of one of its options or of a segment says."""
        if variable in {each.id for each in self._survey.segments}:
            return self._group(variable, code)
        question, _, option = variable.partition(".")
        texts = {"yes": "Yes", "no": "No"} if option else answer_texts(self._question(question))
        return texts.get(code, code)


def numbers(item: Mapping[str, Any], columns: Sequence[str], used: Iterable[str] = ()) -> Row:
    """The named columns of an item, and everything else that it has: numbers and texts, those in an object by both
    names. ``used``: what another column says already.
    """
    row = {name: item.get(name) for name in columns}
    for name, value in item.items():
        if name in row or name in used:
            continue
        if isinstance(value, dict):
            row |= {f"{name}_{key}": part for key, part in value.items() if not isinstance(part, (dict, list))}
        elif not isinstance(value, list):
            row[name] = value
    return row
