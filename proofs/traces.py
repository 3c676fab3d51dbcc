"""What a server did to its folder and on its sockets, in one order: read from strace.

strace writes one line after another as processes enter and leave system calls, and a process waits at both until its
line is written. So the order of lines is an order of cause and effect: what caused a response is on an earlier line.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.helpers.servers import ask, free_port

OPENING = ("open", "openat", "creat")
CHANGING = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "truncate", "fallocate")
NAMING = ("unlink", "unlinkat", "link", "linkat", "rename", "renameat", "renameat2")
SYNCING = ("fsync", "fdatasync")
TALKING = ("recvfrom", "sendto", "recvmsg", "sendmsg")
# The length of strings is that of the largest request that a proof makes; all in hex, so that no byte means anything.
HOW = ["strace", "-f", "-y", "-xx", "-s", "4000000", "-e", "signal=none", "-e", "status=!unavailable"]
WHAT = ["-e", "trace=" + ",".join((*OPENING, *CHANGING, *NAMING, *SYNCING, *TALKING))]


class Write(NamedTuple):
    """Bytes written to a file of the folder: from ``line`` on they may be on disk, at ``ended`` the call returned."""

    line: int
    ended: int
    name: str
    offset: int
    data: bytes


class Resize(NamedTuple):
    """A file of the folder cut or extended to a size."""

    line: int
    ended: int
    name: str
    size: int


class Named(NamedTuple):
    """A name in the folder that now means a new file, the same file as ``old``, or none."""

    line: int
    ended: int
    name: str
    what: str  # "new", "none" or "link"
    old: str = ""


class Synced(NamedTuple):
    """A sync that returned at ``line``: of a file, or of the folder itself (no name)."""

    line: int
    begun: int
    name: str
    failed: bool


class Received(NamedTuple):
    """Bytes that came on a connection."""

    line: int
    connection: str
    data: bytes


class Sent(NamedTuple):
    """Bytes that may have left on a connection from ``line`` on."""

    line: int
    connection: str
    data: bytes


Event: TypeAlias = Write | Resize | Named | Synced | Received | Sent


def have_strace() -> bool:
    """Whether strace is there and may trace."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


class TracedServer:
    """``deniable serve`` under strace, from its first system call on."""

    def __init__(self, database: Path, trace: Path, log: Path, environment: dict[str, str]) -> None:
        self.base = f"http://127.0.0.1:{(port := free_port())}"
        command = [sys.executable, "-m", "deniable_server", "serve", "--database", str(database)]
        with log.open("ab") as output:
            self._strace = subprocess.Popen(
                [*HOW, *WHAT, "--seccomp-bpf", "-o", str(trace), *command, "--bind", f"127.0.0.1:{port}"],
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
            )
        deadline = time.monotonic() + 60
        while True:
            try:
                if ask(f"{self.base}/healthz").status == 200:
                    return
            except OSError:
                pass
            if self._strace.poll() is not None or time.monotonic() > deadline:
                self.stop(signal.SIGKILL)
                raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self, sig: int = signal.SIGTERM) -> None:
        """Signal the server itself; strace ends with it."""
        children = Path(f"/proc/{self._strace.pid}/task/{self._strace.pid}/children")
        if self._strace.poll() is None:
            for child in children.read_text().split():
                os.kill(int(child), sig)
        self._strace.wait(timeout=60)


class Attached:
    """strace on a process that runs already, from here to the end of the block; ``fault`` is what it injects."""

    def __init__(self, process: int, trace: Path, fault: str | None = None) -> None:
        # What is injected has to be traced. A read leaves no event: where it is injected, it always fails.
        what = [WHAT[0], f"{WHAT[1]},{fault.partition(':')[0]}", "-e", f"inject={fault}"] if fault else WHAT
        self._process = process
        self._strace = subprocess.Popen([*HOW, *what, "-o", str(trace), "-p", str(process)], stderr=subprocess.DEVNULL)

    def __enter__(self) -> None:
        deadline = time.monotonic() + 60
        while not all("TracerPid:\t0" not in status for status in self._statuses()):
            if self._strace.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("strace could not attach")
            time.sleep(0.005)

    def __exit__(self, *_: object) -> None:
        """Strace lets go of the process, which goes on."""
        self._strace.send_signal(signal.SIGINT)
        self._strace.wait(timeout=60)

    def _statuses(self) -> Iterator[str]:
        for thread in Path(f"/proc/{self._process}/task").iterdir():
            yield (thread / "status").read_text()


