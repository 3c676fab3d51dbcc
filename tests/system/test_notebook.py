"""What analysts are shown works on a real server: the notebook, the guide to results, and pandas and R with files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

import deniable
from tests.helpers.analysis import NOTEBOOK, PEOPLE, Analysed, analysed, executed
from tests.helpers.exports import deniable as cli
from tests.helpers.exports import example, filled
from tests.helpers.machine import missing
from tests.helpers.postgres import Cluster

DAY = re.compile(r"\d{4}-\d\d-\d\d")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Analysed]:
    with analysed(tmp_path_factory.mktemp("analysed")) as server:
        yield server


def results_in(notebook: Any) -> list[str]:
    """The texts of the results that its cells give, without the day."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    texts = [output.get("data", {}).get("text/plain", output.get("text", "")) for output in outputs]
    return [DAY.sub("", text) for text in texts if "as of" in text]


def test_the_notebook_runs_and_shows_what_it_shows_here(server: Analysed) -> None:
    """Executed on a real server, by a shared link, no cell fails, and each result reads as in the file.
    Where results are meant to change: make notebook.
    """
    again = executed(server.link)
    assert results_in(again) == results_in(nbformat.read(NOTEBOOK, as_version=4))
    pictures = [
        output for cell in again.cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", ())
    ]
    assert len(results_in(again)) >= 5 and len(pictures) >= 2


def test_postgresql_is_read_too(postgres: Cluster) -> None:
    """By its address, with the numbers that the command prints."""
    address = postgres.new_database()
    survey = filled(address, example(), 300)
    printed = json.loads(cli("estimate", survey, "--json", "--database", address))
    assert deniable.Results(address, survey=survey).estimates().to_dict() == printed


def blocks(page: Path, language: str, server: Analysed) -> str:
    """The programs of a page, one after the other, for this server."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    text = "\n".join(found).replace("https://example.org", server.base)
    return text.replace("Bearer TOKEN", f"Bearer {server.token}").replace('token="…"', f'token="{server.token}"')


def run(program: str, folder: Path, *command: str) -> str:
    done = subprocess.run([*command, "-"], input=program, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_guide_to_results_runs(server: Analysed, root: Path, tmp_path: Path) -> None:
    """Its examples run as they are printed, and print what Results says of the database, too."""
    program = blocks(root / "docs" / "results.md", "python", server)
    printed = run(program, tmp_path, sys.executable, "-W", "error")
    stored = str(deniable.Results(server.database).estimates())
    assert printed == stored + "\n"


def test_the_numbers_in_pandas_are_those_of_results(server: Analysed, root: Path, tmp_path: Path) -> None:
    """CSV over HTTP and Parquet from an export, as the page reads them; estimates equal to the last digit."""
    command = [sys.executable, "-m", "deniable_server", "export", "campus-health", "--to", "exports/campus-health"]
    (tmp_path / "exports").mkdir()
    subprocess.run([*command, "--database", str(server.database)], cwd=tmp_path, check=True, capture_output=True)
    program = blocks(root / "docs" / "data-frames.md", "python", server)
    check = """
import deniable, sys
own = deniable.Results(sys.argv[1]).estimates(by="campus").to_pandas()
assert len(own) == len(estimates)
for name in ("estimate", "low", "high", "unbiased", "standard_error"):
    assert (own[name] == estimates[name]).all(), name
assert list(own["written"]) == list(estimates["written"])
assert len(reports) == len(exported) == int(sys.argv[2])
"""
    (tmp_path / "program.py").write_text(program + check)
    done = subprocess.run(
        [sys.executable, "program.py", str(server.database), str(PEOPLE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "(" in done.stdout and "north" in done.stdout


def test_the_numbers_in_r_are_those_of_results(server: Analysed, root: Path, tmp_path: Path) -> None:
    """R reads estimates.csv and reports.csv as the page says, and gets the same numbers."""
    script = shutil.which("Rscript") or missing("R (Debian: r-base-core)")
    program = blocks(root / "docs" / "data-frames.md", "r", server)
    program += (
        'cat(sprintf("%.17g", c(estimates$estimate, estimates$low, estimates$high)), file = "seen", sep = "\\n")\n'
    )
    printed = run(program, tmp_path, script, "--vanilla")
    own = deniable.Results(server.database).estimates(by="campus").rows()
    seen = [float(line) for line in (tmp_path / "seen").read_text().split()]
    # R reads the last digit of a decimal in its own way.
    assert seen == pytest.approx([row[name] for name in ("estimate", "low", "high") for row in own], rel=1e-15)
    assert sum(map(int, printed.splitlines()[-1].split())) == PEOPLE
