"""Whether a server serves what this version of Deniable serves: a survey, its page, and every file that pages load.

The same requests go to the server and to this version, which runs in this process with the document that the server
sent. So whatever differs is the server's doing. Only its logo is taken as it comes, if it is a picture.

May not: ask another host, follow a redirect, or send anything but these requests.
"""

from __future__ import annotations

import re
import secrets
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from deniable import __version__
from deniable.address import Address
from deniable.transport import Response, Transport, describe, printable
from deniable_protocol import Document, DocumentError, verify
from deniable_protocol.document import MAX_BYTES
from deniable_server.app import create_app
from deniable_server.errors import CannotCompare, SettingError
from deniable_server.settings import SETTINGS, Settings
from deniable_server.storage import open_storage
from deniable_server.web.logo import FORMATS, Logo, parse_logo
from deniable_server.web.static import addresses

Part = Literal["survey", "page", "program", "files", "headers", "logo"]
Ask: TypeAlias = Callable[[str], Response]

LOGO = "/logo"

# As a browser sends them, so that the server has less by which to know this check from a visitor.
_REQUEST = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip",
}
_ACCEPT_PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

PAGE_HEADERS = {
    "Content-Security-Policy": "With it, browsers run only scripts of this server, and send answers nowhere else.",
    "Content-Type": "It says how browsers read the page.",
    "X-Content-Type-Options": "With it, browsers do not guess types.",
    "Referrer-Policy": "With it, browsers do not tell other sites which survey was open.",
    "Cross-Origin-Opener-Policy": "With it, the page that opened this one cannot reach into it.",
}
FILE_HEADERS = {name: PAGE_HEADERS[name] for name in ("Content-Type", "X-Content-Type-Options")}
UNWANTED_HEADERS = {
    "Set-Cookie": "By a cookie, a server can recognise a visitor.",
    "Link": "It can make browsers load other files.",
    "Refresh": "It can lead browsers elsewhere.",
    "NEL": "It has browsers report visits.",
    "Report-To": "It has browsers report visits.",
    "Reporting-Endpoints": "It has browsers report visits.",
    "Content-Security-Policy-Report-Only": "It can have browsers report what a page loads.",
}
"""Deniable sends none of these to respondents."""


class Finding(NamedTuple):
    """What was found about one thing. ``name`` is a path, a header, or what else was checked."""

    part: Part
    name: str
    state: Literal["same", "different", "not compared"]
    message: str


@dataclass(frozen=True)
class Comparison:
    """What was found at a server. ``document`` is None where no client would accept what it serves."""

    version: str
    digest_pinned: bool
    document: Document | None
    logo: Logo | None
    findings: list[Finding]

    @property
    def passed(self) -> bool:
        return all(finding.state == "same" for finding in self.findings)

    def of(self, part: Part) -> list[Finding]:
        return [finding for finding in self.findings if finding.part == part]


def compare_server(address: Address, transport: Transport, timeout: float) -> Comparison:
    """Everything that a respondent's browser gets for this survey, compared with this version; ``timeout`` is for each
    request. CannotCompare where the server cannot be reached, or has no such survey.
    """
    base = address.url.removesuffix(f"/api/v1/surveys/{address.survey}")
    theirs = _server(transport, base, timeout)
    published = theirs(f"/api/v1/surveys/{address.survey}")
    if published.status != 200:
        raise CannotCompare(_no_survey(published, address))
    document, findings = _check_document(published.body, address)
    logo, about_logo = _check_logo(theirs(LOGO))
    closed = published.header("Deniable-Status") == "closed"
    with _this_version(base, published.body if document else None, closed, logo) as ours:
        findings += _check_page(f"/s/{address.survey}", document, ours, theirs)
        for path in [*addresses(), *([LOGO] if logo else [])]:
            findings += _check_file(path, ours(path), theirs(path))
    return Comparison(__version__, address.digest is not None, document, logo, findings + about_logo)


def _no_survey(response: Response, address: Address) -> str:
    if response.status == 404:
        return f"The server has no survey with the id {address.survey}, or it is not a Deniable server."
    if 300 <= response.status < 400:
        target = printable(response.header("Location")) or "nowhere"
        return f"The server sends visitors elsewhere ({target}). Give the link that it leads to."
    return f"The server cannot show the survey: {response.summary}. Try again later."


# --- the two sides ---------------------------------------------------------------------------------------------------


def _server(transport: Transport, base: str, timeout: float) -> Ask:
    def ask(path: str) -> Response:
        try:
            return _plain(transport.send("GET", base + path, None, _headers(path), timeout))
        except OSError as error:
            raise CannotCompare(f"The server cannot be reached ({describe(error)}).") from None

    return ask


@contextmanager
def _this_version(base: str, published: bytes | None, closed: bool, logo: Logo | None) -> Iterator[Ask]:
    """What this version answers under the same address, with only this survey, in a database that is then removed."""
    try:
        base_path = SETTINGS["base_path"].read(urlsplit(base).path)
    except SettingError:
        raise CannotCompare("Deniable cannot be served under such a path: the link has other characters.") from None
    with tempfile.TemporaryDirectory(prefix="deniable-verify-") as folder:
        picture = Path(folder, "logo")
        if logo is not None:
            picture.write_bytes(logo.content)
        settings = Settings(
            database=str(Path(folder, "expected.db")),
            secret_key=secrets.token_hex(32),
            base_path=base_path,
            logo=str(picture) if logo else "",
        )
        storage = open_storage(settings.database)
        try:
            if published is not None:
                storage.publish(published)
            for survey in storage.surveys() if closed else ():
                if found := storage.find(survey.id):
                    storage.close_survey(found)
            http = create_app(settings, storage).test_client()

            def ask(path: str) -> Response:
                got = http.get(base + path, headers=_headers(path))
                return _plain(Response(got.status_code, dict(got.headers), got.data))

            yield ask
        finally:
            storage.close()


