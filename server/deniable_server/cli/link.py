"""``deniable survey link``: the link that respondents get, also as a QR code."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.text import Text

from deniable_server.errors import SettingError

from .common import DATABASE, JSON, existing, find_survey, out, print_json, say


@click.command(short_help="The link for respondents, also as a QR code.")
@click.argument("survey_id")
@click.option("--url", required=True, help="The address of your server, such as https://survey.example.org.")
@click.option("--qr", is_flag=True, help="Show the link as a QR code in the terminal, too.")
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="Save the code: .svg or .png.")
@DATABASE
@JSON
def link(survey_id: str, url: str, qr: bool, target: Path | None, database: str, as_json: bool) -> None:
    """Print the link for respondents. It pins the survey: with it, browsers and apps refuse any other one."""
    # Only now: pages import the metrics, see ``deniable verify``.
    from deniable_server.pages.qr_code import code_file, text_code

    base = server_address(url)
    if target is not None and target.suffix not in (".svg", ".png"):
        raise click.BadParameter("takes a file name that ends in .svg or .png.", param_hint="--to")
    with existing(database) as storage:
        digest = find_survey(storage, survey_id).document.digest
    address = f"{base}/s/{survey_id}#{digest}"
    if target is not None:
        try:
            target.write_bytes(code_file(address, target.suffix.removeprefix(".")))
        except OSError as error:
            raise SettingError(f"{target} cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"survey": survey_id, "digest": digest, "link": address, "file": str(target) if target else None})
        return
    say(address)
    if qr:
        # Black on white, whatever the terminal's own colours are.
        out.print(
            Text(text_code(address), style="color(16) on color(231)", no_wrap=True), crop=False, overflow="ignore"
        )


def server_address(url: str) -> str:
    """The address of a server, without a slash at its end. BadParameter for anything else."""
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        is_plain = False
    if not is_plain or "@" in parts.netloc or not url.isprintable() or " " in url:
        raise click.BadParameter(
            "takes the address of a server, such as https://survey.example.org.", param_hint="--url"
        )
    return url.rstrip("/")
