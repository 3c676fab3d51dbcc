"""Several servers: killed and started again one by one, two at a time, while they fold and while the survey is closed.

What was acknowledged by any of them is there once, whichever was asked again; statistics equal a recount, and all
servers give the same estimates.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from pathlib import Path

from tests.helpers.planting import Planted

from . import Outcome, Watch
from .fleet import SERVERS, DoesNotStart, Fleet
from .parcels import Connection, Maker
from .processes import until
from .senders import send

ORDER = ("moment", "fold", "two", "worker", "start", "fold", "moment", "all")
"""What is killed, over and over."""

FOLD_AT = 1_000
"""Submissions in the inbox that are folded."""

LEAST = 60
"""Acknowledgements between two kills, at least."""


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    acknowledgements: int,
    kills: int,
    kinds: tuple[str, ...] = ORDER,
    planted: Planted | None = None,
) -> Outcome:
    """So many kills and acknowledgements, and then a closing whose server is killed."""
    proof = _Servers(folder, seed, planted)
    try:
        plan = itertools.islice(itertools.cycle(kind for kind in ORDER if kind in kinds), kills)
        for done, kind in enumerate(plan):
            watch.counts(done, kills)
            if watch.is_over:
                proof.fleet.book.fault(f"stopped after {done} of {kills} kills")
                break
            proof.killed(kind, acknowledgements, kills - done)
        proof.conclude(acknowledgements)
        watch.counts(kills, kills)
    except DoesNotStart as trouble:
        proof.fleet.book.fault(str(trouble))
    finally:
        proof.fleet.end()
    book = proof.fleet.book
    figures = {"acknowledgements": book.acknowledged, "kills": proof.kills, **dict(sorted(book.counts.items()))}
    return Outcome(figures, book.failures())


class _Servers:
    def __init__(self, folder: Path, seed: int, planted: Planted | None) -> None:
        self.fleet = Fleet(folder, seed, planted)
        self.kills = 0
        self._random, self._maker = random.Random(seed), Maker(seed)

    def killed(self, kind: str, acknowledgements: int, kills_left: int) -> None:
        """Let the servers take their share of what is missing yet, kill some, and have them started again."""
        book = self.fleet.book
        missing = acknowledgements - book.acknowledged
        self.fleet.await_acknowledged(max(missing / (kills_left + 1), LEAST) * self._random.uniform(0.3, 1.7))
        time.sleep(self._random.uniform(0, 0.05))
        first = self._random.randrange(SERVERS)
        victims = {"two": [first, (first + 1) % SERVERS], "all": list(range(SERVERS))}.get(kind, [first])
        if kind == "fold":
            self._make_folding_due()
        if kind == "worker":
            self._kill_worker(first)
        else:
            for number in victims:
                self.fleet.servers[number].kill()
            for number in victims:
                self.fleet.restart(number)
            if kind == "start":
                time.sleep(self._random.uniform(0.2, 2))
                self.fleet.servers[first].kill()
                self.fleet.restart(first)
            # The others serve meanwhile. All rows are compared each time, statistics with a recount now and then.
            book.compare(self.fleet.database, recount=self.kills % 10 == 0)
            for number in victims:
                self.fleet.await_start(number)
        self.kills += len(victims)
        book.count(f"kills: {kind}", len(victims))

    def _kill_worker(self, number: int) -> None:
        server = self.fleet.servers[number]
        server.kill_worker(self._random)
        if not until(lambda: server.answers() or server.parent.poll() is not None):
            self.fleet.book.fault("nobody answered after a worker was killed", str(self.kills))
        if server.parent.poll() is not None:
            self.fleet.book.count("servers that ended after their worker was killed")
            server.ended()
            self.fleet.restart(number)
            self.fleet.await_start(number)

    def _make_folding_due(self) -> None:
        """On each server, by a batch: they fold at the same time, and the kill comes within that time."""
        posting = [threading.Thread(target=self._post, args=(server.port,)) for server in self.fleet.servers]
        for thread in posting:
            thread.start()
        if self._random.random() < 0.3:
            until(lambda: not any(thread.is_alive() for thread in posting))
        time.sleep(self._random.uniform(0, 0.15))

    def _post(self, port: int) -> None:
        parcel = self._maker.parcel(self.fleet.survey, FOLD_AT + 50)
        connection = Connection(port)
        try:
            send(self.fleet.book, connection, parcel)
        except ConnectionError:
            self.fleet.book.count("requests without an answer")
        connection.close()
        if parcel.waits:
            self.fleet.senders.send_again(parcel)

    # --- the end -----------------------------------------------------------------------------------------------------

    def conclude(self, acknowledgements: int) -> None:
        """The rest; then the survey is closed amid submissions, and the server that closes it is killed."""
        book, fleet = self.fleet.book, self.fleet
        fleet.await_acknowledged(max(acknowledgements - book.acknowledged, LEAST))
        # What came first was folded long ago, and must be known by every server.
        self._make_folding_due()
        for parcel in book.oldest(50):
            fleet.senders.send_again(parcel)
        fleet.await_acknowledged(LEAST)
        closer = self._random.randrange(SERVERS)
        said: list[int | None] = []
        closing = threading.Thread(target=lambda: said.append(fleet.close_survey(fleet.servers[closer])))
        fleet.senders.limit += 500
        closing.start()
        closing.join(self._random.uniform(0, 0.1 + book.acknowledged / 200_000))
        fleet.servers[closer].kill()
        closing.join()
        fleet.restart(closer)
        fleet.await_start(closer)
        # One that was begun is finished by the server that starts; one that was not is asked for again, of another.
        other = fleet.servers[(closer + 1) % SERVERS]
        if fleet.close_survey(other) != 200:
            book.fault("a survey could not be closed")
        if fleet.close_survey(fleet.servers[closer]) != 200:
            book.fault("a closed survey could not be closed again")
        if fleet.status() != "closed":
            book.fault("a closing was acknowledged and not done")
        book.count("closings that were answered before the kill", said == [200])
        for parcel in book.oldest(50):
            fleet.senders.send_again(parcel)
        fleet.conclude()
        closed = {each["status"] for each in fleet.estimates()}
        if closed != {"closed"}:
            book.fault(f"servers say that the survey is {' or '.join(sorted(closed))}")
        for number, server in enumerate(fleet.servers):
            if server.stop() != 0:
                book.fault("a server did not end as it should", str(number))
