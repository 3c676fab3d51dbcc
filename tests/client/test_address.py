"""Links: which ones lead to a survey, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable
from deniable import AddressError
from deniable.address import Address, parse_address
from tests.helpers.fake_server import FakeServer

DIGEST = "0123456789abcdef" * 4


def test_address_vectors(root: Path) -> None:
    """Page links and API links, in whatever spelling, lead to the survey's one API address; no others do."""
    tests = json.loads((root / "shared/vectors/address.json").read_text("ascii"))["tests"]
    results = set()
    for test in tests:
        results.add(test["result"])
        if test["result"] == "valid":
            expected = Address(test["url"], test["survey"], test["digest"], test.get("invitation"))
            assert parse_address(test["link"]) == expected and repr(expected) == f"<Address {test['url']}>"
        else:
            with pytest.raises(AddressError):
                parse_address(test["link"])
    assert results == {"valid", "invalid"}


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("", "http"),
        ("campus-health", "http"),
        ("ftp://h/s/ab", "http"),
        ("file:///s/ab", "http"),
        ("http:///s/ab", "http"),
        ("http://h:port/s/ab", "not a URL"),
        ("http://h:99999/s/ab", "not a URL"),
        ("http://[::1/s/ab", "not a URL"),
        ("http://h/", "/s/"),
        ("http://h/s/", "/s/"),
        ("http://h/s/ab/", "/s/"),
        ("http://h/s/AB", "/s/"),
        ("http://h/x/ab", "/s/"),
        ("http://h/s/ab/submissions", "/s/"),
        ("http://user:hunter2@h/s/ab", "anonymous"),
        ("http://user@h/s/ab", "anonymous"),
        ("http://h/s/ab#", "64 hex"),
        (f"http://h/s/ab#{DIGEST[:-1]}", "64 hex"),
        (f"http://h/s/ab#{DIGEST}0", "64 hex"),
        ("http://h/s/ab#top", "64 hex"),
        ("http://h/s/ab\n", "white space"),
        ("http://h /s/ab", "white space"),
    ],
)
def test_a_refused_link_says_why(link: str, reason: str) -> None:
    """The error says what is wrong and what a link looks like; a cut digest is not taken for no digest."""
    with pytest.raises(AddressError, match=reason) as caught:
        parse_address(link)
    assert "https://example.org/s/" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    ["example.org", "10.0.0.1", "192.168.1.7:8000", "localhost.example.org", "notlocalhost", "127.0.0.1.example.org",
     "0.0.0.0", "[::2]", "[::ffff:10.0.0.1]"],
)  # fmt: skip
def test_http_to_another_machine_needs_a_word(host: str) -> None:
    """Without https anyone on the way could change what is asked: refused before any request, unless insecure=True."""
    server = FakeServer()
    with pytest.raises(AddressError, match="insecure=True"):
        deniable.Client(f"http://{host}/s/campus-health", transport=server)
    assert server.requests == []
    deniable.Client(f"http://{host}/s/campus-health", transport=server, insecure=True).close()
    deniable.Client(f"https://{host}/s/campus-health", transport=server).close()


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "app.localhost", "127.0.0.1:8000", "127.8.9.10", "[::1]:80"]
)
def test_http_within_this_machine_is_fine(host: str) -> None:
    """What does not leave the machine needs no certificate."""
    deniable.Client(f"http://{host}/s/campus-health", transport=FakeServer()).close()
