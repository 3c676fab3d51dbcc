"""Receipts: what left this device, for the respondent to see.

May not: hold an answer. A receipt shows what was sent, and whether it has arrived.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from deniable_protocol import Submission

from .delivery import Delivery
from .errors import StateError
from .state import Entry


@dataclass(frozen=True)
class Receipt:
    """One submission as it is sent: all that the server, or anyone else, ever sees.

    ``delivered``, ``refused`` and ``trouble`` are live: they are up to date each time you read them.
    """

    id: str
    digest: str
    reports: dict[str, int] = field(hash=False)
    segments: dict[str, str] = field(hash=False)
    epsilon: str
    """The epsilon that it spends, as an exact decimal."""
    _delivery: Delivery = field(repr=False, compare=False)

    @property
    def delivered(self) -> bool:
        """Whether the server has confirmed it."""
        return self._delivery.status(self.id) == "delivered"

    @property
    def refused(self) -> bool:
        """Whether the server has refused it for good."""
        return self._delivery.status(self.id) == "refused"

    @property
    def trouble(self) -> str | None:
        """Why the last attempt to deliver it failed, in words; None if it did not fail."""
        return self._delivery.trouble(self.id)


_read_submission = msgspec.json.Decoder(Submission).decode  # made at import, before any thread can need it


def receipt_of(entry: Entry, delivery: Delivery) -> Receipt:
    """The receipt for an entry of the ledger."""
    try:
        submission = _read_submission(entry.body)
    except msgspec.DecodeError:
        raise StateError("the state cannot be used: an entry of its ledger is damaged") from None
    return Receipt(
        submission["id"],
        submission["digest"],
        submission["reports"],
        submission["segments"],
        entry.epsilon,
        delivery,
    )
