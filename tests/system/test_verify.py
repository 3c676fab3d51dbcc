"""``deniable verify`` against ``deniable serve``, both as processes, over a real connection."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from deniable_protocol import verify
from deniable_server.storage import open_storage
from tests.helpers.servers import running


def run(link: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deniable_server", "verify", link, "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_server_verifies_itself(tmp_path: Path, example: bytes) -> None:
    """A real server with a logo serves what this version serves: status 0. With a link that pins
    another survey it is 1, and 2 when the server is gone.
    """
    logo = tmp_path / "logo.png"
    logo.write_bytes(b"\x89PNG\r\n\x1a\nrest")
    storage = open_storage(str(tmp_path / "a.db"))
    storage.publish(example)
    storage.close()
    with running(tmp_path / "a.db", tmp_path / "log", "--logo", str(logo)) as server:
        link = f"{server.base}/s/campus-health"
        same = run(f"{link}#{verify(example).digest}")
        other = run(f"{link}#{'0' * 64}")
    gone = run(link)
    assert same.returncode == 0 and json.loads(same.stdout)["matched"], same.stdout + same.stderr
    assert other.returncode == 1 and not json.loads(other.stdout)["matched"]
    assert gone.returncode == 2 and "cannot be reached" in gone.stderr
