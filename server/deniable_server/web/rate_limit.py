"""The rate limit. May not: keep an address anywhere but in memory, or for longer than one window."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import Any

from deniable_server.errors import Kind, Refusal
from deniable_server.settings import Rate


class RateLimit:
    """So much per address and window. The first request after a window makes it forget all addresses."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._lock = Lock()
        self._counts: Counter[Any] = Counter()
        self._ends = clock() + rate.seconds

    def spend(self, address: str | None, number: int = 1) -> None:
        """Count so many; Refusal where that is more than this address has left in its window."""
        with self._lock:
            now = self._clock()
            if now >= self._ends:
                self._counts.clear()
                self._ends = now + self._rate.seconds
            network = _network(address)
            if self._counts[network] + max(number, 1) > self._rate.number:
                wait = max(1, round(self._ends - now + 0.5))
                detail = f"At most {self._rate.number} in {self._rate.seconds} seconds. Try again later, or with less."
                raise Refusal(Kind.RATE_LIMIT, detail, {"Retry-After": str(wait)})
            self._counts[network] += number


def _network(address: str | None) -> object:
    """One household's addresses count as one: an IPv6 subscriber has a whole /64. What is no address counts as one,
    too: a proxy that passes on anything else must not open a way around the limit.
    """
    text = (address or "").partition("]")[0].removeprefix("[")  # [2001:db8::1]:443
    try:
        parsed = ip_address(text.partition(":")[0] if text.count(":") == 1 else text)  # 192.0.2.1:443
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address):
        return parsed.ipv4_mapped or int(parsed) >> 64
    return parsed
