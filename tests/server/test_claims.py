"""Claims of the security review that no other test would miss. Each has a planted fault: see tests/helpers."""

from __future__ import annotations

import os
import sqlite3
from base64 import urlsafe_b64decode
from collections.abc import Iterable
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import publish, survey_from_tree
from deniable_server import create_app
from deniable_server.analysis import tables
from deniable_server.errors import HeldBack
from deniable_server.export.write import export
from deniable_server.settings import SETTINGS, Settings
from deniable_server.storage import Row
from deniable_server.storage.sqlite import connections
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.tokens import make_token
from deniable_server.web import auth
from tests.helpers.hostile_texts import hostile_survey
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in
from tests.helpers.storage_contract import rows_of

# --- secrets ---------------------------------------------------------------------------------------------------------


def assert_256_random_bits(words: Iterable[str]) -> None:
    """Each has 32 bytes, and each of their 256 bits is 0 in one of the words and 1 in another.

    Forty words that are random fail once in 2^31 runs: 512 times 2^-40.
    """
    numbers = []
    for word in words:
        raw = urlsafe_b64decode(word + "===")
        assert len(raw) == 32
        numbers.append(int.from_bytes(raw))
    assert len(numbers) == 40
    assert reduce(int.__or__, numbers) == 2**256 - 1
    assert reduce(int.__and__, numbers) == 0


def test_a_token_has_256_random_bits(app: Flask) -> None:
    """What ``make_token`` gives cannot be guessed: no bit of it is fixed."""
    assert_256_random_bits(make_token(storage_of(app), "admin", "")[0] for _ in range(40))


def test_a_session_has_256_random_bits(app: Flask) -> None:
    """What the cookie of a session has in it cannot be guessed, either."""
    _, token = make_token(storage_of(app), "analyst", "")

    def session() -> str:
        with app.test_request_context():
            response = app.response_class()
            auth.sign_in(response, token)
        return response.headers["Set-Cookie"].partition("=")[2].partition(";")[0]

    assert_256_random_bits(session() for _ in range(40))


class Guarded(bytes):
    """Bytes that must not be compared one by one: that takes longer the more of a guess is right."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared with ==")

    __ne__ = __eq__


class GuardedText(str):
    """The same for text."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = Guarded.__eq__  # type: ignore[assignment]

    def encode(self, *given: Any) -> Guarded:
        return Guarded(super().encode(*given))


