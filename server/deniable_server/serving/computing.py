"""A computing process: answers the questions of one server process, one after the other, with low priority.

It ends with that process, and after a while without a question.
"""

from __future__ import annotations

import logging.config
import os
import resource
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

IDLE_SECONDS = 600.0
NICE = 10
"""Where processors are scarce, it gets about a tenth of what a process that answers does: little, but not nothing."""
MOST_MEMORY = 2**30
"""Bytes of memory that a computation may use, in all: what needs more is stopped, not the machine."""


def main(descriptor: int) -> None:
    # Before everything else: importing alone takes seconds. Where the system does not allow it, it goes without.
    with suppress(OSError):
        os.nice(NICE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    from deniable_server.app import create_app
    from deniable_server.settings import Settings
    from deniable_server.storage import open_storage

    from .run import logging_config

    logging.config.dictConfig(logging_config())
    connection = Connection(descriptor)
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, questions), daemon=True).start()
    settings = Settings.from_environment()
    app = create_app(settings, open_storage(settings.database, create=False))
    connection.send_bytes(b"ready")
    while True:
        try:
            kind, content = _answer(app, questions.get(timeout=IDLE_SECONDS))
        except Empty:
            os._exit(0)  # without closing the database: others use it
        connection.send_bytes(kind.encode())
        if kind != "broken":
            connection.send_bytes(content)


def _receive(connection: Connection, questions: SimpleQueue[bytes]) -> None:
    """In a thread of its own, so that the end of the server is noticed in the middle of a computation."""
    try:
        while True:
            questions.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _answer(app: Flask, question: bytes) -> tuple[str, bytes]:
    from deniable_server.web.computing import perform
    from deniable_server.web.problems import log_place

    try:
        root, function, *given = ForkingPickler.loads(question)
        with app.test_request_context("/", base_url=f"http://localhost{root}/"):
            return perform(function, *given)
    except Exception as error:
        log_place(error)
        return "broken", b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
