"""``deniable survey schedule`` and ``deniable survey delete``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from deniable_server.storage import Fieldwork
from deniable_server.storage.fieldwork import moment

from .common import DATABASE, JSON, existing, find_survey, print_json, say

NONE = "none"


def _time(context: click.Context, option: click.Parameter, value: str | None) -> int | str | None:
    """Seconds since 1970 of a day and a time, in UTC unless it names another zone."""
    if value is None or value == NONE:
        return value
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            "takes a day and a time, such as 2026-11-23T08:00 (UTC) or 2026-11-23T09:00+01:00, or none."
        ) from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def _number(context: click.Context, option: click.Parameter, value: str | None) -> int | str | None:
    if value is None or value == NONE:
        return value
    if not (value.isascii() and value.isdecimal() and len(value) <= 12):
        raise click.BadParameter("takes a number of submissions, or none.")
    return int(value)


@click.command(short_help="When a survey opens and closes, and where it stops.")
@click.argument("survey_id")
@click.option(
    "--opens",
    metavar="TIME",
    callback=_time,
    help="When it opens, such as 2026-11-23T08:00 (UTC); none: it is open now.",
)
@click.option("--closes", metavar="TIME", callback=_time, help="When it is closed; none: when somebody closes it.")
@click.option(
    "--stop-at", metavar="NUMBER", callback=_number, help="Close it with so many submissions; none: any number."
)
@DATABASE
@JSON
def schedule(
    survey_id: str,
    opens: int | str | None,
    closes: int | str | None,
    stop_at: int | str | None,
    database: str,
    as_json: bool,
) -> None:
    """Set when a survey opens and closes, and where it stops. What is not given stays as it is; with no option, the
    schedule is printed. A server closes the survey when it is due.
    """
    given = {"opens_at": opens, "closes_at": closes, "most": stop_at}
    changes: dict[str, Any] = {
        name: None if value == NONE else value for name, value in given.items() if value is not None
    }
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        if changes:
            storage.schedule(published, replace(storage.fieldwork(published), **changes))
        status, kept = storage.status(published), storage.fieldwork(published)
    if as_json:
        print_json({"survey": survey_id, "status": status, **kept.written()})
        return
    for text in in_words(kept) if status != "closed" else ["It is closed."]:
        say(text)


@click.command(short_help="Delete a survey and all its submissions.")
@click.argument("survey_id")
@click.option("--yes-delete", "again", metavar="ID", required=True, help="The id once more, to confirm.")
@DATABASE
@JSON
def delete(survey_id: str, again: str, database: str, as_json: bool) -> None:
    """Delete a survey for good: its submissions, results, invitations and links. Backups that were made before keep
    it.
    """
    if again != survey_id:
        raise click.BadParameter("is another id. Nothing was deleted.", param_hint="--yes-delete")
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        submissions = sum(storage.days(published).values())
        storage.delete_survey(published)
    if as_json:
        print_json({"deleted": survey_id, "submissions": submissions})
    else:
        say(f"{survey_id} is deleted, with {submissions:,} submission{'' if submissions == 1 else 's'}.")


def in_words(kept: Fieldwork) -> list[str]:
    """A schedule, a line for each thing that is set."""
    lines = [
        None if kept.opens_at is None else f"Opens at {moment(kept.opens_at)}",
        None if kept.closes_at is None else f"Closes at {moment(kept.closes_at)}",
        None if kept.most is None else f"Closes with {kept.most:,} submissions",
    ]
    return [line for line in lines if line] or ["Open until somebody closes it."]
