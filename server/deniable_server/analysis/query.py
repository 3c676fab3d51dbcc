"""What analysts may ask. A query is read from texts, and checked against the survey, in the same way wherever they come
from: the address of a request, a form on a page, or the options of a command.
"""

from __future__ import annotations

import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from deniable_protocol import Survey
from deniable_protocol.checks import strict_json
from deniable_server.errors import BadQuery
from deniable_server.estimator.intervals import Aim

Given = Mapping[str, Sequence[str]]
"""Texts by the name of their parameter, each given any number of times."""
Margins = dict[str, dict[str, float]]
"""Per segment the share of each code in the population."""

FLAGS = {"": False, "0": False, "1": True, "false": False, "true": True}
COMMON = {
    "where": "segment:code, to count only these submissions. Can be repeated.",
    "without": "The label of a collector: leave out the submissions that it sent. Can be repeated.",
    "confidence": "Confidence level of the intervals: 0.5 to 0.9999. Default: 0.95.",
    "anytime": "Intervals and p-values that are valid however often you look. Without this, they are for one look.",
    "deff": "Design effect of the sample, without that of weights: 0.5 to 100. Default: 1, a simple random sample.",
}

WEIGHTS = {
    "weight": "segment:code:share, for every code of a segment: also show results weighted to these shares.",
    "trim": "The largest weight, as a multiple of the average: 1.1 to 1000. Default: any.",
}


@dataclass(frozen=True, kw_only=True)
class Query(ABC):
    """What every query has. A subclass adds its own fields, and lists the parameters that they are read from."""

    parameters: ClassVar[Mapping[str, str]]
    """What each parameter takes, in words for people."""
    flags: ClassVar[frozenset[str]] = frozenset({"anytime"})
    """The parameters that take 1 or 0."""

    where: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    confidence: float = 0.95
    anytime: bool = False
    deff: float = 1.0

    @property
    def aim(self) -> Aim:
        """What the intervals shall hold for."""
        return Aim(self.confidence, deff=self.deff, anytime=self.anytime)

    @classmethod
    def read(cls, survey: Survey, given: Given) -> Self:
        """The query in these texts. BadQuery if one is unknown, missing or invalid; the message says what it takes."""
        return cls._read(Parameters(survey, given, cls.parameters))

    @classmethod
    @abstractmethod
    def _read(cls, given: Parameters) -> Self: ...


@dataclass(frozen=True, kw_only=True)
class WeightedQuery(Query):
    """A query whose results can be weighted to known margins."""

    weights: Margins = field(default_factory=dict)
    trim: float | None = None


