"""People at a page: by keyboard alone, with a mouse, or with a finger on a phone. Each can do the same few things."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from playwright.sync_api import CDPSession, Error, Locator, Page, expect

HAS_FOCUS = "(target) => target.getRootNode().activeElement === target"
IS_BEFORE = """(target) => {
    const active = target.getRootNode().activeElement;
    return Boolean(active && active.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING);
}"""
WAIT_FOR_CLICK = """() => {
    window.clicked = new Promise((resolve) => addEventListener("click", () => setTimeout(resolve), { once: true }));
}"""
CLICKED = "() => Promise.race([window.clicked, new Promise((resolve) => setTimeout(resolve, 2_000))])"
DRAWN = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
EDGE = 65
"""Pixels from the top or bottom of a window; nearer, a page scrolls by itself while one drags."""
MOST_STEPS = 500
MOST_TABS = 400
"""Further than this nothing is from anything in these tests: it cannot be reached."""


class Keyboard:
    """Only keys. What Tab does not reach cannot be used."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys = page, page.keyboard

    def reach(self, target: Locator) -> None:
        key = "Shift+Tab" if target.evaluate(IS_BEFORE) else "Tab"
        for _ in range(MOST_TABS):
            if target.evaluate(HAS_FOCUS):
                return
            self.keys.press(key)
        raise AssertionError(f"the keyboard does not reach {target}")

    def press(self, target: Locator) -> None:
        """A button or a link."""
        self.reach(target)
        self.keys.press("Enter")

    def tick(self, target: Locator) -> None:
        self.reach(target)
        self.keys.press("Space")
        expect(target).to_be_checked()

    def write(self, target: Locator, text: str) -> None:
        self.reach(target)
        self.keys.press("Control+a")
        self.keys.type(text)

    def choose(self, target: Locator, option: str) -> None:
        """By the arrow keys, as one does in a closed list: each one on the way is chosen for a moment."""
        self.reach(target)
        texts = [text.strip() for text in target.locator("option").all_text_contents()]
        wanted = next(place for place, text in enumerate(texts) if option in text)
        for _ in texts:
            now = target.evaluate("(select) => select.selectedIndex")
            if now == wanted:
                return
            self.keys.press("ArrowDown" if now < wanted else "ArrowUp")
        raise AssertionError(f"the arrow keys do not reach {option}")

    def move(self, bar: Locator, _to: Locator, name: str) -> None:
        """One place up or down: by the button of this name."""
        self.press(bar.get_by_role("button", name=name))


class Mouse:
    """Clicks, and texts pasted where the mouse has clicked."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        target.click()

    def tick(self, target: Locator) -> None:
        self.press(target)
        expect(target).to_be_checked()

    def write(self, target: Locator, text: str) -> None:
        self.press(target)
        target.press("Control+a")
        self.page.keyboard.insert_text(text)

    def choose(self, target: Locator, option: str) -> None:
        """The list itself is the browser's: only what was chosen in it is the page's."""
        target.select_option(next(each for each in target.locator("option").all_text_contents() if option in each))

    def move(self, bar: Locator, to: Locator, _name: str) -> None:
        """Drag by the handle, in front of another one."""
        x, y = self._grasp(bar)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for place in self._way(bar, to):
            self.page.mouse.move(x, place)
        self.page.mouse.up()

    def _grasp(self, bar: Locator) -> tuple[float, float]:
        """The middle of the handle of an item, which is well in sight."""
        handle = bar.locator("[data-drag]")
        handle.evaluate("(handle) => handle.scrollIntoView({ block: 'center' })")
        self.page.evaluate(DRAWN)  # Firefox says where things were before
        box = handle.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _way(self, bar: Locator, to: Locator) -> Iterator[float]:
        """How far down the window one points until the item is in front of the other: on the other, or, as long as that
        is out of sight, at the edge, where the page scrolls, and away from it again, so that nothing moves meanwhile.
        """
        item, other = bar.element_handle(), to.element_handle()
        height = self.page.evaluate("innerHeight")
        for _ in range(MOST_STEPS):
            if self.page.evaluate("([item, other]) => item.nextElementSibling === other", [item, other]):
                return
            box = other.bounding_box()
            assert box is not None
            place = box["y"] + 10
            if not EDGE <= place <= height - EDGE:
                yield EDGE / 2 if place < EDGE else height - EDGE / 2
                self.page.evaluate(DRAWN)
                place = height / 2
            yield place
            self.page.evaluate(DRAWN)
        raise AssertionError("the item does not follow")


class Finger(Mouse):
    """Taps. A page in a context with touch."""

    def press(self, target: Locator) -> None:
        """A tap becomes a click a moment later: until then the page is what it was."""
        element = target.element_handle()
        frame = element.owner_frame()
        assert frame is not None
        frame.evaluate(WAIT_FOR_CLICK)
        target.tap()
        with suppress(Error):  # it led to another page
            frame.evaluate(CLICKED)

    def move(self, bar: Locator, to: Locator, _name: str) -> None:
        x, y = self._grasp(bar)
        session = self.page.context.new_cdp_session(self.page)
        _touch(session, "touchStart", (x, y))
        for place in self._way(bar, to):
            _touch(session, "touchMove", (x, place))
        _touch(session, "touchEnd")
        session.detach()


def _touch(session: CDPSession, kind: str, *at: tuple[float, float]) -> None:
    points = [{"x": x, "y": y} for x, y in at]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


Hands = Keyboard | Mouse
