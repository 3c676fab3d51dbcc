"""Planted faults: for each, the tests that the list names for it fail.

A fault takes the place of something, by its name. Without it the named tests pass, as ``make test`` shows. So a test
that cannot fail is noticed here.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from deniable_server.checks.node import find_node
from tests.helpers import javascript_faults
from tests.helpers.fault_list import FAULTS, JAVASCRIPT, PYTHON
from tests.helpers.machine import ROOT
from tests.helpers.planting import environment

from . import Outcome, Watch

SECONDS = 300
"""How long the tests of one fault may take."""

_START = multiprocessing.get_context("forkserver")
# What tests import takes longer than most of them: it is loaded once, and each fault gets a copy of that process.
_START.set_forkserver_preload(["tests.helpers.fault_list", "pytest", "hypothesis", "_pytest.assertion.rewrite"])


def prove(folder: Path, watch: Watch, seed: int, *, sample: int | None) -> Outcome:
    """Every fault, or so many of those that tests without services catch."""
    names = list(FAULTS)
    if sample is not None:
        slow = ("system/", "browser/")
        names = [name for name in names if not any(test.startswith(slow) for test in FAULTS[name].tests)]
        names = random.Random(seed).sample(names, sample)
    failures, done = [], 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {pool.submit(_uncaught, name, folder, watch): name for name in names}
        for each in as_completed(running):
            done += 1
            watch.counts(done, len(names))
            if (reason := each.result()) is not None:
                failures.append(f"{running[each]}: {reason}")
    return Outcome({"faults planted": len(names), "caught": len(names) - len(failures)}, failures)


def _uncaught(name: str, folder: Path, watch: Watch) -> str | None:
    if watch.is_over:
        return "the time was up before it was planted"
    own = folder / str(list(FAULTS).index(name))
    own.mkdir()
    try:
        return uncaught(name, own)
    finally:
        shutil.rmtree(own)


def uncaught(name: str, folder: Path) -> str | None:
    """None where the tests that are named for this fault fail, all of them; otherwise what happened instead."""
    if name in JAVASCRIPT:
        return _in_javascript(name, folder)
    return next(filter(None, (_in_python(name, test, folder) for test in PYTHON[name].tests)), None)


def inapplicable(folder: Path) -> list[str]:
    """What the list names and the sources do not have any more: each fault is planted, and no test is run."""
    process, output = _START.Process(target=_plant_all, args=(str(folder / "output"),)), folder / "output"
    process.start()
    process.join(SECONDS)
    found = [] if process.exitcode == 0 else [f"a fault cannot be planted: {output.read_text('utf-8')[-2000:]}"]
    web = _copied(folder)
    for name, (fault, _) in JAVASCRIPT.items():
        try:
            javascript_faults.plant(fault, web)
        except (LookupError, OSError) as error:
            found.append(f"{name} cannot be planted: {error}")
    tests = {test for each in FAULTS.values() for test in each.tests}
    return found + [f"there is no {test}" for test in sorted(tests) if not _is_there(test)]


def _is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / ("client/web/test" if file.endswith(".js") else "tests") / file
    if not path.is_file():
        return False
    text = path.read_text("utf-8")  # and what it takes over from helpers, such as a contract
    for helper in re.findall(r"(?m)^from tests\.helpers\.(\w+) import \*", text):
        text += (ROOT / "tests" / "helpers" / f"{helper}.py").read_text("utf-8")
    return not name or re.search(rf"(?m)^def {name}\(", text) is not None


def _in_python(name: str, test: str, folder: Path) -> str | None:
    output = folder / "output"
    process = _START.Process(target=_run_planted, args=(name, test, str(output)))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
        return f"{test} did not end within {SECONDS} seconds"
    return _judge(process.exitcode, output.read_text("utf-8"), "FAILED", test)


_BROKEN = re.compile(
    r"(?m)^\S*tests/helpers/(?:\w+_faults|planting/__init__)\.py:\d+: in .*\n(?:    .*\n)*"
    r"E   (?:TypeError|AttributeError|NameError|RecursionError|UnboundLocalError).*"
)


def _judge(status: int | None, output: str, failed: str, test: str) -> str | None:
    """By a test that failed, not by an import or a fixture that did, nor by a fault that cannot do what it is for."""
    if broken := _BROKEN.search(output):
        return f"{test} failed with the fault's own error: {broken[0]}"
    if status == 1 and failed in output and not re.search(r"(?m)^ERROR \S*tests/", output):
        return None
    return f"{test} passed" if status == 0 else f"{test} did not run ({status}): {output[-1500:]}"


def _write_to(output: str) -> None:
    """This process writes to this file from now on."""
    descriptor = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)


def _plant_all(output: str) -> None:
    """In a process of its own, one on top of the other: nothing runs there afterwards."""
    _write_to(output)
    for planted, _ in PYTHON.values():
        planted()


def _run_planted(name: str, test: str, output: str) -> None:
    """In a process of its own: plant the fault, run the test, and end with pytest's own status."""
    import pytest

    _write_to(output)
    planted = PYTHON[name].planted
    planted()
    os.environ.update(environment(planted))  # for the processes that the test starts
    status = int(pytest.main(options(test)))
    sys.stdout.flush()
    os._exit(status)


def options(*tests: str) -> list[str]:
    """How pytest runs tests against a fault: up to the first that fails, each time on the same examples."""
    plain = ["-x", "-q", "--tb=short", "--hypothesis-profile=unshrunk"]
    # What no test here needs takes longer to load than most of them.
    unused = [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "anyio", "schemathesis")]
    return [*plain, *unused, "--rootdir", str(ROOT), "-W", "ignore::pytest.PytestAssertRewriteWarning",
            *(str(ROOT / "tests" / test) for test in tests)]  # fmt: skip


def _in_javascript(name: str, folder: Path) -> str | None:
    fault, tests = JAVASCRIPT[name]
    web = _copied(folder)
    javascript_faults.plant(fault, web)
    if any(test.startswith("browser/") for test in tests):
        javascript_faults.build(web)
    for test in tests:
        if test.endswith(".test.js"):
            run = _run([find_node() or "node", "--test", str(web / "test" / test)])
            reason = _judge(run.returncode, run.stdout, "ERR_ASSERTION", test)
        else:
            run = _run([sys.executable, "-m", "pytest", *options(test)], PYTHONPATH=str(web))
            reason = _judge(run.returncode, run.stdout, "FAILED", test)
        if reason is not None:
            return reason
    return None


def _copied(folder: Path) -> Path:
    """A copy of ``client/web``, next to what its tests read."""
    web = folder / "client" / "web"
    shutil.copytree(ROOT / "client/web", web, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    (folder / "shared").symlink_to(ROOT / "shared")
    return web


def _run(command: Iterable[str], **more: str) -> subprocess.CompletedProcess[str]:
    merged = {**os.environ, **more}
    try:
        return subprocess.run(
            [*command], cwd=ROOT, env=merged, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as expired:
        return subprocess.CompletedProcess(expired.cmd, 124, f"did not end within {SECONDS} seconds")
