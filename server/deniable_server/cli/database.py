"""Commands for the database: backup, restore, move, doctor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_server.checks.doctor import examine
from deniable_server.settings import Settings
from deniable_server.storage.location import locate
from deniable_server.storage.transfer import move as move_database

from .common import DATABASE, JSON, existing, out, print_json, progress_bar


@click.command(short_help="Back up the database while it is in use.")
@DATABASE
@click.option("--to", "target", required=True, type=click.Path(dir_okay=False), help="The file to make.")
@JSON
def backup(database: str, target: str, as_json: bool) -> None:
    """Copy everything to a new file and verify it. Servers may go on meanwhile."""
    with existing(database) as storage:
        storage.backup(target)
    size = Path(target).stat().st_size
    if as_json:
        print_json({"file": target, "bytes": size})
    else:
        click.echo(f"{target}: {size:,} bytes, sound. The secret key is not in it.")


@click.command(short_help="Restore a backup.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@DATABASE
@JSON
def restore(source: Path, database: str, as_json: bool) -> None:
    """Verify a backup and put it in place as the database. Never overwrites one."""
    location = locate(database)
    location.restore(source)
    with existing(database) as storage:
        surveys = storage.surveys()
    total = sum(listed.submissions for listed in surveys)
    if as_json:
        file = next((str(file) for file in location.files()), None)
        print_json({"file": file, "surveys": len(surveys), "submissions": total})
    else:
        click.echo(f"{location.name}: restored, and verified. Surveys: {len(surveys)}; submissions: {total:,}.")


@click.command(short_help="Copy everything to another database, of either kind.")
@click.option("--from", "source", required=True, help="The database to copy: as for --database.")
@click.option("--to", "target", required=True, help="The new database: one that does not exist yet, or is empty.")
@JSON
def move(source: str, target: str, as_json: bool) -> None:
    """Copy everything to another database, and compare both by a recount.

    Stop the servers first: while one uses either database, this refuses. The old database is left as it is. If
    anything fails, the new one has nothing in it. Devices keep what they could not send, and send it later.
    """
    with existing(source) as storage:
        total = sum(listed.submissions for listed in storage.surveys())
    with progress_bar("Copying and checking", 2 * total) as progress:
        copied = move_database(locate(source), locate(target), progress)
    if as_json:
        print_json(copied._asdict())
        return
    click.echo(
        f"Copied, and equal by a recount: surveys {copied.surveys}, submissions {copied.submissions:,}, tokens "
        f"{copied.tokens}, sessions {copied.sessions}."
    )
    click.echo(
        "Start the servers with the new DENIABLE_DATABASE. The old database is unchanged: keep it until you have"
    )
    click.echo("a backup of the new one, start no server on it, then delete it.")


@click.command(short_help="Check the installation.")
@DATABASE
@JSON
def doctor(database: str, as_json: bool) -> None:
    """Look for anything that could lose data or reveal something about respondents.

    Checks the database, durability, clock, disk space, permissions, secret key and logs.
    """
    findings = examine(Settings.from_environment({**os.environ, "DENIABLE_DATABASE": database}))
    if as_json:
        print_json({"checks": [{"check": f.check, "state": f.state, "message": f.message} for f in findings]})
    else:
        styles = {"ok": "green", "warning": "yellow", "problem": "bold red"}
        grid = Grid("Check", "", "What was found", box=None, show_header=False, padding=(0, 2, 0, 0))
        for finding in findings:
            grid.add_row(finding.check, Text(finding.state, styles[finding.state]), Text(finding.message))
        out.print(grid)
    if any(finding.state == "problem" for finding in findings):
        sys.exit(1)
