"""No text of somebody else's acts on a terminal or in a spreadsheet."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.table import Table
from rich.text import Text

from deniable_protocol import Problem, SurveyError
from deniable_server import cli as commands
from deniable_server.analysis.tables import csv_pieces
from deniable_server.cli import cli
from deniable_server.cli.common import out, print_json, say
from deniable_server.errors import BadLabel
from deniable_server.storage import Listed, Token
from deniable_server.storage.base import DatabaseStorage
from deniable_server.storage.plain_text import acts, visible
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.tokens import make_token

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
OVERRIDES = list("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
SEQUENCES = ["\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x9b31m", "\x1b]8;;http://x\x1b\\x", "a\rb", "\x08\x08", "\u202egnp"]
HOSTILE = "".join(SEQUENCES) + "".join(CONTROLS).replace("\n", "") + "".join(OVERRIDES) + "[bold]x[/nothing] :smile:"


def acting(output: str) -> set[str]:
    """What is left in an output that a terminal would obey."""
    return {
        letter
        for letter in output
        if letter != "\n" and (unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in OVERRIDES)
    }


# --- terminals --------------------------------------------------------------------------------------------------------


def test_every_such_character_is_known() -> None:
    """Each control character and each override is marked wherever it is."""
    for letter in [*CONTROLS, *OVERRIDES]:
        assert acts(f"a{letter}b") and visible(f"a{letter}b") == "a\ufffdb"


@pytest.mark.parametrize(
    "text", ["naïve 日本 مرحبا עברית", "\U0001f469\u200d\U0001f467 e\u0301", "a\u00a0b", "שלום\u200f!"]
)
def test_texts_of_people_stay_as_they_are(text: str) -> None:
    """Any language, with its own marks, is shown as it is."""
    assert visible(text) == text and not acts(text)


def test_every_way_to_print(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, styled texts, tables with headers and JSON: none passes on what a terminal would obey, or markup."""
    say(HOSTILE)
    say(HOSTILE, err=True)
    out.print(HOSTILE)
    out.print(Text(HOSTILE, style="bold red"))
    table = Table(HOSTILE, title=HOSTILE, caption=HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    out.print(table)
    print_json({HOSTILE: [HOSTILE]})
    printed = capsys.readouterr()
    assert acting(printed.out) == acting(printed.err) == set()
    assert "[/nothing]" in printed.out and ":smile:" in printed.out
    assert json.loads(printed.out.splitlines()[-1]) == {HOSTILE: [HOSTILE]}, "JSON loses nothing"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert acting(result.output) == set(), arguments
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


def test_labels_of_tokens_and_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that acts is refused when a token is made; one that is in a database all the same is only shown."""
    monkeypatch.chdir(tmp_path)
    storage = SQLiteStorage("deniable.db")
    for sequence in [*SEQUENCES, "two\nlines"]:
        with pytest.raises(BadLabel, match="one line of text"):
            make_token(storage, "analyst", sequence)
    storage.tokens.add(Token("abc", "analyst", HOSTILE, "0" * 64, "2026-01-01"))
    storage.close()
    assert "one line of text" in run("token", "create", "--role", "analyst", "--label", "\x1b[31m")
    assert "abc" in run("token", "list")
    assert json.loads(run("token", "list", "--json"))["tokens"][0]["label"] == HOSTILE


def test_names_of_files_titles_and_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files, ids, titles and what is wrong with a survey file are shown, whatever they are."""
    monkeypatch.chdir(tmp_path)
    name = "\x1b]0;x\x07\u202e.toml"
    Path(name).write_text('id = "\x1b[2J"\ntitle = "x"\n')
    for command in ("check", "compile", "publish"):
        assert "\ufffd" in run("survey", command, name)
    Path(name).write_text('id = "ab"\n"\\u009b31m" = 1\n"\\u202e" = 2\n')
    for each in (["survey", "check", name], ["plan", name], ["audit", name]):
        assert "\ufffd" in run(*each)
    for each in (["survey", "check", name + "x"], ["plan", name, f"--{name}"], [name], ["survey", name]):
        run(*each)
    SQLiteStorage("deniable.db").close()
    listed = [Listed("ab", HOSTILE, "0" * 64, "open", 0, "2026-01-01", None)]
    monkeypatch.setattr(DatabaseStorage, "surveys", lambda self: listed)
    assert "ab" in run("survey", "list") and json.loads(run("survey", "list", "--json"))
    for command in ("estimate", "simulate", "compare", "export"):
        run(command, name)
    run("token", "revoke", name)
    run("backup", "--to", name + ".db")
    run("restore", name + ".db", "--database", name)
    run("restore", name, "--unauthenticated")
    run("doctor", "--database", name)
    run("token", "list", "--database", name)


def test_everything_is_printed_through_one_place() -> None:
    """Commands print with ``say``, ``print_json`` and the consoles of ``cli/common``, and in no other way."""
    allowed = {("surveys.py", "click.echo")}  # deniable survey compile: the published bytes, as they are
    found = set()
    for file in Path(commands.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if file.name != "common.py" and re.fullmatch(r"click\.s?echo.*|print|Console|sys\.std.*\.write.*", name):
                found.add((file.name, name))
    assert found == allowed


def test_errors_with_several_lines_keep_them() -> None:
    """An error of several problems is shown line by line."""

    @cli.command(name="fails-in-a-test")
    def fails() -> None:
        raise SurveyError([Problem("a", "x", "one\x1b"), Problem("b", "x", "two")])

    try:
        assert run("fails-in-a-test").splitlines() == ["a: one\ufffd", "b: two"]
    finally:
        del cli.commands["fails-in-a-test"]


# --- CSV --------------------------------------------------------------------------------------------------------------

STARTERS = "=+-@\t\r＝＋－＠"


def naive_cells(text: str) -> list[str]:
    """The beginnings of cells for a program that knows no quotes: it splits at every comma and line break."""
    return [
        cell.strip('"')
        for line in re.split("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", text)
        for cell in line.split(",")
    ]


def test_no_cell_is_a_formula() -> None:
    """Whatever comes before it, and whether a program knows about quotes or not, no text is taken for a formula."""
    for starter in STARTERS:
        for before in ("", " ", *CONTROLS, "\u2028", "\u2029", "a\r", "a\n", "a\r\n", "\n\n"):
            written = b"".join(csv_pieces([["x", f"{before}{starter}1+1", "y"], [1, -2.5, None]])).decode()
            rows = [*csv.reader(io.StringIO(written, newline=""))]
            assert [row[0] for row in rows] == ["x", "1"] and [len(row) for row in rows] == [3, 3]
            assert rows[1] == ["1", "-2.5", ""], "numbers are numbers"
            assert rows[0][1].lstrip(" ")[0] not in STARTERS
            assert not [cell for cell in naive_cells(written) if cell.lstrip(" ")[:1] in list("=+@\t＝＋－＠")]


def test_every_control_character_stays_in_its_cell() -> None:
    """Tabs and line breaks are as they were, in quotes where they must be; other control characters are marked."""
    for letter in CONTROLS:
        written = b"".join(csv_pieces([[f"a{letter}b", "c"]])).decode()
        kept = letter if letter in "\t\r\n" else "\ufffd"
        assert [*csv.reader(io.StringIO(written, newline=""))] == [[f"a{kept}b", "c"]]
        assert written.endswith("c\r\n") and (letter not in "\r\n" or written.startswith('"'))
