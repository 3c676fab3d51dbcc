"""What may come back from a server, whatever was sent."""

from __future__ import annotations

import json
from collections import Counter

from .hostile_bodies import MARK
from .wire import Reply


class Judge:
    """Counts what was sent and what came back, and notes what may not be."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.failures: list[str] = []

    @property
    def sent(self) -> int:
        return sum(self.kinds.values())

    def fail(self, sentence: str) -> None:
        if len(self.failures) < 50 and sentence not in self.failures:
            self.failures.append(sentence)

    def count(self, kind: str, reply: Reply | None, request: bytes) -> None:
        """One request, and its answer: None where the connection was closed instead."""
        self.kinds[kind] += 1
        self.statuses["closed" if reply is None else str(reply.status)] += 1
        if reply is None:
            return
        shown = f"{request[:200]!r}{'…' if len(request) > 200 else ''}"
        if reply.status >= 500:
            self.fail(f"{reply.status} to {shown}")
        if reply.headers.get("content-type") == "application/problem+json":
            # Errors in a survey are reported to those who publish or plan it; no other sender's words come back.
            if MARK.encode() in reply.body and not request.startswith(
                (b"POST /api/v1/surveys ", b"POST /api/v1/plan ")
            ):
                self.fail(f"an error repeats what was sent: {shown}")
            if reply.body and json.loads(reply.body)["status"] != reply.status:
                self.fail(f"a problem of another status than its response: {shown}")
        if reply.status == 201 and json.loads(reply.body).get("accepted"):
            self.fail(f"stored: {shown}")
