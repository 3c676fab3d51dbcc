"""The rooms of the server: which folders there are, and which may know which."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import deniable_server

SERVER = Path(deniable_server.__file__).parent
FOLDERS = {
    "analysis",
    "checks",
    "cli",
    "editing",
    "estimator",
    "export",
    "pages",
    "planning",
    "serving",
    "storage",
    "web",
}

# They play the respondent: the audit runs the shipped randomisers, the simulation answers through the client, and what
# verifies a server asks it as a client does. The command line shows the version; and the server serves the one copy of
# the browser's module.
MAY_USE_CLIENTS = {
    "checks/audit.py", "checks/served.py", "simulate.py", "cli/demo.py", "cli/verify.py", "cli/__init__.py",
    "web/static.py",
}  # fmt: skip
KNOW_NO_HTTP = {"analysis", "editing", "errors", "estimator", "export", "planning", "statistics", "storage", "wording"}


def imports(path: Path) -> set[str]:
    """The absolute names of all modules that a file imports, wherever in it."""
    package = ("deniable_server", *path.relative_to(SERVER).parent.parts)
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


def room(module: str) -> str | None:
    """The folder that a module of the server is in; a module of the hall is a room by itself."""
    package, _, rest = module.partition(".")
    first = rest.partition(".")[0]
    known = first in FOLDERS or (SERVER / f"{first}.py").exists()
    return first if package == "deniable_server" and known else None


def rooms() -> dict[str, set[str]]:
    """Which rooms each room imports from."""
    graph: dict[str, set[str]] = {}
    for path in SERVER.rglob("*.py"):
        own = path.relative_to(SERVER).parts[0].removesuffix(".py")
        graph.setdefault(own, set()).update(name for name in map(room, imports(path)) if name and name != own)
    return graph


def test_the_hall_is_small() -> None:
    """The top folder contains at most nine modules, and the folders that the architecture page names."""
    assert len(list(SERVER.glob("*.py"))) <= 9
    assert {path.parent.name for path in SERVER.glob("*/__init__.py")} == FOLDERS


def test_no_two_rooms_need_each_other() -> None:
    """The graph of folders and hall modules has no cycle."""
    try:
        TopologicalSorter(rooms()).prepare()
    except CycleError as error:
        pytest.fail(" needs ".join(reversed(error.args[1])))


def test_only_what_plays_the_respondent_uses_a_client() -> None:
    """Server modules import the protocol, not the clients, but for the few that play the respondent."""
    for path in SERVER.rglob("*.py"):
        roots = {name.partition(".")[0] for name in imports(path)}
        name = path.relative_to(SERVER).as_posix()
        assert name in MAY_USE_CLIENTS or not roots & {"deniable", "deniable_web"}, name


def test_the_rooms_below_know_nothing_of_http() -> None:
    """Storage, statistics, analysis and the estimator import neither Flask nor the routes; the estimator no storage."""
    graph = rooms()
    for path in SERVER.rglob("*.py"):
        if path.relative_to(SERVER).parts[0].removesuffix(".py") in KNOW_NO_HTTP:
            assert not {name.partition(".")[0] for name in imports(path)} & {"flask", "werkzeug"}, path.name
    for name in KNOW_NO_HTTP:
        assert not graph[name] & {"web", "pages", "serving", "app"}, name
    for name in ("estimator", "planning", "statistics", "wording"):
        assert "storage" not in graph[name], name
