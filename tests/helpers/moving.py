"""What must be true of ``deniable move``, whatever kinds of databases it copies from and to."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable_protocol import publish, randomize, survey_from_tree
from deniable_server.cli import cli
from deniable_server.errors import StorageError, SurveyClosed
from deniable_server.storage import Accepted, Published, Session, Storage, Token, open_storage, transfer
from deniable_server.storage.activity import Deed
from deniable_server.storage.location import locate
from deniable_server.storage.transfer import move
from tests.helpers.servers import Server, ask, running
from tests.helpers.storage_contract import OTHER, recounted, rows_of

FAR = 2**40  # seconds since 1970

KILLED_AT_THE_THIRD_CHUNK = """
import os, signal, sys
from deniable_server.storage import transfer
from deniable_server.storage.location import locate

calls, chunks = [], transfer._chunks

def chunks_or_die(items):
    for chunk in chunks(items):
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        yield chunk

transfer._chunks, transfer.CHUNK = chunks_or_die, 100
transfer.move(locate(sys.argv[1]), locate(sys.argv[2]))
"""


def filled(storage: Storage, example: bytes) -> tuple[Published, Published]:
    """Two open surveys, and people who may read them: the maker of a token comes after it by id."""
    for published in (example, publish(survey_from_tree(OTHER))):
        storage.publish(published)
    first, second = storage.find("campus-health"), storage.find("other")
    assert first is not None and second is not None
    storage.tokens.add(Token("zz", "admin", "the maker", "a" * 64, "2026-02-01"))
    storage.tokens.add(Token("aa", "reader", "a link", "b" * 64, "2026-02-02", {"other": "reader"}, "2099-01-01", "zz"))
    storage.tokens.begin(Session("c" * 64, "zz", 5, FAR, FAR), now=5, most=9)
    storage.tokens.begin(Session("d" * 64, "zz", 6, FAR + 1, FAR + 1), now=6, most=9)
    for at in (9, 8, 7):
        storage.activity.note(Deed(at, "zz", "the maker", "admin", "signed-in", None, {"at": str(at)}))
    for survey in (first, second):  # as if both were by invitation
        storage.invitations.ensure_key(survey.document.survey.id)
        storage.invitations.add(survey, [bytes([n]) * 32 for n in range(4)], uses=2)
        for n in (0, 0, 1):
            storage.invitations.take(survey, bytes([n]) * 32, bytes([n]) * 32)
        storage.invitations.take(survey, bytes(32), b"x" * 32)
        storage.invitations.revoke(survey, [bytes([3]) * 32])
    return first, second


def fill(database: str, example: bytes, answers: dict[str, Any], submissions: int = 700) -> None:
    """A database with an open survey, of which some submissions are folded and some are not, and a closed one."""
    storage = open_storage(database)
    first, second = filled(storage, example)
    rows = rows_of(first, answers, submissions)
    storage.accept(first, rows[:-150])
    storage.accept(first, rows[-150:-100], "kiosk")
    storage.fold(first)
    storage.accept(first, rows[-100:-50])
    storage.accept(first, rows[-50:], "kiosk")
    storage.accept(second, [rows[0]._replace(content="[0,[1],[]]")])
    storage.close_survey(second)
    storage.close()


def contents(database: str) -> dict[str, Any] | None:
    """Everything in a database; None where there is none, or nothing in it."""
    try:
        storage = open_storage(database, create=False)
    except StorageError as error:
        if "There is no" in str(error):
            return None
        raise
    try:
        if not storage.surveys() and not storage.tokens.all():
            return None
        found: dict[str, Any] = {
            "surveys": storage.surveys(),
            "tokens": storage.tokens.all(),
            "sessions": [storage.tokens.sessions(token.id, 9) for token in storage.tokens.all()],
            "activity": [replace(each, number=0) for each in storage.activity.every()],
        }
        for listed in storage.surveys():
            survey = storage.find(listed.id)
            assert survey is not None
            with storage.stored(survey) as stored:
                found[listed.id] = (survey.raw, list(stored), stored.days, storage.divided(survey, None, ["kiosk"]))
            assert storage.statistics(survey) == storage.recount(survey)
        with storage._reading() as view:  # type: ignore[attr-defined]
            found["keys"] = view.rows("SELECT survey, key FROM issuers ORDER BY survey")
            for table, columns in (
                ("invitations", "uses, used, expires_on, revoked"),
                ("issued", "issued.number, blinded"),
            ):
                found[table] = view.rows(
                    f"SELECT id, code, {columns} FROM {table} JOIN surveys ON surveys.number = {table}.survey"
                    f" ORDER BY id, code, {columns}"
                )
        assert storage.verify() == []
        return found
    finally:
        storage.close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def said(result: Result) -> str:
    """What a command printed, in one line: paths are long, and lines are wrapped."""
    return " ".join(result.output.split())


def check_everything_arrives(source: str, target: str, example: bytes, answers: dict[str, Any]) -> None:
    """Surveys with bytes, status and dates, submissions, statistics, days, tokens and sessions are the same in both;
    the estimates are equal; and the new database goes on where the old one stopped.
    """
    fill(source, example, answers)
    before = contents(source)
    estimates = run("estimate", "campus-health", "--database", source, "--json")
    done = run("move", "--from", source, "--to", target)
    assert done.exit_code == 0, done.output
    assert "equal by a recount: surveys 2, submissions 701, tokens 2, sessions 2." in done.output
    assert contents(target) == before and contents(source) == before
    assert run("estimate", "campus-health", "--database", target, "--json").stdout == estimates.stdout != ""
    storage = open_storage(target)
    survey, closed = storage.find("campus-health"), storage.find("other")
    assert survey is not None and closed is not None and before is not None
    rows, new = before["campus-health"][1], rows_of(survey, answers, 1)
    assert storage.accept(survey, rows[:5] + new) == Accepted(1, 5), "retries are known, new submissions are taken"
    assert storage.statistics(survey) == recounted(survey, rows + new)
    with pytest.raises(SurveyClosed):
        storage.accept(closed, rows[1:2])
    storage.close()


def check_refused_while_serving(
    database: str, other: str, tmp_path: Path, example: bytes, answers: dict[str, Any]
) -> None:
    """With a server on it, a database is neither moved nor filled, whatever the other one is: nothing changes in it,
    and the server stays ready and takes submissions. Once the server is killed, the move succeeds.
    """
    fill(database, example, answers)
    before = contents(database)
    source = str(tmp_path / "source.db")
    fill(source, example, answers, 200)
    with running(database, tmp_path / "log", "--workers", "2") as server:
        # A new SQLite file must not exist at all; a PostgreSQL database must be empty and not in use.
        for pair in ((database, other), (source, database), (database, database)):
            refused = run("move", "--from", pair[0], "--to", pair[1])
            assert refused.exit_code == 1
            assert "is in use" in said(refused) or "exists already" in said(refused), refused.output
        assert contents(other) is None and contents(database) == before
        assert ask(f"{server.base}/readyz").status == 200
        assert send(server, answers) == 201
        server.stop(signal.SIGKILL)
    done = run("move", "--from", database, "--to", other)
    assert done.exit_code == 0 and "submissions 702," in done.output, done.output


def check_an_idle_server_counts(database: str, other: str, tmp_path: Path, example: bytes) -> None:
    """A server that has had no request yet blocks a move as well."""
    storage = open_storage(database)
    storage.publish(example)
    storage.close()
    with running(database, tmp_path / "log"):
        refused = run("move", "--from", database, "--to", other)
        assert refused.exit_code == 1 and "is in use" in said(refused)
    assert contents(other) is None


def send(server: Server, answers: dict[str, Any]) -> int:
    document = ask(f"{server.base}/api/v1/surveys/campus-health").body
    submission = randomize(document, answers, {"campus": "north"})
    return ask(f"{server.base}/api/v1/surveys/campus-health/submissions", submission).status


def check_broken_off(
    source: str, target: str, example: bytes, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error or a kill during the copy leaves the source as it was and the target empty; then it can be repeated."""
    fill(source, example, answers)
    before = contents(source)
    for place in (2, 9):  # in the midst of copying, and of comparing
        with monkeypatch.context() as planted:
            calls: list[int] = []
            chunks = transfer._chunks

            def fails(items: Any, place: int = place, calls: list[int] = calls, chunks: Any = chunks) -> Any:
                for chunk in chunks(items):
                    calls.append(1)
                    if len(calls) == place:
                        raise StorageError("the disk is full")
                    yield chunk

            planted.setattr(transfer, "CHUNK", 100)
            planted.setattr(transfer, "_chunks", fails)
            with pytest.raises(StorageError, match="the disk is full"):
                move(locate(source), locate(target))
        assert contents(target) is None and contents(source) == before
    command = [sys.executable, "-c", KILLED_AT_THE_THIRD_CHUNK, source, target]
    assert subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL
    assert contents(target) is None and contents(source) == before
    move(locate(source), locate(target))
    assert contents(target) == before


