"""A channel kind and a question type that are not part of Deniable, added as docs/development.md says.

The channel is k-ary response that now and then says nothing; the question asks for a day of the week.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from deniable_protocol import (
    CHANNELS,
    QUESTIONS,
    AnswerError,
    Channel,
    DocumentError,
    Draws,
    N,
    Problem,
    Question,
    SubmissionError,
    Support,
    SurveyError,
    decode,
    exp_floor,
    labels,
    largest_favour,
    publish,
    randomize,
    survey_from_tree,
    verify,
)
from deniable_protocol.design import DESIGNS
from deniable_protocol.questions import Fields
from deniable_server import simulate, wording
from deniable_server.analysis.crosstab import CrosstabQuery
from deniable_server.analysis.crosstab import crosstab as tabulate
from deniable_server.analysis.source import StoredSurvey
from deniable_server.checks.audit import audit
from deniable_server.estimator import estimate_question
from deniable_server.estimator.comparison import Group, compare
from deniable_server.estimator.evidence import alone
from deniable_server.estimator.intervals import Aim
from deniable_server.estimator.regression import Answered, regress
from deniable_server.estimator.shares import shares_of
from deniable_server.estimator.weights import Weighed
from deniable_server.export import opened
from deniable_server.export.write import export
from deniable_server.pages.charts import Bars, question_chart
from deniable_server.pages.sentences import headline
from deniable_server.planning.plan import plan_survey
from deniable_server.statistics import Content, tally
from deniable_server.storage import open_storage
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.exhaustive import outcomes

SILENT = N // 10
PEOPLE = 10_000


# --- a channel kind: its class -----------------------------------------------------------------------------------


class Silent(Channel, frozen=True, tag="silent"):
    """Reports are the answers, of which the true one is favoured; and in a tenth of cases none, as report k.

    Proof: saying nothing does not depend on the answer. Any other report has the probability 9/10 F/N, or 9/10 (N-F)/N
    shared by the k-1 others, so that the odds are F (k-1) : (N-F).
    """

    options: int
    favour: int

    @property
    def answers(self) -> int:
        return self.options

    def randomize(self, answer: int, draws: Draws) -> int:
        if draws.chance(SILENT):
            return self.options
        if draws.chance(self.favour):
            return answer
        other = draws.below(self.options - 1)
        return other if other < answer else other + 1

    def probability(self, answer: int, report: int) -> Fraction:
        if report == self.options:
            return Fraction(SILENT, N)
        chance = Fraction(self.favour, N) if report == answer else Fraction(N - self.favour, N * (self.options - 1))
        return chance * Fraction(N - SILENT, N)

    def odds(self) -> Fraction:
        return Fraction(self.favour * (self.options - 1), N - self.favour)

    @property
    def largest_report(self) -> int:
        return self.options


class Spoken(Silent, frozen=True, tag="spoken"):
    """The same, which also says how a report speaks for an answer: estimates are then made from counts, not scores."""

    def supports(self) -> tuple[Support, ...]:
        p, q = self.probability(0, 0), self.probability(1, 0)
        return tuple(Support(option, p, q) for option in range(self.options))


# --- a question type: its class ----------------------------------------------------------------------------------

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Weekday(Question, frozen=True, kw_only=True, omit_defaults=True, tag="weekday"):
    weekend: bool = True
    mechanism: Literal["spoken"] | None = None

    def _codes(self) -> tuple[str, ...]:
        return DAYS if self.weekend else DAYS[:5]

    def _answers(self) -> range:
        return range(1, len(self._codes()) + 1)

    @property
    def channel_kind(self) -> type[Channel]:
        return Silent if self.mechanism is None else Spoken

    @classmethod
    def check(cls, fields: Fields) -> bool:
        fields.take("weekend", fields.check.flag)
        fields.choice("mechanism", ("spoken",))
        return True

    def _encode(self, answer: object) -> int | Problem:
        if isinstance(answer, bool) or not isinstance(answer, int):
            return self._problem("type", "takes a whole number")
        if not 1 <= answer <= len(self._codes()):
            return self._problem("range", "takes a day, from 1 to 7")
        return answer - 1


# --- the tables --------------------------------------------------------------------------------------------------


def test_every_table_knows_every_kind() -> None:
    """A kind that is missing from a table fails here, before anybody meets it."""
    assert set(DESIGNS) == set(CHANNELS.values()) == set(wording.CHANNEL_WORDS)
    assert set(labels.ANSWER_TEXTS) == set(simulate.HABITS) == set(QUESTIONS.values())
    for names in (CHANNELS, QUESTIONS):
        assert [kind.__struct_config__.tag for kind in names.values()] == [*names]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Both channel kinds and the question type, known wherever kinds are."""
    if request.function is test_every_table_knows_every_kind:
        return
    for name, kind in (("silent", Silent), ("spoken", Spoken)):
        monkeypatch.setitem(CHANNELS, name, kind)
        monkeypatch.setitem(DESIGNS, kind, lambda question, epsilon, kind=kind: designed(kind, question, epsilon))
        monkeypatch.setitem(wording.CHANNEL_WORDS, kind, lambda _, channel: f"one of {channel.answers}, or nothing")
    monkeypatch.setitem(QUESTIONS, "weekday", Weekday)
    monkeypatch.setitem(labels.ANSWER_TEXTS, Weekday, lambda _: {day: day.title() for day in DAYS})
    monkeypatch.setitem(simulate.HABITS, Weekday, simulate.chooses)


