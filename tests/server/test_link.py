"""The pinned link, and its QR code: another decoder reads from it what people would type."""

from __future__ import annotations

import json
import re
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient

from deniable.address import parse_address
from deniable_protocol import verify
from deniable_server.cli import cli
from tests.helpers.qr_codes import decode_blocks, decode_path, decode_png
from tests.helpers.sign_in import BROWSER, enter

EXAMPLE = str(files("deniable_server") / "example.toml")
URL = "https://survey.example.org/base"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["survey", *arguments], catch_exceptions=False)


@pytest.fixture
def link(place: Path, example: bytes) -> str:
    """The link of the example survey, which is published here."""
    assert run("publish", EXAMPLE).exit_code == 0
    return f"{URL}/s/campus-health#{verify(example).digest}"


def test_the_link_pins_the_survey(link: str, example: bytes) -> None:
    """It is one line that clients read as the address of the survey and its digest; with --json the same."""
    printed = run("link", "campus-health", "--url", f"{URL}/").stdout
    assert printed == f"{link}\n" and parse_address(link).digest == verify(example).digest
    found = json.loads(run("link", "campus-health", "--url", URL, "--json").stdout)
    assert found == {"survey": "campus-health", "digest": verify(example).digest, "link": link, "file": None}


def test_the_code_in_a_terminal(link: str) -> None:
    """In half blocks, with its quiet zone, below the link."""
    first, *blocks = run("link", "campus-health", "--url", URL, "--qr").stdout.splitlines()
    assert first == link and decode_blocks("\n".join(blocks)) == link
    assert not "".join([*blocks[:2], *(line[:4] + line[-4:] for line in blocks)]).strip()


def test_the_code_as_a_file(link: str, place: Path) -> None:
    """A PNG can be read again. An SVG is black on white."""
    for name in ("code.png", "code.svg"):
        assert run("link", "campus-health", "--url", URL, "--to", name).exit_code == 0
    assert decode_png((place / "code.png").read_bytes()) == link
    svg = (place / "code.svg").read_text()
    assert 'stroke="#000"' in svg and 'fill="#fff"' in svg and "<script" not in svg


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "survey.example.org"], "such as https://"),
        (["--url", "https://user:word@survey.example.org"], "such as https://"),
        (["--url", "https://survey.example.org/?x=1"], "such as https://"),
        (["--url", "https://[survey"], "such as https://"),
        (["--url", URL, "--to", "code.gif"], ".svg or .png"),
        (["--url", URL, "--to", "missing/code.svg"], "cannot be written"),
    ],
)
def test_what_gives_no_link(link: str, arguments: list[str], message: str) -> None:
    """Addresses that are not a server's, and files that cannot be made, are refused with a message."""
    result = run("link", "campus-health", *arguments)
    assert result.exit_code != 0 and message in " ".join(result.output.split()) and link not in result.output


def test_the_code_on_the_share_page(http: FlaskClient, app: Flask, example: bytes) -> None:
    """The Share page has the link as a code, black on white in any colour scheme, with a text that is read out."""
    enter(http, app, "analyst")
    page = unescape(http.get("/surveys/campus-health/share", headers=BROWSER).text)
    found = re.search(r'<svg viewBox="0 0 (\d+) \1"(.*?)>\s*<rect (.*?)></rect>\s*<path d="(.*?)" fill="#000">', page)
    assert found is not None and 'role="img" aria-label="QR code' in found[2] and 'fill="#fff"' in found[3]
    assert decode_path(found[4], int(found[1])) == f"http://localhost/s/campus-health#{verify(example).digest}"


def test_the_code_is_downloaded_as_a_file(http: FlaskClient, app: Flask, example: bytes) -> None:
    """From the Share page, for printers and designers: the same link as PNG and as SVG, and no other kind."""
    enter(http, app, "analyst")
    files = {kind: http.get(f"/surveys/campus-health/share/code.{kind}") for kind in ("png", "svg")}
    assert decode_png(files["png"].data) == f"http://localhost/s/campus-health#{verify(example).digest}"
    assert files["png"].content_type == "image/png" and files["svg"].content_type == "image/svg+xml; charset=utf-8"
    assert b'stroke="#000"' in files["svg"].data and b"<script" not in files["svg"].data
    for kind, file in files.items():
        assert file.headers["Content-Disposition"] == f'attachment; filename="campus-health.{kind}"'
        assert f'href="/surveys/campus-health/share/code.{kind}"' in http.get("/surveys/campus-health/share").text
    assert http.get("/surveys/campus-health/share/code.gif").status_code == 404
