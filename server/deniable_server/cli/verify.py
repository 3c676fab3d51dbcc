"""``deniable verify``: is a server what it should be, said in words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable.address import Address, parse_address
from deniable.errors import AddressError
from deniable.http_transport import HTTPTransport
from deniable_server.errors import CannotCompare
from deniable_server.wording import in_symbols

from .common import JSON, err, out, print_json

if TYPE_CHECKING:
    from deniable_server.checks.served import Comparison, Part

UNREACHABLE = 2
TITLES: dict[Part, str] = {
    "survey": "Survey",
    "page": "Page",
    "program": "Program",
    "files": "Styles and scripts of pages",
    "headers": "Headers",
    "logo": "Logo",
}
STYLES = {"same": "green", "different": "bold red", "not compared": "yellow"}


@click.command(short_help="Compare a server with this version, byte for byte.")
@click.argument("link")
@click.option("--allow-http", is_flag=True, help="Allow http:// to another machine, where anyone on the way can lie.")
@click.option(
    "--timeout", default=20.0, show_default=True, type=click.FloatRange(1, 600), help="Seconds for each request."
)
@JSON
def verify(link: str, allow_http: bool, timeout: float, as_json: bool) -> None:
    """Compare what a server sends to respondents with what this version of Deniable sends, byte for byte.

    LINK is the link to a survey, https://host/s/ID or https://host/s/ID#DIGEST. The survey, its page, every file that
    pages load and the headers that matter are compared. The exit code is 0 if all are the same, 1 if something differs,
    and 2 if the server cannot be reached.
    """
    # Only now: it imports the app, and with it the metrics, which would settle for one process before "serve" has said
    # how many there are.
    from deniable_server.checks.served import compare_server

    address = _address(link, allow_http)
    try:
        found = compare_server(address, HTTPTransport(), timeout)
    except CannotCompare as error:
        err.print(Text(str(error), style="red"))
        sys.exit(UNREACHABLE)
    if as_json:
        print_json(_tree(address, found))
    else:
        _print(found)
    if not found.passed:
        sys.exit(1)


def _address(link: str, allow_http: bool) -> Address:
    try:
        address = parse_address(link)
    except AddressError as error:
        raise click.BadParameter(str(error), param_hint="LINK") from None
    if not (address.is_protected or allow_http):
        text = "over http://, anyone on the way can change what arrives. Use https://, or  --allow-http"
        raise click.BadParameter(text, param_hint="LINK")
    return address


def _tree(address: Address, found: Comparison) -> dict[str, object]:
    return {
        "survey": address.survey,
        "version": found.version,
        "matched": found.passed,
        "digest": found.document.digest if found.document else None,
        "pinned": found.digest_pinned,
        "checks": [finding._asdict() for finding in found.findings],
        "in_words": [*_in_words(found)],
        "not_shown": [*_not_shown(found)],
    }


def _print(found: Comparison) -> None:
    """What is the same in one line for each part, what differs in one line each, and then what it means."""
    grid = Grid("", "", "", box=None, show_header=False, padding=(0, 2, 0, 0))
    for part, title in TITLES.items():
        findings = found.of(part)
        differ = [finding for finding in findings if finding.state != "same"]
        for finding in differ:
            grid.add_row(title, Text(finding.state, STYLES[finding.state]), Text(f"{finding.name}: {finding.message}"))
        if findings and not differ:
            counted = f"{len(findings)} compared" if len(findings) > 2 else " ".join(each.message for each in findings)
            grid.add_row(title, Text("same", STYLES["same"]), Text(counted))
    out.print(grid)
    out.print()
    for sentence in _in_words(found):
        out.print(Text(sentence))
    out.print()
    out.print(Text("What this cannot show", style="bold"))
    for sentence in _not_shown(found):
        out.print(Text(sentence))


def _in_words(found: Comparison) -> Iterator[str]:
    """What was found, part by part, and what it means for somebody who answers."""
    version = f"Deniable {found.version}"
    same = {part: all(each.state == "same" for each in found.of(part)) for part in TITLES}
    if found.document is None:
        yield "The survey is not one that this version of Deniable would ask. Its clients refuse it."
    else:
        limit = in_symbols(found.document.account)
        yield f"The survey keeps its limit: one person sends at most {limit}. Its digest is {found.document.digest}."
        if found.digest_pinned:
            yield (
                "It is the survey that the link pins."
                if same["survey"]
                else ("It is not the survey that the link pins. Browsers that open this link refuse to ask anything.")
            )
    if same["page"]:
        yield f"The page is the one that {version} serves for this survey."
    elif found.document is not None:
        yield f"The page is not the one that {version} serves for this survey. It could do anything with answers."
    yield (
        "The program that randomises answers is unchanged."
        if same["program"]
        else f"The program that randomises answers is not the one of {version}. It could send true answers."
    )
    yield (
        "The styles and scripts of its pages are unchanged."
        if same["files"]
        else f"Styles or scripts of its pages are not those of {version}. A script could read answers."
    )
    if not same["headers"]:
        yield "The server does not send the headers of Deniable. They limit what a page can load and send."
    elif found.of("headers"):
        yield "The headers are right: browsers run only scripts of this server, and send answers nowhere else."
    if found.logo is not None:
        size = f"{found.logo.content_type}, {len(found.logo.content):,} bytes"
        yield f"The server shows a logo of its own ({size}). It is a picture, and runs nothing."
    elif not same["logo"]:
        yield "What the server sends as its logo is not a picture that Deniable would serve."
    if not found.passed:
        yield (
            "Do not answer here before the people who run the server have explained what differs. If they run another "
            "version of Deniable, compare with that version. A proxy that rewrites pages differs, too."
        )


def _not_shown(found: Comparison) -> Iterator[str]:
    yield (
        "The server sent this here, just now. It can send other files to another visitor, or later. Ask from another "
        "network and at another time, too."
    )
    if not found.digest_pinned:
        yield (
            "The link has no digest, so this may be another survey than the one you were meant to get. Compare the "
            "digest with one that you got in another way. With a link that ends in # and the digest, browsers refuse "
            "any other survey."
        )
