"""Claims of the security review that are read off the sources: what no module of ours does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from deniable_server.pages.layout import POLICY
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
    "pickle", "marshal", "shelve", "dill", "yaml", "xml", "lxml", "ldap", "smtplib", "imaplib", "memcache",
}  # fmt: skip
# What reaches out: the simulation, which plays respondents against a server that its user names, the commands that
# start one for the demo and that verify one, the pool of connections to the database that the operator has named, and
# the pair of sockets between a server and its own computing process.
REACHES_OUT = {
    "simulate.py", "checks/served.py", "cli/demo.py", "cli/verify.py", "storage/postgres/pool.py", "web/computing.py",
}  # fmt: skip
OTHERS = {
    "urllib.request", "http.client", "requests", "httpx", "aiohttp", "socket", "ftplib", "telnetlib", "asyncio",
    "psycopg_pool", "deniable.transport", "deniable.http_transport",
}  # fmt: skip
# Get the name of a table, or a condition, from a constant of their own module.
GET_OUR_NAMES = {"_size", "_select", "_write", "_entries"}
# What makes up answers of people who do not exist, with a generator that can be repeated: it protects nobody.
MAKE_UP_ANSWERS = {"server/deniable_server/simulate.py", "server/deniable_server/checks/panels.py"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
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


def test_no_text_becomes_a_program() -> None:
    """Nothing is evaluated, unpickled, made a template, or given to a shell."""
    offenders = []
    for path in PYTHON:
        for called, node in calls(path):
            if called in NEVER_CALLED or any(word.arg == "shell" for word in node.keywords):
                offenders.append(f"{name(path)}:{node.lineno} calls {called}")
        modules = {part.partition(".")[0] for part in imports(path)}
        offenders += [f"{name(path)} imports {module}" for module in modules & NEVER_IMPORTED]
    assert offenders == []


def test_queries_have_their_values_apart() -> None:
    """No query is put together from anything but constants, whichever way it takes to a database; but for names of our
    own, each marked as such. Not even those are an argument that is text: it may have come from anywhere.
    """
    offenders = []
    for path in PYTHON:
        lines = path.read_text("utf-8").splitlines()
        for node in ast.walk(tree(path)):
            if not is_built_query(node):
                continue
            around = lines[node.lineno - 1 : node.end_lineno]
            if not any(re.search("noqa: S608|made of our own", line) for line in (*around, lines[node.lineno - 2])):
                offenders.append(f"{name(path)}:{node.lineno} is not marked")
        for function in ast.walk(tree(path)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                texts = {each.arg for each in arguments(function) if ast.unparse(each.annotation or each) == "str"}
                built = [node for node in ast.walk(function) if is_built_query(node)]
                used = {part.id for query in built for part in ast.walk(query) if isinstance(part, ast.Name)}
                if function.name not in GET_OUR_NAMES:
                    offenders += [f"{name(path)}:{function.lineno} puts {text} into a query" for text in texts & used]
    assert offenders == []


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def is_built_query(node: ast.AST) -> bool:
    """Whether this puts a query together of parts. psycopg's SQL does it, too, and quotes what it puts in."""
    built = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        built = node.func.attr in ("format", "replace") and not ast.unparse(node.func.value).startswith("SQL(")
    if not built:
        return False
    texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any(re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|VACUUM|ATTACH)\b.* ", text) for text in texts)


def test_the_server_calls_nobody() -> None:
    """Code that serves requests opens no connection that a request could name: it listens, and uses its database."""
    server = ROOT / "server/deniable_server"
    reaching = {path.relative_to(server).as_posix() for path in server.rglob("*.py") if set(imports(path)) & OTHERS}
    assert reaching - {"serving/run.py", "serving/gateway.py", "serving/intake.py"} <= REACHES_OUT
    for listening in ("serving/run.py", "serving/gateway.py", "serving/intake.py"):
        text = (server / listening).read_text("utf-8")
        assert not any(word in text for word in ("create_connection", "open_connection", "sock_connect"))


