"""Eighty browsers and eighty Python apps answer the same survey."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import deniable
from deniable_protocol import parse_survey, publish
from deniable_server.estimator import estimate_question
from deniable_server.storage import open_storage
from tests.helpers.servers import Server, running

SURVEY = b"""
id = "both"
title = "From anywhere"
[[segments]]
id = "via"
text = "How?"
options = [{ code = "browser", text = "In a browser" }, { code = "python", text = "In an app" }]
[[questions]]
id = "vaped"
type = "yes_no"
text = "Vaped?"
epsilon = 2.0
[[questions]]
id = "choice"
type = "choice"
text = "Which?"
epsilon = 2.0
options = [
  { code = "a", text = "A" },
  { code = "b", text = "B" },
  { code = "c", text = "C" },
  { code = "d", text = "D" },
]
[[questions]]
id = "hours"
type = "number"
text = "Hours?"
epsilon = 2.0
min = 0
max = 10
"""
EACH = 80
CONFIDENCE = 1 - 1e-8  # of 21 intervals none misses by chance but once in five million runs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("both")
    storage = open_storage(str(folder / "a.db"))
    storage.publish(publish(parse_survey(SURVEY)))
    storage.close()
    with running(folder / "a.db", folder / "log") as server:
        yield server


def answers(i: int) -> dict[str, Any]:
    """Of 80 people 30% say yes, the choices are 10, 20, 30 and 40%, and the hours average 3."""
    return {"vaped": i % 10 < 3, "choice": "abbcccdddd"[i % 10], "hours": 2.5 if i % 2 else 3.5}


TRUTH = {"yes": 0.3, "no": 0.7, "a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}


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


def test_both_clients_tell_the_truth_together(browser: Browser, server: Server, tmp_path: Path) -> None:
    """80 submissions from browsers and 80 from Python arrive, and the interval of every estimate, of each half and of
    the whole, contains the truth.
    """
    answer_in_python(server.base)
    answer_in_browsers(browser, server.base)
    storage = open_storage(str(server.database), create=False)
    published = storage.find("both")
    assert published is not None
    cells = list(storage.statistics(published).values())
    assert [cell.submissions for cell in cells] == [EACH, EACH]
    for n, counts in [
        *((EACH, cell.counts) for cell in cells),
        (2 * EACH, [first + second for first, second in zip(*(cell.counts for cell in cells), strict=True)]),
    ]:
        for question, count in zip(published.document.survey.questions, counts, strict=True):
            channel = published.document.channels[question.id]
            got = estimate_question(question, channel, count.tolist(), n, confidence=CONFIDENCE, population=n)
            for share in got.shares:
                assert share.low <= TRUTH[share.code] <= share.high, (n, share)
            assert got.mean is None or got.mean.low <= 3 <= got.mean.high
    storage.close()
