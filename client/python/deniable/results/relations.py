"""How answers are related: comparisons, cross-tabs and regressions.

The columns have the names that they have in the CSV files of the HTTP interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from deniable_protocol.labels import probability

from . import written
from .result import NUMBERS, Result, Row, Tree, numbers
from .view import Grid, Heading, View
from .written import Written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line = list[str] | Heading


class Comparison(Result):
    """Differences of one question between groups, or between two surveys."""

    @property
    def n(self) -> int:
        """The answers of all groups together."""
        return int(sum(round(group["answers"]) for group in self._tree["groups"]))

    def _tables(self) -> Iterator[tuple[bool, Tree]]:
        """Whether it is weighted, and the differences."""
        yield False, self._tree
        if weighted := self._tree.get("weighted"):
            yield True, weighted

    def _rows(self) -> Iterator[Row]:
        asked = self._question(self._tree["question"])
        columns = ("estimate", "low", "high", "standard_error", "difference", "p_value", "adjusted_p_value", "note")
        for weighted, table in self._tables():
            sizes = {group["label"]: group["answers"] for group in table["groups"]}
            for row in table["differences"]:
                levels = zip(("first", "second"), row.get("levels") or (), strict=False)
                yield {
                    "question": asked.id,
                    "answer": row["code"],
                    "first": row["first"],
                    "second": row["second"],
                    **numbers(row, columns, ("code", "first", "second")),
                    **{f"{which}_{name}": level.get(name) for which, level in levels for name in NUMBERS},
                    "first_answers": sizes.get(row["first"]),
                    "second_answers": sizes.get(row["second"]),
                    "weighted": weighted,
                    "written": str(self._written(row)),
                    "by": self._tree.get("by"),
                    "with": self._tree.get("with"),
                    "question_text": asked.text,
                    "answer_text": self._answer(row),
                }

    def _written(self, row: Tree) -> Written:
        return written.difference_of_means(row) if row["code"] is None else written.points(row)

    def _answer(self, row: Tree) -> str:
        return "mean" if row["code"] is None else self._label(self._tree["question"], row["code"])

    def _pair(self, row: Tree) -> str:
        by = self._tree.get("by")
        names = [self._group(by, row[which]) if by else row[which] for which in ("first", "second")]
        return " − ".join(names)

    def _view(self) -> View:
        asked = self._question(self._tree["question"])
        by = self._tree.get("by")
        grids = [
            Grid(*self._grid(table["differences"]), "weighted" if weighted else "")
            for weighted, table in self._tables()
        ]
        sizes = ", ".join(
            f"{self._group(by, group['label']) if by else group['label']} {group['answers']:,.0f}"
            for group in self._tree["groups"]
        )
        unit = "in its own units" if asked.asks_mean else "in percentage points"
        title = f"{asked.text} ({asked.id}), compared {unit}"
        return View(title, self._about(f"answers: {sizes}"), grids, notes=self.notes)

    def _grid(self, differences: list[Tree]) -> tuple[list[str], list[Line]]:
        """Columns and rows; the levels of both groups where the server gives them."""
        asked = self._question(self._tree["question"])
        with_levels = any(row.get("levels") for row in differences)
        rows: list[Line] = []
        before = None
        for row in differences:
            if (pair := self._pair(row)) != before:
                rows.append(Heading(pair))
            before, how = pair, self._written(row)
            levels = [
                str(written.mean(asked, level) if row["code"] is None else written.share(level))
                for level in row.get("levels") or ()
            ]
            p_values = probability(row["p_value"]), probability(row["adjusted_p_value"])
            rows.append([f"  {self._answer(row)}", *levels, how.about, how.between, *p_values])
        columns = ["Answer", *(["First", "Second"] if with_levels else []), "Difference", self._between]
        return [*columns, "p", "adjusted p"], rows

    def _draw(self, axes: Axes) -> None:
        from .plots import intervals

        means = self._question(self._tree["question"]).asks_mean
        points = [(self._answer(row), self._pair(row), row) for row in self._tree["differences"]]
        intervals(axes, points, 1 if means else 100, line=0)
        axes.set_xlabel("difference, in its own units" if means else "difference, percentage points")


SHARES = {"": "share of all", "of_row": "share of row", "of_column": "share of column"}
"""What a cell may have, and what rows call it."""


class Crosstab(Result):
    """The shares of all pairs of answers to two questions, or to a question and a segment; with newer servers also
    those of the people of each row, and of each column.
    """

    @property
    def n(self) -> int:
        """The submissions that report on both."""
        return int(self._tree["submissions"])

    def _tables(self) -> Iterator[tuple[bool, Tree]]:
        yield False, self._tree
        if weighted := self._tree.get("weighted"):
            yield True, weighted

    def _rows(self) -> Iterator[Row]:
        for weighted, table in self._tables():
            for kind, row, column, share in _shares(table):
                yield {
                    "row": row,
                    "column": column,
                    "kind": kind,
                    **numbers(share, (*NUMBERS, "note"), ("code", "row", "column", "of_row", "of_column")),
                    "weighted": weighted,
                    "written": str(written.cell(share)),
                    "rows": self._tree["rows"],
                    "columns": self._tree["columns"],
                    "row_text": row and self._label(self._tree["rows"], row),
                    "column_text": column and self._label(self._tree["columns"], column),
                }

    def _view(self) -> View:
        grids, lists = [], []
        for weighted, table in self._tables():
            for part, kind in SHARES.items():
                if not part or any(part in cell for cell in table["cells"]):
                    title = f"{kind}, weighted" if weighted else kind
                    grids.append(self._grid(table, part, title))
                    lists.append(self._list(table, part, title))
        about = self._about(f"{self.n:,} submissions report on both")
        title = f"{self._tree['rows']} × {self._tree['columns']}"
        return View(title, about, grids, [*self._test()], self.notes, lists)

    def _grid(self, table: Tree, part: str, title: str) -> Grid:
        rows, columns = self._tree["rows"], self._tree["columns"]
        cells = {(cell["row"], cell["column"]): _cell(cell, part) for cell in table["cells"]}
        codes = [total["code"] for total in table["column_totals"]]
        found: list[Line] = []
        for total in table["row_totals"]:
            own = [str(cells.get((total["code"], code), "")) for code in codes]
            found.append([self._label(rows, total["code"]), *own, "" if part else str(written.cell(total))])
        found.append(["all", *("" if part else str(written.cell(total)) for total in table["column_totals"]), ""])
        names = [f"{rows} × {columns}", *(self._label(columns, code) for code in codes), "all"]
        if part:  # which has no totals
            return Grid(names[:-1], [row[:-1] for row in found[:-1]], title)
        return Grid(names, found, title)

    def _list(self, table: Tree, part: str, title: str) -> Grid:
        """The same as a list: it always fits."""
        rows, columns = self._tree["rows"], self._tree["columns"]
        found: list[Line] = []
        for total in table["row_totals"]:
            found.append(Heading(self._label(rows, total["code"])))
            own = [cell for cell in table["cells"] if cell["row"] == total["code"]]
            lines = [(self._label(columns, cell["column"]), _cell(cell, part)) for cell in own]
            lines += [] if part else [("all", written.cell(total))]
            found += [[f"  {label}", how.about, how.between] for label, how in lines]
        if not part:
            found.append(Heading("all"))
            for total in table["column_totals"]:
                how = written.cell(total)
                found.append([f"  {self._label(columns, total['code'])}", how.about, how.between])
        return Grid([f"{rows} × {columns}", "About", self._between], found, title)

    def _test(self) -> Iterator[str]:
        test = self._tree.get("independence") or {}
        if test.get("p_value") is not None:
            p = probability(test["p_value"])
            p = f"p = {p}" if p[0].isdigit() else f"p {p}"
            yield f"Test of independence: χ² = {test['statistic']:.2f}, {test['degrees_of_freedom']} df, {p}"
        elif test.get("note"):
            yield f"Test of independence: {test['note']}"

    def _draw(self, axes: Axes) -> None:
        from .plots import intervals

        tree = self._tree
        points = [
            (self._label(tree["rows"], cell["row"]), self._label(tree["columns"], cell["column"]), cell)
            for cell in tree["cells"]
        ]
        intervals(axes, points, 100)
        axes.set_xlabel("percent of all")
        axes.set_ylabel(tree["rows"])


def _shares(table: Tree) -> Iterator[tuple[str, str | None, str | None, Tree]]:
    """What each share is, its row and column, and the numbers."""
    for cell in table["cells"]:
        for part, kind in SHARES.items():
            if not part or part in cell:
                yield kind, cell["row"], cell["column"], cell[part] if part else cell
    for total in table["row_totals"]:
        yield "row total", total["code"], None, total
    for total in table["column_totals"]:
        yield "column total", None, total["code"], total


def _cell(cell: Tree, part: str) -> Written:
    if not part:
        return written.cell(cell)
    return written.cell(cell[part]) if part in cell else Written("", "", "")


class Regression(Result):
    """What explains an answer: odds ratios, with intervals."""

    @property
    def n(self) -> int:
        return int(self._fit["submissions"])

    @property
    def confidence(self) -> float:
        return float(self._fit["confidence"])

    @property
    def _fit(self) -> Tree:
        fit: Tree = self._tree["regression"]
        return fit

    def _rows(self) -> Iterator[Row]:
        fit = self._fit
        columns = (
            "odds_ratio",
            "odds_low",
            "odds_high",
            "p_value",
            "estimate",
            "low",
            "high",
            "standard_error",
            "note",
        )
        for term in [*([fit["intercept"]] if fit.get("intercept") else []), *fit["coefficients"]]:
            predictor, group = term["predictor"], term["code"]
            yield {
                "predictor": predictor,
                "group": group,
                "reference": fit["references"].get(predictor),
                "kind": "intercept" if predictor is None else "coefficient",
                **numbers(term, columns, ("predictor", "code")),
                "written": str(written.odds(term)),
                "question": fit["question"],
                "code": fit["code"],
                "group_text": predictor and group and self._label(predictor, group),
            }

    def _view(self) -> View:
        fit = self._fit
        asked = self._question(fit["question"])
        rows: list[Line] = []
        for predictor, reference in fit["references"].items():
            rows += [Heading(predictor), [f"  {self._label(predictor, reference)}", "1", "reference", ""]]
            for term in fit["coefficients"]:
                if term["predictor"] == predictor:
                    how = written.odds(term)
                    label = self._label(predictor, term["code"])
                    rows.append([f"  {label}", how.about, how.between, probability(term["p_value"])])
        columns = ["Predictor", "Odds ratio", self._between, "p"]
        failed = [] if fit["converged"] else [f"No fit was found: {fit.get('note', '')}."]
        title = f"{asked.text} ({asked.id}): odds of “{self._label(asked.id, fit['code'])}”"
        return View(title, self._about(f"{self.n:,} answers"), [Grid(columns, rows)], failed, self.notes)

    def _draw(self, axes: Axes) -> None:
        from .plots import intervals

        points = [
            (f"{term['predictor']}: {self._label(term['predictor'], term['code'])}", "", _as_odds(term))
            for term in self._fit["coefficients"]
        ]
        intervals(axes, points, 1, line=1)
        axes.set_xscale("log")
        axes.set_xlabel("odds ratio")


def _as_odds(term: Mapping[str, Any]) -> Tree:
    return {"estimate": term["odds_ratio"], "low": term["odds_low"], "high": term["odds_high"]}
