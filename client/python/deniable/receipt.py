"""Receipts: what left this device, for the respondent to see.

May not: hold an answer. A receipt shows what was sent, and whether it has arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from deniable_protocol import Document, Part, Submission

from .delivery import Delivery
from .errors import StateError
from .state import Entry


class Sent(NamedTuple):
    """One report, and what anyone can read from it."""

    questions: tuple[str, ...]
    """What it reports on: ids of questions, and ``question.code`` for an option of a multi_choice."""
    epsilon: str
    report: int
    speaks_for: tuple[dict[str, str], ...]
    """The answers that the report makes likelier, all to the same degree, each by question: the true one may be among
    them or not. A question that is not shown has no answer. Empty where the report is about a mean."""

    def __str__(self) -> str:
        names = ", ".join(self.questions)
        if not self.speaks_for:
            return f"{names}: {self.report}"
        answers = [", ".join(f"{name} {code}" for name, code in each.items()) for each in self.speaks_for]
        return f"{names}: {self.report}, which speaks for: {'; or '.join(answers)}"


class Receipt(msgspec.Struct, frozen=True, eq=False):
    """One submission as it is sent: all that the server, or anyone else, ever sees.

    ``delivered``, ``refused``, ``expired`` and ``trouble`` are live: they are up to date each time you read them.

    The state keeps a submission until it is settled. A later client then knows only that there was one, and what it
    spent: id and digest are empty, booklet is None, and there are no reports and segments.
    """

    id: str
    digest: str
    booklet: int | None
    reports: list[int]
    """One per part of the booklet."""
    segments: dict[str, str]
    epsilon: str
    """The epsilon that it spends, as an exact decimal."""
    delta: str
    """The chance that it spends more, as an exact decimal."""
    sent: tuple[Sent, ...]
    """The reports again, each with what it is about and what can be read from it."""
    _delivery: Delivery

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Receipt) and self._content == other._content

    def __hash__(self) -> int:
        return hash((self.id, self.digest))

    def __repr__(self) -> str:
        return f"Receipt({', '.join(f'{name}={value!r}' for name, value in self._content.items())})"

    @property
    def _content(self) -> dict[str, object]:
        """Everything but how it is delivered, and ``sent``, which says the same as the reports."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("sent", "_delivery")}

    @property
    def delivered(self) -> bool:
        """Whether the server has confirmed it."""
        return self._delivery.status(self.id) == "delivered"

    @property
    def refused(self) -> bool:
        """Whether the server has refused it for good."""
        return self._delivery.status(self.id) == "refused"

    @property
    def expired(self) -> bool:
        """Whether it could not be delivered for so long that this device gave up. It may have arrived all the same."""
        return self._delivery.status(self.id) == "expired"

    @property
    def trouble(self) -> str | None:
        """Why the last attempt to deliver it failed, in words; None if it did not fail."""
        return self._delivery.trouble


_read_submission = msgspec.json.Decoder(Submission).decode  # made at import, before any thread can need it


def receipt_of(entry: Entry, document: Document, delivery: Delivery) -> Receipt:
    """The receipt for an entry of the ledger, which answers this survey."""
    if entry.body is None:
        return Receipt("", "", None, [], {}, entry.epsilon, entry.delta, (), delivery)
    try:
        submission = _read_submission(entry.body)
        booklet, reports, digest = submission["booklet"], submission["reports"], submission["digest"]
        # Where another document of the same survey was answered, the parts are not ours to explain.
        parts = document.parts_of(booklet) if digest == document.digest else ()
        sent = tuple(_sent(part, report) for part, report in zip(parts, reports, strict=bool(parts)))
    except (msgspec.DecodeError, IndexError, ValueError):
        raise StateError("the state cannot be used: an entry of its ledger is damaged") from None
    segments = submission["segments"]
    return Receipt(submission["id"], digest, booklet, reports, segments, entry.epsilon, entry.delta, sent, delivery)


def _sent(part: Part, report: int) -> Sent:
    return Sent(part.names, part.epsilon, report, tuple(speaks_for(part, report)))


def speaks_for(part: Part, report: int) -> list[dict[str, str]]:
    """The answers that a report speaks for, by the names of what the part reports on; none where it is about a mean."""
    channel = part.channel
    if channel.exclusive:
        paths = [
            path
            for path, support in zip(part.paths, channel.supports(), strict=False)
            if channel.shows(report, support.feature)
        ]
        return [
            {item.name: item.codes[place] for item, place in zip(part.items, path, strict=True) if place is not None}
            for path in paths
        ]
    # One option was drawn: the report is its yes or no.
    (item,) = part.items
    return [
        {f"{item.name}.{code}": "yes" if report == support.feature else "no"}
        for code, support in zip(item.codes, channel.supports(), strict=True)
        if report in (support.feature, support.against)
    ]
