"""The contract of storage, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable_server.storage import Storage
from deniable_server.storage.postgres.storage import PostgresStorage
from tests.helpers.draft_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.fieldwork_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.invitation_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.people_contract import *  # noqa: F403 -- its tests and fixtures
from tests.helpers.postgres import Cluster
from tests.helpers.storage_contract import *  # noqa: F403
from tests.helpers.storage_contract import TODAY, Clock, Open


@pytest.fixture
def reopen(postgres: Cluster, clock: Clock) -> Iterator[Open]:
    """Opens the same database as often as asked: each is like another server on it."""
    address = postgres.new_database()
    made: list[Storage] = []

    def opened() -> Storage:
        made.append(PostgresStorage(address, fold_at=50, today=lambda: TODAY, now=clock))
        return made[-1]

    yield opened
    for storage in made:
        storage.close()
