"""Commands for operators: serve, tokens, copies, and the doctor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_server.checks.doctor import examine
from deniable_server.errors import StorageError
from deniable_server.settings import DEFAULT_BIND, DEFAULT_MAX_BODY, Settings
from deniable_server.storage import Role, sqlite_path
from deniable_server.storage.tokens import make_token

from .common import DATABASE, JSON, MINIMUM_GROUP, Group, existing, opened, out, print_json, progress_bar

BIND = click.option(
    "--bind", envvar="DENIABLE_BIND", default=DEFAULT_BIND, show_default=True, help="HOST:PORT. Also DENIABLE_BIND."
)


@click.command(short_help="Run the collection server.")
@DATABASE
@BIND
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Server processes.")
@click.option(
    "--threads",
    default=16,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Requests that a process works on at once; those that wait for a commit share it.",
)
@click.option("--base-path", default="", help="Serve under this path, such as /surveys. Also DENIABLE_BASE_PATH.")
@click.option(
    "--trusted-proxies",
    default="0",
    show_default=True,
    help="How many proxies in front may say who asks. Also DENIABLE_TRUSTED_PROXIES.",
)
@click.option(
    "--allowed-origins",
    default="*",
    show_default=True,
    help="Sites whose pages may send submissions, with spaces between. Also DENIABLE_ALLOWED_ORIGINS.",
)
@click.option(
    "--rate-limit",
    default="off",
    show_default=True,
    help="Submission requests per address, such as 60/minute, per process. Also DENIABLE_RATE_LIMIT.",
)
@click.option(
    "--max-body-bytes",
    default=str(DEFAULT_MAX_BODY),
    show_default=True,
    help="The largest request. Also DENIABLE_MAX_BODY_BYTES.",
)
@MINIMUM_GROUP
@click.pass_context
def serve(ctx: click.Context, /, workers: int, threads: int, **flags: str) -> None:
    """Run the collection server until it is stopped (SIGTERM or Ctrl-C)."""
    from deniable_server.serving.run import serve as run

    given = {
        f"DENIABLE_{name.upper()}": value
        for name, value in flags.items()
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    settings = Settings.from_environment({**os.environ, **given})
    run(settings, workers, threads)


@click.group(cls=Group)
def token() -> None:
    """Tokens for analysts and admins."""


@token.command()
@DATABASE
@click.option(
    "--role",
    required=True,
    type=click.Choice(["reader", "analyst", "admin"]),
    help="Readers see the results of one survey; analysts read everything; admins publish and close, too.",
)
@click.option("--survey", "survey_id", help="The survey that a reader may see.")
@click.option("--days", type=click.IntRange(1, 36_500), help="For how many days it holds, today being the first.")
@click.option("--label", default="", help="Whose it is, or what for.")
@JSON
def create(database: str, role: Role, survey_id: str | None, days: int | None, label: str, as_json: bool) -> None:
    """Make a token and print it, once: only its digest is kept."""
    if (role == "reader") != (survey_id is not None):
        raise click.UsageError("--survey goes with --role reader, and a reader needs one.")
    with opened(database) as storage:
        secret, made = make_token(storage, role, label, survey=survey_id, days=days)
    if as_json:
        print_json({"id": made.id, "role": made.role, "expires_on": made.expires_on, "token": secret})
    else:
        click.echo(secret)
        until = "" if made.expires_on is None else f", to the end of {made.expires_on} (UTC)"
        click.echo(f"Token {made.id} ({made.role}{until}). It is not shown again.", err=True)


@token.command(name="list")
@DATABASE
@JSON
def list_(database: str, as_json: bool) -> None:
    """All tokens, without their secrets."""
    with existing(database) as storage:
        tokens = storage.keyring.tokens()
    rows = [
        {
            "id": token.id,
            "role": token.role,
            "survey": token.survey,
            "label": token.label,
            "created_on": token.created_on,
            "expires_on": token.expires_on,
        }
        for token in tokens
    ]
    if as_json:
        print_json({"tokens": rows})
        return
    if not rows:
        click.echo("No tokens; make one with  deniable token create --role analyst")
        return
    grid = Grid("Id", "Role", "Survey", "Label", "Made on", "Holds to the end of")
    for row in rows:
        grid.add_row(*(Text(value or "") for value in row.values()))
    out.print(grid)


@token.command()
@click.argument("token_id")
@DATABASE
@JSON
def revoke(token_id: str, database: str, as_json: bool) -> None:
    """Revoke the token of this id, at once and for every server."""
    with existing(database) as storage:
        if not storage.keyring.revoke(token_id):
            raise StorageError(f"No token has the id {token_id}; see  deniable token list")
    if as_json:
        print_json({"id": token_id, "revoked": True})
    else:
        click.echo(f"Token {token_id} is revoked.")


@token.command()
@click.argument("token_id", required=False)
@click.option("--all", "everybody", is_flag=True, help="The sessions of all tokens.")
@DATABASE
@JSON
def sign_out(token_id: str | None, everybody: bool, database: str, as_json: bool) -> None:
    """End the sessions of a token in all browsers, at once; the token itself still holds."""
    if (token_id is None) != everybody:
        raise click.UsageError("Give the id of a token, or --all.")
    with existing(database) as storage:
        if token_id is not None and all(token.id != token_id for token in storage.keyring.tokens()):
            raise StorageError(f"No token has the id {token_id}; see  deniable token list")
        ended = storage.keyring.end_all(token_id)
    if as_json:
        print_json({"ended": ended})
    else:
        click.echo(f"{ended} session{'' if ended == 1 else 's'} ended.")


@click.command(short_help="Copy the database while it is in use.")
@DATABASE
@click.option("--to", "target", required=True, type=click.Path(dir_okay=False), help="The file to make.")
@JSON
def backup(database: str, target: str, as_json: bool) -> None:
    """Copy everything to a new file while the server goes on, and prove the copy sound."""
    with existing(database) as storage:
        storage.backup(target)
    size = Path(target).stat().st_size
    if as_json:
        print_json({"file": target, "bytes": size})
    else:
        click.echo(f"{target}: {size:,} bytes, sound. The secret key is not in it.")


@click.command(short_help="Put a backup in place.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@DATABASE
@JSON
def restore(source: Path, database: str, as_json: bool) -> None:
    """Put a backup in place as the database, once it is proved sound. Never overwrites one."""
    from deniable_server.storage.sqlite.backup import restore as put_in_place
    from deniable_server.storage.transfer import restore_from_sqlite

    path = sqlite_path(database)
    if path is not None:
        put_in_place(source, path)
    else:
        with opened(database) as storage:
            restore_from_sqlite(source, storage)
    with existing(database) as storage:
        surveys = storage.surveys()
    total = sum(listed.submissions for listed in surveys)
    if as_json:
        print_json({"file": path and str(path), "surveys": len(surveys), "submissions": total})
    else:
        click.echo(f"{path or 'PostgreSQL'}: restored, and verified. Surveys: {len(surveys)}; submissions: {total:,}.")


@click.command(short_help="Move to another database while servers run.")
@click.option("--from", "source", required=True, help="The database that is used now: as for --database.")
@click.option("--to", "target", help="The one to use from now on, which has nothing yet.")
@click.option("--undo", is_flag=True, help="Only let a database be used again that a move has left behind.")
@JSON
def move(source: str, target: str | None, undo: bool, as_json: bool) -> None:
    """Move everything to another database while servers use the first, and compare both by a recount.

    Servers on the first database go on until the last submissions are copied; then they acknowledge nothing more, and
    devices keep what they have to send. Start the servers again with the second database.
    """
    from deniable_server.storage.transfer import move as carry

    if (target is None) != undo:
        raise click.UsageError("Give --to, the new database, or --undo, and not both.")
    if target is None:
        with existing(source) as old:
            undone = old.standing is not None
            old.stand(None)
        if as_json:
            print_json({"undone": undone})
        elif undone:
            click.echo("It is used as before. Do not start servers on what a move has copied: each would take")
            click.echo("submissions that the other lacks.")
        else:
            click.echo("Nothing to undo: no move has left this database.")
        return
    with existing(source) as old, opened(target) as new:
        total = sum(listed.submissions for listed in old.surveys())
        with progress_bar("Copying and checking", 2 * total) as progress:
            moved = carry(old, new, progress)
    if as_json:
        print_json(moved._asdict())
        return
    click.echo(
        f"Moved, and equal by a recount: surveys {moved.surveys}, submissions {moved.submissions:,}, tokens "
        f"{moved.tokens}, sessions {moved.sessions}. Nothing was acknowledged for {moved.fenced_seconds:.1f} s."
    )
    click.echo("The old database takes nothing more. Start the servers with the new DENIABLE_DATABASE.")


@click.command(short_help="Look for what is wrong.")
@DATABASE
@click.option(
    "--proxy-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="A configuration file of nginx or Caddy, to be checked for access logs.",
)
@JSON
def doctor(database: str, proxy_config: tuple[Path, ...], as_json: bool) -> None:
    """Look for what could lose data or tell on respondents: database, durability, clock, permissions, key, logs."""
    settings = Settings.from_environment({**os.environ, "DENIABLE_DATABASE": database})
    findings = examine(settings, proxy_config)
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