class Parameters:
    """Reads parameters one by one. BadQuery says what a parameter takes; it never repeats the text that was given."""

    def __init__(self, survey: Survey, given: Given, known: Mapping[str, str]) -> None:
        if unknown := set(given) - set(known):
            raise BadQuery(f"Unknown parameters ({len(unknown)}). Valid ones: {', '.join(known)}")
        self._questions = [question.id for question in survey.questions]
        self._given = given
        self._codes = {segment.id: [option.code for option in segment.options] for segment in survey.segments}

    def common(self) -> dict[str, Any]:
        """What every query has."""
        return {
            "where": self.where(),
            "without": tuple(dict.fromkeys(self.all("without"))),
            "confidence": self.confidence(),
            "anytime": self.flag("anytime"),
            "deff": self._between("deff", 0.5, 100) or 1.0,
        }

    def weighted(self) -> dict[str, Any]:
        """What every query has whose results can be weighted."""
        weights, trim = self.weights(), self._between("trim", 1.1, 1000)
        if trim is not None and not weights:
            raise BadQuery("trim is for weights, and there are none")
        return {**self.common(), "weights": weights, "trim": trim}

    def one(self, name: str) -> str | None:
        texts = self._given.get(name, ())
        if len(texts) > 1:
            raise BadQuery(f"{name} can be given only once")
        return texts[0] if texts else None

    def required(self, name: str) -> str:
        text = self.one(name)
        if text is None:
            raise BadQuery(f"{name} is required")
        return text

    def flag(self, name: str) -> bool:
        text = self.one(name) or ""
        if text not in FLAGS:
            raise BadQuery(f"{name} takes 1 or 0")
        return FLAGS[text]

    def confidence(self) -> float:
        level = _number(self.one("confidence") or "0.95")
        if level is None or not 0.5 <= level <= 0.9999:
            raise BadQuery("confidence takes a number from 0.5 to 0.9999")
        return level

    def _between(self, name: str, least: float, most: float) -> float | None:
        text = self.one(name)
        if text is None:
            return None
        number = _number(text)
        if number is None or not least <= number <= most:
            raise BadQuery(f"{name} takes a number from {least:g} to {most:g}")
        return number

    def population(self) -> int | None:
        text = self.one("population")
        if text is None:
            return None
        text = _grouped(text.strip())
        if not (text.isascii() and text.isdecimal() and len(text) <= 13 and 1 <= int(text) <= 10**12):
            raise BadQuery(
                "population takes a whole number, such as 10000 or 10,000: the size of the population that respondents "
                "were drawn from"
            )
        return int(text)

    def where(self) -> dict[str, str]:
        chosen: dict[str, str] = {}
        for pair in self._given.get("where", ()):
            segment, separator, code = pair.partition(":")
            if not separator or code not in self._codes.get(segment, ()) or chosen.get(segment, code) != code:
                known = "; ".join(f"{name}:{'|'.join(codes)}" for name, codes in self._codes.items()) or "no segments"
                raise BadQuery(f"where takes segment:code, each segment once. This survey has {known}")
            chosen[segment] = code
        return chosen

    def segment(self, name: str) -> str | None:
        text = self.one(name)
        return None if text is None else self._segment(name, text)

    def all(self, name: str) -> Sequence[str]:
        return self._given.get(name, ())

    def pairs(self, name: str) -> dict[str, str]:
        """Of texts like segment:code, each segment once."""
        found: dict[str, str] = {}
        for text in self._given.get(name, ()):
            first, separator, second = text.partition(":")
            if not separator or found.get(first, second) != second:
                raise BadQuery(f"{name} takes segment:code or question:code, each segment and question once")
            found[first] = second
        return found

    def _segment(self, name: str, text: str) -> str:
        if text not in self._codes:
            raise BadQuery(f"{name} takes a segment. This survey has {', '.join(self._codes) or 'none'}")
        return text

    def question(self, name: str) -> str:
        text = self.required(name)
        if text not in self._questions:
            raise BadQuery(f"{name} takes a question. This survey has {', '.join(self._questions)}")
        return text

    def weights(self) -> Margins:
        """From ``weight=segment:code:share``, once for every code of a segment: shares that sum to one."""
        given: dict[str, dict[str, _Share]] = {}
        for entry in self._given.get("weight", ()):
            segment, code, share, *rest = (*entry.split(":"), "", "")
            shares = given.setdefault(segment, {})
            if code in shares or rest != ["", ""]:
                raise BadQuery("weight takes segment:code:share, once for every code")
            shares[code] = _Share.read(share)
        return {segment: self._margin(segment, shares) for segment, shares in given.items()}

    def _margin(self, segment: str, shares: Mapping[str, _Share]) -> dict[str, float]:
        """From shares, percentages or head counts for every code of the segment."""
        codes = self._codes.get(segment)
        if codes is None:
            raise BadQuery(f"weights are for segments. This survey has {', '.join(self._codes) or 'none'}")
        if not set(shares) <= set(codes):
            raise BadQuery(f"weights for {segment} take a share for each of {', '.join(codes)}, and no others")
        if missing := [code for code in codes if code not in shares]:
            raise BadQuery(f"weights for {segment} also need a share for {', '.join(missing)}")
        numbers = [number for code in codes if (number := shares[code].number) is not None and 0 <= number < 1e15]
        if len(numbers) < len(codes) or not any(numbers):
            raise BadQuery(f"weights for {segment} must be shares, percentages or head counts, 0 or more")
        percent = [shares[code].in_percent for code in codes]
        if any(percent) and not all(percent):
            raise BadQuery(f"weights for {segment}: write all of them with a percent sign, or none")
        total = sum(numbers)
        # Rounded shares may miss 1 a little. Anything else is a slip, unless it can be a count of people.
        is_whole = any(abs(total - whole) <= 0.005 * whole for whole in ((100,) if any(percent) else (1, 100)))
        if not is_whole and (any(percent) or 50 <= total <= 150 or any(n != int(n) for n in numbers)):
            raise BadQuery(
                f"weights for {segment} add up to {total:g}. Shares add up to 1 and percentages to 100; head "
                "counts are whole numbers"
            )
        return {code: number / total for code, number in zip(codes, numbers, strict=True)}


def read_weights(raw: bytes, *, is_json: bool) -> list[str]:
    """A weights file, which has a table per segment with a share or head count per code, as texts of ``weight``."""
    try:
        tree = strict_json(raw.decode()) if is_json else tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML (for JSON, its name must end in .json)"
        raise BadQuery(f"the weights file is not valid {form}: {error}") from None
    if (
        not isinstance(tree, dict)
        or not tree
        or not all(shares and isinstance(shares, dict) for shares in tree.values())
    ):
        raise BadQuery("the weights file needs a table per segment, with a share per code")
    numbers = [share for shares in tree.values() for share in shares.values()]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise BadQuery("the weights file needs a number for every code")
    return [f"{segment}:{code}:{share}" for segment, shares in tree.items() for code, share in shares.items()]


class _Share(NamedTuple):
    """One share of a margin, as it was written."""

    number: float | None
    in_percent: bool

    @classmethod
    def read(cls, text: str) -> _Share:
        plain = text.strip()
        return cls(_number(plain.removesuffix("%")), plain.endswith("%"))


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def _grouped(text: str) -> str:
    """Without the commas of thousands."""
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _number(text: str) -> float | None:
    """As people write it: 10,000 is ten thousand, and any other single comma is a decimal one."""
    text = _grouped(text.strip())
    if "." not in text and text.count(",") == 1:
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None
