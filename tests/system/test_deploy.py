"""The files in ``deploy/``, run unchanged: real proxies before real servers; nothing they write reveals who asked."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from deniable_server.settings import Settings
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from proofs.parcels import Maker, published
from tests.helpers.machine import ROOT, missing
from tests.helpers.postgres import cluster
from tests.helpers.proxies import CANARY, CLIENT, DEPLOY, Proxy, caddy, nginx, read_reply
from tests.helpers.servers import Server, let_collect

PROXIES = {"nginx": nginx, "caddy": caddy}
SURVEY = f"survey-{CANARY}"
SUBMISSIONS = f"/api/v1/surveys/{SURVEY}/submissions"

Run = Callable[..., AbstractContextManager[Proxy]]


@pytest.fixture(params=PROXIES)
def run(request: pytest.FixtureRequest) -> Run:
    return PROXIES[request.param]


@pytest.fixture
def servers(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[Server]]:
    """Three, or as many as a test asks for, on one database, set as the files say."""
    storage = open_storage(str(tmp_path / "a.db"))
    storage.publish(published(SURVEY))
    storage.close()
    with ExitStack() as stack:
        started = []
        for number in range(getattr(request, "param", 3)):
            environment = {"DENIABLE_TRUSTED_PROXIES": "1", "DENIABLE_RATE_LIMIT": "200/hour"}
            started.append(Server(tmp_path / "a.db", tmp_path / f"log-{number}", **environment))
            stack.callback(started[-1].stop)
        yield started


def test_a_proxy_serves_on_without_a_server_and_notes_nobody(run: Run, servers: list[Server], tmp_path: Path) -> None:
    """Two of three servers are killed and submissions are taken; without any, the answer is 503. Bad, huge, slow and
    broken requests and failed handshakes are refused. In nothing that was written is an address, a path or a header.
    """
    maker, acknowledged = Maker(7), 0
    with run([server.port for server in servers]) as proxy:

        def submit() -> int:
            parcel = maker.parcel(SURVEY, 1)
            for _ in range(50):
                reply = proxy.ask("POST", SUBMISSIONS, parcel.body, f"X-Canary: {CANARY}\r\n")
                assert reply is not None and reply.status in (201, 503), reply
                if reply.status == 201:
                    return sum(reply.json.values())
                assert_is_unavailable(reply)
            return 0

        acknowledged += sum(submit() for _ in range(6))
        page = proxy.ask("GET", f"/s/{SURVEY}?{CANARY}")
        assert page is not None and page.status == 200 and "strict-transport-security" in page.head.lower()
        assert (hidden := proxy.ask("GET", "/metrics")) is not None and hidden.status == 404
        replies = proxy.misuse(SURVEY)
        statuses = {reply.status for reply in replies if reply is not None}
        assert {400, 404, 413} <= statuses and not statuses & {201, 500, 502, 504}, statuses
        for large in (replies[-3], replies[-1]):
            assert large is not None and large.status == 413 and large.json["type"].endswith(":too-large")
        for server in servers:
            server.stop(signal.SIGKILL)
            if server is not servers[-1]:
                acknowledged += sum(submit() for _ in range(6))
        away = proxy.ask("POST", f"{SUBMISSIONS}?{CANARY}", maker.parcel(SURVEY, 1).body, f"X-Canary: {CANARY}\r\n")
        assert away is not None
        assert_is_unavailable(away)
        written = proxy.written()
    assert acknowledged == 18
    logs = "".join((tmp_path / f"log-{number}").read_text() for number in range(3))
    assert "Listening at" in logs
    for text in (written, logs):
        assert CANARY not in text and CLIENT not in text
    storage = open_storage(str(tmp_path / "a.db"))
    assert [listed.submissions for listed in storage.surveys()] == [18] and storage.verify() == []
    storage.close()


def assert_is_unavailable(reply: Any) -> None:
    assert reply.status == 503 and reply.json["type"] == "urn:deniable:problem:unavailable"
    assert "application/problem+json" in reply.head and "\r\nretry-after: 5" in reply.head.lower()


LIMITED = ("include tls http.acme_client http.handlers.reverse_proxy.health_checker", "")
UNHANDLED = ("handle_errors {", "handle /nowhere {")  # some versions of Caddy log no error that is handled
IMPATIENT = ("lb_try_duration 5s", "lb_try_duration 0s")


@pytest.mark.parametrize(
    ("run", "changes"),
    [
        pytest.param(nginx, [("error_log stderr emerg", "error_log stderr crit")], id="nginx at crit"),
        pytest.param(nginx, [("error_log stderr emerg", "error_log stderr error")], id="nginx at error"),
        pytest.param(nginx, [("access_log off", "access_log access.log")], id="nginx with an access log"),
        pytest.param(caddy, [LIMITED, UNHANDLED, IMPATIENT], id="caddy as it comes"),
    ],
)
def test_a_log_that_tells_is_found(run: Run, changes: list[tuple[str, str]]) -> None:
    """With the setting that the file warns of, the same requests leave the client's address behind: we would see it."""
    with run([1, 2, 3], *changes) as proxy:
        proxy.misuse(SURVEY)
        proxy.ask("GET", f"/{CANARY}")
        written = proxy.written()
    assert CLIENT in written
    assert "crit" in changes[0][1] or CANARY in written


