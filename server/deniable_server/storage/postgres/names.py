"""What things are called in PostgreSQL: the schema, the tables of a survey, advisory locks, values in statements."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import LiteralString

from psycopg.sql import SQL, Identifier

SCHEMA = "deniable"

LOCKS = 0x64656E69 << 32  # "deni": our advisory locks begin here, so that they are not taken for another program's
SLOTS = 256
"""Advisory locks, and counters, that each survey may have."""

CLOSING, STORING, COUNTING = SLOTS - 1, SLOTS - 2, SLOTS - 3
"""The advisory locks of a survey that are not of a counter: see ``PostgresStorage``."""

DURABLE = SQL("current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'")


def lock_of(survey: int, slot: int) -> int:
    """The advisory lock of a survey's counter; survey 0 is the installation as a whole."""
    return LOCKS + survey * SLOTS + slot


MIGRATING, IN_USE = lock_of(0, 0), lock_of(0, 1)
"""Of the whole installation: taken by the one server that migrates; shared by every connection that is open."""


@lru_cache(maxsize=10_000)
def for_survey(number: int, statement: LiteralString) -> bytes:
    """A statement about the submissions of one survey, which are in tables of its own."""
    names = {
        name: Identifier(f"{name}_{number}") for name in ("inbox", "sealed", "rewritten", "rewritten_pkey", "issued")
    }
    return SQL(statement).format(number=number, durable=DURABLE, **names).as_bytes(None)


def translated(statement: str) -> bytes:
    """A statement with values named as :name, in the way that psycopg writes them."""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", statement).encode()
