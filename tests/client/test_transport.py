"""Transports: HTTP that keeps its deadline and says nothing of who is asking, and WSGI without sockets."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trustme

import deniable
import deniable.delivery
from deniable import HTTPTransport, Response, WSGITransport
from tests.helpers.fake_server import ANSWERS, DOCUMENT, JSON, SEGMENTS, FakeServer, delivery_threads

HEADERS = {"Accept": "application/json", "User-Agent": "deniable"}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def get(url: str, timeout: float = 5.0) -> Response:
    return HTTPTransport().send("GET", url, None, HEADERS, timeout)


@contextmanager
def raw_server(*chunks: bytes, pause: float = 0.0, read: bool = True) -> Iterator[str]:
    """A server that takes one connection, sends these bytes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                try:
                    if read:
                        connection.recv(65536)
                    for chunk in chunks:
                        connection.sendall(chunk)
                        time.sleep(pause)
                except OSError:
                    pass  # the client has had enough

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


# HTTP


def test_http_sends_what_it_is_given_and_no_more(server: FakeServer) -> None:
    """A request has the path, the body, our three headers and what HTTP needs: nothing that distinguishes devices."""
    with deniable.Client(server.link) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    fetched, posted = server.requests
    needed = {"Host", "Connection", "Accept-Encoding"}
    assert set(fetched.headers) == {"Accept", "User-Agent"} | needed
    assert set(posted.headers) == {"Accept", "User-Agent", "Content-Type", "Content-Length"} | needed
    assert (posted.method, posted.path) == ("POST", "/api/v1/surveys/campus-health/submissions")
    assert posted.headers["User-Agent"] == "deniable" and posted.headers["Content-Type"] == "application/json"
    HTTPTransport().send("GET", server.origin, None, {}, 5)
    assert set(server.requests[-1].headers) == needed


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 407, 500])
def test_every_status_is_a_response(server: FakeServer, status: int) -> None:
    """The transport returns every status without judging it; headers are found in any case."""
    server.replies = [(status, {"x-thing": "1", "Content-Type": "Text/HTML; a=b"}, b"")]
    response = get(server.origin)
    assert (response.status, response.header("X-Thing"), response.media_type) == (status, "1", "text/html")
    assert response.header("absent") == ""


def test_redirects_are_not_followed(server: FakeServer) -> None:
    """Not even to the survey: a redirect could lead anywhere, and is what captive portals do."""
    server.replies = [(302, {"Location": f"{server.origin}/api/v1/surveys/campus-health", "Set-Cookie": "a=b"}, b"")]
    with pytest.raises(deniable.Unreachable, match="302"):
        deniable.Client(server.link)
    assert len(server.requests) == 1


def test_cookies_are_not_kept(server: FakeServer) -> None:
    """A cookie set with the document does not come back with the submission."""
    server.replies = [(200, JSON | {"Set-Cookie": "respondent=17; Path=/"}, DOCUMENT)]
    with deniable.Client(server.link) as client:
        client.submit(ANSWERS, SEGMENTS)
    assert all("Cookie" not in request.headers for request in server.requests)


def test_a_long_response_is_cut_at_the_cap(server: FakeServer) -> None:
    """A response that is too large is cut off, so no server can fill this device's memory."""
    server.replies = [(200, JSON, b"x" * 3_000_000)]
    assert len(get(server.origin).body) == 1_000_001


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"],
        [b"SSH-2.0-OpenSSH_9.2\r\n"],
        [b"HTTP/1.1 banana\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000],
    ],
)
def test_half_a_response_is_no_response(chunks: list[bytes]) -> None:
    """Cut short, malformed, or not HTTP at all: an OSError, which means trying again."""
    with raw_server(*chunks) as url, pytest.raises(OSError, match=r"."):
        get(url)


def test_whole_responses_of_every_framing_are_read() -> None:
    """With a length, in chunks, or up to the end of the connection; in one packet or byte by byte."""
    for text in (
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nbody",
    ):
        for chunks in ([text], [bytes([byte]) for byte in text]):
            with raw_server(*chunks) as url:
                assert get(url).body == b"body"


