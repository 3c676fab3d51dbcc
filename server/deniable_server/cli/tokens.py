"""``deniable token``: access tokens for staff."""

from __future__ import annotations

from typing import Any, cast

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_server.errors import BadAccess, StorageError
from deniable_server.storage import Role
from deniable_server.storage.tokens import check_access, make_token
from deniable_server.wording import with_roles

from .common import DATABASE, JSON, Group, existing, opened, out, print_json, say


@click.group(cls=Group)
def token() -> None:
    """Make, list and revoke access tokens."""


@token.command()
@DATABASE
@click.option(
    "--role",
    required=True,
    type=click.Choice(["reader", "collector", "analyst", "editor", "admin"]),
    help="Readers see results; analysts also the randomised reports; editors also publish and close surveys; admins "
    "also give people access. Collectors only send, to one survey, also many submissions at once.",
)
@click.option(
    "--survey",
    "surveys",
    multiple=True,
    help="A survey that it is for; several times for several. Without it, for all. Readers and collectors need it. "
    "ID=ROLE for another role on this one, up to --role.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Number of days it is valid, today being the first.")
@click.option("--label", default="", help="Who it is for, or what for. A collector's is the source of what it sends.")
@JSON
def create(database: str, role: Role, surveys: tuple[str, ...], days: int | None, label: str, as_json: bool) -> None:
    """Make an access token and print it. It is shown only once: the database has only its digest."""
    chosen = {survey: cast(Role, on or role) for survey, _, on in (each.partition("=") for each in surveys)} or None
    try:
        check_access(role, chosen)
    except BadAccess as error:
        raise click.UsageError(f"{error} See --survey.") from None
    label = " ".join(label.split())
    if role == "collector" and not label:
        raise click.UsageError("A collector needs a --label: the name of the source that its submissions come from.")
    with opened(database) as storage:
        secret, made = make_token(storage, role, label, surveys=chosen, days=days)
    if as_json:
        print_json({"id": made.id, "role": made.role, "expires_on": made.expires_on, "token": secret})
    else:
        say(secret)
        until = "" if made.expires_on is None else f", to the end of {made.expires_on} (UTC)"
        say(f"Token {made.id} ({made.role}{until}). It is not shown again.", err=True)


@token.command(name="list")
@DATABASE
@JSON
def list_(database: str, as_json: bool) -> None:
    """List all tokens, without their secrets."""
    with existing(database) as storage:
        tokens = storage.tokens.all()
    columns = ("id", "role", "surveys", "label", "created_on", "expires_on")
    rows: list[dict[str, Any]] = [{column: getattr(token, column) for column in columns} for token in tokens]
    if as_json:
        print_json({"tokens": rows})
        return
    if not rows:
        say("No tokens; make one with  deniable token create --role analyst")
        return
    grid = Grid("Id", "Role", "Surveys", "Label", "Made on", "Valid to the end of")
    for row in rows:
        surveys = "all" if row["surveys"] is None else with_roles(row["surveys"], row["role"]) or "none"
        grid.add_row(*(Text(value or "") for value in (row | {"surveys": surveys}).values()))
    out.print(grid)


@token.command()
@click.argument("token_id")
@DATABASE
@JSON
def revoke(token_id: str, database: str, as_json: bool) -> None:
    """Revoke a token by its id, at once and on every server."""
    with existing(database) as storage:
        if not storage.tokens.revoke(token_id):
            raise _unknown(token_id)
    if as_json:
        print_json({"id": token_id, "revoked": True})
    else:
        say(f"Token {token_id} is revoked.")


@token.command()
@click.argument("token_id", required=False)
@click.option("--all", "everybody", is_flag=True, help="End the sessions of all tokens.")
@DATABASE
@JSON
def sign_out(token_id: str | None, everybody: bool, database: str, as_json: bool) -> None:
    """End the sessions of a token in all browsers, at once; the token itself stays valid."""
    if (token_id is None) != everybody:
        raise click.UsageError("Give the id of a token, or --all.")
    with existing(database) as storage:
        if token_id is not None and all(token.id != token_id for token in storage.tokens.all()):
            raise _unknown(token_id)
        ended = storage.tokens.end_all(token_id)
    if as_json:
        print_json({"ended": ended})
    else:
        say(f"{ended} session{'' if ended == 1 else 's'} ended.")


def _unknown(token_id: str) -> StorageError:
    return StorageError(f"No token has the id {token_id}; see  deniable token list")
