"""From the kept statistics of a survey to its estimates: which submissions are asked about, question by question."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
from werkzeug.datastructures import MultiDict

from deniable_protocol import DeniableError, Document, Survey

from .estimator import QuestionEstimate, estimate_question
from .storage import Published
from .tallies import Cell, Statistics, channels_of, select


class AskedWrongly(DeniableError):
    """What was asked about does not exist in the survey, or a number is out of range."""


@dataclass(frozen=True)
class Asked:
    """What an analyst asks for."""

    confidence: float = 0.95
    where: dict[str, str] = field(default_factory=dict)
    by: str | None = None

    @classmethod
    def from_query(cls, survey: Survey, query: MultiDict[str, str]) -> Asked:
        """The same from the parameters of an address: ``confidence=0.95&where=campus:north&by=campus``."""
        if unknown := sorted(set(query) - {"confidence", "where", "by"}):
            raise AskedWrongly(f"{unknown[0]} is not a parameter; known are confidence, where, by")
        return cls.from_texts(survey, query.get("confidence", "0.95"), query.getlist("where"), query.get("by"))

    @classmethod
    def from_texts(cls, survey: Survey, confidence: str, where: list[str], by: str | None) -> Asked:
        """Checked against the survey: AskedWrongly names what is known."""
        try:
            level = float(confidence)
        except ValueError:
            level = 0.0
        if not 0.5 <= level <= 0.9999:
            raise AskedWrongly("confidence must be a number from 0.5 to 0.9999")
        codes = {segment.id: [option.code for option in segment.options] for segment in survey.segments}
        chosen: dict[str, str] = {}
        for pair in where:
            segment, separator, code = pair.partition(":")
            if not separator or code not in codes.get(segment, ()) or chosen.get(segment, code) != code:
                known = "; ".join(f"{name}:{'|'.join(options)}" for name, options in codes.items()) or "no segments"
                raise AskedWrongly(f"where takes segment:code, each segment once. This survey has {known}")
            chosen[segment] = code
        if by is not None and by not in codes:
            raise AskedWrongly(f"by takes a segment. This survey has {', '.join(codes) or 'none'}")
        return cls(level, chosen, by)


class Group(msgspec.Struct, frozen=True):
    """The estimates of the submissions with one segment code."""

    segment: str
    code: str
    submissions: int
    questions: list[QuestionEstimate]


class SurveyEstimates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is estimated of a survey, and what was asked for."""

    survey: str
    digest: str
    status: str
    submissions: int
    confidence: float
    where: dict[str, str]
    questions: list[QuestionEstimate]
    groups: list[Group] | None = None


def estimate_survey(published: Published, status: str, statistics: Statistics, asked: Asked) -> SurveyEstimates:
    """The estimates, from the sufficient statistics alone."""
    document = published.document
    total = select(document, statistics, asked.where)
    estimates = SurveyEstimates(
        survey=document.survey.id,
        digest=document.digest,
        status=status,
        submissions=total.submissions,
        confidence=asked.confidence,
        where=asked.where,
        questions=_questions(document, total, asked),
    )
    if asked.by is None:
        return estimates
    segment = next(segment for segment in document.survey.segments if segment.id == asked.by)
    groups = []
    for option in segment.options:
        if asked.where.get(segment.id, option.code) == option.code:
            cell = select(document, statistics, {**asked.where, segment.id: option.code})
            groups.append(Group(segment.id, option.code, cell.submissions, _questions(document, cell, asked)))
    return msgspec.structs.replace(estimates, groups=groups)


def _questions(document: Document, cell: Cell, asked: Asked) -> list[QuestionEstimate]:
    return [
        estimate_question(question, channel, counts.tolist(), cell.submissions, confidence=asked.confidence)
        for question, channel, counts in zip(document.survey.questions, channels_of(document), cell.counts, strict=True)
    ]
