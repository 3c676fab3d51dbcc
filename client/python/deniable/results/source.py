"""Where results are read from over HTTP: a survey on a server, with an access token or a shared link.

May not: show an access token in a message, or send one in the clear to another machine unless that is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from deniable.address import is_protected
from deniable.errors import AccessDenied, AddressError, ResultsError, UnknownSurvey, Unreachable, results_error
from deniable.transport import USER_AGENT, Response, Transport, describe, printable
from deniable_protocol.checks import SURVEY_ID

Given = Sequence[tuple[str, str]]
"""Parameters and their texts, in order; a parameter may come several times."""

MOST_BYTES = 33 * 2**20
"""As much of an answer as is read. A server gives at most 32 MB."""

FORM = (
    "a link to results looks like https://example.org/surveys/survey-id, or, if somebody shared it, "
    "https://example.org/shared/…"
)
_NOTHING: Mapping[str, str] = {}
_SURVEY = re.compile(rf"(?P<base>.*?)/(?:s|surveys|api/v1/surveys)/(?P<id>{SURVEY_ID.pattern})(?:/.*)?")
_SHARED = re.compile(r"(?P<base>.*?)/shared/(?P<secret>[A-Za-z0-9_~.-]+)/?")


class Source(Protocol):
    """Answers questions about one survey, in the bytes that the HTTP interface gives."""

    def document(self) -> bytes:
        """The published document."""

    def ask(self, what: str, given: Given) -> bytes:
        """The result of this name."""

    def plan(self, survey: bytes, syntax: str) -> bytes:
        """The plan of a survey file, in TOML or JSON."""


class Link(NamedTuple):
    """Where a server is, and what a link says of the survey and the token."""

    base: str
    survey: str | None
    token: str | None


def parse_link(link: str, survey: str | None, token: str | None) -> Link:
    """The parts of a link to results, to a survey, or to a server. AddressError where it is none."""
    if any(character <= " " or character == "\x7f" for character in link):
        raise AddressError(f"the link contains white space; {FORM}")
    try:
        parts = urlsplit(link)
        host = f"{parts.scheme}://{parts.netloc}"
        hostname, _ = parts.hostname, parts.port
    except ValueError:
        raise AddressError(f"the link is not a URL; {FORM}") from None
    if not hostname or "@" in parts.netloc:
        raise AddressError(f"the link has no host, or a user name or password in it; {FORM}")
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
    if shared := _SHARED.fullmatch(path):
        if token is not None:
            raise AddressError("a shared link is an access token itself: give it without token=")
        return Link(host + shared["base"], survey, shared["secret"])
    if about := _SURVEY.fullmatch(path):
        if survey not in (None, about["id"]):
            raise AddressError("the link is to another survey than survey= names: leave one of them out")
        return Link(host + about["base"], about["id"], token)
    if survey is None:
        raise AddressError(f"the link names no survey, and survey= does not, either; {FORM}")
    return Link(host + path.rstrip("/"), survey, token)


class HTTPSource:
    """A survey on a server."""

    def __init__(self, link: Link, transport: Transport, timeout: float, *, insecure: bool) -> None:
        if link.token is None:
            raise AccessDenied(
                "unauthorized",
                "reading results needs an access token (token=…) or a shared link. On the server, "
                "deniable token create --role analyst  makes a token; the Share page of the results makes a link",
            )
        if not (insecure or is_protected(link.base)):
            raise AddressError(
                "the link is http:// to another machine: anyone on the way could read the access token and the "
                "results. Use https://, or allow it with insecure=True"
            )
        self._base, self._token, self._transport, self._timeout = link.base, link.token, transport, timeout
        self.survey = link.survey or self._shared_survey(link.token)

    def document(self) -> bytes:
        return self._send("GET", f"/api/v1/surveys/{self.survey}")

    def ask(self, what: str, given: Given) -> bytes:
        return self._send("GET", f"/api/v1/surveys/{self.survey}/{what}?{urlencode(given)}")

    def plan(self, survey: bytes, syntax: str) -> bytes:
        return self._send("POST", "/api/v1/plan", survey, {"Content-Type": f"application/{syntax}"})

    def _shared_survey(self, secret: str) -> str:
        """The survey that a shared link is for."""
        try:
            found = msgspec.json.decode(self._send("GET", f"/shared/{secret}"), type=_Shared)
        except UnknownSurvey as error:
            raise AccessDenied(
                error.kind, "this shared link has expired, or was copied incompletely: ask for a new one"
            ) from None
        return found.survey

    def _send(self, method: str, path: str, body: bytes | None = None, more: Mapping[str, str] = _NOTHING) -> bytes:
        headers = {"Accept": "application/json", "User-Agent": USER_AGENT, "Authorization": f"Bearer {self._token}"}
        try:
            response = self._transport.send(method, self._base + path, body, {**headers, **more}, self._timeout)
        except OSError as error:
            raise Unreachable(
                f"the server at {self._base} cannot be reached ({describe(error)}). Check the address and the network, "
                "then try again"
            ) from None
        if response.status == 200 and response.media_type == "application/json" and len(response.body) < MOST_BYTES:
            return response.body
        raise _refused(response, self._base)


class _Shared(msgspec.Struct):
    """What a shared link is for."""

    survey: str


class _Problem(msgspec.Struct):
    """What a server says of a request that it refuses."""

    type: str = ""
    title: str = ""
    detail: str = ""


def _refused(response: Response, base: str) -> ResultsError | Unreachable:
    try:
        problem = msgspec.json.decode(response.body, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem()
    if response.media_type != "application/problem+json" or not problem.type:
        return Unreachable(f"{response.summary} at {base}, which is not a result. Is this the address of a server?")
    kind = printable(problem.type.rpartition(":")[2])
    return results_error(kind, ". ".join(printable(text).rstrip(".") for text in (problem.title, problem.detail)))
