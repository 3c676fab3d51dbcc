"""Invitations from end to end: commands, a real server, the Python client, a real browser, and the results."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import deniable
from deniable_server.storage import open_storage
from tests.helpers.servers import ask, running

SURVEY = """
id = "staff"
title = "Staff survey"
invitations = true
epsilon = "2.0"

[[questions]]
id = "stress"
type = "yes_no"
text = "Were you ill from stress?"
"""

NAMES = ["Adalbert", "Bonifacia", "Cyprian", "Dionysia", "Edeltraud"]


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "deniable_server", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_five_invitations(tmp_path: Path, page: Page) -> None:
    """Five codes for a list that stays with the admin. One person answers in a browser, one with the Python
    client; each link works once, a submission without a token is refused, and the numbers say 2 of 5.
    """
    database, file, names, filled = (tmp_path / name for name in ("a.db", "s.toml", "names.csv", "filled.csv"))
    file.write_text(SURVEY)
    names.write_text("\n".join(["name", *NAMES]))
    run("survey", "publish", str(file), "--database", str(database))
    with running(database, tmp_path / "log") as server:
        run("invitations", "create", "staff", "--names", str(names), "--out", str(filled), "--database", str(database),
            "--url", server.base)  # fmt: skip
        rows = [*csv.DictReader(filled.read_text().splitlines())]
        links = [next(value for value in row.values() if "#" in value) for row in rows]
        assert [row["name"] for row in rows] == NAMES and len(set(links)) == 5
        assert all(link.startswith(f"{server.base}/s/staff#") for link in links)

        page.goto(links[0])
        page.get_by_role("button", name="Start").click()
        page.get_by_role("radio", name="Yes").check()
        page.get_by_role("button", name="Check your answers").click()
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()

        with deniable.Client(links[1], state=tmp_path / "state.db") as client:
            assert client.fingerprint and client.submit({"stress": False}, timeout=30).delivered
        with pytest.raises(deniable.DeniableError, match="used"):
            deniable.Client(links[1], state=tmp_path / "another.db")

        document = ask(f"{server.base}/api/v1/surveys/staff").json
        without = {"id": "0" * 32, "digest": links[0].partition("#")[2].partition(".")[0], "booklet": 0}
        refused = ask(f"{server.base}/api/v1/surveys/staff/submissions", {**without, "reports": [0], "segments": {}})
        assert document["issuer"] and refused.status == 422 and "token" in str(refused.json)
    listed = run("invitations", "list", "staff", "--database", str(database))
    assert "2" in listed and "5" in listed
    storage = open_storage(str(database))
    survey = storage.find("staff")
    assert survey is not None
    found = storage.invitations.numbers(survey)
    assert (found.made, found.used, storage.statistics(survey).submissions) == (5, 2, 2)
    assert storage.verify() == []
    storage.close()
    content = database.read_bytes()
    assert (
        not any(name in content for name in map(str.encode, NAMES))
        and links[4].partition(".")[2].encode() not in content
    )