def designed(kind: type[Silent], question: Question, epsilon: Fraction) -> Silent:
    options = len(question.codes)
    return kind(options, largest_favour(exp_floor(epsilon), options - 1, 1))


SURVEY: dict[str, Any] = {
    "id": "days",
    "title": "Days",
    "segments": [{"id": "site", "text": "?", "options": [{"code": "a", "text": "A"}, {"code": "b", "text": "B"}]}],
    "questions": [
        {"id": "day", "type": "weekday", "text": "?", "epsilon": 2, "weekend": False},
        {"id": "other", "type": "weekday", "text": "?", "epsilon": 2, "mechanism": "spoken", "decline": True},
    ],
}


def one_question(**changed: Any) -> dict[str, Any]:
    return {**SURVEY, "questions": [{**SURVEY["questions"][0], **changed}]}


# --- from the survey file to the page ----------------------------------------------------------------------------


def test_survey_files_are_checked() -> None:
    """The fields of the new type are known and checked, and those of other types are not taken."""
    question = survey_from_tree(one_question()).questions[0]
    assert isinstance(question, Weekday) and not question.weekend and question.codes == DAYS[:5]
    for wrong in ({"weekend": 5}, {"mechanism": "krr"}, {"options": []}):
        with pytest.raises(SurveyError) as caught:
            survey_from_tree(one_question(**wrong))
        assert caught.value.place == f"questions[0].{next(iter(wrong))}"


def test_documents_are_verified() -> None:
    """A channel of another kind or size, with another field, or that keeps less than its epsilon is refused."""
    published = publish(survey_from_tree(one_question()))
    document = msgspec.json.decode(published)
    (part,) = document["parts"]
    channel = part["channel"]
    assert verify(published).parts[0].channel == Silent(5, channel["favour"]) and channel["kind"] == "silent"
    for change in ({"kind": "spoken"}, {"options": 6}, {"width": 1}, {"favour": channel["favour"] - 1}, {"favour": 0}):
        changed = msgspec.json.encode({**document, "parts": [{**part, "channel": {**channel, **change}}]})
        with pytest.raises(DocumentError) as caught:
            verify(changed)
        assert (caught.value.reason, caught.value.place) == ("channel", "parts[0].channel")


