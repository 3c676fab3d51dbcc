"""No secret in the repository: neither in what is tracked now, nor in what ever was."""

from __future__ import annotations

import math
import re
import secrets
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.helpers.machine import ROOT, missing

# Formats that are secrets wherever they occur.
KNOWN = [
    ("a private key", re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")),
    ("a key of AWS", re.compile(rb"\b(AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a token of GitHub", re.compile(rb"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})")),
    ("a token of GitLab", re.compile(rb"\bglpat-[A-Za-z0-9_-]{20}")),
    ("a token of Slack", re.compile(rb"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("a key of Google", re.compile(rb"\bAIza[A-Za-z0-9_-]{35}")),
    ("a token of a package index", re.compile(rb"\b(pypi-AgE[A-Za-z0-9_-]{50,}|npm_[A-Za-z0-9]{36})")),
    ("a key for a language model", re.compile(rb"\bsk-[A-Za-z0-9_-]{32,}")),
    ("a signed token", re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    (
        "a password in an address",
        re.compile(rb"\b[a-z]{2,12}://[^/\s:@\"'<>{}$]+:[^/\s:@\"'<>{}$]{6,}@(?!127\.)[a-z0-9-]+\."),
    ),
]
# What ``deniable token create`` prints: 43 characters of all kinds, alone.
OWN_TOKEN = re.compile(rb"(?<![A-Za-z0-9_+/=-])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_+/=-])")
# Something called a secret that is set to a text of many different characters.
ASSIGNED = re.compile(
    rb"(?i)(?:secret|passw(?:or)?d|token|api_?key|private_?key)\w{0,20}[\"']?\s{0,4}[:=]\s{0,4}[\"']([^\"'\s]{20,200})[\"']"
)


def entropy(text: bytes) -> float:
    """Bits per character, by how often each occurs."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def is_mixed(text: bytes) -> bool:
    return all(re.search(kind, text) for kind in (rb"[A-Z]", rb"[a-z]", rb"[0-9]"))


def found_in(content: bytes) -> Iterator[str]:
    """What looks like a secret, by kind; never the secret itself."""
    for kind, pattern in KNOWN:
        if pattern.search(content):
            yield kind
    # Of 43 random characters one kind is missing about once in 1,400 times; a name has hardly all three.
    if any(is_mixed(match[0]) and entropy(match[0]) > 4.3 for match in OWN_TOKEN.finditer(content)):
        yield "a token of Deniable"
    if any(entropy(match[1]) > 3.4 and re.search(rb"\d", match[1]) for match in ASSIGNED.finditer(content)):
        yield "a secret that is set to a text"


def git(*arguments: str) -> bytes:
    if shutil.which("git") is None:
        missing("git")
    if not (ROOT / ".git").exists():
        missing("the repository's history (this is a copy without .git)")
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False)
    if done.returncode:
        missing("a repository that git can read")
    return done.stdout


def test_no_tracked_file_holds_a_secret() -> None:
    """No tracked file contains a secret now."""
    names = [name for name in git("ls-files", "-z").decode().split("\0") if name]
    assert len(names) > 100
    files = [ROOT / name for name in names if (ROOT / name).is_file()]
    findings = [f"{file.relative_to(ROOT)}: {kind}" for file in files for kind in found_in(file.read_bytes())]
    assert findings == []


def test_no_earlier_version_holds_a_secret() -> None:
    """No line that any reachable commit has ever added contains a secret."""
    history = git("log", "--all", "-p", "--no-color", "--unified=0", "--no-ext-diff", "--format=commit %H")
    added = b"\n".join(line[1:] for line in history.split(b"\n") if line[:1] == b"+" and line[:3] != b"+++")
    assert len(added) > 10_000
    assert sorted(set(found_in(added))) == []


@pytest.mark.parametrize(
    ("kind", "planted"),
    [
        ("a private key", "-----BEGIN " + "EC PRIVATE KEY-----"),
        ("a key of AWS", "id = AKIA" + "ABCDEFGHIJ234567"),
        ("a token of GitHub", "ghp_" + "a1B2" * 9),
        ("a password in an address", "postgresql://deniable:" + "hunter22@db.example/x"),
        ("a secret that is set to a text", "SECRET_KEY = '" + "0123456789abcdef" * 4 + "'"),
        ("a secret that is set to a text", '{"api_key": "' + "q8Zk2LmN0pRsT4vWxY6z" + '"}'),
    ],
)
def test_a_secret_would_be_found(kind: str, planted: str) -> None:
    """Each kind of secret is found in the middle of a file, and reported by its kind alone."""
    assert list(found_in(f"before\n{planted}\nafter\n".encode())) == [kind]


def test_a_token_of_ours_would_be_found() -> None:
    """Of a hundred new tokens at least ninety are found: each is missed with a chance of about 1 in 1,400, so that
    fewer come out once in 10^20 runs.
    """
    tokens = [secrets.token_urlsafe(32) for _ in range(100)]
    assert sum("a token of Deniable" in found_in(f"$ create\n{token}\n".encode()) for token in tokens) >= 90


def test_what_is_no_secret_is_let_through() -> None:
    """Digests, names of tests, and tokens that are made at run time."""
    for text in (
        b"digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        b"def test_a_token_that_is_as_long_as_a_real_one(): pass",
        b"token = secrets.token_urlsafe(32)",
        b"Authorization: Bearer <token>",
        b"secret_key='" + b"1" * 32 + b"'",
    ):
        assert list(found_in(text)) == [], text
