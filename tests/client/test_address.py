"""Links: which ones lead to a survey, and where."""

from __future__ import annotations

import pytest

from deniable import AddressError
from deniable.address import Address, parse_address

DIGEST = "0123456789abcdef" * 4
API = "https://example.org/api/v1/surveys/campus-health"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("https://example.org/s/campus-health", Address(API, "campus-health", None)),
        (API, Address(API, "campus-health", None)),
        (f"https://example.org/s/campus-health#{DIGEST}", Address(API, "campus-health", DIGEST)),
        (f"{API}#{DIGEST.upper()}", Address(API, "campus-health", DIGEST)),
        ("HTTPS://EXAMPLE.org:443/s/campus-health", Address(API, "campus-health", None)),
        ("https://example.org/s/campus-health?from=mail", Address(API, "campus-health", None)),
        ("http://h:80/s/ab", Address("http://h/api/v1/surveys/ab", "ab", None)),
        ("http://h:443/s/ab", Address("http://h:443/api/v1/surveys/ab", "ab", None)),
        ("http://h/a/s/b/s/ab", Address("http://h/a/s/b/api/v1/surveys/ab", "ab", None)),
        ("http://h/ö b%20c/s/ab".replace(" ", ""), Address("http://h/%C3%B6b%20c/api/v1/surveys/ab", "ab", None)),
        ("http://[::1]:8000/s/ab", Address("http://[::1]:8000/api/v1/surveys/ab", "ab", None)),
    ],
)
def test_a_link_gives_one_address(link: str, address: Address) -> None:
    """Page links and API links, in whatever spelling, lead to the survey's one API address."""
    assert parse_address(link) == address


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
def test_any_other_link_is_refused(link: str, reason: str) -> None:
    """The error says what is wrong and what a link looks like; a cut digest is not taken for no digest."""
    with pytest.raises(AddressError, match=reason) as caught:
        parse_address(link)
    assert "https://example.org/s/" in str(caught.value)
    assert "hunter2" not in str(caught.value)
