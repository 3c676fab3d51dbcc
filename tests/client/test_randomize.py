"""deniable.randomize: what an app gets, and that no answer ever shows in an error."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

import deniable
from deniable_protocol import AnswerError, DocumentError, publish, survey_from_tree
from tests.helpers.surveys import joint, several

OPTIONS = [{"code": c, "text": c} for c in "xyz"]
SURVEY: dict[str, Any] = {
    "id": "every-type",
    "title": "Every type",
    "segments": [{"id": "campus", "text": "?", "options": [{"code": c, "text": c} for c in ("north", "south")]}],
    "questions": [
        {"id": "bit", "type": "yes_no", "text": "?", "epsilon": "1"},
        {"id": "bit3", "type": "yes_no", "text": "?", "epsilon": "1", "decline": True},
        {"id": "pick", "type": "choice", "text": "?", "epsilon": "1", "options": OPTIONS},
        {"id": "many", "type": "multi_choice", "text": "?", "epsilon": "1", "options": OPTIONS},
        {"id": "rate", "type": "scale", "text": "?", "epsilon": "1", "labels": ["1", "2", "3"]},
        {"id": "amount", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 10},
        {"id": "binned", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 10, "measure": "shares",
         "bins": [5], "decline": True},
    ],
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "bit": True, "bit3": "declined", "pick": "y", "many": ["x", "z"], "rate": 3, "amount": 2.5, "binned": 7,
}  # fmt: skip
SEGMENTS = {"campus": "north"}
EVERYTHING: dict[str, Any] = {"vaped": True, "how_often": "weekly", "support": ["friend"], "stress": 2, "hours": 10}


@pytest.fixture(scope="module")
def document() -> bytes:
    return publish(survey_from_tree(SURVEY))


def test_a_submission_has_every_report_and_segment(document: bytes) -> None:
    """Five lines in an app: a submission with an id, digest, booklet, a report per part and a code per segment."""
    submission = deniable.randomize(document, ANSWERS, SEGMENTS)
    assert list(submission) == ["id", "digest", "booklet", "reports", "segments"]
    assert re.fullmatch(r"[0-9a-f]{32}", submission["id"])
    assert (submission["booklet"], submission["segments"]) == (0, SEGMENTS)
    assert len(submission["reports"]) == len(SURVEY["questions"])
    assert all(type(report) is int and 0 <= report < 2**53 for report in submission["reports"])


def test_there_is_no_seed(document: bytes) -> None:
    """The public function takes a document, answers, segments, a booklet and a token: nothing makes it predictable."""
    taken = ["document", "answers", "segments", "booklet", "token"]
    assert list(inspect.signature(deniable.randomize).parameters) == taken


@pytest.mark.parametrize("booklet", [-1, 4, 10**30, True, 1.0, "1"])
def test_a_booklet_that_the_survey_does_not_have_is_refused(booklet: Any) -> None:
    """A booklet is the number of one of the document's; anything else is an error at its place."""
    with pytest.raises(AnswerError, match="not a booklet of this survey") as caught:
        deniable.randomize(several(), {}, SEGMENTS, booklet=booklet)
    assert (caught.value.place, caught.value.reason) == ("booklet", "range")


def test_a_given_booklet_is_not_drawn() -> None:
    """Apps that asked a booklet's questions name it, and the submission is about these questions."""
    for booklet, reports in enumerate((2, 1, 2, 3)):
        submission = deniable.randomize(several(), EVERYTHING, SEGMENTS, booklet=booklet)
        assert (submission["booklet"], len(submission["reports"])) == (booklet, reports)


def test_sets_tuples_and_numpy_like_floats_are_taken(document: bytes) -> None:
    """Several choices come as any collection; a subclass of float is a number."""

    class Float(float):
        pass

    for many in ({"x"}, ("x", "y"), frozenset("xyz"), []):
        deniable.randomize(document, {**ANSWERS, "many": many, "amount": Float(1.5)}, SEGMENTS)


BAD: list[tuple[str, Any, str]] = [
    ("bit", 1, "type"),
    ("bit", "yes", "type"),
    ("bit", "declined", "type"),
    ("bit", None, "type"),
    ("bit3", "yes", "type"),
    ("pick", "SECRET", "range"),
    ("pick", 73193, "type"),
    ("many", "xyz", "type"),
    ("many", ["x", "SECRET"], "range"),
    ("many", ["x", "x"], "range"),
    ("many", [73193], "type"),
    ("many", [["SECRET"]], "type"),
    ("many", b"SECRET", "type"),
    ("rate", True, "type"),
    ("rate", 73193, "range"),
    ("rate", 2.5, "range"),
    ("rate", "SECRET", "type"),
    ("rate", float("nan"), "range"),
    ("rate", float("inf"), "range"),
    ("amount", True, "type"),
    ("amount", "73193", "type"),
    ("amount", 73193, "range"),
    ("amount", float("nan"), "range"),
    ("amount", float("-inf"), "range"),
    ("amount", 10**400, "range"),
    ("amount", -(10**400), "range"),
    ("amount", 1 + 2j, "type"),
    ("binned", 10.0001, "range"),
    ("binned", None, "type"),
]