def _headers(path: str) -> dict[str, str]:
    return {**_REQUEST, "Accept": _ACCEPT_PAGE if path.startswith("/s/") else "*/*"}


def _plain(response: Response) -> Response:
    """The response as a browser sees it, uncompressed: no more of it than can be right."""
    if response.header("Content-Encoding").lower() != "gzip":
        return response
    try:
        body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(response.body, MAX_BYTES + 1)
    except zlib.error:
        body = response.body
    return Response(response.status, response.headers, body)


# --- comparisons -----------------------------------------------------------------------------------------------------


def _check_document(raw: bytes, address: Address) -> tuple[Document | None, list[Finding]]:
    """The document, if it is one that a client would accept, and what was found."""
    try:
        document = verify(raw)
    except DocumentError as error:
        reasons = "; ".join(printable(str(problem)) for problem in error.problems[:3])
        return None, [Finding("survey", "document", "different", f"No client accepts it: {reasons}")]
    if document.survey.id != address.survey:
        text = f"It is of another survey, {document.survey.id}."
        return None, [Finding("survey", "document", "different", text)]
    findings = [Finding("survey", "document", "same", "A client accepts it: every booklet keeps the stated limit.")]
    if address.digest is not None:
        same = address.digest == document.digest
        text = (
            "It is the one that the link pins." if same else f"The link pins another: this one has {document.digest}."
        )
        findings.append(Finding("survey", "digest", "same" if same else "different", text))
    return document, findings


def _check_logo(response: Response) -> tuple[Logo | None, list[Finding]]:
    if response.status == 404:
        return None, []
    logo = parse_logo(response.body) if response.status == 200 else None
    if logo is None:
        return None, [Finding("logo", LOGO, "different", f"It is not {FORMATS}: {response.summary}.")]
    return logo, []


def _check_page(path: str, document: Document | None, ours: Ask, theirs: Ask) -> Iterator[Finding]:
    if document is None:
        yield Finding("page", path, "not compared", "This version shows no page for such a document.")
        return
    expected, sent = ours(path), theirs(path)
    yield _check_body("page", path, expected, sent, _explain_page)
    yield from _check_headers(path, expected, sent, PAGE_HEADERS)


def _check_file(path: str, expected: Response, sent: Response) -> Iterator[Finding]:
    part: Part = "logo" if path == LOGO else "files" if path.startswith("/static/") else "program"
    yield _check_body(part, path, expected, sent, _explain_bytes)
    if sent.status == expected.status:
        yield from _check_headers(path, expected, sent, FILE_HEADERS)


def _check_body(
    part: Part, path: str, expected: Response, sent: Response, explain: Callable[[bytes, bytes], str]
) -> Finding:
    if sent.status != expected.status:
        text = "It is missing." if sent.status == 404 else f"It cannot be loaded: {sent.summary}."
        return Finding(part, path, "different", text)
    if sent.body != expected.body:
        return Finding(part, path, "different", explain(expected.body, sent.body))
    return Finding(part, path, "same", f"{len(sent.body):,} bytes, all the same.")


def _check_headers(path: str, expected: Response, sent: Response, checked: dict[str, str]) -> Iterator[Finding]:
    for name, purpose in checked.items():
        wanted, found = expected.header(name), sent.header(name)
        if _normal(wanted) == _normal(found):
            yield Finding("headers", f"{name} of {path}", "same", found)
        else:
            how = f'is "{printable(found)}", not "{wanted}"' if found else f'is missing: "{wanted}"'
            yield Finding("headers", f"{name} of {path}", "different", f"It {how}. {purpose}")
    for name, danger in UNWANTED_HEADERS.items():
        if found := sent.header(name):
            text = f'Deniable does not send it: "{printable(found)}". {danger}'
            yield Finding("headers", f"{name} of {path}", "different", text)


def _normal(header: str) -> str:
    """Proxies write spaces and capitals in their own way, and browsers do not mind."""
    return "".join(header.lower().split())


def _explain_bytes(expected: bytes, sent: bytes) -> str:
    if len(sent) > MAX_BYTES:
        return f"It has more than {MAX_BYTES:,} bytes, instead of {len(expected):,}."
    pairs = zip(expected, sent, strict=False)
    first = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(expected), len(sent)))
    return f"It has {len(sent):,} bytes instead of {len(expected):,}, and differs from byte {first + 1:,} on."


def _explain_page(expected: bytes, sent: bytes) -> str:
    ours, theirs = (page.decode(errors="replace") for page in (expected, sent))
    pairs = zip(ours.splitlines(), theirs.splitlines(), strict=False)
    same = next((i for i, (line, other) in enumerate(pairs) if line != other), None)
    text = _explain_bytes(expected, sent)
    if same is not None:
        text += f" The first line that differs is line {same + 1}."
    added, removed = _scripts(theirs) - _scripts(ours), _scripts(ours) - _scripts(theirs)
    if added:
        text += f" It has scripts that Deniable does not have there: {', '.join(map(printable, [*added][:3]))}."
    if removed:
        text += f" It lacks scripts: {', '.join(map(printable, [*removed][:3]))}."
    return text


def _scripts(page: str) -> Counter[str]:
    return Counter(re.findall(r"<script[^>]{0,200}>?", page, flags=re.IGNORECASE))
