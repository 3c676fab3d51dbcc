"""The README's examples, executed as they stand."""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from importlib.resources import as_file
from pathlib import Path

import pytest

from conftest import missing
from deniable_web import web_file


def blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (root / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which survey.toml was saved and the README's deniable commands were run, one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    (survey,) = blocks(root, "toml")
    (folder / "survey.toml").write_text(survey, "utf-8")
    (commands,) = [block for block in blocks(root, "sh") if "deniable" in block]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in commands.splitlines():
        run = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
    return folder


def test_the_commands_and_the_python_example(root: Path, folder: Path) -> None:
    """Save the survey, check it, compile it, audit it in both languages, and randomise in Python."""
    (example,) = blocks(root, "python")
    run = subprocess.run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", example],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"\{'vaped': [01], 'stress': (1|2|4|8|16)\}\n", run.stdout)


@pytest.fixture
def site(folder: Path) -> Iterator[str]:
    """The folder and deniable.js on a local port."""
    with as_file(web_file("deniable.js")) as client:
        shutil.copy(client, folder)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_web_page_example_in_a_real_browser(root: Path, folder: Path, site: str, tmp_path: Path) -> None:
    """The page of the README, in Chromium, makes a submission whose digest is the document's."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing("Chromium")
    (page,) = blocks(root, "html")
    shown = "globalThis.document.body.textContent = `result=${JSON.stringify(submission)}`;"
    (folder / "page.html").write_text(page.replace("</script>", shown + "</script>") + "<body></body>", "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path}"]
    command = [chromium, *flags, "--virtual-time-budget=10000", "--dump-dom", f"{site}/page.html"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r"result=(\{.*\})", run.stdout)
    assert found, run.stdout
    submission = json.loads(found[1])
    assert list(submission) == ["id", "digest", "reports", "segments"]
    assert submission["reports"]["vaped"] in (0, 1) and submission["reports"]["stress"] in (1, 2, 4, 8, 16)
    from deniable_protocol import verify

    assert submission["digest"] == verify((folder / "document.json").read_bytes()).digest


def test_the_makefile_has_both_commands(root: Path) -> None:
    """make demo and make test, the README's two commands, exist and start from nothing but Python."""
    first = blocks(root, "sh")[0]
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
    makefile = (root / "Makefile").read_text("utf-8")
    assert "\ndemo: $(VENV)/.installed" in makefile and "\ntest: $(VENV)/.installed" in makefile
