"""The npm package and the documentation agree with what is installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import deniable
from deniable_web import integrity


def test_the_package_has_the_version_of_the_distribution(root: Path) -> None:
    """package.json and its lock file have the version and the licence of the Python distribution."""
    package, lock = (
        json.loads((root / "client/web" / name).read_text()) for name in ("package.json", "package-lock.json")
    )
    assert package["version"] == lock["version"] == lock["packages"][""]["version"] == deniable.__version__
    assert f'license = "{package["license"]}"' in (root / "pyproject.toml").read_text()
    assert (root / "client/web/LICENSE").read_bytes() == (root / "LICENSE").read_bytes()


@pytest.mark.parametrize("folder", ["client/web", "client/web/examples"])
def test_what_is_installed_is_pinned(root: Path, folder: str) -> None:
    """Exact versions, each with its hash, and no address to load them from: that is everybody's own setting. The
    package itself needs no other; its examples take it from the folder above them.
    """
    package = json.loads((root / folder / "package.json").read_text())
    needed = package.get("dependencies", {})
    assert needed.pop("deniable", None) == (None if folder == "client/web" else "file:..")
    assert bool(needed) == (folder != "client/web")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", each) for each in {**needed, **package["devDependencies"]}.values())
    locked = json.loads((root / folder / "package-lock.json").read_text())["packages"]
    others = [each for name, each in locked.items() if name not in ("", "node_modules/deniable")]
    assert others and all("integrity" in each and "resolved" not in each for each in others)


def test_the_documented_hash_is_that_of_the_module(root: Path) -> None:
    """Wherever the documentation gives a hash of deniable.js, browsers accept the module with it."""
    documented = re.findall(r"sha384-[\w+/]+", (root / "docs/embedding.md").read_text("utf-8"))
    assert documented and {*documented} == {integrity()}
