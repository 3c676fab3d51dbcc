"""Estimates as files for SPSS and Stata: read back, they have the numbers of the JSON to the last digit."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pyreadstat
import pytest
from click.testing import CliRunner

from deniable_server.cli import cli
from deniable_server.export.estimates import VARIABLES
from tests.server import test_weighted_tables

database = test_weighted_tables.database
NUMBERS = ("estimate", "unbiased", "standard_error", "low", "high")


def run(database: str, *words: str) -> str:
    found = CliRunner().invoke(cli, [*words, "--database", database])
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def written(database: str, tmp_path: Path) -> Path:
    weights = tmp_path / "weights.toml"
    weights.write_text("[year]\nfirst = 30\nlater = 70\n")
    asked = ("--by", "campus", "--weights", str(weights), "--distribution", "--confidence", "0.9")
    run(database, "export", "weighted", "--to", str(tmp_path / "out"), "--estimates", *asked)
    return tmp_path / "out"


def numbers_of(result: Any) -> list[tuple[str, str, str, str, tuple[float | None, ...]]]:
    """All numbers of the JSON but distributions: group, question, whether weighted, answer, and the five."""
    found = []
    for code, questions in [("", result["questions"]), *((g["code"], g["questions"]) for g in result["groups"])]:
        for question in questions:
            for weighted, part in (("no", question), ("yes", question["weighted"])):
                shares = [(each.get("code", ""), each) for name in ("applies",) if (each := part.get(name))]
                shares += [(each["code"], each) for each in (*part["shares"], *part.get("among_answering", ()))]
                shares += [("", each) for each in part.get("summaries", ())]
                shares += [("", {**part["mean"], "estimate": part["mean"]["value"]})] if part["mean"] else []
                found += [
                    (code, question["id"], weighted, answer, tuple(each[name] for name in NUMBERS))
                    for answer, each in shares
                ]
    return found


def read(path: Path) -> tuple[list[dict[str, Any]], Any]:
    reader = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    columns, about = reader(path, output_format="dict")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], about


def known(number: Any) -> float | None:
    return None if number is None or math.isnan(number) else number


@pytest.mark.parametrize("name", ["estimates.sav", "estimates.dta"])
def test_labelled_files_have_the_numbers_of_the_json(written: Path, database: str, name: str) -> None:
    """Every number but those of curves is there once, to the last digit, with its group, question and answer."""
    rows, about = read(written / name)
    labels = {each: {code: text.partition(":")[0] for code, text in values.items()} for each, values in
              about.variable_value_labels.items()}  # fmt: skip

    def code(row: dict[str, Any], variable: str) -> str:
        value = known(row[variable])
        return "" if value is None else labels[variable][value]

    ours = [
        (
            code(row, "group"),
            code(row, "question"),
            code(row, "weighted"),
            row["answer"] or "",
            tuple(known(row[each]) for each in NUMBERS),
        )
        for row in rows
        if not code(row, "kind").startswith(("likely", "share below"))
    ]
    result = json.loads((written / "estimates.json").read_bytes())
    assert sorted(ours, key=repr) == sorted(numbers_of(result), key=repr)
    assert len(ours) > 80 and {row["confidence"] for row in rows} == {0.9}
    assert {row["date"] for row in rows} == {result["date"]}
    assert about.column_names_to_labels == {each.name: each.label for each in VARIABLES}
    assert about.variable_value_labels["question"][1.0] == "vaped: Vaped?"


def test_the_json_is_that_of_the_command(written: Path, database: str, tmp_path: Path) -> None:
    """The JSON and the CSV among the files are what the other commands and routes give."""
    asked = ("--by", "campus", "--weights", str(tmp_path / "weights.toml"), "--distribution", "--confidence", "0.9")
    assert json.loads((written / "estimates.json").read_bytes()) == json.loads(
        run(database, "estimate", "weighted", "--json", *asked)
    )
    rows = [*csv.DictReader(io.StringIO((written / "estimates.csv").read_text("utf-8")))]
    assert len(rows) == len(read(written / "estimates.sav")[0])


def test_the_codebook_and_the_readme(written: Path) -> None:
    """The codebook lists every variable and every labelled value; the README says what it is of and what it is not."""
    rows = [*csv.DictReader(io.StringIO((written / "codebook.csv").read_text("utf-8")))]
    assert [row["variable"] for row in rows if row["label"]] == [each.name for each in VARIABLES]
    _, about = read(written / "estimates.sav")
    for name, values in about.variable_value_labels.items():
        assert {float(row["value"]) for row in rows if row["variable"] == name and row["value"]} == {*values}
    text = " ".join((written / "README.txt").read_text("utf-8").split())
    assert "a row is a number about many people" in text and "90% intervals" in text and "weighted to “Year?”" in text
    assert {path.name for path in written.iterdir()} == {
        "README.txt", "codebook.csv", "estimates.csv", "estimates.json", "estimates.sav", "estimates.dta",
    }  # fmt: skip
    assert all(path.stat().st_mode & 0o077 == 0 for path in (written, *written.iterdir()))


def test_options_of_estimates_need_the_flag(database: str, tmp_path: Path) -> None:
    """An option that would change nothing is refused, and a folder that exists is not overwritten."""
    words = ["export", "weighted", "--database", database, "--to", str(tmp_path / "new")]
    found = CliRunner().invoke(cli, [*words, "--by", "campus"])
    assert found.exit_code == 2 and "--estimates" in found.stderr
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").write_text("x")
    found = CliRunner().invoke(cli, [*words, "--estimates"])
    assert found.exit_code == 1 and "not overwritten" in found.stderr


def test_exported_reports_say_that_they_are_not_answers(database: str, tmp_path: Path) -> None:
    """The README of the Parquet files warns against counting reports as answers."""
    run(database, "export", "weighted", "--to", str(tmp_path / "reports"))
    text = " ".join((tmp_path / "reports/README.txt").read_text("utf-8").split())
    assert "randomised report is not an answer" in text and "3,000 submissions" in text
