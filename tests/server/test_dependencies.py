"""Which modules of the server may know the clients."""

from __future__ import annotations

import ast
from pathlib import Path

import deniable_server

# They play the respondent: the audit runs the shipped randomisers, the simulation answers through the client. The
# command line shows the version; and the server serves the one copy of the browser's module.
MAY_USE_CLIENTS = {"audit.py", "simulate.py", "cli/respondents.py", "cli/__init__.py", "assets.py"}
# Flask and HTTP stay out of these.
KNOW_NO_HTTP = {"storage", "estimator", "planning", "tallies.py", "intake.py"}


SERVER = Path(deniable_server.__file__).parent


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def test_only_what_plays_the_respondent_uses_a_client() -> None:
    """Server modules import the protocol, not the clients, but for the few that play the respondent."""
    for path in SERVER.rglob("*.py"):
        roots = {name.partition(".")[0] for name in imports(path)}
        name = path.relative_to(SERVER).as_posix()
        assert name in MAY_USE_CLIENTS or not roots & {"deniable", "deniable_web"}, name


def test_the_layers_below_know_nothing_of_http() -> None:
    """Storage, intake, tallies and the estimator import neither Flask nor the routes; the estimator no storage."""
    for path in SERVER.rglob("*.py"):
        name = path.relative_to(SERVER).parts[0]
        if name in KNOW_NO_HTTP:
            above = {
                "flask",
                "werkzeug",
                ".api",
                ".app",
                ".problems",
                "deniable_server.api",
                "deniable_server.problems",
            }
            assert not imports(path) & above, path.name
    for path in (SERVER / "estimator").glob("*.py"):
        assert not any("storage" in name for name in imports(path)), path.name
    assert not any("storage" in name for name in imports(SERVER / "tallies.py"))
