"""The commands that operators and analysts use, on a real database."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import stat
from datetime import date
from importlib.resources import files
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from deniable_protocol import verify
from deniable_server.checks.doctor import examine
from deniable_server.cli import cli
from deniable_server.cli.common import out
from deniable_server.cli.serve import serve
from deniable_server.errors import SettingError
from deniable_server.settings import SETTINGS, Settings, parse_bind
from deniable_server.simulate import Population
from deniable_server.storage import Session, open_storage
from deniable_server.storage.sqlite.storage import SQLiteStorage
from tests.helpers.servers import free_port, running

EXAMPLE = str(files("deniable_server") / "example.toml")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own, without settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("DENIABLE_")]:
        if name != "DENIABLE_REQUIRE_ALL":
            monkeypatch.delenv(name)
    return tmp_path


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def said(result: Result) -> str:
    return " ".join(result.output.split())


# --- surveys ---------------------------------------------------------------------------------------------------------


def test_publish_list_and_close(place: Path) -> None:
    """Publish makes the database, is repeatable, and prints a link that pins the document; close ends it."""
    tree = json.loads(run("survey", "publish", EXAMPLE, "--json").stdout)
    assert tree["created"] is True and (place / "deniable.db").exists()
    assert f"/s/campus-health#{tree['digest']}" in run("survey", "publish", EXAMPLE).stdout
    assert "campus-health is closed" in run("survey", "close", "campus-health").stdout
    assert "is already closed" in run("survey", "close", "campus-health").stdout
    (listed,) = json.loads(run("survey", "list", "--json").stdout)["surveys"]
    assert (listed["id"], listed["status"], listed["submissions"]) == ("campus-health", "closed", 0)
    assert "closed" in run("survey", "list").stdout


def test_a_changed_survey_is_not_published(place: Path) -> None:
    """The same id with other content is refused."""
    run("survey", "publish", EXAMPLE)
    changed = place / "changed.toml"
    changed.write_text(Path(EXAMPLE).read_text("utf-8").replace("Which campus?", "Where?"), "utf-8")
    assert "never changes" in said(run("survey", "publish", str(changed), status=1))


@pytest.mark.parametrize(
    "command",
    [
        ["survey", "list"], ["survey", "close", "x"], ["estimate", "x"], ["token", "list"], ["token", "revoke", "x"],
        ["backup", "--to", "b"], ["simulate", "x", "--respondents", "1"],
    ],
)  # fmt: skip
def test_without_a_database_nothing_is_made(place: Path, command: list[str]) -> None:
    """Commands that need one say where they looked, and leave no empty database behind."""
    assert "There is no database at deniable.db" in said(run(*command, status=1))
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("command", [["survey", "close", "x"], ["estimate", "x"]])
def test_an_unknown_survey(command: list[str]) -> None:
    """The error lists the existing surveys."""
    run("survey", "publish", EXAMPLE)
    assert "No survey has the id x. Published here: campus-health" in said(run(*command, status=1))


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_a_tokens_life() -> None:
    """Printed once, listed without its secret, revoked by its id."""
    made = json.loads(run("token", "create", "--role", "analyst", "--label", "Ann", "--json").stdout)
    listed = run("token", "list", "--json").stdout
    assert made["token"] not in listed and "Ann" in listed
    assert made["id"] in run("token", "list").stdout
    assert "revoked" in run("token", "revoke", made["id"]).stdout
    assert "No token has the id" in said(run("token", "revoke", made["id"], status=1))
    plain = CliRunner().invoke(cli, ["token", "create", "--role", "admin"])
    assert len(plain.stdout.split()) == 1 and "not shown again" in plain.stderr


def test_a_token_for_some_surveys(place: Path) -> None:
    """Each --survey adds one, with a role of its own if it has one; none means all. A reader without one, a survey that
    is not there, and a role there that is higher or unknown, are errors.
    """
    toml = 'id = "b1"\ntitle = "B"\n[[questions]]\nid = "q"\ntype = "yes_no"\ntext = "Q?"\nepsilon = 1\n'
    (place / "b.toml").write_text(toml)
    for file in (EXAMPLE, "b.toml"):
        run("survey", "publish", file)
    for surveys in (["campus-health", "b1=reader"], []):
        options = [option for survey in surveys for option in ("--survey", survey)]
        run("token", "create", "--role", "editor", *options, "--label", str(len(surveys)))
    listed = {token["label"]: token["surveys"] for token in json.loads(run("token", "list", "--json").stdout)["tokens"]}
    assert listed == {"2": {"b1": "reader", "campus-health": "editor"}, "0": None}
    shown = run("token", "list").stdout
    assert "b1 as reader" in shown and "campus-health" in shown and "all" in shown
    for on in ("admin", "king"):
        assert "up to their own role" in said(
            run("token", "create", "--role", "editor", "--survey", f"b1={on}", status=2)
        )
    assert "choose at least one" in said(run("token", "create", "--role", "reader", status=2))
    assert "No survey has the id x" in said(run("token", "create", "--role", "reader", "--survey", "x", status=1))


# --- simulation and estimates ----------------------------------------------------------------------------------------


def test_sessions_are_ended_by_command(place: Path) -> None:
    """Sessions of one token, or all, are ended; the tokens stay. An unknown id, or neither option, is an error."""
    tokens = [json.loads(run("token", "create", "--role", "analyst", "--json").stdout)["id"] for _ in range(2)]
    storage = open_storage("deniable.db")
    for i, token in enumerate((*tokens, tokens[0])):
        storage.tokens.begin(Session(str(i) * 64, token, 0, 2**40, 2**40), now=0, most=9)
    assert "2 sessions ended" in run("token", "sign-out", tokens[0]).stdout
    assert len(storage.tokens.sessions(tokens[1], 0)) == 1
    assert json.loads(run("token", "sign-out", "--all", "--json").stdout) == {"ended": 1}
    assert len(storage.tokens.all()) == 2
    storage.close()
    assert "No token has the id none" in run("token", "sign-out", "none", status=1).output
    assert "or --all" in said(run("token", "sign-out", status=2))


def test_simulate_and_estimate(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand made-up people, straight into storage: all are counted, and every estimate is near the truth.

    Nearer than 6 standard errors, that is: 43 numbers, each from 800 reports or more and further away with probability
    below 10^-6. Ten more are the cells of the planned cross-tab. The people are the same in each run, so that the
    follow-up applies to many.
    """
    run("survey", "publish", EXAMPLE)
    simulate = ("simulate", "campus-health", "--respondents", "10000", "--direct", "--seed", "6", "--json")
    tree = json.loads(run(*simulate).stdout)
    truths = {(one["question"], one["kind"], one["code"]): one["truth"] for one in tree["compared"]}
    assert tree["respondents"] == 10_000 and len(truths) == 53
    for question in json.loads(run("estimate", "campus-health", "--json").stdout)["questions"]:
        numbers = [("share", share["code"], share["unbiased"], share) for share in question["shares"]]
        numbers += [
            ("among_answering", each["code"], each["unbiased"], each) for each in question.get("among_answering", [])
        ]
        if applies := question.get("applies"):
            numbers.append(("applies", "", applies["unbiased"], applies))
        if mean := question["mean"]:
            numbers.append(("mean", "", mean["value"], mean))
        for kind, code, value, number in numbers:
            away = abs(value - truths[question["id"], kind, code])
            assert away < 6 * number["standard_error"], (question["id"], kind, code)
    assert sum(truths["vaped × stress", "pair", f"yes × {point}"] for point in range(1, 6)) == pytest.approx(
        truths["vaped", "share", "yes"]
    )
    got = json.loads(run("estimate", "campus-health", "--by", "campus", "--confidence", "0.9", "--json").stdout)
    assert got["submissions"] == 10_000 and got["confidence"] == 0.9
    assert sum(group["submissions"] for group in got["groups"]) == 10_000
    monkeypatch.setattr(out, "_width", 80)
    shown = said(run("estimate", "campus-health", "--where", "campus:north"))
    assert "campus north" in shown and "Between (95%)" in shown and "mean, drinks" in shown
    assert "Prefer not to say" in shown and "4 Quite" in shown and "A peer group" in shown
    assert "This survey has campus" in said(run("estimate", "campus-health", "--by", "town", status=1))
    assert "from 0.5 to 0.9999" in said(run("estimate", "campus-health", "--confidence", "7", status=1))


