"""What tests of the server share: an app in this process, with the example survey in a database of its own."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import randomize
from deniable_server import create_app, simulate
from deniable_server.settings import Settings
from deniable_server.web import computing
from tests.helpers.drafts import new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter


@pytest.fixture(autouse=True, scope="session")
def _computing_in_place() -> Iterator[None]:
    """A process for each app would take seconds to start; test_computing.py has real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "PROCESSES", 0)
        yield


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
def draft(app: Flask) -> int:
    """The number of a draft of the example survey."""
    return new_draft(storage_of(app))


@pytest.fixture
def editor(app: Flask, http: FlaskClient) -> FlaskClient:
    """A browser in which an editor is signed in."""
    enter(http, app, "editor")
    return http


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the server logs."""
    caplog.set_level(logging.INFO, "deniable_server")
    return caplog


@pytest.fixture(scope="module", autouse=True)
def simulated(request: pytest.FixtureRequest) -> Iterator[random.Random]:
    """Made-up people draw the same booklets and reports in every run: no estimate misses by chance."""
    drawn = random.Random(request.node.nodeid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "randomize", partial(randomize, read=drawn.randbytes))
        yield drawn


@pytest.fixture(autouse=True)
def _simulated_alone(request: pytest.FixtureRequest, simulated: random.Random) -> Iterator[None]:
    """Whichever tests ran before."""
    simulated.seed(request.node.nodeid)
    yield
    simulated.seed(request.node.parent.nodeid)