@pytest.mark.parametrize("kind", [Silent, Spoken])
def test_the_channel_is_exact(kind: type[Silent]) -> None:
    """The sampler does what ``probability`` says, and what the base class offers decodes without bias."""
    channel = kind(3, 7 * N // 10)
    rows = [outcomes(lambda draws, x=x: channel.randomize(x, draws)) for x in range(3)]
    for x, row in enumerate(rows):
        assert row == {report: channel.probability(x, report) for report in channel.reports()}
        mean = [sum(chance * decode(channel, report)[j] for report, chance in row.items()) for j in range(3)]
        assert mean == [int(j == x) for j in range(3)]
    assert channel.odds() == max(rows[0][y] / rows[1][y] for y in channel.reports())


@pytest.mark.parametrize("kind", [Silent, Spoken])
def test_counts_as_expected_give_the_shares_back(kind: type[Silent]) -> None:
    """Where every report comes exactly as often as it should, the unbiased shares are the true ones."""
    question = survey_from_tree(SURVEY).questions[0]
    channel, shares = kind(5, 7 * N // 10), [0.4, 0.3, 0.2, 0.1, 0.0]
    counts = [1e6 * sum(s * float(channel.probability(x, y)) for x, s in enumerate(shares)) for y in channel.reports()]
    estimated = shares_of(alone(question, channel, counts, 1e6), Aim())
    assert [share.unbiased for share in estimated] == pytest.approx(shares, abs=1e-12)


def test_answers_become_reports_that_are_read_and_counted() -> None:
    """Answers are randomised, bad ones refused; the reader takes the reports and no others, and they are counted."""
    document = verify(publish(survey_from_tree(SURVEY)))
    sent = [randomize(document, {"day": 5, "other": answer}, {"site": "a"}) for answer in (1, 7, "declined")]
    for day in (0, 6, True, "mon", "declined"):
        with pytest.raises(AnswerError):
            randomize(document, {"day": day, "other": 1}, {"site": "a"})
    reader = SubmissionReader(document)
    rows = reader.read(msgspec.json.encode({"submissions": sent})).rows
    contents = [msgspec.json.decode(row.content, type=Content) for row in rows]
    assert [content.reports for content in contents] == [tuple(each["reports"]) for each in sent]
    (cell,) = tally(document, contents).cells.values()
    assert [len(counts) for counts in cell.counts] == [6, 9] and [sum(counts) for counts in cell.counts] == [3, 3]
    with pytest.raises(SubmissionError):
        reader.read(msgspec.json.encode({**sent[0], "reports": [6, 0]}))


def test_a_simulation_is_estimated_everywhere(tmp_path: Path) -> None:
    """Made-up people go through storage, and every estimate is within 6 standard errors of the truth. All that is made
    of counts and channels takes the new kinds: groups, weights, tables, regression, exports and charts.
    """
    storage = open_storage(str(tmp_path / "days.db"))
    storage.publish(publish(survey_from_tree(SURVEY)))
    survey = storage.find("days")
    assert survey is not None
    population = simulate.Population(survey.document.survey, seed=5)
    simulate.simulate_directly(storage, survey, population, PEOPLE, lambda done: None)
    source = StoredSurvey(storage, survey, 1, lambda name: survey)
    statistics = storage.statistics(survey)
    first, second = statistics.cells[0,], statistics.cells[1,]
    for question in survey.document.survey.questions:
        estimate = estimate_question(source.evidence(question, first + second))
        assert not estimate.notes and estimate.fake_influence and estimate.answers == PEOPLE
        for share in estimate.shares:
            assert share.unbiased is not None and share.standard_error is not None
            away = abs(share.unbiased - population.truth.share(question.id, share.code))
            assert away < 6 * share.standard_error
        assert headline(question, estimate).startswith("Most common: ")
        chart = question_chart(question, estimate)
        assert isinstance(chart, Bars) and len(chart.rows) == len(question.codes)
        groups = [Group(label, source.evidence(question, cell)) for label, cell in (("a", first), ("b", second))]
        differences = compare(groups).differences
        assert len(differences) == len(question.codes) and all(each.p_value is not None for each in differences)
        weighted = Weighed([(1.0, groups[0].evidence), (2.0, groups[1].evidence)]).evidence()
        assert sum(weighted.parts[0].counts) == pytest.approx(weighted.answers) and weighted.answers < PEOPLE
    tabulated = tabulate(source, CrosstabQuery(rows="day", columns="other"))
    assert len(tabulated.cells) == 5 * 8 and tabulated.independence.p_value is not None
    other = survey.document.survey.questions[1]
    sites = [Answered({(i,): 1}, source.evidence(other, cell)) for i, cell in enumerate((first, second))]
    assert regress(other, "sun", {"site": ["a", "b"]}, sites).converged
    export(storage, survey, tmp_path / "exported")
    with opened(str(tmp_path / "exported")) as engine:
        assert engine.statistics() == statistics


def test_a_simulation_says_how_near_it_came() -> None:
    """The truth that a simulation remembers is the share of each code among the answers that it made up."""
    population = simulate.Population(survey_from_tree(SURVEY), seed=1)
    answers = [each.answers for each in population.respondents(500)]
    assert population.truth.share("day", "tue") == sum(each["day"] == 2 for each in answers) / 500
    assert population.truth.share("other", "declined") == sum(each["other"] == "declined" for each in answers) / 500


def test_a_plan_and_an_audit_know_them() -> None:
    """The plan has a number of respondents for the new kinds, and the audit of the Python randomiser passes."""
    survey = survey_from_tree(SURVEY)
    day, other = plan_survey(survey).questions
    assert {each.design for each in other.alternatives} >= {"open", "curator", "k_ary", "laplace", "gaussian"}
    k_ary = next(each for each in day.alternatives if each.design == "k_ary")
    assert k_ary.respondents < day.respondents  # to say nothing in a tenth of cases costs respondents
    for finding in audit(publish(survey), 20_000).parts:
        assert finding.passed and finding.exact is not None and finding.exact <= 2 and finding.observed.epsilon > 1


def test_they_are_put_into_words() -> None:
    """People read what the tables say of the answers and the channels, and how the limits were made."""
    document = verify(publish(survey_from_tree(SURVEY)))
    day, other = document.survey.questions
    assert wording.answer_texts(day) == {"mon": "Mon", "tue": "Tue", "wed": "Wed", "thu": "Thu", "fri": "Fri"}
    assert wording.answer_texts(other)["declined"] == "Prefer not to say"
    assert wording.method_in_words(document, day).startswith("one of 5, or nothing; limits from the spread of the")
    assert wording.method_in_words(document, other).endswith("limits on the noisy counts")
