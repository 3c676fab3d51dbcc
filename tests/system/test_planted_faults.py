"""Planted faults: each is a mistake that real libraries have made, and the suite must catch every one.

A copy of the sources gets one change; the suite then runs against the copy and has to fail in a test (not in an
import). The untouched copy passes: the suite does not fail by itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

P = "shared/python/deniable_protocol"
WEB = "client/web/deniable_web/deniable"

DRAWS_TWICE = """        if draws.chance(self.favour):  # P = F/N; then each of the w favoured reports equally
            return answer + draws.below(self.width)
        # P = (N-F)/N; then each of the m-1 others equally: those below the band, then those above it
        other = draws.below(self.levels - 1)
"""
DRAWS_ONCE = """        word = draws.word()
        if word < self.favour:
            return answer + word % self.width
        other = word % (self.levels - 1)
"""

PYTHON_FAULTS = {
    "favour one too large": (f"{P}/exact.py", "weight * N // (weight + unfavoured * ONE)", "weight * N // (weight + unfavoured * ONE) + 1"),
    "exponential a trillionth too large": (f"{P}/exact.py", "    return total\n", "    return total + (total >> 40)\n"),
    "predictable generator": (f"{P}/draws.py", "import os\n", "import random as os\nos.urandom = os.randbytes\n"),
    "float threshold": (f"{P}/draws.py", "return self.word() < favour", "return self.word() / 9007199254740992 < favour / 9007199254740992"),
    "threshold off by one": (f"{P}/draws.py", "return self.word() < favour", "return self.word() <= favour"),
    "modulo bias": (f"{P}/draws.py", "limit = size - size % n", "limit = size"),
    "off-by-one band": (f"{P}/channels.py", "return other if other < answer else", "return other if other <= answer else"),
    "wrong subset weight": (f"{P}/channels.py", "rank = draws.below(CHOOSE[others][self.size - 1])", "rank = draws.below(CHOOSE[others][self.size - 1] + 1)"),
    "subset that may hold the answer twice": (f"{P}/channels.py", "place if place < gap else place + 1", "place if place <= gap else place + 1"),
    "one draw used twice": (f"{P}/channels.py", DRAWS_TWICE, DRAWS_ONCE),
    "the drawn option depends on the answer": (f"{P}/channels.py", "part = draws.below(len(self.parts))", "part = (sum(answer) + draws.below(len(self.parts))) % len(self.parts) if sum(answer) > 1 else 0"),
    "table off by one": (f"{P}/channels.py", "            if word < weight:\n", "            if word <= weight:\n"),
    "an upside-down favour passes verification": (f"{P}/channels.py", "elif likely <= unlikely:", "elif likely < 0:"),
    "verification forgets the parts": (f"{P}/channels.py", "for i, part in enumerate(self.parts):", "for i, part in enumerate(self.parts[:1]):"),
    "delta checked in one direction only": (f"{P}/channels.py", "            for first in rows\n            for second in rows\n", "            for first in rows[:1]\n            for second in rows\n"),
    "the last of two equal keys wins": (f"{P}/checks.py", "if len(tree) != len(pairs):", "if not pairs and tree:"),
    "an answer in an error message": (f"{P}/questions.py", '"takes the code of one of its options")', 'f"takes the code of one of its options, not {answer}")'),
    "true counts as a number": (f"{P}/questions.py", "return isinstance(answer, int | float) and not isinstance(answer, bool)", "return isinstance(answer, int | float)"),
    "numbers always rounded down": (f"{P}/submission.py", "return level + 1 if draws.word() < (position - level) * 9007199254740992.0 else level", "return level + 0 * draws.word()"),
    "decoding with e^epsilon rounded": (f"{P}/channels.py", "p = Fraction(self.favour, N)", "p = Fraction(self.favour + 1, N)"),
}  # fmt: skip

JAVASCRIPT_FAULTS = {
    "Math.random": (f"{WEB}/randomizer.js", "return view.getUint32(0) * 2 ** 21", "return Math.floor(Math.random() * 2 ** 32) * 2 ** 21"),
    "modulo bias": (f"{WEB}/randomizer.js", "const limit = N - (N % n);", "const limit = N;"),
    "off-by-one band": (f"{WEB}/randomizer.js", "return other < answer ? other :", "return other <= answer ? other :"),
    "54 bits": (f"{WEB}/randomizer.js", "(view.getUint32(4) >>> 11)", "(view.getUint32(4) >>> 10)"),
    "an upside-down favour passes verification": (f"{WEB}/protocol.js", "if (likely <= unlikely)", "if (likely < 0n)"),
    "the last of two equal keys wins": (f"{WEB}/protocol.js", ".length - 1 !== keys)", ".length < 0)"),
    "verification without the ratio": (f"{WEB}/protocol.js", "if (!delta && most * ONE > expEpsilon * least)", "if (!delta && most > expEpsilon * least)"),
    "runs without a secure source": (f"{WEB}/protocol.js", "if (!globalThis.crypto?.subtle || !globalThis.crypto.getRandomValues)", "if (!globalThis.crypto?.subtle)"),
    "an answer in an error message": (f"{WEB}/randomizer.js", '"takes the code of one of its options");', '`takes the code of one of its options, not ${answer}`);'),
    "an answer in the browser's storage": (f"{WEB}/randomizer.js", "  const reports = {};\n", "  const reports = {};\n  localStorage.setItem(id, JSON.stringify(answers));\n"),
    "predictable pauses": (f"{WEB}/delivery.js", "crypto.getRandomValues(new Uint32Array(1))", "[Math.random() * 2 ** 32]"),
    "a portal's word counts as a delivery": (f"{WEB}/delivery.js", "accepted + duplicates === 1) return", "accepted + duplicates === 1 || tree) return"),
    "a retry is randomised anew": (f"{WEB}/delivery.js", "{ method: \"POST\", body,", "{ method: \"POST\", body: body.replace(/[0-9a-f]{8}/, () => `${Date.now()}`.slice(-8)),"),
    "a link without the rest of its digest": (f"{WEB}/transport.js", 'if (link.includes("#") && ', 'if (pin.length >= 64 && '),
    "a budget in floating point": (f"{WEB}/device.js", "return BigInt(whole + places.padEnd(12, \"0\"));", "return BigInt(Math.ceil(text * 1e12));"),
}  # fmt: skip


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """The sources and tests, away from the repository."""
    for folder in ("client", "shared", "tests"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "server").mkdir()
    shutil.copytree(root / "server/deniable_server", tmp_path / "server/deniable_server")
    return tmp_path


def plant(copy: Path, fault: tuple[str, str, str]) -> None:
    file, old, new = fault
    text = (copy / file).read_text("utf-8")
    assert text.count(old) == 1, f"the place for this fault has moved: {old!r} is {text.count(old)} times in {file}"
    (copy / file).write_text(text.replace(old, new), "utf-8")


def suite(copy: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    paths = [str(copy / folder) for folder in ("client/python", "client/web", "shared/python", "server")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=unshrunk"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=600, check=False)


# The tests of the protocol and of randomize, file by file; what finds faults soonest comes first, as a run ends at the first.
SOONEST = ["test_purity.py", "test_vectors.py"]


def python_suite(copy: Path) -> list[str]:
    files = [*copy.glob("tests/protocol/test_*.py"), *copy.glob("tests/client/test_randomize.py")]
    rest = sorted({file.name for file in files} - set(SOONEST))
    return [str(file) for file in sorted(files, key=lambda file: [*SOONEST, *rest].index(file.name))]


def javascript_suite(copy: Path) -> list[str]:
    return [str(file) for file in copy.glob("tests/browser/test_javascript.py")]


@pytest.mark.parametrize("name", PYTHON_FAULTS)
def test_a_fault_in_python_is_caught(name: str, copy: Path) -> None:
    """The tests of the protocol and of randomize fail in an assertion once this fault is planted."""
    plant(copy, PYTHON_FAULTS[name])
    run = suite(copy, *python_suite(copy))
    assert run.returncode == 1 and "FAILED" in run.stdout, (
        f"not caught: {name}\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
    )


@pytest.mark.parametrize("name", JAVASCRIPT_FAULTS)
def test_a_fault_in_javascript_is_caught(name: str, copy: Path, node: str) -> None:
    """The tests of the browser client fail once this fault is planted."""
    plant(copy, JAVASCRIPT_FAULTS[name])
    run = suite(copy, *javascript_suite(copy))
    assert run.returncode == 1 and "FAILED" in run.stdout, (
        f"not caught: {name}\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
    )


def test_the_untouched_copy_passes(copy: Path, node: str) -> None:
    """Without a fault the same suite is green: what fails above fails because of the fault."""
    run = suite(copy, *python_suite(copy), *javascript_suite(copy))
    assert run.returncode == 0, run.stdout[-3000:]
