"""Eighty browsers and eighty Python apps answer the same survey, each its own booklet of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any

import pytest
from msgspec import UNSET
from playwright.sync_api import Browser

import deniable
from deniable_protocol import Document, publish, survey_from_tree
from deniable_server.estimator import estimate_question, gather
from deniable_server.estimator.intervals import Aim
from deniable_server.statistics import Cell, reports_of
from deniable_server.storage import open_storage
from tests.helpers.servers import Server, running

SURVEY: dict[str, Any] = {
    "id": "both",
    "title": "From anywhere",
    "epsilon": "4.0",
    "together": [["vaped", "choice"]],
    "segments": [
        {
            "id": "via",
            "text": "How?",
            "options": [{"code": "browser", "text": "In a browser"}, {"code": "python", "text": "In an app"}],
        }
    ],
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Vaped?"},
        {
            "id": "how_often",
            "type": "choice",
            "text": "How often?",
            "show_if": {"vaped": ["yes"]},
            "options": [{"code": code, "text": code} for code in ("weekly", "daily")],
        },
        {
            "id": "choice",
            "type": "choice",
            "text": "Which?",
            "options": [{"code": code, "text": code.upper()} for code in "abcd"],
        },
        {"id": "hours", "type": "number", "text": "Hours?", "min": 0, "max": 10},
    ],
}
DOCUMENT = publish(
    survey_from_tree(SURVEY),
    [(["vaped", "how_often"], None), (["vaped", "choice"], None), (["hours"], None)],
    [([0], 2), ([1], 2), ([2], 1)],
)
EACH = 80
CONFIDENCE = 1 - 1e-8  # of 30 intervals none misses by chance but once in three million runs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("both")
    storage = open_storage(str(folder / "a.db"))
    storage.publish(DOCUMENT)
    storage.close()
    with running(folder / "a.db", folder / "log") as server:
        yield server


def answers(i: int) -> dict[str, Any]:
    """Of 80 people 30% say yes, a third of them daily; the choices are 10, 20, 30 and 40%, and the hours average 3."""
    vaped = {"vaped": True, "how_often": "daily" if i % 10 == 0 else "weekly"} if i % 10 < 3 else {"vaped": False}
    return {**vaped, "choice": "abbcccdddd"[i % 10], "hours": 2.5 if i % 2 else 3.5}


TRUTH = {"yes": 0.3, "no": 0.7, "daily": 1 / 3, "weekly": 2 / 3, "a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}


def answer_in_browsers(browser: Browser, base: str) -> None:
    """One after the other on the same machine, which forgets each of them: a device answers once."""
    context = browser.new_context()
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    for i in range(EACH):
        page.goto(f"{base}/sign-in")  # a page that may run this server's scripts, and brings none of the survey's
        delivered = page.evaluate(
            """async (answers) => {
              const { Client } = await import("/deniable.js");
              const client = await Client.load("/s/both");
              return (await client.submit(answers, { via: "browser" })).delivered;
            }""",
            answers(i),
        )
        assert delivered
        page.goto("about:blank")
        devtools.send("Storage.clearDataForOrigin", {"origin": base, "storageTypes": "indexeddb,local_storage"})
    context.close()


def answer_in_python(base: str) -> None:
    def one(i: int) -> bool:
        with deniable.Client(f"{base}/s/both") as client:
            return client.submit(answers(i), segments={"via": "python"}).delivered

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(one, range(EACH)))


def check(document: Document, cell: Cell) -> None:
    """That the interval of every share and mean contains the truth of those who answered."""
    sizes = [reports_of(document, cell, part) for part in range(len(document.parts))]
    for question in document.survey.questions:
        about = {part for part, _ in document.parts_about(question.id)}
        asked = sum(int(n) for n, each in zip(cell.booklets, document.booklets, strict=True) if about & {*each.parts})
        heard = gather(document, question, [counts.tolist() for counts in cell.counts], sizes, asked)
        got = estimate_question(heard, Aim(confidence=CONFIDENCE, population=cell.submissions))
        assert got.answers == asked
        for share in got.shares:
            assert share.low <= TRUTH[share.code] <= share.high, share
        assert got.applies is UNSET or got.applies.low <= TRUTH["yes"] <= got.applies.high
        assert got.mean is None or got.mean.low <= 3 <= got.mean.high


def test_both_clients_tell_the_truth_together(browser: Browser, server: Server) -> None:
    """80 submissions from browsers and 80 from Python arrive, and the interval of every estimate, of each half and of
    the whole, contains the truth.
    """
    answer_in_python(server.base)
    answer_in_browsers(browser, server.base)
    storage = open_storage(str(server.database), create=False)
    published = storage.find("both")
    assert published is not None
    cells = [*storage.statistics(published).cells.values()]
    storage.close()
    assert [cell.submissions for cell in cells] == [EACH, EACH]
    for cell in (*cells, reduce(add, cells)):
        check(published.document, cell)