@pytest.mark.parametrize(("question", "answer", "reason"), BAD)
def test_a_bad_answer_is_refused_without_repeating_it(document: bytes, question: str, answer: Any, reason: str) -> None:
    """The error names the question and what it takes, and contains nothing of what was answered."""
    with pytest.raises(AnswerError) as caught:
        deniable.randomize(document, {**ANSWERS, question: answer}, SEGMENTS)
    assert (caught.value.place, caught.value.reason) == (question, reason)
    shown = str(caught.value) + repr(caught.value) + repr(caught.value.__cause__) + repr(caught.value.__context__)
    for secret in ("SECRET", "73193", "nan", "inf", "2.5", "10000000", "1+2j", "10.0001"):
        assert secret not in shown


def test_every_problem_is_told_at_once(document: bytes) -> None:
    """All bad answers, missing ones and unknown names in one error; unknown names are not repeated."""
    with pytest.raises(AnswerError) as caught:
        deniable.randomize(document, {"bit": 1, "SECRET": 1, "rate": 9}, {"campus": "SECRET"})
    assert [(p.place, p.reason) for p in caught.value.problems] == [
        ("answers", "unknown"),
        ("bit", "type"),
        ("bit3", "missing"),
        ("pick", "missing"),
        ("many", "missing"),
        ("rate", "range"),
        ("amount", "missing"),
        ("binned", "missing"),
        ("campus", "range"),
    ]
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("bad", [None, [], "bit", 3])
def test_arguments_of_the_wrong_kind_are_refused(document: bytes, bad: Any) -> None:
    """Answers and segments are mappings."""
    with pytest.raises(AnswerError):
        deniable.randomize(document, bad, SEGMENTS)


def test_a_document_that_protects_less_is_refused_before_any_answer_is_looked_at(document: bytes) -> None:
    """One unit more of favour, and nothing is randomised, whatever the answers are."""
    favour = b'"favour":6584790284608188'
    assert favour in document
    with pytest.raises(DocumentError, match="is not the channel") as caught:
        deniable.randomize(document.replace(favour, b'"favour":6584790284608189', 1), {"bit": "whatever"})
    assert caught.value.place == "parts[0].channel"


def test_errors_are_one_tree() -> None:
    """Everything raised on purpose is a DeniableError."""
    assert issubclass(deniable.AnswerError, deniable.DeniableError)
    assert issubclass(deniable.DocumentError, deniable.DeniableError)


FORKING = """
import json, os, sys, threading
import deniable

document, answers, segments = json.load(sys.stdin)
ids = []

def work(count):
    ids.extend(deniable.randomize(document, answers, segments)["id"] for _ in range(count))

threads = [threading.Thread(target=work, args=(750,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
child = os.fork()
if child == 0:
    ids.clear()
work(500)
sys.stdout.write("\\n".join(ids) + "\\n")
sys.stdout.flush()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""


def test_threads_and_forks_never_share_randomness(document: bytes) -> None:
    """4,000 ids over four threads, a process and its forked child all differ (a clash by chance: below 10^-31)."""
    task = json.dumps([document.decode(), ANSWERS, SEGMENTS])
    run = subprocess.run([sys.executable, "-c", FORKING], input=task, capture_output=True, text=True, check=True)
    ids = run.stdout.split()
    assert len(ids) == 4000 == len(set(ids))


def test_reports_follow_the_channel(document: bytes) -> None:
    """20,000 yes answers at epsilon 1 report 1 with probability 0.731: within 6 standard errors (alarm: 2 in 10^9)."""
    counts = Counter(deniable.randomize(document, ANSWERS, SEGMENTS)["reports"][0] for _ in range(20_000))
    p = 6584790284608188 / 2**53
    assert abs(counts[1] - 20_000 * p) < 6 * (20_000 * p * (1 - p)) ** 0.5


def test_threads_may_all_be_the_first() -> None:
    """Sixteen threads that verify at once, as the first thing in a process, all get their document: five times over.

    msgspec describes a type at its first use, and crashed the process when several threads did so together.
    """
    code = """
import sys, threading
sys.setswitchinterval(1e-6)
from deniable_protocol import verify
document, start = sys.stdin.buffer.read(), threading.Barrier(16)
done = []
def first(i):
    start.wait()
    done.append(verify(document.replace(b'"title":"', b'"title":"%d ' % i)))
threads = [threading.Thread(target=first, args=(i,)) for i in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(len(done) != 16)
"""
    for _ in range(5):
        subprocess.run([sys.executable, "-c", code], input=joint(), check=True, timeout=60)
