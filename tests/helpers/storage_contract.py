"""The contract of storage: what every backend must do.

A test file that imports all of this runs it on one backend, which its fixture ``reopen`` opens, with ``fold_at=50``,
``TODAY`` and ``clock``, as often as asked: each is like another server on the same database.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import msgspec
import pytest

from deniable_protocol import Document, parse_survey, publish, randomize, survey_from_tree, verify
from deniable_server.errors import HeldBack, IdConflict, StorageError, SurveyClosed, SurveyDiffers, TooManySources
from deniable_server.planning.design import publish_survey
from deniable_server.statistics import Statistics, nothing, reports_of, tally
from deniable_server.storage import Accepted, Published, Row, Session, Storage, Token, base, open_storage, queries
from deniable_server.storage.sqlite.backup import restore
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.surveys import JOINT, JOINT_BOOKLETS, JOINT_PARTS, joint, several, textbook

TODAY = date(2026, 3, 1)
KEY = "0123456789abcdef" * 4
OTHER = {"id": "other", "title": "Other", "questions": [{"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"}]}

Open = Callable[[], Storage]


class Clock:
    """The time that all servers of a test have: it passes when the test says so. It begins with ``TODAY``."""

    seconds = 1_772_323_200

    def __call__(self) -> int:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def storage(reopen: Open) -> Storage:
    return reopen()


@pytest.fixture
def survey(storage: Storage, example: bytes) -> Published:
    assert storage.publish(example)
    found = storage.find("campus-health")
    assert found is not None
    return found


def rows_of(survey: Published, answers: dict[str, object], n: int) -> list[Row]:
    """Rows as they come from n real submissions, spread over the segment."""
    submissions = [
        randomize(survey.document, answers, {"campus": "north" if i % 3 else "south"})  # type: ignore[arg-type]
        for i in range(n)
    ]
    rows: list[Row] = []
    for start in range(0, n, 10_000):
        rows += (
            SubmissionReader(survey.document)
            .read(msgspec.json.encode({"submissions": submissions[start : start + 10_000]}))
            .rows
        )
    return rows


def recounted(survey: Published, rows: list[Row]) -> Statistics:
    from deniable_server.storage.queries import read_content

    return tally(survey.document, [read_content(row.content) for row in rows])


def other(row: Row) -> Row:
    """The same id with other content."""
    booklet, reports, segments = msgspec.json.decode(row.content)
    return Row(row.id, msgspec.json.encode([booklet, reports, [1 - segments[0]]]).decode())


# --- exactly once ----------------------------------------------------------------------------------------------------


def test_the_same_submission_again_is_a_duplicate(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Whether it waits in the inbox or is sealed, the same content is known and counted once."""
    rows = rows_of(survey, example_answers, 3)
    assert storage.accept(survey, rows) == Accepted(3, 0)
    assert storage.accept(survey, rows[:2]) == Accepted(0, 2)
    assert storage.fold(survey) == 3
    assert storage.accept(survey, rows) == Accepted(0, 3)
    assert storage.statistics(survey) == recounted(survey, rows)


@pytest.mark.parametrize("folded", [False, True])
def test_the_same_id_with_other_content_is_a_conflict(
    storage: Storage, survey: Published, example_answers: dict, folded: bool
) -> None:
    """A conflict stores nothing of its request, not even the new submissions in it."""
    first, new = rows_of(survey, example_answers, 2)
    storage.accept(survey, [first])
    if folded:
        storage.fold(survey)
    with pytest.raises(IdConflict):
        storage.accept(survey, [new, other(first)])
    assert storage.statistics(survey) == recounted(survey, [first])
    assert storage.days(survey) == {TODAY: 1}


