"""Devices of people who were invited: each gets its token, spends it, and tries again until it has an answer."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from deniable_protocol import Document, TokenError
from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, Token, from_text, to_text
from deniable_protocol.invitations import digest_of_code
from deniable_server.storage import Published, Storage
from tests.helpers.servers import let_collect

from .cheats import Cheats
from .parcels import Book, Connection, Maker, Parcel, published
from .senders import send

RIVALS = 0.1
"""Of the invitations, how many are used by two devices at the same time: one of them gets the token."""
CHEATS = 0.25
"""Of the people who have spent their token, how many then try to cheat."""

PAUSE = 0.05
"""Seconds until a device tries again: without it, those that wait for a server would keep it from starting."""


def publish_by_invitation(storage: Storage, survey: str) -> Published:
    """The survey of the other proofs, for people with invitations."""
    storage.publish(published(survey, storage.invitations.ensure_key(survey).public))
    let_collect(storage, survey)
    found = storage.find(survey)
    assert found is not None
    return found


class Device:
    """One device with an invitation. What it has drawn stays the same, however often it must ask."""

    __slots__ = ("blinding", "code", "has_rival")

    def __init__(self, code: str, has_rival: bool) -> None:
        self.code, self.has_rival = code, has_rival
        self.blinding: Blinding | None = None

    @property
    def use(self) -> tuple[bytes, bytes]:
        """What the database must have for it: digests of the code and of the blinded value."""
        assert self.blinding is not None
        return digest_of_code(self.code), hashlib.sha256(self.blinding.blinded).digest()


class Uses:
    """Which uses of invitations devices have asked for, and which were signed for them."""

    def __init__(self, book: Book) -> None:
        self._book, self._lock = book, threading.Lock()
        self._asked: set[tuple[bytes, bytes]] = set()
        self._signed: dict[tuple[bytes, bytes], str] = {}
        self._values: defaultdict[bytes, set[bytes]] = defaultdict(set)  # by code: what was signed
        self._seen: dict[tuple[bytes, int], bytes] = {}  # by code and number: what was on disk

    def asks(self, use: tuple[bytes, bytes]) -> None:
        with self._lock:
            self._asked.add(use)

    def signed(self, use: tuple[bytes, bytes], signature: str) -> None:
        with self._lock:
            known = self._signed.setdefault(use, signature)
            self._values[use[0]].add(use[1])
            values = len(self._values[use[0]])
        if known != signature:
            self._book.fault("one value got two signatures", use[0].hex())
        if values > 1:
            self._book.fault("one invitation was signed for two values", use[0].hex())

    def compare(self, read: Any) -> int:
        """Compare ``read()``, the rows (code, number, blinded) on disk, with what was signed up to now. Returns how
        many uses were taken by devices that had no signature when this began.
        """
        with self._lock:
            signed = set(self._signed)
        rows = [(bytes(code), int(number), bytes(blinded)) for code, number, blinded in read()]
        with self._lock:
            asked = set(self._asked)
        on_disk = {(code, blinded) for code, _, blinded in rows}
        for name, uses in (
            ("a token was signed, and that its invitation is used is not on disk", signed - on_disk),
            ("an invitation is used for a value that nobody sent", on_disk - asked),
        ):
            for code, _ in uses:
                self._book.fault(name, code.hex())
        now = {(code, number): blinded for code, number, blinded in rows}
        if len({code for code, _, _ in rows}) < len(rows):
            self._book.fault("an invitation for one is used more than once")
        for place, blinded in self._seen.items():
            if now.get(place) != blinded:
                self._book.fault("a use that was on disk is gone, or another's", place[0].hex())
        self._seen = now
        return len(on_disk - signed)


class Invitees:
    """Threads that serve all devices, one after another, each until its submission is acknowledged."""

    def __init__(
        self, book: Book, document: Document, other: Document, foreign: Sequence[Token], codes: Sequence[str], seed: int
    ) -> None:
        self.book, self.uses = book, Uses(book)
        self.limit = 0.0  # they go on while fewer than this are acknowledged
        self.port = 0
        self._document, self._other, self._foreign = document, other, foreign
        self._ended = False
        draw = random.Random(seed)
        self._waiting: deque[Device] = deque()
        for code in codes:
            rivals = 1 + (draw.random() < RIVALS)
            self._waiting.extend(Device(code, rivals > 1) for _ in range(rivals))
        self._threads: list[threading.Thread] = []

    def start(self, port: int, count: int, seed: int) -> None:
        self.port = port
        for number in range(count):
            self._threads.append(threading.Thread(target=self._run, args=(seed + number, number), daemon=True))
            self._threads[-1].start()

    @property
    def are_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def end(self) -> None:
        self._ended = True
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int, number: int) -> None:
        draw, maker, connection = random.Random(seed), Maker(seed), Connection(self.port)
        cheats = Cheats(self._document, self._other, self._foreign[number % len(self._foreign)], seed)
        while not self._ended:
            if self.book.acknowledged >= self.limit:
                time.sleep(0.002)
                continue
            try:
                device = self._waiting.popleft()
            except IndexError:
                break
            token = self._token(connection, device, draw)
            if token is None:
                continue
            spent = maker.submission(self._document, token)
            parcel = Parcel(self._document.survey.id, [spent], batch=False)
            self._spend(connection, parcel)
            if draw.random() < CHEATS and parcel.delivered:
                self._cheat(connection, cheats, token, spent, device.code)
        connection.close()

    def _token(self, connection: Connection, device: Device, draw: random.Random) -> Token | None:
        """None where a rival has it."""
        key = self._document.issuer
        assert isinstance(key, PublicKey)
        device.blinding = Blinding.draw(key)
        body = json.dumps({"invitation": device.code, "blinded": to_text(device.blinding.blinded)}).encode()
        self.uses.asks(device.use)
        token: Token | None = None
        again = 1 + (draw.random() < 0.1)  # now and then, somebody who has the answer asks for it again
        while again and (answered := self._post(connection, f"{self._path}/tokens", body)) is not None:
            status, answer = answered
            if status == 201:
                self.uses.signed(device.use, answer["signature"])
                try:
                    token = device.blinding.finish(key, from_text(answer["signature"], BYTES, "signature"))
                except TokenError:
                    self.book.fault("a signature that is not valid was given", device.code)
                again -= 1
            elif status == 409 and answer["type"].endswith(":invitation-used") and device.has_rival and token is None:
                self.book.count("devices whose rival had the token")
                return None
            else:
                self.book.fault(f"an answer {status} to a good invitation", device.code)
                return token
        return token

    @property
    def _path(self) -> str:
        return f"/api/v1/surveys/{self._document.survey.id}"

    def _spend(self, connection: Connection, parcel: Parcel) -> None:
        answers = 0  # a submission that is refused again and again is noted by the book, and not sent for ever
        while parcel.waits and not self._ended and answers < 100:
            try:
                send(self.book, connection, parcel)
                answers += 1
            except ConnectionError:
                self.book.count("requests without an answer")
            if parcel.waits:
                time.sleep(PAUSE)

    def _cheat(self, connection: Connection, cheats: Cheats, token: Token, spent: dict[str, Any], code: str) -> None:
        cheat = cheats.with_token(token, spent, code)
        answered = self._post(connection, cheat.path, cheat.body, cheat.headers)
        if answered is not None and not cheat.is_refused(*answered):
            self.book.fault(f"{cheat.kind}: the answer was {answered[0]}", code)
        self.book.count(f"refused: {cheat.kind.partition(':')[0]}", answered is not None)

    def _post(
        self, connection: Connection, path: str, body: bytes, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]] | None:
        """The answer, however often it must be asked for; None where the proof has ended."""
        while not self._ended:
            try:
                status, answer = connection.post(path, body, headers)
                if status != 503:
                    return status, answer
                self.book.count("answers 503")
            except ConnectionError:
                self.book.count("requests without an answer")
            time.sleep(PAUSE)
        return None