def test_made_up_people_do_not_mix_with_real_ones_by_accident() -> None:
    """A survey that has submissions takes simulated ones only with --add."""
    run("survey", "publish", EXAMPLE)
    simulate = ("simulate", "campus-health", "--respondents", "30", "--direct")
    assert "intervals contain the truth" in said(run(*simulate))
    assert "Use --add" in said(run(*simulate, status=1))
    assert "also count 30 earlier submissions" in said(run(*simulate, "--add"))
    assert json.loads(run("estimate", "campus-health", "--json").stdout)["submissions"] == 60


def test_estimates_of_nobody() -> None:
    """Without submissions everything is unknown, and nothing fails."""
    run("survey", "publish", EXAMPLE)
    assert "no answers yet" in run("estimate", "campus-health").stdout


def test_simulating_without_a_server() -> None:
    """The error names the address, and what to do."""
    run("survey", "publish", EXAMPLE)
    nowhere = ("--server", f"http://127.0.0.1:{free_port()}/base")
    told = said(run("simulate", "campus-health", "--respondents", "2", *nowhere, status=1))
    assert "No server answers at http://127.0.0.1:" in told and "--direct" in told


def test_simulating_into_another_database(tmp_path: Path) -> None:
    """Made-up people do not get into the same survey of another server, and no token for finding out is left."""
    run("survey", "publish", EXAMPLE)
    other = tmp_path / "other.db"
    run("survey", "publish", EXAMPLE, "--database", str(other))
    with running(other, tmp_path / "log") as server:
        told = said(run("simulate", "campus-health", "--respondents", "2", "--server", server.base, status=1))
        assert "uses another database than this one" in told
        kept = open_storage(str(other), create=False)
        assert kept.surveys()[0].submissions == 0 and kept.tokens.all() == []
        kept.close()
    assert "No tokens" in run("token", "list").stdout


