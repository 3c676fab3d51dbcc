"""The plan of a survey: what it will know, and how many respondents that takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .result import Result, Row, numbers
from .view import Grid, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plan(Result):
    """How many respondents each question and cross-tab needs, and the plan in words."""

    @property
    def n(self) -> int:
        """The respondents that are enough for every question and cross-tab."""
        return int(self._tree["respondents"])

    @property
    def confidence(self) -> float:
        return float(self._tree["wanted"]["confidence"])

    @property
    def in_words(self) -> list[str]:
        """The plan in a few sentences."""
        return list(self._tree["in_words"])

    def _context(self) -> Row:
        return {"survey": self._tree["survey"], "confidence": self.confidence, "date": self.date}

    def _rows(self) -> Iterator[Row]:
        for question in self._tree["questions"]:
            columns = ("respondents", "per_group", "asked", "type", "text", "epsilon")
            yield {"kind": "question", "name": question["id"], **numbers(question, columns, ("id",))}
        for table in self._tree["tables"]:
            name = " × ".join(table["questions"])
            yield {"kind": "crosstab", "name": name, **numbers(table, ("respondents",), ("questions",))}

    def _view(self) -> View:
        tree, wanted = self._tree, self._tree["wanted"]
        rows = [
            [q["id"], f"{100 * q['asked']:.0f}%", f"{q['respondents']:,}", f"{q['per_group']:,}"]
            for q in tree["questions"]
        ]
        rows += [[" × ".join(each["questions"]), "", f"{each['respondents']:,}", ""] for each in tree["tables"]]
        rows.append(["all of them", "", f"{tree['respondents']:,}", f"{tree['per_group']:,}"])
        about = [
            f"{self.n:,} respondents are enough",
            f"for ±{100 * wanted['margin']:g} points, cells of cross-tabs ±{100 * wanted['cells']:g}",
            f"{100 * self.confidence:.4g}% intervals",
            f"ε = {tree['epsilon']}",
            f"as of {self.date}",
        ]
        columns = ["", "Asked of", "Respondents", "In each group"]
        return View(
            f"{tree['title']} ({tree['survey']}): plan", about, [Grid(columns, rows)], self.in_words, tree["warnings"]
        )

    def _draw(self, axes: Axes) -> None:
        """The margin of the share that is known worst, by respondents and epsilon."""
        for each in self._tree["by_epsilon"]:
            axes.plot(self._tree["sizes"], [100 * margin for margin in each["margins"]], label=f"ε = {each['epsilon']}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("respondents")
        axes.set_ylabel("margin, points")
        axes.legend()
