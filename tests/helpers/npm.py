"""npm: what the browser client is built and checked with, installed as a lock file says, and the package it makes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.helpers.machine import ROOT, missing

QUIET = ("--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
SOON = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")


def npm(folder: Path, *arguments: str) -> str:
    """What npm prints; without npm or its registry, the test is skipped."""
    command = shutil.which("npm") or missing("npm")
    try:
        return subprocess.run(
            [command, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=300
        ).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        missing(f"npm's registry ({error})")


def install(folder: Path) -> None:
    """Install what the lock file in this folder names."""
    npm(folder, "ci", *QUIET, *SOON)


def copied(folder: Path) -> Path:
    """A copy of ``client/web`` in this folder."""
    web = folder / "client" / "web"
    shutil.copytree(ROOT / "client/web", web, ignore=shutil.ignore_patterns("node_modules", "__pycache__", "dist"))
    return web


def examples(folder: Path) -> Path:
    """A copy of ``client/web/examples``, with everything installed in it: the package, too, as npm packs it."""
    copy = copied(folder) / "examples"
    install(copy)
    return copy


def packed(web: Path) -> set[str]:
    """The files that ``npm pack`` puts into the package."""
    (package,) = json.loads(npm(web, "pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"))
    return {file["path"] for file in package["files"]}


def tool(examples: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a program prints that was installed for the examples, such as ``vite``."""
    command = [str(examples / "node_modules/.bin" / name), *arguments]
    return subprocess.run(command, cwd=examples, capture_output=True, text=True, timeout=120, check=False)


def built(examples: Path, name: str) -> Path:
    """The site that an example becomes, built once."""
    site = examples / name / "dist"
    if not site.exists():
        run = tool(examples, "vite", "build", name, "--logLevel=warn")
        assert run.returncode == 0, run.stdout + run.stderr
    return site


def bundle(web: Path, folder: Path) -> None:
    """Build what the server sends from this copy of ``client/web``, into a folder."""
    assert bundle_error(web, folder) == ""


def bundle_error(web: Path, folder: Path) -> str:
    """Why it was not built; empty if it was."""
    node = shutil.which("node") or missing("node")
    command = [node, str(web / "build.mjs"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return built.stderr or ("" if built.returncode == 0 else "it ended with an error")
