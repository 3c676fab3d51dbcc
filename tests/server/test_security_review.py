"""The review in docs/security.md: complete, and true to what it names."""

from __future__ import annotations

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

DOCS = ROOT / "docs"
REVIEW = (DOCS / "evidence/security-review.md").read_text("utf-8")
LEVELS: dict[str, list[int]] = json.loads((Path(__file__).parent / "asvs-5.0-levels.json").read_text())["levels"]
REQUIRED = {
    f"{section}.{number}" for section, levels in LEVELS.items() for number, level in enumerate(levels, 1) if level <= 2
}
STATES = {"met", "operator", "in part", "short"}


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


REVIEWED = [row for row in rows() if len(row) == 5]
APART = [row for row in rows() if len(row) == 2]


def test_the_levels_are_those_of_the_standard() -> None:
    """ASVS 5.0.0 has 345 requirements: 70 of level 1, 183 of level 2, 92 of level 3, in 17 chapters."""
    all_levels = [level for levels in LEVELS.values() for level in levels]
    assert [all_levels.count(level) for level in (1, 2, 3)] == [70, 183, 92]
    assert {section.partition(".")[0] for section in LEVELS} == {str(chapter) for chapter in range(1, 18)}


def test_every_requirement_is_accounted_for_once() -> None:
    """Each of levels 1 and 2 stands in a table, or under what does not apply; none in both."""
    assert len(REVIEWED) + len(APART) == len(rows())
    counted = [each for row in rows() for each in covered(row[0])]
    assert sorted(REQUIRED - set(counted)) == []
    assert sorted(each for each in set(counted) if counted.count(each) > 1) == []
    assert len(counted) == 253


@pytest.mark.parametrize("row", REVIEWED, ids=lambda row: row[0])
def test_a_state_has_what_it_needs(row: list[str]) -> None:
    """What is met has a test; what is the operator's is said in docs/operating.md; what is short says why."""
    _, asked, state, where, held = row
    assert state in STATES and asked and where
    if state == "met":
        assert named_tests(held)
    if state == "operator":
        assert "operating.md" in where
    if state in ("in part", "short"):
        assert len(where) > 40


def named_tests(text: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py::\w+)`", text)


@cache
def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", sorted(set(named_tests(REVIEW))))
def test_every_test_that_is_named_exists(name: str) -> None:
    """File and function."""
    file, _, function = name.partition("::")
    assert (ROOT / "tests" / file).is_file() and function in functions(ROOT / "tests" / file)


PLACES = sorted({place for row in REVIEWED for place in re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", row[3])})


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_is_named_exists(place: str) -> None:
    """A module, class, function or constant of ours."""
    if place == "constraints.txt":
        return
    if not place.startswith(("deniable.", "deniable_protocol.")):
        place = f"deniable_server.{place}"
    parts = place.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return
    pytest.fail(f"{place} is not there")


def test_every_file_and_link_leads_somewhere() -> None:
    """Paths in the repository, other documents, and their headings."""
    for path in re.findall(r"`((?:client|server|shared|docs|tests)/[\w./-]+\.\w+)`", REVIEW):
        assert (ROOT / path).is_file(), path
    for target in re.findall(r"\]\(([^)]+)\)", REVIEW):
        file, _, heading = target.partition("#")
        text = (DOCS / file).read_text("utf-8") if file else REVIEW
        anchors = {
            re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert not heading or heading in anchors, target


def test_every_event_is_documented() -> None:
    """Whatever name the sources give an event of the security log stands in docs/operating.md."""
    sources = (path.read_text("utf-8") for path in (ROOT / "server/deniable_server").rglob("*.py"))
    calls = r"""(?:events\.(?:did|refused)|self\.did|self\._write|_note)\(\s*(?:logging\.\w+,\s*)?"([a-z-]+)\""""
    named = {name for source in sources for name in re.findall(calls, source)}
    assert {"signed-in", "unknown-token", "survey-closed", "refusals-left-out", "token-used"} <= named
    operating = (DOCS / "operating.md").read_text("utf-8")
    assert sorted(name for name in named if f"`{name}`" not in operating) == []
