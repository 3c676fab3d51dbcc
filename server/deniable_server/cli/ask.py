"""What commands that ask a survey something share: their options, and where they read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, fields
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from deniable_protocol import Survey
from deniable_server.analysis.query import Query, read_weights
from deniable_server.analysis.source import Source, StoredSurvey
from deniable_server.export import ENGINES, opened
from deniable_server.export.source import ExportedSurvey
from deniable_server.settings import parse_minimum_group

from .common import DATABASE, JSON, MINIMUM_GROUP, err, existing, find_survey, print_json

Q = TypeVar("Q", bound=Query)
R = TypeVar("R")
Option = Callable[[Callable[..., None]], Callable[..., None]]

SURVEY: Option = click.argument("survey_id", required=False)
SOURCE: tuple[Option, ...] = (
    DATABASE,
    click.option("--from", "folder", help="Read the export in this folder instead of the database."),
    click.option(
        "--engine", type=click.Choice(ENGINES), help="What counts an export: this process (local, default) or Spark."
    ),
    click.option("--master", help="For Spark: spark://host:port, yarn, local[4]. Default: SPARK_MASTER, or local[*]."),
    MINIMUM_GROUP,
)


def asks(query: type[Q], answer: Callable[[Source, Q], R]) -> Callable[[Callable[[Survey, R], None]], Option]:
    """Turns a function that prints an answer into a command. Its options are the source and the query's parameters."""

    def decorate(show: Callable[[Survey, R], None]) -> Any:
        @wraps(show)
        def command(
            survey_id: str | None,
            database: str,
            folder: str | None,
            engine: str | None,
            master: str | None,
            minimum_group: str,
            as_json: bool,
            **given: Any,
        ) -> None:
            minimum = parse_minimum_group(minimum_group)
            with source(survey_id, database, folder, engine, master, minimum) as found:
                result = answer(found, query.read(found.survey, query_texts(given)))
            if as_json:
                print_json(result)
            else:
                show(found.survey, result)

        run: Callable[..., None] = command
        options: list[Option] = [SURVEY, *_options(query), *SOURCE, JSON]
        return _with_options(run, options)

    return decorate


def query_options(query: type[Query]) -> Option:
    """All options of a query, for a command that has others as well."""
    return lambda run: _with_options(run, [*_options(query)])


def _with_options(run: Callable[..., None], options: list[Option]) -> Callable[..., None]:
    for option in reversed(options):
        run = option(run)
    return run


def _options(query: type[Query]) -> Iterator[Option]:
    """An option for each parameter. All can be repeated: what may be given only once is then refused, not ignored."""
    required = {each.name for each in fields(query) if each.default is each.default_factory is MISSING}
    for name, text in query.parameters.items():
        if name == "weight":
            yield click.option(
                "--weights",
                "weight",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                callback=_read_weights,
                help="A TOML or JSON file of known shares to weight to: a table per segment, a share per code.",
            )
        elif name in query.flags:
            yield click.option(f"--{name}", is_flag=True, help=text)
        else:
            text += " With --from: the folder of its export." if name == "with" else ""
            yield click.option(f"--{name}", multiple=True, required=name in required, help=text)


def _read_weights(context: click.Context, parameter: click.Parameter, file: Path | None) -> list[str]:
    return [] if file is None else read_weights(file.read_bytes(), is_json=file.suffix == ".json")


def query_texts(given: dict[str, Any]) -> dict[str, list[str]]:
    """The options of a command as the parameters that a request would have."""
    return {name: ["1"] if value is True else list(value) for name, value in given.items() if value}


@contextmanager
def source(
    survey_id: str | None, database: str, folder: str | None, engine: str | None, master: str | None, minimum: int
) -> Iterator[Source]:
    """What these options name."""
    if folder is None:
        if survey_id is None:
            raise click.UsageError("Missing argument 'SURVEY_ID'.")
        if engine is not None or master is not None:
            raise click.UsageError("--engine and --master are for an export: --from DIR.")
        with existing(database) as storage:
            find = partial(find_survey, storage)
            yield StoredSurvey(storage, find(survey_id), minimum, find)
        return
    given = click.get_current_context().get_parameter_source("database")
    if given is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("Give either --database or --from, not both.")
    if master is not None and engine != "spark":
        raise click.UsageError("--master is for --engine spark.")
    with waiting(engine), opened(folder, engine or "local", master) as chosen:
        yield ExportedSurvey(chosen, minimum, survey_id)


def waiting(engine: str | None) -> AbstractContextManager[object]:
    """A sign of life in the terminal: a busy cluster can keep a command waiting forever."""
    return err.status("waiting for Spark") if engine == "spark" and err.is_terminal else nullcontext()
