"""What a result is of: which submissions, how sure, of which day. Every table, chart and file shows it.

A table that is copied or printed without its form must still say that it is about some people only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from deniable_protocol import Survey
from deniable_server.wording import apart

from .labels import texts, titles
from .weights import Weighting

EVERYBODY = "All submissions"


class Asked(Protocol):
    """What every result says of its query."""

    @property
    def where(self) -> dict[str, str]: ...

    @property
    def without(self) -> tuple[str, ...]: ...

    @property
    def confidence(self) -> float: ...

    @property
    def deff(self) -> float: ...

    @property
    def date(self) -> str: ...


def filters(survey: Survey, result: Asked) -> list[str]:
    """Which submissions a result is about; empty where it is about all of them."""
    named, answers = titles(survey), texts(survey)
    found = [f"only “{apart(named[name])}” {apart(answers[name][code])}" for name, code in result.where.items()]
    return found + ([f"without what {', '.join(map(apart, result.without))} sent"] if result.without else [])


def scope(survey: Survey, result: Asked, *, by: str | None = None, weighted: bool = False) -> str:
    """The same in a line, with all else that a reader of the numbers must know: the segment that they are split by, and
    of those with weights, to what.
    """
    named = titles(survey)
    said = filters(survey, result) or [EVERYBODY.lower()]
    if by is not None:
        said.append(f"split by “{apart(named[by])}”")
    if weighted and (margins := dict.fromkeys(name for each in _weighting(result) for name in each.margins)):
        said.append(f"weighted to {' and '.join(f'“{apart(named[name])}”' for name in margins)}")
    said.append(f"{100 * result.confidence:.4g}% intervals")
    if getattr(result, "anytime", False):
        said.append("valid at every look")
    if result.deff != 1:
        said.append(f"design effect {result.deff:g}")
    said.append(f"as of {result.date} (UTC)")
    line = " · ".join(said)
    return f"{line[0].upper()}{line[1:]}"


def weights_text(result: Asked) -> str:
    """The margins of the weights as they are asked for: segment:code:share."""
    each = {name: shares for weighting in _weighting(result) for name, shares in weighting.margins.items()}
    return " ".join(f"{name}:{code}:{share:g}" for name, shares in each.items() for code, share in shares.items())


def where_text(result: Asked) -> str:
    """The chosen codes as they are asked for: segment:code."""
    return " ".join(f"{segment}:{code}" for segment, code in result.where.items())


def _weighting(result: Asked) -> Sequence[Weighting]:
    found = getattr(result, "weighting", None) or []
    return [found] if isinstance(found, Weighting) else found
