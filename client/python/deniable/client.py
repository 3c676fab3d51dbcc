"""The client: one survey, answered at most once from this device.

May not: write, log or send an answer, or draw a booklet after it has seen one. ``submit`` randomises before anything
else happens, and what it hands on to the ledger and to delivery is the randomised submission.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping
from decimal import Decimal
from types import TracebackType

import msgspec

from deniable_protocol import Question, Survey, draw_booklet, randomize

from .address import parse_address
from .delivery import LAST_CHANCE, Delivery
from .errors import AlreadyAnswered, NotDelivered, Refused, StateError
from .loading import load
from .receipt import Receipt, receipt_of
from .state import Entry, State, exact_budget
from .transport import HTTPTransport, Transport

SHORTEST_PATIENCE = 1.0
"""The least time that submit waits for the state, so that ``timeout=0`` can still write while other threads do."""

LONGEST_TIMEOUT = 86_400
"""A day: more than anyone waits for, and within what every system can wait for."""


class Client:
    """A survey, verified on this device, and the one submission that this device makes to it.

        with deniable.Client("https://example.org/s/campus-health", state="~/.myapp/deniable.db") as client:
            client.questions  # what this device is asked
            receipt = client.submit({"vaped": True, "how_often": "weekly"}, segments={"campus": "north"})

    url
        The survey's link. A digest after # pins the document: any other is refused.
    state
        The file for the booklet, the ledger and the outbox, created if missing. Without it, all are in memory and end
        with the process.
    budget
        The most epsilon that all surveys answered from this state may spend together. 0.3 means 0.3 exactly.
    timeout
        Seconds: for loading the survey, for each attempt to deliver, and for submit, flush and close unless they are
        given their own.
    transport
        How requests are sent; HTTP by default. ``WSGITransport(app)`` tests an app without sockets.

    Threads can share a client. It also works on both sides of a fork, but then give it a state file: without one,
    parent and child each have their own ledger.
    """

    def __init__(
        self,
        url: str,
        *,
        state: str | os.PathLike[str] | None = None,
        budget: int | float | str | Decimal | None = None,
        timeout: float = 10.0,
        transport: Transport | None = None,
    ) -> None:
        self._address = parse_address(url)
        self._budget = None if budget is None else exact_budget(budget)
        self._timeout = _seconds(timeout)
        if self._timeout == 0:
            raise ValueError("timeout must be more than 0: nothing can be loaded or delivered in no time")
        transport = HTTPTransport() if transport is None else transport
        self._closed = False
        self._state = State(state)
        self._published, self._document = load(self._address, self._state, transport, self._timeout)
        # Before anything can be asked, and once for this device: a draw after an answer could show that answer.
        self._booklet = self._state.keep_booklet(self.digest, lambda: draw_booklet(self._document))
        if self._booklet >= len(self._document.booklets):
            raise StateError("the state cannot be used: its booklet is not one of this survey")
        self._delivery = Delivery(self._state, transport, self._timeout)
        # The finalizer holds the delivery and not the client. At exit it is the delivery's own hook that counts.
        weakref.finalize(self, _let_go, self._delivery).atexit = False
        if self._state.waiting():  # an earlier process left something
            self._delivery.start()

    @property
    def survey(self) -> Survey:
        """The survey, every channel of which was verified on this device."""
        return self._document.survey

    @property
    def booklet(self) -> int:
        """The booklet that this device has drawn, once and before anything was asked: its place in the document."""
        return self._booklet

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of this device's booklet; a multi_choice with those of its options that are in the booklet."""
        return self._document.asked(self._booklet)

    def shown(self, answers: Mapping[str, object]) -> tuple[Question, ...]:
        """Those of ``questions`` that are shown with these answers.

            answers = {}
            while left := [question for question in client.shown(answers) if question.id not in answers]:
                answers[left[0].id] = ask(left[0])

        asks one question after the other: follow-ups appear with the answer that they follow.
        """
        return self._document.shown(self._booklet, answers)

    @property
    def document(self) -> bytes:
        """The published bytes, as ``deniable.randomize`` takes them."""
        return self._published

    @property
    def digest(self) -> str:
        """The SHA-256 of the published bytes, which a link can pin."""
        return self._document.digest

    @property
    def receipt(self) -> Receipt | None:
        """What this device has already sent to this survey, now or in an earlier process; None if nothing."""
        entry = self._state.find(self._address.url, self.digest)
        return None if entry is None else self._receipt(entry)

    def submit(
        self, answers: Mapping[str, object], segments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> Receipt:
        """Randomise the answers, write the submission to the outbox, and wait up to ``timeout`` for its delivery.

        The answers may be those to this device's ``questions``, or to all of the survey; only those to questions that
        are in the booklet and shown are used. An answer to a question that is not shown is dropped before randomising.

        Once written it is never lost and never randomised again: if the time runs out, the receipt says so
        (``delivered`` is False) and delivery goes on in the background, in a later process if need be. With 0 it does
        not wait at all.

        Raises AnswerError, AlreadyAnswered, BudgetExceeded or StateError when nothing was written, and Refused when
        the server has refused the submission within the time.
        """
        self._check_open()
        deadline = self._deadline(timeout)
        segments = {} if segments is None else segments
        submission = randomize(self._document, answers, segments, booklet=self._booklet)
        body = msgspec.json.encode(submission)
        entry = Entry(submission["id"], self._address.url, self.digest, self._document.epsilon, body)
        patience = max(deadline - time.monotonic(), SHORTEST_PATIENCE)
        kept = self._state.record(entry, self._budget, patience=patience)
        receipt = self._receipt(kept)
        if kept.id != entry.id:
            raise AlreadyAnswered(receipt)
        self._delivery.start()
        refusal = self._delivery.wait(entry.id, deadline)
        if refusal is not None:
            raise Refused(receipt, refusal.status, refusal.title, refusal.detail)
        return receipt

    def flush(self, timeout: float | None = None) -> bool:
        """Deliver everything in the outbox, for other surveys too, for up to ``timeout``. True if nothing is left."""
        self._check_open()
        return self._delivery.flush(self._deadline(timeout))

    def forget(self) -> None:
        """Remove everything that this device keeps of the survey: document, booklet and ledger entry. Then close.

        A new client can then answer the survey again, and a budget no longer counts what was spent on it. What was
        sent stays sent: a person who answers twice spends epsilon twice. Raises NotDelivered, and removes nothing,
        while the submission waits in the outbox.
        """
        self._check_open()
        entry = self._state.forget(self._address.url, self.digest, self._published)
        if entry is not None:
            if entry.status == "waiting":
                raise NotDelivered(self._receipt(entry))
            self._delivery.recall(entry)
        self.close()

    def close(self, timeout: float | None = None) -> None:
        """Deliver everything in the outbox, for up to ``timeout``, then stop. The rest stays in the state file."""
        deadline = self._deadline(timeout)
        if self._closed:
            return
        self._closed = True
        try:
            if self._state.waiting():
                self._delivery.start()
        except StateError:
            pass  # nothing can be read, so nothing can be sent; closing works all the same
        finally:
            self._delivery.finish(deadline)
            self._delivery.join(deadline)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<deniable.Client {self._address.url}>"

    def _receipt(self, entry: Entry) -> Receipt:
        return receipt_of(entry, self._document, self._delivery)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the client is closed")

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self._timeout if timeout is None else _seconds(timeout))


def _let_go(delivery: Delivery) -> None:
    """The client is no longer in use: its thread gets one last chance to deliver, and nobody waits for it."""
    delivery.finish(time.monotonic() + LAST_CHANCE)


def _seconds(timeout: float) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError("timeout must be a number of seconds")
    if not 0 <= timeout <= LONGEST_TIMEOUT:  # NaN included
        raise ValueError(f"timeout must be from 0 to {LONGEST_TIMEOUT} seconds")
    return float(timeout)
