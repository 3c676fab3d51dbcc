"""The contract of storage, here on SQLite; tests/system/test_storage_on_postgresql.py runs it on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable_server.storage import Storage
from deniable_server.storage.sqlite.storage import SQLiteStorage
from tests.helpers.draft_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.fieldwork_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.invitation_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.people_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.storage_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.storage_contract import TODAY, Clock, Open


@pytest.fixture
def reopen(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    made: list[Storage] = []

    def opened() -> Storage:
        made.append(SQLiteStorage(tmp_path / "a.db", fold_at=50, today=lambda: TODAY, now=clock))
        return made[-1]

    yield opened
    for storage in made:
        storage.close()