def test_an_id_twice_in_one_batch(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Equal content counts once and is a duplicate; other content refuses the whole batch."""
    first, second = rows_of(survey, example_answers, 2)
    with pytest.raises(IdConflict):
        storage.accept(survey, [first, second, other(first)])
    assert storage.statistics(survey) == nothing(survey.document)
    assert storage.accept(survey, [first, second, first]) == Accepted(2, 1)


def test_an_id_belongs_to_its_survey(storage: Storage, survey: Published, example_answers: dict) -> None:
    """The same id in another survey is another submission."""
    storage.publish(publish(survey_from_tree(OTHER)))
    second = storage.find("other")
    assert second is not None
    (row,) = rows_of(survey, example_answers, 1)
    assert storage.accept(survey, [row]) == Accepted(1, 0)
    assert storage.accept(second, [Row(row.id, "[0,[1],[]]")]) == Accepted(1, 0)


def test_many_threads_posting_one_id_store_one_row(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Of 32 threads with the same submission one is told accepted and 31 duplicate."""
    (row,) = rows_of(survey, example_answers, 1)
    barrier = threading.Barrier(32)

    def post(_: int) -> Accepted:
        barrier.wait()
        return storage.accept(survey, [row])

    with ThreadPoolExecutor(32) as pool:
        assert Counter(pool.map(post, range(32))) == {Accepted(1, 0): 1, Accepted(0, 1): 31}
    assert storage.statistics(survey) == recounted(survey, [row])


def test_threads_and_servers_together_count_everything_once(
    reopen: Open, storage: Storage, survey: Published, example_answers: dict
) -> None:
    """Two servers on one database, eight threads each, every submission sent twice, folding all the while."""
    rows = rows_of(survey, example_answers, 400)
    servers = [storage, reopen()]
    found = [server.find("campus-health") for server in servers]

    def post(i: int) -> Accepted:
        published = found[i % 2]
        assert published is not None
        return servers[i % 2].accept(published, [rows[i // 2]])

    with ThreadPoolExecutor(16) as pool:
        totals = list(pool.map(post, range(800)))
    assert sum(total.accepted for total in totals) == 400
    assert sum(total.duplicates for total in totals) == 400
    for server in servers:
        assert server.statistics(survey) == server.recount(survey) == recounted(survey, rows)
    assert storage.days(survey) == {TODAY: 400}
    assert storage.verify() == []


def test_batches_and_singles_of_the_same_people_at_once(reopen: Open, survey: Published, example_answers: dict) -> None:
    """Batches so large that they are sealed at once, on two servers, and the same submissions one by one at the same
    time: each is counted once, wherever it came first.
    """
    servers = [reopen(), reopen()]
    rows = rows_of(survey, example_answers, 240)
    batches = [rows[start : start + 60] for start in range(0, 240, 60)]
    requests = [request for i in range(60) for request in [batches[i % 4], *([row] for row in rows[i::60])]]

    def post(i: int) -> int:
        server = servers[i % 2]
        found = server.find("campus-health")
        assert found is not None
        return server.accept(found, requests[i]).accepted

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(post, range(len(requests)))) == 240
    for server in servers:
        assert server.statistics(survey) == server.recount(survey) == recounted(survey, rows)
        server.close()
    assert servers[0].verify() == []


def test_statistics_that_were_counted_before_are_not_counted_again(
    storage: Storage, survey: Published, example_answers: dict
) -> None:
    """A batch that was counted when it was read is kept with these counts; one that has a known row is counted when it
    is folded.
    """
    rows = rows_of(survey, example_answers, 180)
    assert storage.accept(survey, rows[:60], None, recounted(survey, rows[:60])) == Accepted(60, 0)
    assert storage.accept(survey, rows[50:120], None, recounted(survey, rows[50:120])) == Accepted(60, 10)
    assert storage.accept(survey, rows[120:], "kiosk", recounted(survey, rows[120:])) == Accepted(60, 0)
    for _ in range(2):
        assert storage.statistics(survey) == storage.recount(survey) == recounted(survey, rows)
        whole, parts = storage.divided(survey, None, ["kiosk"])
        assert whole - parts["kiosk"] == recounted(survey, rows[:120])
        storage.fold(survey)
    assert storage.verify() == []


def test_one_request_refused_leaves_the_others_of_its_commit(
    storage: Storage, survey: Published, example_answers: dict
) -> None:
    """Requests that share a commit have outcomes of their own."""
    rows = rows_of(survey, example_answers, 40)
    storage.accept(survey, rows[:1])

    def post(row: Row) -> str:
        try:
            return str(storage.accept(survey, [row]))
        except IdConflict:
            return "conflict"

    with ThreadPoolExecutor(16) as pool:
        outcomes = Counter(pool.map(post, [row for new in rows[1:] for row in (new, other(rows[0]))]))
    assert outcomes == {str(Accepted(1, 0)): 39, "conflict": 39}
    assert storage.statistics(survey) == recounted(survey, rows)


# --- folding and closing ---------------------------------------------------------------------------------------------


def test_folding_changes_no_statistic(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Before, between and after foldings the statistics are those of a recount."""
    rows = rows_of(survey, example_answers, 230)
    for start in range(0, 230, 23):
        storage.accept(survey, rows[start : start + 23])
        expected = recounted(survey, rows[: start + 23])
        assert storage.statistics(survey) == storage.recount(survey) == expected
    storage.fold(survey)
    assert storage.statistics(survey) == storage.recount(survey) == recounted(survey, rows)
    assert storage.verify() == []


def test_statistics_of_parts_add_up(survey: Published, example_answers: dict) -> None:
    """Splitting submissions in any two batches changes nothing."""
    rows = rows_of(survey, example_answers, 60)
    for cut in (0, 1, 30, 60):
        assert recounted(survey, rows[:cut]) + recounted(survey, rows[cut:]) == recounted(survey, rows)


def test_submissions_are_streamed_by_id(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Sealed and waiting submissions come in one order, that of their random ids."""
    rows = rows_of(survey, example_answers, 70)
    storage.accept(survey, rows[:55])
    storage.accept(survey, rows[55:])
    with storage.submissions(survey) as submissions:
        listed = [(submission, msgspec.json.encode(content).decode()) for submission, content in submissions]
    assert listed == sorted(rows)


def test_a_closed_survey_takes_nothing_new(
    storage: Storage, survey: Published, reopen: Open, example_answers: dict
) -> None:
    """New submissions are refused on every server; a retry of a stored one still learns that it is stored."""
    rows = rows_of(survey, example_answers, 5)
    server = reopen()
    server.accept(survey, rows[:3])
    assert storage.close_survey(survey) is True
    for each in (storage, server):
        with pytest.raises(SurveyClosed):
            each.accept(survey, rows[2:])
        assert each.accept(survey, rows[:3]) == Accepted(0, 3)
        assert each.statistics(survey) == recounted(survey, rows[:3])
    assert server.close_survey(survey) is False
    (listed,) = storage.surveys()
    assert (listed.status, listed.submissions, listed.closed_on) == ("closed", 3, "2026-03-01")
    assert server.status(survey) == "closed"


def test_results_are_held_back_everywhere_until_there_are_enough(
    storage: Storage, survey: Published, reopen: Open, example_answers: dict
) -> None:
    """What one server holds back, all do, also after a restart: until the submissions are enough, or it is closed."""
    rows = rows_of(survey, example_answers, 5)
    server = reopen()
    storage.hold_results(survey, 5)
    server.accept(survey, rows[:4])
    for each in (storage, server, reopen()):
        with pytest.raises(HeldBack):
            each.check_shown(survey)
    server.accept(survey, rows[4:])
    storage.check_shown(survey)
    server.hold_results(survey, None)
    with pytest.raises(HeldBack):
        storage.check_shown(survey)
    storage.close_survey(survey)
    server.check_shown(survey)


@pytest.mark.parametrize("folded", [False, True])
def test_a_conflict_is_one_in_a_closed_survey_too(
    storage: Storage, survey: Published, example_answers: dict, folded: bool
) -> None:
    """A known id with other content is a conflict, open or closed; what is merely new is refused as too late."""
    known, new, newer = rows_of(survey, example_answers, 3)
    storage.accept(survey, [known])
    if folded:
        storage.fold(survey)
    storage.close_survey(survey)
    for rows in ([other(known)], [known, other(known)], [new, other(known)], [new, other(new)]):
        with pytest.raises(IdConflict):
            storage.accept(survey, rows)
    for rows in ([new], [known, new], [new, new], [new, newer]):
        with pytest.raises(SurveyClosed):
            storage.accept(survey, rows)
    assert storage.accept(survey, [known, known]) == Accepted(0, 2)


def test_an_empty_request_costs_others_nothing(storage: Storage, survey: Published, example_answers: dict) -> None:
    """Requests with nothing in them share commits with others, which are stored."""
    rows = rows_of(survey, example_answers, 20)
    with ThreadPoolExecutor(8) as pool:
        requests = [each for row in rows for each in ([row], [])]
        outcomes = Counter(pool.map(lambda request: storage.accept(survey, request), requests))
    assert outcomes == {Accepted(1, 0): 20, Accepted(0, 0): 20}


# --- booklets --------------------------------------------------------------------------------------------------------


def booklet_rows(document: Document, n: int) -> list[Row]:
    """Rows of so many people who answer alike; their devices drew their booklets."""
    known = {"vaped": True, "how_often": "weekly", "support": ["doctor"], "stress": 2, "hours": 40}
    answers = {question.id: known[question.id] for question in document.survey.questions}
    submissions = [randomize(document, answers, {"campus": "north" if i % 3 else "south"}) for i in range(n)]
    return SubmissionReader(document).read(msgspec.json.encode({"submissions": submissions})).rows


@pytest.mark.parametrize("made", [textbook, joint, several])
def test_every_booklet_is_counted_part_by_part(reopen: Open, made: Callable[[], bytes]) -> None:
    """Of each cell the submissions of every booklet are kept, and of each part the counts of its reports alone; the
    same from the inbox, folded, on another server, and counted again.
    """
    storage = reopen()
    storage.publish(made())
    survey = storage.find(verify(made()).survey.id)
    assert survey is not None
    document, rows = survey.document, booklet_rows(survey.document, 230)
    contents = [msgspec.json.decode(row.content) for row in rows]
    for start in range(0, 230, 46):
        storage.accept(survey, rows[start : start + 46])
    for again in (storage, reopen()):
        statistics = again.statistics(survey)
        assert statistics == again.recount(survey) == recounted(survey, rows)
        for (campus,), cell in statistics.cells.items():
            drawn = Counter(booklet for booklet, _, segments in contents if segments == [campus])
            assert cell.booklets.tolist() == [drawn[number] for number in range(len(document.booklets))]
            assert cell.submissions == drawn.total()
            for number, part in enumerate(document.parts):
                reports = [
                    report
                    for booklet, all_of_it, segments in contents
                    if segments == [campus]
                    for place, report in zip(document.booklets[booklet].parts, all_of_it, strict=True)
                    if place == number
                ]
                assert reports_of(document, cell, number) == len(reports)
                assert cell.counts[number].tolist() == [
                    sum(part.channel.shows(report, feature) for report in reports)
                    for feature in range(part.channel.feature_count)
                ]
        storage.fold(survey)
    assert storage.verify() == []


def test_the_survey_decides_and_not_its_booklets(storage: Storage) -> None:
    """A document of the same survey with other parts and booklets is there already: the first one stays."""
    assert storage.publish(joint()) is True
    assert several() != joint() and storage.publish(several()) is False
    found = storage.find("joint")
    assert found is not None and found.raw == joint()
    other_survey = survey_from_tree({**JOINT, "epsilon": "2.5"})
    with pytest.raises(SurveyDiffers):
        storage.publish(publish(other_survey, JOINT_PARTS, JOINT_BOOKLETS))


# --- surveys, days, tokens -------------------------------------------------------------------------------------------


def test_publishing_again(storage: Storage, survey: Published, example: bytes, root: Path) -> None:
    """The same survey is there already; another one of the same id is refused, and changes nothing."""
    assert storage.publish(example) is False
    text = (root / "server" / "deniable_server" / "example.toml").read_text("utf-8")
    changed = publish_survey(parse_survey(text.replace("Campus health 2026", "Campus health 2027")))
    with pytest.raises(SurveyDiffers):
        storage.publish(changed)
    found = storage.find("campus-health")
    assert found is not None and found.raw == example


def test_the_published_bytes_are_kept(reopen: Open, survey: Published, example: bytes) -> None:
    """Another server reads the same bytes; an unknown id is None."""
    found = reopen().find("campus-health")
    assert found is not None and found.raw == example and found.document.digest == survey.document.digest
    assert reopen().find("nothing") is None


def test_the_list(storage: Storage, survey: Published, example_answers: dict) -> None:
    """All surveys by id, with title, status, days and number of submissions."""
    storage.publish(publish(survey_from_tree(OTHER)))
    storage.accept(survey, rows_of(survey, example_answers, 60))
    listed = storage.surveys()
    assert [(one.id, one.title, one.status, one.submissions) for one in listed] == [
        ("campus-health", "Campus health 2026", "open", 60),
        ("other", "Other", "open", 0),
    ]
    assert {one.published_on for one in listed} == {"2026-03-01"}


def test_what_is_expected_is_kept_with_the_survey(storage: Storage, reopen: Open, example: bytes) -> None:
    """The expected number is no part of the document: publishing again may change it, and keeps it where it is not
    given.
    """
    storage.publish(publish(survey_from_tree(OTHER)))
    for given, kept in ((500, 500), (None, 500), (700, 700)):
        assert storage.publish(example, given) is (given == 500)
        assert [one.expected for one in reopen().surveys()] == [kept, None]
    found = storage.find("campus-health")
    assert found is not None and found.raw == example


def test_the_archive(storage: Storage, survey: Published, reopen: Open, example_answers: dict) -> None:
    """An archived survey says since when, and is otherwise as it was; it can be taken out again."""
    storage.accept(survey, rows_of(survey, example_answers, 3))
    before = storage.surveys()
    storage.archive(survey, True)
    (archived,) = reopen().surveys()
    assert archived == replace(before[0], archived_on="2026-03-01")
    storage.archive(survey, False)
    assert reopen().surveys() == before


def test_a_backup_keeps_what_is_expected_and_archived(storage: Storage, example: bytes, tmp_path: Path) -> None:
    """The copy lists the surveys as the database does."""
    storage.publish(example, 500)
    survey = storage.find("campus-health")
    assert survey is not None
    storage.archive(survey, True)
    storage.backup(str(tmp_path / "backup.db"), KEY)
    restore(tmp_path / "backup.db", tmp_path / "copy.db", KEY)
    copied = SQLiteStorage(tmp_path / "copy.db")
    assert copied.surveys() == storage.surveys() and copied.surveys()[0].expected == 500
    copied.close()


def test_tokens(storage: Storage, reopen: Open) -> None:
    """A token is found by the digest of its secret until it is revoked, on every server at once."""
    token = Token("ab12", "analyst", "Ann", "d" * 64, "2026-03-01")
    storage.tokens.add(token)
    tokens = reopen().tokens
    assert tokens.all() == [token] and tokens.find("d" * 64) == token and tokens.find("e" * 64) is None
    assert storage.tokens.revoke("ab12") is True
    assert tokens.find("d" * 64) is None and tokens.revoke("ab12") is False


def test_a_token_holds_until_the_end_of_its_last_day(storage: Storage, survey: Published) -> None:
    """One that expires today is found, one that expired yesterday is not, though it is still listed."""
    lasting = Token(
        "aa", "reader", "the board", "a" * 64, "2026-02-01", {survey.document.survey.id: "reader"}, "2026-03-01"
    )
    over = Token("bb", "analyst", "Ann", "b" * 64, "2026-02-01", None, "2026-02-28")
    for token in (lasting, over):
        storage.tokens.add(token)
    assert storage.tokens.find("a" * 64) == lasting
    assert storage.tokens.find("b" * 64) is None
    assert storage.tokens.all() == [lasting, over]


def test_a_reader_is_for_a_survey_that_exists(storage: Storage) -> None:
    """A token for the results of a survey that is not there is refused."""
    with pytest.raises(StorageError, match="No survey has the id nothing"):
        storage.tokens.add(Token("aa", "reader", "", "a" * 64, "2026-02-01", {"nothing": "reader"}))


def test_a_session_ends_with_its_time_its_token_or_by_sign_out(storage: Storage, reopen: Open) -> None:
    """A session shows its token until it is over, signed out of, or the token is revoked; on every server at once."""
    token = Token("ab12", "analyst", "Ann", "d" * 64, "2026-03-01")
    storage.tokens.add(token)
    tokens = reopen().tokens
    for name, end in (("1", 100), ("2", 200), ("3", 300)):
        storage.tokens.begin(Session(name * 64, "ab12", 0, 900, end), now=0, most=9)
    assert tokens.shown("1" * 64, now=99) == (token, Session("1" * 64, "ab12", 0, 900, 100))
    assert tokens.shown("1" * 64, now=100) is None
    tokens.end("2" * 64)
    assert storage.tokens.shown("2" * 64, now=50) is None
    storage.tokens.begin(Session("4" * 64, "ab12", 150, 900, 900), now=150, most=9)
    assert tokens.shown("1" * 64, now=50) is None, "those that were over are forgotten"
    assert tokens.shown("3" * 64, now=299) and tokens.shown("4" * 64, now=299)
    tokens.revoke("ab12")
    assert storage.tokens.shown("3" * 64, now=299) is None and storage.tokens.shown("4" * 64, now=299) is None


def test_a_session_ends_unused(storage: Storage, reopen: Open) -> None:
    """When its time without use is up a session is over, unless its use was noted; not beyond its last moment."""
    storage.tokens.add(Token("ab12", "analyst", "Ann", "d" * 64, "2026-03-01"))
    tokens = reopen().tokens
    storage.tokens.begin(Session("1" * 64, "ab12", 0, 100, 300), now=0, most=9)
    assert tokens.shown("1" * 64, now=99) and tokens.shown("1" * 64, now=100) is None
    tokens.used("1" * 64, 400)
    assert storage.tokens.shown("1" * 64, now=299) and storage.tokens.shown("1" * 64, now=300) is None


def test_a_token_has_only_so_many_sessions(storage: Storage) -> None:
    """One session too many ends the one that was unused for longest; sessions of other tokens are untouched."""
    tokens = storage.tokens
    for name in ("ab12", "cd34"):
        tokens.add(Token(name, "analyst", "", (name * 16), "2026-03-01"))
    for name, token, idle in (("1", "ab12", 500), ("2", "ab12", 400), ("3", "cd34", 300), ("4", "ab12", 450)):
        tokens.begin(Session(name * 64, token, 0, idle, 900), now=0, most=2)
    assert [session.digest[0] for session in tokens.sessions("ab12", 0)] == ["1", "4"]
    assert [session.digest[0] for session in tokens.sessions("cd34", 0)] == ["3"]
    assert tokens.sessions("cd34", 300) == []
    assert tokens.end_all("ab12") == 2 and tokens.sessions("ab12", 0) == []
    assert tokens.end_all() == 1


def test_everything_is_there_after_opening_again(
    storage: Storage, survey: Published, reopen: Open, example_answers: dict
) -> None:
    """Surveys, submissions, statistics and days outlive the connection."""
    rows = rows_of(survey, example_answers, 70)
    storage.accept(survey, rows)
    storage.close()
    again = reopen()
    assert again.statistics(survey) == again.recount(survey) == recounted(survey, rows)
    assert again.days(survey) == {TODAY: 70}
    assert again.accept(survey, rows) == Accepted(0, 70)


def test_storage_is_ready(storage: Storage) -> None:
    """A storage that can read, and has not failed to write, raises nothing."""
    storage.ready()


@pytest.mark.parametrize("url", ["mysql://host/db", "redis://x"])
def test_an_unknown_kind_of_database(url: str) -> None:
    """The error names the kind and what is known, not the address with its password."""
    with pytest.raises(StorageError, match="not a known kind"):
        open_storage(url)


# --- margins and sources ---------------------------------------------------------------------------------------------

DIVIDED = {
    "id": "divided",
    "title": "Divided",
    "segments": [
        {"id": name, "text": "?", "options": [{"code": f"c{i}", "text": str(i)} for i in range(size)]}
        for name, size in (("a", 5), ("b", 4), ("c", 3))
    ],
    "questions": [
        {"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"},
        {"id": "r", "type": "choice", "text": "??", "epsilon": "1", "options": [{"code": c, "text": c} for c in "xyz"]},
    ],
}


@pytest.fixture
def divided(storage: Storage) -> Published:
    storage.publish(publish(survey_from_tree(DIVIDED)))
    found = storage.find("divided")
    assert found is not None
    return found


def divided_rows(n: int, start: int = 0) -> list[Row]:
    """In as many combinations of segment codes as there are; no two with the same id."""
    contents = ([0, [i % 2, 1 << i % 3], [i % 5, i % 4, i % 3]] for i in range(start, start + n))
    ids = (hashlib.md5(bytes([i >> 8, i & 255])).digest() for i in range(start, start + n))
    return [Row(*row) for row in zip(ids, (msgspec.json.encode(each).decode() for each in contents), strict=True)]


OVER = [(), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)]


def test_statistics_over_some_segments_are_sums_of_cells(storage: Storage, divided: Published) -> None:
    """Whichever segments they are over, while submissions wait and after they are folded."""
    rows = divided_rows(170)
    for start in range(0, 170, 34):
        storage.accept(divided, rows[start : start + 34])
        expected = recounted(divided, rows[: start + 34])
        for over in OVER:
            assert storage.statistics(divided, over) == expected.over(over)
    storage.fold(divided)
    for over in OVER:
        assert storage.statistics(divided, over) == recounted(divided, rows).over(over)
    assert storage.statistics(divided, ()).cells[()].submissions == 170
    assert storage.verify() == []


def test_a_margin_does_not_cost_every_combination(
    storage: Storage, divided: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over one segment or none, as many rows are read as it has codes; only several segments read all combinations."""
    storage.accept(divided, divided_rows(120))
    storage.fold(divided)
    read, real = list[str](), queries.read_counts
    monkeypatch.setattr(queries, "read_counts", lambda counts: (read.append(counts), real(counts))[1])
    for over, rows in (((), 1), ((0,), 5), ((1,), 4), ((2,), 3), ((0, 1), 60), (None, 60)):
        read.clear()
        storage.statistics(divided, over)
        assert len(read) == rows + 1  # and how often whole reports came


def test_what_waits_is_counted_again_only_if_it_has_changed(
    storage: Storage, divided: Published, reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each server counts what waits once, however often it is asked; it counts again after another server has accepted
    or folded something, also where as many wait as before. Nobody can change what is kept.
    """
    counted, real = list[int](), queries.tally_texts
    monkeypatch.setattr(queries, "tally_texts", lambda *given: (counted.append(len(given[1])), real(*given))[1])
    server, rows = reopen(), divided_rows(40)
    steps: list[tuple[Callable[[], object], int, int]] = [
        (lambda: server.accept(divided, rows[:10]), 10, 10),
        (lambda: server.accept(divided, rows[:10]), 10, 0),  # nothing but duplicates
        (lambda: server.accept(divided, rows[10:15], "kiosk"), 15, 15),
        (lambda: (server.fold(divided), server.accept(divided, rows[15:30])), 30, 15),
        (lambda: server.fold(divided), 30, 0),
    ]
    for change, accepted, read in steps:
        change()
        for over in ((), (0,)):
            counted.clear()
            for _ in range(3):
                found = storage.statistics(divided, over)
                assert found == recounted(divided, rows[:accepted]).over(over)
            assert sum(counted) == read
            if accepted == read:  # all of it is what is kept
                with pytest.raises(ValueError, match="read-only"):
                    next(iter(found.cells.values())).numbers[:] = 0


@pytest.mark.parametrize("fold", [False, True])
def test_what_a_source_sent_can_be_subtracted(storage: Storage, divided: Published, reopen: Open, fold: bool) -> None:
    """Statistics of a collector, with and without others, are those of what it sent: singly, in batches that are sealed
    at once, on any server. All together they are a recount.
    """
    sent = {None: divided_rows(40), "kiosk": divided_rows(130, 40), "van": divided_rows(9, 170)}
    other = reopen()
    storage.accept(divided, sent[None])
    other.accept(divided, sent["kiosk"][:100], "kiosk")
    for row in sent["kiosk"][100:]:
        storage.accept(divided, [row], "kiosk")
    other.accept(divided, sent["van"], "van")
    if fold:
        storage.fold(divided)
    everything = [row for rows in sent.values() for row in rows]
    for server in (storage, other, reopen()):
        assert server.sources(divided) == {"kiosk": 130, "van": 9}
        for over in OVER:
            found, parts = server.divided(divided, over, ["kiosk", "van", "nobody"])
            assert found == recounted(divided, everything).over(over)
            assert parts == {label: recounted(divided, sent[label]).over(over) for label in ("kiosk", "van")}
            assert found - parts["kiosk"] - parts["van"] == recounted(divided, sent[None]).over(over)
        assert server.statistics(divided) == server.recount(divided) == recounted(divided, everything)
    assert storage.verify() == []


def test_a_retry_counts_for_whom_it_came_from_first(storage: Storage, divided: Published) -> None:
    """What is sent again, by anybody, while it waits or once it is sealed, is a duplicate and changes no count."""
    rows = divided_rows(20)
    assert storage.accept(divided, rows[:10], "kiosk") == Accepted(10, 0)
    for new in (10, 0):
        assert storage.accept(divided, rows[:10]) == Accepted(0, 10)
        assert storage.accept(divided, rows, "van") == Accepted(new, 20 - new)
        assert storage.sources(divided) == {"kiosk": 10, "van": 10}
        storage.fold(divided)
    assert storage.statistics(divided) == recounted(divided, rows)


def test_sources_are_bounded(storage: Storage, divided: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    """One collector too many is refused, and nothing of it stored; those that are known go on."""
    monkeypatch.setattr(base, "MOST_SOURCES", 2)
    rows = divided_rows(4)
    for row, label in zip(rows, ("a", "b"), strict=False):
        storage.accept(divided, [row], label)
    with pytest.raises(TooManySources, match="from 2 collectors"):
        storage.accept(divided, rows[2:], "c")
    storage.accept(divided, rows[2:], "b")
    assert storage.sources(divided) == {"a": 1, "b": 3}


def test_a_backup_keeps_the_counts_of_each_source(storage: Storage, divided: Published, tmp_path: Path) -> None:
    """Folded and waiting ones: what was a collector's in the database is its in the copy."""
    storage.accept(divided, divided_rows(70), "kiosk")
    storage.accept(divided, divided_rows(45, 70))
    storage.accept(divided, divided_rows(5, 115), "van")
    storage.backup(str(tmp_path / "backup.db"), KEY)
    restore(tmp_path / "backup.db", tmp_path / "copy.db", KEY)
    copied = SQLiteStorage(tmp_path / "copy.db")
    survey = copied.find("divided")
    assert survey is not None
    assert copied.sources(survey) == storage.sources(divided) == {"kiosk": 70, "van": 5}
    for over in OVER:
        assert copied.divided(survey, over, ["kiosk", "van"]) == storage.divided(divided, over, ["kiosk", "van"])
    assert copied.verify() == []
    copied.close()