def check_a_wrong_copy_is_found(
    source: str, target: str, example: bytes, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target that loses or changes a submission, or a day, is not kept."""
    fill(source, example, answers, 200)
    kind: Any = type(locate(target))
    filling = kind.filling
    for spoil in (
        "DELETE FROM sealed WHERE id = (SELECT id FROM sealed ORDER BY id LIMIT 1)",
        "UPDATE sealed SET content = replace(content, ',[0]]', ',[1]]')",
        "UPDATE statistics SET counts = replace(counts, '[', '[1') WHERE margin = 0",
        "UPDATE statistics SET counts = replace(counts, '[', '[1') WHERE source = 1",
        "UPDATE days SET accepted = accepted + 1",
        "DELETE FROM tokens WHERE id = 'aa'",
        "DELETE FROM token_surveys WHERE token = 'aa'",
        "UPDATE activity SET at = at + 1",
    ):

        @contextmanager
        def spoilt(self: Any, spoil: str = spoil) -> Iterator[Any]:
            with filling(self) as copied:
                write = copied.write

                def writes(statement: str, values: Any) -> None:
                    write(statement, values)
                    if any(f"INTO {table} " in statement for table in ("days", "sessions", "activity")):
                        write(spoil, [{}])

                copied.write = writes
                yield copied

        with monkeypatch.context() as planted:
            planted.setattr(kind, "filling", spoilt)
            with pytest.raises(StorageError, match=r"differ|other (tokens|token_surveys|activity) "):
                move(locate(source), locate(target))
        assert contents(target) is None
