"""The dashboard of one survey: every question at a glance, groups compared, questions crossed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request, url_for
from flask.typing import ResponseReturnValue

from deniable_protocol import Question, Survey
from deniable_server.analysis.estimates import SurveyEstimates
from deniable_server.analysis.query import Parameters
from deniable_server.analysis.relations import SurveyComparison
from deniable_server.errors import BadQuery, NotComparable, Withheld
from deniable_server.estimator import QuestionEstimate
from deniable_server.storage import Published, utc_today
from deniable_server.web.auth import may, signed_in
from deniable_server.web.context import find, here
from deniable_server.web.results import COMPARE, CROSSTAB, ESTIMATES, analysis, compared, crossed
from deniable_server.wording import answer_texts, channel_in_words, group_text, group_texts, question_in_words

from . import sentences
from .charts import Bars, Empty, MeanChart, days_chart, question_chart
from .group_charts import Dots, crosstab_chart, differences_chart, groups_chart
from .layout import page, shown_to

dashboard = Blueprint("dashboard", __name__, template_folder="templates")

LEVELS = ("0.8", "0.9", "0.95", "0.99")
WEIGHT = "weight:"
"""How a field of the weights form begins; segment and code follow."""

Given = dict[str, list[str]]


@dataclass(frozen=True)
class Card:
    """A question as it is shown: what is estimated of it, its charts, and how its answers are protected."""

    question: Question
    estimate: QuestionEstimate
    chart: Bars | MeanChart | Empty
    groups: Dots | Empty | None
    parts: list[QuestionEstimate]
    channel: str
    protection: str


@dashboard.get("/surveys/<survey>")
@shown_to("reader")
def overview(survey: str) -> ResponseReturnValue:
    published = find(survey)
    given = _given(ESTIMATES)
    shown = {**given, "distribution": ["1"]}
    try:
        asked = Parameters(published.document.survey, shown, list(ESTIMATES)).asked()
        estimates = analysis(published).estimates(here().storage.status(published), asked)
    except (BadQuery, Withheld) as error:
        return _view("overview.html", published, given, 422, refusal=str(error))
    notices = Counter(notice for question in estimates.questions for notice in sentences.notices(question))
    response = _view(
        "overview.html",
        published,
        given,
        estimates=estimates,
        cards=_cards(published, estimates),
        everywhere=[notice for notice, cards in notices.items() if cards > 2],  # said once, above them
        today=utc_today().isoformat(),
        days=days_chart(here().storage.days(published)),
        downloads={
            "Estimates as a table (CSV)": _link("results.get_estimates_table", survey, shown),
            "Estimates as JSON": _link("results.get_estimates", survey, shown),
        },
    )
    # The page asks for itself again while it is open: what has not changed is not sent again.
    response.add_etag()
    return response.make_conditional(request)


@dashboard.get("/surveys/<survey>/compare")
@shown_to("reader")
def compare(survey: str) -> ResponseReturnValue:
    published = find(survey)
    given = _given(COMPARE)
    shown: dict[str, Any] = {"others": _others(published)}
    if "question" in given and ("by" in given or "with" in given):
        try:
            result = compared(published, Parameters(published.document.survey, given, list(COMPARE)))
        except (BadQuery, Withheld, NotComparable) as error:
            return _view("compare.html", published, given, 422, refusal=str(error), **shown)
        question = next(each for each in published.document.survey.questions if each.id == result.question)
        names, texts = _names(published, result), answer_texts(question)
        unit = getattr(question, "unit", None) or ""
        said = [
            (sentences.difference(row, names, texts[row.code] if row.code else "", unit), row.adjusted_p_value)
            for row in result.differences
        ]
        shown |= {
            "result": result,
            "chart": differences_chart(question, result.differences, names, result.confidence),
            "differences": [sentence for sentence, _ in said],
            "clear": [sentence for sentence, p in said if p is not None and p <= 1 - result.confidence],
        }
    return _view("compare.html", published, given, **shown)


@dashboard.get("/surveys/<survey>/crosstab")
@shown_to("reader")
def crosstab(survey: str) -> ResponseReturnValue:
    published = find(survey)
    asked = published.document.survey
    given = _given(CROSSTAB)
    shown: dict[str, Any] = {
        "variables": [*asked.segments, *(question for question in asked.questions if not question.asks_mean)]
    }
    if "rows" in given and "columns" in given:
        try:
            result = crossed(published, Parameters(asked, given, list(CROSSTAB)))
        except (BadQuery, Withheld) as error:
            return _view("crosstab.html", published, given, 422, refusal=str(error), **shown)
        texts, titles = _texts(asked), _titles(asked)
        shown |= {
            "result": result,
            "chart": crosstab_chart(
                result, texts[result.rows], texts[result.columns], titles[result.rows], titles[result.columns]
            ),
        }
    return _view("crosstab.html", published, given, **shown)


def _view(template: str, published: Published, given: Given, code: int = 200, **values: Any) -> Response:
    survey = published.document.survey
    return page(
        template,
        code,
        survey=survey,
        digest=published.document.digest,
        status=here().storage.status(published),
        given=given,
        chosen=dict(pair.split(":", 1) for pair in given.get("where", ()) if ":" in pair),
        weights=_shown_weights(given),
        levels=LEVELS,
        texts=_texts(survey),
        titles=_titles(survey),
        sentences=sentences,
        minimum=here().settings.minimum_group,
        **values,
    )


def _texts(survey: Survey) -> dict[str, dict[str, str]]:
    """The texts of all answers, by question or segment and code."""
    segments = {segment.id: group_texts(segment) for segment in survey.segments}
    return segments | {question.id: answer_texts(question) for question in survey.questions}


def _titles(survey: Survey) -> dict[str, str]:
    return {each.id: each.text for each in (*survey.segments, *survey.questions)}


def _given(known: Iterable[str]) -> Given:
    """What was asked for, as the interface for programs takes it: fields left empty are left out."""
    given: Given = {}
    for name, value in request.args.items(multi=True):
        if not (value := value.strip()):
            continue
        if name.startswith(WEIGHT) and "weight" in known:
            given.setdefault("weight", []).append(f"{name.removeprefix(WEIGHT)}:{value.replace(',', '.')}")
        elif name in known:
            given.setdefault(name, []).append(value)
    return given


def _link(endpoint: str, survey: str, given: Given) -> str:
    return f"{url_for(endpoint, survey=survey)}?{urlencode(given, doseq=True)}".rstrip("?")


def _shown_weights(given: Given) -> dict[tuple[str, str], str]:
    parts = (entry.split(":") for entry in given.get("weight", ()))
    return {(part[0], part[1]): part[2] for part in parts if len(part) == 3}


def _cards(published: Published, estimates: SurveyEstimates) -> list[Card]:
    document = published.document
    segments = {segment.id: segment for segment in document.survey.segments}
    labels = [group_text(segments[group.segment], group.code) for group in estimates.groups or ()]
    cards = []
    for i, question in enumerate(document.survey.questions):
        estimate = estimates.questions[i]
        parts = [group.questions[i] for group in estimates.groups or ()]
        cards.append(
            Card(
                question,
                estimate,
                question_chart(question, estimate, estimates.confidence),
                groups_chart(question, list(zip(labels, parts, strict=True)), estimates.confidence) if parts else None,
                parts,
                channel_in_words(question, document.channels[question.id]),
                question_in_words(question),
            )
        )
    return cards


def _names(published: Published, result: SurveyComparison) -> dict[str, str]:
    """What the compared groups are called: the texts of a segment's codes, or the titles of two surveys."""
    survey = published.document.survey
    if result.by is not None:
        segment = next(each for each in survey.segments if each.id == result.by)
        return {group.label: group_text(segment, group.label) for group in result.groups}
    return {group.label: find(group.label).document.survey.title for group in result.groups}


def _others(published: Published) -> list[tuple[str, str]]:
    """Surveys to compare with, for whoever may read them all: those that share a question."""
    token = signed_in()
    if token is None or not may(token, "analyst", None):
        return []
    own = {question.id for question in published.document.survey.questions}
    others = []
    for listed in here().storage.surveys():
        if listed.id != published.document.survey.id:
            questions = find(listed.id).document.survey.questions
            if own & {question.id for question in questions}:
                others.append((listed.id, listed.title))
    return others
