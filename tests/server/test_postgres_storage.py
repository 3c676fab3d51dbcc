"""The contract of storage on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable_server.storage import Storage
from deniable_server.storage.postgres.storage import PostgresStorage
from postgres import Cluster
from storage_contract import *  # noqa: F403 -- its tests and fixtures
from storage_contract import TODAY, Open


@pytest.fixture
def reopen(postgres: Cluster) -> Iterator[Open]:
    made: list[Storage] = []
    address = postgres.new_database()

    def opened() -> Storage:
        made.append(PostgresStorage(address, fold_at=50, today=lambda: TODAY))
        return made[-1]

    yield opened
    for storage in made:
        storage.close()