def test_files_that_are_no_survey(place: Path) -> None:
    """The error names the file and says what it is instead; with --json, it is JSON."""
    run("survey", "publish", EXAMPLE)
    assert "deniable.db: cannot be used as it is not a text file in UTF-8" in said(
        run("survey", "check", "deniable.db", status=1)
    )
    (place / "document.json").write_bytes(CliRunner().invoke(cli, ["survey", "compile", EXAMPLE]).stdout_bytes)
    assert "this is a published document, not a survey file" in said(run("survey", "check", "document.json", status=1))
    (place / "bad.toml").write_text('id = "a!"\ntitle = "t"\n[[questions]]\nid = "q"\ntype = "yesno"\ntext = ""\n')
    problems = json.loads(run("survey", "check", "bad.toml", "--json", status=1).stdout)["problems"]
    assert [problem["place"] for problem in problems] == [
        "bad.toml", "id", "epsilon", "questions[0].type", "questions[0].text",
    ]  # fmt: skip


# --- copies ----------------------------------------------------------------------------------------------------------


def test_backup_and_restore_by_command(place: Path) -> None:
    """A backup is made and proved sound; restoring it gives the same estimates, and overwrites nothing."""
    run("survey", "publish", EXAMPLE)
    run("simulate", "campus-health", "--respondents", "1500", "--direct")
    assert "sound" in said(run("backup", "--to", "copy.db"))
    assert "exists already" in said(run("backup", "--to", "copy.db", status=1))
    assert "submissions: 1,500" in said(
        run("restore", "copy.db", "--database", "again.db", "--key-file", "deniable.db.key")
    )
    assert "exists already" in said(
        run("restore", "copy.db", "--database", "again.db", "--key-file", "deniable.db.key", status=1)
    )
    one, two = (
        run("estimate", "campus-health", "--json", "--database", name).stdout for name in ("deniable.db", "again.db")
    )
    assert one == two


