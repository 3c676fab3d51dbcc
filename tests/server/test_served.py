"""``deniable verify``: a server that serves what this version serves passes, and each planted difference is named."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from click.testing import CliRunner, Result
from flask import Flask, request
from werkzeug.wrappers import Response

from deniable_protocol import survey_from_tree, verify
from deniable_server import create_app
from deniable_server.cli import cli
from deniable_server.planning import publish_survey
from deniable_server.settings import Settings
from deniable_web import web_files
from tests.helpers.servers import free_port, storage_of

PAGE = "/s/campus-health"
DOCUMENT = "/api/v1/surveys/campus-health"
CSP = "Content-Security-Policy"
PNG = b"\x89PNG\r\n\x1a\nrest"

Change = Callable[[Response], None]


class Silent(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(app: Flask, changes: dict[str, Change] | None = None) -> Iterator[str]:
    """The address of this app, whose responses at some paths are changed."""

    def tampered(environ: Any, start_response: Any) -> Any:
        response = Response.from_app(app, environ, buffered=True)
        if change := (changes or {}).get(environ["PATH_INFO"]):
            change(response)
        return response(environ, start_response)

    with make_server("127.0.0.1", 0, tampered, handler_class=Silent) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["verify", *arguments], catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def different(result: Result) -> dict[str, str]:
    """What was not the same, by name."""
    found = json.loads(result.stdout)
    assert found["matched"] == (result.exit_code == 0)
    return {each["name"]: each["message"] for each in found["checks"] if each["state"] != "same"}


def body(change: Callable[[bytes], bytes]) -> Change:
    """A change of the content, whether it is compressed or not."""

    def changed(response: Response) -> None:
        packed = response.headers.get("Content-Encoding") == "gzip"
        content = change(gzip.decompress(response.data) if packed else response.data)
        response.data = gzip.compress(content) if packed else content

    return changed


def header(name: str, value: str | None) -> Change:
    def changed(response: Response) -> None:
        response.headers.remove(name)
        if value is not None:
            response.headers[name] = value

    return changed


def become(status: int, **headers: str) -> Change:
    def changed(response: Response) -> None:
        response.status_code, response.data = status, b""
        response.headers.update(headers)

    return changed


# --- the same --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base_path", ["", "/under/a-path"])
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("logo", [False, True])
def test_settings_that_change_the_page_are_no_difference(
    tmp_path: Path, example: bytes, base_path: str, closed: bool, logo: bool
) -> None:
    """A server under a base path, with a logo, or with a closed survey serves what this version serves."""
    picture = tmp_path / "logo"
    picture.write_bytes(PNG)
    app = create_app(Settings(database=str(tmp_path / "a.db"), base_path=base_path, logo=str(picture) if logo else ""))
    storage = storage_of(app)
    storage.publish(example)
    if closed and (found := storage.find("campus-health")):
        storage.close_survey(found)
    with served(app) as address:
        result = run(f"{address}{base_path}{PAGE}#{verify(example).digest}")
    storage.close()
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "The page is the one that Deniable 0.1.0 serves for this survey." in text
    assert "The program that randomises answers is unchanged." in text
    assert "It is the survey that the link pins." in text
    assert "It can send other files to another visitor" in text
    assert ("a logo of its own (image/png, 12 bytes)" in text) == logo


def test_every_file_and_the_page_are_fetched(app: Flask, root: Path) -> None:
    """The page, its document and every file that the server has for pages are among what is compared."""
    asked: set[str] = set()
    app.before_request(lambda: asked.add(request.path))
    with served(app) as address:
        result = run(f"{address}{PAGE}", "--json")
    files = {f"/static/{path.name}" for path in (root / "server/deniable_server/pages/static").iterdir()}
    files |= {f"/{name}" for name, _ in web_files()}
    assert {PAGE, DOCUMENT, "/logo", *files} <= asked
    assert files | {PAGE} <= {each["name"] for each in json.loads(result.stdout)["checks"]}
    assert different(result) == {}


def test_a_link_without_a_digest_shows_the_digest(app: Flask, example: bytes) -> None:
    """The digest is printed, with a word on why it must come in another way."""
    with served(app) as address:
        result = run(f"{address}{PAGE}")
    assert result.exit_code == 0
    assert verify(example).digest in result.stdout and "The link has no digest" in result.stdout


# --- different -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "change", "name", "message"),
    [
        ("/deniable.js", body(lambda code: code[:99] + b"!" + code[100:]), "/deniable.js", "from byte 100 on"),
        ("/deniable.js", body(lambda code: code + b"\n"), "/deniable.js", "bytes instead of"),
        ("/deniable/tables.js", body(lambda code: b" " + code), "/deniable/tables.js", "from byte 1 on"),
        ("/deniable/tables.js", become(404), "/deniable/tables.js", "missing"),
        ("/deniable/tables.js", become(302, Location="/elsewhere"), "/deniable/tables.js", "answered 302"),
        ("/deniable.js", body(lambda _: b"0" * 3_000_000), "/deniable.js", "more than 1,000,000 bytes"),
        ("/static/palette.css", body(lambda css: css + b"*{}"), "/static/palette.css", "bytes instead of"),
        (PAGE, body(lambda html: html.replace(b"</main>", b"</main> ")), PAGE, "The first line that differs"),
        (
            PAGE,
            body(lambda html: html.replace(b"</head>", b'<script src="/e.js"></script></head>')),
            PAGE,
            'does not have there: <script src="/e.js">',
        ),
        (PAGE, header(CSP, None), f"{CSP} of {PAGE}", "is missing"),
        (PAGE, header(CSP, "default-src *"), f"{CSP} of {PAGE}", 'is "default-src *"'),
        (PAGE, header("Set-Cookie", "visitor=7"), f"Set-Cookie of {PAGE}", "recognise a visitor"),
        (PAGE, header("Link", "</e.css>; rel=stylesheet"), f"Link of {PAGE}", "load other files"),
        ("/deniable.js", header("Content-Type", "text/html"), "Content-Type of /deniable.js", 'is "text/html"'),
    ],
)
def test_a_planted_difference_is_named(app: Flask, path: str, change: Change, name: str, message: str) -> None:
    """One byte, one more script, a missing file, a redirect, a header: each is found, and nothing else is blamed."""
    with served(app, {path: change}) as address:
        result = run(f"{address}{PAGE}", "--json")
        shown = run(f"{address}{PAGE}")
    assert (result.exit_code, shown.exit_code) == (1, 1)
    found = different(result)
    assert found.keys() == {name} and message in found[name]
    assert name in " ".join(shown.stdout.split()) and "Do not answer here" in shown.stdout


def test_a_compressed_flood_is_cut_off(app: Flask) -> None:
    """A small response that unpacks to gigabytes is read up to the limit, and differs."""

    def flood(response: Response) -> None:
        response.data, response.headers["Content-Encoding"] = gzip.compress(b"0" * 50_000_000), "gzip"

    with served(app, {"/deniable.js": flood}) as address:
        assert "more than 1,000,000 bytes" in different(run(f"{address}{PAGE}", "--json"))["/deniable.js"]


def test_another_survey_than_the_pinned_one(app: Flask, example: bytes) -> None:
    """Another survey under the same id is noticed by its digest; the page is that survey's own."""
    with served(app) as address:
        result = run(f"{address}{PAGE}#{'0' * 64}", "--json")
    assert different(result) == {"digest": f"The link pins another: this one has {verify(example).digest}."}
    assert result.exit_code == 1 and "not the survey that the link pins" in result.stdout


