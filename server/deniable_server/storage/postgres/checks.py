"""What the settings of a PostgreSQL server mean for submissions and respondents."""

from __future__ import annotations

from deniable_server.storage import Finding
from deniable_server.storage.queries import View

from .names import SCHEMA


def examine(view: View) -> list[Finding]:
    """Check for everything that could lose submissions, or record when one came or what it says."""
    settings = dict(view.rows("SELECT name, setting FROM pg_settings"))
    found = [Finding("durability", "ok", "fsync, full_page_writes and synchronous_commit: read back from the database")]
    if settings["track_commit_timestamp"] == "on":
        text = "track_commit_timestamp keeps the time of every commit: turn it off"
        found.append(Finding("arrival times", "problem", text))
    found.append(_statement_log(settings))
    if settings["archive_mode"] != "off":
        text = "the archived write-ahead log shows in which order submissions came: keep it no longer than you must"
        found.append(Finding("archive", "warning", text))
    for name in ("log_connections", "log_disconnections"):
        if settings[name] not in ("off", ""):
            text = f"{name} records when connections are made or end, which in a quiet hour is when somebody answers"
            found.append(Finding("connection log", "warning", text))
    found.append(_encryption(view))
    found.append(_foreign(view))
    return found


def _statement_log(settings: dict[str, str]) -> Finding:
    """Whether PostgreSQL writes statements with their values, and with the time, into its log."""
    logs = [
        f"{name} is {settings[name]}"
        for name, silent in (
            ("log_statement", ("none", "ddl")),
            ("log_min_duration_statement", ("-1",)),
            ("log_min_duration_sample", ("-1",)),
            ("log_transaction_sample_rate", ("0",)),
        )
        if settings[name] not in silent
    ]
    if logs and settings["log_parameter_max_length"] != "0":
        advice = "set log_parameter_max_length = 0, or do not log statements"
        return Finding("statement log", "problem", f"PostgreSQL logs submissions ({', '.join(logs)}): {advice}")
    if settings["log_parameter_max_length_on_error"] != "0":
        advice = "set log_parameter_max_length_on_error = 0"
        return Finding("statement log", "problem", f"PostgreSQL logs the submissions of failed statements: {advice}")
    return Finding("statement log", "ok", "PostgreSQL's log has no submissions in it")


def _foreign(view: View) -> Finding:
    """Whether there is code in the schema: Deniable makes none, and it would run at every submission."""
    names = view.rows(
        "WITH own AS (SELECT oid FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace))"
        " SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM own)"
        " UNION SELECT 'rule or view ' || CAST(CAST(ev_class AS regclass) AS text) FROM pg_rewrite"
        " WHERE ev_class IN (SELECT oid FROM own)"
        " UNION SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = CAST(:schema AS regnamespace)"
        " ORDER BY 1",
        schema=SCHEMA,
    )
    if names:
        listed = ", ".join(name for (name,) in names)
        return Finding("schema", "problem", f"Deniable did not make this: {listed}. Find out who did, and remove it")
    return Finding("schema", "ok", "no triggers, rules, views or functions")


def _encryption(view: View) -> Finding:
    (local, encrypted), *_ = view.rows(
        "SELECT coalesce(inet_client_addr() << inet '127.0.0.0/8' OR inet_client_addr() = inet '::1', true),"
        " (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())"
    )
    if encrypted:
        return Finding("connection", "ok", "encrypted")
    if local:
        return Finding("connection", "ok", "on this machine")
    return Finding("connection", "warning", "not encrypted: add  ?sslmode=verify-full  to the address")
