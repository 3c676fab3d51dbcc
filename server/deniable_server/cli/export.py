"""The command that writes an export."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.analysis.source import StoredSurvey
from deniable_server.errors import ExportError
from deniable_server.settings import parse_minimum_group
from deniable_server.storage import Published, Storage

from .ask import query_options, query_texts
from .common import DATABASE, JSON, MINIMUM_GROUP, existing, find_survey, out, print_json, progress_bar


@click.command(short_help="All reports as Parquet files, or estimates for SPSS and Stata.")
@click.argument("survey_id")
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A new or empty folder.")
@click.option(
    "--estimates",
    "wants_estimates",
    is_flag=True,
    help="Write estimates instead: CSV, JSON, SPSS, Stata and a codebook. Takes the options of  deniable estimate.",
)
@query_options(EstimateQuery)
@DATABASE
@MINIMUM_GROUP
@JSON
def export(
    survey_id: str, to: Path, wants_estimates: bool, database: str, minimum_group: str, as_json: bool, **given: Any
) -> None:
    """Write all randomised reports of a survey as Parquet files, for analysis elsewhere; or its estimates as tables."""
    if ":/" in str(to):
        raise ExportError("--to takes a folder on this machine. Copy the export elsewhere when it is done")
    asked = query_texts(given)
    if asked and not wants_estimates:
        raise click.UsageError(f"--{next(iter(asked))} is for estimates: add --estimates.")
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        if wants_estimates:
            _estimates(storage, published, to, asked, parse_minimum_group(minimum_group), as_json)
        else:
            _reports(storage, published, to, as_json)


def _reports(storage: Storage, published: Published, to: Path, as_json: bool) -> None:
    from deniable_server.export.write import export as write

    name = published.document.survey.id
    known = next(listed.submissions for listed in storage.surveys(test_runs=True) if listed.id == name)
    with progress_bar("exporting", known) as advance:
        manifest = write(storage, published, to, advance)
    if as_json:
        print_json(manifest)
        return
    size = sum(file.bytes for file in manifest.files)
    number = f"{len(manifest.files)} file{'s' if len(manifest.files) != 1 else ''}"
    out.print(Text(f"{to}: {manifest.submissions:,} submissions in {number}, {size:,} bytes"))


def _estimates(
    storage: Storage, published: Published, to: Path, asked: dict[str, list[str]], minimum: int, as_json: bool
) -> None:
    from deniable_server.export.estimates import write_estimates

    survey = published.document.survey
    source = StoredSurvey(storage, published, minimum, partial(find_survey, storage))
    result = estimates(source, EstimateQuery.read(survey, asked))
    files = write_estimates(to, survey, result)
    if as_json:
        print_json({"survey": survey.id, "submissions": result.submissions, "date": result.date, "files": files})
    else:
        out.print(Text(f"{to}: estimates from {result.submissions:,} submissions in {', '.join(files)}"))
