"""Charts with matplotlib: a dot for each estimate, and a line for its interval. Loaded when somebody plots."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes

Point = tuple[str, str, Mapping[str, Any]]
"""A label, the series that it belongs to, and the number: an estimate and its limits."""

ROOM = 0.7
"""How much of the distance between two labels the series of one label take."""


def new_axes(rows: int) -> Axes:
    """Axes that have room for so many rows."""
    _, axes = pyplot.subplots(figsize=(7, min(2 + 0.3 * rows, 30)), layout="constrained")
    return axes


def intervals(axes: Axes, points: Sequence[Point], scale: float, line: float | None = None) -> None:
    """Each estimate with its limits, the first on top; where there is none, only the limits."""
    labels = list(dict.fromkeys(label for label, _, _ in points))
    series = list(dict.fromkeys(name for _, name, _ in points))
    for place, name in enumerate(series):
        shift = ROOM * ((place + 0.5) / len(series) - 0.5)
        own = [(labels.index(label) + shift, number) for label, each, number in points if each == name]
        colour = f"C{place}"
        for y, number in own:
            if number.get("low") is not None:
                _interval(axes, y, number, scale, colour)
        dots = [(y, scale * number["estimate"]) for y, number in own if number.get("estimate") is not None]
        axes.plot([x for _, x in dots], [y for y, _ in dots], "o", color=colour, label=name)
    if line is not None:
        axes.axvline(line, color="gray", linewidth=1)
    axes.set_yticks(range(len(labels)), [textwrap.shorten(label, 40, placeholder="…") for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.3)
    if len(series) > 1:
        axes.legend()


def _interval(axes: Axes, y: float, number: Mapping[str, Any], scale: float, colour: str) -> None:
    """From limit to limit. Where there is no upper limit, an arrow leads to twice the estimate."""
    high = number.get("high")
    end = 2 * (number.get("estimate") or 1) if high is None else high
    marker = ">" if high is None else ""
    axes.plot([scale * number["low"], scale * end], [y, y], color=colour, marker=marker, markevery=[1])


def finish(axes: Axes, title: str, about: Sequence[str]) -> None:
    """What it shows, whom it is about, how sure it is and when it was read: in every chart."""
    axes.set_title(textwrap.fill(title, 64), loc="left", fontsize="medium", fontweight="bold")
    axes.annotate(
        textwrap.fill("\N{NO-BREAK SPACE}· ".join(about), 64),
        (0, 0),
        (0, -36),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize="small",
        alpha=0.75,
    )
