"""Estimates: the shares and means of all questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from deniable_protocol.labels import SUMMARIES, answer_texts

from . import written
from .result import NUMBERS, Result, Row, Tree, numbers
from .view import Grid, Heading, View
from .written import Written

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Estimates(Result):
    """Shares and means of all questions, with intervals; with ``by``, of each group, too."""

    @property
    def n(self) -> int:
        return int(self._tree["submissions"])

    @property
    def questions(self) -> list[str]:
        """The ids of the questions."""
        return [question["id"] for question in self._tree["questions"]]

    def __getitem__(self, question: str) -> Estimates:
        """The estimates of one question: ``estimates["vaped"]``."""
        if question not in self.questions:
            raise KeyError(question)
        tree = self.to_dict()
        for part in (tree, *(tree.get("groups") or ())):
            part["questions"] = [each for each in part["questions"] if each["id"] == question]
        return Estimates(msgspec.json.encode(tree), self._survey, self.date)

    def _rows(self) -> Iterator[Row]:
        for place, submissions, questions in self._parts():
            for question in questions:
                for item in self._items(question):
                    about = {"segment": place and place[0], "group": place and place[1], "group_size": submissions}
                    yield {**item, **about}

    def _context(self) -> Row:
        return {**super()._context(), "epsilon": self._tree.get("epsilon")}

    def _parts(self) -> Iterator[tuple[tuple[str, str] | None, int, list[Tree]]]:
        """Everybody, then each group."""
        yield None, self.n, self._tree["questions"]
        for group in self._tree.get("groups") or ():
            yield (group["segment"], group["code"]), group["submissions"], group["questions"]

    def _items(self, question: Tree) -> Iterator[Row]:
        """The numbers of a question, each as a row."""
        asked = self._question(question["id"])
        texts = answer_texts(asked)
        for kind, code, number, how, weighted in _numbers_of(asked, question):
            row = numbers(
                {"estimate": number.get("value"), **number}, NUMBERS, ("code", "id", "value", "fake_influence")
            )
            own = {"question": asked.id, "answer": code, "kind": kind}
            yield {
                **own,
                **row,
                "answers": number.get(
                    "answers", weighted.get("effective_answers") if weighted else question["answers"]
                ),
                "weighted": weighted is not None,
                "note": number.get("note") or "; ".join(question.get("notes", ())) or None,
                "written": str(how) if how else None,
                "type": question["type"],
                "question_text": asked.text,
                "answer_text": texts.get(code) if code else None,
            }

    def _view(self) -> View:
        tree, level = self._tree, self._between
        status = tree.get("status", "")
        weighted = tree.get("weighting") is not None
        columns = ["Answer", "About", level, *(["Weighted", level] if weighted else []), "Asked"]
        grids = []
        for place, submissions, questions in self._parts():
            title = "" if place is None else f"{place[0]} {self._group(*place)}: {submissions:,} submissions"
            grids.append(Grid(columns, [row for each in questions for row in self._lines(each, weighted)], title))
        first = f"{self.n:,} submissions, ε = {tree.get('epsilon', '?')} each{', ' + status if status else ''}"
        hidden = [f"{each['id']} has points of curves: see rows()" for each in tree["questions"] if any(_points(each))]
        title = f"{self._survey.title} ({self._survey.id})"
        if len(tree["questions"]) == 1:
            title += f": {self._question(self.questions[0]).text}"
        return View(title, self._about(first), grids, hidden, self.notes)

    def _lines(self, question: Tree, weighted: bool) -> Iterator[list[str] | Heading]:
        asked = self._question(question["id"])
        yield Heading(f"{asked.text} ({asked.id})")
        found = [each for each in _numbers_of(asked, question) if each[3] is not None]
        others = {(kind, code): how for kind, code, _, how, of in found if of is not None}
        before = ""
        for kind, code, number, how, of in found:
            if of is not None or how is None:
                continue
            whose = _WHOSE.get(kind, "of those:" if kind == "share" and question.get("applies") else "")
            if whose != before and whose:
                yield [f"  {whose}", *[""] * (5 if weighted else 3)]
            before = whose
            other = others.get((kind, code))
            more = [other.about if other else "", other.between if other else ""] if weighted else []
            label = "  " * (2 if whose else 1) + _label(asked, kind, code)
            yield [label, how.about, how.between, *more, f"{number.get('answers', question['answers']):,}"]

    def _draw(self, axes: Axes) -> None:
        from .plots import intervals

        rows = [row for row in self._rows() if not row["weighted"] and row["kind"] in ("share", "mean")]
        shares = [row for row in rows if row["kind"] == "share"] or rows
        single = len({row["question"] for row in shares}) == 1
        scale = 100 if shares and shares[0]["kind"] == "share" else 1
        points = []
        for row in shares:
            label = row["answer_text"] or self._question(row["question"]).unit or "mean"
            group = self._group(row["segment"], row["group"]) if row["segment"] else "everybody"
            points.append((label if single else f"{row['question']}: {label}", group, row))
        intervals(axes, points, scale)
        axes.set_xlabel("percent" if scale == 100 else ", ".join({f"{row['question']}, mean" for row in shares}))
        if left_out := {row["question"] for row in rows} - {row["question"] for row in shares}:
            axes.set_xlabel(f"percent (without the means of {', '.join(sorted(left_out))})")


Numbered = tuple[str, str | None, Tree, Written | None, Tree | None]
"""Kind, code, the number, how it is written, and what it is weighted by."""

_WHOSE = {"among_answering": "of those who answered:"}


def _label(asked: Any, kind: str, code: str | None) -> str:
    if code is not None:
        return answer_texts(asked).get(code, code)
    unit = f"mean, {asked.unit}" if asked.unit else "mean"
    return {"applies": "applies to", "mean": unit}.get(kind, SUMMARIES.get(kind, kind))


def _numbers_of(asked: Any, question: Tree) -> Iterator[Numbered]:
    """Of a question, in the order of the HTTP interface's CSV: plain numbers, points of curves, weighted numbers."""
    yield from _plain_numbers(asked, question, None)
    for kind, point in _points(question):
        yield kind, None, point, None, None
    if weighted := question.get("weighted"):
        yield from _plain_numbers(asked, weighted, weighted)


