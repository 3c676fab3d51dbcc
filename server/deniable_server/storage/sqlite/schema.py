"""The SQLite schema, as migrations: each is applied and recorded in one transaction, in this order.

A released migration never changes; the next one corrects it.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

migrations = Migrations("deniable")


@migrations()
def m001_surveys_reports_and_tokens(db: Database) -> None:
    for statement in TABLES:
        db.execute(statement)


@migrations()
def m002_people(db: Database) -> None:
    for statement in PEOPLE:
        db.execute(statement)


TABLES = (
    """
    CREATE TABLE surveys (
        number INTEGER PRIMARY KEY AUTOINCREMENT,  -- short name of the survey in other tables; never used again
        id TEXT NOT NULL UNIQUE  -- the id that the survey file gives it
            CHECK (length(id) BETWEEN 2 AND 63),
        document BLOB NOT NULL,  -- the published document, byte for byte
        digest TEXT NOT NULL  -- SHA-256 of the document, in hex
            CHECK (length(digest) = 64),
        status TEXT NOT NULL DEFAULT 'open'  -- closing: takes no more submissions, not yet folded and compacted
            CHECK (status IN ('open', 'closing', 'closed')),
        published_on TEXT NOT NULL  -- day of publication (UTC)
            CHECK (published_on GLOB '????-??-??'),
        closed_on TEXT  -- day of closing (UTC)
            CHECK (closed_on GLOB '????-??-??'),
        results_from INTEGER DEFAULT 0  -- while it is open, from how many submissions on results are shown; NULL: none
            CHECK (results_from >= 0),
        expected INTEGER  -- how many respondents were planned for; NULL: nobody said
            CHECK (expected > 0),
        archived_on TEXT  -- the day (UTC) since when the list leaves it out; NULL: it is listed
            CHECK (archived_on GLOB '????-??-??'),
        draft INTEGER UNIQUE,  -- the number of the draft that it is a test run of; NULL: a real survey
        opens_at INTEGER,  -- when it opens, in seconds since 1970; NULL: when it was published
        closes_at INTEGER  -- when it is closed, in seconds since 1970; NULL: when somebody closes it
            CHECK (closes_at > opens_at),
        most INTEGER  -- how many submissions it takes; NULL: any number
            CHECK (most > 0),
        CHECK ((status = 'open') = (closed_on IS NULL))
    )
    """,
    """
    CREATE TABLE deletions (  -- surveys that were deleted, until nothing of them is left in the files
        number INTEGER PRIMARY KEY,  -- the number that the survey had
        wipe_at INTEGER NOT NULL  -- from when on this may be done: seconds since 1970
    )
    """,
    """
    CREATE TABLE inbox (  -- submissions that were acknowledged and not yet folded
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- whose submission this is
        id BLOB NOT NULL  -- the submission's random id: makes a retry recognisable, says nothing
            CHECK (length(id) = 16),
        content TEXT NOT NULL  -- JSON: [booklet, [reports in its order], [positions of segment codes]]
            CHECK (json_valid(content)),
        source INTEGER NOT NULL DEFAULT 0,  -- the number of the collector that sent it; 0: the respondent's own device
        PRIMARY KEY (survey, id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE sealed (  -- folded submissions: laid down by id, which is random, so that arrival order is gone
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- whose submission this is
        id BLOB NOT NULL  -- as in inbox
            CHECK (length(id) = 16),
        content TEXT NOT NULL  -- as in inbox
            CHECK (json_valid(content)),
        PRIMARY KEY (survey, id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE sources (  -- collectors that sent submissions
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- to which survey
        number INTEGER NOT NULL  -- short name of the collector in the other tables
            CHECK (number > 0),
        label TEXT NOT NULL,  -- the label of its access token
        PRIMARY KEY (survey, number),
        UNIQUE (survey, label)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE statistics (  -- what estimates are computed from: kept as submissions are folded
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- whose statistics these are
        source INTEGER NOT NULL DEFAULT 0,  -- 0: of everything; else of what this collector sent, once more by itself
        margin INTEGER NOT NULL,  -- 0: of everybody; n: by the code of the n-th segment; -1: by those of all segments
        codes TEXT NOT NULL  -- JSON: these codes, as positions in segment order
            CHECK (json_valid(codes)),
        counts TEXT NOT NULL  -- JSON: folded submissions of each booklet; per part, how many reports show each feature
            CHECK (json_valid(counts)),
        PRIMARY KEY (survey, source, margin, codes)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE repeats (  -- how often whole reports came, to see false submissions: kept with the statistics
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- whose reports these are
        source INTEGER NOT NULL DEFAULT 0,  -- as in statistics
        counts TEXT NOT NULL  -- JSON: per remainder of a report, part by part, and of all reports of a submission
            CHECK (json_valid(counts)),
        PRIMARY KEY (survey, source)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE days (  -- submissions per day: the finest time that is kept
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- whose submissions these are
        day TEXT NOT NULL  -- the day (UTC)
            CHECK (day GLOB '????-??-??'),
        accepted INTEGER NOT NULL  -- submissions first accepted on that day
            CHECK (accepted > 0),
        PRIMARY KEY (survey, day)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE issuers (  -- keys that sign the tokens of respondents
        survey TEXT PRIMARY KEY,  -- the id of the survey: its document has the public key, so this comes first
        key BLOB NOT NULL  -- the private key (PKCS#8, DER)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE invitations (  -- codes that entitle to tokens
        survey INTEGER NOT NULL REFERENCES surveys (number),  -- to which survey
        code BLOB NOT NULL  -- SHA-256 of the code: random, and laid down in this order
            CHECK (length(code) = 32),
        uses INTEGER NOT NULL  -- tokens that it gives at most
            CHECK (uses > 0),
        used INTEGER NOT NULL DEFAULT 0  -- tokens that it gave, once the survey is closed; until then see issued
            CHECK (used BETWEEN 0 AND uses),
        expires_on TEXT  -- the last day (UTC) that it is valid; NULL: until the survey is closed
            CHECK (expires_on GLOB '????-??-??'),
        revoked INTEGER NOT NULL DEFAULT 0  -- 1: it gives no more tokens
            CHECK (revoked IN (0, 1)),
        PRIMARY KEY (survey, code)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE issued (  -- uses of codes that are taken: written before a token is signed, gone when it is closed
        survey INTEGER NOT NULL,  -- as in invitations
        code BLOB NOT NULL,  -- as in invitations
        number INTEGER NOT NULL  -- which use of the code
            CHECK (number > 0),
        blinded BLOB NOT NULL  -- SHA-256 of the blinded value that was signed: says nothing about the token
            CHECK (length(blinded) = 32),
        PRIMARY KEY (survey, code, number),
        UNIQUE (survey, code, blinded),
        FOREIGN KEY (survey, code) REFERENCES invitations (survey, code)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE drafts (  -- surveys that are being written
        number INTEGER PRIMARY KEY,  -- random: never used for another draft
        content TEXT NOT NULL  -- JSON: what the editor keeps
            CHECK (json_valid(content)),
        version INTEGER NOT NULL  -- one more with each change
            CHECK (version > 0),
        maker TEXT,  -- the id of the access token whose holder began it
        changed_on TEXT NOT NULL  -- day of the last change (UTC)
            CHECK (changed_on GLOB '????-??-??')
    )
    """,
    """
    CREATE TABLE tokens (
        id TEXT PRIMARY KEY,  -- short name, to list and revoke it by
        role TEXT NOT NULL  -- admins may also do what analysts may
            CHECK (role IN ('analyst', 'admin')),
        label TEXT NOT NULL,  -- whose it is, or what for, as its maker noted
        digest TEXT NOT NULL UNIQUE  -- SHA-256 of the token, in hex: the token itself is not kept
            CHECK (length(digest) = 64),
        created_on TEXT NOT NULL  -- day of making (UTC)
            CHECK (created_on GLOB '????-??-??')
    ) WITHOUT ROWID
    """,
)

PEOPLE = (
    # A CHECK cannot be altered in place: a new table replaces it.
    """
    CREATE TABLE tokens_now (
        id TEXT PRIMARY KEY,  -- short name, to list and revoke it by
        role TEXT NOT NULL  -- a reader sees results, a collector only sends to one survey; the others may also do what
            CHECK (role IN ('reader', 'collector', 'analyst', 'editor', 'admin')),  -- those before may
        label TEXT NOT NULL,  -- whose it is, or what for, as its maker noted
        digest TEXT NOT NULL UNIQUE  -- SHA-256 of the token, in hex: the token itself is not kept
            CHECK (length(digest) = 64),
        created_on TEXT NOT NULL  -- day of making (UTC)
            CHECK (created_on GLOB '????-??-??'),
        restricted INTEGER NOT NULL  -- 0: for all surveys; 1: only for those in token_surveys, perhaps none
            CHECK (restricted IN (0, 1)),
        expires_on TEXT  -- the last day (UTC) that it is valid; NULL: until it is revoked
            CHECK (expires_on GLOB '????-??-??'),
        maker TEXT REFERENCES tokens (id) ON DELETE CASCADE,  -- of a shared link: the token whose holder made it
        made_by TEXT NOT NULL DEFAULT '',  -- who made it, by the label at that time; empty: made on the server
        CHECK (restricted = 1 OR role NOT IN ('reader', 'collector')),
        CHECK (restricted = 0 OR role <> 'admin'),
        CHECK (maker IS NULL OR role = 'reader'),
        CHECK (role <> 'collector' OR label <> '')  -- it is the source of what a collector sends
    ) WITHOUT ROWID
    """,
    "INSERT INTO tokens_now SELECT id, role, label, digest, created_on, 0, NULL, NULL, '' FROM tokens",
    "DROP TABLE tokens",
    "ALTER TABLE tokens_now RENAME TO tokens",
    """
    CREATE TABLE token_surveys (  -- the surveys that a restricted token is for
        token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,  -- which token
        survey TEXT NOT NULL REFERENCES surveys (id) ON DELETE CASCADE,  -- the id of the survey
        role TEXT NOT NULL  -- what the token is for there: at most what its own role allows
            CHECK (role IN ('reader', 'collector', 'analyst', 'editor')),
        PRIMARY KEY (token, survey)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX token_surveys_of_survey ON token_surveys (survey)",
    """
    CREATE TABLE sessions (  -- browsers of people that have shown a token
        digest TEXT PRIMARY KEY  -- SHA-256 of the cookie's secret, in hex
            CHECK (length(digest) = 64),
        token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,  -- the token that was shown
        began_at INTEGER NOT NULL,  -- when it was shown: seconds since 1970
        idle_at INTEGER NOT NULL,  -- when it ends unless it is used before: put off, in steps, while it is
        expires_at INTEGER NOT NULL  -- when it ends however much it is used
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE activity (  -- what people with access did; never anything of a respondent
        number INTEGER PRIMARY KEY,  -- in this order
        at INTEGER NOT NULL,  -- when: seconds since 1970
        token TEXT NOT NULL,  -- the id of the token, which may be revoked since
        label TEXT NOT NULL,  -- its label at that time
        role TEXT NOT NULL,  -- its role at that time
        event TEXT NOT NULL,  -- what was done, as the security log calls it
        survey TEXT,  -- the id of the survey that it was done with, which may be deleted since
        about TEXT NOT NULL  -- JSON: more about it, by name
            CHECK (json_valid(about))
    )
    """,
    "CREATE INDEX activity_at ON activity (at)",
)
