"""Retry storms: whatever is sent again, however often and all at once, is stored once.

Four parts on one database: retries over a way that loses a third of all responses; the same submission from many
connections at the same instant, with the same content and with others; the same in singles and in batches, before and
after folding; and retries while a survey is closed, and afterwards.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

import deniable
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.planting import Planted
from tests.helpers.servers import collector, let_collect

from . import Outcome, Watch
from .bursts import Answer, Burst, Storm, request
from .parcels import Book, Connection, Maker, Parcel, content_of, published, submissions_path
from .processes import Process

AT_ONCE = 64
"""Connections that send at the same instant."""

FOLD_AT = 1_000
"""Submissions in the inbox that are folded; as many in one request are sealed at once."""


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    submissions: int,
    instants: int,
    closings: int,
    planted: Planted | None = None,
) -> Outcome:
    """``submissions`` over the lossy way, half of them by the client library; ``instants`` at which one id arrives from
    64 connections, and ``closings`` of a survey amid retries. ``planted``: a fault, to test the proof.
    """
    storms = _Storms(folder, watch, seed, closings, planted)
    for part, size in ((storms.lose, submissions), (storms.collide, instants), (storms.close_amid, closings)):
        if size:
            part(size)
        if watch.is_over:
            storms.book.fault(f"stopped in a part of size {size}, when the time was over")
            break
    return storms.outcome()


class _Storms:
    def __init__(self, folder: Path, watch: Watch, seed: int, closings: int, planted: Planted | None) -> None:
        self.book = Book()
        self._folder, self._watch, self._seed, self._planted = folder, watch, seed, planted
        self._random, self._maker = random.Random(seed), Maker(seed)
        self._database, self._log = folder / "a.db", folder / "server.log"
        storage = open_storage(str(self._database))
        for survey in ("open", *(f"closed-{i}" for i in range(closings))):
            storage.publish(published(survey))
            let_collect(storage, survey)
        self._admin, _ = make_token(storage, "admin", "")
        storage.close()
        self._lock = threading.Lock()
        self._accepted: set[str] = set()  # parcels that somebody was told were new, each by its first submission

    def _server(self, workers: int) -> Process:
        server = Process(self._database, self._log, workers, self._planted)
        if not server.comes_up():
            raise RuntimeError(f"the server does not start: {self._log.read_text()[-500:]}")
        return server

    # --- losses on the way -------------------------------------------------------------------------------------------

    def lose(self, count: int) -> None:
        """Half by the client library, which keeps its outbox; half by three senders each that only repeat a body."""
        server = self._server(2)
        storm = Storm(server.port, self._seed, responses=0.3, requests=0.05, halves=0.05)
        by_client = count // 2
        parcels: list[Parcel] = []
        while sum(len(parcel.contents) for parcel in parcels) < count - by_client:
            parcels.append(self._maker.parcel("open"))
        jobs: list[Any] = [lambda person=person: self._respond(storm.port, person) for person in range(by_client)]
        # The three of a kind are neighbours, so that they are under way together.
        jobs += [lambda parcel=parcel: self._repeat(storm.port, parcel) for parcel in parcels for _ in range(3)]
        done = 0
        with ThreadPoolExecutor(24) as pool:
            for _ in pool.map(self._do, jobs):
                done += 1
                if done % 20 == 0:
                    self._watch.counts(done, len(jobs))
        storm.close()
        for what, lost in sorted(storm.counts.items()):
            self.book.count(what, lost)
        self.book.count("submissions over the lossy way", by_client + sum(len(parcel.contents) for parcel in parcels))
        server.stop()
        self.book.compare(self._database)

    def _do(self, job: Any) -> None:
        if not self._watch.is_over:
            job()

    def _respond(self, port: int, person: int) -> None:
        """A respondent: the library loads the survey, randomises once, and delivers from its outbox."""
        state = self._folder / f"state-{person}.db" if person % 4 == 0 else None
        client = None
        while client is None:
            try:
                client = deniable.Client(f"http://127.0.0.1:{port}/s/open", state=state, timeout=60)
            except deniable.Unreachable:
                self.book.count("documents that were asked for again")
        with client:
            answers = {"smoked": person % 3 == 0, "often": 1 + person % 2, "stress": 1 + person % 5}
            receipt = client.submit(answers, {"campus": "north" if person % 2 else "south"}, timeout=5)
            # Each flush tries again at once: that a hundred of them all lose something has probability 0.4^100.
            delivered = receipt.delivered or any(client.flush(5) for _ in range(100))
        sent = {key: getattr(receipt, key) for key in ("id", "digest", "booklet", "reports", "segments")}
        parcel = Parcel("open", [sent], batch=False)
        self.book.about_to_send(parcel)
        if delivered and receipt.delivered:
            self._deliver(parcel)
        else:
            self.book.fault("a submission was not delivered by the client", receipt.id)

    def _repeat(self, port: int, parcel: Parcel) -> None:
        """A sender that only sends the same bytes again until there is an answer."""
        self.book.about_to_send(parcel)
        connection = Connection(port)
        while True:
            try:
                status, tree = connection.post(submissions_path(parcel.survey), parcel.body, parcel.headers)
                break
            except ConnectionError:
                self.book.count("requests sent again")
        connection.close()
        self._judge(parcel, Answer(status, tree))

    def _judge(self, parcel: Parcel, answer: Answer) -> None:
        """An answer while others may have one to the same parcel: only one can have been told that it is new."""
        size, name = len(parcel.contents), next(iter(parcel.contents))
        if answer.status != 201:
            self.book.fault(f"an answer {answer.status} {answer.problem} to a good submission", name)
        elif sorted(answer.tree.values()) != [0, size]:
            self.book.fault("a batch was neither stored nor known as a whole", name)
        else:
            if answer.tree["accepted"]:
                self._note_accepted(name)
            self._deliver(parcel)

    def _note_accepted(self, name: str) -> None:
        with self._lock:
            second = name in self._accepted
            self._accepted.add(name)
        if second:
            self.book.fault("a submission was accepted twice", name)

    def _deliver(self, parcel: Parcel) -> None:
        with self._lock:
            self.book.acknowledged += 0 if parcel.delivered else len(parcel.contents)
            parcel.delivered = True

    # --- the same instant --------------------------------------------------------------------------------------------

    def collide(self, instants: int) -> None:
        """By one worker and by two: the same, then others of the same id, then singles and batches around a folding."""
        done = 0
        for workers, count in ((1, instants - instants // 2), (2, instants // 2)):
            if count == 0:
                continue
            server = self._server(workers)
            burst = Burst(server.port, AT_ONCE)
            for i in range(count):
                if self._watch.is_over:
                    break
                self._same(burst)
                self._different(burst)
                if i % 10 == 0:
                    self._singles_and_batches(burst)
                done += 1
                self._watch.counts(done, instants)
            burst.close()
            server.stop()
            self.book.compare(self._database)

    def _same(self, burst: Burst) -> None:
        """One accepted, all the others duplicates."""
        (submission,) = self._maker.submissions("open", 1)
        parcel = self._sent([submission], batch=False)
        answers = burst.send([posted(parcel)] * AT_ONCE)
        told = sorted((answer.status, answer.tree.get("accepted")) for answer in answers)
        if told != [(201, 0)] * (AT_ONCE - 1) + [(201, 1)]:
            self.book.fault("of the same at the same instant, not just one was accepted", submission["id"])
        self._deliver(parcel)
        self.book.count("instants with the same content")

    def _different(self, burst: Burst) -> None:
        """One wins; others with the winner's content get a success too, and all the rest a conflict."""
        variants = self._maker.submissions("open", AT_ONCE)
        for variant in variants:
            variant["id"] = variants[0]["id"]
        contents = [content_of(variant) for variant in variants]
        answers = burst.send([request(submissions_path("open"), encoded(variant)) for variant in variants])
        winners = [i for i, answer in enumerate(answers) if answer.status == 201 and answer.tree["accepted"] == 1]
        self.book.count("instants with other contents")
        if len(winners) != 1:
            self.book.fault("of one id with other contents, not just one was accepted", variants[0]["id"])
            return
        won = contents[winners[0]]
        for i, answer in enumerate(answers):
            expected = (201, "") if contents[i] == won else (409, "id-conflict")
            if (answer.status, answer.problem) != expected:
                self.book.fault("another content of the same id was not refused as a conflict", variants[0]["id"])
        # Only the winner's is noted as sent: any other that is stored shows in the comparison.
        self._deliver(self._sent([variants[winners[0]]], batch=False))

    def _singles_and_batches(self, burst: Burst) -> None:
        """Each of some submissions alone and in batches that overlap, all at once: three times, each along with a batch
        of others that makes a folding due, or is sealed at once.
        """
        some, others = self._maker.submissions("open", 8), self._maker.submissions("open", 4)
        messages = [request(submissions_path("open"), encoded(one)) for one in (*some, *others)] * 3
        batches = [some, some[::-1], some[4:] + others, some[:4] + others]
        token = "".join(f"{name}: {value}\r\n" for name, value in collector("open").items())
        messages += [request(submissions_path("open"), encoded({"submissions": batch}), token) for batch in batches] * 3
        sizes = [1] * 36 + [8] * 12
        for one in (*some, *others):
            self._deliver(self._sent([one], batch=False))
        new = len(some) + len(others)
        for beside in (600, 600, FOLD_AT):
            self._random.shuffle(order := list(range(len(messages))))
            large = self._sent(self._maker.submissions("open", beside), batch=True)
            answers = burst.send([messages[i] for i in order] + [posted(large)])
            self._judge(large, answers.pop())
            self._count_new(answers, [sizes[i] for i in order], new)
            new = 0
        self.book.count("instants with singles and batches")

    def _count_new(self, answers: Sequence[Answer], sizes: Sequence[int], new: int) -> None:
        """Over all answers, as many are accepted as are new."""
        sizes_told = [sum(answer.tree.values()) if answer.status == 201 else 0 for answer in answers]
        if sizes_told != list(sizes):
            self.book.fault("not every retry in a single or a batch was acknowledged", str(answers[0]))
        elif sum(answer.tree["accepted"] for answer in answers) != new:
            self.book.fault("over singles and batches, not each submission was accepted once")

    def _sent(self, submissions: list[dict[str, Any]], *, batch: bool, survey: str = "open") -> Parcel:
        parcel = Parcel(survey, submissions, batch=batch)
        self.book.about_to_send(parcel)
        return parcel

    # --- while a survey is closed ------------------------------------------------------------------------------------

    def close_amid(self, closings: int) -> None:
        server = self._server(2)
        burst = Burst(server.port, AT_ONCE)
        for i in range(closings):
            if not self._watch.is_over:
                self._close_amid(burst, f"closed-{i}")
                self._watch.counts(i + 1, closings)
        burst.close()
        server.stop()
        self.book.compare(self._database)

    def _close_amid(self, burst: Burst, survey: str) -> None:
        """Some known, some new, and in their midst the closing: what was stored stays acknowledged, the rest is
        refused and stays so.
        """
        self.book.may_close.add(survey)
        known, new = (
            [self._sent([one], batch=False, survey=survey) for one in self._maker.submissions(survey, 20)]
            for _ in range(2)
        )
        for parcel, answer in zip(known, burst.send([posted(parcel) for parcel in known]), strict=True):
            self._judge(parcel, answer)
        closing = request(f"/api/v1/surveys/{survey}/close", b" ", f"Authorization: Bearer {self._admin}\r\n")
        messages = [*map(posted, known), *map(posted, new[:10]), closing, *map(posted, new[10:])]
        answers = burst.send(messages)
        if answers.pop(30).status != 200:
            self.book.fault("a survey could not be closed amid retries", survey)
        for parcel, answer in zip((*known, *new), answers, strict=True):
            if answer.status == 201:
                self._judge(parcel, answer)
            elif answer.problem == "survey-closed" and not parcel.delivered:
                parcel.closed = True
            elif answer.status == 503:  # the other process is compacting the file: no promise, and the retry will show
                self.book.count("answers 503")
            else:
                self.book.fault("a wrong answer amid a closing", answer.problem)
        self._try_after_closing(burst, survey, known, new)
        self.book.count("closings amid retries")
        self.book.count("submissions that came too late", sum(parcel.closed for parcel in new))

    def _try_after_closing(self, burst: Burst, survey: str, known: list[Parcel], new: list[Parcel]) -> None:
        for parcel, answer in zip((*known, *new), burst.send([*map(posted, (*known, *new))]), strict=True):
            known_now = answer == (201, {"accepted": 0, "duplicates": 1})
            refused_now = (answer.status, answer.problem) == (409, "survey-closed")
            if not (known_now and not parcel.closed) and not (refused_now and not parcel.delivered):
                self.book.fault("after a closing, a retry was not answered as before", next(iter(parcel.contents)))
            if known_now:
                self._deliver(parcel)
            parcel.closed = refused_now and not parcel.delivered
        # A batch of which anything is new is refused as a whole; another content of a known id is a conflict still.
        (stranger,) = self._maker.submissions(survey, 1)
        first = msgspec.json.decode(known[0].body)
        differing = next(
            {**one, "id": first["id"]}
            for one in iter(lambda: self._maker.submissions(survey, 1)[0], None)
            if content_of(one) != content_of(first)
        )
        bodies = [encoded({"submissions": [first, stranger]}), encoded(differing)]
        token = "".join(f"{name}: {value}\r\n" for name, value in collector(survey).items())
        refused = burst.send([request(submissions_path(survey), body, token) for body in bodies])
        if [answer.problem for answer in refused] != ["survey-closed", "id-conflict"]:
            self.book.fault("after a closing, something new was not refused as it should", survey)

    def outcome(self) -> Outcome:
        figures = {"submissions": self.book.acknowledged, **dict(sorted(self.book.counts.items()))}
        return Outcome(figures, self.book.failures())


def encoded(tree: object) -> bytes:
    return msgspec.json.encode(tree)


def posted(parcel: Parcel) -> bytes:
    token = "".join(f"{name}: {value}\r\n" for name, value in parcel.headers.items())
    return request(submissions_path(parcel.survey), parcel.body, token)
