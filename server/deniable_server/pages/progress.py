"""How far a survey is, and what to do next: in the list of surveys, and on a page of its own.

How many answers bring which margin follows from the published document alone (``planning.precision``): the results
need not be looked at, and may be held back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from deniable_protocol import Document
from deniable_server.errors import Kind, Refusal
from deniable_server.planning import Wanted
from deniable_server.planning.precision import precision
from deniable_server.planning.sample_size import margin_of, respondents_for_margin
from deniable_server.planning.words import NOTHING, about, points
from deniable_server.storage import Fieldwork, Listed
from deniable_server.web.context import find, here

from .charts import Empty
from .day_charts import Days, days_chart
from .fieldwork import closing_in_words, schedule_in_words, spoken
from .layout import holder, page, shown_to
from .sentences import capitalized, counted

progress = Blueprint("progress", __name__, template_folder="templates")

MILESTONES = (0.2, 0.1, 0.05, 0.03, 0.02, 0.01)
"""Margins that people aim for."""
ENOUGH = 0.03
"""The margin that a survey is planned for: where no number of respondents is expected, it is complete with this."""


class Outlook(NamedTuple):
    """What a survey knows with the answers that it has. ``margin`` is that of the share (or mean) that is known worst,
    None without answers; ``more`` says how many more answers bring the next milestones.
    """

    what: str
    margin: float | None
    more: list[tuple[int, float]]


@dataclass(frozen=True)
class Step:
    """Something to do with a survey: done, the next one, or one for later."""

    name: Literal["share", "wait", "close", "read"]
    title: str
    text: str
    state: Literal["done", "now", "later"]


@dataclass(frozen=True)
class Item:
    """A survey in the list: how far it is (``reached`` of 100, None where no number is expected), and what is next."""

    survey: Listed
    counted: str
    reached: int | None
    days: Days | Empty
    next: Step
    schedule: str | None = None


# --- what is known, and what is next ----------------------------------------------------------------------------------


def outlook(document: Document, submissions: int) -> Outlook:
    """The margins of single questions, at 95% confidence, once the survey is closed."""
    single = [known for known in precision(document) if len(known.items) == 1]
    shares = [known for known in single if not known.items[0].question.asks_mean]
    unit = " points" if shares else "% of its range"
    what = f"each {'share' if shares else 'mean'} within about ±{{}}{unit}"
    shown = shares or single
    margin = None
    if submissions:
        margin = max(margin_of(each.variance, submissions, each.wanted(Wanted())) for each in shown)

    def needed(least: float) -> int:
        return max(respondents_for_margin(each.variance, each.wanted(Wanted(margin=least))) for each in shown)

    ahead = [least for least in MILESTONES if margin is None or least < margin]
    more = [(needed(least) - submissions, least) for least in ahead]
    return Outlook(what, margin, [each for each in more if each[0] > 0][:2])


def steps(survey: Listed, ahead: Outlook, held: bool = False, invited: bool = False) -> list[Step]:
    """What there is to do with a survey, in its order; one of them is next. ``invited``: only people with an invitation
    can answer.
    """
    n, expected, is_closed = survey.submissions, survey.expected, survey.status == "closed"
    closes_itself = survey.closes_at is not None or survey.most is not None
    if expected is None:
        is_enough = ahead.margin is not None and ahead.margin <= ENOUGH
        waiting = "Wait for more answers"
    else:
        is_enough = n >= expected
        waiting = f"Wait for {counted(expected - n, 'more answer')}" if n < expected else "Wait for answers"
    what = "their invitations" if invited else "the link"
    shared = f"Nobody has answered yet. Send people {what}." if not n else f"{counted(n, 'answer')} so far."
    if survey.status == "scheduled" and survey.opens_at is not None:
        shared = (
            f"The survey opens on {spoken(survey.opens_at)}. You can send {what} before: the page says when it opens."
        )
    wanted: list[tuple[Literal["share", "wait", "close", "read"], str, str, bool]] = [
        ("share", "Send invitations" if invited else "Share the link", shared, is_closed or n > 0),
        ("wait", waiting, margins_in_words(ahead, expected, n), is_closed or is_enough),
        (
            "close",
            "Close the survey",
            f"Closed on {survey.closed_on}."
            if survey.closed_on
            else "Its time is over. It is being closed."
            if is_closed
            else f"It {closing_in_words(survey.closes_at, survey.most)}. You can close it sooner."
            if closes_itself
            else "It then takes no more answers, and intervals get shorter: nobody needs to look again.",
            is_closed,
        ),
        (
            "read",
            "Read the results",
            "They are held back until an editor shows them, or the survey is closed."
            if held
            else "You can look at any time. While the survey is open, intervals allow for that.",
            False,
        ),
    ]
    next_one = next(place for place, (*_, is_done) in enumerate(wanted) if not is_done)
    return [
        Step(name, title, text, "done" if is_done else "now" if place == next_one else "later")
        for place, (name, title, text, is_done) in enumerate(wanted)
    ]


def margins_in_words(ahead: Outlook, expected: int | None, n: int) -> str:
    """What the answers show now, and what more of them would."""
    said = []
    if ahead.margin is not None:
        known = f"you know {ahead.what.format(points(ahead.margin))}"
        known = "hardly anything is known" if ahead.margin > NOTHING else known
        said.append(f"With {counted(n, 'answer')} {known}.")
    if ahead.more:
        more = "more answers" if n else "answers"
        bring = [f"about {about(each)} {more} bring ±{points(margin)}" for each, margin in ahead.more]
        said.append(f"{capitalized(', '.join(bring))}.")
    if expected is not None and n < expected:
        said.append(f"{expected:,} are expected.")
    return " ".join(said)


# --- the list ---------------------------------------------------------------------------------------------------------


def list_items(surveys: Iterable[Listed]) -> list[Item]:
    """The surveys of the list, those that are open first."""
    items, storage = [], here().storage
    for survey in sorted(surveys, key=lambda each: (each.status == "closed", each.title.lower(), each.id)):
        published = storage.known(survey.id)
        if published is None:  # it was deleted after the list was read
            continue
        n, expected = survey.submissions, survey.expected
        each = steps(survey, outlook(published.document, n), invited=published.document.issuer is not None)
        items.append(
            Item(
                survey,
                f"{n:,} of {expected:,} expected answers" if expected else counted(n, "answer"),
                None if expected is None else min(100, 100 * n // expected),
                days_chart(storage.days(published)),
                next(step for step in each if step.state == "now"),
                _schedule(survey),
            )
        )
    return items


def _schedule(survey: Listed) -> str | None:
    """When it opens and closes, if that is set."""
    if survey.status == "closed" or survey.fieldwork == Fieldwork():
        return None
    return schedule_in_words(survey.status, survey.fieldwork)


def matching(surveys: Iterable[Listed], words: str, *, archived: bool) -> list[Listed]:
    """Those that have all of these words in their title or id, of the archive or of the others."""
    wanted = words.lower().split()
    return [
        each
        for each in surveys
        if (each.archived_on is not None) == archived
        and all(word in f"{each.title} {each.id}".lower() for word in wanted)
    ]


# --- the pages --------------------------------------------------------------------------------------------------------


@progress.get("/surveys/<survey>/progress")
@shown_to("analyst")
def next_step(survey: str) -> ResponseReturnValue:
    published, storage = find(survey), here().storage
    listed = next(each for each in storage.surveys(test_runs=True) if each.id == survey)
    held = listed.status != "closed" and (until := storage.results_from(published)) != 0
    held = held and (until is None or listed.submissions < until)
    link = url_for("respondent.survey_page", survey=survey, _external=True)
    return page(
        "progress.html",
        survey=published.document.survey,
        status=listed.status,
        listed=listed,
        item=list_items([listed])[0],
        steps=steps(
            listed, outlook(published.document, listed.submissions), held, published.document.issuer is not None
        ),
        link=f"{link}#{published.document.digest}",
    )


@progress.post("/surveys/<survey>/archive")
@shown_to("editor")
def archive(survey: str) -> ResponseReturnValue:
    """Into the archive or, with ``archived=0``, back to the list."""
    published, archived = find(survey), request.form.get("archived") != "0"
    if archived and here().storage.status(published) != "closed":
        raise Refusal(Kind.BAD_PARAMETER, "This survey is open. Close it before you put it into the archive.")
    here().archive(published, archived, holder())
    return redirect(url_for("surveys.index", archived=1 if archived else None), 303)
