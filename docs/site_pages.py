"""Brings pages and files from outside docs/ into the site, and points links at them. MkDocs calls the two functions."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "shared/PROTOCOL.md": "protocol.md",
}
"""Pages of the repository, and their names in the site."""

FILES = {
    "LICENSE": "files/LICENSE.txt",
    "client/web/src/deniable/texts.js": "files/texts.js",
    "server/deniable_server/example.toml": "files/example.toml",
    "server/deniable_server/pages/static/icon.svg": "images/icon.svg",
}
"""Files that pages link to, and their names in the site."""

NOTEBOOK = "notebook.ipynb"
"""A notebook of docs/, which becomes a page."""

LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
"""The address in a Markdown link or picture, without its heading; not one of another host, nor one on the same page."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files of the repository to those of docs/."""
    for source, name in (PAGES | FILES).items():
        files.append(File.generated(config, name, content=(ROOT / source).read_bytes()))
    page, pictures = notebook_page((ROOT / "docs" / NOTEBOOK).read_text("utf-8"))
    files.append(File.generated(config, "notebook.md", content=page))
    for name, picture in pictures.items():
        files.append(File.generated(config, name, content=picture))
    return files


def notebook_page(text: str) -> tuple[str, dict[str, bytes]]:
    """The cells of a notebook and what they gave, in Markdown, and its pictures by their names."""
    pieces, pictures = [], {}
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            pieces.append(source)
            continue
        pieces.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            given: dict[str, Any] = output.get("data", {})
            if "image/png" in given:
                name = f"notebook-{len(pictures)}.png"
                pictures[name] = base64.b64decode(given["image/png"])
                pieces.append(f"![Chart]({name})")
            elif "text/html" in given:
                # Without blank lines, which would end the block of HTML.
                pieces.append(re.sub(r"\n\s*\n", "\n", "".join(given["text/html"])))
            else:
                shown = "".join(given.get("text/plain", output.get("text", "")))
                pieces.append(f"```text\n{shown.rstrip()}\n```")
    pieces.append(f"[Download this notebook]({NOTEBOOK})")
    return "\n\n".join(pieces), pictures


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links that are right in the repository to where their targets are in the site."""
    here = page.file.src_uri
    in_repository = {name: source for source, name in PAGES.items()}.get(here, f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), link[1]))
        name = (PAGES | FILES).get(target, target.removeprefix("docs/"))
        if name == NOTEBOOK and here != "notebook.md":
            name = "notebook.md"
        return posixpath.relpath(name, posixpath.dirname(here) or ".")

    return LINK.sub(moved, markdown)
