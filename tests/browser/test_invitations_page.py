"""The page of invitations in a real Chromium: a list of people is filled in there, and never sent."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from deniable_protocol.invitations import digest_of_code, read_code
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.by_invitation import publish_invited
from tests.helpers.questionnaire import overflows, violations
from tests.helpers.servers import Server, running

NAMES = 'Name;Mail\nÄnne Meier;anne@x.example\n"Bo; ""Jr""";bo@x.example\nCy Young;cy@x.example\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("invited")
    storage = open_storage(str(folder / "deniable.db"))
    publish_invited(storage)
    secret, _ = make_token(storage, "admin", "me")
    storage.close()
    with running(folder / "deniable.db", folder / "log") as server:
        server.secret = secret  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def invitations(server: Server, page: Page) -> Page:
    page.goto(f"{server.base}/sign-in")
    page.fill("input[type=password]", server.secret)  # type: ignore[attr-defined]
    page.click("main button")
    page.goto(f"{server.base}/surveys/invited/invitations")
    return page


def saved(page: Page, button: str, folder: Path) -> list[list[str]]:
    """The table that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    text = target.read_text("utf-8-sig")
    return list(csv.reader(text.splitlines(keepends=True), delimiter=";" if ";" in text.split("\n")[0] else ","))


def choose_file(page: Page, form: str, name: str, text: str) -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.locator(f"#{form} input[type=file]").set_input_files([file])  # type: ignore[list-item]


def test_a_list_is_filled_in_here_and_no_name_leaves(server: Server, invitations: Page, tmp_path: Path) -> None:
    """Each line gets a code of its own. No request contains a name or an address, then or for reminders."""
    sent: list[Request] = []
    invitations.on("request", lambda request: sent.append(request))
    choose_file(invitations, "making", "names.csv", NAMES)
    expect(invitations.get_by_label("How many")).to_have_value("3")
    invitations.get_by_role("button", name="Make invitations").click()
    expect(invitations.get_by_role("heading", name="3 invitations", exact=True)).to_be_visible()
    table = saved(invitations, "Download CSV", tmp_path)
    assert table[0] == ["Name", "Mail", "code", "link"]
    assert [row[0] for row in table[1:]] == ["Änne Meier", 'Bo; "Jr"', "Cy Young"]
    codes = [read_code(row[2]) for row in table[1:]]
    assert len({*codes}) == 3 and all(row[3].endswith("." + code) for row, code in zip(table[1:], codes, strict=True))
    texts = saved(invitations, "Texts for mail merge", tmp_path)
    assert all(row[3] in row[4] and row[2] in row[4] for row in texts[1:])

    storage = open_storage(str(server.database))
    storage.invitations.take(publish_invited(storage), digest_of_code(codes[1]), bytes(32))
    storage.close()
    kept = next(tmp_path.glob("*invitations.csv")).read_text("utf-8-sig")
    choose_file(invitations, "keeping", "kept.csv", kept)
    invitations.get_by_role("button", name="Show which are unused").click()
    expect(invitations.get_by_text("2 of 3 codes can still be used.")).to_be_visible()
    left = saved(invitations, "Download CSV", tmp_path)
    assert [row[0] for row in left[1:]] == ["Änne Meier", "Cy Young"]
    posted = [request.post_data or "" for request in sent if request.method == "POST"]
    assert len(posted) == 2
    assert all(name not in body for body in posted for name in ("nne", "Meier", "Young", "x.example", "Mail"))
    assert violations(invitations) == []


def test_a_sheet_of_qr_codes_opens_to_print(invitations: Page) -> None:
    """It is a page of its own, with a code for each invitation, and nothing on it is cut off."""
    invitations.get_by_label("How many").fill("5")
    invitations.get_by_label("Short codes").check()
    invitations.get_by_role("button", name="Make invitations").click()
    with invitations.expect_popup() as opened:
        invitations.get_by_role("button", name="Sheet of QR codes").click()
    sheet = opened.value
    expect(sheet.get_by_role("img")).to_have_count(5)
    assert not overflows(sheet)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_fits_every_screen(invitations: Page, width: int) -> None:
    """Nothing is wider than the screen, before and after codes were made."""
    invitations.set_viewport_size({"width": width, "height": 800})
    assert not overflows(invitations)
    invitations.get_by_label("How many").fill("2")
    invitations.get_by_role("button", name="Make invitations").click()
    expect(invitations.get_by_role("button", name="Download CSV")).to_be_visible()
    assert not overflows(invitations)
    assert violations(invitations) == []
