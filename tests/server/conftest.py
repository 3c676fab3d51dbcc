"""What tests of the server share: an app in this process, with the example survey in a database of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server import create_app
from deniable_server.settings import Settings
from tests.helpers.servers import storage_of


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=str(tmp_path / "a.db"))


@pytest.fixture
def app(settings: Settings, example: bytes) -> Iterator[Flask]:
    app = create_app(settings)
    storage_of(app).publish(example)
    yield app
    storage_of(app).close()


@pytest.fixture
def http(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the server logs."""
    caplog.set_level(logging.INFO, "deniable_server")
    return caplog
