"""The examples of docs/embedding.md as pages of another site, and what tests ask of those pages."""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Request

from deniable_protocol import publish, survey_from_tree
from deniable_server.planning import publish_survey
from deniable_server.storage import open_storage
from tests.helpers.embedder_site import fulfil, kept
from tests.helpers.machine import ROOT
from tests.helpers.questionnaire import Faults, fill, site
from tests.helpers.servers import Server

DOCUMENT = (ROOT / "docs" / "embedding.md").read_text("utf-8")
SERVER, HOST = "https://survey.example.org", "https://app.example.org"
TRUTH = "31.41592653"  # occurs nowhere but in an answer


def section(heading: str) -> str:
    """Everything below a heading, up to the next one."""
    (text,) = re.findall(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    return str(text)


def blocks(heading: str, language: str) -> list[str]:
    """The blocks in this language below a heading."""
    return re.findall(rf"^```{language}\n(.*?)^```", section(heading), re.MULTILINE | re.DOTALL)


def block(heading: str, language: str) -> str:
    (only,) = blocks(heading, language)
    return only


def policy() -> str:
    """The header that the document shows, unchanged."""
    name, _, value = block("What the page must allow", "http").strip().partition(": ")
    assert name == "Content-Security-Policy"
    return value


class Host:
    """Somebody else's web site: these files, each with this policy. The document's two origins become real ones."""

    def __init__(self, server: Server, csp: str) -> None:
        self.files: dict[str, bytes] = {}
        self.server = server.base
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = host.files.get(self.path)
                kind = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
                self.send_response(200 if content is not None else 404)
                self.send_header(
                    "Content-Type", f"{kind.get(self.path.rpartition('.')[2], 'text/plain')}; charset=utf-8"
                )
                self.send_header("Content-Security-Policy", host.real(csp))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *args: object) -> None:
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.put("/favicon.ico", "")

    def real(self, text: str) -> str:
        return text.replace(SERVER, self.server).replace(HOST, self.base)

    def put(self, path: str, text: str) -> str:
        """The address of this text as a file of the site."""
        self.files[path] = self.real(text).encode()
        return self.base + path

    def page(self, path: str, body: str) -> str:
        """The address of a page with this body."""
        head = "<meta charset=utf-8><meta name=viewport content='width=device-width'><title>Host</title>"
        return self.put(path, f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>")

    def put_folder(self, path: str, folder: Path) -> None:
        """The pages, scripts and styles below a folder."""
        for file in folder.rglob("*.*"):
            if file.suffix in (".html", ".js", ".css"):
                self.put(f"{path}/{file.relative_to(folder)}", file.read_text("utf-8"))

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


TWO_QUESTIONS = publish(
    survey_from_tree(
        {
            "id": "two-questions",
            "title": "Two questions",
            "segments": [
                {
                    "id": "campus",
                    "text": "Which campus?",
                    "options": [{"code": "north", "text": "North"}, {"code": "south", "text": "South"}],
                }
            ],
            "questions": [
                {"id": "vaped", "type": "yes_no", "text": "Have you vaped in the last 30 days?", "epsilon": "1.0"},
                {"id": "drinks", "type": "number", "text": "Drinks?", "epsilon": "1.0", "min": 0, "max": 40},
            ],
        }
    )
)
VAPED = {"id": "vaped", "type": "yes_no", "text": "Have you vaped in the last 30 days?"}
FOLLOW_UP = publish_survey(
    survey_from_tree(
        {
            "id": "follow-up",
            "title": "A follow-up",
            "epsilon": "2.0",
            "questions": [
                VAPED,
                {
                    "id": "how_often",
                    "type": "choice",
                    "text": "How often do you vape?",
                    "show_if": {"vaped": ["yes"]},
                    "options": [{"code": "some_days", "text": "Some days"}, {"code": "every_day", "text": "Every day"}],
                },
            ],
        }
    )
)
TWO_BOOKLETS = publish_survey(
    survey_from_tree(
        {
            "id": "two-booklets",
            "title": "Two questions, of which each device is asked one",
            "epsilon": "2.0",
            "segments": [
                {
                    "id": "campus",
                    "text": "Which campus?",
                    "options": [{"code": "north", "text": "North"}, {"code": "south", "text": "South"}],
                }
            ],
            "questions": [VAPED, {"id": "drinks", "type": "number", "text": "Drinks?", "min": 0, "max": 40}],
        }
    )
)
CLOSED = TWO_QUESTIONS.replace(b'"two-questions"', b'"over"', 1)


@contextmanager
def surveys(folder: Path, example: bytes) -> Iterator[Server]:
    """A server with the surveys of the document: the example, two questions, and one that is closed."""
    with site(folder, example, TWO_QUESTIONS, CLOSED) as server:
        storage = open_storage(str(server.database))
        published = storage.find("over")
        assert published is not None
        storage.close_survey(published)
        storage.close()
        yield server


def publish_to(server: Server, document: bytes) -> None:
    """Publish another survey on a server that runs."""
    storage = open_storage(str(server.database))
    storage.publish(document)
    storage.close()


NewHost = Callable[..., Host]


@contextmanager
def hosts(server: Server) -> Iterator[NewHost]:
    """Makes sites, with the document's policy and this server unless told otherwise, until the end."""
    made: list[Host] = []

    def make(csp: str = policy(), server: Server = server) -> Host:
        made.append(Host(server, csp))
        return made[-1]

    try:
        yield make
    finally:
        for host in made:
            host.close()


class Visit:
    """A page, everything it asks of any server, and everything it does wrong."""

    def __init__(self, page: Page, *, allow: str = "\0") -> None:
        page.set_default_timeout(15_000)
        self.page, self.faults = page, Faults(page, allow=allow)
        self.requests: list[Request] = []
        page.on("request", lambda request: self.requests.append(request))

    def sent(self) -> list[str]:
        """The bodies of all that was sent."""
        return [request.post_data or "" for request in self.requests if request.method == "POST"]

    def check(self, server: Server, survey: str) -> Any:
        """What was sent: one submission, and it is stored. No true answer left or is kept, and nothing went wrong."""
        (body,) = self.sent()
        submission = json.loads(body)
        assert submission["id"] in stored(server, survey)
        told = "\n".join(f"{one.url} {one.headers} {one.post_data}" for one in self.requests)
        held = kept(self.page)
        assert TRUTH not in told and TRUTH not in str(held)
        assert TRUTH not in self.page.evaluate("location.href + JSON.stringify(history.state)")
        assert held.pop("elsewhere") == [] and held.keys() <= {"surveys", "ledger", "tokens"}
        assert held.get("tokens", []) == []
        assert not self.faults, list(self.faults)
        return submission


WITHOUT_CHANCE = "Crypto.prototype.getRandomValues = (array) => array.fill(0);"
"""Every draw is 0: which answers a form has given can then be told from the submission."""


def submission_of(page: Page, server: Server, survey: str, answers: dict[str, Any], segments: dict[str, str]) -> Any:
    """What leaves this page for these answers, without chance."""
    return page.evaluate(
        """async ([base, survey, answers, segments]) => {
            const { randomize } = await import(`${base}/deniable.js`);
            const published = await (await fetch(`${base}/api/v1/surveys/${survey}`)).text();
            return randomize(published, answers, segments);
        }""",
        [server.base, survey, answers, segments],
    )


def stored(server: Server, survey: str) -> list[str]:
    """The ids of the submissions that the server has."""
    storage = open_storage(str(server.database))
    try:
        published = storage.find(survey)
        assert published is not None
        storage.fold(published)
        with storage.submissions(published) as submissions:
            return [submission.hex() for submission, _ in submissions]
    finally:
        storage.close()


def run(command: str, folder: Path) -> str:
    """What a line of the document prints."""
    result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fill_truly(page: Page) -> None:
    """Answers to the example survey, one of which can be told from everything else."""
    fill(page, drinks=TRUTH)


def refuse_all(page: Page, server: Server) -> None:
    """From now on the server takes no submission from this page."""
    problem = b'{"type": "about:blank", "title": "Not today", "status": 422, "detail": "Nor tomorrow."}'
    page.route(f"{server.base}/api/*/*/*/submissions", fulfil(422, problem, "application/problem+json"))


LEAVE = "dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))"
"""The page goes into the browser's memory."""
