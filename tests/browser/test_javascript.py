"""The browser client: its own tests under node, and its syntax tree."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from importlib.resources import as_file
from pathlib import Path

import pytest
import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from deniable_web import web_file

# Putting a number on levels is encoding, not protection; verification counts in BigInt, whose / is integer division.
MAY_DIVIDE = {"encode", "expFloor", "largestFavour"}


def test_nodes_own_tests_pass(node: str, root: Path) -> None:
    """node --test runs every vector and every claim of client/web/test, and skips none."""
    tests = sorted(str(path) for path in (root / "client/web/test").glob("*.test.js"))
    run = subprocess.run(
        [node, "--test", "--test-reporter=tap", *tests], capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    summary = dict(re.findall(r"^# (tests|pass|fail|skipped|todo) (\d+)$", run.stdout, re.MULTILINE))
    assert int(summary["tests"]) >= 10
    assert (summary["fail"], summary["skipped"], summary["todo"]) == ("0", "0", "0")
    assert summary["pass"] == summary["tests"]


@pytest.fixture(scope="module")
def source() -> Iterator[bytes]:
    with as_file(web_file("deniable.js")) as path:
        yield path.read_bytes()


def nodes(tree: Node) -> Iterator[Node]:
    yield tree
    for child in tree.children:
        yield from nodes(child)


def function_of(node: Node) -> str:
    """The name of the top-level function around a node, or an empty string."""
    name = ""
    while node.parent is not None:
        if node.type == "function_declaration":
            field = node.child_by_field_name("name")
            name = field.text.decode() if field is not None and field.text is not None else ""
        node = node.parent
    return name


def text_of(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def test_the_randomiser_has_no_floats_and_one_random_source(source: bytes) -> None:
    """No Math.random, no fraction literal, no division outside encoding and BigInt, no real functions of Math."""
    tree = Parser(Language(tree_sitter_javascript.language())).parse(source).root_node
    assert not tree.has_error
    sources = set()
    for node in nodes(tree):
        if node.type == "number":
            assert re.fullmatch(r"[0-9_]+n?|0x[0-9a-fA-F]+", text_of(node)), text_of(node)
        if node.type in ("binary_expression", "augmented_assignment_expression"):
            operator = text_of(node.child_by_field_name("operator"))
            if operator in ("/", "/="):
                assert function_of(node) in MAY_DIVIDE, text_of(node)
        if node.type == "member_expression":
            name, field = (text_of(node.child_by_field_name(part)) for part in ("object", "property"))
            if name == "Math":
                assert (field, function_of(node)) in {("floor", "roundToLevel"), ("abs", "number")}, field
            if name.endswith("crypto"):
                sources.add(field)
        if node.type == "identifier" and text_of(node) == "Math":
            assert node.parent is not None and node.parent.type == "member_expression"  # no Math["random"]
        if node.type == "call_expression":
            called = text_of(node.child_by_field_name("function"))
            assert called not in {"eval", "Function", "parseFloat", "parseInt", "require", "fetch"}
        assert node.type != "import_statement", "deniable.js has no dependencies"
    assert sources == {"subtle", "getRandomValues"}
    assert b"innerHTML" not in source and b"Date" not in source
