"""The doctor: what could lose submissions, or tell on respondents, in an installation as it is.

May not: change anything, or read what a submission says.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from deniable_protocol import DeniableError
from deniable_server.settings import MIN_KEY, Settings
from deniable_server.storage import STANDINGS, Storage, Symptom, open_storage, utc_today

from .proxy_logs import judge

NOT_BEFORE = date(2026, 1, 1)
"""This software is younger than that: a clock that says otherwise is wrong."""

LOW_SPACE = 200 * 2**20


def examine(settings: Settings, proxy_configs: Sequence[Path] = ()) -> list[Symptom]:
    """Every check, the worrying ones with what to do about them."""
    return [
        *_database(settings),
        *_permissions(settings),
        *_key(settings),
        *_access_logs(proxy_configs),
    ]


def _database(settings: Settings) -> Iterator[Symptom]:
    path = settings.sqlite_path
    if path is not None and not path.exists():
        yield Symptom("database", "problem", f"There is none at {path}: publish a survey, or give the right --database")
        return
    try:
        storage = open_storage(settings.database, create=False)
    except DeniableError as error:
        yield Symptom("database", "problem", str(error))
        return
    try:
        damage = storage.verify()
        total = sum(listed.submissions for listed in storage.surveys())
        yield from (Symptom("database", "problem", line) for line in damage)
        if not damage:
            yield Symptom("database", "ok", f"sound; {total:,} submissions, statistics equal to a recount")
        if standing := storage.standing:
            yield Symptom("database", "problem", STANDINGS[standing])
        yield from storage.circumstances()
        yield _clock(storage)
    finally:
        storage.close()
    if path is not None:
        free = shutil.disk_usage(path.resolve().parent).free
        state: Literal["ok", "warning"] = "warning" if free < LOW_SPACE else "ok"
        yield Symptom("space", state, f"{free / 2**30:.1f} GiB free on the disk of the database")


def _clock(storage: Storage) -> Symptom:
    today = utc_today()
    days = [day for listed in storage.surveys() if (found := storage.find(listed.id)) for day in storage.days(found)]
    if today < NOT_BEFORE:
        return Symptom("clock", "problem", f"it says {today}: set it, or counts per day will be wrong")
    if days and max(days) > today:
        return Symptom("clock", "problem", f"it says {today}, but submissions are noted for {max(days)}: set it")
    return Symptom("clock", "ok", f"{today} (UTC), {time.tzname[0]} here")


def _permissions(settings: Settings) -> Iterator[Symptom]:
    path = settings.sqlite_path
    if path is None or not path.exists():
        return
    files = [file for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")) if file.exists()]
    if open_to_others := [file.name for file in files if stat.S_IMODE(file.stat().st_mode) & 0o077]:
        names = ", ".join(open_to_others)
        yield Symptom("permissions", "problem", f"others on this machine can open {names}:  chmod 600 '{path}'*")
    else:
        yield Symptom("permissions", "ok", "only its owner can open the database")
    if not os.access(path, os.W_OK):
        yield Symptom("permissions", "problem", f"this user cannot write {path}")


def _key(settings: Settings) -> Iterator[Symptom]:
    if settings.secret_key is not None:
        if len(settings.secret_key) < MIN_KEY:
            yield Symptom("secret key", "problem", f"DENIABLE_SECRET_KEY has fewer than {MIN_KEY} characters")
        elif len(set(settings.secret_key)) < 10:
            yield Symptom("secret key", "problem", "DENIABLE_SECRET_KEY is not random; openssl rand -hex 32 makes one")
        else:
            yield Symptom("secret key", "ok", "from DENIABLE_SECRET_KEY")
        return
    path = settings.key_file
    if path is None:
        yield Symptom("secret key", "ok", "in the database, for all its servers")
    elif not path.exists():
        yield Symptom("secret key", "ok", f"will be made at first start, in {path}")
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield Symptom("secret key", "problem", f"others on this machine can read {path}:  chmod 600 '{path}'")
    elif len(path.read_text().strip()) < MIN_KEY:
        yield Symptom("secret key", "problem", f"{path} holds none; remove it, and a new one is made")
    else:
        yield Symptom("secret key", "ok", f"in {path}, for its owner only")


def _access_logs(proxy_configs: Sequence[Path]) -> Iterator[Symptom]:
    for variable in ("GUNICORN_CMD_ARGS", "UVICORN_ACCESS_LOG", "UWSGI_LOGTO"):
        value = os.environ.get(variable, "")
        if "access" in value.lower() or (value and variable != "GUNICORN_CMD_ARGS"):
            yield Symptom("access log", "problem", f"{variable} turns one on: it notes who sent a submission, and when")
    for path in proxy_configs:
        for verdict in judge(path.read_text("utf-8", errors="replace")):
            yield Symptom(verdict.check, verdict.state, f"{path}: {verdict.message}")
    yield Symptom("access log", "ok", "deniable serve writes none")
    if not proxy_configs:
        yield Symptom("access log", "warning", "a proxy in front may write one: check it with --proxy-config FILE")
