"""The client: one survey, answered at most once from this device.

May not: write, log or send an answer, or draw a booklet after it has seen one. ``submit`` randomises before anything
else happens, and what it hands on to the ledger and to delivery is the randomised submission.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping
from types import TracebackType

import msgspec

from deniable_protocol import Question, Survey, draw_booklet, randomize
from deniable_protocol.blind_signatures import Token
from deniable_protocol.invitations import read_code

from .address import parse_address
from .budget import Budget, exact_budget, plain
from .delivery import LAST_CHANCE, Delivery, chance
from .errors import AddressError, AlreadyAnswered, NotDelivered, NotOpen, Refused, StateError
from .loading import changed, load
from .receipt import Receipt, receipt_of
from .state import Entry, State, today
from .tokens import token_for
from .transport import Transport

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
        The survey's link. A digest after # pins the document: any other is refused. A personal link has an invitation
        after the digest.
    state
        The file for the booklet, the ledger and the outbox, created if missing. Without it, all are in memory and end
        with the process.
    budget
        The most that all surveys answered from this state may spend together: an epsilon, or an epsilon and a delta as
        in ``(2, "0.00001")``. 0.3 means 0.3 exactly. What is left out is 10 for epsilon, and 0.000001 for delta.
    timeout
        Seconds: for loading the survey, for each attempt to deliver, and for submit, flush and close unless they are
        given their own.
    invitation
        The code of an invitation, as it was typed, if the survey needs one and the link has none. The client gets its
        token before anything is asked, and the state forgets the code then. InvitationError says what is wrong.
    delay
        Seconds: a submission waits for a random time, at most as long as this, before it is first sent. So its time
        says little about when the token was fetched, or when somebody answered. It stays in the state until then: if
        the process ends sooner, the next one sends it.
    language
        What ``survey`` and ``questions`` are in, such as "es", if the survey has it. ``survey.languages`` lists those
        that it has; the first is the default.
    transport
        How requests are sent; HTTP by default. ``WSGITransport(app)`` tests an app without sockets.
    insecure
        Allow a link with http:// to another machine. Anyone on the way can then change what is asked, and see who
        takes part.

    Threads can share a client. It also works on both sides of a fork, but then give it a state file: without one,
    parent and child each have their own ledger.
    """

    def __init__(
        self,
        url: str,
        *,
        state: str | os.PathLike[str] | None = None,
        budget: Budget | None = None,
        timeout: float = 10.0,
        invitation: str | None = None,
        delay: float = 0.0,
        language: str = "",
        transport: Transport | None = None,
        insecure: bool = False,
    ) -> None:
        self._address = parse_address(url)
        if not insecure and not self._address.is_protected:
            raise AddressError(
                "the link starts with http://, so anyone on the way could change what is asked and see who takes "
                "part. Use https://, or insecure=True on a network that you trust"
            )
        invitation = self._address.invitation if invitation is None else invitation
        if invitation is not None:
            invitation = read_code(invitation)  # a typing error is found before anything is sent
        self._delay = _seconds(delay, "delay")
        self._budget = exact_budget(budget)
        self._timeout = _seconds(timeout)
        if self._timeout == 0:
            raise ValueError("timeout must be more than 0: nothing can be loaded or delivered in no time")
        if transport is None:
            from .http_transport import HTTPTransport

            transport = HTTPTransport()
        self._closed = False
        self._state = State(state)
        self._published, document, self._opens_at = load(self._address, self._state, transport, self._timeout)
        self._document = document.in_language(language)
        self._state.check_budget(self._document.content, self._document.account, self._budget)
        self._token: Token | None = None
        if document.issuer is not None and self._opens_at is None and self._state.find(document.content) is None:
            self._token = token_for(
                document, self._address.url, self._state, transport, invitation=invitation, timeout=self._timeout
            )
        self._booklet = self._keep_booklet()
        self._receipt: Receipt | None = None
        self._delivery = Delivery(self._state, transport, self._timeout, self._document.content, self._address.url)
        # The finalizer holds the delivery and not the client. At exit it is the delivery's own hook that counts.
        weakref.finalize(self, _let_go, self._delivery).atexit = False
        if (entry := self._delivery.waiting()) is not None:  # an earlier process left something
            self._receipt_of(entry)
            self._delivery.start()

    def _keep_booklet(self) -> int:
        """Before anything can be asked, and once for this device: a draw after an answer could show that answer."""
        document = self._document
        booklet = self._state.keep_booklet(document.content, document.digest, lambda: draw_booklet(document))
        if booklet is None:  # this device has one already, of the same survey with other booklets
            if self._state.find(document.content) is None:
                raise changed()
            return draw_booklet(document)  # it is answered: nothing will be asked
        if booklet >= len(document.booklets):
            raise StateError("the state cannot be used: its booklet is not one of this survey")
        return booklet

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
    def fingerprint(self) -> str | None:
        """Of the key that signs tokens, for people to compare: all respondents have the same. None without invitations.

        The digest pins the key, so a client whose link has a digest needs no comparing.
        """
        issuer = self._document.issuer
        return None if issuer is None else issuer.fingerprint

    @property
    def receipt(self) -> Receipt | None:
        """What this device has sent to this survey, now or in an earlier process; None if nothing.

        Once it is settled, the state keeps no reports: only the client that sent them still has them.
        """
        entry = self._state.find(self._document.content)
        return None if entry is None else self._receipt_of(entry)

    def submit(
        self, answers: Mapping[str, object], segments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> Receipt:
        """Randomise the answers, write the submission to the outbox, and wait up to ``timeout`` for its delivery.

        The answers may be those to this device's ``questions``, or to all of the survey; only those to questions that
        are in the booklet and shown are used. An answer to a question that is not shown is dropped before randomising.

        Once written it is never randomised again: if the time runs out, the receipt says so (``delivered`` is False)
        and delivery goes on in the background, in a later process if need be, for up to 14 days. With 0 it does not
        wait at all.

        Raises AnswerError, AlreadyAnswered, BudgetExceeded, StateError or NotOpen when nothing was written, and
        Refused when the server has refused the submission within the time.
        """
        self._check_open()
        if self._opens_at is not None and self.receipt is None:
            raise NotOpen(self._opens_at)
        deadline = self._deadline(timeout)
        segments = {} if segments is None else segments
        if self._document.issuer is not None and self._token is None and (earlier := self.receipt) is not None:
            raise AlreadyAnswered(earlier)
        submission = randomize(self._document, answers, segments, booklet=self._booklet, token=self._token)
        document, account = self._document, self._document.account
        spends = (document.content, document.epsilon, plain(account.delta))
        body = msgspec.json.encode(submission)
        entry = Entry(*spends, "waiting", submission["id"], self._address.url, body, today())
        patience = max(deadline - time.monotonic(), SHORTEST_PATIENCE)
        kept = self._state.record(entry, self._budget, patience=patience)
        receipt = self._receipt_of(kept)
        if kept.id != entry.id:
            raise AlreadyAnswered(receipt)
        if self._delay:
            self._delivery.put_off(chance() * self._delay)
        self._delivery.start()
        refusal = self._delivery.wait(submission["id"], deadline)
        if refusal is not None:
            raise Refused(receipt, refusal.status, refusal.title, refusal.detail)
        return receipt

    def flush(self, timeout: float | None = None) -> bool:
        """Deliver what waits for this survey, for up to ``timeout``. True if nothing waits any more."""
        self._check_open()
        return self._delivery.flush(self._deadline(timeout))

    def forget(self, *, unsent: bool = False) -> None:
        """Remove everything that this device keeps of the survey: document, booklet and ledger entry. Then close.

        A new client can then answer the survey again, and a budget no longer counts what was spent on it. What was
        sent stays sent: a person who answers twice spends twice. While the submission waits in the outbox, this raises
        NotDelivered and removes nothing; with ``unsent`` it is removed and not sent again, but an attempt may have
        reached the server.
        """
        self._check_open()
        receipt = self.receipt
        entry = self._state.forget(self._document.content, unsent=unsent)
        if entry is not None and receipt is not None:
            if entry.status == "waiting" and not unsent:
                raise NotDelivered(receipt)
            self._delivery.recall(entry, receipt.id)
        self.close(0 if unsent else None)

    def close(self, timeout: float | None = None) -> None:
        """Deliver what waits for this survey, for up to ``timeout``, then stop. What still waits stays in the state."""
        deadline = self._deadline(timeout)
        if self._closed:
            return
        self._closed = True
        try:
            if self._delivery.waiting():
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

    def _receipt_of(self, entry: Entry) -> Receipt:
        """The ledger forgets what is settled; this client remembers what it has seen of it."""
        if self._receipt is None or entry.id not in (None, self._receipt.id):
            self._receipt = receipt_of(entry, self._document, self._delivery)
        return self._receipt

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the client is closed")

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self._timeout if timeout is None else _seconds(timeout))


def _let_go(delivery: Delivery) -> None:
    """The client is no longer in use: its thread gets one last chance to deliver, and nobody waits for it."""
    delivery.finish(time.monotonic() + LAST_CHANCE)


def _seconds(timeout: float, name: str = "timeout") -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{name} must be a number of seconds")
    if not 0 <= timeout <= LONGEST_TIMEOUT:  # NaN included
        raise ValueError(f"{name} must be from 0 to {LONGEST_TIMEOUT} seconds")
    return float(timeout)
