"""Run the server, on granian."""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.log import LogLevels

from deniable_server.errors import SettingError, StorageError
from deniable_server.settings import Settings, parse_bind
from deniable_server.storage import Storage, open_storage
from deniable_server.web.logo import read_logo

log = logging.getLogger(__name__)

THREADS = "DENIABLE_THREADS"
"""The environment variable that gives the workers their number of threads."""


def listen_error(bind: str) -> str | None:
    """Why nothing can listen at this address; None if it can."""
    try:
        host, port = resolve(bind)
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return None
    except socket.gaierror:
        return f"Cannot listen at {bind}: this machine has no address of that name; use an IP address"
    except OSError as error:
        hint = "; stop what listens there, or choose another --bind" if error.errno == errno.EADDRINUSE else ""
        return f"Cannot listen at {bind}: {os.strerror(error.errno or 0)}{hint}"


def resolve(bind: str) -> tuple[str, int]:
    """The IP address and port to listen at: a name such as localhost is looked up."""
    host, port = parse_bind(bind)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return str(found[0][4][0]), port


def serve(settings: Settings, workers: int, threads: int, say: Callable[[str], None] = print) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests under way, and close the database."""
    if trouble := listen_error(settings.bind):
        raise SettingError(trouble)
    # Whatever could keep the workers from starting is found out here, where the error can be shown plainly.
    read_logo(settings.logo)
    storage = open_storage(settings.database)
    try:
        storage.ready()
        settings.ensure_secret_key(storage.secret_key)
        _check_sharing(storage, workers, say)
        if storage.created:
            say(f"Made a new database: {settings.location.name}")
            say(f"Get an access token:  deniable token create --role admin --database {settings.location.argument}")
    finally:
        storage.close()
    environment = settings.to_environment()
    with ExitStack() as temporary:
        if workers > 1:
            folder = temporary.enter_context(tempfile.TemporaryDirectory(prefix="deniable-metrics-"))
            environment["PROMETHEUS_MULTIPROC_DIR"] = folder
        os.environ.update(environment | {THREADS: str(threads)})
        host, port = resolve(settings.bind)
        _watch_forks()
        _allow_connections()
        server = Granian(
            "deniable_server.serving.gateway:create_gateway",
            address=host,
            port=port,
            interface=Interfaces.RSGI,
            loop=Loops.uvloop,
            http=HTTPModes.http1,  # while it could still be HTTP/2, a silent connection has no time limit
            factory=True,
            workers=workers,
            websockets=False,
            backlog=2_048,
            backpressure=MOST_CONNECTIONS,
            respawn_failed_workers=True,
            workers_kill_timeout=30,
            log_level=LogLevels.error,
            log_access=False,  # an access log would record who sent a submission, and when
            log_dictconfig=logging_config(),
        )
        server.on_startup(lambda: log.info("Listening at http://%s%s", settings.bind, settings.base_path))
        server.serve()
        # Workers end without closing their connections, which is safe; closing one here truncates the log they leave.
        try:
            open_storage(settings.database, create=False).close()
        except StorageError as error:
            log.error("%s", error)
        log.info("Stopped")


def _check_sharing(storage: Storage, workers: int, say: Callable[[str], None]) -> None:
    """StorageError where several processes would lose submissions; a warning where one can still do it alone."""
    if trouble := storage.refuses_to_share():
        if workers > 1:
            raise StorageError(f"{workers} workers cannot share this database: {trouble}. Nothing was started.")
        say(f"WARNING: {trouble}. Until then, run no other server and no other command on it.")


MOST_CONNECTIONS = 10_000
"""Of each worker. Most of them are silent: a browser keeps its connection for the next request."""


def _allow_connections() -> None:
    """Each connection is an open file, and systems often allow only a thousand unless a program asks for more."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + 1_000
    if allowed < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most)
            )


STOPS = (signal.SIGTERM, signal.SIGINT)


def _watch_forks() -> None:
    """Workers can be stopped from their first moment on, and end with their parent.

    Right after the fork a worker still has the parent's handlers, which would swallow a signal. So signals wait from
    before the fork until the worker has the system's own handlers.
    """
    forking: list[int] = []

    def before() -> None:
        forking.append(os.getpid())
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)

    os.register_at_fork(
        before=before,
        after_in_parent=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS),
        after_in_child=lambda: _begin_worker(forking[-1]),
    )


def _begin_worker(parent: int) -> None:
    """A worker whose parent was killed would go on and keep the port: on Linux, have the system end it as well.

    With SIGKILL, which a worker that is starting or working cannot miss, and which loses nothing: what it has
    acknowledged is on disk. A parent that stops normally waits for its workers, and this does not happen.
    """
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # killed before the system knew
            os.kill(os.getpid(), signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def logging_config() -> dict[str, object]:
    """Logs to standard error: what the server does, never who asked."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(message)s", "datefmt": "%Y-%m-%dT%H:%M:%S%z"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
        "loggers": {
            "deniable_server": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
            "_granian": {"handlers": ["stderr"], "propagate": False},
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }
