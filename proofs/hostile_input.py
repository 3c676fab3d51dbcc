"""Proof that no request, however made, is answered by a 5xx, stored, noted in the log, or makes the server grow.

Requests come from three places: schemathesis reads the server's own description, hypothesis makes bodies, headers,
paths, queries and forms, and raw connections send what no client would. The server is a real process with its usual
settings; what it stores is compared byte for byte before and after.
"""

from __future__ import annotations

import hashlib
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings

from deniable_protocol import parse_survey, publish, randomize, survey_from_tree, verify
from deniable_server import create_app, editing
from deniable_server.planning import publish_survey
from deniable_server.settings import Settings
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import Server, ask, collector, let_collect, running

from . import Outcome, Watch
from .described import send_described
from .hostile_bodies import MARK
from .hostile_requests import FORM, Request, Target, requests
from .judging import Judge
from .raw_sockets import flood, send_raw
from .wire import SOURCE, Nonsense, Reply, Wire

SURVEY, CLOSED = "campus-health", "closed-survey"
FLAGS = ("--trusted-proxies", "1", "--rate-limit", "100000000/minute")
KEPT_APART = {"tokens", "token_surveys", "sessions", "activity", "drafts"}
"""Tables that hostile forms may add to, with an admin's own session: shared links, drafts, and what was done."""
ANSWERS = {
    "vaped": True, "how_often": "every_day", "harassed": "declined", "substance": "cannabis",
    "support": ["doctor", "peers"], "stress": 4, "wellbeing": 2, "drinks": 12.5, "debt": 1200,
}  # fmt: skip
PEOPLE = 300
GROWTH = 0.05
"""The part of its memory that a server may use more of at the end."""


@contextmanager
def hostile_target(folder: Path, *flags: str, **environment: str) -> Iterator[tuple[Server, Target]]:
    """A server with an open and a closed survey, a draft, some submissions, tokens of both roles and an admin's
    session.
    """
    database = folder / "a.db"
    storage = open_storage(str(database))
    example = publish_survey(parse_survey((files("deniable_server") / "example.toml").read_bytes()))
    question = {"id": "vaped", "type": "yes_no", "text": "?", "epsilon": 1}
    other = publish(survey_from_tree({"id": CLOSED, "title": "Over", "questions": [question]}))
    storage.publish(example)
    storage.publish(other)
    let_collect(storage, SURVEY)
    published = storage.find(CLOSED)
    assert published is not None
    storage.close_survey(published)
    draft = storage.drafts.create(editing.write(editing.Sketch(languages=["en"], epsilon="2")))
    (analyst, _), (admin, _) = (make_token(storage, role, "") for role in ("analyst", "admin"))
    storage.close()
    document = verify(example)
    known = [dict(randomize(document, ANSWERS, {"campus": ("north", "south")[i % 2]})) for i in range(PEOPLE)]
    with running(database, folder / "server.log", *FLAGS, *flags, **environment) as server:
        submissions = f"{server.base}/api/v1/surveys/{SURVEY}/submissions"
        assert ask(submissions, {"submissions": known}, collector(SURVEY)).json == {"accepted": PEOPLE, "duplicates": 0}
        cookie, word = sign_in(server.port, admin)
        yield (
            server,
            Target(
                server.port, routes(folder), SURVEY, CLOSED, draft, known,
                [document.digest, verify(other).digest], analyst, admin, cookie, word,
            ),
        )  # fmt: skip


def routes(folder: Path) -> list[tuple[str, str]]:
    """Every route that the server has, read from an app of the same version."""
    app = create_app(Settings(database=str(folder / "routes.db")))
    app.extensions["deniable"].storage.close()
    return sorted(
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    )


def sign_in(port: int, secret: str) -> tuple[str, str]:
    """An admin's session: its cookie, and the word that its forms carry."""
    own = [("Host", b"x"), ("Sec-Fetch-Site", b"same-origin")]

    def word_on(path: str, headers: list[tuple[str, bytes]]) -> str:
        with Wire(port) as wire:
            wire.send(Request("GET", path.encode(), headers, None).raw())
            reply = wire.read()
        found = re.search(rb'name="word" value="([0-9a-f]+)"', b"" if reply is None else reply.body)
        assert found is not None
        return found[1].decode()

    body = f"token={secret}&word={word_on('/sign-in', own)}".encode()
    with Wire(port) as wire:
        wire.send(Request("POST", b"/sign-in", [*own, ("Content-Type", FORM.encode())], body).raw())
        reply = wire.read()
    assert reply is not None and reply.status == 303
    cookie = reply.headers["set-cookie"].partition(";")[0].removeprefix("deniable=")
    return cookie, word_on("/surveys/new", [*own, ("Cookie", f"deniable={cookie}".encode())])


class Sender:
    """Sends requests one after the other over a connection that is kept while the server keeps it."""

    def __init__(self, port: int, judge: Judge) -> None:
        self._port, self._judge = port, judge
        self._wire: Wire | None = None

    def send(self, request: Request) -> None:
        raw = request.raw()
        reply: Reply | None = None
        # A connection that the server has closed meanwhile took nothing of this: it is sent again on a new one.
        for fresh in (self._wire is None, True):
            if self._wire is None:
                self._wire = Wire(self._port)
            try:
                self._wire.send(raw)
                reply = self._wire.read(request.method)
            except TimeoutError:
                self._judge.fail(f"no answer to {raw[:200]!r}")
            except Nonsense as error:
                self._judge.fail(f"{error}: the answer to {raw[:200]!r}")
            if reply is None or reply.headers.get("connection") == "close":
                self.close()
            if reply is not None or fresh:
                break
        self._judge.count("made by hypothesis", reply, raw)

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None


