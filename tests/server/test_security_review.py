"""The security review in docs/evidence: complete, and true to what it names."""

from __future__ import annotations

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path

from tests.helpers.machine import ROOT

DOCS = ROOT / "docs"
REVIEW = (DOCS / "evidence" / "security-review.md").read_text("utf-8")
LEVELS: dict[str, list[int]] = json.loads((Path(__file__).parent / "asvs-5.0-levels.json").read_text())["levels"]
REQUIRED = {
    f"{section}.{number}" for section, levels in LEVELS.items() for number, level in enumerate(levels, 1) if level <= 2
}


def rows() -> list[list[str]]:
    """The tables of the review, without their heads."""
    text = REVIEW.partition("## The review, requirement by requirement")[2]
    cells = [
        [cell.strip() for cell in line.strip("|\n").split(" | ")] for line in text.splitlines() if line[:2] == "| "
    ]
    return [row for row in cells if row[0] != "requirement"]


def covered(entry: str) -> set[str]:
    """The requirements of a first cell: ids, whole sections, whole chapters."""
    named = set()
    for part in entry.split(", "):
        found = {each for each in REQUIRED if each == part or each.startswith(f"{part}.")}
        assert found, f"{part} is no requirement of level 1 or 2"
        named |= found
    return named


def test_every_requirement_is_accounted_for_once() -> None:
    """Each of the 253 requirements of ASVS 5.0.0, levels 1 and 2, is in a table, or under what does not apply."""
    counted = [each for row in rows() for each in covered(row[0])]
    assert sorted(counted) == sorted(REQUIRED) and len(counted) == 253
    assert {len(row) for row in rows()} <= {2, 5}


def test_a_state_has_what_it_needs() -> None:
    """What is met names a test, what is the operator's names the guide for operators, what is short says why."""
    lacking = []
    for requirement, asked, state, where, held in (row for row in rows() if len(row) == 5):
        needs = {
            "met": bool(named_tests(held)),
            "operator": "operating.md" in where,
            "in part": len(where) > 40,
            "short": len(where) > 40,
        }
        if not (asked and where and needs.get(state, False)):
            lacking.append(requirement)
    assert lacking == []


def named_tests(text: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py::\w+)`", text)


@cache
def functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def is_ours(place: str) -> bool:
    """A module, class, function or constant of ours."""
    if not place.startswith(("deniable.", "deniable_protocol.")):
        place = f"deniable_server.{place}"
    parts = place.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_everything_that_is_named_exists() -> None:
    """Tests, places in the sources, and files."""
    tests = [
        name
        for name in named_tests(REVIEW)
        for file, _, function in [name.partition("::")]
        if function not in functions(ROOT / "tests" / file)
    ]
    wheres = [row[3] for row in rows() if len(row) == 5]
    places = {place for where in wheres for place in re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", where)}
    gone = [place for place in places - {"constraints.txt"} if not is_ours(place)]
    files = re.findall(r"`((?:client|server|shared|docs|tests)/[\w./-]+\.\w+)`", REVIEW)
    assert sorted({*tests, *gone, *(file for file in files if not (ROOT / file).is_file())}) == []


def test_every_event_is_documented() -> None:
    """Every name that the sources give an event of the security log is in docs/operating.md."""
    sources = (path.read_text("utf-8") for path in (ROOT / "server/deniable_server").rglob("*.py"))
    calls = r"""(?:events\.(?:did|refused)|self\.did|self\._write|_note)\(\s*(?:logging\.\w+,\s*)?"([a-z-]+)\""""
    named = {name for source in sources for name in re.findall(calls, source)}
    assert {"signed-in", "unknown-token", "survey-closed", "refusals-left-out", "token-used"} <= named
    operating = (DOCS / "operating.md").read_text("utf-8")
    assert sorted(name for name in named if f"`{name}`" not in operating) == []