def test_one_hash_and_one_random_source() -> None:
    """Digests are SHA-256, words of forms its HMAC, tokens are signed with SHA-384 as their RFC says; what must not be
    guessed comes from the system's random source.
    """
    offenders = []
    for path in PYTHON:
        text = path.read_text("utf-8")
        hashes = set(re.findall(r"hashlib\.(\w+)", text.replace("hashlib.file_digest(reader, ", ""))) - {"sha256"}
        hashes -= {"sha384"} if path.name == "blind_signatures.py" else set()
        drawn = set(imports(path)) & {"random", "numpy.random"}
        made_up = name(path) in MAKE_UP_ANSWERS
        drawn |= {"numpy.random"} if "np.random" in text else set()
        if hashes or (drawn and not made_up) or re.search(r"\b(md5|sha1|uuid[1-5]?\()", text):
            offenders.append(name(path))
    assert offenders == []


def test_templates_escape_everything() -> None:
    """No text is marked as safe, escaping is never turned off, every attribute is in quotes, no script is inline."""
    unescaped = r"\|\s*safe\b|autoescape|Markup"
    unquoted = r"(?<!;)\s[\w-]+=\{\{"
    inline = r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style|javascript:"
    assert TEMPLATES and offenders_in(TEMPLATES, f"{unescaped}|{unquoted}|{inline}") == []


COMMENTS = r"//.*|/\*.*?\*/"
READ_PAGES = {"dashboard.js", "draft-file.js", "draft-panel.js", "editor.js", "invitations.js"}
"""They read pages of this server again. DOMParser runs nothing and templates escape every text. The policy of our pages
lets a script get nothing from elsewhere, and runs nothing inline.
"""
KEPT = {"editor.js": r"localStorage(\)|\.getItem\(|\.removeItem\(|\.setItem\(kept, plain\(undecided\)\))"}
"""The editor keeps changes to drafts, and nothing else, until they are saved: a session that ends loses nothing."""


def test_scripts_of_pages_write_text_only() -> None:
    """No markup from strings, no evaluation, no messages from other windows. Nothing is kept in the browser but what
    ``KEPT`` allows, and markup is only read where ``READ_PAGES`` says.
    """
    words = "innerHTML|outerHTML|insertAdjacentHTML|document.write|eval|Function|postMessage|onmessage"
    words += "|setHTMLUnsafe|parseHTMLUnsafe|createContextualFragment|srcdoc"
    kept = "sessionStorage|indexedDB|cookie"
    assert SCRIPTS and offenders_in(SCRIPTS, rf"\b({words}|{kept})\b", comments=COMMENTS) == []
    for path in SCRIPTS:
        code = re.sub(COMMENTS, "", path.read_text("utf-8"))
        assert "localStorage" not in re.sub(KEPT.get(path.name, r"(?!)"), "", code), path.name
        assert path.name in READ_PAGES or "DOMParser" not in code, path.name
    assert "connect-src 'self';" in POLICY


def offenders_in(paths: list[Path], pattern: str, comments: str = r"(?!)") -> list[str]:
    """Where a pattern is found outside of comments."""
    found = [(path, re.search(pattern, re.sub(comments, "", path.read_text("utf-8")))) for path in paths]
    return [f"{name(path)}: {match[0]}" for path, match in found if match]


def test_the_clients_listen_to_no_messages() -> None:
    """No module of the browser client sends or takes messages between windows."""
    modules = sorted((ROOT / "client/web/src").rglob("*.js"))
    assert modules and offenders_in(modules, r"\bpostMessage\b|Listener\(\s*[\"']message|\bonmessage\b") == []


def test_no_test_code_is_shipped() -> None:
    """The packages of the wheel import nothing that tests are made of, and contain no tests."""
    made_of = {"pytest", "hypothesis", "unittest"}
    shipped = [path for path in PYTHON if {part.partition(".")[0] for part in imports(path)} & made_of]
    assert shipped == [] and not any(path.name.startswith("test_") for path in PYTHON)
