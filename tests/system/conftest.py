"""What tests of whole systems share: a PostgreSQL, and the parts of a machine they cannot do without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.helpers.machine import missing

if TYPE_CHECKING:
    from tests.helpers.postgres import Cluster


pytest.register_assert_rewrite("tests.server.test_storage")  # which runs here on PostgreSQL


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A real PostgreSQL, one per process that runs tests; each test makes databases of its own in it."""
    from tests.helpers.postgres import cluster

    with cluster() as running:
        yield running


@pytest.fixture
def linux() -> None:
    if sys.platform != "linux":
        missing("a system that lists processes in /proc")
