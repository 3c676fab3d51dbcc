"""What tests of the editor share: a server, a draft, and two people who are signed in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from deniable_server.storage import Storage, open_storage
from tests.helpers.draft_editor import signed_in
from tests.helpers.drafts import example_tree, new_draft
from tests.helpers.servers import Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("editor")
    open_storage(str(folder / "deniable.db")).close()
    with running(folder / "deniable.db", folder / "log") as server:
        yield server


@pytest.fixture
def storage(server: Server) -> Iterator[Storage]:
    storage = open_storage(str(server.database), create=False)
    yield storage
    storage.close()


@pytest.fixture
def draft(storage: Storage) -> int:
    return new_draft(storage, example_tree())


@pytest.fixture
def ann(context: BrowserContext, server: Server, storage: Storage) -> Page:
    return signed_in(context, server, storage, "Ann")


@pytest.fixture
def ben(browser: Browser, server: Server, storage: Storage) -> Iterator[Page]:
    context = browser.new_context()
    yield signed_in(context, server, storage, "Ben")
    context.close()
