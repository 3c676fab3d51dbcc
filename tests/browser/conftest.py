"""What tests in a browser share: a server with the example survey, and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.helpers.embedding_examples import Host, NewHost, hosts
from tests.helpers.questionnaire import everything_asked, site
from tests.helpers.servers import Server

expect.set_options(timeout=20_000)  # much runs next to these tests, and what comes sooner is not waited for


@pytest.fixture(scope="session")
def everything() -> bytes:
    """The example survey with every type of question in one booklet, so that a visit shows all of them."""
    return everything_asked()


@pytest.fixture(scope="session")
def everything_answered(example_answers: dict[str, Any]) -> dict[str, Any]:
    """Answers to everything that it asks: it has no follow-up."""
    return {name: answer for name, answer in example_answers.items() if name != "how_often"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    with site(tmp_path_factory.mktemp("site"), everything) as server:
        yield server


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def new_host(server: Server) -> Iterator[NewHost]:
    with hosts(server) as new_host:
        yield new_host


@pytest.fixture
def host(new_host: NewHost) -> Host:
    return new_host()
