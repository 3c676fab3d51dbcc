"""Nobody is identified: what a request carries besides the submission is kept nowhere, on either database."""

from __future__ import annotations

import json
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import randomize, verify
from deniable_server.storage import open_storage
from tests.helpers.machine import missing
from tests.helpers.postgres import cluster
from tests.helpers.servers import Server, ask, running

SUBMISSIONS = "/api/v1/surveys/campus-health/submissions"
SENDER = "127.77.66.55"
MARKS = ("canary-", "203.0.113.", SENDER)
"""One of these is in every string that must not be kept."""


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """The address of an empty database, and the folder of its files, log included."""
    if kind == "sqlite":
        yield str(folder / "a.db"), folder
    else:
        with cluster() as own:
            yield own.address(), own.folder


class Sender:
    """Sends with every request strings that are found nowhere else, from an address of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.sent = 0

    def canary(self, what: str) -> str:
        self.sent += 1
        return f"canary-{what}-{self.sent}"

    def _headers(self) -> dict[str, str]:
        return {
            "X-Forwarded-For": f"203.0.113.{self.sent % 250}",
            "X-Real-IP": self.canary("real-ip"),
            "Forwarded": f"for={self.canary('forwarded')}",
            "CF-Connecting-IP": self.canary("cf"),
            "User-Agent": self.canary("agent"),
            "Referer": f"https://{self.canary('referrer')}.example/",
            "Origin": f"https://{self.canary('origin')}.example",
            "Cookie": f"session={self.canary('cookie')}",
            "Accept-Language": self.canary("language"),
            "X-Request-Id": self.canary("request"),
        }

    def post(self, path: str, body: object, **more: str) -> int:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**self._headers(), **more}.items())
        with socket.create_connection(("127.0.0.1", self._server.port), source_address=(SENDER, 0)) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n{lines}"
            connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
            return int(connection.makefile("rb").readline().split()[1])


def look_for_marks(*folders: Path) -> set[tuple[str, str]]:
    """Which marks are in which files, also as other encodings would write them."""
    files = {file for folder in folders for file in folder.rglob("*") if file.is_file()}
    assert len(files) >= 4
    return {
        (mark, file.name)
        for file in files
        for content in [file.read_bytes()]
        for mark in MARKS
        for form in (mark.encode(), mark.encode("utf-16-le"), mark.encode().hex().encode())
        if form in content
    }


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_canary_is_kept_anywhere(kind: str, tmp_path: Path, example: bytes, example_answers: dict[str, Any]) -> None:
    """Unique strings in address headers, agent, referrer, cookies, tokens, paths, queries and unknown fields, sent with
    good and with bad submissions, are found in no file: database, its logs, the server's log, metrics or backup.

    The server trusts a proxy and limits rates, so that it does look at addresses; the sender has an address of its own.
    """
    if sys.platform != "linux":
        missing("a system on which every address of 127.0.0.0/8 is this machine")
    document = verify(example)

    def submit() -> dict[str, Any]:
        return dict(randomize(document, example_answers, {"campus": "north"}))

    folder = tmp_path / "files"
    folder.mkdir()
    with database(kind, folder) as (address, files):
        storage = open_storage(address)
        storage.publish(example)
        flags = ("--trusted-proxies", "1", "--rate-limit", "10000/hour")
        with running(address, folder / "server.log", *flags) as server:
            sender = Sender(server)
            canary, statuses = sender.canary, Counter[int]()
            for _ in range(30):
                good = submit()
                for body in (
                    good,
                    {**good, canary("field"): canary("value")},
                    {**good, "reports": [canary("answer")] * len(good["reports"])},
                    {**good, "reports": {canary("question"): canary("answer")}},
                    {**good, "booklet": canary("booklet")},
                    {**good, "segments": {"campus": canary("segment")}},
                    {**good, "id": canary("id")},
                    {**good, "digest": canary("digest")},
                    canary("no-json").encode(),
                ):
                    statuses[sender.post(SUBMISSIONS, body)] += 1
                statuses[sender.post(f"{SUBMISSIONS}?{canary('query')}=1", submit())] += 1
                statuses[sender.post(f"/api/v1/surveys/{canary('survey')}/submissions", good)] += 1
                statuses[sender.post(SUBMISSIONS, submit(), Authorization=f"Bearer {canary('token')}")] += 1
            assert statuses == {201: 60, 400: 30, 401: 30, 404: 30, 409: 30, 422: 180}
            storage.backup(str(folder / "before.db"), "0123456789abcdef" * 4)
            (folder / "metrics.txt").write_bytes(ask(f"{server.base}/metrics").body)
            found = look_for_marks(folder, files)
        published = storage.find("campus-health")
        assert published is not None
        storage.close_survey(published)
        storage.backup(str(folder / "after.db"), "0123456789abcdef" * 4)
        assert storage.verify() == [] and storage.surveys()[0].submissions == 60
        storage.close()
        found |= look_for_marks(folder, files)
    assert sender.sent > 2_000
    assert found == set()
