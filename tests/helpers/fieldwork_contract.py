"""The contract of fieldwork, test runs and deletion: what every storage must do. It runs where ``storage_contract``
does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import publish, survey_from_tree
from deniable_server.errors import (
    BadFieldwork,
    ServerError,
    StorageError,
    SurveyClosed,
    SurveyDiffers,
    SurveyGone,
    SurveyNotOpen,
    TooFewPlaces,
    Unavailable,
)
from deniable_server.storage import Accepted, Fieldwork, Published, Row, Storage, Token, base, open_storage
from deniable_server.storage.fieldwork import Conditions
from deniable_server.storage.sqlite.backup import restore

from .storage_contract import KEY, OTHER, TODAY, Clock, Open, rows_of

MINUTE, HOUR = 60, 3600


def found_in(storage: Storage, survey: str = "campus-health") -> Published:
    found = storage.find(survey)
    assert found is not None
    return found


def outcomes(storage: Storage, survey: Published, rows: Iterable[Row]) -> list[str]:
    """What becomes of these, one after the other: "stored", "known", or the name of the error."""
    told = []
    for row in rows:
        try:
            told.append("stored" if storage.accept(survey, [row]).accepted else "known")
        except ServerError as error:
            told.append(type(error).__name__)
    return told


# --- times -----------------------------------------------------------------------------------------------------------


def test_a_survey_takes_submissions_from_its_opening_to_its_closing(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict, clock: Clock
) -> None:
    """To the second, on every server. What came in time is acknowledged again after that; what is new is refused."""
    early, first, last, late = rows_of(survey, example_answers, 4)
    storage.schedule(survey, Fieldwork(clock() + HOUR, clock() + 2 * HOUR))
    other = reopen()
    again = found_in(other)
    assert storage.status(survey) == other.status(again) == "scheduled"
    clock.seconds += HOUR - 1
    assert outcomes(other, again, [early]) == ["SurveyNotOpen"]
    with pytest.raises(SurveyNotOpen, match="2026-03-01T01:00:00Z"):
        storage.accept(survey, [early])
    clock.seconds += 1
    assert other.status(again) == "open" and outcomes(other, again, [first]) == ["stored"]
    clock.seconds += HOUR - 1
    assert outcomes(storage, survey, [last]) == ["stored"]
    clock.seconds += 1
    assert other.status(again) == "closed"
    assert outcomes(other, again, [late, first, last, late]) == ["SurveyClosed", "known", "known", "SurveyClosed"]
    assert storage.days(survey) == {TODAY: 2}


def test_large_batches_keep_to_the_times(
    storage: Storage, survey: Published, example_answers: dict, clock: Clock
) -> None:
    """Those that are sealed at once, too, and one that is too much for the rest stores nothing."""
    rows = rows_of(survey, example_answers, 130)
    storage.schedule(survey, Fieldwork(clock() + 1, None, 70))
    with pytest.raises(SurveyNotOpen):
        storage.accept(survey, rows[:60])
    clock.seconds += 1
    assert storage.accept(survey, rows[:60]) == Accepted(60, 0)
    with pytest.raises(TooFewPlaces, match="10 more submissions"):
        storage.accept(survey, rows[60:120])
    assert storage.accept(survey, rows[120:]) == Accepted(10, 0)
    assert storage.accept(survey, rows[:60]) == Accepted(0, 60)
    assert storage.verify() == [] and sum(storage.days(survey).values()) == 70


def test_of_many_at_once_a_survey_takes_exactly_as_many_as_it_may(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict
) -> None:
    """Two servers, sixteen threads, and 120 people for 70 places: 70 are stored, and 50 are told that it is closed."""
    rows = rows_of(survey, example_answers, 120)
    servers = [storage, reopen()]
    storage.schedule(survey, Fieldwork(most=70))
    found = [found_in(server) for server in servers]
    with ThreadPoolExecutor(16) as pool:
        told = [*pool.map(lambda i: outcomes(servers[i % 2], found[i % 2], [rows[i]])[0], range(120))]
    assert (told.count("stored"), told.count("SurveyClosed")) == (70, 50)
    assert storage.days(survey) == {TODAY: 70} and servers[1].status(survey) == "closed"
    assert storage.close_due() == ["campus-health"] and servers[1].close_due() == []
    assert [listed.closed_on for listed in servers[1].surveys()] == [TODAY.isoformat()]
    assert storage.verify() == []


def test_only_what_is_new_takes_a_place(
    storage: Storage, survey: Published, example_answers: dict, clock: Clock
) -> None:
    """Known submissions of a batch, and one that is in it twice, need none. A batch with more new ones than there are
    places stores nothing, and says how many there are; only a full survey is closed.
    """
    rows = rows_of(survey, example_answers, 80)
    storage.schedule(survey, Fieldwork(most=62))
    storage.accept(survey, rows[:60])
    for few in ([*rows[:9], *rows[60:63]], rows[60:63], rows):
        with pytest.raises(TooFewPlaces, match="only 2 more submissions"):
            storage.accept(survey, few)
    assert storage.accept(survey, [*rows[:9], rows[60], rows[60]]) == Accepted(1, 10)
    with pytest.raises(TooFewPlaces, match="only 1 more submission\\."):
        storage.accept(survey, rows[60:63])
    assert storage.status(survey) == "open"
    assert storage.accept(survey, rows[:62]) == Accepted(1, 61)
    for full in (rows[60:63], rows[62:63]):
        with pytest.raises(SurveyClosed):
            storage.accept(survey, full)
    assert storage.accept(survey, rows[:62]) == Accepted(0, 62) and storage.verify() == []


def test_a_number_that_is_set_while_people_answer_is_kept(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers between the look at the number of submissions and the change counts: a number that is reached by
    then is refused.
    """
    rows, other = rows_of(survey, example_answers, 2), reopen()
    storage.schedule(survey, Fieldwork(most=5))
    look = base.conditions

    def and_somebody_answers(*given: Any) -> Conditions:
        found = look(*given)
        other.accept(found_in(other), rows)
        return found

    monkeypatch.setattr(base, "conditions", and_somebody_answers)
    with pytest.raises(BadFieldwork, match="2 already"):
        storage.schedule(survey, Fieldwork(most=2))
    assert storage.fieldwork(survey) == Fieldwork(most=5) and storage.status(survey) == "open"


