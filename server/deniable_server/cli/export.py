"""Exports: the command that writes one, and where other commands read from, a database or an export."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.text import Text

from deniable_server.analysis.relations import Crossing
from deniable_server.errors import ExportError
from deniable_server.export import ENGINES, Engine, opened
from deniable_server.statistics import Statistics
from deniable_server.storage import Published, Status, Storage

from .common import DATABASE, JSON, err, existing, find_survey, out, print_json, progress_bar

F = TypeVar("F", bound=Callable[..., Any])


@click.command(short_help="All reports as Parquet files.")
@click.argument("survey_id")
@click.option(
    "--to", required=True, type=click.Path(path_type=Path), help="A folder that is not there yet, or is empty."
)
@DATABASE
@JSON
def export(survey_id: str, to: Path, database: str, as_json: bool) -> None:
    """Write all randomised reports of a survey as Parquet files, for analysis elsewhere."""
    from deniable_server.export.write import export as write

    if ":/" in str(to):
        raise ExportError("--to takes a folder of this machine; copy the export to a store when it is done")
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        known = next(listed.submissions for listed in storage.surveys() if listed.id == survey_id)
        with progress_bar("exporting", known) as advance:
            manifest = write(storage, published, to, advance)
    if as_json:
        print_json(manifest)
        return
    size = sum(file.bytes for file in manifest.files)
    number = f"{len(manifest.files)} file{'s' if len(manifest.files) != 1 else ''}"
    out.print(Text(f"{to}: {manifest.submissions:,} submissions in {number}, {size:,} bytes"))


class Source(ABC):
    """Where the statistics of a survey come from."""

    published: Published

    @property
    @abstractmethod
    def status(self) -> Status:
        """Whether the survey takes submissions, or did when it was exported."""

    @abstractmethod
    def statistics(self) -> Statistics:
        """The sufficient statistics of all submissions."""

    @abstractmethod
    def count(self, crossing: Crossing) -> None:
        """Add what the submissions hold of two variables together."""

    @abstractmethod
    def beside(self, other: str) -> Source:
        """Another survey: by its id, or for an export by its folder."""


class Kept(Source):
    """A survey in a database."""

    def __init__(self, storage: Storage, survey: str) -> None:
        self._storage, self.published = storage, find_survey(storage, survey)

    @property
    def status(self) -> Status:
        return self._storage.status(self.published)

    def statistics(self) -> Statistics:
        return self._storage.statistics(self.published)

    def count(self, crossing: Crossing) -> None:
        with self._storage.submissions(self.published) as submissions:
            crossing.add(submissions)

    def beside(self, other: str) -> Source:
        return Kept(self._storage, other)


class Exported(Source):
    """An export of a survey."""

    def __init__(self, engine: Engine, survey: str | None = None) -> None:
        self._engine, self.published = engine, engine.export.published
        found = self.published.document.survey.id
        if survey not in (None, found):
            raise ExportError(f"{engine.export.folder} is an export of {found}, not of {survey}")

    @property
    def status(self) -> Status:
        return self._engine.export.manifest.status

    def statistics(self) -> Statistics:
        return self._engine.statistics()

    def count(self, crossing: Crossing) -> None:
        self._engine.count(crossing)

    def beside(self, other: str) -> Source:
        return Exported(self._engine.beside(other))


def reads(command: F) -> F:
    """The survey that a command reads, and where from."""
    for option in (
        click.option("--master", help="Of Spark: spark://host:port, yarn, local[4]; else SPARK_MASTER, or local[*]."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            help="What counts an export: this process (local, the default), or Spark.",
        ),
        click.option("--from", "folder", help="The folder of an export, to read instead of the database."),
        DATABASE,
        click.argument("survey_id", required=False),
    ):
        command = option(command)
    return command


@contextmanager
def source(
    survey_id: str | None, database: str, folder: str | None, engine: str | None, master: str | None
) -> Iterator[Source]:
    """What these options name."""
    if folder is None:
        if survey_id is None:
            raise click.UsageError("Missing argument 'SURVEY_ID'.")
        if engine is not None or master is not None:
            raise click.UsageError("--engine and --master are for an export: --from DIR.")
        with existing(database) as storage:
            yield Kept(storage, survey_id)
        return
    given = click.get_current_context().get_parameter_source("database")
    if given is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("Reports are read from a database or from an export: --database or --from.")
    if master is not None and engine != "spark":
        raise click.UsageError("--master is for --engine spark.")
    with waiting(engine), opened(folder, engine or "local", master) as chosen:
        yield Exported(chosen, survey_id)


def waiting(engine: str | None) -> AbstractContextManager[object]:
    """A word to whoever looks on: a cluster that is busy with something else keeps its drivers waiting for ever."""
    return err.status("waiting for Spark") if engine == "spark" and err.is_terminal else nullcontext()
