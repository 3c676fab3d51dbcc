"""Several servers on one PostgreSQL, at the size of a test; and that the proofs do find what can break there."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from deniable_server.errors import Unavailable
from deniable_server.storage import Accepted, Row
from deniable_server.storage.postgres.storage import PostgresStorage
from deniable_server.web.submission_reader import SubmissionReader
from proofs import Watch, away, servers
from proofs.parcels import Maker, published
from tests.helpers import server_faults
from tests.helpers.postgres import Cluster

pytestmark = pytest.mark.usefixtures("linux")


def test_acknowledged_is_kept_by_several_servers(tmp_path: Path) -> None:
    """Three servers fold, are killed and started again, and close the survey: each of 3,000 acknowledged submissions is
    stored once, statistics equal a recount, and all servers give the same estimates.
    """
    outcome = servers.prove(tmp_path, Watch(600), 7, acknowledgements=3_000, kills=5)
    assert outcome.failures == []
    assert outcome.figures["kills"] >= 6 and outcome.figures["acknowledgements"] >= 3_000
    assert outcome.figures["requests without an answer"] > 5


def test_a_database_that_goes_away_loses_nothing(tmp_path: Path) -> None:
    """PostgreSQL is stopped, crashes, loses a process and cuts connections under load: senders are told 503, servers
    say that they are not ready, and go on by themselves with all that was acknowledged.
    """
    outcome = away.prove(tmp_path, Watch(600), 7, outages=4)
    assert outcome.failures == []
    assert all(outcome.figures[f"times: {kind}"] == 1 for kind in ("stop", "crash", "backend", "cut"))
    assert outcome.figures["answers 503"] > 20


def test_a_commit_that_is_not_waited_for_is_found(tmp_path: Path) -> None:
    """With synchronous_commit off, a crash of the database loses what was acknowledged, and the proof says so."""
    planted = server_faults.commits_in_postgresql_are_not_waited_for
    outcome = away.prove(tmp_path, Watch(300), 7, outages=1, kinds=("crash",), planted=planted)
    assert any("an acknowledged submission is lost" in failure for failure in outcome.failures), outcome


def test_a_server_that_forgets_what_is_sealed_is_found(tmp_path: Path) -> None:
    """If servers look for an id in the inbox only, a retry after a folding is stored twice, and the proof sees it."""
    planted = server_faults.postgresql_forgets_what_is_sealed
    outcome = servers.prove(tmp_path, Watch(300), 7, 300, 1, ("fold",), planted)
    assert any("once more" in failure or "twice" in failure for failure in outcome.failures), outcome


def test_what_is_stored_and_what_is_counted_are_committed_together(
    postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is cut after a request's rows were inserted, and before its day was counted, leaves nothing."""
    storage = PostgresStorage(postgres.new_database())
    storage.publish(published("cut"))
    survey = storage.find("cut")
    assert survey is not None
    known, new = (SubmissionReader(survey.document).read(Maker(3).parcel("cut", 1).body).rows for _ in range(2))
    storage.accept(survey, known)
    count_days = PostgresStorage._count_days
    calls: list[int] = []

    def cut_before(self: PostgresStorage, connection: psycopg.Connection[Row], added: dict[int, int]) -> None:
        calls.append(len(calls))
        if len(calls) == 2:  # after the quick way, which found that one is known
            connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        count_days(self, connection, added)

    monkeypatch.setattr(PostgresStorage, "_count_days", cut_before)
    with pytest.raises(Unavailable):
        storage.accept(survey, [*known, *new])
    assert storage.verify() == [] and sum(storage.days(survey).values()) == 1
    assert storage.accept(survey, [*known, *new]) == Accepted(1, 1)
    assert storage.verify() == [] and sum(storage.days(survey).values()) == 2
    storage.close()
