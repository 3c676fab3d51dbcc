"""What all tests share: how many examples a property gets, the repository, node, a browser, an example survey."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.helpers.machine import ROOT, missing

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does: before numpy is imported

pytest.register_assert_rewrite("tests.helpers.storage_contract", "tests.helpers.moving")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

QUICK = 20
"""Examples of each property in ``make test``; also where a test asks for more."""

# A property is tried on the same examples in every run, so that nothing fails by chance; the proof ``examples`` looks
# for new ones. How long an example takes says nothing on a machine that does other things as well.
FOUND, ALSO_SMALLEST = [Phase.explicit, Phase.generate], [Phase.explicit, Phase.generate, Phase.shrink]
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# Without the smallest counterexample, which can take minutes to find: --hypothesis-profile=thorough looks for it.
settings.register_profile("quick", max_examples=QUICK, derandomize=True, phases=FOUND, **UNTIMED)
settings.register_profile("thorough", derandomize=True, phases=ALSO_SMALLEST, **UNTIMED)
# For runs that only ask whether a property fails.
settings.register_profile("unshrunk", derandomize=True, phases=FOUND, **UNTIMED)
# New examples, from the seed that --hypothesis-seed gives.
settings.register_profile("search", database=None, phases=ALSO_SMALLEST, **UNTIMED)
settings.load_profile("quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the quick profile, no property is tried on more examples than the profile says."""
    if settings.get_current_profile_name() != "quick":
        return
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > QUICK:
            test = getattr(test, "__func__", test)
            test._hypothesis_internal_use_settings = settings(own, max_examples=QUICK)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def node() -> str:
    from deniable_server.checks.node import find_node

    return find_node() or missing("node")


@pytest.fixture(scope="session")
def npm_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples of the npm package, installed once: tests that use them are in one xdist_group, "npm"."""
    from tests.helpers import npm

    return npm.examples(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """What drives browsers: only one can run in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A real Chromium, one per process that runs tests."""
    from tests.helpers.chromium import find_chromium, launched

    with launched(playwright, find_chromium() or missing("Chromium")) as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own: empty storage, no cookies."""
    context = browser.new_context(locale="en-GB")
    yield context
    context.close()


@pytest.fixture(scope="session")
def example() -> bytes:
    """The published document of the example survey, which has every question type."""
    from importlib.resources import files

    from deniable_protocol import parse_survey
    from deniable_server.planning import publish_survey

    return publish_survey(parse_survey((files("deniable_server") / "example.toml").read_bytes()))


@pytest.fixture(scope="session")
def example_answers() -> dict[str, Any]:
    return {
        "vaped": True,
        "how_often": "every_day",
        "harassed": "declined",
        "substance": "cannabis",
        "support": ["doctor", "peers"],
        "stress": 4,
        "wellbeing": 2,
        "drinks": 12.5,
        "debt": 1200,
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of 1,500 submissions to each of two surveys, their exports, and a file of weights."""
    from tests.helpers.exports import keep_exports

    folder = tmp_path_factory.mktemp("kept")
    keep_exports(folder, 1_500)
    return folder
