"""What tests of the client share: a server in this process, a place for the ledger, and short pauses."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable
from tests.helpers.fake_server import FakeServer


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deniable.delivery, "FIRST_PAUSE", 0.02)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"
