"""What a proxy in front would write down about respondents, read from its configuration: nginx and Caddy.

May not: follow includes, or take what it cannot read for clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class Verdict(NamedTuple):
    """On one kind of log."""

    check: Literal["access log", "error log"]
    state: Literal["ok", "warning", "problem"]
    message: str


@dataclass
class Block:
    """A directive, its arguments, and what stands in its braces."""

    words: list[str]
    parts: list[Block] = field(default_factory=list)
    around: Block | None = None

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""

    def all(self) -> Iterator[Block]:
        """Itself, and all within."""
        yield self
        for part in self.parts:
            yield from part.all()

    def named(self, name: str) -> list[Block]:
        return [part for part in self.parts if part.name == name]

    def nearest(self, name: str) -> list[Block]:
        """The directives of this name that hold here: of this block, or of the nearest around it that has any."""
        return self.named(name) or (self.around.nearest(name) if self.around is not None else [])


def judge(text: str) -> list[Verdict]:
    """On the access log and the error log of whichever proxy this file configures."""
    caddy = _read(text, _CADDY)
    if any(block.name == "reverse_proxy" for block in caddy.all()):
        return [_caddy_access(caddy), _caddy_errors(caddy)]
    nginx = _read(text, _NGINX)
    passing = [block for block in nginx.all() if any(part.name in _PASSES for part in block.parts)]
    if passing:
        return [_nginx_access(passing), _nginx_errors(passing)]
    return [Verdict("access log", "warning", "no proxy of nginx or Caddy is described there")]


# --- reading ---------------------------------------------------------------------------------------------------------

_NGINX = re.compile(r"""(?P<note>\#[^\n]*)|(?P<end>;)|(?P<word>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s{};]+)|[{}]""")
# A brace that stands for itself has white space around it; {$NAME} and {host} are words. A line ends a directive.
_CADDY = re.compile(
    r"(?P<note>(?<!\S)\#[^\n]*)|(?P<end>\n)|[{}](?!\S)"
    r'|(?P<word>"(?:\\.|[^"\\])*"|`[^`]*`|\{\$[^}]*\}\S*|[^\s"`]\S*)'
)


def _read(text: str, grammar: re.Pattern[str]) -> Block:
    """The tree of a file, as far as it can be read: what is not closed is closed at the end."""
    top = here = Block([])
    words: list[str] = []
    for token in grammar.finditer(text):
        if token["note"]:
            continue
        if token["word"]:
            words.append(token["word"])
            continue
        # Only an opening brace may follow nothing: Caddy's block of global options.
        if words or token[0] == "{":
            block = Block(words, around=here)
            here.parts.append(block)
            words = []
            if token[0] == "{":
                here = block
        if token[0] == "}" and here.around is not None:
            here = here.around
    if words:
        here.parts.append(Block(words, around=here))
    return top


# --- nginx -----------------------------------------------------------------------------------------------------------

_PASSES = {"proxy_pass", "uwsgi_pass", "fastcgi_pass", "scgi_pass", "grpc_pass"}


def _nginx_access(passing: list[Block]) -> Verdict:
    """It logs every request unless told ``access_log off``."""
    for block in passing:
        logs = block.nearest("access_log")
        if not logs or any(log.words[1:2] != ["off"] for log in logs):
            return Verdict("access log", "problem", "nginx logs requests; say  access_log off;  in each server")
    return Verdict("access log", "ok", "access_log off wherever requests are passed on")


def _nginx_errors(passing: list[Block]) -> Verdict:
    """Its error log quotes address and request: a failed server at ``error``, a failed handshake at ``crit``, want of
    connections at ``alert``.
    """
    for block in passing:
        logs = block.nearest("error_log")
        if not logs or any(log.words[1:2] != ["/dev/null"] and log.words[2:3] != ["emerg"] for log in logs):
            message = "nginx notes who asked when something fails; say  error_log stderr emerg;"
            return Verdict("error log", "warning", message)
    return Verdict("error log", "ok", "notes nobody")


# --- Caddy -----------------------------------------------------------------------------------------------------------

_TELLING = frozenset(
    {"http", "http.log", "http.log.error", "http.stdlib", "http.handlers", "http.handlers.reverse_proxy"}
)


def _caddy_access(top: Block) -> Verdict:
    """It logs no requests unless a site says ``log``; among the global options, that word is about its own log."""
    sites = [part for part in top.parts if part.words]
    if any(block.name == "log" for site in sites for block in site.all()):
        return Verdict("access log", "problem", "Caddy's log directive notes who asked; remove it from the site")
    return Verdict("access log", "ok", "no access log")


def _caddy_errors(top: Block) -> Verdict:
    """Its own log, unless it is limited, has an entry with address, path and headers for every request that fails."""
    options = [part for block in top.parts if not block.words for part in block.parts]
    logs = [part for part in options if part.name == "log"]
    is_default = [log.words[1:] in ([], ["default"]) for log in logs]
    if any(is_default) and all(_is_discreet(log) for log in logs) and not any(part.name == "debug" for part in options):
        return Verdict("error log", "ok", "notes nobody")
    message = (
        "Caddy notes who asked when a server is away; among the global options, say  log { exclude http.log.error }"
    )
    return Verdict("error log", "warning", message)


def _is_discreet(log: Block) -> bool:
    def said(name: str) -> set[str]:
        return {word for part in log.named(name) for word in part.words[1:]}

    if "discard" in said("output"):
        return True
    if {level.upper() for level in said("level")} & {"DEBUG"}:
        return False
    if included := said("include"):
        return not any(name in _TELLING or name.startswith("http.log.") for name in included)
    return bool(said("exclude") & {"http", "http.log", "http.log.error"})
