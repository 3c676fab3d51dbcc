"""Connections that send what no client would: wrong lengths, several requests at once, half of one, far too much.

Each case says which statuses may come back, in order, before the server closes the connection. Wherever a second
request is hidden in the first, it asks for what would be answered by 200: that status then shows that it was taken.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack, suppress
from random import Random
from typing import NamedTuple

from .hostile_bodies import MARK
from .hostile_requests import Target
from .judging import Judge
from .wire import SOURCE, Nonsense, Wire

HOST = b"Host: x\r\n"
HIDDEN = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
LAST = b"DELETE /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
"""Ends a connection that the server would keep: 405."""
GET = b"GET /healthz HTTP/1.1\r\n" + HOST
LIMIT = 16 * 2**20
"""Bytes that a body may have, where the settings do not say otherwise."""


class Case(NamedTuple):
    """Bytes to send, and every list of statuses that may come back. Where it ends in ``LAST``, that is answered too."""

    name: str
    raw: bytes
    allowed: list[list[int]]
    half_closed: bool = False


def post(survey: str, *headers: bytes) -> bytes:
    """The head of a submission; the length is up to the headers."""
    path = f"/api/v1/surveys/{survey}/submissions".encode()
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + lines + b"\r\n"


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))


def cases(target: Target, fresh: Callable[[], bytes], chance: Random) -> list[Case]:
    """All of them. ``fresh`` makes a submission that would be stored if it were sent properly."""
    name, text = target.survey, MARK.encode()
    te = b"Transfer-Encoding: chunked"

    def of(length: int) -> bytes:
        return b"Content-Length: %d" % length

    refused, kept = [[400]], [[422, 405], [400, 405]]
    # 408 and not 400, which would be final: the same sent once more may well arrive whole.
    incomplete: list[list[int]] = [[408], []]
    broken = [*refused, *incomplete]
    whole, same = fresh(), fresh()
    bad = b'{"%s":1}' % text
    return [
        # --- two lengths, or one that is none: at most one answer, and nothing hidden is taken ---
        Case("length and chunks", post(name, of(4), te) + b"0\r\n\r\n" + HIDDEN, refused),
        Case("chunks and length", post(name, te, of(len(HIDDEN) + 5)) + b"0\r\n\r\n" + HIDDEN, refused),
        Case("two lengths", post(name, of(2), of(2 + len(HIDDEN))) + b"{}" + HIDDEN, refused),
        Case("two lengths in one", post(name, b"Content-Length: 2, 40") + b"{}" + HIDDEN, refused),
        Case("a negative length", post(name, b"Content-Length: -2") + b"{}" + HIDDEN, refused),
        Case("a length with a sign", post(name, b"Content-Length: +2") + b"{}" + HIDDEN, refused),
        Case("a length in hex", post(name, b"Content-Length: 0x2") + b"{}" + HIDDEN, refused),
        Case("a length of 30 digits", post(name, b"Content-Length: " + b"9" * 30) + b"{}", [*refused, [413]]),
        Case("a length beyond 2^64", post(name, of(2**64 - 1)) + b"{}", [*refused, [413], [431]]),
        Case("an empty length", post(name, b"Content-Length: ") + b"{}" + HIDDEN, refused),
        Case("chunks with a space", post(name, b"Transfer-Encoding : chunked", of(2)) + b"{}" + HIDDEN, refused),
        Case("another coding", post(name, b"Transfer-Encoding: gzip") + chunked(b"{}") + HIDDEN, refused),
        Case("no coding", post(name, b"Transfer-Encoding: identity", of(2)) + b"{}" + HIDDEN, refused),
        Case("chunks, but not last", post(name, b"Transfer-Encoding: chunked, x") + chunked(b"{}") + HIDDEN, refused),
        Case("almost chunks", post(name, b"Transfer-Encoding: xchunked") + chunked(b"{}") + HIDDEN, refused),
        Case("a vertical tab", post(name, b"Transfer-Encoding:\x0bchunked", of(2)) + b"{}" + HIDDEN, refused),
        Case("old HTTP with chunks", post(name, te).replace(b"1.1", b"1.0") + chunked(b"{}") + HIDDEN, refused),
        # --- chunks that are none ---
        Case("a size that is none", post(name, te) + b"zz\r\n{}\r\n0\r\n\r\n" + HIDDEN, broken),
        Case("a negative size", post(name, te) + b"-2\r\n{}\r\n0\r\n\r\n" + HIDDEN, broken),
        Case("a size of 17 digits", post(name, te) + b"f" * 17 + b"\r\n{}\r\n0\r\n\r\n" + HIDDEN, broken),
        Case("a chunk without an end", post(name, te) + b"2\r\n{}" + HIDDEN, broken),
        Case("a chunk with bare LF", post(name, te) + b"2\n{}\n0\n\n" + HIDDEN, broken),
        Case("an endless extension", post(name, te) + b"2;" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n", broken),
        Case("many trailers", post(name, te) + b"0\r\n" + b"A: b\r\n" * 5_000 + b"\r\n" + LAST, [*broken, [400, 405]]),
        Case("a late length", post(name, te) + b"2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n" + LAST, [*kept, [408]]),
        Case("small chunks", post(name, te) + chunked(*(bytes([byte]) for byte in bad)) + LAST, kept),
        # --- not as long as stated ---
        Case("a body cut short", post(name, of(len(bad) + 9)) + bad, incomplete, half_closed=True),
        Case("a whole body, stated as longer", post(name, of(len(whole) + 9)) + whole, incomplete, half_closed=True),
        Case("chunks cut short", post(name, te) + chunked(bad)[:-5], incomplete, half_closed=True),
        Case("a whole body without the last chunk", post(name, te) + chunked(same)[:-5], incomplete, half_closed=True),
        Case("half of a head", post(name, of(2))[:-9], [[], *refused], half_closed=True),
        Case("longer than stated", post(name, of(5)) + whole, [[400, 400]]),
        Case("longer, and then a request", post(name, of(2)) + b"{}" + whole[:7] + b"\r\n\r\n" + HIDDEN, [[422, 400]]),
        # --- too much ---
        Case("too long as stated", post(name, of(LIMIT + 1)), [[413]]),
        Case("far too long as stated", post(name, of(2**62)) + text, [[413], *refused]),
        Case("5,000 headers", GET + b"X: y\r\n" * 5_000 + b"\r\n" + HIDDEN, [[431]]),
        Case("a large header", GET + b"X: " + text * 200_000 + b"\r\n\r\n" + HIDDEN, [[431]]),
        Case("a large cookie", GET + b"Cookie: " + b"a=b; " * 50_000 + b"\r\n\r\n" + LAST, [[200, 405], [431]]),
        Case("a long path", b"GET /s/" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, [[414], [431]]),
        Case("a long method", b"A" * 100_000 + b" / HTTP/1.1\r\n" + HOST + b"\r\n" + LAST, [*refused, [405, 405]]),
        Case("10,001 submissions", _too_many(target), [[413, 405]]),
        # --- heads that are none ---
        Case("a folded header", GET + b"X: a\r\n b\r\n\r\n" + HIDDEN, refused),
        Case("NUL in a header", GET + b"X: a\x00b\r\n\r\n" + HIDDEN, refused),
        Case("CR in a header", GET + b"X: a\rb\r\n\r\n" + HIDDEN, refused),
        Case("no colon", GET + b"quagga\r\n\r\n" + HIDDEN, refused),
        Case("no name", GET + b": quagga\r\n\r\n" + HIDDEN, refused),
        Case("bytes in the path", b"GET /s/\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, refused),
        Case("a space in the path", b"GET /s/a b HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, refused),
        Case("HTTP/0.9", b"GET /healthz\r\n\r\n", refused),
        Case("HTTP/3", b"GET /healthz HTTP/3.0\r\n" + HOST + b"\r\n" + HIDDEN, refused),
        Case("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", [[], *refused]),
        Case("TLS", _client_hello(), refused),
        Case("noise", chance.randbytes(300).replace(b"\n", b"") + b"\r\n\r\n", refused),
        Case("zeros", bytes(3_000) + b"\r\n\r\n", refused),
        # --- odd, but allowed ---
        Case("LF for CR LF", b"GET /healthz HTTP/1.1\nHost: x\n\n" + LAST, [[200, 405], *refused]),
        Case("empty lines before", b"\r\n\r\n" + GET + b"\r\n" + LAST, [[200, 405], *refused]),
        Case("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", [[200]]),
        Case("half closed", GET + b"\r\n", [[200], []], half_closed=True),
        Case("a whole address", b"GET http://quagga/healthz HTTP/1.1\r\n" + HOST + b"\r\n" + LAST, [[200, 405]]),
        Case("a body for GET", GET + of(len(HIDDEN)) + b"\r\n\r\n" + HIDDEN + LAST, [[200, 405]]),
        Case("a tunnel", b"CONNECT quagga:80 HTTP/1.1\r\n" + HOST + b"\r\n" + LAST, [[404, 405], *refused]),
        Case("everything", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + LAST, [[404, 405], [204, 405], *refused]),
        Case("to be upgraded", GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + LAST, [[200, 405]]),
        Case("expected first", post(name, of(len(bad)), b"Expect: 100-continue") + bad + LAST, kept),
        Case("expected otherwise", post(name, of(len(bad)), b"Expect: quagga") + bad + LAST, [*kept, [417]]),
    ]  # fmt: skip


def _too_many(target: Target) -> bytes:
    one = b'{"id":"%s"}' % (b"0" * 32)
    body = b'{"submissions":[' + b",".join([one] * 10_001) + b"]}"
    return post(target.survey, b"Content-Length: %d" % len(body)) + body + LAST


def _client_hello() -> bytes:
    """What a browser sends that was told https by mistake."""
    sent = ssl.MemoryBIO()
    talk = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="x")
    with suppress(ssl.SSLWantReadError):
        talk.do_handshake()
    return sent.read()


def send_case(target: Target, judge: Judge, case: Case) -> None:
    """Send a case, and judge what comes back."""
    statuses: list[int] = []
    with Wire(target.port) as wire:
        wire.send(case.raw)
        if case.half_closed:
            wire.finish_sending()
        try:
            while reply := wire.read():
                judge.count("sent raw", reply, case.raw)
                statuses.append(reply.status)
            if not statuses:
                judge.count("sent raw", None, case.raw)
        except TimeoutError:
            judge.fail(f"{case.name}: neither answered nor closed after {statuses}")
        except Nonsense as error:
            judge.fail(f"{case.name}: {error}, after {statuses}")
    if statuses not in case.allowed:
        judge.fail(f"{case.name}: answered by {statuses}, not by any of {case.allowed}")


# --- several at once -------------------------------------------------------------------------------------------------


def pipeline(target: Target, judge: Judge, chance: Random) -> None:
    """Good and bad requests in one go: each is answered, in order; after one that is no HTTP, the connection ends."""
    bad = b'{"quagga":[1,2,3]}'
    known = {
        200: GET + b"\r\n",
        404: b"GET /quagga HTTP/1.1\r\n" + HOST + b"\r\n",
        405: b"PATCH /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 6\r\n\r\n" + MARK.encode(),
        422: post(target.survey, b"Content-Length: %d" % len(bad)) + bad,
        400: post(target.survey, b"Transfer-Encoding: chunked") + chunked(b"{", b"quagga"),
        401: b"GET /api/v1/surveys HTTP/1.1\r\n" + HOST + b"\r\n",
    }
    wanted = chance.choices(list(known), k=chance.randint(2, 30))
    broken = chance.random() < 0.3
    raw = b"".join(known[status] for status in wanted) + (b"quagga\r\n\r\n" + HIDDEN if broken else LAST)
    # Cut anywhere: where one packet ends, no request does.
    at = chance.randrange(len(raw))
    with Wire(target.port) as wire:
        wire.send(raw[:at])
        wire.send(raw[at:])
        got = []
        try:
            while reply := wire.read():
                judge.count("sent raw", reply, raw)
                got.append(reply.status)
        except (TimeoutError, Nonsense) as error:
            judge.fail(f"several at once: {type(error).__name__} after {got} of {wanted}")
    if got != [*wanted, 400 if broken else 405]:
        judge.fail(f"several at once: {got} instead of {wanted}{' and 400' if broken else ''}")


def byte_by_byte(target: Target, judge: Judge, chance: Random) -> None:
    """A request in single bytes is a request."""
    raw = post(target.survey, b"Content-Length: 2") + b"{}" + LAST
    with Wire(target.port) as wire:
        for byte in raw:
            wire.send(bytes([byte]))
        for wanted in (422, 405):
            reply = wire.read()
            judge.count("sent raw", reply, raw)
            if reply is None or reply.status != wanted:
                judge.fail(f"byte by byte: {reply and reply.status} instead of {wanted}")


def abandoned(target: Target, judge: Judge, chance: Random) -> None:
    """A client that hangs up in the middle, or before the answer, leaves nothing behind."""
    raw = post(target.survey, b"Content-Length: 20000") + MARK.encode() * 5
    for sent in (raw, raw[: chance.randrange(1, len(raw))], GET + b"\r\n", b""):
        with Wire(target.port) as wire:
            wire.send(sent)
        judge.count("sent raw", None, sent)


def endless(target: Target, judge: Judge, chance: Random) -> None:
    """Chunks that never end are cut off once they are more than a body may be."""
    part = chunked(MARK.encode() * 10_000)[:-5]
    with Wire(target.port) as wire:
        wire.send(post(target.survey, b"Transfer-Encoding: chunked"))
        sent = 0
        while sent < 2 * LIMIT and wire.send(part):
            sent += len(part)
        reply = None
        with suppress(Nonsense, TimeoutError):
            reply = wire.read()
    judge.count("sent raw", reply, b"endless chunks")
    if reply is not None and reply.status != 413:
        judge.fail(f"endless chunks: answered by {reply.status}, not by 413")


def expectant(target: Target, judge: Judge, chance: Random) -> None:
    """A client that waits for "100 Continue" gets it, or is refused at once."""
    with Wire(target.port) as wire:
        wire.send(post(target.survey, b"Expect: 100-continue", b"Content-Length: 2"))
        if (first := wire.interim()) == 100:
            wire.send(b"{}")
        reply = wire.read()
        judge.count("sent raw", reply, b"expects to be told")
        if first != 100 or reply is None or reply.status != 422:
            judge.fail(f"expecting to be told: {first}, then {reply and reply.status}")


def flood(target: Target, judge: Judge, connections: int) -> None:
    """While so many connections are open and silent, others are answered."""
    with ExitStack() as stack:
        for _ in range(connections):
            silent = socket.create_connection(("127.0.0.1", target.port), 30, source_address=(SOURCE, 0))
            stack.enter_context(silent)
        for _ in range(10):
            with Wire(target.port) as wire:
                wire.send(HIDDEN)
                reply = wire.read()
                judge.count("sent raw", reply, HIDDEN)
                if reply is None or reply.status != 200:
                    judge.fail(f"with {connections} silent connections: {reply and reply.status}")


PLAYED: list[Callable[[Target, Judge, Random], None]] = [*[pipeline] * 3, byte_by_byte, abandoned, expectant]


def send_raw(target: Target, judge: Judge, count: int, fresh: Callable[[], bytes], chance: Random) -> None:
    """At least this many requests, every case among them."""
    until = judge.sent + count
    for case in cases(target, fresh, chance):
        send_case(target, judge, case)
    for _ in range(3):
        endless(target, judge, chance)
    while judge.sent < until:
        chance.choice(PLAYED)(target, judge, chance)
