"""What all tests share: where the repository's data lies, and what happens when a part of the machine is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from hypothesis import Phase, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from postgres import Cluster

# How long an example takes says nothing on a machine that does other things as well.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# For runs that only ask whether a property fails, not for its smallest counterexample.
settings.register_profile("unshrunk", phases=[Phase.explicit, Phase.generate], deadline=None)

pytest.register_assert_rewrite("storage_contract")

ROOT = Path(__file__).resolve().parent.parent


def missing(part: str) -> NoReturn:
    """Skip for want of a part of the machine; in CI, where nothing may be missing, fail instead."""
    if os.environ.get("DENIABLE_REQUIRE_ALL") == "1":
        pytest.fail(f"{part} is missing, and DENIABLE_REQUIRE_ALL=1 allows no skips")
    pytest.skip(f"{part} is missing on this machine")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def node() -> str:
    from deniable_server.checks.node import find_node

    return find_node() or missing("node")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A real PostgreSQL, one per process that runs tests; each test makes databases of its own in it."""
    from postgres import cluster

    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium, one per process that runs tests."""
    from browsing import find_chromium, launched

    with launched(find_chromium() or missing("Chromium")) as browser:
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

    from deniable_protocol import parse_survey, publish

    return publish(parse_survey((files("deniable_server") / "example.toml").read_bytes()))


@pytest.fixture(scope="session")
def example_answers() -> dict[str, Any]:
    return {
        "vaped": True,
        "harassed": "declined",
        "substance": "cannabis",
        "support": ["doctor", "peers"],
        "stress": 4,
        "wellbeing": 2,
        "drinks": 12.5,
        "debt": 1200,
    }