def send_made(target: Target, judge: Judge, watch: Watch, count: int, start: int) -> None:
    """This many requests as hypothesis makes them, always the same ones for the same start."""
    sender, sent = Sender(target.port, judge), 0
    while sent < count and not watch.is_over:
        # In short runs: within one, hypothesis varies what it made before.
        @seed(start + sent)
        @settings(
            max_examples=min(250, count - sent), database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(requests(target))
        def run(request: Request) -> None:
            nonlocal sent
            sent += 1
            sender.send(request)

        run()
    sender.close()


# --- what must stay as it is -----------------------------------------------------------------------------------------


def contents(database: Path) -> dict[str, str]:
    """A digest of all rows of each table."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        # An admin who publishes the same survey again may expect another number of respondents.
        connection.execute("CREATE TEMP VIEW published AS SELECT id, document, digest, status, closed_on FROM surveys")
        tables = {name: "published" if name == "surveys" else name for name in names}
        rows = {
            name: sorted(map(repr, connection.execute(f'SELECT * FROM "{table}"'))) for name, table in tables.items()
        }
    return {name: hashlib.sha256("\n".join(each).encode()).hexdigest() for name, each in rows.items()}


def resident(process: int) -> int:
    """Bytes of memory that a process has in use."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise ValueError("no Rss")


def settled(server: Server) -> int:
    """Bytes in use at rest: the least after each of some runs of ordinary requests."""
    least = []
    for _ in range(5):
        for _ in range(20):
            ask(f"{server.base}/s/{SURVEY}")
        least.append(sum(map(resident, server.workers())))
    return min(least)


LINE = re.compile(r"[0-9T:+-]+ (INFO|WARNING) (at=\S+ event=[a-z-]+( [a-z]+=[A-Za-z0-9._?-]+)*|Listening at \S+)")
"""What the log may hold: what was done with a token, and what was refused, in the server's own words."""


def check_log(log: Path, judge: Judge) -> None:
    """Nothing of what was sent, nobody's address, and nothing unexpected."""
    for line in log.read_text(errors="replace").splitlines():
        if not LINE.fullmatch(line) or MARK in line or SOURCE in line:
            judge.fail(f"in the log: {line[:300]}")


def check_files(folder: Path, judge: Judge) -> None:
    """No file of the database contains a word of what was sent."""
    for file in folder.glob("a.db*"):
        content = file.read_bytes()
        judge.failures += [f"{file.name} holds {word}" for word in (MARK, SOURCE) if word.encode() in content]


# --- the proof -------------------------------------------------------------------------------------------------------


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    *,
    requests: int,
    warm_up: int,
    connections: int,
    threads: int = 16,
    more_rounds: int = 0,
) -> Outcome:
    """So many requests of every kind, in rounds. The first ones warm the server up: what it uses then is what all the
    others may not make it use more of. Each thread has caches of its own: with 16 it takes about 30,000 requests.

    With fewer, it may still be warming up at the end. ``more_rounds``, at most so many, then show whether its memory
    levels off. A leak does not.
    """
    judge = Judge()
    with hostile_target(folder, "--threads", str(threads)) as (server, target):
        document = verify(ask(f"{server.base}/api/v1/surveys/{SURVEY}").body)

        def fresh() -> bytes:
            return msgspec.json.encode(randomize(document, ANSWERS, {"campus": "north"}))

        estimates = read_estimates(server, target)
        before, workers = contents(server.database), server.workers()
        memory: list[int] = []  # twice in each round
        turns = max(1, (requests - warm_up) // max(requests // 10, warm_up))

        def send_until(until: int) -> None:
            share, chance = (until - judge.sent) // 10, random.Random(f"{seed} {until}")
            send_raw(target, judge, share, fresh, chance)
            memory.append(settled(server))
            send_described(target, judge, watch, share, chance.getrandbits(64))
            send_made(target, judge, watch, until - judge.sent, chance.getrandbits(64))
            flood(target, judge, connections)
            memory.append(settled(server))
            watch.counts(judge.sent, requests)

        for until in [warm_up // 2, *(warm_up + (requests - warm_up) * turn // turns for turn in range(turns + 1))]:
            send_until(until)
        # After large bodies the system may have got their memory back or not: what was used at most counts as warm.
        warm, grown = max(memory[:4]), memory[-1] / max(memory[:4]) - 1
        for _ in range(more_rounds):
            if grown < GROWTH:
                break
            warm = max(memory)
            send_until(judge.sent + (requests - warm_up) // turns)
            grown = memory[-1] / warm - 1
        if judge.sent < requests:
            judge.fail(f"stopped after {judge.sent} of {requests} requests")
        if server.workers() != workers:
            judge.fail("a worker has ended, and another one has taken its place")
        if grown >= GROWTH:
            judge.fail(f"memory has grown by {grown:.1%}, from {warm:,} to {memory[-1]:,} bytes")
        changed = [name for name, rows in contents(server.database).items() if rows != before[name]]
        if changed := [name for name in changed if name not in KEPT_APART]:
            judge.fail(f"other content than before: {', '.join(changed)}")
        check_log(folder / "server.log", judge)
        check_files(folder, judge)
        if read_estimates(server, target) != estimates:
            judge.fail("estimates are not what they were")
        taken = ask(f"{server.base}/api/v1/surveys/{SURVEY}/submissions", fresh())
        if (taken.status, taken.json) != (201, {"accepted": 1, "duplicates": 0}):
            judge.fail("a proper submission is not taken any more")
        if read_estimates(server, target)["submissions"] != estimates["submissions"] + 1:
            judge.fail("the submission afterwards is not counted")
    storage = open_storage(str(folder / "a.db"))
    judge.failures += storage.verify()
    storage.close()
    figures: dict[str, int | float | str] = {"requests": judge.sent, **judge.kinds}
    figures["answers"] = ", ".join(f"{status}: {n:,}" for status, n in sorted(judge.statuses.items()))
    figures["bytes of memory when warm"] = warm
    figures["bytes of memory at the end"] = memory[-1]
    figures["megabytes after each round"] = ", ".join(f"{each / 1e6:.1f}" for each in memory[1::2])
    figures["memory growth"] = f"{grown:.2%}"
    return Outcome(figures, judge.failures)


def read_estimates(server: Server, target: Target) -> dict[str, Any]:
    """What an analyst reads, which also folds whatever waits in the inbox."""
    path = f"/api/v1/surveys/{SURVEY}/estimates"
    result: dict[str, Any] = ask(server.base + path, headers={"Authorization": f"Bearer {target.analyst}"}).json
    return result