@pytest.mark.parametrize("start", ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n"])
def test_a_trickle_does_not_stretch_the_timeout(start: str) -> None:
    """One byte every now and then keeps any single read alive; the request as a whole still ends in time."""
    with raw_server(start.encode(), *[b"1"] * 12, pause=0.1) as url:
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            get(url, timeout=0.4)
        assert time.monotonic() - started < 1


def test_nobody_listening_is_an_oserror() -> None:
    """A closed port, a name that does not exist, and one that cannot be a name."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for host in (f"127.0.0.1:{port}", "nowhere.invalid", "a" * 70 + ".invalid", "a..b"):
        with pytest.raises(OSError, match=r"."):
            get(f"http://{host}/")


def test_tls_is_checked_and_can_be_cut_off() -> None:
    """A server that does not speak TLS is an OSError; one that says nothing keeps no thread past the deadline."""
    with raw_server(b"HTTP/1.1 400 Bad\r\n\r\n") as url, pytest.raises(OSError, match=r"."):
        get(url.replace("http:", "https:"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(TimeoutError):
            raise_cause(lambda: get(f"https://127.0.0.1:{silent.getsockname()[1]}/", timeout=0.2))
        transport = HTTPTransport()
        raised: list[BaseException] = []

        def send() -> None:
            try:
                transport.send("GET", f"https://127.0.0.1:{silent.getsockname()[1]}/", None, HEADERS, 30)
            except OSError as error:
                raised.append(error)

        thread = threading.Thread(target=send)
        thread.start()
        deadline = time.monotonic() + 5
        while thread.is_alive() and time.monotonic() < deadline:
            assert thread.ident is not None
            transport.abort(thread.ident)
            thread.join(0.05)
        assert not thread.is_alive() and len(raised) == 1


def test_a_survey_over_tls() -> None:
    """With a context that trusts the server's certificate everything works over TLS; without one, nothing is sent."""
    authority, serving, trusting = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    authority.configure_trust(trusting)
    with FakeServer(tls=serving) as server:
        with pytest.raises(deniable.Unreachable, match="certificate"):
            deniable.Client(server.link)
        assert server.requests == []
        transport = HTTPTransport(context=trusting)
        with deniable.Client(server.link, transport=transport) as client:
            assert client.submit(ANSWERS, SEGMENTS).delivered
        server.hold = threading.Event()
        with deniable.Client(server.link, transport=transport, timeout=30) as client:
            client.submit(ANSWERS, SEGMENTS, timeout=0)
            server.wait_for_posts(2)
            client.close(0)  # cuts off a TLS connection too
        assert delivery_threads() == []


def raise_cause(call: Any) -> None:
    try:
        call()
    except OSError as error:
        raise getattr(error, "reason", error) from None


def test_aborting_nothing_is_nothing() -> None:
    """abort() does nothing if no request is under way any more."""
    HTTPTransport().abort(threading.get_ident())


def test_the_proxies_of_the_environment_are_used(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy the whole address is asked of it, and the survey arrives."""
    monkeypatch.setenv("http_proxy", server.origin)
    with deniable.Client("http://survey.invalid/s/campus-health", insecure=True) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert [request.path for request in server.requests] == [
        "http://survey.invalid/api/v1/surveys/campus-health",
        "http://survey.invalid/api/v1/surveys/campus-health/submissions",
    ]


def test_a_cut_confirmation_is_sent_for_again(server: FakeServer) -> None:
    """Over a real socket: half of a 201, then all of it, with the same bytes both times."""
    server.replies = [
        (200, JSON, DOCUMENT),
        (201, JSON | {"Content-Length": "99"}, b'{"accepted": 1, "duplicates": 0}'),
        (201, JSON, b'{"accepted": 1, "dupl'),
    ]
    with deniable.Client(server.link) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert len(server.posts) == 3 and len(set(server.posts)) == 1


# WSGI


def test_a_wsgi_app_is_a_server_without_sockets() -> None:
    """Load, submit and deliver against an app in this process; the app sees a complete request."""
    app = FakeServer()
    with deniable.Client("https://survey.test:8443/base/s/campus-health", transport=WSGITransport(app)) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    posted = app.requests[1]
    assert posted.path == "/base/api/v1/surveys/campus-health/submissions"
    seen = {key: posted.headers[key] for key in ("REQUEST_METHOD", "HTTP_HOST", "SERVER_PORT", "wsgi.url_scheme")}
    assert seen == {
        "REQUEST_METHOD": "POST",
        "HTTP_HOST": "survey.test:8443",
        "SERVER_PORT": "8443",
        "wsgi.url_scheme": "https",
    }
    assert posted.headers["CONTENT_TYPE"] == "application/json" and posted.headers["HTTP_USER_AGENT"] == "deniable"
    assert posted.headers["CONTENT_LENGTH"] == str(len(posted.body))


def test_every_way_of_a_wsgi_app_to_answer() -> None:
    """Written, yielded, started late, and closed at the end, as PEP 3333 allows."""
    closed = []

    class App:
        def __init__(self, environ: dict[str, Any], start_response: Any) -> None:
            self.start_response = start_response

        def __iter__(self) -> Iterator[bytes]:
            write = self.start_response("201 Created", [("X-A", "1")])
            write(b"written ")
            yield b"yielded"

        def close(self) -> None:
            closed.append(True)

    assert WSGITransport(App).send("GET", "http://h/", None, {}, 1) == Response(201, {"X-A": "1"}, b"written yielded")
    assert closed == [True]


def test_an_app_that_never_starts_its_response_is_trouble() -> None:
    """An app that never starts its response is an OSError, as it would be behind a real server."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return []

    with pytest.raises(OSError, match="start_response"):
        WSGITransport(app).send("GET", "http://h/", None, {}, 1)


def test_wsgi_apps_pass_the_standard_librarys_validator() -> None:
    """The request that an app gets is one that wsgiref accepts."""
    from wsgiref.validate import validator

    app = FakeServer()

    def checked(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return validator(app)(environ, start_response)  # type: ignore[no-any-return]

    with deniable.Client("https://survey.test/s/campus-health", transport=WSGITransport(checked)) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
