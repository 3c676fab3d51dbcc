"""What analysts may ask, checked against the survey; the same from the address of a request and from a command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deniable_protocol import Question, Survey
from deniable_protocol.checks import strict_json
from deniable_server.errors import BadQuery

Margins = dict[str, dict[str, float]]
"""Per segment the share of each code in the population."""

FLAGS = {"": False, "0": False, "1": True, "false": False, "true": True}


@dataclass(frozen=True)
class Query:
    """What an analyst asks for. Commands and routes use what they document, and refuse the rest."""

    confidence: float = 0.95
    where: dict[str, str] = field(default_factory=dict)
    by: str | None = None
    simultaneous: bool = False
    target: str = "population"
    population: int | None = None
    weights: Margins = field(default_factory=dict)
    distribution: bool = False


class Parameters:
    """Parameters by name, each given any number of times, as texts."""

    def __init__(self, survey: Survey, given: Mapping[str, Sequence[str]], known: Sequence[str]) -> None:
        if unknown := sorted(set(given) - set(known)):
            raise BadQuery(f"{len(unknown)} unknown; the parameters are {', '.join(known)}")
        self.survey = survey
        self._given = given
        self._codes = {segment.id: [option.code for option in segment.options] for segment in survey.segments}

    def asked(self, margins: Mapping[str, object] | None = None) -> Query:
        """All that estimates, comparisons and cross-tabulations share; ``margins`` are those of a file."""
        weights = self.weights() if margins is None else self.checked_margins(margins)
        target = self.one("target") or "population"
        if target not in ("population", "respondents"):
            raise BadQuery("target is population or respondents")
        if target == "respondents" and (weights or self.one("population")):
            raise BadQuery("weights and the size of the population are for target=population")
        return Query(
            confidence=self.confidence(),
            where=self.where(),
            by=self.segment("by"),
            simultaneous=self.flag("simultaneous"),
            target=target,
            population=self._population(),
            weights=weights,
            distribution=self.flag("distribution"),
        )

    def one(self, name: str) -> str | None:
        texts = self._given.get(name, ())
        if len(texts) > 1:
            raise BadQuery(f"{name} is given once")
        return texts[0] if texts else None

    def needed(self, name: str) -> str:
        text = self.one(name)
        if text is None:
            raise BadQuery(f"{name} must be given")
        return text

    def flag(self, name: str) -> bool:
        text = self.one(name) or ""
        if text not in FLAGS:
            raise BadQuery(f"{name} is 1 or 0")
        return FLAGS[text]

    def confidence(self) -> float:
        level = _number(self.one("confidence") or "0.95")
        if level is None or not 0.5 <= level <= 0.9999:
            raise BadQuery("confidence must be a number from 0.5 to 0.9999")
        return level

    def _population(self) -> int | None:
        text = self.one("population")
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) <= 13 and 1 <= int(text) <= 10**12):
            raise BadQuery("population is a whole number: how many people the respondents were drawn from")
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
        return None if text is None else self.known_segment(name, text)

    def segments(self, name: str) -> list[str]:
        return [self.known_segment(name, text) for text in dict.fromkeys(self._given.get(name, ()))]

    def known_segment(self, name: str, text: str) -> str:
        if text not in self._codes:
            raise BadQuery(f"{name} takes a segment. This survey has {', '.join(self._codes) or 'none'}")
        return text

    def question(self, name: str) -> Question:
        text = self.needed(name)
        for question in self.survey.questions:
            if question.id == text:
                return question
        known = ", ".join(question.id for question in self.survey.questions)
        raise BadQuery(f"{name} takes a question. This survey has {known}")

    def weights(self) -> Margins:
        """From ``weight=segment:code:share``, once for every code of a segment."""
        margins: dict[str, dict[str, object]] = {}
        for entry in self._given.get("weight", ()):
            segment, code, share, *rest = (*entry.split(":"), "", "")
            shares = margins.setdefault(segment, {})
            if code in shares or rest != ["", ""]:
                raise BadQuery("weight takes segment:code:share, once for every code")
            shares[code] = _number(share)
        return self.checked_margins(margins)

    def checked_margins(self, margins: Mapping[str, object]) -> Margins:
        """Shares that sum to one, from shares or head counts for every code of each segment named."""
        checked: Margins = {}
        for segment, shares in margins.items():
            codes = self._codes.get(segment)
            if codes is None:
                known = ", ".join(self._codes) or "none"
                raise BadQuery(f"weights are for segments; this survey has {known}")
            if not isinstance(shares, Mapping) or not set(shares) <= set(codes):
                raise BadQuery(f"weights for {segment} take a share for each of {', '.join(codes)}, and no others")
            if missing := [code for code in codes if code not in shares]:
                raise BadQuery(f"weights for {segment} need a share for {', '.join(missing)}, too")
            numbers = [shares[code] for code in codes]
            fit = all(
                isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 1e15
                for number in numbers
            )
            if not fit or not any(numbers):
                raise BadQuery(f"weights for {segment} must be shares or head counts, 0 or more")
            total = float(sum(numbers))
            # Rounded shares may miss 1 a little; anything else that is not whole is a slip.
            if not any(abs(total - whole) <= 0.005 * whole for whole in (1, 100)) and any(n != int(n) for n in numbers):
                raise BadQuery(f"weights for {segment} sum to neither 1 nor 100, and are no head counts either")
            checked[segment] = {code: number / total for code, number in zip(codes, numbers, strict=True)}
        return checked


def read_margins(raw: bytes, *, is_json: bool) -> dict[str, object]:
    """The tree of a weights file: a table per segment, a share or head count per code."""
    try:
        tree = strict_json(raw.decode()) if is_json else tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML, which it is taken for unless its name ends in .json"
        raise BadQuery(f"the weights file is not valid {form}: {error}") from None
    if not isinstance(tree, dict) or not tree:
        raise BadQuery("the weights file holds a table per segment, with a share per code")
    return tree


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
