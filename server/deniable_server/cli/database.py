"""Commands for the database: backup, restore, move, doctor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_server.checks.doctor import examine
from deniable_server.errors import SettingError
from deniable_server.settings import Settings, read_key
from deniable_server.storage.location import locate
from deniable_server.storage.transfer import move as move_database

from .common import DATABASE, JSON, existing, out, print_json, progress_bar, say


@click.command(short_help="Back up the database while it is in use.")
@DATABASE
@click.option("--to", "target", required=True, type=click.Path(dir_okay=False), help="The file to make.")
@JSON
def backup(database: str, target: str, as_json: bool) -> None:
    """Copy everything to a new file, verify it, and tag it with the secret key. Servers may go on meanwhile."""
    with existing(database) as storage:
        storage.backup(target, _settings(database).ensure_secret_key(storage.secret_key))
    size = Path(target).stat().st_size
    if as_json:
        print_json({"file": target, "bytes": size})
    else:
        say(f"{target}: {size:,} bytes, sound. The secret key is not in it, and restoring needs it: keep both.")


@click.command(short_help="Restore a backup.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@DATABASE
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file with the secret key that the backup was made with. Default: the key of this database.",
)
@click.option(
    "--unauthenticated", is_flag=True, help="Restore it without the key: nobody knows who made or altered it."
)
@JSON
def restore(source: Path, database: str, key_file: Path | None, unauthenticated: bool, as_json: bool) -> None:
    """Verify a backup and put it in place as the database. Never overwrites one."""
    location = locate(database)
    key = None if unauthenticated else _key_of_backup(database, key_file)
    location.restore(source, key)
    with existing(database) as storage:
        surveys, tokens = storage.surveys(test_runs=True), storage.tokens.all()
    total = sum(listed.submissions for listed in surveys)
    if as_json:
        file = next((str(file) for file in location.files()), None)
        found = {"surveys": len(surveys), "submissions": total, "tokens": len(tokens)}
        print_json({"file": file, "authenticated": key is not None, **found})
        return
    how = "restored, and verified" if key is not None else "restored; it fits together, but nobody knows who made it"
    say(f"{location.name}: {how}. Surveys: {len(surveys)}; submissions: {total:,}; tokens: {len(tokens)}.")
    if key is None:
        say(
            "Somebody could have added access tokens or changed submissions. Look at  deniable token list,  and revoke "
            "every token that you do not know."
        )


def _settings(database: str) -> Settings:
    return Settings.from_environment({**os.environ, "DENIABLE_DATABASE": database})


def _key_of_backup(database: str, key_file: Path | None) -> str:
    """The key that a backup must have been made with; SettingError where there is none."""
    key = read_key(key_file) if key_file else _settings(database).known_secret_key()
    if key is None:
        raise SettingError(
            "The secret key is needed to see that the backup is as it was made. Give the file with it (--key-file), or "
            "set DENIABLE_SECRET_KEY. If the key is lost,  --unauthenticated  restores the backup without this check."
        )
    return key


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
        total = sum(listed.submissions for listed in storage.surveys(test_runs=True))
    with progress_bar("Copying and checking", 2 * total) as progress:
        copied = move_database(locate(source), locate(target), progress)
    if as_json:
        print_json(copied._asdict())
        return
    say(
        f"Copied, and equal by a recount: surveys {copied.surveys}, submissions {copied.submissions:,}, tokens "
        f"{copied.tokens}, sessions {copied.sessions}."
    )
    say("Start the servers with the new DENIABLE_DATABASE. The old database is unchanged: keep it until you have")
    say("a backup of the new one, start no server on it, then delete it.")


@click.command(short_help="Check the installation.")
@DATABASE
@JSON
def doctor(database: str, as_json: bool) -> None:
    """Look for anything that could lose data or reveal something about respondents.

    Checks the database and its schema, durability, locks, clock, disk space, permissions, secret key and logs. What it
    cannot see, it says. The exit code is 1 if there is a problem.
    """
    findings = examine(_settings(database))
    if as_json:
        print_json({"checks": [{"check": f.check, "state": f.state, "message": f.message} for f in findings]})
    else:
        styles = {"ok": "green", "cannot tell": "yellow", "warning": "yellow", "problem": "bold red"}
        grid = Grid("Check", "", "What was found", box=None, show_header=False, padding=(0, 2, 0, 0))
        for finding in findings:
            grid.add_row(finding.check, Text(finding.state, styles[finding.state]), Text(finding.message))
        out.print(grid)
    if any(finding.state == "problem" for finding in findings):
        sys.exit(1)
