"""What the layers may not do, read from their syntax trees."""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable
import deniable_protocol
from deniable_protocol import blind_signatures, invitations

PROTOCOL = Path(deniable_protocol.__file__).parent
CLIENT = Path(deniable.__file__).parent

# The modules that run between an answer and its report.
RANDOMISERS = ["draws", "channel", "channels", "design", "tables", "exact", "questions", "parts", "submission"]
# What decides whether a token can be linked to its invitation, and whether an invitation can be guessed.
BLINDERS = ["blind_signatures", "invitations"]
# Putting a number on levels is encoding, not protection: the one place where doubles are used. The ends of a range and
# examples of answers are not on the way from an answer to its report.
MAY_USE_FLOATS = {"round_to_level", "_position", "range", "_answers", "panel"}


def tree_of(module: str) -> ast.Module:
    return ast.parse((PROTOCOL / f"{module}.py").read_text("utf-8"))


def without(tree: ast.Module, names: set[str]) -> list[ast.AST]:
    """All nodes except those inside the named functions."""
    skipped = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name in names for n in ast.walk(f)}
    return [node for node in ast.walk(tree) if id(node) not in skipped]


def imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            names.add("__import__")
    return names


@pytest.mark.parametrize("module", RANDOMISERS + BLINDERS)
def test_the_randomiser_does_no_float_arithmetic(module: str) -> None:
    """No float literal, no true division, no call of float() or of math's real functions."""
    assert list(float_arithmetic(tree_of(module), divides=module in ("exact", "tables"))) == []


def test_a_float_threshold_would_be_seen() -> None:
    """It gives the same draws as integers do, so that no other test can see it."""
    assert list(float_arithmetic(ast.parse("def chance(self, favour): return self.word() / N < favour / N"))) == [
        "self.word() / N",
        "favour / N",
    ]


