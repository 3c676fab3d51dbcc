"""What was sent to a server and what it acknowledged, and whether a database keeps that."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from deniable_protocol import Document, randomize, verify
from deniable_server.settings import Settings
from deniable_server.storage import Row, Storage, open_storage
from deniable_server.web.submission_reader import SubmissionReader

from .traces import Event, Received, Sent

_ID = re.compile(rb'"id":"([0-9a-f]{32})"')


def survey(name: str) -> dict[str, Any]:
    """A small survey, without a design: what is tested is that rows are kept, not what is in them."""
    return {
        "id": name,
        "title": "Kept",
        "segments": [
            {"id": "site", "text": "?", "options": [{"code": "a", "text": "A"}, {"code": "b", "text": "B"}]},
        ],
        "questions": [
            {"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"},
            {"id": "r", "type": "scale", "text": "?", "epsilon": "2", "labels": ["1", "2", "3", "4", "5"]},
        ],
    }


class Promises:
    """Filled by the events of a trace, in their order; ``make`` notes what will be sent, so that it is known again."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.rows: dict[bytes, tuple[str, str, int]] = {}  # by id: the survey, the content, the request
        self.acknowledged: set[bytes] = set()
        self.sent: set[bytes] = set()
        self.published: set[str] = set()
        self.closed: set[str] = set()
        self._intakes: dict[str, SubmissionReader] = {}
        self._requests = 0
        self._open: dict[str, bytearray] = defaultdict(bytearray)

    def learn(self, published: bytes) -> None:
        """A survey that submissions can be made for."""
        document = verify(published)
        self.documents[document.survey.id] = document
        self._intakes[document.survey.id] = SubmissionReader(document)

    def make(self, survey: str, count: int | None = None) -> bytes:
        """The body of a request with a submission, or with a batch of so many."""
        document = self.documents[survey]
        answers = [({"q": i % 3 == 0, "r": 1 + i % 5}, {"site": "ab"[i % 2]}) for i in range(count or 1)]
        made = [dict(randomize(document, *each)) for each in answers]
        body = json.dumps(made[0] if count is None else {"submissions": made}, separators=(",", ":")).encode()
        self._requests += 1
        for row in self._intakes[survey].read(body).rows:
            self.rows[row.id] = (survey, row.content, self._requests)
        return body

    def happen(self, event: Event) -> None:
        if isinstance(event, Received):
            self._open[event.connection] += event.data
        elif isinstance(event, Sent) and event.data.startswith(b"HTTP/1.1 "):
            request = bytes(self._open.pop(event.connection, b""))
            method, path, status = *request.split(b" ", 2)[:2], int(event.data[9:12])
            self.sent |= _ids(request)
            if method == b"POST" and status in (200, 201):
                self._note(path.decode(), request)

    def answered(self, body: bytes, status: int | None) -> None:
        """The same without a trace: a client has sent this, or got this answer to it."""
        self.sent |= _ids(body)
        if status == 201:
            self.acknowledged |= _ids(body)

    def _note(self, path: str, request: bytes) -> None:
        parts = path.removeprefix("/api/v1/surveys").strip("/").split("/")
        if parts == [""]:
            self.published.add(json.loads(request.partition(b"\r\n\r\n")[2])["id"])
        elif parts[1:] == ["submissions"]:
            self.acknowledged |= _ids(request)
        elif parts[1:] == ["close"]:
            self.closed.add(parts[0])

    def broken(self, database: Path) -> list[str]:
        """What a database does not keep of this. It is opened as a server opens it, and finishes what was begun."""
        try:
            Settings(database=str(database)).ensure_secret_key()
            storage = open_storage(str(database))
        except Exception as error:
            return [f"cannot start: {type(error).__name__}: {str(error).replace(str(database.parent), '')}"]
        try:
            storage.finish_closing()
            return [*storage.verify(), *self._missing(storage), *self._goes_on(storage)]
        except Exception as error:
            return [f"cannot be read: {type(error).__name__}: {str(error).replace(str(database.parent), '')}"]
        finally:
            storage.close()

    def _missing(self, storage: Storage) -> list[str]:
        found: Counter[bytes] = Counter()
        wrong = 0
        trouble = []
        statuses = {listed.id: listed.status for listed in storage.surveys()}
        for name in statuses:
            published = storage.find(name)
            assert published is not None
            with storage.submissions(published) as submissions:
                for submission, content in submissions:
                    found[submission] += 1
                    of, sent, _ = self.rows.get(submission, ("", "", 0))
                    stored = [content.booklet, list(content.reports), list(content.segments)]
                    wrong += of != name or stored != json.loads(sent)
        if lost := self.published - set(statuses):
            trouble.append(f"{len(lost)} surveys lost whose publication was acknowledged")
        if opened := [name for name in self.closed if statuses.get(name) != "closed"]:
            trouble.append(f"{len(opened)} surveys open whose closing was acknowledged")
        if lost_rows := self.acknowledged - set(found):
            trouble.append(f"{len(lost_rows)} acknowledged submissions lost")
        if twice := [submission for submission, count in found.items() if count > 1]:
            trouble.append(f"{len(twice)} submissions counted twice")
        on_the_way = set().union(*(_ids(bytes(request)) for request in self._open.values()))
        if unsent := set(found) - self.sent - on_the_way:
            trouble.append(f"{len(unsent)} submissions that were never sent")
        if wrong:
            trouble.append(f"{wrong} submissions that say something else than was sent")
        sizes = Counter(request for _, _, request in self.rows.values())
        kept = Counter(self.rows[submission][2] for submission in found if submission in self.rows)
        if parts := [request for request, count in kept.items() if count != sizes[request]]:
            trouble.append(f"{len(parts)} requests kept in part")
        return trouble

    def _goes_on(self, storage: Storage) -> list[str]:
        """A submission that was never answered is sent again, and taken once."""
        waiting = set().union(self.sent, *(_ids(bytes(request)) for request in self._open.values())) - self.acknowledged
        for submission in sorted(waiting):
            name, _, request = self.rows[submission]
            published = storage.find(name)
            if published is None or storage.status(published) != "open":
                continue
            again = [Row(each, row[1]) for each, row in self.rows.items() if row[2] == request]
            first, second = storage.accept(published, again), storage.accept(published, again)
            if first.accepted + first.duplicates != len(again) or second.accepted:
                return ["a submission that is sent again is not counted just once"]
            break
        return []


def _ids(request: bytes) -> set[bytes]:
    return {bytes.fromhex(found.decode()) for found in _ID.findall(request)}
