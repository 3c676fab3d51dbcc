"""The examples of the README and the quickstart, executed: a newcomer's path from nothing to an estimate."""

from __future__ import annotations

import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser

from deniable_server.serving.run import listen_error
from tests.helpers.servers import ask, free_port

README, QUICKSTART = "README.md", "docs/quickstart.md"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Newcomer(NamedTuple):
    """A folder, and an environment in which the wheel was installed: the repository is out of reach."""

    folder: Path
    environment: dict[str, str]
    port: int

    def run(self, command: str) -> str:
        """Run a documented line, with the port that is free here instead of 8000."""
        result = subprocess.run(
            command.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}"),
            shell=True,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        return result.stdout


@pytest.fixture
def newcomer(root: Path, tmp_path: Path) -> Iterator[Newcomer]:
    """Install, save the survey, check, audit, publish and serve, as the quickstart says."""
    folder = tmp_path / "newcomer"
    folder.mkdir()
    port = free_port()
    install, commands, _ = blocks(root / QUICKSTART, "sh")
    builder = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "dist"), str(root)]
    subprocess.run(builder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("DENIABLE_", "PYTHON", "VIRTUAL"))
    }
    environment |= {
        "PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "DENIABLE_BIND": f"127.0.0.1:{port}",
        "PIP_CONSTRAINT": str(root / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    someone = Newcomer(folder, environment, port)
    assert install.strip() == 'pip install "deniable[server]"'
    someone.run(install.replace("deniable[server]", f"{wheel}[server]"))
    (survey,) = blocks(root / QUICKSTART, "toml")
    (folder / "survey.toml").write_text(survey, "utf-8")
    *before, serve = commands.splitlines()
    for command in before:
        someone.run(command)
    assert serve.startswith("deniable serve &")
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(["deniable", "serve"], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    if ask(f"http://127.0.0.1:{port}/readyz").status == 200:
                        break
                except OSError:
                    assert time.monotonic() < deadline and server.poll() is None, (folder / "server.log").read_text()
                    time.sleep(0.05)
            yield someone
        finally:
            server.terminate()
            server.wait(timeout=60)


@pytest.fixture
def other_site(newcomer: Newcomer) -> Iterator[str]:
    """The newcomer's folder on another port: another origin than the server's."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(newcomer.folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_path_of_a_newcomer(
    root: Path, newcomer: Newcomer, other_site: str, request: pytest.FixtureRequest
) -> None:
    """Install, publish, embed, submit, estimate: submissions from Python and from a page arrive, and all are counted.

    One test, since each step builds on the one before. The browser comes last: where there is none, only that is lost.
    """
    example, reading = blocks(root / README, "python")
    assert blocks(root / QUICKSTART, "python") == [example]
    (newcomer.folder / "app.py").write_text(example.replace("127.0.0.1:8000", f"127.0.0.1:{newcomer.port}"), "utf-8")
    # One report: a noisy bit, one of 5 answers, or one of 10 combinations of answers.
    assert re.fullmatch(r"\[(0|1|2|4|8|16|32|64|128|256|512)\] True\n", newcomer.run("python app.py"))
    again = "python app.py 2>&1; test $? = 1"
    assert "AlreadyAnswered" in newcomer.run(again)
    simulate, estimate, crosstab = blocks(root / QUICKSTART, "sh")[2].splitlines()
    assert json.loads(newcomer.run(f"{estimate} --json"))["submissions"] == 1
    assert "intervals contain the truth" in newcomer.run(simulate)
    shown = newcomer.run(estimate)
    assert "Campus health 2026: 2,001 submissions" in shown and "Have you vaped" in shown and "Between (95%)" in shown
    assert re.search(r"[1-9][0-9]{2} submissions", newcomer.run(crosstab))  # those that report on both
    told = json.loads(newcomer.run(f"{estimate} --json"))
    assert told["epsilon"] == "2.0" and all(question["answers"] < 2_001 for question in told["questions"])
    yes = told["questions"][0]["shares"][0]
    assert yes["code"] == "yes" and 0 <= yes["low"] <= yes["estimate"] <= yes["high"] <= 1
    made = newcomer.run("deniable token create --role reader --survey campus-health --json")
    link = f"127.0.0.1:{newcomer.port}/shared/{json.loads(made)['token']}"
    (newcomer.folder / "read.py").write_text(reading.replace("127.0.0.1:8000/shared/…", link), "utf-8")
    assert "2,001 submissions, ε = 2.0 each" in newcomer.run("python read.py")
    browser: Browser = request.getfixturevalue("browser")  # only now: the rest needs none
    (form,) = blocks(root / QUICKSTART, "html")
    open_in_a_real_browser(browser, form, "Delivered: true", newcomer, other_site)
    assert json.loads(newcomer.run(f"{estimate} --json"))["submissions"] == 2_002
    (element,) = blocks(root / README, "html")
    asked = re.compile(r"Have you vaped in the last 30 days\?|How stressed have you felt this month\?")
    open_in_a_real_browser(browser, element, asked, newcomer, other_site)  # one of the two, or both


def open_in_a_real_browser(
    browser: Browser, html: str, shown: str | re.Pattern[str], newcomer: Newcomer, other_site: str
) -> None:
    """A documented page, on another site and in a Chromium of its own, shows this text."""
    html = html.replace("127.0.0.1:8000", f"127.0.0.1:{newcomer.port}")
    (newcomer.folder / "page.html").write_text(f"<!doctype html><body>{html}</body>", "utf-8")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{other_site}/page.html")
        if "<deniable-survey" in html:  # its first screen; a page's own form has none
            page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_text(shown).first.wait_for()


@pytest.mark.parametrize(("target", "command"), [("demo", "deniable demo"), ("test", "pytest")])
def test_both_commands_of_the_readme_start_from_nothing(root: Path, target: str, command: str) -> None:
    """make demo and make test, the README's two commands, make their environment and then run."""
    (block,) = blocks(root / README, "sh")
    assert f"make {target}" in [line.split("#")[0].strip() for line in block.splitlines()]
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert planned.index(" -m venv ") < planned.index("pip install") < planned.rindex(command)


DEMO = [sys.executable, "-m", "deniable_server", "demo", "--respondents", "60"]


def test_the_demo_ends_by_itself_without_a_terminal(root: Path) -> None:
    """It shows what left three devices and what ε means, lets people answer over HTTP, compares truth and estimates,
    also of a follow-up, of the planned cross-tab and of two groups. A busy port is reported, and the next free one is
    used.
    """
    port = 0 if listen_error("127.0.0.1:8000") else 8000
    with socket.create_server(("127.0.0.1", port)):
        result = subprocess.run(DEMO, capture_output=True, text=True, timeout=120, check=True)
    said = " ".join(result.stdout.split())
    for words in (
        "Port 8000 is in use; using 80",
        "Each device drew its questions by chance, before it asked anything",
        "They would find the truth at most 37% of the time.",
        "60 made-up people answer at http://127.0.0.1:80",
        "intervals contain the truth",
        "how_often applies to",
        "of those: Every day",
        "vaped (rows) by stress (columns): the share of everybody who gave both answers",
        "vaped, Yes: North minus South is",
    ):
        assert words in said
    assert "Press Ctrl-C" not in said


def test_the_demo_serves_in_a_terminal_until_ctrl_c(request: pytest.FixtureRequest) -> None:
    """Its links work; Ctrl-C ends it and its server without an error."""
    # A shell that runs the tests in the background has them, and all that they start, ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    port = free_port()
    mine, theirs = os.openpty()
    command = [*DEMO, "--bind", f"127.0.0.1:{port}"]
    with (
        open(mine, encoding="utf-8") as screen,
        subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as demo,
    ):
        os.close(theirs)
        try:
            said = ""
            while "Press Ctrl-C to stop." not in said:
                said += screen.readline()
            links = re.findall(rf"http://127\.0\.0\.1:{port}/\S*", said)
            assert [ask(link).status for link in links] == [200, 200, 200]
            demo.send_signal(signal.SIGINT)
            assert demo.wait(timeout=60) == 0
        finally:
            demo.kill()
        assert "Stopped." in screen.readline() + screen.readline()
    assert listen_error(f"127.0.0.1:{port}") is None
