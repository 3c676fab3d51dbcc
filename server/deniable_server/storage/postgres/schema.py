"""The PostgreSQL schema, as numbered migrations: applied in this order, and recorded in the same transaction.

A released migration never changes; the next one corrects it. Of several servers that start at the same time, one
migrates while the others wait for its advisory lock.
"""

from __future__ import annotations

import secrets
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier

from deniable_server.errors import StorageError

from .names import MIGRATING, SCHEMA, for_survey


class Migration(NamedTuple):
    """A step of the schema."""

    number: int
    name: str
    statements: tuple[LiteralString, ...]


class Installation(NamedTuple):
    """The id of this database, a secret that all its servers share, and whether it was made just now."""

    id: str
    secret_key: str
    created: bool


def migrate(connection: psycopg.Connection[tuple[Any, ...]], *, create: bool) -> Installation:
    """Bring the schema up to date, in the transaction that the caller commits."""
    connection.execute("SET LOCAL lock_timeout = 0")  # a migration may take long
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
    applied: set[int] = set()
    if connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.migrations",)).fetchone() != (None,):
        applied = {number for (number,) in connection.execute("SELECT number FROM migrations")}
        if newer := sorted(applied - {migration.number for migration in MIGRATIONS}):
            raise StorageError(
                f"This database was written by a newer Deniable (it has migration {newer[0]}, which this version does "
                "not know). Install that version again, or restore a backup made before the upgrade."
            )
    elif connection.execute(ANOTHERS, (SCHEMA,)).fetchone():
        raise StorageError(
            f"The schema {SCHEMA} of this database is another user's, or another program has something in it; give "
            "Deniable a database of its own"
        )
    elif not create:
        raise StorageError("There is no installation in this database. Start with  deniable survey publish FILE")
    else:
        connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(SCHEMA)))
    for migration in MIGRATIONS:
        if migration.number not in applied:
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations (number, name) VALUES (%s, %s)", migration[:2])
    if not applied:
        made = (secrets.token_hex(16), secrets.token_hex(32))
        connection.execute("INSERT INTO installation (id, secret_key) VALUES (%s, %s)", made)
    row = connection.execute("SELECT id, secret_key FROM installation").fetchone()
    assert row is not None
    return Installation(row[0], row[1], created=not applied)


def make_partitions(connection: psycopg.Connection[tuple[Any, ...]], number: int) -> None:
    """Make the tables for one survey's submissions, then attach them: that way, other surveys are not locked."""
    for statement in PARTITIONS:
        connection.execute(for_survey(number, statement))


ANOTHERS = """
    SELECT 1 FROM pg_namespace AS own WHERE nspname = %s AND (
        NOT pg_has_role(nspowner, 'USAGE')
        OR EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = own.oid)
        OR EXISTS (SELECT 1 FROM pg_proc WHERE pronamespace = own.oid)
        OR EXISTS (SELECT 1 FROM pg_operator WHERE oprnamespace = own.oid)
        OR EXISTS (SELECT 1 FROM pg_type WHERE typnamespace = own.oid)
    )
"""
"""Finds a schema that somebody else has made or filled: code in it would run with our rights."""

UNSAMPLED: LiteralString = "ALTER TABLE {} ALTER id SET STATISTICS 0, ALTER content SET STATISTICS 0"
"""No samples of submissions. Of the column ``survey``, which is the same in all rows, there are some: without them,
PostgreSQL would take the table for two hundred times smaller than it is.
"""

PARTITIONS: tuple[LiteralString, ...] = (
    "CREATE TABLE {inbox} (LIKE inbox INCLUDING ALL)",
    # No samples, as in the shared tables (LIKE copies everything but that): they would also show who was waiting when.
    "ALTER TABLE {inbox} ALTER survey SET STATISTICS 0, ALTER id SET STATISTICS 0",
    "ALTER TABLE {inbox} ALTER content SET STATISTICS 0, ALTER source SET STATISTICS 0",
    "ALTER TABLE inbox ATTACH PARTITION {inbox} FOR VALUES IN ({number})",
    "CREATE TABLE {sealed} (LIKE sealed INCLUDING ALL)",
    UNSAMPLED.format("{sealed}"),
    "ALTER TABLE sealed ATTACH PARTITION {sealed} FOR VALUES IN ({number})",
    "CREATE TABLE {issued} (LIKE issued INCLUDING ALL)",
    "ALTER TABLE {issued} ALTER code SET STATISTICS 0, ALTER number SET STATISTICS 0, ALTER blinded SET STATISTICS 0",
    "ALTER TABLE issued ATTACH PARTITION {issued} FOR VALUES IN ({number})",
)

