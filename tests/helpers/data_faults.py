"""Faults in what is stored, shown and logged: submissions, files, groups, downloads, error messages and log lines."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import re
import sqlite3
import traceback
from collections import Counter
from dataclasses import replace as replaced
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from flask import Flask, request

from deniable_protocol.errors import SubmissionError
from deniable_server import settings
from deniable_server.analysis import estimates, groups, reports, tables
from deniable_server.analysis import source as analysis_source
from deniable_server.analysis.groups import Grouping, Merged
from deniable_server.analysis.source import StoredSurvey
from deniable_server.export import write
from deniable_server.planning import limits
from deniable_server.storage import Accepted, State, base, files, queries, tokens
from deniable_server.storage.base import DatabaseStorage, Request
from deniable_server.storage.sqlite import backup, connections, tag
from deniable_server.storage.sqlite import storage as sqlite_storage
from deniable_server.storage.sqlite.connections import Connections
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.tokens import Tokens
from deniable_server.storage.trouble_log import TroubleLog
from deniable_server.storage.waiting import Inbox
from deniable_server.web import problems, security_log, submission_reader
from deniable_server.web.context import AppState
from deniable_server.web.metrics import Metrics
from deniable_server.web.security_log import SecurityLog
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.planting import constant, in_source, instead_of, replace

draft_pages = import_module("deniable_server.pages.drafts")  # the package has a blueprint of that name

# --- submissions -----------------------------------------------------------------------------------------------------


@instead_of(SubmissionReader, "_fits")
def reports_that_no_channel_gives_are_taken(*_: Any) -> bool:
    return True


@instead_of(SubmissionReader, "read")
def a_submission_to_another_document_is_taken(
    original: Any, self: SubmissionReader, body: bytes, *, batches: bool = True
) -> Any:
    ours = f'"digest":"{self._document.digest}"'.encode()
    return original(self, re.sub(rb'"digest"\s*:\s*"[0-9a-f]{64}"', ours, body), batches=batches)


@instead_of(SubmissionReader, "_repeats_a_key")
def the_quick_way_takes_a_key_twice(*_: Any) -> bool:
    return False


def the_careful_way_takes_a_key_twice() -> None:
    constant(submission_reader, "strict_json", json.loads)


def a_batch_of_any_size() -> None:
    constant(submission_reader, "MAX_BATCH", 10**9)


@instead_of(sqlite_storage, "_insertion")
def a_closed_survey_takes_submissions(original: Any, rows: int, *, sealed: bool) -> str:
    statement: str = original(rows, sealed=sealed)
    return statement.replace("= 'open'", "IS NOT NULL")


@instead_of(SQLiteStorage, "_store")
def half_a_batch_is_stored(
    original: Any, self: SQLiteStorage, db: sqlite3.Connection, survey: Any, rows: Any, source: int
) -> Any:
    stored = [original(self, db, survey, [row], source) for row in rows]
    refused = [each for each in stored if isinstance(each, Exception)]
    return (
        refused[0] if refused else Accepted(sum(one.accepted for one in stored), sum(one.duplicates for one in stored))
    )


def an_uploaded_survey_of_any_size() -> None:
    constant(draft_pages, "MAX_BYTES", 2**24)


@instead_of(base, "refuse_another")
def another_survey_of_the_same_id_is_no_error(*_: Any) -> None:
    return None


# --- order and time of arrival ---------------------------------------------------------------------------------------


@instead_of(SQLiteStorage, "_store_all")
def a_batch_is_sealed_in_order_of_arrival(
    original: Any, self: SQLiteStorage, db: sqlite3.Connection, requests: list[Request]
) -> bool:
    order = {row.id: place for request in requests for place, row in enumerate(request.rows)}
    insert = self._insert

    def in_order(db: sqlite3.Connection, first: Any, rows: Any, *, sealed: bool) -> int:
        return insert(db, first, sorted(rows, key=lambda row: order[row.id]), sealed=sealed)

    self._insert = in_order  # type: ignore[method-assign]
    try:
        return bool(original(self, db, requests))
    finally:
        del self._insert


@instead_of(SQLiteStorage, "_fold_chunk")
def a_single_submission_is_folded_alone(original: Any, self: SQLiteStorage, survey: Any, at_least: int) -> Any:
    return original(self, survey, 1)


@instead_of(Connections, "open")
def deleted_rows_stay_in_the_file(original: Any, self: Connections) -> sqlite3.Connection:
    connection: sqlite3.Connection = original(self)
    connection.execute("PRAGMA secure_delete=OFF")
    return connection


@instead_of(Connections, "compact")
def closing_leaves_the_order_of_folding(_: Any, self: Connections) -> None:
    return None


@instead_of(Connections, "_wait_to_cut_log")
def a_survey_is_closed_while_the_log_has_its_order(*_: Any) -> None:
    return None


@instead_of(DatabaseStorage, "_close_quietly")
def the_log_says_when_the_last_one_answered(original: Any, self: DatabaseStorage, survey: str) -> bool:
    closed: bool = original(self, survey)
    base.log.info("Closed %s", survey)
    return closed


@instead_of(SQLiteStorage, "_count_day")
def submissions_are_counted_by_the_minute(original: Any, self: SQLiteStorage, *given: Any) -> None:
    today = self._today
    self._today = lambda: datetime.now(UTC)  # type: ignore[method-assign]
    try:
        original(self, *given)
    finally:
        self._today = today  # type: ignore[method-assign]


# --- files -----------------------------------------------------------------------------------------------------------


@instead_of(connections, "_create")
def a_database_that_everybody_can_read(original: Any, path: Path) -> None:
    original(path)
    path.chmod(0o644)


@instead_of(files, "put")
def a_backup_that_everybody_can_read(original: Any, made: Path, final: Path) -> None:
    original(made, final)
    final.chmod(0o644)


@instead_of(files, "_only_we_rename")
def a_backup_is_made_where_others_can_exchange_it(*_: Any) -> bool:
    return True


def a_backups_tag_is_not_compared() -> None:
    constant(tag, "hmac", SimpleNamespace(new=hmac.new, digest=hmac.digest, compare_digest=lambda *_: True))


def a_bare_copy_is_restored() -> None:
    constant(backup, "_refuse_bare_copy", lambda *_: None)


@instead_of(settings, "_keep")
def a_secret_key_that_everybody_can_read(original: Any, key: str, path: Path) -> None:
    original(key, path)
    path.chmod(0o644)


@instead_of(write, "writing")
@contextlib.contextmanager
def an_export_that_everybody_can_read(original: Any, folder: Path, *given: Any, **named: Any) -> Any:
    with original(folder, *given, **named) as writer:
        yield writer
    folder.chmod(0o755)


@instead_of(backup, "_check_copy")
def a_damaged_backup_is_restored(*_: Any) -> None:
    return None


@instead_of(backup, "_refuse_taken")
def a_restore_overwrites_a_database(_: Any, final: Path) -> None:
    final.unlink(missing_ok=True)


@instead_of(backup, "refuse_foreign")
def a_database_of_a_newer_version_is_opened(original: Any, path: Path, connection: Any) -> Any:
    from deniable_server.errors import StorageError

    try:
        return original(path, connection)
    except StorageError:
        return {"of another"}


@instead_of(Connections, "close")
def connections_are_left_open(_: Any, self: Connections) -> None:
    return None


@instead_of(SQLiteStorage, "ready")
def ready_whatever_the_database_says(_: Any, self: SQLiteStorage) -> None:
    return None


# --- groups and downloads --------------------------------------------------------------------------------------------


@instead_of(Grouping, "_merged")
def small_groups_are_shown(*_: Any) -> set[int]:
    return set()


@instead_of(Grouping, "groups")
def the_rest_is_left_for_subtraction(_: Any, self: Grouping, name: str) -> list[Merged]:
    """Small groups are left out: all, minus those that are shown, are then the small ones."""
    place, segment = self.segments[name]
    sizes = Counter[int]()
    for codes, cell in self.statistics.items():
        sizes[codes[place]] += cell.submissions
    return [groups._group(segment, [j]) for j in range(len(segment.options)) if sizes[j] >= self.minimum]


@instead_of(Grouping, "check")
def small_combinations_are_shown(*_: Any) -> None:
    return None


@instead_of(Grouping, "_shown")
def a_merged_code_is_shown_alone(_: Any, self: Grouping, name: str, code: str) -> Merged:
    segment = self.segments[name][1]
    return groups._group(segment, [j for j, option in enumerate(segment.options) if option.code == code])


@instead_of(estimates, "_weighted")
def weights_that_leave_too_few_are_shown(original: Any, weighed: Any, minimum: int, query: Any) -> Any:
    return original(weighed, 0, query)


@instead_of(State, "check_shown")
def results_that_are_held_back_are_shown(*_: Any) -> None:
    return None


@instead_of(Inbox, "__ne__")
def as_many_that_wait_are_the_same_ones(_: Any, self: Inbox, other: Inbox) -> bool:
    return self.waiting != other.waiting


@instead_of(write, "export")
def what_is_held_back_is_exported(original: Any, storage: Any, *given: Any, **named: Any) -> Any:
    storage.check_shown = lambda survey: None
    return original(storage, *given, **named)


@instead_of(Grouping, "check_margins")
def weights_single_out_a_small_group(*_: Any) -> None:
    return None


@instead_of(StoredSurvey, "_statistics")
def a_source_that_is_left_out_is_counted(original: Any, self: StoredSurvey, over: Any) -> Any:
    self.without, without = (), self.without
    try:
        return original(self, over)
    finally:
        self.without = without


@instead_of(analysis_source, "check_left_out")
def leaving_a_source_out_shows_small_groups(*_: Any) -> None:
    return None


@instead_of(limits, "check_combinations")
def any_number_of_combinations(*_: Any) -> None:
    return None


def ids_in_the_reports() -> None:
    replace(reports, "report_columns", lambda original: lambda document: [*original(document), "id"])

    def rows(original: Any) -> Any:
        def with_ids(document: Any, submissions: Any) -> Any:
            known = list(submissions)
            made = original(document, known)
            yield next(made)
            yield from ([*row, id_.hex()] for row, (id_, _) in zip(made, known, strict=True))

        return with_ids

    replace(reports, "report_rows", rows)


@instead_of(write, "columns")
def an_export_in_the_order_of_ids(original: Any, document: Any, contents: Any) -> Any:
    constant(write.np, "lexsort", lambda keys: write.np.arange(len(keys[0])))
    return original(document, contents)


@instead_of(tables, "_cell")
def a_text_becomes_a_formula(_: Any, text: str) -> str:
    return text


@instead_of(tables, "_cell")
def a_formula_after_a_tab_or_a_return(_: Any, text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


@instead_of(Flask, "select_jinja_autoescape")
def pages_escape_nothing(*_: Any) -> bool:
    return False


# --- messages, logs and metrics --------------------------------------------------------------------------------------


@instead_of(SubmissionReader, "_read_carefully")
def an_error_repeats_what_was_sent(original: Any, self: SubmissionReader, body: bytes, batches: bool = True) -> Any:
    try:
        return original(self, body, batches)
    except SubmissionError as error:
        told = [problem._replace(message=f"{problem.message}, not {body.decode()}") for problem in error.problems]
        raise SubmissionError(told) from None


@instead_of(problems, "explain")
def a_bug_says_what_happened_inside(original: Any, error: Exception) -> Any:
    explained = original(error)
    if explained.document.status != 500:
        return explained
    return explained._replace(document=msgspec.structs.replace(explained.document, detail=repr(error)))


@instead_of(problems, "log_place")
def a_bug_is_logged_with_its_text(_: Any, error: BaseException | None) -> None:
    problems.log.error("%s", "".join(traceback.format_exception(error)))


@instead_of(SecurityLog, "_write")
def labels_of_tokens_in_the_log(
    original: Any, self: SecurityLog, level: int, event: str, token: Any, about: Any
) -> None:
    more = {} if token is None else {"label": token.label}
    original(self, level, event, token, {**about, **more})


@instead_of(SecurityLog, "did")
def activity_notes_what_collectors_do(
    original: Any, self: SecurityLog, event: str, token: Any, *more: Any, **about: Any
) -> None:
    original(self, event, replaced(token, role="reader") if token.role == "collector" else token, *more, **about)


@instead_of(SecurityLog, "refused")
def addresses_in_the_log(original: Any, self: SecurityLog, event: str, token: Any = None, **about: str) -> None:
    original(self, event, token, **about, address=(request.remote_addr if request else None) or "")


def lines_of_the_log_can_be_forged() -> None:
    constant(security_log, "_PLAIN", re.compile(".*", re.DOTALL))


@instead_of(AppState, "admit")
def a_line_for_every_submission(original: Any, self: AppState, *given: Any) -> None:
    original(self, *given)
    security_log.log.info("a submission came")


@instead_of(SecurityLog, "refused")
def refusals_fill_the_disk(_: Any, self: SecurityLog, event: str, token: Any = None, **about: str) -> None:
    self._write(logging.WARNING, event, token, about)


@instead_of(TroubleLog, "failed")
def every_failed_write_is_logged(original: Any, self: TroubleLog, what: str, why: str) -> None:
    original(self, what, why)
    self.write()


@instead_of(TroubleLog, "_wait")
def trouble_is_logged_an_hour_after_it_began(original: Any, self: TroubleLog) -> None:
    clock = self._clock
    self._clock = lambda: 0.0
    original(self)
    self._clock = clock


@instead_of(Metrics, "answered")
def metrics_by_address(original: Any, self: Metrics, route: str, status: int) -> None:
    original(self, request.path if request else route, status)


@instead_of(Metrics, "text")
def metrics_say_when_the_first_came(original: Any, self: Metrics) -> Any:
    return original(self) + f"deniable_submissions_created {datetime.now(UTC).timestamp()}\n".encode()


# --- what tests read off the sources ---------------------------------------------------------------------------------

SERVER = "server/deniable_server"


def a_query_put_together_from_text() -> None:
    in_source(
        f"{SERVER}/storage/queries.py",
        "\ndef found(view, name):\n    return view.rows(f\"SELECT 1 FROM surveys WHERE id = '{name}'\")\n",
    )


@instead_of(Tokens, "_kept")
def a_token_in_the_text_of_a_query(_: Any, self: Tokens, digest: str) -> Any:
    found = self._rows(f"SELECT {tokens._COLUMNS} FROM {tokens._TABLES} WHERE tokens.digest = '{digest}'")
    return next(iter(tokens._read(found)), None)


@instead_of(queries, "survey")
def a_survey_in_the_text_of_a_query(_: Any, view: Any, id_: str) -> Any:
    found = view.rows(f"SELECT number, document FROM surveys WHERE id = '{id_}'")
    return (found[0][0], bytes(found[0][1])) if found else None


def a_text_is_run_as_a_program() -> None:
    in_source(f"{SERVER}/analysis/query.py", "\ndef read(text):\n    return eval(text)\n")


def the_server_calls_an_address() -> None:
    in_source(f"{SERVER}/web/surveys.py", "\nimport urllib.request\n")


def a_digest_of_md5() -> None:
    in_source(f"{SERVER}/web/static.py", "\ndef tag(plain):\n    return hashlib.md5(plain).hexdigest()\n")


def a_template_takes_text_for_markup() -> None:
    in_source(f"{SERVER}/pages/templates/surveys.html", "\n{{ survey.title | safe }}\n")


def a_script_of_a_page_writes_markup() -> None:
    in_source(f"{SERVER}/pages/static/dashboard.js", "\ndocument.body.innerHTML = location.hash;\n")


def test_code_in_a_package() -> None:
    in_source(f"{SERVER}/cli/demo.py", "\nimport pytest\n")


test_code_in_a_package.__test__ = False  # type: ignore[attr-defined]


def a_package_that_is_not_pinned() -> None:
    def faulty(original: Any) -> Any:
        def read_text(self: Path, *given: Any, **named: Any) -> str:
            text: str = original(self, *given, **named)
            return re.sub(r"(?im)^flask==.*\n", "", text) if self.name == "constraints.txt" else text

        return read_text

    replace(Path, "read_text", faulty)