def test_another_document_for_programs_than_for_the_page(app: Flask, example: bytes) -> None:
    """A page that shows one survey, over a document of another, is not the page of that document."""
    tree = {"id": "campus-health", "title": "Other", "epsilon": 2}
    asked = {"id": "vaped", "type": "yes_no", "text": "Vaped?"}
    other = publish_survey(survey_from_tree({**tree, "questions": [asked]}))
    with served(app, {DOCUMENT: body(lambda _: other)}) as address:
        result = run(f"{address}{PAGE}#{verify(example).digest}", "--json")
    assert different(result).keys() == {"digest", PAGE}


@pytest.mark.parametrize(
    "change",
    [lambda raw: raw.replace(b'"favour":', b'"favour":1'), lambda raw: raw.replace(b"campus-health", b"other-id")],
)
def test_a_document_that_no_client_accepts(app: Flask, change: Callable[[bytes], bytes]) -> None:
    """It is named, and the page is not compared. The files are."""
    with served(app, {DOCUMENT: body(change), "/deniable.js": body(lambda code: code + b"\n")}) as address:
        result = run(f"{address}{PAGE}", "--json")
    assert different(result).keys() == {"document", PAGE, "/deniable.js"}
    checks = {each["name"]: each["state"] for each in json.loads(result.stdout)["checks"]}
    assert (checks["document"], checks[PAGE]) == ("different", "not compared")


def test_a_logo_that_is_a_page(app: Flask) -> None:
    """What is served as the logo has to be a picture."""

    def page(response: Response) -> None:
        response.status_code, response.data, response.content_type = 200, b"<script>", "text/html"

    with served(app, {"/logo": page}) as address:
        found = different(run(f"{address}{PAGE}", "--json"))
    assert found.keys() == {"/logo"} and "PNG, JPEG or WebP" in found["/logo"]


# --- nothing to compare ----------------------------------------------------------------------------------------------


def test_what_cannot_be_reached(app: Flask) -> None:
    """No server, no such survey and a redirect end in status 2 and a message, also with --json."""
    nowhere = run(f"http://127.0.0.1:{free_port()}{PAGE}", "--json")
    assert (nowhere.exit_code, nowhere.stdout) == (2, "") and "cannot be reached" in nowhere.stderr
    with served(app) as address:
        missing = run(f"{address}/s/nothing")
    assert missing.exit_code == 2 and "no survey with the id nothing" in missing.stderr
    changes = {DOCUMENT: become(301, Location="https://elsewhere.example/s/x")}
    with served(app, changes) as address:
        moved = run(f"{address}{PAGE}")
    assert moved.exit_code == 2 and "https://elsewhere.example/s/x" in moved.stderr


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("http://example.org/s/campus-health", "--allow-http"),
        ("https://example.org/", "/s/"),
        ("https://example.org/s/campus-health#cut", "64 hex digits"),
    ],
)
def test_links_that_are_not_asked(link: str, message: str) -> None:
    """Without TLS anyone on the way could answer; other addresses are no survey. Nothing is sent."""
    result = run(link)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())
