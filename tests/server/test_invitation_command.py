"""``deniable invitations``: codes for a list of people that is never stored, counted and revoked."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable_protocol.invitations import digest_of_code, read_code
from deniable_server.cli import cli
from deniable_server.cli.invitation_files import read_sheet
from deniable_server.storage import open_storage
from tests.helpers.by_invitation import publish_invited
from tests.helpers.qr_codes import decode_path

NAMES = 'Name;Mail\nÄnne;a@x.example\n"Bo; Jr";b@x.example\n\nCy;c@x.example\n'


@pytest.fixture
def database(tmp_path: Path) -> str:
    storage = open_storage(str(tmp_path / "a.db"))
    publish_invited(storage)
    storage.close()
    return str(tmp_path / "a.db")


def run(database: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["invitations", *arguments, "--database", database])


def use(database: str, code: str) -> None:
    storage = open_storage(database)
    storage.invitations.take(publish_invited(storage), digest_of_code(read_code(code)), bytes(32))
    storage.close()


def test_links_are_printed_once_and_only_digests_are_kept(database: str, tmp_path: Path) -> None:
    """Each link pins the survey and has a code of its own. None of the codes is in the database's files."""
    made = run(database, "create", "invited", "--number", "4")
    assert made.exit_code == 0, made.output
    links = made.stdout.split()
    storage = open_storage(database)
    digest = publish_invited(storage).document.digest
    storage.close()
    assert len({*links}) == 4 and all(link.startswith(f"/s/invited#{digest}.") for link in links)
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    codes = [link.rpartition(".")[2] for link in links]
    assert all(code.encode() not in content and digest_of_code(code) in content for code in codes)


def test_a_list_of_names_is_filled_in_and_not_stored(database: str, tmp_path: Path) -> None:
    """Every line gets its own code, in a file that only its owner can read. No name reaches the database."""
    (tmp_path / "names.csv").write_text("\ufeff" + NAMES, "utf-8")
    filled, texts = tmp_path / "filled.csv", tmp_path / "texts.csv"
    files = ("--out", str(filled), "--texts", str(texts), "--url", "https://x.example/")
    made = run(database, "create", "invited", "--names", str(tmp_path / "names.csv"), *files)
    assert made.exit_code == 0, made.output
    sheet = read_sheet(filled)
    assert sheet.header == ["Name", "Mail", "code", "link"]
    assert [row[0] for row in sheet.rows] == ["Änne", "Bo; Jr", "Cy"]
    assert len({*sheet.codes()}) == 3 and None not in sheet.codes()
    assert stat.S_IMODE(filled.stat().st_mode) == 0o600
    assert all(row[3] in row[4] and row[2] in row[4] and "{" not in row[4] for row in read_sheet(texts).rows)
    assert "Änne".encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("a.db*"))
    again = run(database, "create", "invited", "--names", str(tmp_path / "names.csv"), *files)
    assert again.exit_code == 1 and "is not overwritten" in again.output
    assert json.loads(run(database, "list", "invited", "--json").stdout)["made"] == 3, "nothing was made in vain"


def test_reminders_are_for_the_lines_that_are_unused(database: str, tmp_path: Path) -> None:
    """The file is handed back, and comes out with the lines of those who have not answered."""
    (tmp_path / "names.csv").write_text(NAMES, "utf-8")
    filled, left = tmp_path / "filled.csv", tmp_path / "left.csv"
    run(database, "create", "invited", "--names", str(tmp_path / "names.csv"), "--out", str(filled))
    codes = read_sheet(filled).codes()
    assert codes[0] is not None and codes[2] is not None
    use(database, codes[0])
    assert run(database, "unused", "invited", "--codes", str(filled), "--out", str(left)).exit_code == 0
    assert [row[0] for row in read_sheet(left).rows] == ["Bo; Jr", "Cy"]
    assert "1 of 1 invitations could" in run(database, "revoke", "invited", codes[2].lower()).output
    assert "1 of 3 invitations could" in run(database, "revoke", "invited", "--codes", str(filled)).output
    found = json.loads(run(database, "list", "invited", "--json").stdout)
    assert found == {
        "survey": "invited", "codes": 3, "made": 3, "used": 1, "unused": 0, "revoked": 2, "expired": 0, "rate": 1.0,
    }  # fmt: skip


def test_a_sheet_of_qr_codes(database: str, tmp_path: Path) -> None:
    """A camera reads the link of each invitation from the sheet, and each code can be typed."""
    target = tmp_path / "sheet.html"
    given = ("--number", "3", "--short", "--qr", str(target), "--out", str(tmp_path / "a.csv"))
    made = run(database, "create", "invited", *given, "--url", "https://x.example")
    assert made.exit_code == 0, made.output
    html = target.read_text("utf-8")
    links = [row[1] for row in read_sheet(tmp_path / "a.csv").rows]
    drawn = re.findall(r'<rect width="(\d+)"[^>]*></rect><path d="([^"]+)"', html)
    assert [decode_path(path, int(size)) for size, path in drawn] == links
    assert all(row[0] in html for row in read_sheet(tmp_path / "a.csv").rows)
    assert "http" not in html.replace("https://x.example", ""), "nothing is loaded from elsewhere"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "invited"), "--number"),
        (("create", "invited", "--number", "3", "--names", "NAMES"), "--number"),
        (("create", "invited", "--names", "NAMES"), "--out"),
        (("create", "invited", "--number", "3", "--qr", "x.html"), "--url"),
        (("create", "invited", "--number", "10001"), "10,000"),
        (("create", "invited", "--number", "1", "--expires", "2020-01-01"), "today"),
        (("create", "nobody", "--number", "1"), "No survey"),
        (("revoke", "invited"), "codes"),
        (("revoke", "invited", "ABCD"), "14 or 28"),
        (("unused", "invited"), "--codes"),
    ],
)
def test_what_cannot_be_done_is_said(database: str, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """A wrong use ends in a message that says what to give, and makes no invitation."""
    (tmp_path / "names.csv").write_text(NAMES, "utf-8")
    given = [str(tmp_path / "names.csv") if each == "NAMES" else each for each in arguments]
    refused = run(database, *given)
    assert refused.exit_code != 0 and said in " ".join(refused.output.split()), refused.output
    assert json.loads(run(database, "list", "invited", "--json").stdout)["made"] == 0
