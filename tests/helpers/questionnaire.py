"""The questionnaire in a real browser, for tests: a server, pages to embed it in, and someone who answers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

from deniable_protocol import publish, survey_from_tree
from deniable_server.storage import open_storage
from tests.helpers.servers import Server, running

SURVEY = "/s/campus-health"
API = "/api/v1/surveys/campus-health"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


EPSILONS = {"substance": "2.0", "debt": "2.0"}
"""Those that are not 1, of the example's questions by themselves; all together 10."""


def everything_asked() -> bytes:
    """The example survey where everybody is asked everything but the follow-up, each question at its own epsilon."""
    tree = tomllib.loads((files("deniable_server") / "example.toml").read_text("utf-8"))
    questions = [each | {"epsilon": EPSILONS.get(each["id"], "1.0")} for each in tree["questions"]]
    kept = {key: tree[key] for key in ("id", "languages", "title", "notice", "segments")}
    return publish(survey_from_tree(kept | {"questions": [each for each in questions if "show_if" not in each]}))


@contextmanager
def site(folder: Path, *published: bytes, flags: tuple[str, ...] = ()) -> Iterator[Server]:
    """A server process that has these surveys."""
    storage = open_storage(str(folder / "deniable.db"))
    for document in published:
        storage.publish(document)
    storage.close()
    with running(folder / "deniable.db", folder / "log", *flags) as server:
        yield server


class Faults(list[str]):
    """Everything that a page does wrong: errors in the console, exceptions, violations of its policy, dialogs."""

    def __init__(self, page: Page, *, allow: str = "\0") -> None:
        super().__init__()
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) =>"
            " console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`))"
        )
        page.on("console", lambda m: m.type in ("error", "warning") and allow not in m.text and self.append(m.text))
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("dialog", lambda dialog: (self.append(f"dialog {dialog.message}"), dialog.dismiss()))


def embed(page: Page, base: str, element: str, *, root: str = 'lang="en"', script: str = "") -> str:
    """A strict page of another program on the same origin, with this element in it; its address."""
    html = (
        f"<!doctype html><html {root}><head><meta charset=utf-8><title>Host</title>"
        "<meta name=viewport content='width=device-width'>"
        f'<script src="/host.js"></script><script type=module src="/deniable.js"></script></head>'
        f"<body><main><h1>Host</h1>{element}</main></body></html>"
    )
    headers = {"Content-Security-Policy": POLICY, "Content-Type": "text/html; charset=utf-8"}
    page.route(f"{base}/host", lambda route: route.fulfill(body=html, headers=headers))
    page.route(f"{base}/host.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    return f"{base}/host"


ONE_PAGE = f"{SURVEY}?one-page"
"""The example survey on one page: most tests are about single questions, not about the way to them."""


def begin(page: Page) -> None:
    """Wait for the first screen, and press Start."""
    page.get_by_role("button", name="Start", exact=True).click()


def ready(page: Page) -> None:
    """Wait for the questions."""
    begin(page)
    page.locator("deniable-survey form").wait_for()


def open_survey(page: Page, server: Server, path: str = SURVEY, *, mode: str = "?one-page") -> None:
    """Open a survey, perhaps with a digest after "#", and press Start."""
    path, number_sign, digest = path.partition("#")
    page.goto(server.base + path + mode + number_sign + digest)
    ready(page)


def status(page: Page) -> Locator:
    return page.locator("deniable-survey").get_by_role("status")


def alert(page: Page) -> Locator:
    return page.locator("deniable-survey").get_by_role("alert")


def field(page: Page, name: str) -> Locator:
    return page.locator(f"#{name}-field")


def go_to(page: Page, control: Locator) -> Locator:
    """The control, after pressing Next until it is on the screen."""
    while not control.is_visible():
        page.get_by_role("button", name="Next", exact=True).click()
    return control


DRINKS = "12.3471"
"""A true answer that nothing else shows: no level of its channel, and no limit of a range, is written like this."""


def fill(page: Page, *, drinks: str = DRINKS.replace(".", ",")) -> None:
    """Answer everything that the example survey asks, in its order, on one page or on several screens."""

    def choose(name: str, label: str, **options: Any) -> None:
        go_to(page, field(page, name).get_by_label(label, **options).last).check()

    choose("vaped", "Yes")
    choose("harassed", "Prefer not to say")
    choose("substance", "Cannabis")
    choose("support", "A doctor")
    choose("support", "A peer group")
    choose("stress", "Quite")
    choose("wellbeing", "Unsatisfied", exact=False)
    go_to(page, page.locator("#drinks-number")).fill(drinks)
    go_to(page, page.locator("#debt-number")).fill("1200")
    choose("campus", "South")


def review(page: Page) -> None:
    page.get_by_role("button", name="Check your answers").click()
    page.get_by_role("heading", name="Check your answers").wait_for()


THANKS = "Thank you. Your answers were sent."
SENT = "Your protected answers were randomised before they left this device. The true ones are gone."


def thanked(page: Page) -> None:
    """Wait until it was sent."""
    page.get_by_role("heading", name=THANKS).wait_for()


def send(page: Page) -> None:
    page.get_by_role("button", name="Send", exact=True).click()
    thanked(page)


def violations(page: Page) -> list[str]:
    """What axe finds, the shadow tree included: rule, and the places that break it."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {[node['html'][:160] for node in rule['nodes']]}" for rule in found]


def overflows(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


FILLED = """(host) => [...host.shadowRoot.querySelectorAll('input')]
    .filter((input) => input.checked || (input.type === 'text' && input.value)).length"""
"""How many controls of the questionnaire have an answer."""


def shadow_text(page: Page) -> str:
    """All text that the questionnaire shows, without the marks that keep foreign texts apart."""
    text: str = page.locator("deniable-survey").evaluate("(host) => host.shadowRoot.textContent")
    return text.replace("\u2068", "").replace("\u2069", "")
