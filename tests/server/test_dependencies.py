"""Which packages of others an installation brings."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib import metadata

from tests.helpers.machine import ROOT, missing

# --- packages of others ----------------------------------------------------------------------------------------------


def normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """What constraints.txt says, which is nothing but pins."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!]+)", line) for line in lines]
    assert all(found) and len({normal(line[1]) for line in found if line}) == len(lines)
    return {normal(line[1]): line[2] for line in found if line}


def brought_by(extra: str) -> dict[str, metadata.Distribution]:
    """Every installed package that ``deniable`` with this extra needs, directly or through another."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [("deniable", extra)]
    while waiting:
        name, with_extra = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another system or an older Python
        found[normal(name)] = distribution
        for requirement in distribution.requires or ():
            needed = re.match("[A-Za-z0-9._-]+", requirement)
            assert needed is not None
            asked = re.search(r"""extra\s*==\s*["']([^"']+)""", requirement)
            if (asked is None or normal(asked[1]) == with_extra) and normal(needed[0]) not in found:
                waiting.append((needed[0], ""))
    found.pop("pip", None)  # asked for by sqlite-utils; it comes with the environment, as Python does
    del found["deniable"]
    return found


def test_what_runs_is_what_was_pinned() -> None:
    """Each package that a server needs is in constraints.txt, in the version that these tests run with."""
    pinned, running = pins(), brought_by("server")
    assert {"flask", "werkzeug", "jinja2", "granian", "msgspec", "numpy", "scipy", "sqlite-utils"} <= running.keys()
    assert {name: found.version for name, found in running.items()} == {name: pinned.get(name) for name in running}


def test_the_base_install_brings_one_package() -> None:
    """An app that embeds the client gets msgspec, and nothing else of others."""
    assert brought_by("").keys() == {"msgspec"}


def test_no_package_says_that_it_is_abandoned() -> None:
    """No package that a server needs is marked as inactive by its makers, and each states its source and licence.
    Whether a version was withdrawn or has a known hole needs a network to check: docs/security.md.
    """
    for name, found in brought_by("server").items():
        said = found.metadata
        assert "Development Status :: 7 - Inactive" not in (said.get_all("Classifier") or ()), name
        licence = said.get("License-Expression") or said.get("License") or said.get_all("License-File")
        licences = [line for line in said.get_all("Classifier") or () if line.startswith("License ::")]
        assert licence or licences, name


def test_the_packages_fit_together() -> None:
    """``pip check`` finds nothing missing and no conflict."""
    if importlib.util.find_spec("pip") is None:
        missing("pip")
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
