"""Counters for Prometheus. They are totals of this server: no survey, address or submission can be told from them."""

from __future__ import annotations

import os

from flask import Flask, Response, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from deniable_protocol import Accepted

# A counter's "created" series would reveal to the microsecond when the first respondent of its kind came.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """What this server has done since it started; with several workers, all of them together."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.submissions = Counter(
            "deniable_submissions",
            "Submissions by what became of them.",
            ["result"],
            registry=self.registry,
        )
        self.requests = Counter(
            "deniable_http_requests",
            "Requests by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self.store_seconds = Histogram(
            "deniable_store_seconds",
            "Time until submissions were on disk.",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=self.registry,
        )
        self._accepted = self.submissions.labels("accepted")
        self._duplicates = self.submissions.labels("duplicate")
        self._answered: dict[tuple[str, int], Counter] = {}

    def answered(self, route: str, status: int) -> None:
        known = self._answered.get((route, status))
        if known is None:
            known = self._answered[route, status] = self.requests.labels(route, str(status))
        known.inc()

    def stored(self, answer: Accepted, seconds: float) -> None:
        """These were stored, and are on disk after so many seconds."""
        self.store_seconds.observe(seconds)
        if answer.accepted:
            self._accepted.inc(answer.accepted)
        if answer.duplicates:
            self._duplicates.inc(answer.duplicates)

    def text(self) -> bytes:
        """Everything, in Prometheus's own format."""
        registry = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def register(app: Flask, metrics: Metrics) -> None:
    """Count every request by the route that took it: never by its address or its path."""

    @app.after_request
    def count(response: Response) -> Response:
        metrics.answered("none" if request.url_rule is None else request.url_rule.rule, response.status_code)
        return response


CONTENT_TYPE = CONTENT_TYPE_LATEST
