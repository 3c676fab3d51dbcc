"""Real proxies, run from the files in ``deploy/``, and clients that make a proxy complain.

In the files only names, addresses and paths are replaced. Everything that a proxy writes lies in one folder, so that a
test can search all of it for anything that identifies a respondent.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import trustme

from tests.helpers.machine import ROOT, missing
from tests.helpers.servers import free_port

DEPLOY = ROOT / "deploy"

CLIENT = "127.0.0.77"
"""The address that canaries come from: of this machine, and nobody else's."""
CANARY = "canary0b5e"
"""In paths, queries, headers and bodies."""


class Reply(NamedTuple):
    status: int
    head: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Proxy:
    """A proxy that runs, with TLS at one port and plain HTTP at another."""

    def __init__(
        self, process: subprocess.Popen[bytes], folder: Path, port: int, plain_port: int, trust: ssl.SSLContext
    ) -> None:
        self._process, self._folder, self.port, self.plain_port, self._trust = process, folder, port, plain_port, trust

    def written(self) -> str:
        """End it; all that it wrote, in any file, standard output and error included."""
        self._process.terminate()
        self._process.wait(60)
        parts = []
        for path in self._folder.rglob("*"):
            if path.is_file() and "given" not in path.parts:
                parts.append(path.read_bytes().decode("latin-1"))
        return "\n".join(parts)

    def connect(self, source: str = CLIENT) -> ssl.SSLSocket:
        return self._trust.wrap_socket(self.connect_plainly(source), server_hostname="localhost")

    def connect_plainly(self, source: str = CLIENT, port: int | None = None) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port or self.port), timeout=60, source_address=(source, 0))

    def ask(self, method: str, path: str, body: bytes = b"", headers: str = "", source: str = CLIENT) -> Reply | None:
        """A request of its own connection; None where that was closed instead of an answer."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        with self.connect(source) as connection:
            with suppress(OSError):  # it may answer before it has taken all
                connection.sendall(head.encode() + b"\r\n" + body)
            return read_reply(connection)

    def misuse(self, survey: str) -> list[Reply | None]:
        """Everything that makes a proxy write an error, with canaries in all parts; the answers that came."""
        marked = (
            f"X-Canary: {CANARY}\r\nUser-Agent: {CANARY}\r\nReferer: https://{CANARY}.example\r\nCookie: a={CANARY}\r\n"
        )
        path = f"/api/v1/surveys/{survey}/submissions"
        head = f"Host: localhost\r\n{marked}Content-Type: application/json\r\n"
        raw = [
            f"GARBAGE {CANARY}\r\n\r\n",
            f"GET /{CANARY}\r\n\r\n",
            f"GET /{CANARY}%zz HTTP/1.1\r\n{head}\r\n",
            f"GET /../../{CANARY} HTTP/1.1\r\n{head}\r\n",
            f"GET /{CANARY} HTTP/1.1\r\n{marked}\r\n",
            f"GET /{CANARY} HTTP/9.9\r\n{head}\r\n",
            f"GET /{CANARY} HTTP/1.1\r\nHost: {CANARY}.example\r\n{marked}\r\n",
            f"GET /{CANARY} HTTP/1.1\r\n{head}bad header {CANARY}\r\n\r\n",
            f"GET /{CANARY} HTTP/1.1\r\n{head}X-Long: {CANARY * 9_000}\r\n\r\n",
            f"GET /{CANARY * 9_000} HTTP/1.1\r\n{head}\r\n",
            f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Content-Length: -1\r\n\r\n",
            f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Content-Length: 17000000000\r\n\r\n{CANARY}",
            f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\nzz{CANARY}\r\n",
            f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ]
        replies = []
        for text in raw:
            with self.connect() as connection:
                with suppress(OSError):
                    connection.sendall(text.encode())
                connection.settimeout(1.5)  # where it waits for the rest, it may
                replies.append(read_reply(connection))
        self._break_off(f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Content-Length: 200000\r\n\r\n{CANARY * 9_000}")
        self._break_off(f"GET /{CANARY} HTTP/1.1\r\n{head}")
        self._fail_handshakes()
        many = f"{CANARY}".encode() * 2_000_000
        replies.append(self.ask("POST", f"{path}?{CANARY}", many[: 2**24 + 1], marked))
        replies.append(self.ask("POST", f"{path}?{CANARY}", many[:300_000], marked))
        replies.append(self._send_in_chunks(path, head, many))
        return replies

    def _break_off(self, text: str) -> None:
        """A client that goes away in the middle, and one that does so by a reset."""
        for linger in (b"\0\0\0\0\0\0\0\0", b"\1\0\0\0\0\0\0\0"):
            with self.connect() as connection:
                connection.sendall(text.encode())
                time.sleep(0.05)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def _fail_handshakes(self) -> None:
        """Connections without TLS, with TLS that breaks off, an untrusted certificate, and too old a version."""
        for text in (
            f"GET /{CANARY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
            b"\x16\x03\x01\x02\x00\x01",
            b"\x16\x03\x01" + b"\xff" * 600,
        ):
            with suppress(OSError), self.connect_plainly() as connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                read_reply(connection)
        strict = ssl.create_default_context()  # which does not know our certificate
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        old.set_ciphers("AES128-SHA256")  # no exchange that keeps past sessions safe
        for context in (strict, old):
            with suppress(OSError), self.connect_plainly() as connection:
                context.wrap_socket(connection, server_hostname=f"{CANARY}.example")

    def _send_in_chunks(self, path: str, head: str, body: bytes) -> Reply | None:
        with self.connect() as connection, suppress(OSError):
            connection.sendall(f"POST {path}?{CANARY} HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            with suppress(OSError):
                for start in range(0, len(body), 2**20):
                    part = body[start : start + 2**20]
                    connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
                connection.sendall(b"0\r\n\r\n")
            return read_reply(connection)


def read_reply(connection: socket.socket) -> Reply | None:
    received = b""
    with suppress(OSError):
        while part := connection.recv(65536):
            received += part
            head, found, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if found and length and len(body) >= int(length[1]):
                break
    head, found, body = received.partition(b"\r\n\r\n")
    if not found or not head.startswith(b"HTTP/1."):
        return None
    return Reply(int(head.split()[1]), head.decode("latin-1"), body)


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """With these changes, each of which must find its place."""
    for old, new in changes:
        assert old in text, f"not in the file any more: {old!r}"
        text = text.replace(old, new)
    return text


@contextmanager
def nginx(upstreams: Sequence[int], *changes: tuple[str, str]) -> Iterator[Proxy]:
    """``deploy/nginx.conf`` before servers at these ports; with further changes in tests of the test."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or missing("nginx")
    with _place() as (folder, port, plain_port, trust):
        bodies, own = folder / "bodies", folder / "temporary"
        kept = "".join(f"{kind}_temp_path {own}/{kind};" for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
        own.mkdir()
        text = replaced(
            (DEPLOY / "nginx.conf").read_text("utf-8"),
            *((f"127.0.0.1:800{i + 1}", f"127.0.0.1:{upstream}") for i, upstream in enumerate(upstreams)),
            ("/run/nginx.pid", f"{folder}/pid"),
            ("/run/nginx-bodies", str(bodies)),
            ("http {", f"http {{ {kept}"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
            ("server_name survey.example.org", "server_name localhost"),
            ("/etc/letsencrypt/live/survey.example.org/fullchain.pem", f"{folder}/given/chain.pem"),
            ("/etc/letsencrypt/live/survey.example.org/privkey.pem", f"{folder}/given/key.pem"),
            *changes,
        )
        (folder / "given" / "nginx.conf").write_text(text, "utf-8")
        command = [program, "-e", "stderr", "-p", str(folder), "-c", f"{folder}/given/nginx.conf", "-g", "daemon off;"]
        with _run(command, folder, port) as process:
            yield Proxy(process, folder, port, plain_port, trust)


@contextmanager
def caddy(upstreams: Sequence[int], *changes: tuple[str, str]) -> Iterator[Proxy]:
    """``deploy/Caddyfile`` before servers at these ports."""
    program = shutil.which("caddy") or missing("caddy")
    with _place() as (folder, port, plain_port, trust):
        text = replaced(
            (DEPLOY / "Caddyfile").read_text("utf-8"),
            (
                "\tadmin off\n",
                f"\tadmin off\n\thttp_port {plain_port}\n\thttps_port {port}\n\tdefault_bind 127.0.0.1\n",
            ),
            # A certificate of the test's own: without, Caddy makes one and would have this machine trust it.
            (
                "\trespond /metrics 404\n",
                f"\ttls {folder}/given/chain.pem {folder}/given/key.pem\n\trespond /metrics 404\n",
            ),
            *changes,
        )
        (folder / "given" / "Caddyfile").write_text(text, "utf-8")
        environment = {
            "DENIABLE_SITE": "localhost",
            "DENIABLE_SERVERS": " ".join(f"127.0.0.1:{upstream}" for upstream in upstreams),
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        command = [program, "run", "--config", f"{folder}/given/Caddyfile", "--adapter", "caddyfile"]
        with _run(command, folder, port, environment) as process:
            yield Proxy(process, folder, port, plain_port, trust)


@contextmanager
def _place() -> Iterator[tuple[Path, int, int, ssl.SSLContext]]:
    """A folder that a proxy's own user may enter, with a certificate; two ports; and who trusts the certificate."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-proxy-"))
    try:
        folder.chmod(0o755)
        (folder / "given").mkdir()
        authority = trustme.CA()
        certificate = authority.issue_cert("localhost", "127.0.0.1")
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        (folder / "given" / "chain.pem").write_bytes(chain)
        (folder / "given" / "key.pem").write_bytes(certificate.private_key_pem.bytes())
        trust = ssl.create_default_context()
        authority.configure_trust(trust)
        yield folder, free_port(), free_port(), trust
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _run(
    command: list[str], folder: Path, port: int, environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **(environment or {})})
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < deadline, (folder / "output").read_text()
                time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        process.wait(60)