def test_restoring_needs_the_key(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the key a backup is restored only on request, and then nothing is said to be verified."""
    run("survey", "publish", EXAMPLE)
    run("backup", "--to", "copy.db")
    new = ["restore", "copy.db", "--database", "new.db"]
    assert "DENIABLE_SECRET_KEY" in said(run(*new, status=1))
    monkeypatch.setenv("DENIABLE_SECRET_KEY", "f" * 64)
    assert "another secret key" in said(run(*new, status=1))
    monkeypatch.delenv("DENIABLE_SECRET_KEY")
    assert not (place / "new.db").exists() and not (place / "new.db.key").exists()
    done = said(run(*new, "--unauthenticated"))
    assert "verified" not in done and "nobody knows who made it" in done and "deniable token list" in done
    (place / "deniable.db").unlink()
    assert "restored, and verified" in said(run("restore", "copy.db"))


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_leftover_log_is_not_mixed_with_a_backup(place: Path, ending: str) -> None:
    """A log left by a crash would overwrite a backup that is put next to it, so restore and backup refuse."""
    run("survey", "publish", EXAMPLE)
    run("backup", "--to", "copy.db")
    (place / f"new.db{ending}").write_bytes(b"left")
    for command in (["restore", "copy.db", "--database", "new.db", "--unauthenticated"], ["backup", "--to", "new.db"]):
        assert "is left from the database that was here" in said(run(*command, status=1))
    assert not (place / "new.db").exists() and (place / f"new.db{ending}").read_bytes() == b"left"


def test_copies_say_what_is_wrong() -> None:
    """A missing folder and a file that is no backup each get a message."""
    run("survey", "publish", EXAMPLE)
    assert "The folder nowhere does not exist" in said(run("backup", "--to", "nowhere/b.db", status=1))
    assert "example.toml is not a backup of Deniable's" in said(
        run("restore", EXAMPLE, "--database", "new.db", "--unauthenticated", status=1)
    )


# --- doctor ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(place: Path) -> Settings:
    run("survey", "publish", EXAMPLE)
    settings = Settings(database="deniable.db")
    settings.ensure_secret_key()
    return settings


def states(settings: Settings) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in examine(settings):
        found.setdefault(finding.check, set()).add(finding.state)
    return found


def test_a_healthy_installation(installed: Settings) -> None:
    """All checks pass, and of the access log of a proxy the doctor says that it cannot tell."""
    assert states(installed) == {
        "database": {"ok"}, "durability": {"ok"}, "locks": {"ok"}, "clock": {"ok"}, "space": {"ok"},
        "permissions": {"ok"}, "secret key": {"ok"}, "access log": {"ok", "cannot tell"},
    }  # fmt: skip
    assert run("doctor").exit_code == 0
    assert json.loads(run("doctor", "--json").stdout)["checks"]


def test_the_doctor_gives_no_verdict_on_proxies(installed: Settings, place: Path) -> None:
    """Whatever files of a proxy are around, the doctor never says that it writes no access log: it would have to know
    every server, location and include that a request can reach.
    """
    (place / "nginx.conf").write_text("http { server { access_log off; location / { proxy_pass http://x; } } }")
    verdict = [each for each in examine(installed) if "proxy" in each.message]
    assert [each.state for each in verdict] == ["cannot tell"] and "redirects" in verdict[0].message
    assert run("doctor").exit_code == 0


def test_the_doctor_finds_a_trigger(installed: Settings) -> None:
    """Anything in the database that Deniable did not make is a problem."""
    database = sqlite3.connect("deniable.db")
    database.execute("CREATE TRIGGER gone AFTER INSERT ON inbox BEGIN DELETE FROM inbox; END")
    database.close()
    assert states(installed)["database"] == {"problem"}
    assert "trigger gone" in said(run("doctor", status=1))


def test_locks_that_do_nothing_are_noticed(installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two processes both get an exclusive lock, several workers are refused, one gets a warning, and the doctor
    finds a problem. The second process is a real one.
    """
    address = f"127.0.0.1:{free_port()}"

    def start(settings: Settings) -> dict[str, str]:
        raise SettingError("Everything is ready to start.")

    monkeypatch.setattr(Settings, "to_environment", start)
    assert said(run("serve", "--bind", address, "--workers", "2", status=1)) == "Everything is ready to start."
    monkeypatch.setattr("fcntl.lockf", lambda *_: None)  # it says yes and does nothing, as with NFS and nolock
    refused = said(run("serve", "--bind", address, "--workers", "2", status=1))
    assert (
        "2 workers cannot share this database" in refused
        and "local disk" in refused
        and "ready to start" not in refused
    )
    alone = said(run("serve", "--bind", address, status=1))
    assert "WARNING: locks do nothing" in alone and "ready to start" in alone
    assert states(installed)["locks"] == {"problem"}
    run("doctor", status=1)


def test_the_doctor_finds_open_permissions(installed: Settings, place: Path) -> None:
    """A database or key that others can read is a problem, with the command that mends it."""
    for name, check in (("deniable.db", "permissions"), ("deniable.db.key", "secret key")):
        (place / name).chmod(0o644)
        assert states(installed)[check] == {"problem"}
        assert "chmod 600 'deniable.db" in said(run("doctor", status=1))
        (place / name).chmod(0o600)


def test_the_doctor_finds_a_wrong_clock(installed: Settings) -> None:
    """Submissions noted for a later day than today mean that the clock is, or was, wrong."""
    storage = SQLiteStorage("deniable.db", today=lambda: date(2190, 1, 1))
    published = storage.find("campus-health")
    assert published is not None
    from deniable_server.simulate import simulate_directly

    simulate_directly(storage, published, Population(published.document.survey), 3, lambda n: None)
    storage.close()
    assert states(installed)["clock"] == {"problem"}


def test_the_doctor_finds_damage(installed: Settings) -> None:
    """Statistics that differ from a recount are a problem."""
    run("simulate", "campus-health", "--respondents", "1200", "--direct")
    database = sqlite3.connect("deniable.db")
    database.execute("UPDATE statistics SET counts = replace(counts, '[', '[1')")
    database.commit()
    database.close()
    assert states(installed)["database"] == {"problem"}
    assert "differ from a recount" in said(run("doctor", status=1))


def test_the_doctor_finds_an_access_log(installed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A WSGI server told by its environment to log every request is a problem."""
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--access-logfile -")
    assert "problem" in states(installed)["access log"]


@pytest.mark.parametrize(
    ("key", "state"), [("short", "problem"), ("a" * 64, "problem"), ("0123456789abcdef" * 4, "ok")]
)
def test_the_doctor_looks_at_the_key(place: Path, key: str, state: str) -> None:
    """A key from the environment must be long, and not the same letter repeated."""
    run("survey", "publish", EXAMPLE)
    assert states(Settings(database="deniable.db", secret_key=key))["secret key"] == {state}


def test_no_database_is_what_the_doctor_says_first(place: Path) -> None:
    """Without a database the doctor says so first, and does not make one."""
    assert "There is none at deniable.db" in said(run("doctor", status=1))
    assert list(place.iterdir()) == []


# --- settings --------------------------------------------------------------------------------------------------------


def test_the_secret_key_is_made_once_and_kept(place: Path) -> None:
    """The first start makes it, for its owner only; later ones read it."""
    settings = Settings(database="a.db")
    key = settings.ensure_secret_key()
    assert len(key) == 64 and Settings(database="sqlite:///a.db").ensure_secret_key() == key
    assert stat.S_IMODE((place / "a.db.key").stat().st_mode) == 0o600
    assert Settings(database="b.db").ensure_secret_key() != key
    with pytest.raises(SettingError, match="at least 32"):
        Settings(secret_key="short").ensure_secret_key()
    with pytest.raises(SettingError, match="must be set"):
        Settings(database="postgresql://x/y").ensure_secret_key()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ALLOWED_ORIGINS", "example.org", "such as https://app.example.org"),
        ("ALLOWED_ORIGINS", "https://a.example/path", "such as https://app.example.org"),
        ("TRUSTED_PROXIES", "-1", "--trusted-proxies"),
        ("MAX_BODY_BYTES", "1k", "--max-body-bytes"),
        ("RATE_LIMIT", "0/minute", "60/minute"),
        ("MINIMUM_GROUP", "0", "--minimum-group"),
    ],
)
def test_settings_that_could_never_work_are_refused(name: str, value: str, message: str) -> None:
    """The message names the flag and what it takes."""
    with pytest.raises(SettingError, match=message):
        Settings.from_environment({f"DENIABLE_{name}": value})


def test_settings_go_through_the_environment_unchanged() -> None:
    """The workers get the settings that serve was given."""
    environment = {
        "DENIABLE_DATABASE": "x.db", "DENIABLE_BIND": "[::1]:9", "DENIABLE_BASE_PATH": "surveys/",
        "DENIABLE_TRUSTED_PROXIES": "2", "DENIABLE_ALLOWED_ORIGINS": "https://a https://b",
        "DENIABLE_RATE_LIMIT": "5/hour", "DENIABLE_MAX_BODY_BYTES": "5000", "DENIABLE_SECRET_KEY": "k" * 40,
        "DENIABLE_MINIMUM_GROUP": "25", "DENIABLE_LOGO": "logo.png",
    }  # fmt: skip
    settings = Settings.from_environment(environment)
    assert settings.base_path == "/surveys" and settings.rate_limit is not None and settings.rate_limit.seconds == 3600
    assert Settings.from_environment(settings.to_environment()) == settings
    assert Settings.from_environment({}) == Settings()
    assert parse_bind("[::1]:9") == ("::1", 9)


def test_every_setting_is_a_flag_of_serve() -> None:
    """The help of each flag names its variable. The secret key has no flag: others on the machine could see it."""
    flags = {option.opts[0]: option for option in serve.params if isinstance(option, click.Option)}
    for row in SETTINGS.values():
        if row.name == "secret_key":
            assert row.flag is None and "--secret-key" not in flags
        else:
            assert row.variable in (flags[row.flag].help or "") and row.read(row.write(row.default)) == row.default


def test_serving_from_nothing_says_how_to_begin(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start says where it made a database and how to get an access token; later ones do not. A folder for
    metrics is made for several processes only, and is gone when they have ended.
    """
    monkeypatch.setenv("TMPDIR", str(place))
    for workers in (1, 2):
        with running(Path("new.db"), place / f"log-{workers}", "--workers", str(workers)):
            assert len(list(place.glob("deniable-metrics-*"))) == workers - 1
        told = (place / f"log-{workers}").read_text()
        assert ("Made a new database: new.db" in told) == (workers == 1)
    assert not list(place.glob("deniable-metrics-*"))
    first = (place / "log-1").read_text().splitlines()
    command = next(line for line in first if line.startswith("Get an access token:  deniable "))
    assert len(run(*shlex.split(command.partition("  deniable ")[2])).stdout.split()[0]) == 43


def test_the_document_is_served_as_compiled(place: Path) -> None:
    """The published document is what ``survey compile`` prints."""
    compiled = CliRunner().invoke(cli, ["survey", "compile", EXAMPLE]).stdout_bytes
    run("survey", "publish", EXAMPLE)
    storage = SQLiteStorage("deniable.db")
    found = storage.find("campus-health")
    storage.close()
    assert found is not None and found.raw == compiled
    assert verify(compiled).digest == found.document.digest