def traced(command: list[str], trace: Path, environment: dict[str, str]) -> str:
    """What a command prints; it runs under strace to its end."""
    run = subprocess.run(
        [*HOW, *WHAT, "--seccomp-bpf", "-o", str(trace), *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return run.stdout


_ENTERED = re.compile(r"(\d+) +(\w+)\((.*)$", re.DOTALL)
_UNFINISHED = "<unfinished ...>"
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
_RESULT = re.compile(r"\) += (-?\d+|\?)(?:<[^>]*>)?(?:\(deleted\))?(?: ([A-Z]+) \([^)]*\))?(?: \(INJECTED\))?$")
_FILE = re.compile(r"\d+<([^>]*)>(\(deleted\))?")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


class _Call(NamedTuple):
    entered: int
    left: int
    name: str
    arguments: str
    result: int  # -1 where it failed


def _calls(trace: Path) -> Iterator[_Call]:
    """All calls that were left again. A proof kills a server only when it is idle, so that none is left open."""
    under_way: dict[str, tuple[int, str, str]] = {}
    with trace.open(encoding="ascii") as lines:
        for line, text in enumerate(lines):
            text = text.rstrip("\n")
            if resumed := _RESUMED.match(text):
                entered, name, arguments = under_way.pop(resumed[1], (line, resumed[2], ""))
                arguments += resumed[3]
            elif begun := _ENTERED.match(text):
                entered, name, arguments = line, begun[2], begun[3]
                if text.endswith(_UNFINISHED):
                    under_way[begun[1]] = (entered, name, arguments.removesuffix(_UNFINISHED).rstrip())
                    continue
            else:
                continue  # a process that ended
            result = _RESULT.search(arguments, max(0, arguments.rfind('"')))
            yield _Call(entered, line, name, arguments, int(result[1]) if result and result[1] != "?" else -1)


def events(trace: Path, folder: Path, names: set[str], start: int = 0) -> list[Event]:
    """What happened to the folder, in which there are ``names``, and on connections; lines count from ``start``."""
    found: list[Event] = []
    here = set(names)
    sizes: dict[str, int] = {name: (folder / name).stat().st_size for name in names if (folder / name).exists()}
    for call in _calls(trace):
        found.extend(_events_of(call, folder, here, sizes, start))
    return sorted(found, key=lambda event: event.line)


def _events_of(call: _Call, folder: Path, here: set[str], sizes: dict[str, int], start: int) -> Iterator[Event]:
    entered, left, failed = call.entered + start, call.left + start, call.result < 0
    file = _FILE.match(call.arguments)
    path = _bytes(file[1]).decode(errors="replace") if file and not file[2] else ""
    name = _inside(path, folder)
    if call.name in SYNCING:
        if name is not None or path == str(folder):
            yield Synced(left, entered, name or "", failed)
    elif path.startswith("socket:") or (file and file[1].startswith("socket:")):
        connection = path or (file[1] if file else "")
        kind = Received if call.name.startswith("recv") else Sent
        if not failed and (data := b"".join(_texts(call.arguments))):
            yield kind(left if kind is Received else entered, connection, data)
    elif failed:
        return
    elif call.name in OPENING:
        opened = _inside(b"".join(_texts(call.arguments)[:1]).decode(errors="replace"), folder)
        if opened is not None and ("O_CREAT" in call.arguments or call.name == "creat") and opened not in here:
            here.add(opened)
            sizes[opened] = 0
            yield Named(entered, left, opened, "new")
        if opened is not None and "O_TRUNC" in call.arguments:
            sizes[opened] = 0
            yield Resize(entered, left, opened, 0)
    elif call.name in NAMING:
        yield from _renamed(call, folder, here, entered, left)
    elif name is not None:
        yield from _changed(call, name, sizes, entered, left)


def _changed(call: _Call, name: str, sizes: dict[str, int], entered: int, left: int) -> Iterator[Event]:
    rest = call.arguments[call.arguments.index(",") :]
    numbers = [int(number) for number in re.findall(r"(?<=, )\d+", re.sub(r'"[^"]*"', "", rest))]
    if call.name in ("ftruncate", "truncate"):
        sizes[name] = numbers[0]
        yield Resize(entered, left, name, numbers[0])
    elif call.name in ("pwrite64", "write"):
        data = b"".join(_texts(call.arguments))
        # A write without an offset is taken to append. If one did not, the final comparison of the files would fail.
        offset = numbers[-1] if call.name == "pwrite64" else sizes.get(name, 0)
        sizes[name] = max(sizes.get(name, 0), offset + len(data))
        yield Write(entered, left, name, offset, data[: call.result])
    else:
        raise NotImplementedError(f"{call.name} on {name}")


def _renamed(call: _Call, folder: Path, here: set[str], entered: int, left: int) -> Iterator[Event]:
    inside = [_inside(text.decode(errors="replace"), folder) for text in _texts(call.arguments)]
    if call.name.startswith(("link", "rename")):
        old, new = inside
        if old is None or new is None:
            return
        here.add(new)
        yield Named(entered, left, new, "link", old)
    if call.name.startswith(("unlink", "rename")) and inside[0] is not None:
        here.discard(inside[0])
        yield Named(entered, left, inside[0], "none")


def _inside(path: str, folder: Path) -> str | None:
    """The name of a file that lies in the folder."""
    head, _, name = path.rpartition("/")
    return name if head == str(folder) and name else None


def _texts(arguments: str) -> list[bytes]:
    texts = []
    for text, more in _TEXT.findall(arguments):
        if more:
            raise NotImplementedError("a call with more data than is traced")
        texts.append(_bytes(text))
    return texts


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", "")) if text.startswith("\\x") else text.encode()
