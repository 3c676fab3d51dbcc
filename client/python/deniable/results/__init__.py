"""Read the results of a survey: over HTTP, or from a database.

    results = deniable.Results("https://example.org/surveys/campus-health", token="…")
    results.estimates(by="campus")

The numbers are the same either way, to the last digit: the same functions compute them, and both come as the same JSON.
Over HTTP nothing but the base install is needed. May not: compute an estimate, or keep an access token anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from deniable.errors import AddressError
from deniable.http_transport import HTTPTransport
from deniable.transport import Transport
from deniable_protocol import Survey, parse_survey, verify

from .database import DatabaseSource
from .estimates import Estimates
from .plan import Plan
from .relations import Comparison, Crosstab, Regression
from .result import Result
from .source import MOST_BYTES, HTTPSource, Source, parse_link

__all__ = ["Comparison", "Crosstab", "Estimates", "Plan", "Regression", "Result", "Results"]

Where = Mapping[str, str]
Weights = Mapping[str, Mapping[str, float]]
R = TypeVar("R", bound=Result)


class Results:
    """The results of one survey.

    ``where`` is a link to the survey or its results, a shared link, or the address of a server (then name the
    ``survey``); or a database: a file, ``sqlite:///…`` or ``postgresql://…``, which needs ``deniable[server]``.
    A database with one survey needs no ``survey``. Over HTTP, ``token`` is an access token; a shared link needs none.
    ``timeout`` is in seconds, for each request. ``insecure`` allows http:// to another machine.
    """

    def __init__(
        self,
        where: str | os.PathLike[str],
        token: str | None = None,
        *,
        survey: str | None = None,
        timeout: float = 75,
        transport: Transport | None = None,
        insecure: bool = False,
    ) -> None:
        place = os.fspath(where)
        if place.startswith(("http://", "https://")):
            link = parse_link(place, survey, token)
            carrier = HTTPTransport(most=MOST_BYTES) if transport is None else transport
            self._source: Source = HTTPSource(link, carrier, timeout, insecure=insecure)
        elif token is not None:
            raise AddressError("an access token is for a link (https://…). A database needs none: who can read it may")
        else:
            self._source = DatabaseSource(place, survey)

    @cached_property
    def survey(self) -> Survey:
        """The survey as it was published: title, segments, questions."""
        return verify(self._source.document()).survey

    def __repr__(self) -> str:
        return f"<Results of {self.survey.id}: {self.survey.title}>"

    def estimates(
        self,
        by: str | None = None,
        *,
        where: Where | None = None,
        confidence: float | None = None,
        weights: Weights | None = None,
        trim: float | None = None,
        simultaneous: bool = False,
        anytime: bool = False,
        target: Literal["population", "respondents"] | None = None,
        population: int | None = None,
        deff: float | None = None,
        distribution: bool = False,
        without: Sequence[str] = (),
    ) -> Estimates:
        """Shares and means of all questions, with intervals; with ``by``, a segment, of each of its groups, too.

        ``where={"campus": "north"}`` counts only these submissions, and ``without=["kiosk"]`` leaves out what these
        collectors sent. ``weights={"campus": {"north": 0.3, "south": 0.7}}`` adds estimates weighted to these shares,
        with no weight above ``trim`` times the average. ``confidence`` is the level of the intervals (default 0.95);
        ``simultaneous`` ones are valid for all options of a question at once, ``anytime`` ones however often you look.
        ``target="respondents"`` makes them about those who answered. ``population`` is the size of the population if
        a large part of it answered, ``deff`` the design effect of the sample. ``distribution`` adds the likely
        distribution of numbers, their curves and prices.
        """
        return self._ask(
            Estimates,
            "estimates",
            by=by,
            where=where,
            confidence=confidence,
            weight=weights,
            trim=trim,
            simultaneous=simultaneous,
            anytime=anytime,
            target=target,
            population=population,
            deff=deff,
            distribution=distribution,
            without=without,
        )

    def compare(
        self,
        question: str,
        by: str | None = None,
        *,
        other: str | None = None,
        where: Where | None = None,
        confidence: float | None = None,
        weights: Weights | None = None,
        trim: float | None = None,
        anytime: bool = False,
        deff: float | None = None,
        without: Sequence[str] = (),
    ) -> Comparison:
        """A question between the groups of a segment (``by``), or with another survey (``other``, its id), such as the
        previous wave. The options are those of ``estimates``.
        """
        return self._ask(
            Comparison,
            "compare",
            question=question,
            by=by,
            **{"with": other},
            where=where,
            confidence=confidence,
            weight=weights,
            trim=trim,
            anytime=anytime,
            deff=deff,
            without=without,
        )

    def crosstab(
        self,
        rows: str,
        columns: str,
        *,
        where: Where | None = None,
        confidence: float | None = None,
        weights: Weights | None = None,
        trim: float | None = None,
        anytime: bool = False,
        deff: float | None = None,
        without: Sequence[str] = (),
    ) -> Crosstab:
        """Two questions that are reported together, or a question and a segment. One option of several choices is
        ``question.code``. The options are those of ``estimates``.
        """
        return self._ask(
            Crosstab,
            "crosstab",
            rows=rows,
            columns=columns,
            where=where,
            confidence=confidence,
            weight=weights,
            trim=trim,
            anytime=anytime,
            deff=deff,
            without=without,
        )

    def regress(
        self,
        question: str,
        on: str | Sequence[str],
        *,
        answer: str | None = None,
        reference: Where | None = None,
        where: Where | None = None,
        confidence: float | None = None,
        deff: float | None = None,
        without: Sequence[str] = (),
    ) -> Regression:
        """What explains an answer (default: yes): logistic regression on segments, and on questions that are reported
        together with it. ``reference={"campus": "south"}`` chooses what the others are compared with.
        """
        return self._ask(
            Regression,
            "regression",
            question=question,
            on=[on] if isinstance(on, str) else on,
            answer=answer,
            reference=reference,
            where=where,
            confidence=confidence,
            deff=deff,
            without=without,
        )

    def plan(self, file: str | os.PathLike[str] | None = None) -> Plan:
        """The plan of a survey file (TOML, or JSON if its name ends so); without one, of this survey.

        Over HTTP it takes an access token of the role admin.
        """
        if file is None:
            tree: Any = msgspec.json.decode(self._source.document())["survey"]
            raw, syntax = msgspec.json.encode(tree), "json"
        else:
            raw, syntax = Path(file).read_bytes(), "json" if Path(file).suffix == ".json" else "toml"
            parse_survey(raw, syntax="json" if syntax == "json" else "toml")  # every mistake at once, with its place
        return Plan(self._source.plan(raw, syntax), self.survey, _today())

    def _ask(self, kind: type[R], what: str, **given: Any) -> R:
        return kind(self._source.ask(what, list(_texts(given))), self.survey, _today())


def _texts(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Options as the parameters of a request: what was not given is left out, and pairs are written segment:code."""
    for name, value in given.items():
        if value is None or value is False:
            continue
        if isinstance(value, Mapping):
            for key, part in value.items():
                nested = part.items() if isinstance(part, Mapping) else [(part, None)]
                for code, share in nested:
                    yield name, f"{key}:{code}" if share is None else f"{key}:{code}:{_text(share)}"
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from ((name, _text(each)) for each in value)
        else:
            yield name, _text(value)


def _text(value: object) -> str:
    return "1" if value is True else str(value)


def _today() -> date:
    return datetime.now(UTC).date()