@pytest.mark.parametrize("servers", [1], indirect=True)
def test_the_proxy_says_who_asks(run: Run, servers: list[Server]) -> None:
    """A client cannot pass for others by a header of its own: one address is limited, and another is not."""
    with run(3 * [servers[0].port]) as proxy, proxy.connect() as connection:
        for number in range(201):  # one more than it takes from one address
            forged = f"X-Forwarded-For: 203.0.113.{number % 250}\r\nForwarded: for=203.0.113.{number % 250}\r\n"
            head = f"POST {SUBMISSIONS} HTTP/1.1\r\nHost: localhost\r\n{forged}Content-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
            reply = read_reply(connection)
            assert reply is not None and reply.status in (422, 429)
            if reply.status == 429:
                break
        assert reply.status == 429
        other = proxy.ask("POST", SUBMISSIONS, b"{}", source="127.0.0.78")
        assert other is not None and other.status == 422


def test_plain_http_leads_people_on_and_programs_nowhere(run: Run) -> None:
    """A page is redirected to https; the API is refused, so that no token travels in the clear a second time."""
    with run([1, 2, 3]) as proxy:
        statuses = {}
        for path in (f"/s/{SURVEY}", SUBMISSIONS):
            with proxy.connect_plainly(port=proxy.plain_port) as connection:
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                reply = read_reply(connection)
            assert reply is not None
            statuses[path] = reply.status
            assert (f"location: https://localhost/s/{SURVEY}\r\n" in f"{reply.head}\r\n".lower()) == (
                reply.status == 308
            )
    assert statuses == {f"/s/{SURVEY}": 308, SUBMISSIONS: 403}


def test_sizes_agree() -> None:
    """Proxies let through as much as a server takes by default, and not less."""
    assert Settings().max_body_bytes == 16 * 2**20
    assert "client_max_body_size 16m;" in (DEPLOY / "nginx.conf").read_text("utf-8")
    assert re.search(r"request_body \{\s+max_size 16MiB\s", (DEPLOY / "Caddyfile").read_text("utf-8"))


def test_the_page_names_what_is_there() -> None:
    """docs/deploying.md names every file in deploy/ and no other, and only settings that exist."""
    page = (ROOT / "docs" / "deploying.md").read_text("utf-8")
    there = {str(path.relative_to(ROOT)) for path in DEPLOY.rglob("*") if path.is_file() and "ignore" not in path.name}
    assert set(re.findall(r"`(deploy/[^`]+)`", page)) == there
    known = Settings(secret_key="x" * 32).to_environment()
    assert set(re.findall(r"DENIABLE_[A-Z_]+", page)) <= known.keys()


# --- compose ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    tree: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return tree


def test_the_compose_file_holds_no_secret_and_asks_for_each(compose: dict[str, Any]) -> None:
    """Every variable has to be given, is named in .env.example, and has no value there."""
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    asked = set(re.findall(r"\$\{(\w+):\?[^}]+\}", text))
    assert len(re.findall(r"\$\{", text)) == len(re.findall(r"\$\{\w+:\?", text))
    given = dict(line.split("=") for line in (DEPLOY / ".env.example").read_text().splitlines() if "=" in line)
    assert given == dict.fromkeys(asked, "")
    assert compose["services"]["server"]["environment"]["DENIABLE_SECRET_KEY"].startswith("${DENIABLE_SECRET_KEY:?")


def test_the_compose_file_fits_the_other_files(compose: dict[str, Any]) -> None:
    """Caddy knows all servers, images and files exist, and every service has few rights."""
    services = compose["services"]
    named = services["proxy"]["environment"]["DENIABLE_SERVERS"].split()
    replicas = services["server"]["deploy"]["replicas"]
    assert named == [f"{compose['name']}-server-{number + 1}:8000" for number in range(replicas)]
    assert services["proxy"]["volumes"][0] == "./Caddyfile:/etc/caddy/Caddyfile:ro"
    build = services["server"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).exists()
    for service in services.values():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["restart"] == "unless-stopped"
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert (
        "/readyz" in services["server"]["healthcheck"]["test"][-1] and "/readyz" in (DEPLOY / "Dockerfile").read_text()
    )
    # Only the proxy can be reached from outside, and the database by nobody but the servers.
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert services["database"]["networks"] == ["inside"] and compose["networks"]["inside"] == {"internal": True}
    settings = {name: text for name, text in services["server"]["environment"].items() if name.startswith("DENIABLE")}
    assert Settings.from_environment(settings).trusted_proxies == 1


