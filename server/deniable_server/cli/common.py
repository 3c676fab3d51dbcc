"""What the commands share: consoles, errors, options, progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click
import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.text import Text

from deniable_protocol import DeniableError, Problem, Survey, SurveyError, parse_survey
from deniable_protocol.checks import strict_json
from deniable_server.errors import StorageError
from deniable_server.planning import check_size
from deniable_server.settings import SETTINGS
from deniable_server.storage import Published, Storage, open_storage
from deniable_server.storage.location import locate
from deniable_server.storage.plain_text import escaped, visible


class PlainConsole(Console):
    """A console that shows texts and never obeys them: neither control characters nor markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # A segment with control codes is rich's own, such as of a progress bar.
            yield segment if segment.control else segment._replace(text=visible(segment.text, lines=True))


out, err = PlainConsole(), PlainConsole(stderr=True)

FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def setting_option(name: str) -> Callable[[Any], Any]:
    """The option of a command that gives this setting."""
    row = SETTINGS[name]
    assert row.flag is not None
    default = row.write(row.default)
    text = f"{row.help} Also {row.variable}."
    return click.option(row.flag, envvar=row.variable, default=default, show_default=bool(default), help=text)


DATABASE = setting_option("database")
BIND = setting_option("bind")
MINIMUM_GROUP = setting_option("minimum_group")


class Group(click.Group):
    """A group whose expected errors end in one clear message and exit status 1, not in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            for line in str(error).splitlines():
                err.print(Text(line, style="red"))
            ctx.exit(1)
        except click.ClickException as error:
            error.message = visible(error.message, lines=True)  # type: ignore[misc]  # ours to correct
            raise


def say(line: str, *, err: bool = False) -> None:
    """Print one line, whatever names and texts are in it."""
    click.echo(visible(line), err=err)


def print_json(value: object) -> None:
    """One line of JSON on standard output, and nothing else."""
    click.echo(escaped(msgspec.json.encode(value).decode()))


def warn(notes: Iterable[str]) -> None:
    """What a reader must know about the numbers."""
    for note in notes:
        out.print(Text(f"⚠ {note}", style="yellow"))


class Chosen(Protocol):
    """A result of some submissions only."""

    @property
    def where(self) -> dict[str, str]: ...

    @property
    def without(self) -> tuple[str, ...]: ...


def chosen(result: Chosen) -> str:
    """Which submissions a result is about, to add to a title."""
    without = f", without {', '.join(result.without)}" if result.without else ""
    return "".join(f", {segment} {code}" for segment, code in result.where.items()) + without


def read_survey(file: Path) -> Survey:
    """The survey in a file; errors name the file."""
    raw = file.read_bytes()
    if is_published(file, raw):
        raise SurveyError([Problem(str(file), "type", "this is a published document, not a survey file")])
    try:
        survey = parse_survey(raw, syntax="json" if file.suffix == ".json" else "toml")
        check_size(survey)
        return survey
    except SurveyError as error:
        raise SurveyError([Problem(str(file), "file", "cannot be used as it is"), *error.problems]) from None


def is_published(file: Path, raw: bytes) -> bool:
    """Whether this is a published document, which is JSON with a key "deniable"."""
    if file.suffix != ".json":
        return False
    try:
        tree = strict_json(raw.decode())
    except ValueError:
        return False
    return isinstance(tree, dict) and "deniable" in tree


@contextmanager
def existing(database: str) -> Iterator[Storage]:
    """The storage, for commands that need one that exists."""
    location = locate(database)
    if not location.exists():
        raise StorageError(
            f"There is no database at {location.name}. Start with  deniable survey publish FILE,  or give the right "
            "--database"
        )
    with opened(database, create=False) as storage:
        yield storage


@contextmanager
def opened(database: str, *, create: bool = True) -> Iterator[Storage]:
    """The storage, made if there is none, and closed at the end."""
    storage = open_storage(database, create=create)
    try:
        yield storage
    finally:
        storage.close()


def find_survey(storage: Storage, survey: str) -> Published:
    """The survey with this id, or an error that lists the ids there are."""
    published = storage.find(survey)
    if published is None:
        known = ", ".join(listed.id for listed in storage.surveys()) or "none"
        raise StorageError(f"No survey has the id {survey}. Published here: {known}")
    return published


@contextmanager
def progress_bar(text: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, gone when it is full."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(text, total=total)
        yield lambda done: progress.advance(task, done)
