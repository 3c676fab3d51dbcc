"""Three servers on one PostgreSQL behind a balancer, and senders that go on whatever happens to them."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.planting import Planted
from tests.helpers.postgres import cluster
from tests.helpers.servers import ask, let_collect

from .bursts import Relay, Wire
from .parcels import Book, Connection, published
from .processes import Process, until
from .senders import Senders

SERVERS = 3
SENDERS = 9


class DoesNotStart(RuntimeError):
    """A server has ended instead of serving."""


class Balancer(Relay):
    """Passes each request on to one of the servers, drawn at random, over connections that are kept.

    Where a server cannot be reached, another is asked. Where one fails in the middle, the sender's connection ends:
    what became of its request is not known, and only the sender sends it again, so that attempts can be counted.
    """

    def __init__(self, seed: int) -> None:
        self.ports: tuple[int, ...] = ()
        self._random = random.Random(seed)
        super().__init__()

    def _pass_on(self, connection: socket.socket) -> None:
        kept: dict[int, Wire] = {}
        try:
            connection.settimeout(120)
            client = Wire(connection)
            while True:
                head, body = client.read()
                server = self._some_server(kept)
                server.socket.sendall(head + b"\r\n\r\n" + body)
                head, body = server.read()
                client.socket.sendall(head + b"\r\n\r\n" + body)
        except OSError:
            pass
        finally:
            for wire in [*kept.values()]:
                wire.socket.close()
            connection.close()

    def _some_server(self, kept: dict[int, Wire]) -> Wire:
        ports = list(self.ports)
        self._random.shuffle(ports)
        for port in ports:
            if port in kept:
                return kept[port]
            with suppress(OSError):
                kept[port] = Wire(socket.create_connection(("127.0.0.1", port), timeout=120))
                return kept[port]
        raise ConnectionError("no server can be reached")


class Fleet:
    """All of it, and the book of what was sent and answered. ``planted``: a fault, to test a proof."""

    def __init__(self, folder: Path, seed: int, planted: Planted | None = None) -> None:
        self.book, self._folder, self._planted = Book(), folder, planted
        self.survey = "shared"
        self._stack = ExitStack()
        with ExitStack() as starting:
            starting.callback(self.end)
            self.cluster = self._stack.enter_context(cluster())
            self.database = self.cluster.new_database()
            storage = open_storage(self.database)
            storage.publish(published(self.survey))
            let_collect(storage, self.survey)
            secret, _ = make_token(storage, "admin", "")
            storage.close()
            self.admin = {"Authorization": f"Bearer {secret}"}
            self.balancer = Balancer(seed)
            self._stack.callback(self.balancer.close)
            self.servers: list[Process] = []
            for number in range(SERVERS):
                self.servers.append(self._process(number))
                self._stack.callback(self._kill, number)
            for number in range(SERVERS):
                self.await_start(number)
            self.senders = Senders(self.book, self.survey, SENDERS, seed)
            self._stack.callback(self.senders.end)
            self.senders.point_at(self.balancer.port)
            starting.pop_all()

    def _process(self, number: int) -> Process:
        return Process(self.database, self._folder / f"server-{number}.log", 1, self._planted)

    def _kill(self, number: int) -> None:
        self.servers[number].kill()

    def restart(self, number: int) -> None:
        """Another process in the place of one that has ended."""
        self.servers[number] = self._process(number)

    def await_start(self, number: int) -> None:
        server = self.servers[number]
        if not server.comes_up():
            raise DoesNotStart(f"a server does not start: {self.log()[-500:]}")
        self.balancer.ports = tuple(each.port for each in self.servers)

    def log(self) -> str:
        return "".join(path.read_text() for path in sorted(self._folder.glob("server-*.log")))

    def await_acknowledged(self, more: float) -> None:
        """Until so many more submissions were acknowledged."""
        target = self.book.acknowledged + more
        self.senders.limit = max(self.senders.limit, target + 500)
        if not until(lambda: self.book.acknowledged >= target):
            self.book.fault("nothing was acknowledged for minutes")

    def close_survey(self, server: Process) -> int | None:
        """The answer's status; None where there was none."""
        self.book.may_close.add(self.survey)
        connection = Connection(server.port)
        try:
            return connection.post(f"/api/v1/surveys/{self.survey}/close", b"", self.admin)[0]
        except ConnectionError:
            return None
        finally:
            connection.close()

    def status(self) -> str:
        storage = open_storage(self.database, create=False)
        try:
            return storage.surveys()[0].status
        finally:
            storage.close()

    def estimates(self) -> list[Any]:
        """As each server gives them."""
        path = f"/api/v1/surveys/{self.survey}/estimates?by=campus"
        return [ask(f"{server.base}{path}", headers=self.admin).json for server in self.servers]

    def conclude(self) -> None:
        """Nobody sends any more: all that was sent has its answer, and is there once; all servers say the same."""
        self.senders.finish()
        for parcel in self.book.waiting():
            self.book.fault("a submission was never answered", next(iter(parcel.contents)))
        estimates = self.estimates()
        if estimates.count(estimates[0]) != SERVERS:
            self.book.fault("servers give different estimates")
        stored = self.book.compare(self.database)
        said = estimates[0]["submissions"]
        if not stored == self.book.acknowledged == said:
            self.book.fault(f"stored are {stored}, acknowledged {self.book.acknowledged}, counted in estimates {said}")
        storage = open_storage(self.database, create=False)
        survey = storage.find(self.survey)
        assert survey is not None
        if storage.statistics(survey) != storage.recount(survey):
            self.book.fault("statistics differ from a recount")
        if sum(storage.days(survey).values()) != stored:
            self.book.fault("days do not add up to what is stored")
        storage.close()

    def end(self) -> None:
        self._stack.close()
