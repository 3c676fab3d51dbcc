"""``deniable invitations``: codes that entitle people to answer once, and how many of them are used.

Lists of names are read and filled in here. They are never stored, and nothing of them reaches a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import click
from msgspec.structs import asdict
from rich.table import Table as Grid

from deniable_protocol.invitations import digest_of_code, read_code, show_code
from deniable_server.errors import BadInvitations
from deniable_server.storage import Published, Storage
from deniable_server.storage.invitations import MOST_USES, make_invitations
from deniable_server.wording import invitation_in_words

from .common import DATABASE, JSON, Group, existing, find_survey, out, print_json, say
from .invitation_files import Sheet, read_sheet, refuse_taken, write_new
from .link import server_address

CODES = click.option(
    "--codes", "kept", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file with codes or links."
)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(cls=Group)
def invitations() -> None:
    """Make, count and revoke invitations to a survey."""


@invitations.command()
@click.argument("survey_id")
@click.option("--number", type=click.IntRange(min=1), help="How many to make.")
@click.option(
    "--names",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file with a line for each person. It is filled in, and not stored.",
)
@click.option(
    "--uses", default=1, show_default=True, type=click.IntRange(1, MOST_USES), help="People that share a code."
)
@click.option("--short", is_flag=True, help="Codes of 14 characters, which people can type.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="The last day (UTC), such as 2026-12-31.")
@click.option("--url", default="", help="The address of your server, such as https://survey.example.org.")
@click.option("--out", "table", type=NEW_FILE, help="Write a CSV file with codes and links.")
@click.option("--texts", type=NEW_FILE, help="The same, with a text for each invitation, for mail merge.")
@click.option("--qr", "sheet", type=NEW_FILE, help="Write an HTML page with QR codes, to print.")
@DATABASE
@JSON
def create(
    survey_id: str,
    number: int | None,
    names: Path | None,
    uses: int,
    short: bool,
    expires: datetime | None,
    url: str,
    table: Path | None,
    texts: Path | None,
    sheet: Path | None,
    database: str,
    as_json: bool,
) -> None:
    """Make invitations, and print their links. They are shown only once: the database has only their digests."""
    if (number is None) == (names is None):
        raise click.UsageError("Give --number, or --names with a file.")
    if names is not None and table is None and texts is None:
        raise click.UsageError("--names needs a file to fill in: --out or --texts.")
    if (sheet is not None or texts is not None) and not url:
        raise click.UsageError("--qr and --texts need the address of your server: --url.")
    base = server_address(url) if url else ""
    people = read_sheet(names) if names else Sheet([], [[] for _ in range(number or 0)])
    last = expires.date() if expires else None
    refuse_taken(table, texts, sheet)
    with existing(database) as storage:
        survey = find_survey(storage, survey_id)
        codes = make_invitations(storage, survey, len(people.rows), uses=uses, short=short, expires_on=last)
        address = f"{base}/s/{survey_id}#{survey.document.digest}"
        try:
            _write_files(survey, people, codes, address, table, texts, sheet, uses, last)
        except BadInvitations:
            storage.invitations.revoke(survey, map(digest_of_code, codes))  # nobody has them
            raise
    shown = [show_code(code) for code in codes]
    if as_json:
        print_json({"survey": survey_id, "digest": survey.document.digest, "codes": codes, "expires_on": last})
    elif table is None and texts is None and sheet is None:
        for code, typed in zip(codes, shown, strict=True):
            say(typed if short else f"{address}.{code}")
    several = f" Each is for {uses:,} people." if uses > 1 else ""
    where = "" if base or short else " Put your server's address in front."
    say(f"{len(codes):,} invitations to {survey_id}.{several}{where} They are not shown again.", err=True)


def _write_files(
    survey: Published,
    people: Sheet,
    codes: Sequence[str],
    address: str,
    table: Path | None,
    texts: Path | None,
    sheet: Path | None,
    uses: int,
    last: date | None,
) -> None:
    filled = people.with_columns(code=list(map(show_code, codes)), link=[f"{address}.{code}" for code in codes])
    if table is not None:
        write_new(table, filled.as_csv())
    if texts is not None:
        template = invitation_in_words(survey.document.survey, uses, last)
        each = [template.replace("{link}", f"{address}.{code}").replace("{code}", show_code(code)) for code in codes]
        write_new(texts, filled.with_columns(text=each).as_csv())
    if sheet is not None:
        # Only now: pages import the metrics, see ``deniable verify``.
        from deniable_server.pages.invitation_sheet import whole_sheet

        write_new(sheet, whole_sheet(survey.document.survey, address, codes))


@invitations.command(name="list")
@click.argument("survey_id")
@DATABASE
@JSON
def list_(survey_id: str, database: str, as_json: bool) -> None:
    """How many invitations were made, used, revoked and have expired. The codes themselves are not stored."""
    with existing(database) as storage:
        numbers = storage.invitations.numbers(_invited(storage, survey_id))
    if as_json:
        print_json({"survey": survey_id, **asdict(numbers)})
        return
    grid = Grid("Made", "Used", "Unused", "Revoked", "Expired", "Response rate")
    counts = (numbers.made, numbers.used, numbers.unused, numbers.revoked, numbers.expired)
    grid.add_row(*(f"{count:,}" for count in counts), "" if numbers.rate is None else f"{numbers.rate:.0%}")
    out.print(grid)
    if numbers.codes != numbers.made:
        say(f"The numbers count people. They share {numbers.codes:,} codes.")


@invitations.command()
@click.argument("survey_id")
@CODES
@click.option("--out", "target", type=NEW_FILE, help="Write the lines to a file, not to the terminal.")
@DATABASE
@JSON
def unused(survey_id: str, kept: Path | None, target: Path | None, database: str, as_json: bool) -> None:
    """Those lines of a file whose invitations are not used yet, to remind people. The file is not stored."""
    if kept is None:
        raise click.UsageError("Give the file that you got when you made the invitations: --codes FILE.")
    sheet = read_sheet(kept)
    with existing(database) as storage:
        survey = _invited(storage, survey_id)
        codes = sheet.codes()
        usable = {*storage.invitations.unused(survey, filter(None, codes))}
    left = sheet.only([code in usable for code in codes])
    if target is not None:
        write_new(target, left.as_csv())
    if as_json:
        print_json({"survey": survey_id, "codes": [code for code in left.codes() if code]})
    elif target is None:
        for line in left.as_csv().splitlines():
            say(line)
    say(f"{len(left.rows):,} of {sum(code is not None for code in codes):,} invitations are unused.", err=True)


@invitations.command()
@click.argument("survey_id")
@click.argument("codes", nargs=-1)
@CODES
@DATABASE
@JSON
def revoke(survey_id: str, codes: tuple[str, ...], kept: Path | None, database: str, as_json: bool) -> None:
    """Revoke invitations by their CODES, or all in a file. Answers stay: nobody knows whose they are."""
    if bool(codes) == (kept is not None):
        raise click.UsageError("Give codes, or --codes with a file.")
    wanted = [code for code in read_sheet(kept).codes() if code] if kept else list(map(read_code, codes))
    with existing(database) as storage:
        revoked = storage.invitations.revoke(_invited(storage, survey_id), map(digest_of_code, wanted))
    if as_json:
        print_json({"survey": survey_id, "revoked": revoked})
    else:
        say(f"{revoked:,} of {len(wanted):,} invitations could still be used, and are revoked now.")


def _invited(storage: Storage, survey_id: str) -> Published:
    survey = find_survey(storage, survey_id)
    if survey.document.issuer is None:
        raise BadInvitations(f"{survey_id} has no invitations: everybody can answer it.")
    return survey
