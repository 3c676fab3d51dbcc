"""Pages of another site that use the browser client, and what tests ask of them."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request, Route

from deniable_protocol import publish, survey_from_tree
from deniable_server.storage import Storage
from tests.helpers.servers import Server

TRUTH = 31.41592653  # occurs nowhere but in an answer
ANSWERS: dict[str, Any] = {"vaped": True, "substance": "cannabis", "drinks": TRUTH}
SEGMENTS = {"campus": "north"}


def tree(name: str, epsilon: str = "1.0") -> dict[str, Any]:
    def options(*codes: str) -> list[dict[str, str]]:
        return [{"code": code, "text": code.title()} for code in codes]

    return {
        "id": name,
        "title": "Campus health",
        "segments": [{"id": "campus", "text": "Which campus?", "options": options("north", "south")}],
        "questions": [
            {"id": "vaped", "type": "yes_no", "text": "Vaped?", "epsilon": epsilon},
            {
                "id": "substance",
                "type": "choice",
                "text": "Which?",
                "epsilon": "2.0",
                "options": options("none", "alcohol", "cannabis"),
            },
            {"id": "drinks", "type": "number", "text": "Drinks?", "epsilon": "0.5", "min": 0, "max": 40},
        ],
    }


class Site:
    """Somebody else's web site, whose policy lets its pages load and ask one Deniable server, and nothing else."""

    def __init__(self, allowed: str) -> None:
        policy = f"default-src 'none'; script-src {allowed}; connect-src {allowed}; base-uri 'none'; form-action 'none'"

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(b"<!doctype html><html lang=en><title>Another site</title>")

            def log_message(self, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.base = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Survey:
    """A survey of its own for one test."""

    def __init__(self, server: Server, storage: Storage, name: str, epsilon: str = "1.0") -> None:
        self.document = publish(survey_from_tree(tree(name, epsilon)))
        self.digest = hashlib.sha256(self.document).hexdigest()
        self.name, self._storage = name, storage
        self.link = f"{server.base}/s/{name}"
        self.api = f"{server.base}/api/v1/surveys/{name}"
        storage.publish(self.document)

    def ids(self) -> list[str]:
        """The submissions that the server has."""
        published = self._storage.find(self.name)
        assert published is not None
        self._storage.fold(published)
        with self._storage.submissions(published) as submissions:
            return [submission.hex() for submission, _ in submissions]

    def close(self) -> None:
        published = self._storage.find(self.name)
        assert published is not None
        self._storage.close_survey(published)


def opened(context: BrowserContext, site: str, server: str) -> Page:
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(f"{site}/article?visitor=7")
    page.evaluate("async (module) => { window.deniable = await import(module); }", f"{server}/deniable.js")
    return page


TOLD = """
  const told = (receipt) => receipt && Object.fromEntries(
    ["id", "digest", "booklet", "reports", "segments", "epsilon", "delivered", "refused", "trouble"]
      .map((name) => [name, receipt[name]]));
"""


def run(page: Page, body: str, *arguments: object) -> Any:
    """What this JavaScript returns; where it throws on purpose, the reason, the message and the receipt."""
    return page.evaluate(
        f"""async (given) => {{
          const {{ Client }} = window.deniable;
          {TOLD}
          try {{ {body} }} catch (error) {{
            if (error.name !== "DeniableError") throw error;
            return {{ reason: error.reason, message: error.message, receipt: told(error.receipt) }};
          }}
        }}""",
        list(arguments),
    )


def load(page: Page, link: str, **options: object) -> Any:
    """Leaves the client on the page; what it says of itself."""
    return run(
        page,
        """const client = window.client = await Client.load(given[0], given[1]);
           const { survey, booklet, digest, epsilon, closed, offline, persistent } = client;
           const questions = client.questions.map(({ id }) => id);
           const said = { survey, booklet, questions, digest, epsilon, closed, offline, persistent };
           return { ...said, receipt: told(client.receipt) };""",
        link,
        options,
    )


def submit(page: Page, timeout: float = 15, answers: object = ANSWERS) -> Any:
    """The receipt of a submission by the client on the page."""
    script = "return told(await window.client.submit(given[0], given[1], { timeout: given[2] }));"
    return run(page, script, answers, SEGMENTS, timeout)


def settled(page: Page) -> Any:
    return run(page, "return told(await window.client.receipt.settled);")


def flush(page: Page, timeout: float = 15) -> Any:
    return run(page, "return await window.client.flush(given[0]);", timeout)


KEPT = """async () => {
  const kept = {};
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((resolve) => (indexedDB.open(name).onsuccess = (e) => resolve(e.target.result)));
    for (const store of database.objectStoreNames) {
      kept[store] = await new Promise((resolve) => {
        database.transaction(store).objectStore(store).getAll().onsuccess = (e) => resolve(e.target.result);
      });
    }
    database.close();
  }
  kept.elsewhere = [...Object.entries(localStorage), ...Object.entries(sessionStorage), ...document.cookie];
  return kept;
}"""


def kept(page: Page) -> Any:
    """All that the page's origin keeps in this browser."""
    return page.evaluate(KEPT)


def answer_with(context: BrowserContext, url: str, *replies: Callable[[Route], None]) -> list[Request]:
    """These replies to the requests of an address, one each, and then the server's own. Gives what was asked."""
    asked: list[Request] = []
    scripted = list(replies)

    def handle(route: Route) -> None:
        asked.append(route.request)
        if scripted:
            scripted.pop(0)(route)
        else:
            route.continue_()

    context.route(url, handle)
    return asked


def fulfil(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> Callable[[Route], None]:
    shared = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
    return lambda route: route.fulfill(
        status=status, body=body, headers={**shared, "Content-Type": content_type, **headers}
    )


def lose(route: Route) -> None:
    """The server gets the request; its response is lost."""
    route.fetch()
    route.abort()


def hang_up(route: Route) -> None:
    route.abort()


def until(page: Page, condition: Callable[[], bool]) -> None:
    """Lets the browser run until the condition is true."""
    for _ in range(1000):
        if condition():
            return
        page.wait_for_timeout(10)
    raise AssertionError("it did not come to that")
