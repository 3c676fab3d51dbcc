"""Which modules of the server may know the clients."""

from __future__ import annotations

import ast
from pathlib import Path

import deniable_server

# They play the respondent: the audit runs the shipped randomisers, the demo shows one at work.
MAY_USE_CLIENTS = {"audit.py", "cli.py"}


def test_only_what_plays_the_respondent_uses_a_client() -> None:
    """Server modules import the protocol, not the clients, except the audit and the command line that shows it."""
    for path in Path(deniable_server.__file__).parent.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add((node.module or "").partition(".")[0])
        assert path.name in MAY_USE_CLIENTS or not names & {"deniable", "deniable_web"}, path.name
