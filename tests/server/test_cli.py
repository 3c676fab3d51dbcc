"""The command line, as a process would see it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable_protocol import verify
from deniable_server.cli import cli

EXAMPLE = str(files("deniable_server") / "example.toml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


TEXTBOOK = """
id = "textbook"
title = "Each with its own"
[[questions]]
id = "vaped"
type = "yes_no"
text = "Vaped?"
epsilon = 1.0
[[questions]]
id = "drinks"
type = "number"
text = "Drinks?"
epsilon = 4.0
min = 0
max = 40
"""


def test_check_shows_the_booklets_and_what_they_spend() -> None:
    """A good survey is shown with its booklets, how often each is drawn, its epsilon and what that means."""
    result = run("survey", "check", EXAMPLE)
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    for words in ("Each device draws one booklet", "vaped and how_often", "one of 3 combinations", "bands 24 wide on"):
        assert words in said, words
    assert "ε = 2 for everything that one person sends. Suppose someone" in said
    assert "at most 37% of the time" in said and "With 10,000 respondents you will know each share within" in said
    assert "example.toml: ok" in said and "Warning" not in said


def test_check_shows_every_question_of_the_textbook_design(tmp_path: Path) -> None:
    """With an epsilon per question each is shown with its own, then the sum; above 4 there is a warning."""
    file = tmp_path / "textbook.toml"
    file.write_text(TEXTBOOK)
    said = " ".join(run("survey", "check", str(file)).stdout.split())
    for words in (
        "a noisy bit │ 1.0",
        "bands",
        "on 49 levels │ 4.0",
        "all together",
        "ε = 5 for everything",
        "Warning: ε = 5 in total protects people only weakly",
    ):
        assert words in said, words


def test_publish_warns_before_a_survey_can_no_longer_change(tmp_path: Path) -> None:
    """A survey that protects weakly is published with a warning, which --json has, too."""
    file, database = tmp_path / "textbook.toml", str(tmp_path / "a.db")
    file.write_text(TEXTBOOK)
    result = run("survey", "publish", str(file), "--database", database, "--json")
    tree = json.loads(result.stdout)
    assert tree["created"] is True and "protects people only weakly" in result.stderr
    assert [words.split(".")[0] for words in tree["warnings"]] == ["ε = 5 in total protects people only weakly"]


def test_check_as_json() -> None:
    """--json prints the same for programs."""
    tree = json.loads(run("survey", "check", EXAMPLE, "--json").stdout)
    assert tree["epsilon"] == "2.0" and len(tree["digest"]) == 64 and tree["warnings"] == []
    assert tree["in_words"][0].endswith("at most 37% of the time.")
    together = next(part for part in tree["parts"] if part["questions"] == ["vaped", "how_often"])
    assert together["channel"].startswith("one of 3 combinations of answers") and together["epsilon"] == "2.0"
    assert sorted(number for booklet in tree["booklets"] for number in booklet["parts"]) == [*range(len(tree["parts"]))]


def test_check_lists_every_error_and_fails(tmp_path: Path) -> None:
    """A bad survey gets every error on standard error, exit status 1, and no traceback."""
    file = tmp_path / "bad.toml"
    file.write_text('id = "x"\ntitle = "t"\n[[questions]]\nid = "a"\ntype = "yes_no"\ntext = "?"\nepsilon = 0\n')
    result = run("survey", "check", str(file))
    assert result.exit_code == 1
    assert "questions[0].epsilon: 0 is not between 0.01 and 10" in result.stderr
    assert "id: 'x' does not match" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", [["audit"], ["survey", "check"]])
@pytest.mark.parametrize("raw", [b"[" * 100_000, b"\xff", b'{"deniable": 1}', b"{}", b"9" * 5000])
def test_hopeless_files_get_a_message(command: list[str], raw: bytes, tmp_path: Path) -> None:
    """Whatever a JSON file contains, the command exits with 1 and a message, without a traceback."""
    file = tmp_path / "hopeless.json"
    file.write_bytes(raw)
    result = run(*command, str(file))
    assert result.exit_code == 1 and result.stderr and "Traceback" not in result.output


def test_a_missing_file_is_a_usage_error() -> None:
    """click says which file does not exist."""
    result = run("survey", "check", "nowhere.toml")
    assert result.exit_code == 2 and "nowhere.toml" in result.stderr


def test_compile_prints_the_published_bytes(tmp_path: Path) -> None:
    """The output is a document that clients accept, and that audit takes as it is."""
    raw = subprocess.run(
        [sys.executable, "-m", "deniable_server", "survey", "compile", EXAMPLE], capture_output=True, check=True
    ).stdout
    assert verify(raw).survey.id == "campus-health"
    file = tmp_path / "document.json"
    file.write_bytes(raw)
    tree = json.loads(run("audit", str(file), "--draws", "1000", "--json").stdout)
    assert all(part["passed"] for part in tree["parts"]) and len(tree["parts"]) == len(verify(raw).parts)


def test_audit_prints_odds_and_epsilon() -> None:
    """The table has the odds as a fraction, epsilon to 12 digits, what was seen, and how often each booklet came."""
    result = run("audit", EXAMPLE, "--draws", "2000")
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    for words in (
        "Odds, exact",
        "2.000000000000",
        "vaped +",
        "ε seen",
        "by weight",
        "99.9% confidence over all",
    ):
        assert words in said, words


def test_audit_fails_when_a_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """More epsilon seen than stated: exit status 1 and the word BROKEN."""
    import deniable_server.checks.audit as module

    real = module._observe
    monkeypatch.setattr(
        module, "_observe", lambda *a: module.Observed(9.5, real(*a).pair, real(*a).event, real(*a).draws)
    )
    result = run("audit", EXAMPLE, "--draws", "100")
    assert result.exit_code == 1 and "BROKEN" in result.stdout


def test_every_command_is_documented(root: Path) -> None:
    """Each command and option has a help text, and the README or the docs mention each command."""
    from click import Group

    pages = "".join(path.read_text("utf-8") for path in [root / "README.md", *(root / "docs").glob("*.md")])

    def walk(command: object, path: str) -> None:
        if isinstance(command, Group):
            for name, child in command.commands.items():
                walk(child, f"{path} {name}")
        else:
            assert path in pages, f"{path} is not documented"
        assert getattr(command, "help", None), path
        for parameter in getattr(command, "params", ()):
            if parameter.param_type_name == "option":
                assert parameter.help, f"{path} {parameter.name}"

    walk(cli, "deniable")


def test_without_the_server_extra_the_command_says_what_to_install() -> None:
    """On a base install the command names the missing package and the cure, without a traceback."""
    code = "import sys; sys.modules['click'] = None\nfrom deniable_server.__main__ import main\nmain()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert 'pip install "deniable[server]"' in result.stderr and "Traceback" not in result.stderr


def test_importing_the_command_line_leaves_the_metrics_for_the_workers() -> None:
    """prometheus_client decides as it is imported whether several processes count together. Until "serve" has said how
    many there are, nothing may import it.
    """
    code = "import sys, deniable_server.cli, deniable_server.serving.run; print('prometheus_client' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
