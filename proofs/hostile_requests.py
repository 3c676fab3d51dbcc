"""Requests that hypothesis makes: every route and method, with headers, paths, queries, bodies and forms as nobody
would send them.

Nothing that they ask for changes what is stored, but for links that are shared and drafts: with the rights of an admin
they publish no survey that is valid, close none that is open, and delete none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

from .hostile_bodies import DEPTHS, MARK, make_body, texts

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Target:
    """A running server, and all that its owners know about it."""

    port: int
    routes: list[tuple[str, str]]  # method and rule, such as ("GET", "/s/<survey>")
    survey: str
    closed: str  # a survey that takes no more submissions
    draft: int  # the number of a draft that is not complete
    known: list[dict[str, Any]]  # stored submissions of the open survey
    digests: list[str]  # of both
    analyst: str = field(repr=False)
    admin: str = field(repr=False)
    cookie: str = field(repr=False)  # of an admin's browser
    word: str = field(repr=False)  # what that browser's forms carry


class Request(NamedTuple):
    """A request as it is sent."""

    method: str
    path: bytes
    headers: list[tuple[str, bytes]]
    body: bytes | None

    def raw(self) -> bytes:
        lines = [f"{name}: ".encode() + value for name, value in self.headers]
        if self.body is not None:
            lines.append(b"Content-Length: %d" % len(self.body))
        head = b"\r\n".join([self.method.encode() + b" " + self.path + b" HTTP/1.1", *lines])
        return head + b"\r\n\r\n" + (self.body or b"")


METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "QUAGGA", "M-SEARCH"]
TYPES = [
    "application/json", "application/json; charset=utf-8", "application/json; charset=utf-7", "APPLICATION/JSON",
    "application/json, text/plain", "application/json;", "text/json", "text/plain", "", ";", "*/*",
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=" + "b" * 300,
    FORM, FORM + "; charset=utf-16", "multipart/form-data; boundary=b", "application/x-quagga",
]  # fmt: skip
POOLS: dict[str, list[str]] = {
    "Content-Encoding": ["identity", "gzip", "br", "deflate", "gzip, gzip", "", MARK],
    "Origin": ["null", f"https://{MARK}.example", "http://127.0.0.1", "*", "", "://", "a\tb"],
    "Accept": ["text/html", "*/*", "application/json;q=0", "text/html;q=nan", ";;;,,,", "a/b;q=1e999", "text/*;" * 99],
    "Accept-Encoding": ["gzip", "gzip;q=0", "*", "gzip;q=-1", ",,,", "br;q=inf, gzip;q=nan"],
    "Accept-Language": [MARK, "en;q=nan", ",", "-"],
    "If-None-Match": ["*", '"', 'W/"', f'"{MARK}"', "," * 500],
    "If-Modified-Since": [MARK, "Thu, 01 Jan 0000 00:00:00 GMT", "Thu, 99 Jan 99999 99:99:99 GMT", "-1"],
    "Range": ["bytes=0-0", "bytes=-1", "bytes=9-0", "bytes=" + "0-,0-," * 500, MARK],
    "X-Forwarded-For": [MARK, "203.0.113.9", "1.2.3.4, ::1", "[::1]:80", ",", "::ffff:1.2.3.4", "999.999.999.999"],
    "X-Forwarded-Proto": ["https", "http", MARK, ",", "javascript"],
    "X-Forwarded-Host": [f"{MARK}.example", "a b", ","],
    "X-Forwarded-Prefix": [f"/{MARK}", "//", "\\"],
    "Forwarded": [f"for={MARK};host=x;proto=https", "for="],
    "Sec-Fetch-Site": ["same-origin", "cross-site", "none", MARK],
    "Referer": [f"https://{MARK}.example/", "", "\\"],
    "User-Agent": [MARK, "", "x" * 8_000],
    "Cookie": ["deniable=" + MARK, "deniable", "=", ";;;", "deniable=" * 200, '"deniable"="\\777"', "a=b; " * 500],
    "Authorization": [
        "Bearer", "Bearer ", f"Bearer {MARK}", "Basic cXVhZ2dhOg==", "Basic !", MARK, "", "Bearer " + "x" * 9_000,
        'Digest a="', "bearer\ttoken",
    ],
    "Date": [MARK], "Via": [MARK], "X-Quagga": [MARK, "", "x" * 30_000], "Prefer": ["respond-async"],
    "Upgrade": ["h2c"],
    "X-HTTP-Method-Override": ["DELETE"], "Max-Forwards": ["0"], "TE": ["trailers"], "Content-Range": ["bytes 0-1/*"],
}  # fmt: skip
NAMES = sorted(POOLS)
HOSTS = ["x", "127.0.0.1", f"{MARK}.example", "a b", "[::1", "", "x:99999999", "<x>", "x\\y", "x/y", "é"]
PATHS = [
    "/", "//", "/%2f", "/%00", "/s/%00", "/s/%ff%fe", "/s/%c0%ae", "/s/..", "/s/%2e%2e/",
    "/static/..%2f..%2fetc/passwd", "/static/%2e%2e%2fapp.py", "/deniable/../deniable.js", "/deniable/....//x",
    "/s/campus-health/", "/s/campus-health%20", "/S/campus-health", "/s/campus-health;x=1", "/s/campus-health%3fx",
    "/s/campus-health#x", "/api/v1/surveys/", "/api/v1/surveys//submissions", "/api/v2/surveys", "/s/%", "/s/%zz",
    "/api/v1/surveys/campus-health/submissions/",
    "/s/" + "a" * 60_000, "/" * 3_000, "/s/" + "%41" * 3_000, "/.git/config", "/.env", "/wp-login.php", "*", "http://x/s/a",
    "/metrics/..;/", "/shared/", f"/shared/{MARK}", "/shared/%00", "/surveys/%F0%9F%98%80/share", "/s/\u00e9\U0001f600",
]  # fmt: skip
QUERY = {
    "confidence": ["0.95", "0.5", "0.9999", "nan", "inf", "-1", "1e-300", "0", "1", "0,95", "９", "1" * 5_000],
    "where": ["campus:north", "campus:south", "campus:", ":", "campus:north:x", MARK, "campus:north" * 500],
    "by": ["campus", "vaped", MARK, ""],
    "simultaneous": ["1", "0", "true", "2", MARK],
    "target": ["respondents", "population", MARK],
    "population": ["301", "1", "0", "-1", "1e9", "999999999999", "9" * 5_000, "٣", "1.5"],
    "weight": [
        "campus:north:0.5", "campus:south:0.5", "campus:north:1", "campus:south:0", "campus:north:nan",
        "campus:north:inf", "campus:north:1e308", "campus:north:-1", "campus::", "::::",
        f"{MARK}:{MARK}:1", "campus:south:1e-320",
    ],
    "weight:campus:north": ["0,5", "1", "nan", MARK], "weight:campus:south": ["0,5", "0", ":"],
    "distribution": ["1", "0", MARK],
    "question": ["vaped", "harassed", "substance", "support", "stress", "wellbeing", "drinks", "debt", "campus", MARK],
    "with": ["campus-health", "closed-survey", MARK, ""],
    "rows": ["vaped", "substance", "harassed", "support", "campus", "drinks", "debt", MARK],
    "columns": ["stress", "vaped", "campus", "wellbeing", "substance", MARK],
    "answer": ["yes", "no", "cannabis", "declined", "3", MARK], "on": ["campus", "vaped", MARK],
    "next": ["/surveys/campus-health", "//x", "/\\x", "javascript:x", "/\x00", "/" + "x" * 4_000, "https://x"],
    MARK: [MARK], "level": ["0.95"], "": [""],
}  # fmt: skip
FORMS: dict[str, list[str]] = {
    "token": [MARK, "", "\x00", "x" * 9_000, "é" * 43],
    "next": QUERY["next"],
    "days": ["1", "7", "-1", "0", "nan", "9" * 5_000, MARK],
    "label": [MARK, "", "\x00\x01", "x" * 3_000, "<b>"],
    "step": ["edit", "", "check", MARK],
    "start": ["file", "file", "empty", "workplace", "", MARK],
    "version": ["1", "0", "-1", "nan", "9" * 5_000, "", MARK],
    "draw": ["1", "0", MARK],
    # No text of its own in a change that can be made: what an editor writes is kept, and shall be.
    "changes": [
        "[]", "", "{", MARK, "null", "[1]", "[" * DEPTHS[1], '[{"id":"1"}]', '[{"id":"1","op":"quagga"}]',
        '[{"id":"1","op":"set","at":"quagga","value":1,"was":""}]', '[{"id":"2","op":"add","type":"quagga"}]',
        '[{"id":"3","op":"add","type":"choice"},{"id":"4","op":"add","type":"segment"}]',
        '[{"id":"5","op":"set","at":"title:en","value":{"a":[null]},"was":""}]',
        '[{"id":"6","op":"set","at":"epsilon","value":"nan","was":"2"}]',
        '[{"id":"7","op":"move","key":"x","place":-1e308}]', '[{"id":"8","op":"pair","keys":["a","a","a"]}]',
        '[{"id":"9","op":"set","at":"title:en","value":"\\ud800","was":""}]',
        '[{"id":"10","op":"restore","key":"\\u0000"}]',
    ],
    "text": [
        "", MARK, "{", "[" * 5_000, '{"id":' * DEPTHS[1], 'id = "quagga-x"\n' * 3, "a = " + "[" * 3_000, "a.b" * 3_000,
        "id = 1979-05-27\n", "x = 1e999\n", "x = nan\n", 'id = "\\ud800"\n', "\x00", "\ufeff", '{"id": "quagga"}', "{}",
    ],
    MARK: [MARK],
}  # fmt: skip

# Strategies are made once: making one for each request would take longer than all the rest.
seeds = st.integers(0, 2**64 - 1)


@st.composite
def requests(draw: st.DrawFn, target: Target) -> Request:
    """Any of them. Hypothesis makes the bodies and the texts; where they go is chosen by chance, which is quicker."""
    chance = Random(draw(seeds))
    make = chance.choice([_submission] * 4 + [_route] * 2 + [_query, _form, _path])
    return make(draw, chance, target)


def _headers(chance: Random) -> list[tuple[str, bytes]]:
    sent = []
    for name in chance.choices(NAMES, k=chance.randrange(6)):
        value = chance.choice(POOLS[name]).encode("latin-1", "replace")
        if chance.randrange(4) == 0:
            value = bytes(byte for byte in chance.randbytes(30) if byte >= 32 and byte != 127)
        sent.append((name, value))
    return sent


def _submission(draw: st.DrawFn, chance: Random, target: Target) -> Request:
    """To the interface that takes submissions, or surveys."""
    where = chance.choice([target.survey] * 6 + [target.closed, MARK, ""])
    path = f"/api/v1/surveys/{where}/submissions" if where else "/api/v1/surveys"
    sent = _headers(chance) if chance.randrange(4) == 0 else []
    if not where:
        sent.append(("Authorization", f"Bearer {target.admin}".encode()))
    kind = chance.choice(["application/json"] * 60 + TYPES)
    lines = [("Host", b"x"), ("Content-Type", kind.encode()), *sent]
    return Request("POST", path.encode(), lines, make_body(draw, chance, target.known, target.digests))


def _route(draw: st.DrawFn, chance: Random, target: Target) -> Request:
    """Every route, with its own method or another, by anybody."""
    allowed, rule = chance.choice(target.routes)
    method = chance.choice([allowed] * 12 + METHODS)
    who = chance.choice(["nobody", "analyst", "admin" if method != "DELETE" else "nobody", "browser"])
    sent = _headers(chance)
    if who in ("analyst", "admin"):
        sent.append(("Authorization", f"Bearer {getattr(target, who)}".encode()))
    elif who == "browser" and _keeps_session(rule):
        sent.append(("Cookie", f"deniable={target.cookie}".encode()))
    path = _filled(chance, rule, target, changes=method == "POST")
    if chance.random() < 0.5:
        path += "?" + _asked(draw, chance)
    body = chance.choice([None, chance.randbytes(chance.randrange(60)), MARK.encode() * 40])
    if body is not None:
        sent.append(("Content-Type", chance.choice(TYPES).encode()))
    return Request(method, path.encode(), [("Host", chance.choice(["x"] * 40 + HOSTS).encode()), *sent], body)


def _keeps_session(rule: str) -> bool:
    """Whether the session of the admin outlasts a form that is sent here."""
    return rule.startswith(("/surveys/", "/drafts/", "/s/", "/api/"))


def _filled(chance: Random, rule: str, target: Target, *, changes: bool) -> str:
    """The rule with its parameters: an open survey only where nothing could change it, and no draft that is deleted."""
    open_one = [] if changes and "submissions" not in rule else [target.survey] * 4
    parts = []
    for part in rule.split("/"):
        if part == "<survey>":
            part = chance.choice([*open_one, target.closed, target.closed, MARK, "a", "A" * 64, "é", "'--"])
        elif part.startswith("<int:"):
            own = [] if changes and rule.endswith("/delete") else [str(target.draft)] * 4
            part = chance.choice([*own, "0", "-1", "9" * 19, "9" * 5_000, "٣", MARK])
        elif part.startswith("<"):
            part = chance.choice([MARK, "style.css", "dashboard.js", "protocol.js", "\x00", "..", "x" * 500])
        parts.append(quote(part, safe=".'"))
    return "/".join(parts)


def _pairs(draw: st.DrawFn, chance: Random, pool: dict[str, list[str]]) -> list[tuple[str, str]]:
    names = chance.choices(sorted(pool), k=chance.randrange(7))
    return [(name, draw(texts) if chance.randrange(5) == 0 else chance.choice(pool[name])) for name in names]


def _asked(draw: st.DrawFn, chance: Random) -> str:
    """What analysts could ask for, and what nobody would."""
    text = urlencode(_pairs(draw, chance, QUERY), errors="surrogatepass")
    return text + chance.choice([""] * 30 + ["&&&", "=%", "%zz", "&=&", ";;", "%00", "&+"])


def _query(draw: st.DrawFn, chance: Random, target: Target) -> Request:
    """Questions about results, by somebody who may ask."""
    rule = chance.choice([rule for method, rule in target.routes if method == "GET" and "/surveys/<survey>" in rule])
    survey = chance.choice([target.survey] * 5 + [target.closed])
    path = f"{rule.replace('<survey>', survey)}?{_asked(draw, chance)}"
    if rule.startswith("/api/"):
        who = ("Authorization", f"Bearer {target.analyst}".encode())
    else:
        who = ("Cookie", f"deniable={target.cookie}".encode())
    return Request(chance.choice(["GET"] * 8 + ["HEAD"]), path.encode(), [("Host", b"x"), who], None)


def _form(draw: st.DrawFn, chance: Random, target: Target) -> Request:
    """Forms as browsers send them, and as they would not."""
    rule = chance.choice([rule for method, rule in target.routes if method == "POST" and not rule.startswith("/api/")])
    path = _filled(chance, rule, target, changes=True)
    pairs = _pairs(draw, chance, FORMS)
    # What an owner calls a link is kept, and shall be: it is no trace of a hostile request.
    pairs = [(name, value.replace(MARK, "") if name == "label" else value) for name, value in pairs]
    lines = [("Host", b"x"), ("Sec-Fetch-Site", b"same-origin")]
    if _keeps_session(rule) and chance.randrange(5):
        lines.append(("Cookie", f"deniable={target.cookie}".encode()))
        pairs.append(("word", target.word))
    if chance.randrange(4):
        kind, body = FORM, urlencode(pairs, errors="surrogatepass").encode()
    else:
        kind, body = _multipart(chance, pairs)
    if chance.randrange(6) == 0:
        body = body[: chance.randint(0, len(body))] + chance.randbytes(chance.randrange(9))
    return Request("POST", path.encode(), [*lines, ("Content-Type", kind.encode())], body)


def _multipart(chance: Random, pairs: list[tuple[str, str]]) -> tuple[str, bytes]:
    boundary = chance.choice(["b", "-" * 60, "b\tb", ""])
    parts = []
    for name, value in pairs:
        file = chance.choice(["", '; filename="x.toml"', "; filename*=utf-8''%ff", '; filename="'])
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
        parts.append(f"{head}{value}\r\n".encode(errors="surrogatepass"))
    return f"multipart/form-data; boundary={boundary}", b"".join([*parts, f"--{boundary}--\r\n".encode()])


def _path(draw: st.DrawFn, chance: Random, target: Target) -> Request:
    """Addresses that nothing has, or that are written oddly."""
    path = chance.choice(
        [
            chance.choice(PATHS).encode(),
            b"/" + quote(chance.randbytes(chance.randrange(30))).encode(),
            b"/s/" + quote(draw(texts), errors="surrogatepass").encode(),
            (chance.choice(target.routes)[1].replace("/", "/./") + "/..").encode(),
        ]
    )
    return Request(chance.choice(["GET"] * 24 + METHODS), path, [("Host", b"x"), *_headers(chance)], None)
