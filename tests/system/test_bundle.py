"""What the server sends is what the bundler makes of the sources."""

from __future__ import annotations

import re
from pathlib import Path

from deniable_web import web_files
from tests.helpers import npm


def test_what_is_committed_is_what_is_built(tmp_path: Path) -> None:
    """Built again, with the bundler that the lock file pins: the same files, byte for byte. If not: ``make bundle``."""
    web = npm.copied(tmp_path)
    npm.install(web)
    npm.bundle(web, tmp_path / "built")
    built = {str(path.relative_to(tmp_path / "built")): path for path in (tmp_path / "built").rglob("*.*")}
    committed = dict(web_files())
    assert built.keys() == committed.keys()
    assert [name for name, path in built.items() if path.read_bytes() != committed[name]] == []


def test_a_module_that_keeps_something_is_in_one_file(tmp_path: Path) -> None:
    """A questionnaire with receipts and a ledger of its own is not built."""
    web = npm.copied(tmp_path)
    npm.install(web)
    element = web / "src/deniable/survey-element.js"
    element.write_text(f'import {{ receipts }} from "./delivery.js";\n{element.read_text()}\nexport {{ receipts }};\n')
    said = npm.bundle_error(web, tmp_path / "built")
    assert re.search("in more than one file: .*src/deniable/delivery.js", said), said
    assert not (tmp_path / "built").exists()


def test_every_language_is_a_file_of_its_own(tmp_path: Path) -> None:
    """A file in src/deniable/texts becomes a file that is served, and the questionnaire imports it when asked."""
    web = npm.copied(tmp_path)
    npm.install(web)
    (web / "src/deniable/texts/xx.js").write_text('export default { yes: "Ναι" };\n')
    texts = web / "src/deniable/texts.js"
    first = '  en: () => import("./texts/en.js"),\n'
    texts.write_text(texts.read_text().replace(first, first + first.replace("en:", "xx:").replace("en.js", "xx.js")))
    npm.bundle(web, tmp_path / "built")
    assert '"Ναι"' in (tmp_path / "built/deniable/texts/xx.js").read_text("utf-8")
    questionnaire = (tmp_path / "built/deniable/survey-element.js").read_text("utf-8")
    assert 'import("./texts/xx.js")' in questionnaire and "Ναι" not in questionnaire
