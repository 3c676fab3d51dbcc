"""Results without a server: links, and what happens when there is no answer. All of it runs on the base install."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import deniable
from deniable.errors import ResultsError
from tests.helpers.fake_server import PORTAL, PROBLEM, FakeServer

LINK = "http://127.0.0.1:8000/surveys/campus-health"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("https://example.org/surveys/a b", "white space"),
        ("https:///surveys/campus-health", "no host"),
        ("https://me:word@example.org/surveys/campus-health", "password"),
        ("https://example.org:port/surveys/campus-health", "not a URL"),
        ("https://example.org/other", "names no survey"),
        ("http://example.org/surveys/campus-health", "insecure=True"),
        ("http://example.org/shared/secret", "insecure=True"),
    ],
)
def test_a_link_that_cannot_be_used_is_refused(link: str, reason: str) -> None:
    """Nothing is sent, least of all a token in the clear, and no message repeats the link."""
    server = FakeServer()
    with pytest.raises(deniable.AddressError, match=reason) as caught:
        deniable.Results(link, None if "/shared/" in link else "token", transport=server)
    assert server.requests == [] and "secret" not in str(caught.value)


def test_the_token_goes_in_a_header_and_parameters_in_the_address() -> None:
    """A request is what docs/api.md says: options in the order they were given, repeated where there are several."""
    server = FakeServer()
    server.replies = [
        (404, PROBLEM, b'{"type": "urn:deniable:problem:not-found", "title": "Not found", "detail": "No."}')
    ]
    results = deniable.Results("http://example.org/base/s/campus-health", "t0ken", transport=server, insecure=True)
    with pytest.raises(deniable.UnknownSurvey):
        results.estimates("campus", where={"a": "b", "c": "d"}, weights={"a": {"b": 0.25, "e": 0.75}}, anytime=True)
    (request,) = server.requests
    assert request.headers["Authorization"] == "Bearer t0ken" and "t0ken" not in request.path
    asked = "by=campus&where=a%3Ab&where=c%3Ad&weight=a%3Ab%3A0.25&weight=a%3Ae%3A0.75&anytime=1"
    assert request.path == f"http://example.org/base/api/v1/surveys/campus-health/estimates?{asked}"


@pytest.mark.parametrize(
    "reply",
    [(0, {}, b""), PORTAL, (500, {}, b""), (200, {"Content-Type": "text/plain"}, b"{}"), (404, PROBLEM, b"not json")],
)
def test_what_is_no_answer_of_a_server_is_unreachable(reply: tuple[int, dict[str, str], bytes]) -> None:
    """A connection that breaks, a hotel's page, or another site: Unreachable, which names the server, not the token."""
    server = FakeServer()
    server.replies = [reply]
    with pytest.raises(deniable.Unreachable, match=r"127\.0\.0\.1:8000") as caught:
        deniable.Results(LINK, "t0ken", transport=server).estimates()
    assert "t0ken" not in str(caught.value)


def test_a_server_that_is_not_there_is_unreachable() -> None:
    """Over a real socket."""
    with pytest.raises(deniable.Unreachable, match="cannot be reached"):
        deniable.Results("http://127.0.0.1:9/surveys/campus-health", "t", timeout=5).estimates()


def test_a_problem_of_any_kind_is_an_error_with_its_name() -> None:
    """Also of kinds that this version does not know; control characters of a stranger are not repeated."""
    server = FakeServer()
    problem = b'{"type": "urn:deniable:problem:busy", "title": "Server busy", "detail": "Try\\u001b[31m again."}'
    server.replies = [(503, PROBLEM, problem)]
    with pytest.raises(ResultsError, match=r"Server busy\. Try") as caught:
        deniable.Results(LINK, "t", transport=server).estimates()
    assert caught.value.kind == "busy" and "\x1b" not in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.kind, str(again)) == (ResultsError, "busy", str(caught.value))


def test_a_database_needs_the_server_and_says_so(tmp_path: Path) -> None:
    """On the base install, the error names what to install; importing deniable needs none of it."""
    program = (
        "import deniable, sys\ntry: deniable.Results('a.db')\nexcept deniable.MissingPackage as error: print(error)"
    )
    # Where the server's packages are installed, numpy is hidden; in the test of the wheel, they really are not there.
    hidden = "" if importlib.util.find_spec("numpy") is None else "import sys; sys.modules['numpy'] = None\n"
    run = subprocess.run(
        [sys.executable, "-c", hidden + program], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "pip install 'deniable[server]'" in run.stdout, run.stderr