def _points(question: Tree) -> Iterator[tuple[str, Tree]]:
    """The likely distribution, the curve, and demand and revenue by price: ``at`` is the value that a point is for."""
    for point in question.get("distribution") or ():
        yield "likely share at", {"at": point["at"], "estimate": point["share"], "note": "a single share has no limits"}
        yield "likely share up to", {**_some(point, "at", "low", "high"), "estimate": point["up_to"]}
    for point in question.get("curve") or ():
        numbers = _some(point, "at", "unbiased", "standard_error", "low", "high")
        yield "share below", {**numbers, "estimate": point["below"], "note": "limits for all values at once"}
    for point in (question.get("price") or {}).get("points", ()):
        notes = "limits for all prices at once", f"{'may' if point['may_be_best'] else 'cannot'} be the best price"
        for what, note in zip(("demand", "revenue"), notes, strict=True):
            limits = {"low": point[f"{what}_low"], "high": point[f"{what}_high"]}
            yield f"{what} at", {"at": point["at"], "estimate": point[what], **limits, "note": note}


def _some(point: Tree, *names: str) -> Tree:
    return {name: point[name] for name in names}


def _plain_numbers(asked: Any, found: Tree, weighted: Tree | None) -> Iterator[Numbered]:
    if applies := found.get("applies"):
        yield "applies", None, applies, written.share(applies), weighted
    for kind, items in (("share", found["shares"]), ("among_answering", found.get("among_answering") or ())):
        for item in items:
            yield kind, item["code"], item, written.share(item), weighted
    for item in found.get("summaries") or ():
        yield item["id"], None, item, (written.points if item["minus"] else written.share)(item), weighted
    if mean := found.get("mean"):
        yield "mean", None, mean, written.mean(asked, mean), weighted