def test_what_is_due_is_closed_for_good(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict, clock: Clock
) -> None:
    """Not before; by one of two servers that look at the same time; and another schedule does not open it again."""
    storage.accept(survey, rows_of(survey, example_answers, 3))
    storage.schedule(survey, Fieldwork(closes_at=clock() + 10))
    other = reopen()
    assert storage.close_due() == other.close_due() == []
    clock.seconds += 10
    with pytest.raises(SurveyClosed):  # although nobody has closed it yet
        storage.schedule(survey, Fieldwork())
    with ThreadPoolExecutor(2) as pool:
        closed = [*pool.map(lambda server: server.close_due(), (storage, other))]
    assert ["campus-health"] in closed
    assert storage.close_due() == []
    clock.seconds -= 10
    with pytest.raises(SurveyClosed):
        other.schedule(found_in(other), Fieldwork())
    assert storage.status(survey) == other.status(found_in(other)) == "closed" and storage.verify() == []


def test_a_thread_closes_what_is_due(storage: Storage, survey: Published, clock: Clock) -> None:
    """Within moments, and it ends with the storage."""
    others = {*threading.enumerate()}
    storage.schedule(survey, Fieldwork(closes_at=clock() + 1))
    clock.seconds += 1
    storage.keep_schedule()
    for _ in range(100):
        if storage.surveys()[0].closed_on is not None:
            break
        threading.Event().wait(0.1)
    assert storage.surveys()[0].closed_on == TODAY.isoformat()
    storage.close()
    assert "schedule" not in {thread.name for thread in {*threading.enumerate()} - others}


