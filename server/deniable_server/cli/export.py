"""The command that writes an export."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from deniable_server.errors import ExportError

from .common import DATABASE, JSON, existing, find_survey, out, print_json, progress_bar


@click.command(short_help="All reports as Parquet files.")
@click.argument("survey_id")
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A new or empty folder.")
@DATABASE
@JSON
def export(survey_id: str, to: Path, database: str, as_json: bool) -> None:
    """Write all randomised reports of a survey as Parquet files, for analysis elsewhere."""
    from deniable_server.export.write import export as write

    if ":/" in str(to):
        raise ExportError("--to takes a folder on this machine. Copy the export elsewhere when it is done")
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
