"""The dashboard of one survey: every question at a glance, groups compared, questions crossed.

May not: word or round a number in a template. Templates get texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from deniable_protocol import Survey
from deniable_server.analysis.compare import CompareQuery, SurveyComparison, compare
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab, planned_pairs
from deniable_server.analysis.estimates import EstimateQuery, SurveyEstimates, estimates, has_few_numbers
from deniable_server.analysis.labels import crossable, texts, titles
from deniable_server.analysis.query import Query
from deniable_server.analysis.regress import RegressQuery, regress
from deniable_server.analysis.scope import scope
from deniable_server.analysis.source import Source
from deniable_server.errors import BadQuery, HeldBack, Withheld
from deniable_server.storage import Status
from deniable_server.storage.invitations import InvitationNumbers
from deniable_server.web.auth import may, readable
from deniable_server.web.context import find, here
from deniable_server.web.source import compute_results, source_of
from deniable_server.wording import EVERY_LOOK, account_in_words, group_text, in_symbols

from . import sentences
from .day_charts import days_chart
from .layout import holder, page, shown_to
from .overview import common_notices, cross_planned, make_cards
from .relations import comparison_values, crosstab_values, outcomes, predictors, regression_values

dashboard = Blueprint("dashboard", __name__, template_folder="templates")

SCOPE = ("where", "without", "confidence", "weight", "trim")
"""What a cross-tab shares with the results that lead to it."""
LEVELS = ("0.8", "0.9", "0.95", "0.99")
WEIGHT = "weight:"
"""How a field of the weights form begins; segment and code follow."""

Given = dict[str, list[str]]


@dataclass(frozen=True)
class SentBy:
    """How many submissions a collector sent (no label: respondents), and a page without them, unless this is one."""

    label: str
    counted: str
    link: str


class Shown(NamedTuple):
    """Results as a part of a page, the status of the survey that they were computed in, and what they are about: every
    printed page says it.
    """

    status: Status
    html: str
    scope: str = ""


@dashboard.get("/surveys/<survey>")
@shown_to("reader")
def overview(survey: str) -> ResponseReturnValue:
    given = _given(EstimateQuery)
    response = _view(
        "overview.html",
        survey,
        given,
        EstimateQuery,
        _overview,
        given,
        may(holder(), "analyst", survey),
    )
    # The page asks for itself again while it is open: what has not changed is not sent again.
    response.add_etag()
    return response.make_conditional(request)


@dashboard.get("/surveys/<survey>/compare")
@shown_to("reader")
def comparison(survey: str) -> ResponseReturnValue:
    given = _given(CompareQuery)
    function = _comparison if "question" in given and ("by" in given or "with" in given) else None
    return _view(
        "compare.html", survey, given, CompareQuery, function, given, others=_others(find(survey).document.survey)
    )


@dashboard.get("/surveys/<survey>/crosstab")
@shown_to("reader")
def cross_tabulation(survey: str) -> ResponseReturnValue:
    asked, given = find(survey).document.survey, _given(CrosstabQuery)
    named = titles(asked)
    return _view(
        "crosstab.html",
        survey,
        given,
        CrosstabQuery,
        _crosstab if "rows" in given and "columns" in given else None,
        given,
        variables=[(name, named[name]) for name in crossable(asked)],
        planned=[(pair, " and ".join(named[name] for name in pair)) for pair in planned_pairs(asked)],
    )


@dashboard.get("/surveys/<survey>/regression")
@shown_to("reader")
def regression(survey: str) -> ResponseReturnValue:
    asked, given = find(survey).document.survey, _given(RegressQuery)
    # One field chooses question and answer.
    question, colon, answer = request.args.get("outcome", "").partition(":")
    if colon:
        given |= {"question": [question], "answer": [answer]}
    return _view(
        "regression.html",
        survey,
        given,
        RegressQuery,
        _regression if "question" in given and "on" in given else None,
        given,
        outcomes=outcomes(asked),
        outcome=":".join(given.get(name, [default])[0] for name, default in (("question", ""), ("answer", "yes"))),
        predictors=predictors(asked),
    )


# --- in a computing process: results ----------------------------------------------------------------------------------


def _overview(survey: str, query: EstimateQuery, given: Given, is_analyst: bool) -> Shown:
    source = source_of(survey)
    is_open = _is_open(source)
    curves = has_few_numbers(source.survey)
    shown = {**given, **({"anytime": ["1"]} if is_open else {}), "distribution": ["1" if curves else "0"]}
    result = estimates(source, replace(query, anytime=query.anytime or is_open, distribution=curves))
    everywhere = common_notices(result)
    crossed, left_out = cross_planned(source, result)
    filtered = {name: values for name, values in given.items() if name in SCOPE}
    named = titles(source.survey)
    days = here().storage.days(source.published)
    results = _shown(
        "overview-results.html",
        source,
        query,
        estimates=result,
        counted=sentences.counted(result.submissions, "submission"),
        invited=_invited(result.invitations),
        spent=in_symbols(source.document.account),
        protection=account_in_words(source.document.account),
        cards=make_cards(source, result, everywhere),
        crossed=crossed,
        cross_tabs={
            " and ".join(sentences.quoted(named[name]) for name in pair): _link(
                "dashboard.cross_tabulation", survey, {"rows": [pair[0]], "columns": [pair[1]], **filtered}
            )
            for pair in [*((each.rows, each.columns) for each in crossed), *left_out]
        },
        left_out=len(left_out),
        everywhere=everywhere,
        days=days_chart(days),
        sources=_sources(survey, result, sum(days.values()), given),
        downloads={
            "Estimates as a table (CSV)": _link("results.get_estimates_table", survey, shown),
            "Estimates as JSON": _link("results.get_estimates", survey, shown),
        },
        is_analyst=is_analyst,
    )
    of = scope(source.survey, result, by=result.groups[0].segment if result.groups else None, weighted=True)
    return results._replace(scope=f"{of} · {sentences.counted(result.submissions, 'submission')}")


def _invited(numbers: InvitationNumbers | None) -> str:
    return "" if numbers is None else sentences.response_rate(numbers.used, numbers.invited)


def _comparison(survey: str, query: CompareQuery, given: Given) -> Shown:
    source = source_of(survey)
    others = [source.another(query.other)] if query.other and not query.by else []
    result = compare(source, replace(query, anytime=query.anytime or _is_open(source, *others)))
    values = comparison_values(source.survey, result, _names(source.survey, result))
    shown = _as_shown(given, anytime=result.anytime)
    return _shown(
        "compare-results.html",
        source,
        query,
        downloads=_downloads("results.get_comparison", survey, shown),
        **values,
    )


def _crosstab(survey: str, query: CrosstabQuery, given: Given) -> Shown:
    source = source_of(survey)
    result = crosstab(source, replace(query, anytime=query.anytime or _is_open(source)))
    shown = _as_shown(given, anytime=result.anytime)
    return _shown(
        "crosstab-results.html",
        source,
        query,
        downloads=_downloads("results.get_crosstab", survey, shown),
        **crosstab_values(source.survey, result),
    )


def _regression(survey: str, query: RegressQuery, given: Given) -> Shown:
    source = source_of(survey)
    return _shown(
        "regression-results.html",
        source,
        query,
        downloads=_downloads("results.get_regression", survey, given),
        is_open=_is_open(source),
        **regression_values(source.survey, regress(source, query)),
    )


def _as_shown(given: Given, *, anytime: bool) -> Given:
    """What to ask for to get the numbers of the page."""
    return {**given, **({"anytime": ["1"]} if anytime else {})}


def _downloads(endpoint: str, survey: str, given: Given) -> dict[str, str]:
    """The numbers of a page as files."""
    return {
        "As a table (CSV)": _link(f"{endpoint}_table", survey, given),
        "As JSON": _link(endpoint, survey, given),
    }


def _shown(template: str, source: Source, query: Query, **values: Any) -> Shown:
    html = render_template(
        template,
        survey=source.survey,
        digest=source.document.digest,
        status=source.status,
        without=query.without,
        texts=texts(source.survey),
        titles=titles(source.survey),
        minimum=source.minimum,
        every_look=EVERY_LOOK,
        **values,
    )
    return Shown(source.status, html)


# --- the pages around them --------------------------------------------------------------------------------------------


def _view(
    template: str,
    survey: str,
    given: Given,
    kind: type[Query],
    function: Callable[..., Shown] | None,
    *more: object,
    **values: Any,
) -> Response:
    """The page with what the function computes for this query, or with why not."""
    published = find(survey)
    code, refusal, results = 200, "", None
    if function is not None:
        try:
            results = compute_results(function, survey, kind, given, *more)
        except (BadQuery, HeldBack, Withheld) as error:
            code, refusal = 403 if isinstance(error, HeldBack) else 422, str(error)
    asked = published.document.survey
    return page(
        template,
        code,
        survey=asked,
        status=here().storage.status(published) if results is None else results.status,
        results=results and Markup(results.html),  # noqa: S704 -- a template of ours has made it
        scope=results.scope if results else "",
        refusal=refusal,
        given=given,
        without=given.get("without", []),
        counted_again=_link(str(request.endpoint), survey, {**given, "without": []}),
        chosen=dict(pair.split(":", 1) for pair in given.get("where", ()) if ":" in pair),
        weights=_shown_weights(given),
        levels=LEVELS,
        titles=titles(asked),
        **values,
    )


def _given(query: type[Query]) -> Given:
    """What was asked for, as the interface for programs takes it: fields left empty are left out."""
    given: Given = {}
    known = query.parameters
    for name, value in request.args.items(multi=True):
        if not (value := value.strip()):
            continue
        if name.startswith(WEIGHT) and "weight" in known:
            given.setdefault("weight", []).append(f"{name.removeprefix(WEIGHT)}:{value}")
        elif name in known:
            given.setdefault(name, []).append(value)
    return given


def _is_open(*sources: Source) -> bool:
    """Whether more answers may come, so that people will look again: intervals must be valid at every look."""
    return any(source.status == "open" for source in sources)


def _link(endpoint: str, survey: str, given: Given) -> str:
    return f"{url_for(endpoint, survey=survey)}?{urlencode(given, doseq=True)}".rstrip("?")


def _sources(survey: str, result: SurveyEstimates, submissions: int, given: Given) -> list[SentBy]:
    """Who sent the submissions; empty where all came from respondents' own devices."""
    if not result.sources:
        return []
    own = submissions - sum(result.sources.values())
    listed = [SentBy("", sentences.counted(own, "submission"), "")]
    for label, count in result.sources.items():
        without = [*result.without, label]
        link = "" if label in result.without else _link("dashboard.overview", survey, {**given, "without": without})
        listed.append(SentBy(label, sentences.counted(count, "submission"), link))
    return listed


def _shown_weights(given: Given) -> dict[tuple[str, str], str]:
    parts = (entry.split(":") for entry in given.get("weight", ()))
    return {(part[0], part[1]): part[2] for part in parts if len(part) == 3}


def _names(survey: Survey, result: SurveyComparison) -> dict[str, str]:
    """What the compared groups are called: the texts of a segment's codes, or the titles of two surveys."""
    if result.by is not None:
        segment = next(each for each in survey.segments if each.id == result.by)
        return {group.label: group_text(segment, group.label) for group in result.groups}
    return {group.label: find(group.label).document.survey.title for group in result.groups}


def _others(survey: Survey) -> list[tuple[str, str]]:
    """Surveys to compare with, of those that one may see: those that share a question."""
    own = {question.id for question in survey.questions}
    others = []
    for listed in readable(holder()):
        if listed.id != survey.id:
            questions = find(listed.id).document.survey.questions
            if own & {question.id for question in questions}:
                others.append((listed.id, listed.title))
    return others
