"""Fieldwork: when a survey takes answers and when it is closed, on a page; and deleting a survey for good."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from deniable_server.errors import BadFieldwork
from deniable_server.storage import Fieldwork
from deniable_server.storage.fieldwork import moment
from deniable_server.web.context import find, here

from .layout import holder, page, shown_to

fieldwork = Blueprint("fieldwork", __name__, template_folder="templates")


# --- in words ---------------------------------------------------------------------------------------------------------


def spoken(seconds: int) -> str:
    """A time as people say it: Monday 23 November 2026, 08:00 UTC."""
    time = datetime.fromtimestamp(seconds, UTC)
    return f"{time:%A} {time.day} {time:%B %Y, %H:%M} UTC"


def closing_in_words(closes_at: int | None, most: int | None, time: str | None = None) -> str:
    """When a survey closes by itself. ``time``: the closing time, if it is to be written in another way."""
    first = None if closes_at is None else f"on {time or spoken(closes_at)}"
    second = None if most is None else f"with {most:,} answer{'' if most == 1 else 's'}"
    if first and second:
        return f"closes {first}, or {second}, whichever is first"
    return f"closes {first or second}" if first or second else "stays open until somebody closes it"


def schedule_in_words(status: str, kept: Fieldwork) -> Markup:
    """What will happen to a survey that is not closed, with times that the script of the page can translate."""
    start = Markup("Open now")
    if status == "scheduled" and kept.opens_at is not None:
        start = Markup("Opens on {}").format(_time(kept.opens_at))
    time = None if kept.closes_at is None else _time(kept.closes_at)
    return Markup("{}; {}.").format(start, Markup(closing_in_words(kept.closes_at, kept.most, time)))  # noqa: S704 -- our own words


def _time(seconds: int) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(moment(seconds), spoken(seconds))


# --- the page ---------------------------------------------------------------------------------------------------------


@fieldwork.get("/surveys/<survey>/fieldwork")
@shown_to("editor")
def times(survey: str) -> ResponseReturnValue:
    return _page(survey)


@fieldwork.post("/surveys/<survey>/fieldwork")
@shown_to("editor")
def save(survey: str) -> ResponseReturnValue:
    published = find(survey)
    try:
        kept = here().storage.fieldwork(published)
        if request.form.get("do") == "open":
            changed = Fieldwork(None, kept.closes_at, kept.most)
        else:
            opens_at = _seconds("opens_at", "Opens", kept.opens_at)
            changed = Fieldwork(opens_at, _seconds("closes_at", "Closes", kept.closes_at), _number("stop_at"))
        here().schedule(published, changed, holder())
    except BadFieldwork as error:
        return _page(survey, str(error))
    return redirect(url_for("fieldwork.times", survey=survey, saved=1), 303)


def _seconds(name: str, label: str, kept: int | None) -> int | None:
    """A time as a browser writes it, in UTC: the script of the page converts it. It has no seconds: where the minute is
    that of the time that is kept, nobody has changed it.
    """
    text = request.form.get(name, "").strip()
    if not text:
        return None
    try:
        seconds = int(datetime.strptime(text[:16], "%Y-%m-%dT%H:%M").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise BadFieldwork(f"{label}: give a day and a time, such as 2026-11-23T08:00.") from None
    return kept if kept is not None and kept - kept % 60 == seconds else seconds


def _number(name: str) -> int | None:
    text = request.form.get(name, "").replace(",", "").strip()
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 12):
        raise BadFieldwork("Stop at: give a whole number of answers, such as 500.")
    return int(text) if text else None


def _page(survey: str, problem: str = "") -> ResponseReturnValue:
    published, storage = find(survey), here().storage
    state, kept = storage.state(published), storage.fieldwork(published)
    given = (
        request.form
        if problem
        else {
            "opens_at": _field(kept.opens_at),
            "closes_at": _field(kept.closes_at),
            "stop_at": kept.most or "",
        }
    )
    return page(
        "fieldwork.html",
        422 if problem else 200,
        survey=published.document.survey,
        status=state.status,
        given=given,
        sentence=None if state.status == "closed" else schedule_in_words(state.status, kept),
        submissions=state.submissions,
        until=state.results_from,
        problem=problem,
        saved=request.args.get("saved") == "1",
    )


def _field(seconds: int | None) -> str:
    return "" if seconds is None else moment(seconds)[:16]


# --- deleting ---------------------------------------------------------------------------------------------------------


@fieldwork.get("/surveys/<survey>/delete")
@shown_to("admin")
def ask_to_delete(survey: str) -> ResponseReturnValue:
    return _deleting(survey)


@fieldwork.post("/surveys/<survey>/delete")
@shown_to("admin")
def delete(survey: str) -> ResponseReturnValue:
    """Deletes it if its title or id was typed."""
    published, typed = find(survey), " ".join(request.form.get("name", "").split())
    if typed not in (survey, " ".join(published.document.survey.title.split())):
        return _deleting(survey, "Nothing was deleted. What you typed is not the title or the id of this survey.")
    here().delete(published, holder())
    return redirect(url_for("surveys.index", deleted=survey), 303)


def _deleting(survey: str, problem: str = "") -> ResponseReturnValue:
    published = find(survey)
    state = here().storage.state(published)
    return page(
        "delete.html",
        422 if problem else 200,
        survey=published.document.survey,
        status=state.status,
        submissions=state.submissions,
        problem=problem,
    )
