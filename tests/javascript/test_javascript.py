"""The browser client: its own tests under node, and its syntax tree."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_javascript
from hypothesis import settings
from tree_sitter import Language, Node, Parser

import deniable_web
from deniable import __version__
from deniable_web import web_file, web_files

SRC = Path(deniable_web.__file__).parent.parent / "src"
"""The modules; those of a copy, where one was put first to plant a fault in it."""

# Putting a number on levels is encoding, not protection; verification counts in BigInt, whose / is integer division.
TABLES = {"decay", "powers", "toRow", "laplace", "gaussian", "normalRow"}
MAY_DIVIDE = {"encode", "expFloor", "inverse", "largestFavour", *TABLES}


@pytest.mark.parametrize("form", ["as written", pytest.param("as served", marks=pytest.mark.grid)])
def test_nodes_own_tests_pass(node: str, root: Path, tmp_path: Path, form: str) -> None:
    """node --test runs every vector and every claim of client/web/test, and skips none; on the modules as they are
    written, and on deniable.js as it is served (in ``make test``: the claims about that file and client).
    """
    web = root / "client" / "web"
    if form == "as served":
        shutil.copytree(web, tmp_path / "client" / "web", ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        shutil.copytree(root / "shared" / "vectors", tmp_path / "shared" / "vectors")
        web = tmp_path / "client" / "web"
        for name in ("deniable.js", "deniable/tables.js", "deniable/invitations.js", "deniable/preview.js"):
            (web / "src" / name).write_bytes(web_file(name).read_bytes())
    tests = sorted(str(path) for path in (web / "test").glob("*.test.js"))
    if form == "as served" and settings.get_current_profile_name() != "thorough":
        tests = [str(web / "test" / f"{name}.test.js") for name in ("client", "deniable", "tokens")]
    options = ["--test", "--test-concurrency=2", "--test-reporter=tap"]  # one waits much, the others count
    run = subprocess.run([node, *options, *tests], capture_output=True, text=True, timeout=600, check=False)
    failures = "\n".join(re.findall(r"^not ok .*?^  \.\.\.$", run.stdout, re.MULTILINE | re.DOTALL))
    assert run.returncode == 0, (failures or run.stdout[-5000:]) + run.stderr[-2000:]
    summary = dict(re.findall(r"^# (tests|pass|fail|skipped|todo) (\d+)$", run.stdout, re.MULTILINE))
    assert int(summary["tests"]) >= 10
    assert (summary["fail"], summary["skipped"], summary["todo"]) == ("0", "0", "0")
    assert summary["pass"] == summary["tests"]


def test_one_small_file_is_all_that_a_client_needs() -> None:
    """deniable.js as it is served is at most 13 kB compressed, and imports nothing but the questionnaire, the
    textbook's tables and the preview on demand; the questionnaire with one language is at most 32 kB, and imports only
    its languages. What surveys with invitations need as well is at most 2.5 kB, and a preview 1 kB.
    """
    served = dict(web_files())
    assert len(gzip.compress(served["deniable.js"], 9, mtime=0)) <= 13_000
    assert {*re.findall(rb'\bimport\b(?:\("(.*?)"\))?', served["deniable.js"])} == {
        b"./deniable/tables.js",
        b"./deniable/invitations.js",
        b"./deniable/preview.js",
        b"./deniable/survey-element.js",
    }
    assert len(gzip.compress(served["deniable/invitations.js"], 9, mtime=0)) <= 2_500
    assert len(gzip.compress(served["deniable/preview.js"], 9, mtime=0)) <= 1_000
    questionnaire = served["deniable/survey-element.js"] + served.get("deniable/texts/en.js", b"")
    assert len(gzip.compress(questionnaire, 9, mtime=0)) <= 32_000
    for name in served.keys() - {"deniable.js"}:
        assert imports(served[name]) <= {
            f"./texts/{each.rpartition('/')[2]}" for each in served if "/texts/" in each
        }, name


def imports(module: bytes) -> set[str]:
    """The addresses that a module imports, on demand or before it runs."""
    found = (node.parent or node for node in nodes(_tree(module)) if node.type == "import")
    return {text for each in found for text in re.findall(r'"(.*?)"', text_of(each))}


def test_what_is_served_names_its_sources() -> None:
    """Each file says at its start what it is, and where to read what it was built from."""
    for name, content in web_files():
        said = f"// Deniable {__version__}, {name}: built from client/web/src, where it is readable.\n"
        assert content.decode().startswith(said)


def files() -> list[str]:
    """Every module of the package, by its path in it."""
    return sorted(str(path.relative_to(SRC)) for path in SRC.rglob("*.js"))


def _tree(code: bytes) -> Node:
    tree = Parser(Language(tree_sitter_javascript.language())).parse(code).root_node
    assert not tree.has_error
    return tree


def parsed(name: str) -> Node:
    return _tree((SRC / name).read_bytes())


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


PURE = [
    f"deniable/{name}.js"
    for name in ("checks", "survey", "design", "tables", "protocol", "randomizer", "blind-signatures")
]
SOURCES = {
    "deniable/protocol.js": {"subtle", "getRandomValues"},
    "deniable/randomizer.js": {"getRandomValues"},
    "deniable/blind-signatures.js": {"subtle", "getRandomValues"},
}
"""What each takes from crypto: digests, and whether there is a source of bytes, or the bytes."""


@pytest.mark.parametrize("name", PURE)
def test_the_randomiser_has_no_floats_and_one_random_source(name: str) -> None:
    """No Math.random, no fraction literal, no division outside encoding and BigInt, no real functions of Math."""
    sources = set()
    for node in nodes(parsed(name)):
        if node.type == "number":
            assert re.fullmatch(r"[0-9_]+n?|0x[0-9a-fA-F]+", text_of(node)), text_of(node)
        if node.type in ("binary_expression", "augmented_assignment_expression"):
            operator = text_of(node.child_by_field_name("operator"))
            if operator in ("/", "/="):
                assert function_of(node) in MAY_DIVIDE, text_of(node)
        if node.type == "member_expression":
            owner, field = (text_of(node.child_by_field_name(part)) for part in ("object", "property"))
            if owner == "Math":
                assert (field, function_of(node)) in {("floor", "roundToLevel"), ("abs", "number")}, field
            if owner.endswith("crypto"):
                sources.add(field)
        if node.type == "call_expression":
            assert text_of(node.child_by_field_name("function")) not in {"parseFloat", "parseInt", "import"}
        if node.type == "import_statement":
            source = text_of(node.child_by_field_name("source")).replace('"./', "deniable/").strip('"')
            assert source in {*PURE, "deniable/account.js"}
    assert sources == SOURCES.get(name, set())


# What reaches beyond the page's own memory, and the only files that may name it. What no file may name has none.
REACH: dict[str, set[str]] = {
    "fetch": {"deniable/transport.js"},
    "indexedDB": {"deniable/device.js"},
    "Date": {"deniable/delivery.js", "deniable/device.js"},
    "performance": {"deniable/delivery.js"},
    "history": {"deniable/steps.js"},
} | {
    name: set()
    for name in (
        *("XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "Image", "caches", "BroadcastChannel"),
        *("localStorage", "sessionStorage", "cookie", "cookieStore", "serviceWorker"),
        *("eval", "Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "require"),
        "random",
    )
}


@pytest.mark.parametrize("name", files())
def test_only_the_transport_sends_and_only_the_device_keeps(name: str) -> None:
    """One file names the network, one the database; no file names another way out, or another random source."""
    for node in nodes(parsed(name)):
        text = text_of(node)
        if node.type in ("identifier", "property_identifier", "shorthand_property_identifier"):
            assert text not in REACH or name in REACH[text], f"{name} names {text}"
        if node.type == "identifier" and text in ("Math", "crypto", "globalThis"):
            assert node.parent is not None and node.parent.type == "member_expression"  # no Math["random"]
        if node.type == "member_expression" and text_of(node.child_by_field_name("object")).endswith("crypto"):
            assert text_of(node.child_by_field_name("property")) in {"subtle", "getRandomValues"}
        if node.type == "import_statement":
            assert re.fullmatch(r'"\./[a-z/-]+\.js"', text_of(node.child_by_field_name("source"))), text
        if node.type == "call_expression" and text_of(node.child_by_field_name("function")) == "import":
            imported = text_of(node.child_by_field_name("arguments"))
            folder = "texts" if name == "deniable/texts.js" else "deniable"
            assert re.fullmatch(rf'\("\./{folder}/[a-z-]+\.js"\)', imported), text


def test_nothing_is_written_to_the_console_on_the_way_of_an_answer() -> None:
    """What a page logs may leave the device: the client and the randomiser log nothing."""
    for name in ("deniable.js", *PURE, "deniable/transport.js", "deniable/device.js", "deniable/delivery.js"):
        assert not any(node.type == "identifier" and text_of(node) == "console" for node in nodes(parsed(name)))
