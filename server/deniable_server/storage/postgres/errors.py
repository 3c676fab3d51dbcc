"""PostgreSQL's errors as ours: without anything that could be a respondent's, or a password."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from deniable_server.errors import StorageError, Unavailable

from .names import SCHEMA


class Locked(Unavailable):
    """Others did not release a lock in time."""


class Clashed(Unavailable):
    """PostgreSQL rolled this transaction back because of another; the next attempt may succeed."""


def explained(error: Exception) -> StorageError:
    """PostgreSQL's error as one of ours. Where its text could quote a row, only its kind is given."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return StorageError("A text has a character that PostgreSQL cannot keep")
    assert isinstance(error, psycopg.Error)
    if error.sqlstate is None:  # not from a statement: there is no connection, or no longer
        _, refused, reason = str(error).partition("FATAL:")
        if refused:
            return Unavailable(f"PostgreSQL refuses: {reason.strip().splitlines()[0]}")
        first = str(error).strip().splitlines()[:1]
        advice = "; the password belongs in PGPASSWORD or ~/.pgpass" if "no password" in str(error) else ""
        return Unavailable(f"PostgreSQL cannot be reached: {first[0] if first else type(error).__name__}{advice}")
    kind = f"PostgreSQL says {type(error).__name__} ({error.sqlstate})"
    # https://www.postgresql.org/docs/current/errcodes-appendix.html
    if error.sqlstate == "55P03":
        return Locked(kind)
    if error.sqlstate[:2] == "40":
        return Clashed(kind)
    if error.sqlstate[:2] in ("08", "25", "53", "55", "57", "58"):
        return Unavailable(kind)
    if error.sqlstate[:2] == "28" or error.sqlstate in ("3D000", "42501"):
        return StorageError(
            f"{kind}: the user must own the database, or be granted CREATE on it and all that is in the schema {SCHEMA}"
        )
    return StorageError(kind)


def check_address(address: str) -> None:
    """StorageError for an invalid address; libpq would repeat what it does not understand, including passwords."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error as error:
        if "invalid URI query parameter" in str(error):
            raise StorageError(f"The address of PostgreSQL has an {str(error).strip()}") from None
        parts = None
    if parts is None or "@" in str(parts.get("host", "")):
        raise StorageError(
            "This is not an address of PostgreSQL. Write postgresql://USER@HOST/DATABASE; special characters in a name "
            "or password are written as %40 (@), %2F (/), %25 (%), %20 (space)"
        )
