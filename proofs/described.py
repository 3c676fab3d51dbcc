"""Requests that schemathesis makes from the server's own description, and whether the answers keep to it."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle, product
from random import Random
from typing import Any

import requests as http
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from requests.adapters import HTTPAdapter
from schemathesis import GenerationMode, checks
from schemathesis.core.failures import FailureGroup

from . import Watch
from .hostile_requests import Target
from .judging import Judge
from .wire import SOURCE, Reply

LIKELY = {
    "estimates": [{}, {"by": "campus"}, {"simultaneous": "1", "distribution": "1"}, {"target": "respondents"}],
    "compare": [{"question": "vaped", "by": "campus"}, {"question": "drinks", "by": "campus", "confidence": "0.9"}],
    "crosstab": [{"rows": "vaped", "columns": "stress"}, {"rows": "campus", "columns": "substance"}],
    "regression": [{"question": "vaped", "on": "campus"}, {"question": "substance", "answer": "none", "on": "campus"}],
}
"""By the end of the path: what an analyst would ask, so that results are held to their description, too."""

LEFT_OUT = {
    # A submission can fit the description and still not the survey that it is sent to.
    "positive_data_acceptance",
    # After some wrong tokens it is 429 that answers another one. That no wrong token gets through is checked below.
    "ignored_auth",
    # Only surveys can be deleted, which is not tried here, and nothing has an owner.
    "use_after_free", "ensure_resource_availability", "object_level_authorization",
}  # fmt: skip

REFUSED = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""What may answer a body that goes against the description. Schemathesis has no 413, for one that is too long."""


class _FromSource(HTTPAdapter):
    """Connections from the address that hostile requests come from."""

    def init_poolmanager(self, *args: Any, **more: Any) -> None:
        super().init_poolmanager(*args, **more, source_address=(SOURCE, 0))


def send_described(target: Target, judge: Judge, watch: Watch, count: int, start: int) -> None:
    """About this many requests: every operation, as described and against it, by nobody, an analyst and an admin."""
    base = f"http://127.0.0.1:{target.port}"
    config = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}})
    schema = schemathesis.openapi.from_url(f"{base}/openapi.json", config=config)
    operations = [result.ok() for result in schema.get_all_operations()]
    wanted = [checks.CHECKS.get_one(name) for name in checks.CHECKS.get_all_names() if name not in LEFT_OUT]
    session = http.Session()
    session.mount("http://", _FromSource())
    people = [{}, *({"Authorization": f"Bearer {secret}"} for secret in (target.analyst, target.admin))]
    rounds = [
        (operation, mode, headers, real)
        for operation, mode, headers, real in product(operations, GenerationMode, people, (True, False))
        if not real
        or (
            any(parameter.name == "survey" for parameter in operation.iter_parameters())
            and not (operation.method.upper() == "DELETE" and headers is people[-1])  # an admin may: it would be gone
        )
    ]
    each, until = max(2, count // len(rounds)), judge.sent + count

    def run(operation: Any, mode: GenerationMode, headers: dict[str, str], real: bool, start: int) -> None:
        likely = LIKELY.get(operation.path.rpartition("/")[2].partition(".")[0])
        query = Random(start).choice(likely) if likely and real else None
        changes = operation.path.endswith(("/close", "/hold", "/schedule"))
        known = {"survey": target.closed if changes else target.survey}

        @seed(start)
        @settings(
            max_examples=min(each, until - judge.sent), database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode, path_parameters=known if real else None, query=query))
        def send(case: schemathesis.Case) -> None:
            response = case.call(base, session=session, headers=headers, timeout=30)
            request = f"{case.method} {case.formatted_path} {case.query} {case.body!r:.200}".encode(errors="replace")
            named = {name.lower(): values[0] for name, values in response.headers.items()}
            judge.count("made by schemathesis", Reply(response.status_code, named, response.content), request)
            if response.status_code < 400 and not headers and operation.definition.raw.get("security"):
                judge.fail(f"{operation.label}: {response.status_code} without a token")
            try:
                case.validate_response(response, checks=wanted, headers=headers, transport_kwargs={"session": session})
            except FailureGroup as group:
                for failure in group.exceptions:
                    judge.fail(f"{operation.label}: {failure.title}: {' '.join(str(failure.message).split())[:300]}")

        with suppress(Unsatisfiable):  # nothing can go against a description that allows all
            send()

    for at, one in enumerate(cycle(rounds)):
        if judge.sent >= until or watch.is_over:
            break
        run(*one, start + at)
    session.close()