def test_the_log_does_not_say_when_the_last_one_answered(
    storage: Storage,
    survey: Published,
    example_answers: dict,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A survey that stops at a number is closed at that moment: no line says so, nor that closing it failed. Closings
    at a time that was set, and those that somebody asks for, are logged.
    """
    caplog.set_level("INFO")
    for id_ in ("timed", "asked"):
        storage.publish(publish(survey_from_tree(OTHER | {"id": id_})))
    storage.schedule(survey, Fieldwork(most=3))
    storage.accept(survey, rows_of(survey, example_answers, 3))

    def fail(survey: Published) -> None:
        raise Unavailable("a download is under way")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_seal", fail)
        assert storage.close_due() == []
    monkeypatch.setattr(storage, "_finish_again_at", 0.0)
    assert storage.close_due() == ["campus-health"]
    assert caplog.messages == []
    storage.schedule(found_in(storage, "timed"), Fieldwork(closes_at=clock() + 1))
    clock.seconds += 1
    assert storage.close_due() == ["timed"] and storage.close_survey(found_in(storage, "asked"))
    assert caplog.messages == ["Closed timed", "Closed asked"]
    storage.close()
    assert caplog.messages[2:] == ["Closing campus-health has failed, and works again: a download is under way"]


@pytest.mark.parametrize(
    "wrong",
    [
        Fieldwork(closes_at=-HOUR),
        Fieldwork(opens_at=2 * HOUR, closes_at=HOUR),
        Fieldwork(opens_at=HOUR, closes_at=HOUR),
        Fieldwork(most=0),
        Fieldwork(most=2),
        Fieldwork(opens_at=10**15),
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused(
    storage: Storage, survey: Published, example_answers: dict, clock: Clock, wrong: Fieldwork
) -> None:
    """A closing in the past or before the opening, and a number that is reached already: nothing changes."""
    storage.accept(survey, rows_of(survey, example_answers, 2))
    kept = Fieldwork(None, clock() + HOUR, 5)
    storage.schedule(survey, kept)
    times = [None if time is None else clock() + time for time in (wrong.opens_at, wrong.closes_at)]
    with pytest.raises(BadFieldwork):
        storage.schedule(survey, Fieldwork(*times, wrong.most))
    assert storage.fieldwork(survey) == kept


def test_the_list_and_backups_have_the_times(storage: Storage, survey: Published, tmp_path: Path, clock: Clock) -> None:
    """A restored survey opens and closes when the first one would have."""
    fieldwork = Fieldwork(clock() + HOUR, clock() + 2 * HOUR, 500)
    storage.schedule(survey, fieldwork)
    (listed,) = storage.surveys()
    assert (listed.status, listed.opens_at, listed.closes_at, listed.most) == (
        "scheduled",
        fieldwork.opens_at,
        fieldwork.closes_at,
        500,
    )
    storage.backup(str(tmp_path / "copy.db"), KEY)
    restore(tmp_path / "copy.db", tmp_path / "restored.db", KEY)
    restored = open_storage(str(tmp_path / "restored.db"))
    assert restored.fieldwork(found_in(restored)) == fieldwork
    restored.close()


# --- test runs --------------------------------------------------------------------------------------------------------


def test_a_test_run_belongs_to_its_draft(storage: Storage, survey: Published, tmp_path: Path) -> None:
    """It is found by the draft, no list has it unless it is asked for, and a draft has one at a time."""
    raw = publish(survey_from_tree(OTHER | {"id": "test-0123456789"}))
    assert storage.publish(raw, draft=77)
    found = storage.test_run(77)
    assert found is not None and found.raw == raw and storage.test_run(78) is None
    assert [listed.id for listed in storage.surveys()] == ["campus-health"]
    assert [(listed.id, listed.draft) for listed in storage.surveys(test_runs=True)] == [
        ("campus-health", None),
        ("test-0123456789", 77),
    ]
    with pytest.raises(SurveyDiffers, match="test run"):
        storage.publish(publish(survey_from_tree(OTHER | {"id": "test-9876543210"})), draft=77)
    storage.backup(str(tmp_path / "copy.db"), KEY)
    restore(tmp_path / "copy.db", tmp_path / "restored.db", KEY)
    restored = open_storage(str(tmp_path / "restored.db"))
    copied = restored.test_run(77)
    assert copied is not None and copied.raw == raw
    restored.close()
    storage.delete_survey(found)
    assert storage.test_run(77) is None
    assert storage.publish(publish(survey_from_tree(OTHER | {"id": "test-9876543210"})), draft=77)


# --- deletion ---------------------------------------------------------------------------------------------------------


def test_of_a_deleted_survey_nothing_is_there(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict
) -> None:
    """On another server as well, which has answered for it before; the other survey keeps everything. Links to its
    results and its collectors go with it. People keep their access tokens, which are no longer for it.
    """
    storage.publish(publish(survey_from_tree(OTHER)))
    rest = found_in(storage, "other")
    storage.accept(rest, [Row(bytes(16), "[0,[1],[]]")])
    day, gone, kept = "2026-03-01", "campus-health", "other"
    for token in (
        Token("admin", "admin", "", "a" * 64, day),
        Token("hr", "reader", "Ann", "b" * 64, day, {gone: "reader"}),
        Token("editor", "editor", "Bob", "c" * 64, day, {gone: "editor", kept: "editor"}),
        *(
            Token(f"link-{survey}", "reader", "", str(n) * 64, day, {survey: "reader"}, None, "admin")
            for n, survey in enumerate((gone, kept))
        ),
        *(
            Token(f"kiosk-{survey}", "collector", "kiosk", str(n) * 64, day, {survey: "collector"})
            for n, survey in enumerate((gone, kept), 2)
        ),
    ):
        storage.tokens.add(token)
    other = reopen()
    known = found_in(other)
    rows = rows_of(survey, example_answers, 130)
    other.accept(known, rows[:60])
    other.accept(known, rows[60:70], "kiosk")
    storage.delete_survey(survey)
    for server in (storage, other):
        assert server.find("campus-health") is None
        assert [listed.id for listed in server.surveys()] == ["other"]
        assert {token.id: token.surveys for token in server.tokens.all()} == {
            "admin": None,
            "hr": {},
            "editor": {kept: "editor"},
            "link-other": {kept: "reader"},
            "kiosk-other": {kept: "collector"},
        }
        assert server.days(rest) == {TODAY: 1} and server.recount(rest).submissions == 1
        assert server.verify() == []
    with pytest.raises(SurveyGone):
        other.status(known)


def test_nothing_is_stored_for_a_deleted_survey(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict
) -> None:
    """Whatever another server remembers: one submission, a retry, a large batch, one of a collector, and one that
    shares a commit with those of a survey that is there.
    """
    storage.publish(publish(survey_from_tree(OTHER)))
    other = reopen()
    known, rest = found_in(other), found_in(other, "other")
    rows = rows_of(survey, example_answers, 100)
    other.accept(known, rows[:5])
    other.accept(known, rows[5:6], "kiosk")
    storage.delete_survey(survey)
    storage.delete_survey(survey)  # once more does nothing
    for some, source in (
        (rows[:1], None),
        (rows[10:11], None),
        (rows[10:80], None),
        (rows[80:81], "kiosk"),
        (rows[81:82], "new"),
    ):
        with pytest.raises(SurveyGone):
            other.accept(known, some, source)
    told: list[object] = []
    for number in range(40):
        other.accept_soon(known, [rows[number]], None, told.extend)
        other.accept_soon(rest, [Row(number.to_bytes(16, "big"), "[0,[1],[]]")], None, told.extend)
    other.close()
    names = [type(outcome).__name__ for _, outcome in told]  # type: ignore[misc]
    assert (names.count("SurveyGone"), names.count("Accepted")) == (40, 40)
    assert storage.verify() == [] and storage.days(found_in(storage, "other")) == {TODAY: 40}
    assert other.known("campus-health") is None


def test_a_number_is_never_used_again(
    storage: Storage, reopen: Open, survey: Published, example: bytes, example_answers: dict
) -> None:
    """The same survey, published again after it was deleted, is another one: it begins with nothing, and what another
    server still takes for the first one is counted for it.
    """
    other = reopen()
    known = found_in(other)
    rows = rows_of(survey, example_answers, 4)
    other.accept(known, rows[:3])
    storage.delete_survey(survey)
    assert storage.publish(example)
    again = found_in(storage)
    assert again.number > survey.number and sum(storage.days(again).values()) == 0
    assert other.accept(known, rows[2:]) == Accepted(2, 0)
    assert found_in(other).number == again.number
    assert storage.days(again) == {TODAY: 2} and storage.verify() == []


def test_people_answer_while_a_survey_is_deleted(
    storage: Storage, reopen: Open, survey: Published, example_answers: dict
) -> None:
    """Eight threads on another server are told "stored" until it is gone, then that there is none; nothing fails
    otherwise, and nothing is left.
    """
    other = reopen()
    known = found_in(other)
    rows = rows_of(survey, example_answers, 400)
    begun = threading.Event()

    def post(i: int) -> str:
        if i == 100:
            begun.set()
        return outcomes(other, known, [rows[i]])[0]

    with ThreadPoolExecutor(8) as pool:
        posted = pool.map(post, range(400))
        begun.wait()
        storage.delete_survey(survey)
        told = {*posted}
    assert told <= {"stored", "SurveyGone", "Unavailable"} and "stored" in told
    assert outcomes(other, known, rows[:2]) == ["SurveyGone"] * 2
    assert other.find("campus-health") is None and storage.verify() == []


def test_a_crash_between_the_deletion_and_the_wiping_is_made_good(
    storage: Storage, reopen: Open, survey: Published, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """The survey is gone, and a minute later a server wipes the files, such as one that starts then."""

    def crash(numbers: list[int]) -> None:
        raise StorageError("power cut")

    monkeypatch.setattr(storage, "_wipe", crash)
    storage.delete_survey(survey)
    other = reopen()
    assert other.find("campus-health") is None
    wiped = wipings(other, monkeypatch)
    clock.seconds += MINUTE
    other.finish_closing()
    other.finish_closing()
    assert wiped == [[survey.number]]


def wipings(storage: Storage, monkeypatch: pytest.MonkeyPatch, error: StorageError | None = None) -> list[list[int]]:
    """The wipings that this server begins from now on; it may fail in each."""
    begun: list[list[int]] = []

    def noted(numbers: list[int]) -> None:
        begun.append(numbers)
        if error:
            raise error
        type(storage)._wipe(storage, numbers)  # type: ignore[attr-defined]

    monkeypatch.setattr(storage, "_wipe", noted)
    return begun


def test_of_all_servers_one_tries_again_to_wipe(
    storage: Storage, reopen: Open, survey: Published, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Once a minute, while a download is in the way: wiping in vain costs others time."""
    servers = [storage, reopen(), reopen()]
    begun = [wipings(server, monkeypatch, Unavailable("a download is under way")) for server in servers]
    storage.delete_survey(survey)
    for tries in (1, 2, 3):
        for _ in range(3):
            for server in servers:
                server.close_due()
        assert sum(map(len, begun)) == tries
        clock.seconds += MINUTE
    wiped = wipings(servers[1], monkeypatch)
    servers[1].close_due()
    assert wiped == [[survey.number]]
    clock.seconds += MINUTE
    for server in servers:
        server.close_due()
    assert sum(map(len, begun)) == 3 and len(wiped) == 1


def test_what_is_left_of_test_runs_is_wiped_at_night(
    storage: Storage, survey: Published, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """They end all day long, and wiping makes others wait: it is done for all of them at once, within a day, or with
    another survey that is deleted.
    """
    wiped = wipings(storage, monkeypatch)
    runs = [run_of(storage, storage.drafts.create("{}")) for _ in range(3)]
    for run in runs[:2]:
        storage.delete_survey(run)
        storage.close_due()
        assert storage.find(run.document.survey.id) is None
    assert wiped == []
    clock.seconds += 24 * HOUR
    storage.close_due()
    storage.close_due()
    assert wiped == [[run.number for run in runs[:2]]]
    storage.delete_survey(runs[2])
    assert len(wiped) == 1
    storage.delete_survey(survey)
    assert [sorted(each) for each in wiped[1:]] == [[survey.number, runs[2].number]]


def test_a_test_run_does_not_outlive_its_draft(
    storage: Storage, reopen: Open, survey: Published, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where it could not be ended when its draft went, a server does it later. Those of drafts that are there stay, and
    so do surveys.
    """
    drafts = [storage.drafts.create("{}") for _ in range(2)]
    gone, kept = (run_of(storage, draft) for draft in drafts)
    storage.drafts.delete(drafts[0])

    def fail(survey: Published) -> None:
        raise Unavailable("a download is under way")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_remove", fail)
        storage.close_due()
        assert storage.test_run(drafts[0]) is not None
    reopen().close_due()
    assert [each.id for each in storage.surveys(test_runs=True)] == ["campus-health", kept.document.survey.id]
    assert storage.find(gone.document.survey.id) is None


def run_of(storage: Storage, draft: int) -> Published:
    storage.publish(publish(survey_from_tree(OTHER | {"id": f"test-{draft}"})), draft=draft)
    return found_in(storage, f"test-{draft}")