def test_words_of_forms_are_compared_in_constant_time(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it takes to refuse a form says nothing about the word that it should have had."""
    enter(http, app, "admin")
    word = word_in(http.get("/"))
    monkeypatch.setattr(auth, "form_word", lambda: GuardedText(word))
    for sent, status in ((word, 303), (word[:-1] + "x", 403), ("", 403)):
        response = http.post("/surveys/campus-health/close", data={"word": sent}, headers=BROWSER)
        assert response.status_code == status


@pytest.mark.parametrize("role", ["collector", "analyst", "admin"])
def test_only_a_readers_token_opens_as_a_link(http: FlaskClient, app: Flask, role: Any) -> None:
    """An address with another token in it is a link that nobody made, and starts no session."""
    secret, _ = make_token(
        storage_of(app), role, "Ann", surveys={"campus-health": role} if role == "collector" else None
    )
    assert http.get(f"/shared/{secret}", headers=BROWSER).status_code == 404
    assert send(http, f"/shared/{secret}", "/sign-in").status_code == 404
    assert http.get_cookie("deniable") is None


# --- what is stored --------------------------------------------------------------------------------------------------


def test_a_batch_leaves_no_order_of_arrival(tmp_path: Path, example: bytes, example_answers: dict) -> None:
    """A batch that is sealed at once leaves the same pages, byte for byte, in whatever order its submissions came."""
    rows: list[Row] = []
    left = []
    for name in ("a.db", "b.db"):
        storage = SQLiteStorage(tmp_path / name, fold_at=50)
        storage.publish(example)
        survey = storage.find("campus-health")
        assert survey is not None
        rows = rows[::-1] or sorted(rows_of(survey, example_answers, 400))
        storage.accept(survey, rows)
        storage.close()  # the last connection copies the log into the file
        left.append(pages_of("sealed", tmp_path / name))
    assert len(left[0]) >= 4 and left[0] == left[1]


def test_a_closed_survey_has_no_order_of_folding(tmp_path: Path, example: bytes, example_answers: dict) -> None:
    """Once a survey is closed, its pages are the same whichever submissions were folded first."""
    rows: list[Row] = []
    left = []
    for name in ("a.db", "b.db"):
        storage = SQLiteStorage(tmp_path / name, fold_at=50)
        storage.publish(example)
        survey = storage.find("campus-health")
        assert survey is not None
        rows = rows[::-1] or rows_of(survey, example_answers, 400)
        for start in range(0, 400, 100):
            storage.accept(survey, rows[start : start + 100])
        storage.close_survey(survey)
        storage.close()
        left.append([*pages_of("sealed", tmp_path / name).values()])
    assert len(left[0]) >= 4 and left[0] == left[1]


def pages_of(table: str, path: Path) -> dict[int, bytes]:
    """The pages of a table, as they are in the file."""
    with closing(sqlite3.connect(path)) as db:
        numbers = [
            number for (number,) in db.execute("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path", (table,))
        ]
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = path.read_bytes()
    return {number: content[(number - 1) * size : number * size] for number in numbers}


class Recording(sqlite3.Connection):
    """A connection that notes every statement, as it is before values are put in."""

    statements: ClassVar[list[str]] = []

    def execute(self, statement: str, *values: Any) -> Any:
        self.statements.append(statement)
        return super().execute(statement, *values)

    def executemany(self, statement: str, *values: Any) -> Any:
        self.statements.append(statement)
        return super().executemany(statement, *values)


def test_no_statement_has_a_value_in_it(
    tmp_path: Path, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever names, secrets, labels and submissions come, the statements are made of our own words."""

    def connect(*given: Any, **named: Any) -> Any:
        return real(*given, **named, factory=Recording)

    real = sqlite3.connect
    monkeypatch.setattr(connections.sqlite3, "connect", connect)
    monkeypatch.setattr(Recording, "statements", [])
    app = create_app(Settings(database=str(tmp_path / "a.db")))
    storage, http = storage_of(app), app.test_client()
    storage.publish(example)
    survey = storage.find("campus-health")
    assert survey is not None
    rows = rows_of(survey, example_answers, 30)
    storage.accept(survey, rows[:20])
    storage.accept(survey, rows)
    storage.fold(survey)
    secret = enter(http, app, "admin")
    admin = storage.tokens.all()[0]
    _, link = make_token(storage, "reader", "a label", surveys={"campus-health": "reader"}, maker=admin, days=2)
    headers = {"Authorization": f"Bearer {secret}"}
    for path in (
        "estimates?by=campus",
        "estimates?where=campus:north",
        "reports.csv",
        "crosstab?rows=vaped&columns=stress",
    ):
        http.get(f"/api/v1/surveys/campus-health/{path}", headers=headers)
    for path in ("/", "/sessions", "/api/v1/surveys/no-such-survey", "/shared/guessed-secret", "/s/campus-health"):
        http.get(path)
    storage.tokens.revoke(link.id)
    storage.verify()
    storage.close_survey(survey)
    storage.close()
    statements = "\n".join(Recording.statements)
    assert "FROM surveys" in statements and "FROM tokens" in statements and "INTO inbox" in statements
    values = [
        admin.id,
        admin.digest,
        link.id,
        link.digest,
        "a label",
        "campus-health",
        "no-such-survey",
        survey.document.digest,
    ]
    values += [text for row in rows for text in (row.id.hex(), row.content)]
    assert [value for value in values if value in statements] == []


def test_a_closed_storage_has_no_file_open(tmp_path: Path, example: bytes) -> None:
    """Nothing is left open of a database that was closed: neither readers nor the one that writes."""
    storage = SQLiteStorage(tmp_path / "a.db")
    storage.publish(example)
    assert storage.find("campus-health") and open_files(tmp_path)
    storage.close()
    assert open_files(tmp_path) == []


def open_files(folder: Path) -> list[str]:
    files = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
    names = [os.readlink(file) for file in files if file.is_symlink()]
    return [name for name in names if name.startswith(str(folder))]


def test_a_server_without_its_database_is_not_ready(http: FlaskClient, tmp_path: Path) -> None:
    """While submissions cannot be stored, /readyz says so, and a balancer sends nobody here."""
    assert http.get("/readyz").status_code == 200
    (tmp_path / "a.db").rename(tmp_path / "away.db")
    assert http.get("/readyz").status_code == 503
    (tmp_path / "away.db").rename(tmp_path / "a.db")
    assert http.get("/readyz").status_code == 200


def test_nothing_marks_a_respondent(app: Flask) -> None:
    """Two visitors get the same page and the same survey with the same headers: no cookie, and no tag that a browser
    would send back.
    """
    for path in ("/s/campus-health", "/api/v1/surveys/campus-health", "/deniable.js"):
        first, second = (app.test_client().get(path) for _ in range(2))
        assert first.headers == second.headers and first.data == second.data, path
        assert "Set-Cookie" not in first.headers and "Last-Modified" not in first.headers, path
        assert "ETag" not in first.headers or path == "/deniable.js", path  # the same for everybody, as is what it tags


def test_what_nobody_sets_is_safe() -> None:
    """Without settings a server can be reached from its own machine only, and shows no group below ten."""
    settings = Settings()
    assert settings.bind.startswith("127.0.0.1:") and SETTINGS["bind"].default == settings.bind
    assert settings.minimum_group == SETTINGS["minimum_group"].default == 10


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_pages_escape_what_a_survey_says(http: FlaskClient, app: Flask) -> None:
    """No text of a survey is markup on a page: not for respondents, not on the dashboard, not in lists."""
    storage_of(app).publish(publish(survey_from_tree(hostile_survey("hostile"))))
    enter(http, app, "admin")
    for path in ("/", "/s/hostile", "/surveys/hostile", "/surveys/hostile/share", "/surveys/hostile/close"):
        text = http.get(path, headers=BROWSER).text
        assert "hacked" in text, path
        assert not any(markup in text for markup in ("<script>window", "<img src=x", "<svg/onload", "<iframe")), path


def test_no_cell_of_a_table_is_a_formula() -> None:
    """Whatever a text begins with: a spreadsheet that opens the table shows it, and computes nothing."""
    for start in ("=", "+", "-", "@", "\t", "\r"):
        assert tables._cell(f"{start}1+1") == f"'{start}1+1"


def test_what_is_held_back_is_not_exported(app: Flask, tmp_path: Path) -> None:
    """Files are a way to read results, too: while those are held back, none are written."""
    storage = storage_of(app)
    survey = storage.find("campus-health")
    assert survey is not None
    storage.hold_results(survey, None)
    with pytest.raises(HeldBack):
        export(storage, survey, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_sources_are_not_served(http: FlaskClient) -> None:
    """Files are known by name: what else is in the folders of the packages is not served under any of the addresses."""
    for folder in ("static", "deniable"):
        for file in ("surveys.py", "__init__.py", "layout.py", "base.html", "package.json", "deniable.js.map"):
            assert http.get(f"/{folder}/{file}").status_code == 404, file
