"""How long the panel beside the editor takes to follow a change, in a real Chromium.

    python bench/panel.py [--rounds N] [--json FILE]

A server process has a draft of 20 questions. Each round changes something that no plan was made for yet: the slider of
epsilon, an answer more, a tick. Timed from the event in the page until the panel shows the new figures, with saving and
planning on the way, and everything that waits. In turn with it, an empty request of the same page (/healthz) is timed:
what the machine and the browser take by themselves. Exits with 1 if the middle is above 300 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles

from design import long_survey
from playwright.sync_api import Page, Response, sync_playwright

from deniable_protocol.checks import document_json
from deniable_server import editing
from deniable_server.planning import publish_survey
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.helpers.chromium import find_chromium, launched
from tests.helpers.servers import running

QUESTIONS, PEOPLE, MOST = 20, 3_000, 300
FOLLOWED = """([selector, value]) => new Promise((resolve) => {
    const field = document.querySelector(selector);
    const panel = document.getElementById("plan");
    const begun = performance.now();
    const watch = new MutationObserver(() => { watch.disconnect(); resolve(performance.now() - begun); });
    watch.observe(panel, { subtree: true, childList: true, characterData: true });
    if (field.type === "checkbox") field.checked = !field.checked; else field.value = value;
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
})"""
EMPTY = """async () => {
    const begun = performance.now();
    await (await fetch("/healthz")).text();
    return performance.now() - begun;
}"""


@contextmanager
def opened() -> Iterator[Page]:
    """A page with the editor of a long draft."""
    executable = find_chromium()
    if executable is None:
        sys.exit("This benchmark needs Chromium.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        storage = open_storage(str(folder / "deniable.db"))
        published = publish_survey(long_survey(QUESTIONS, 2, crossed=True))
        sketch = editing.from_tree(document_json(published.decode())["survey"])
        sketch.respondents = str(PEOPLE)
        number = storage.drafts.create(editing.write(sketch))
        secret, _ = make_token(storage, "editor", "bench")
        storage.close()
        server = stack.enter_context(running(folder / "deniable.db", folder / "log"))
        browser = stack.enter_context(launched(stack.enter_context(sync_playwright()), executable))
        page = browser.new_page()
        page.goto(f"{server.base}/sign-in")
        page.get_by_label("Your access token").fill(secret)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Surveys").wait_for()
        page.goto(f"{server.base}/drafts/{number}")
        yield page


def settled(page: Page) -> None:
    """Nothing is under way: what would help was asked for after the last change, and is there."""
    if not (page.evaluate("performance.getEntriesByType('resource').at(-1).name").endswith("help=1")):
        page.wait_for_event("response", is_help, timeout=60_000)
    page.wait_for_timeout(500)


def is_help(response: Response) -> bool:
    return response.url.endswith("/plan?help=1")


NEW = (0.5, 1, 1.5, 2.5, 3, 3.5, 4, 4.5, 5, 5.5)


def changes(page: Page) -> list[Callable[[int], tuple[str, str]]]:
    """What a round changes: a selector, and the value that the field gets."""
    answers = [each for each in page.locator("textarea[id*='.answers:']").all() if each.input_value()]
    first = answers[0].get_attribute("id")
    lines = answers[0].input_value()
    ticks = page.locator("input[type=checkbox][id$='.decline']")
    names = [tick.get_attribute("id") for tick in ticks.all()]
    return [
        lambda number: ("#f-epsilon", str(NEW[number % len(NEW)])),
        lambda number: (f'[id="{names[number % len(names)]}"]', ""),
        lambda number: (f'[id="{first}"]', lines + "".join(f"\nMore {each}" for each in range(1 + number % 4))),
    ]


def measured(rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"panel": [], "empty request": []}
    with opened() as page:
        settled(page)
        kinds = changes(page)
        for number in range(rounds):
            selector, value = kinds[number % len(kinds)](number // len(kinds))
            times["panel"].append(page.evaluate(FOLLOWED, [selector, value]))
            settled(page)
            times["empty request"].append(page.evaluate(EMPTY))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    times = measured(options.rounds)
    for name, each in times.items():
        usual, most = median(each), quantiles(each, n=10)[-1]
        print(f"{name:14} {usual:6.0f} ms in the middle, {most:6.0f} in nine of ten, {max(each):6.0f} at most")
    ratio = median(times["panel"]) / median(times["empty request"])
    print(f"The panel takes {ratio:.0f} times as long as an empty request.")
    if options.json is not None:
        options.json.write_text(json.dumps({"milliseconds": times, "panel_of_empty": ratio}, indent=1) + "\n")
    return 0 if median(times["panel"]) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
