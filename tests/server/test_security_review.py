"""The security review in docs/evidence accounts for every requirement, and the guide names every event."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.helpers.machine import ROOT

REVIEW = ROOT / "docs" / "evidence" / "security-review.md"
LEVELS: dict[str, list[int]] = json.loads((Path(__file__).parent / "asvs-5.0-levels.json").read_text())["levels"]
REQUIRED = {
    f"{section}.{number}" for section, levels in LEVELS.items() for number, level in enumerate(levels, 1) if level <= 2
}


def named(text: str) -> set[str]:
    """The requirements that a text names: one by one, as a range, as a section or (alone in a cell) as a chapter."""
    prefixes = [*re.findall(r"\b\d+\.\d+(?:\.\d+)?\b", text), *re.findall(r"^\| (\d+) \|", text, re.MULTILINE)]
    for section, first, last in re.findall(r"\b(\d+\.\d+)\.(\d+)–\1\.(\d+)", text):
        prefixes += [f"{section}.{number}" for number in range(int(first), int(last) + 1)]
    return {each for each in REQUIRED for prefix in prefixes if each == prefix or each.startswith(f"{prefix}.")}


def test_every_requirement_is_accounted_for() -> None:
    """Each of the 253 requirements of ASVS 5.0.0, levels 1 and 2, is in one of the review's lists."""
    assert len(REQUIRED) == 253
    assert sorted(REQUIRED - named(REVIEW.read_text("utf-8").partition("## Controls")[2])) == []


def test_every_event_is_documented() -> None:
    """Every name that the sources give an event of the security log is in docs/operating.md."""
    sources = (path.read_text("utf-8") for path in (ROOT / "server/deniable_server").rglob("*.py"))
    calls = r"""(?:events\.(?:did|refused)|self\.did|self\._write|_note)\(\s*(?:logging\.\w+,\s*)?"([a-z-]+)\""""
    named = {name for source in sources for name in re.findall(calls, source)}
    assert {"signed-in", "unknown-token", "survey-closed", "refusals-left-out", "token-used"} <= named
    operating = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert sorted(name for name in named if f"`{name}`" not in operating) == []