def float_arithmetic(tree: ast.Module, *, divides: bool = False) -> Iterator[str]:
    for node in without(tree, MAY_USE_FLOATS):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield ast.unparse(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            # Figures *about* a channel may divide: fractions exactly, decimals to 60 digits.
            if not divides and "probability" not in ast.unparse(node.left):
                yield ast.unparse(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            yield ast.unparse(node)
        elif isinstance(node, ast.Name) and node.id in {"float", "complex", "round"}:
            if isinstance(node.ctx, ast.Load) and not _in_isinstance(tree, node):
                yield f"{node.id} in line {node.lineno}"
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "math":
            yield from {node.attr} - {"comb", "floor"}


def _in_isinstance(tree: ast.Module, name: ast.Name) -> bool:
    """Whether the name only asks for a type: isinstance(x, float), or an annotation such as int | float."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance") or (
            isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "Truth"
        ):
            spans = [node]
        elif isinstance(node, ast.AnnAssign):
            spans = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            spans = [a.annotation for a in node.args.args if a.annotation] + ([node.returns] if node.returns else [])
        else:
            continue
        for span in spans:
            if any(
                isinstance(n, ast.Name) and (n.lineno, n.col_offset) == (name.lineno, name.col_offset)
                for n in ast.walk(span)
            ):
                return True
    return False


def test_only_the_system_gives_randomness() -> None:
    """Nothing imports random, numpy or secrets; os gives urandom and nothing else, as the default source."""
    for path in [*PROTOCOL.glob("*.py"), *CLIENT.glob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        assert not imported(tree) & {"random", "numpy", "secrets", "uuid", "__import__", "importlib"}, path.name
        if path.parent == PROTOCOL:
            uses = {
                n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "os"
            }
            assert uses <= {"urandom"}, path.name
    blinding = (blind_signatures.prepare, blind_signatures.blind, blind_signatures.Blinding.draw)
    for drawing in (deniable_protocol.Draws, deniable_protocol.randomize, invitations.draw_code, *blinding):
        assert inspect.signature(drawing).parameters["read"].default is os.urandom


def test_the_protocol_does_no_input_or_output() -> None:
    """The protocol imports no module that reads a clock, a file, a socket or the environment, and never prints."""
    allowed = {
        "unicodedata", "base64",
        "__future__", "abc", "collections", "dataclasses", "decimal", "fractions", "functools", "hashlib", "itertools",
        "json", "math", "msgspec", "os", "re", "tomllib", "types", "typing",
    }  # fmt: skip
    for path in PROTOCOL.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert imported(tree) <= allowed, path.name
        called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not called & {"open", "print", "input", "eval", "exec"}, path.name


def test_dependencies_point_at_the_protocol() -> None:
    """Client -> protocol <- server: the protocol knows neither, and of the client one module knows the server: the one
    that reads results from a database, and imports it only then.
    """
    for path in PROTOCOL.glob("*.py"):
        assert not imported(ast.parse(path.read_text("utf-8"))) & {"deniable", "deniable_server", "deniable_web"}
    for path in CLIENT.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if path == CLIENT / "results" / "database.py":
            at_once = {ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
            assert "deniable_server" not in " ".join(at_once)
            tree = ast.parse(
                ast.unparse(tree).replace("from deniable_server.analysis.database import Database", "pass")
            )
        assert not imported(tree) & {"deniable_server", "flask", "numpy", "scipy", "click"}, path.name


def test_results_import_what_others_may_lack_only_when_asked() -> None:
    """pandas and polars are imported within the functions that need them, matplotlib only by the module that plots."""
    for path in (CLIENT / "results").glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        at_once = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        allowed = {"matplotlib"} if path.name == "plots.py" else set()
        assert imported(at_once) & {"pandas", "polars", "matplotlib"} <= allowed, path.name


def test_importing_deniable_loads_no_results() -> None:
    """An app that asks questions does not load what reads results, until it names it."""
    program = (
        "import deniable, sys; assert 'deniable.results' not in sys.modules; deniable.Results; import deniable.results"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


LATER = ("dataclasses", "inspect", "hashlib", "ssl", "http.client", "email", "tempfile", "deniable.results")
"""Slow to load, and not needed before the first survey; or never."""


def test_importing_deniable_takes_not_much_longer_than_what_it_needs(tmp_path: Path) -> None:
    """An app that imports the client starts in less than 2.1 times the processor time of one that imports msgspec,
    which the client cannot do without; and nothing is loaded that it does not need yet. (Measured: 1.8 times. With
    dataclasses and OpenSSL it would be 2.3.)
    """
    # Compiled, as installed packages are. typing_extensions, if it is there, makes msgspec slower.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = own | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    times: dict[str, list[float]] = {"msgspec": [], "deniable": []}
    for _, name in itertools.product(range(15), times):  # the first time compiles
        program = (
            f"import sys; sys.modules['typing_extensions'] = None; import {name}\n"
            f"assert not {{*{LATER}}} & {{*sys.modules}}, {{*{LATER}}} & {{*sys.modules}}"
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times["deniable"]) < 2.1 * min(times["msgspec"])


def test_the_public_names_are_pinned() -> None:
    """What ``import deniable`` offers changes on purpose or not at all."""
    assert sorted(deniable.__all__) == [
        "AccessDenied", "AddressError", "AlreadyAnswered", "AnswerError", "BudgetExceeded", "Client", "DeniableError",
        "DocumentError", "HTTPTransport", "HeldBack", "InvitationError", "MissingPackage", "NotDelivered", "NotOpen",
        "Problem", "QueryError", "Receipt", "Refused", "Response", "Results", "ResultsError", "Sent", "StateError",
        "Submission", "TokenError", "Transport", "UnknownSurvey", "Unreachable", "WSGITransport", "__version__",
        "randomize",
    ]  # fmt: skip
    assert all(hasattr(deniable, name) for name in deniable.__all__)
    assert all(hasattr(deniable_protocol, name) for name in deniable_protocol.__all__)
