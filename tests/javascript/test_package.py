"""The npm package and the documentation agree with what is installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

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


def test_what_the_package_is_built_with_is_pinned(root: Path) -> None:
    """Exact versions, each with its hash, and no address to load them from: that is everybody's own setting."""
    package = json.loads((root / "client/web/package.json").read_text())
    assert "dependencies" not in package
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())
    written = (root / "client/web/package-lock.json").read_text()
    locked = {name: each for name, each in json.loads(written)["packages"].items() if name}
    assert locked and all("integrity" in each for each in locked.values())
    assert "resolved" not in written and "://" not in written


def test_the_documented_hash_is_that_of_the_module(root: Path) -> None:
    """Wherever the documentation gives a hash of deniable.js, browsers accept the module with it."""
    documented = re.findall(r"sha384-[\w+/]+", (root / "docs/embedding.md").read_text("utf-8"))
    assert documented and {*documented} == {integrity()}
