"""The security review in docs/evidence accounts for every requirement by controls that can fail; and every event of the
log is documented.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from proofs.faults import inapplicable
from tests.helpers.fault_list import FAULTS
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


def controls() -> list[str]:
    """The controls of the review, one text each."""
    text = REVIEW.read_text("utf-8").partition("## Controls")[2].partition("\n## ")[0]
    return [" ".join(control.split()) for control in re.findall(r"(?ms)^- (.*?)(?=^- |^#|\Z)", text)]


def test_every_control_names_faults_that_its_tests_catch() -> None:
    """Each control names planted faults, and all of them are in the list that ``make proof`` goes through."""
    assert len(controls()) > 40
    known = {name.replace("_", " ") for name in FAULTS}
    for control in controls():
        planted = re.fullmatch(r".*\*Planted: (.*)\.\*", control)
        assert planted is not None, control
        assert set(planted[1].split(" · ")) <= known, sorted(set(planted[1].split(" · ")) - known)


def test_every_fault_can_be_planted(tmp_path: Path) -> None:
    """What a fault takes the place of is there, and so are the tests that are to catch it."""
    assert inapplicable(tmp_path) == []
    assert len(FAULTS) >= 57 + 20


def test_every_event_is_documented() -> None:
    """Every name that the sources give an event of the security log is in docs/operating.md."""
    sources = (path.read_text("utf-8") for path in (ROOT / "server/deniable_server").rglob("*.py"))
    calls = r"""(?:events\.(?:did|refused)|self\.did|self\._write|_note)\(\s*(?:logging\.\w+,\s*)?"([a-z-]+)\""""
    named = {name for source in sources for name in re.findall(calls, source)}
    assert {"signed-in", "unknown-token", "survey-closed", "refusals-left-out", "token-used"} <= named
    operating = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert sorted(name for name in named if f"`{name}`" not in operating) == []
