"""Tokens of a real server that is killed again and again: each use of an invitation is given once, none is lost."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, from_text, to_text, verify_token
from deniable_protocol.invitations import digest_of_code
from deniable_server.storage import open_storage
from tests.helpers.by_invitation import invite, publish_invited
from tests.helpers.postgres import Cluster
from tests.helpers.servers import Server, ask

CODES, KILLS = 60, 4


class Asked(NamedTuple):
    """A device: the code that it has, and its hidden message."""

    code: str
    blinding: Blinding


def signature(server: Server, asked: Asked) -> tuple[int, str]:
    """The status, and the signature or the kind of problem; (0, "") where the server is away."""
    body = {"invitation": asked.code, "blinded": to_text(asked.blinding.blinded)}
    address = f"{server.base}/api/v1/surveys/invited/tokens"
    try:
        answer = ask(address, body)
    except (OSError, HTTPException):
        return 0, ""
    return answer.status, answer.json.get("signature") or answer.json["type"]


def check(database: str, folder: Path) -> None:
    storage = open_storage(database)
    survey, codes = publish_invited(storage), [*invite(storage, CODES), *invite(storage, 2, uses=10)]
    storage.close()
    key: PublicKey | None = survey.document.issuer
    assert key is not None
    # Two devices for each personal code, and fifteen for each of the codes that ten people share.
    devices = [Asked(code, Blinding.draw(key)) for code in codes[:CODES] for _ in range(2)]
    devices += [Asked(code, Blinding.draw(key)) for code in codes[CODES:] for _ in range(15)]
    given: dict[Asked, set[str]] = {device: set() for device in devices}

    def try_all(server: Server, killed: bool) -> None:
        with ThreadPoolExecutor(8) as pool:
            for place, (device, (status, text)) in enumerate(
                zip(devices, pool.map(lambda each: signature(server, each), devices), strict=True)
            ):
                assert status in ((0, 201, 409, 503) if killed else (201, 409)), text
                if status == 201:
                    given[device].add(text)
                if killed and place == len(devices) // 3:
                    server.stop(signal.SIGKILL)

    for kill in range(KILLS + 1):
        server = Server(database, folder / f"log-{kill}", "--rate-limit", "100000/second")
        try:
            try_all(server, killed=kill < KILLS)
        finally:
            server.stop()
    by_code = {code: [device for device in devices if device.code == code and given[device]] for code in codes}
    assert all(len(by_code[code]) == 1 for code in codes[:CODES]), "one device of two, and never both"
    assert all(len(by_code[code]) == 10 for code in codes[CODES:]), "ten of fifteen"
    for device, texts in given.items():
        assert len(texts) <= 1, "asked again, the answer is the same"
        for text in texts:
            assert verify_token(key, device.blinding.finish(key, from_text(text, BYTES, "signature")))
    storage = open_storage(database)
    try:
        assert storage.invitations.numbers(survey).used == CODES + 20 and storage.verify() == []
        for device in (each for each in devices if given[each]):
            blinded = sha256(device.blinding.blinded).digest()
            storage.invitations.take(survey, digest_of_code(device.code), blinded)  # it is there
    finally:
        storage.close()


def test_on_sqlite(tmp_path: Path) -> None:
    """Over kills, on SQLite: of all devices that ask with a code, as many get a token as it has uses."""
    check(str(tmp_path / "a.db"), tmp_path)


def test_on_postgresql(postgres: Cluster, tmp_path: Path) -> None:
    """The same on PostgreSQL."""
    check(postgres.new_database(), tmp_path)