DEFAULTS = {"log_error_verbosity": "default", "log_min_error_statement": "error"}


def test_a_database_set_as_in_compose_logs_no_submission(compose: dict[str, Any]) -> None:
    """Statements that fail in every way leave neither values nor rows in PostgreSQL's log, and the doctor agrees; with
    PostgreSQL's own defaults they do.
    """
    words = compose["services"]["database"]["command"]
    settings = dict(word.split("=") for word in words[2::2])
    assert words == ["postgres", *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]
    row = (CANARY.encode() + b"123456", CANARY)
    troubles = (
        ("INSERT INTO inbox VALUES (1, %s, %s, 0)", row),  # it is there already
        ("INSERT INTO inbox VALUES (1, %s, %s, 0)", (b"short", CANARY)),
        (f"SELECT 1 / 0, '{CANARY}'", ()),
    )
    with cluster(**settings) as database:
        storage = open_storage(address := database.new_database())
        storage.publish(published(SURVEY))
        findings = {finding.check: finding.state for finding in storage.environment_checks()}
        storage.close()
        written = []
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("SET search_path = deniable")
            connection.execute("INSERT INTO inbox VALUES (1, %s, %s, 0)", row)
            for talkative in (False, True):
                if talkative:
                    for name in DEFAULTS:
                        connection.execute(f"SET {name} = '{DEFAULTS[name]}'".encode())
                for trouble, values in troubles:
                    with pytest.raises(psycopg.Error):
                        connection.execute(trouble.encode(), values)
                written.append((database.folder / "log").read_text())
    assert findings["statement log"] == "ok"
    assert written[0].count("ERROR:") == 3 and written[1].count("ERROR:") == 6
    for text in (CANARY, CANARY.encode().hex()):
        assert text not in written[0] and text in written[1]


# --- systemd ---------------------------------------------------------------------------------------------------------


def test_the_units_are_sound_and_tight(tmp_path: Path) -> None:
    """systemd finds nothing wrong with them, and little that they leave open; both are the same but for the port."""
    program = shutil.which("systemd-analyze") or missing("systemd-analyze")
    units = {name: (DEPLOY / "systemd" / name).read_text("utf-8") for name in ("deniable.service", "deniable@.service")}
    services = [re.split(r"\n(?=UMask=)", text)[1] for text in units.values()]
    assert services[0] == services[1]
    for name, text in units.items():
        # The program is not there, on a machine where Deniable is only tested.
        started = text.replace("/opt/deniable/bin/deniable", sys.executable)
        (tmp_path / name.replace("@", "@8001")).write_text(started)
    for name in ("deniable.service", "deniable@8001.service"):
        checked = subprocess.run(
            [program, "verify", "--man=no", str(tmp_path / name)], capture_output=True, text=True, check=False
        )
        assert (checked.returncode, checked.stderr) == (0, "")
        # From 0 (nothing is left open) to 100; one that says nothing has 96.
        command = [program, "security", "--offline=true", "--threshold=15", "--no-pager", str(tmp_path / name)]
        judged = subprocess.run(command, capture_output=True, text=True, check=False)
        assert judged.returncode == 0, judged.stdout


def test_a_server_makes_no_memory_executable(tmp_path: Path) -> None:
    """MemoryDenyWriteExecute, asked of the kernel directly: the server starts, stores and estimates with it."""
    storage = open_storage(str(tmp_path / "a.db"))
    storage.publish(published(SURVEY))
    let_collect(storage, SURVEY)
    secret, _ = make_token(storage, "analyst", "")
    storage.close()
    (tmp_path / "body").write_bytes(Maker(1).parcel(SURVEY, 1_200).body)
    # In a process of its own, since it cannot be taken back; whatever that starts has it too.
    script = """
import ctypes, sys
from pathlib import Path
from tests.helpers.servers import Server, ask, collector
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:  # PR_SET_MDWE
    sys.exit(42)
folder, path, crosstab, secret = Path(sys.argv[1]), *sys.argv[2:]
server = Server(folder / "a.db", folder / "log")
try:
    assert ask(server.base + path, (folder / "body").read_bytes(), collector(path.split("/")[4])).status == 201
    assert ask(server.base + crosstab, headers={"Authorization": f"Bearer {secret}"}).status == 200
finally:
    server.stop()
"""
    crosstab = f"/api/v1/surveys/{SURVEY}/crosstab?rows=smoked&columns=stress"
    command = [sys.executable, "-c", script, str(tmp_path), SUBMISSIONS, crosstab, secret]
    path = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    run = subprocess.run(command, env=path, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode == 42:
        missing("a kernel that can deny executable memory (6.3)")
    assert run.returncode == 0, run.stderr
