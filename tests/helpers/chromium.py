"""A real Chromium for tests, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Playwright

# No request of the browser's own making: tests look at every one that a page makes.
FLAGS = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]


def find_chromium() -> str | None:
    """The machine's Chromium or Chrome: $DENIABLE_CHROMIUM, or one on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("DENIABLE_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def launched(playwright: Playwright, executable: str) -> Iterator[Browser]:
    # Chromium's own sandbox refuses to run as root, as tests in a container do.
    browser = playwright.chromium.launch(executable_path=executable, args=FLAGS, chromium_sandbox=os.getuid() != 0)
    yield browser
    browser.close()
