"""The doctor: what could lose submissions, or reveal something about respondents, in an installation as it is.

May not: change anything, or read what a submission says.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from datetime import date
from typing import Literal

from deniable_protocol import DeniableError
from deniable_server.settings import MIN_KEY, Settings
from deniable_server.storage import Finding, Storage, utc_today

NOT_BEFORE = date(2026, 1, 1)
"""This software did not exist before: a clock that shows an earlier day is wrong."""

LOW_SPACE = 200 * 2**20


def examine(settings: Settings) -> list[Finding]:
    """All checks; where something is wrong, the finding says what to do."""
    return [*_database(settings), *_permissions(settings), *_key(settings), *_access_logs()]


def _database(settings: Settings) -> Iterator[Finding]:
    location = settings.location
    if not location.exists():
        text = f"There is none at {location.name}: publish a survey, or give the right --database"
        yield Finding("database", "problem", text)
        return
    try:
        storage = location.open(create=False)
    except DeniableError as error:
        yield Finding("database", "problem", str(error))
        return
    try:
        damage = storage.verify()
        total = sum(listed.submissions for listed in storage.surveys(test_runs=True))
        yield from (Finding("database", "problem", line) for line in damage)
        if not damage:
            yield Finding("database", "ok", f"sound; {total:,} submissions, statistics equal to a recount")
        yield from storage.environment_checks()
        yield _clock(storage)
    finally:
        storage.close()
    for file in location.files()[:1]:
        free = shutil.disk_usage(file.resolve().parent).free
        state: Literal["ok", "warning"] = "warning" if free < LOW_SPACE else "ok"
        yield Finding("space", state, f"{free / 2**30:.1f} GiB free on the disk of the database")


def _clock(storage: Storage) -> Finding:
    today = utc_today()
    days = [
        day
        for listed in storage.surveys(test_runs=True)
        if (found := storage.find(listed.id))
        for day in storage.days(found)
    ]
    if today < NOT_BEFORE:
        return Finding("clock", "problem", f"it shows {today}: set it, or counts per day will be wrong")
    if days and max(days) > today:
        return Finding("clock", "problem", f"it shows {today}, but submissions are noted for {max(days)}: set it")
    return Finding("clock", "ok", f"{today} (UTC), {time.tzname[0]} here")


def _permissions(settings: Settings) -> Iterator[Finding]:
    files = settings.location.files()
    if not files:
        return
    if open_to_others := [file.name for file in files if stat.S_IMODE(file.stat().st_mode) & 0o077]:
        names = ", ".join(open_to_others)
        yield Finding("permissions", "problem", f"others on this machine can open {names}:  chmod 600 '{files[0]}'*")
    else:
        yield Finding("permissions", "ok", "only its owner can open the database")
    if not os.access(files[0], os.W_OK):
        yield Finding("permissions", "problem", f"this user cannot write {files[0]}")


def _key(settings: Settings) -> Iterator[Finding]:
    if settings.secret_key is not None:
        if len(settings.secret_key) < MIN_KEY:
            yield Finding("secret key", "problem", f"DENIABLE_SECRET_KEY has fewer than {MIN_KEY} characters")
        elif len(set(settings.secret_key)) < 10:
            yield Finding("secret key", "problem", "DENIABLE_SECRET_KEY is not random; openssl rand -hex 32 makes one")
        else:
            yield Finding("secret key", "ok", "from DENIABLE_SECRET_KEY")
        return
    path = settings.location.key_file
    if path is None:
        yield Finding("secret key", "ok", "in the database, for all its servers")
    elif not path.exists():
        yield Finding("secret key", "ok", f"will be made at the first start, in {path}")
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield Finding("secret key", "problem", f"others on this machine can read {path}:  chmod 600 '{path}'")
    elif len(path.read_text().strip()) < MIN_KEY:
        yield Finding("secret key", "problem", f"{path} has none in it; remove it, and a new one is made")
    else:
        yield Finding("secret key", "ok", f"in {path}, for its owner only")


def _access_logs() -> Iterator[Finding]:
    for variable in ("GUNICORN_CMD_ARGS", "UVICORN_ACCESS_LOG", "UWSGI_LOGTO"):
        value = os.environ.get(variable, "")
        if "access" in value.lower() or (value and variable != "GUNICORN_CMD_ARGS"):
            text = f"{variable} turns one on: it records who fetched a token or sent a submission, and when"
            yield Finding("access log", "problem", text)
    yield Finding("access log", "ok", "deniable serve writes none")
    text = (
        "of a proxy in front, whose files are not read here. Every server and location that a request can reach must "
        "have it off, for /tokens as for /submissions, also one that only redirects to https; see the files in deploy/"
    )
    yield Finding("access log", "cannot tell", text)
