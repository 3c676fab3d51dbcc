"""The documentation as a site: it builds without a warning, has no broken link, and loads nothing from another host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from playwright.sync_api import Browser

import deniable

ELSEWHERE = re.compile(r"(https?:)?//", re.IGNORECASE)


class Links(HTMLParser):
    """What a page loads, what it links to, and which headings others can link to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors.add(found.get("id", ""))
        self.loaded += [found[name] for name in ("src", "srcset", "data", "poster") if name in found]
        if "href" in found:
            (self.linked if tag == "a" else self.loaded).append(found["href"])


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as make docs does, in another folder."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The site on a port of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_every_page_is_in_the_site(root: Path, site: Path) -> None:
    """Each page and notebook in docs/ has its page in the site, and so have the README, the protocol and the guides."""
    docs = root / "docs"
    expected = {
        path.relative_to(docs).with_suffix(".html").as_posix()
        for kind in ("md", "ipynb")
        for path in docs.rglob(f"*.{kind}")
    }
    expected |= {"index.html", "protocol.html", "contributing.html", "security.html", "changelog.html"}
    assert expected == {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    """No script, style, picture or font of any page comes from another host."""
    for page in site.rglob("*.html"):
        assert [address for address in Links(page).loaded if ELSEWHERE.match(address)] == [], page.name
    for style in site.rglob("*.css"):
        named = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)", style.read_text("utf-8"))
        assert [address for address in named if ELSEWHERE.match(address)] == [], style.name


def test_no_link_leads_nowhere(site: Path) -> None:
    """Every link within the site leads to a file, and to a heading of it where it names one."""
    pages = {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    for page, links in pages.items():
        for address in links.linked + links.loaded:
            target = urlsplit(address)
            if target.scheme or target.netloc:
                continue
            file = (page.parent / unquote(target.path)).resolve() if target.path else page
            file = file / "index.html" if file.is_dir() else file
            assert file.exists(), f"{page.name}: {address}"
            if target.fragment and file in pages:
                assert unquote(target.fragment) in pages[file].anchors, f"{page.name}: {address}"


def test_a_reader_finds_pages_without_leaving_the_host(browser: Browser, site: Path, address: str) -> None:
    """In a real Chromium every page opens and the search finds one, and each request goes to this site."""
    with browser.new_context() as context:
        asked: set[str] = set()
        page = context.new_page()
        page.on("request", lambda request: asked.add(request.url))
        for file in sorted(site.rglob("*.html")):
            page.goto(f"{address}/{file.relative_to(site).as_posix()}")
        page.goto(f"{address}/index.html")
        page.keyboard.press("/")
        page.get_by_role("textbox", name="Search").press_sequentially("continuity correction")
        page.locator(".md-search-result__item", has_text="Estimates").first.wait_for()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_the_packages_and_the_citation_agree(root: Path) -> None:
    """The Python package, the npm package and the citation name the same version and the same licence."""
    python = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    npm = json.loads((root / "client/web/package.json").read_text("utf-8"))
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    assert {deniable.__version__, npm["version"], citation["version"]} == {deniable.__version__}
    assert {python["license"], npm["license"], citation["license"]} == {"Apache-2.0"}
    assert f"SPDX-License-Identifier: {python['license']}\n" in (root / "LICENSE").read_text("utf-8")
