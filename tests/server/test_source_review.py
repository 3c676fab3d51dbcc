"""Claims of the security review that are read off the sources: what no module of ours does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

PYTHON = [
    path
    for folder in ("server/deniable_server", "client/python/deniable", "shared/python/deniable_protocol")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
SCRIPTS = sorted((ROOT / "server/deniable_server/pages/static").glob("*.js"))
TEMPLATES = sorted((ROOT / "server/deniable_server/pages/templates").glob("*.html"))

# What runs text as a program, or makes objects of any kind from bytes.
NEVER_CALLED = {"eval", "exec", "compile", "__import__", "system", "popen", "render_template_string", "from_string"}
NEVER_IMPORTED = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "yaml",
    "xml",
    "lxml",
    "ldap",
    "smtplib",
    "imaplib",
    "memcache",
}
# They reach out: the simulation, which plays respondents against a server that its user names, and the command that
# starts one for the demo.
# The simulation plays respondents; the pool alone opens connections, to the database that the operator has named.
REACHES_OUT = {"simulate.py", "cli/simulate.py", "storage/postgres/pool.py"}
OTHERS = {
    "urllib.request",
    "http.client",
    "requests",
    "httpx",
    "aiohttp",
    "socket",
    "ftplib",
    "telnetlib",
    "asyncio",
    "psycopg_pool",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call by the last part of its name; methods of our own and of compiled patterns aside."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
                yield f"{owner}.{node.func.attr}" if owner == "re" else node.func.attr, node


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_no_text_becomes_a_program(path: Path) -> None:
    """Nothing is evaluated, unpickled, made a template, or given to a shell."""
    for called, node in calls(path):
        assert called not in NEVER_CALLED, f"{name(path)}:{node.lineno} calls {called}"
        shell = [word for word in node.keywords if word.arg == "shell"]
        assert not shell, f"{name(path)}:{node.lineno} names a shell"
    assert not {part.partition(".")[0] for part in imports(path)} & NEVER_IMPORTED, name(path)


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_queries_have_their_values_apart(path: Path) -> None:
    """No query is put together from anything but constants, but for names of our own tables, each marked as such."""
    lines = path.read_text("utf-8").splitlines()
    for called, node in calls(path):
        if called in ("execute", "executemany") and node.args and not isinstance(node.args[0], ast.Constant):
            first = node.args[0]
            built = isinstance(first, ast.JoinedStr | ast.BinOp) or (
                isinstance(first, ast.Call)
                and isinstance(first.func, ast.Attribute)
                and first.func.attr in ("format", "join", "encode")
                and not ast.unparse(first.func.value).startswith("SQL(")  # psycopg's, which quotes what it puts in
            )
            marked = any(re.search("noqa: S608 .*our own", line) for line in lines[node.lineno - 1 : node.end_lineno])
            pragma = isinstance(first, ast.JoinedStr) and ast.unparse(first).startswith("f'PRAGMA ")
            assert not built or marked or pragma, f"{name(path)}:{node.lineno}"


def test_the_server_calls_nobody() -> None:
    """What serves requests opens no connection that a request could name: it listens, and uses its database."""
    server = ROOT / "server/deniable_server"
    reaching = {path.relative_to(server).as_posix() for path in server.rglob("*.py") if set(imports(path)) & OTHERS}
    assert reaching - {"serving/run.py", "serving/gateway.py"} <= REACHES_OUT
    for listening in ("serving/run.py", "serving/gateway.py"):
        text = (server / listening).read_text("utf-8")
        assert not any(word in text for word in ("create_connection", "open_connection", "sock_connect"))


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_one_hash_and_one_random_source(path: Path) -> None:
    """Digests are SHA-256, words of forms its HMAC; what must not be guessed comes from the system's random source."""
    text = path.read_text("utf-8")
    of_files = text.replace("hashlib.file_digest(reader, hashlib.sha256)", "hashlib.sha256")
    assert set(re.findall(r"hashlib\.(\w+)", of_files)) <= {"sha256"}, name(path)
    assert not re.search(r"\b(md5|sha1|uuid[1-5]?\()", text), name(path)
    drawn = set(imports(path)) & {"random", "numpy.random"}
    assert not drawn and ("np.random" not in text or path.name == "simulate.py"), name(path)


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_templates_escape_everything(path: Path) -> None:
    """No text is marked as safe, escaping is never turned off, every attribute is in quotes, no script is inline."""
    text = path.read_text("utf-8")
    assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), name(path)
    assert not re.search(r"(?<!;)\s[\w-]+=\{\{", text), f"{name(path)} has an attribute without quotes"
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style|javascript:", text), name(path)


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_of_pages_write_text_only(path: Path) -> None:
    """No markup from strings, no evaluation, no messages from other windows, nothing kept in the browser."""
    text = re.sub(r"//.*|/\*.*?\*/", "", path.read_text("utf-8"))
    words = "innerHTML|outerHTML|insertAdjacentHTML|document.write|eval|Function|postMessage|onmessage"
    assert not re.search(rf"\b({words}|localStorage|sessionStorage|indexedDB|cookie)\b", text), name(path)


def test_the_clients_listen_to_no_messages() -> None:
    """No module of the browser client sends or takes messages between windows."""
    for path in (ROOT / "client/web/deniable_web").rglob("*.js"):
        assert not re.search(r"\bpostMessage\b|Listener\(\s*[\"']message|\bonmessage\b", path.read_text("utf-8")), name(
            path
        )


def test_no_test_code_is_shipped() -> None:
    """The packages of the wheel import nothing that tests are made of, and hold no tests."""
    for path in PYTHON:
        assert not {part.partition(".")[0] for part in imports(path)} & {"pytest", "hypothesis", "unittest"}, name(path)
        assert not path.name.startswith("test_"), name(path)
