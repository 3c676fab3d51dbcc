"""The README's examples, executed as they stand: a newcomer's path from nothing to an estimate."""

from __future__ import annotations

import http.server
import json
import os
import re
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

from tests.helpers.servers import ask, free_port


def blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (root / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Newcomer(NamedTuple):
    """A folder, and an environment in which the wheel was installed: the repository is out of reach."""

    folder: Path
    environment: dict[str, str]
    port: int

    def run(self, command: str) -> str:
        """A line of the README, with the port that is free here instead of 8000."""
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
    """Install, save the survey, check, audit, publish and serve, as the README says."""
    folder = tmp_path / "newcomer"
    folder.mkdir()
    port = free_port()
    install, commands, _ = [block for block in blocks(root, "sh") if "deniable" in block]
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
    (survey,) = blocks(root, "toml")
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
    (example,) = blocks(root, "python")
    (newcomer.folder / "app.py").write_text(example.replace("127.0.0.1:8000", f"127.0.0.1:{newcomer.port}"), "utf-8")
    assert re.fullmatch(r"\{'vaped': [01], 'stress': (1|2|4|8|16)\} True\n", newcomer.run("python app.py"))
    again = "python app.py 2>&1; test $? = 1"
    assert "AlreadyAnswered" in newcomer.run(again)
    simulate, estimate, crosstab = [block for block in blocks(root, "sh") if "deniable" in block][2].splitlines()
    assert json.loads(newcomer.run(f"{estimate} --json"))["submissions"] == 1
    assert "intervals hold the truth" in newcomer.run(simulate)
    shown = newcomer.run(estimate)
    assert "Campus health 2026: 2,001 submissions" in shown and "Have you vaped" in shown and "Between (95%)" in shown
    assert "2,001 submissions" in newcomer.run(crosstab)
    yes = json.loads(newcomer.run(f"{estimate} --json"))["questions"][0]["shares"][0]
    assert yes["code"] == "yes" and 0 <= yes["low"] <= yes["estimate"] <= yes["high"] <= 1
    (page,) = blocks(root, "html")
    browser: Browser = request.getfixturevalue("browser")  # only now: the rest needs none
    open_in_a_real_browser(browser, page, newcomer, other_site)
    assert json.loads(newcomer.run(f"{estimate} --json"))["submissions"] == 2_002


def open_in_a_real_browser(browser: Browser, html: str, newcomer: Newcomer, other_site: str) -> None:
    """The page of the README, on another site and in Chromium, stores a submission at the server."""
    html = html.replace("127.0.0.1:8000", f"127.0.0.1:{newcomer.port}")
    (newcomer.folder / "page.html").write_text(f"<!doctype html><body>{html}</body>", "utf-8")
    page = browser.new_page()
    page.goto(f"{other_site}/page.html")
    page.get_by_text("Delivered: true").wait_for()
    page.close()


def test_the_makefile_has_both_commands(root: Path) -> None:
    """make demo and make test, the README's two commands, exist and start from nothing but Python."""
    first = blocks(root, "sh")[0]
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
    makefile = (root / "Makefile").read_text("utf-8")
    assert "\ndemo: $(VENV)/.installed\n\t$(BIN)/deniable demo --once\n" in makefile
    assert "\ntest: $(VENV)/.installed" in makefile


def test_the_demo_runs(root: Path) -> None:
    """deniable demo --once shows reports, lets people answer over HTTP, and prints truth beside estimate."""
    command = [sys.executable, "-m", "deniable_server", "demo", "--once", "--respondents", "60"]
    result = subprocess.run(
        [*command, "--bind", f"127.0.0.1:{free_port()}"], capture_output=True, text=True, timeout=120, check=True
    )
    said = " ".join(result.stdout.split())
    for words in (
        "What one respondent answers",
        "60 made-up people answer at http://127.0.0.1:",
        "intervals hold the truth",
    ):
        assert words in said
