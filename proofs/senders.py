"""Threads that send without a pause, and go on when the server comes back."""

from __future__ import annotations

import random
import threading
import time
from collections import deque

from .parcels import Book, Connection, Maker, Parcel, submissions_path


class Senders:
    """Each thread keeps a connection, and sends a parcel again, as it is, until it has an answer."""

    def __init__(self, book: Book, survey: str, count: int, seed: int) -> None:
        self.book, self.survey = book, survey
        self.limit = 0.0  # they send while fewer than this are acknowledged
        self._again: deque[Parcel] = deque()
        self._port: int | None = None
        self._making, self._ended = True, False
        self._busy = count
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=self._run, args=(seed + i,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def point_at(self, port: int) -> None:
        """Send to the server at this port from now on."""
        with self._changed:
            self._port = port
            self._changed.notify_all()

    def hold(self) -> None:
        """Send no more, and wait until all answers to what was sent have come or failed to come."""
        with self._changed:
            self._port = None
            self._changed.wait_for(lambda: self._busy == 0)

    def send_again(self, parcel: Parcel) -> None:
        """Leave a parcel to the threads."""
        self._again.append(parcel)

    def finish(self) -> None:
        """Make nothing new, deliver what has no answer yet, and end."""
        with self._changed:
            self._making = False
        for thread in self._threads:
            thread.join()

    def end(self) -> None:
        """End now, even if some parcels have no answer yet."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        draw, maker = random.Random(seed), Maker(seed)
        parcel: Parcel | None = None
        connection: Connection | None = None
        while (port := self._await_port()) is not None:
            if parcel is None and self._making and self.book.acknowledged >= self.limit:
                time.sleep(0.002)
                continue
            if connection is None or connection.port != port:
                if connection is not None:
                    connection.close()
                connection = Connection(port)
            if parcel is None:
                parcel = self._next(draw, maker)
            if parcel is None:
                break
            try:
                send(self.book, connection, parcel)
                parcel = parcel if parcel.waits else None
            except ConnectionError:
                self.book.count("requests without an answer")
            if parcel is not None:
                time.sleep(0.01)
        if connection is not None:
            connection.close()
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def _await_port(self) -> int | None:
        """Where to send to; None where it is over."""
        with self._changed:
            if self._port is None and not self._ended:
                self._busy -= 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._port is not None or self._ended)
                self._busy += 1
            return None if self._ended else self._port

    def _next(self, draw: random.Random, maker: Maker) -> Parcel | None:
        try:
            return self._again.popleft()
        except IndexError:
            if not self._making:
                return None
        # Now and then what was acknowledged long ago comes again: it must be known, and stay as it is.
        old = self.book.some_delivered(draw) if draw.random() < 0.03 else None
        return old or maker.parcel(self.survey)


def send(book: Book, connection: Connection, parcel: Parcel) -> None:
    """Send it once, and note the answer."""
    book.about_to_send(parcel)
    book.answered(parcel, *connection.post(submissions_path(parcel.survey), parcel.body, parcel.headers))