NO_SAMPLES: LiteralString = """
    DO $$
    DECLARE
        sampled record;
    BEGIN
        FOR sampled IN
            SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0
        LOOP
            EXECUTE format('ALTER TABLE %I ALTER %I SET STATISTICS 0', sampled.relname, sampled.attname);
        END LOOP;
    END
    $$
"""
"""The planner keeps samples of no column: they have texts and counts of surveys, and outlive the rows. Our statements
look up rows by their keys, and need no samples.
"""

MIGRATIONS = (
    Migration(
        1,
        "surveys, submissions, statistics and people",
        (
            """
            CREATE TABLE migrations (
                number integer PRIMARY KEY,  -- they are applied in this order
                name text NOT NULL
            )
            """,
            """
            CREATE TABLE installation (  -- one row
                id text PRIMARY KEY,  -- random: differs from that of any other database
                secret_key text NOT NULL  -- for servers that are given none: a form from one is valid on all
            )
            """,
            """
            CREATE TABLE surveys (
                number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- its short name; never used again
                id text COLLATE "C" NOT NULL UNIQUE  -- the id that the survey file gives it
                    CHECK (length(id) BETWEEN 2 AND 63),
                document bytea NOT NULL,  -- the published document, byte for byte
                digest text NOT NULL  -- SHA-256 of the document, in hex
                    CHECK (length(digest) = 64),
                status text NOT NULL DEFAULT 'open'  -- closing: takes no more submissions, not yet folded and rewritten
                    CHECK (status IN ('open', 'closing', 'closed')),
                published_on date NOT NULL,  -- day of publication (UTC)
                closed_on date,  -- day of closing (UTC)
                results_from bigint DEFAULT 0  -- while open, from how many submissions on results are shown; NULL: none
                    CHECK (results_from >= 0),
                expected bigint  -- how many respondents were planned for; NULL: nobody said
                    CHECK (expected > 0),
                archived_on date,  -- the day (UTC) since when the list leaves it out; NULL: it is listed
                draft bigint UNIQUE,  -- the number of the draft that it is a test run of; NULL: a real survey
                opens_at bigint,  -- when it opens, in seconds since 1970; NULL: when it was published
                closes_at bigint  -- when it is closed, in seconds since 1970; NULL: when somebody closes it
                    CHECK (closes_at > opens_at),
                most bigint  -- how many submissions it takes; NULL: any number
                    CHECK (most > 0),
                CHECK ((status = 'open') = (closed_on IS NULL))
            )
            """,
            """
            CREATE TABLE deletions (  -- surveys that were deleted, until nothing of them is left in the files
                number integer PRIMARY KEY,  -- the number that the survey had
                wipe_at bigint NOT NULL,  -- from when on this may be done: seconds since 1970
                deleted_by xid NOT NULL  -- the transaction that deleted it: older ones may still see its rows
                    DEFAULT pg_current_xact_id()::xid
            )
            """,
            # Submissions that were acknowledged and not yet folded. There is no foreign key: it would lock the survey's
            # row for every submission, and each survey has its own partition anyhow.
            """
            CREATE TABLE inbox (
                survey integer NOT NULL,  -- whose submission this is
                id bytea NOT NULL  -- the submission's random id: makes a retry recognisable, says nothing
                    CHECK (octet_length(id) = 16),
                content text NOT NULL,  -- JSON: [booklet, [reports in its order], [positions of segment codes]]
                source smallint NOT NULL DEFAULT 0,  -- the collector that sent it; 0: the respondent's own device
                PRIMARY KEY (survey, id)
            ) PARTITION BY LIST (survey)
            """,
            # Folded submissions: written in the order of their random ids. Rewritten when the survey is closed.
            """
            CREATE TABLE sealed (
                survey integer NOT NULL,  -- as in inbox
                id bytea NOT NULL  -- as in inbox
                    CHECK (octet_length(id) = 16),
                content text NOT NULL,  -- as in inbox
                PRIMARY KEY (survey, id)
            ) PARTITION BY LIST (survey)
            """,
            """
            CREATE TABLE sources (  -- collectors that sent submissions
                survey integer NOT NULL REFERENCES surveys (number),  -- to which survey
                number smallint NOT NULL  -- short name of the collector in the other tables
                    CHECK (number > 0),
                label text COLLATE "C" NOT NULL,  -- the label of its access token
                PRIMARY KEY (survey, number),
                UNIQUE (survey, label)
            )
            """,
            # What estimates are computed from. Several counters of the same codes: servers that fold at the same time
            # take different ones, so that none waits for another; together they are the statistics.
            """
            CREATE TABLE statistics (
                survey integer NOT NULL REFERENCES surveys (number),  -- whose statistics these are
                source smallint NOT NULL DEFAULT 0,  -- 0: of everything; else of what this collector sent, once more
                margin smallint NOT NULL,  -- 0: of everybody; n: by the code of the n-th segment; -1: of all segments
                slot smallint NOT NULL DEFAULT 0,  -- which counter
                codes text COLLATE "C" NOT NULL,  -- JSON: these codes, as positions in segment order
                counts text NOT NULL,  -- JSON: submissions of each booklet; per part, reports that show each feature
                PRIMARY KEY (survey, source, margin, slot, codes)
            )
            """,
            """
            CREATE TABLE repeats (  -- how often whole reports came, to see false submissions: kept with the statistics
                survey integer NOT NULL REFERENCES surveys (number),  -- whose reports these are
                source smallint NOT NULL DEFAULT 0,  -- as in statistics
                slot smallint NOT NULL DEFAULT 0,  -- which counter, as in statistics
                counts text NOT NULL,  -- JSON: per remainder of a report, part by part, and of all of a submission
                PRIMARY KEY (survey, source, slot)
            )
            """,
            """
            CREATE TABLE days (  -- submissions per day: the finest time that is kept
                survey integer NOT NULL,  -- whose submissions these are
                day date NOT NULL,  -- the day (UTC)
                slot smallint NOT NULL DEFAULT 0,  -- which counter: each connection has its own
                accepted bigint NOT NULL  -- submissions first accepted on that day
                    CHECK (accepted > 0),
                PRIMARY KEY (survey, day, slot)
            ) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE issuers (  -- keys that sign the tokens of respondents
                survey text COLLATE "C" PRIMARY KEY,  -- its id: the document has the public key, so this is first
                key bytea NOT NULL  -- the private key (PKCS#8, DER)
            )
            """,
            """
            CREATE TABLE invitations (  -- codes that entitle to tokens
                survey integer NOT NULL REFERENCES surveys (number),  -- to which survey
                code bytea NOT NULL  -- SHA-256 of the code: random, and laid down in this order
                    CHECK (octet_length(code) = 32),
                uses integer NOT NULL  -- tokens that it gives at most
                    CHECK (uses > 0),
                used integer NOT NULL DEFAULT 0  -- tokens that it gave, once it is closed; until then see issued
                    CHECK (used BETWEEN 0 AND uses),
                expires_on date,  -- the last day (UTC) that it is valid; NULL: until the survey is closed
                revoked smallint NOT NULL DEFAULT 0  -- 1: it gives no more tokens
                    CHECK (revoked IN (0, 1)),
                PRIMARY KEY (survey, code)
            )
            """,
            # Uses of codes that are taken: written before a token is signed, gone when the survey is closed. Each
            # survey has its own partition, so that nothing is left of deleted rows.
            """
            CREATE TABLE issued (
                survey integer NOT NULL,  -- as in invitations
                code bytea NOT NULL,  -- as in invitations
                number integer NOT NULL  -- which use of the code
                    CHECK (number > 0),
                blinded bytea NOT NULL  -- SHA-256 of the blinded value that was signed: says nothing about the token
                    CHECK (octet_length(blinded) = 32),
                PRIMARY KEY (survey, code, number),
                UNIQUE (survey, code, blinded)
            ) PARTITION BY LIST (survey)
            """,
            """
            CREATE TABLE drafts (  -- surveys that are being written
                number bigint PRIMARY KEY,  -- random: never used for another draft
                content text NOT NULL,  -- JSON: what the editor keeps
                version integer NOT NULL  -- one more with each change
                    CHECK (version > 0),
                maker text COLLATE "C",  -- the id of the access token whose holder began it
                changed_on date NOT NULL  -- day of the last change (UTC)
            )
            """,
            """
            CREATE TABLE tokens (
                id text COLLATE "C" PRIMARY KEY,  -- short name, to list and revoke it by
                role text NOT NULL  -- a reader sees results, a collector only sends to one survey; the others may
                    CHECK (role IN ('reader', 'collector', 'analyst', 'editor', 'admin')),  -- also do what those may
                label text NOT NULL,  -- whose it is, or what for, as its maker noted
                digest text NOT NULL UNIQUE  -- SHA-256 of the token, in hex: the token itself is not kept
                    CHECK (length(digest) = 64),
                created_on date NOT NULL,  -- day of making (UTC)
                restricted smallint NOT NULL  -- 0: for all surveys; 1: only for those in token_surveys, perhaps none
                    CHECK (restricted IN (0, 1)),
                expires_on date,  -- the last day (UTC) that it is valid; NULL: until it is revoked
                maker text COLLATE "C" REFERENCES tokens (id) ON DELETE CASCADE  -- of a link: whose holder made it
                    DEFERRABLE INITIALLY DEFERRED,  -- a copy may insert it first
                made_by text NOT NULL DEFAULT '',  -- who made it, by the label at that time; empty: made on the server
                CHECK (restricted = 1 OR role NOT IN ('reader', 'collector')),
                CHECK (restricted = 0 OR role <> 'admin'),
                CHECK (maker IS NULL OR role = 'reader'),
                CHECK (role <> 'collector' OR label <> '')  -- it is the source of what a collector sends
            )
            """,
            """
            CREATE TABLE token_surveys (  -- the surveys that a restricted token is for
                token text COLLATE "C" NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,  -- which token
                survey text COLLATE "C" NOT NULL REFERENCES surveys (id) ON DELETE CASCADE,  -- the id of the survey
                role text NOT NULL  -- what the token is for there: at most what its own role allows
                    CHECK (role IN ('reader', 'collector', 'analyst', 'editor')),
                PRIMARY KEY (token, survey)
            )
            """,
            "CREATE INDEX token_surveys_of_survey ON token_surveys (survey)",
            """
            CREATE TABLE activity (  -- what people with access did; never anything of a respondent
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- in this order
                at bigint NOT NULL,  -- when: seconds since 1970
                token text COLLATE "C" NOT NULL,  -- the id of the token, which may be revoked since
                label text NOT NULL,  -- its label at that time
                role text NOT NULL,  -- its role at that time
                event text NOT NULL,  -- what was done, as the security log calls it
                survey text COLLATE "C",  -- the id of the survey that it was done with, which may be deleted since
                about text NOT NULL  -- JSON: more about it, by name
            )
            """,
            "CREATE INDEX activity_at ON activity (at)",
            """
            CREATE TABLE sessions (  -- browsers of people that have shown a token
                digest text COLLATE "C" PRIMARY KEY  -- SHA-256 of the cookie's secret, in hex
                    CHECK (length(digest) = 64),
                token text COLLATE "C" NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,  -- the token that was shown
                began_at bigint NOT NULL,  -- when it was shown: seconds since 1970
                idle_at bigint NOT NULL,  -- when it ends unless it is used before: put off, in steps, while it is
                expires_at bigint NOT NULL  -- when it ends however much it is used
            )
            """,
            "CREATE INDEX sessions_of_token ON sessions (token)",
            "CREATE INDEX tokens_of_maker ON tokens (maker)",
            NO_SAMPLES,
        ),
    ),
)
