"""Surveys with invitations in a real browser: a personal link, a code that is typed, and a reload in every step.

The server is a small one in this process that signs like the real one; tests/system has the real one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from deniable_protocol import verify
from deniable_protocol.invitations import show_code
from tests.helpers.fake_server import DOCUMENT
from tests.helpers.invited import CODE, INVITED, ISSUER, SECOND_CODE, TYPED_CODE, InvitingSite

DIGEST = verify(INVITED).digest
KEPT = """async () => {
  const database = await new Promise((resolve) => {
    indexedDB.open("deniable", 1).onsuccess = ({ target }) => resolve(target.result);
  });
  const rows = await new Promise((resolve) => {
    database.transaction("tokens").objectStore("tokens").getAll().onsuccess = ({ target }) => resolve(target.result);
  });
  database.close();
  return rows;
}"""


@pytest.fixture
def site() -> Iterator[InvitingSite]:
    with InvitingSite() as site:
        yield site


def personal(site: InvitingSite, code: str = CODE) -> str:
    return f"{site.link}#{DIGEST}.{code}"


def is_start(page: Page) -> None:
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def answer(page: Page) -> None:
    """From the first screen to "Thank you"."""
    page.get_by_role("button", name="Start").click()
    for _ in range(2):
        page.get_by_role("radio", name="Yes").check()
        page.get_by_role("button", name="Next").click()
    page.get_by_role("radio", name="north").check()
    page.get_by_role("button", name="Check your answers").click()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_a_personal_link(page: Page, site: InvitingSite) -> None:
    """It opens the survey; the page says why it gives nobody away, and the code leaves the address. One submission."""
    page.goto(personal(site))
    is_start(page)
    assert page.url == f"{site.link}#{DIGEST}" and CODE not in page.evaluate("JSON.stringify(history.state) ?? ''")
    page.get_by_text("Why does my personal link not give me away?").click()
    expect(page.get_by_text("The code only shows that you may take part.")).to_be_visible()
    expect(page.get_by_text(ISSUER.public.fingerprint)).to_be_visible()
    (row,) = page.evaluate(KEPT)
    assert row.keys() == {"digest", "content", "message", "signature"}
    answer(page)
    assert page.evaluate(KEPT) == []
    (body,) = site.counted.values()
    assert CODE.encode() not in body and len(site.asked) == 1
    page.reload()
    expect(page.get_by_text("This survey was already answered on this device").first).to_be_visible()
    assert len(site.asked) == 1


def test_a_code_that_is_typed(page: Page, site: InvitingSite) -> None:
    """With the keyboard alone: a typing error is shown at the field, with the focus in it and nothing sent."""
    page.goto(site.link)
    field = page.get_by_label("Invitation code")
    field.focus()
    page.keyboard.type(show_code(TYPED_CODE)[:-1] + "0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("typing mistake")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("There is a typing mistake in this code. Please compare it with your "
        "letter or message. 14 or 28 letters and digits. Dashes and capital letters do not matter.")  # fmt: skip
    assert site.asked == []
    field.fill("")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("not a complete code")
    field.fill(show_code(TYPED_CODE).lower().replace("-", " "))
    page.keyboard.press("Enter")
    is_start(page)
    answer(page)
    assert len(site.counted) == 1 and site.asked[0]["invitation"] == TYPED_CODE


@pytest.mark.parametrize(
    ("uses", "words"),
    [({}, "not valid, or it has expired"), ({CODE: 0}, "has been used already")],
)
def test_a_code_that_is_refused(page: Page, site: InvitingSite, uses: dict[str, int], words: str) -> None:
    """The page says why, and another code can be typed at once."""
    site.uses = {**uses, SECOND_CODE: 1}
    page.goto(personal(site))
    expect(page.get_by_role("alert")).to_contain_text(words)
    page.get_by_label("Invitation code").fill(SECOND_CODE)
    page.get_by_role("button", name="Continue").click()
    is_start(page)
    assert [asked["invitation"] for asked in site.asked] == [CODE, SECOND_CODE]


def test_a_reload_in_every_step(page: Page, site: InvitingSite) -> None:
    """While the request is under way, after its response was lost, and once the token is there: one blinded value."""
    lost = iter(range(2))

    def lose(route: Route) -> None:
        if next(lost, None) is None:
            return route.continue_()
        route.fetch()  # it arrives, and the answer does not
        return route.abort()

    page.route("**/tokens", lose)
    page.goto(personal(site))
    while not site.asked:
        page.wait_for_timeout(20)
    page.goto(site.link)  # without the code: the device has kept it
    is_start(page)
    page.reload()
    is_start(page)
    assert len({asked["blinded"] for asked in site.asked}) == 1 and len(site.issued[CODE]) == 1
    answer(page)
    assert len(site.counted) == 1


def test_a_survey_without_invitations_loads_none_of_this(page: Page, site: InvitingSite) -> None:
    """What surveys with invitations need is a file of its own, and nobody else loads it."""
    site.documents["campus-health"] = DOCUMENT
    page.goto(site.link)
    is_start(page)
    assert not any("invitations.js" in request.path for request in site.requests)
    assert json.loads(DOCUMENT).keys() == {"deniable", "survey", "parts", "booklets"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots(page: Page, site: InvitingSite, scheme: str) -> None:
    """The screen that asks for a code, on a phone; nothing is wider than the screen."""
    page.set_viewport_size({"width": 390, "height": 700})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(site.link)
    expect(page.get_by_label("Invitation code")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if folder := os.environ.get("DENIABLE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"invitation-{scheme}.png")
