"""The public types of the client and of the protocol, as a user's type checker sees them.

Never run: mypy checks it. A change here is a change for everyone who uses Deniable from Python.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_type

import deniable
import deniable_protocol as protocol

# --- deniable: the client ---------------------------------------------------------------------------------------------


def client_is_made(transport: deniable.Transport) -> None:
    deniable.Client("https://example.org/s/survey")
    deniable.Client("https://example.org/s/survey", state="state.db", budget=10, timeout=5)
    deniable.Client("https://example.org/s/survey", state=Path("state.db"), budget="0.5", transport=transport)
    deniable.Client("https://example.org/s/survey", state=None, budget=Decimal("0.5"), transport=None)
    deniable.Client("http://example.org/s/survey", budget=(2, "0.00001"), insecure=True)


def client_submits(client: deniable.Client) -> None:
    with client as entered:
        assert_type(entered, deniable.Client)
    assert_type(client.survey, protocol.Survey)
    assert_type(client.booklet, int)
    assert_type(client.questions, tuple[protocol.Question, ...])
    assert_type(client.shown({"vaped": True}), tuple[protocol.Question, ...])
    assert_type(client.document, bytes)
    assert_type(client.digest, str)
    assert_type(client.receipt, deniable.Receipt | None)
    assert_type(client.submit({"vaped": True, "stress": 4, "used": ["a"]}), deniable.Receipt)
    assert_type(client.submit({}, {"campus": "north"}, timeout=0.5), deniable.Receipt)
    assert_type(client.submit({}, segments=None, timeout=None), deniable.Receipt)
    assert_type(client.flush(timeout=1), bool)
    client.forget()
    client.forget(unsent=True)
    client.close(timeout=None)


def receipt_shows(receipt: deniable.Receipt) -> None:
    assert_type(receipt.id, str)
    assert_type(receipt.digest, str)
    assert_type(receipt.booklet, int | None)
    assert_type(receipt.reports, list[int])
    for sent in receipt.sent:
        assert_type(sent, deniable.Sent)
        assert_type((sent.questions, sent.epsilon, sent.report), tuple[tuple[str, ...], str, int])
        assert_type(sent.speaks_for, tuple[dict[str, str], ...])
    assert_type(receipt.segments, dict[str, str])
    assert_type(receipt.epsilon, str)
    assert_type(receipt.delta, str)
    assert_type(receipt.expired, bool)
    assert_type(receipt.delivered, bool)
    assert_type(receipt.refused, bool)
    assert_type(receipt.trouble, str | None)


def answers_are_randomised(document: bytes) -> None:
    assert_type(deniable.randomize(document, {"vaped": True}), deniable.Submission)
    submission = deniable.randomize("{}", {}, segments={"campus": "north"}, booklet=3)
    assert_type(submission["id"], str)
    assert_type(submission["digest"], str)
    assert_type(submission["booklet"], int)
    assert_type(submission["reports"], list[int])
    assert_type(submission["segments"], dict[str, str])


def errors_carry_what_helps(
    already: deniable.AlreadyAnswered,
    budget: deniable.BudgetExceeded,
    refused: deniable.Refused,
    waiting: deniable.NotDelivered,
    document: deniable.DocumentError,
    answer: deniable.AnswerError,
) -> None:
    for kind in (
        deniable.AccessDenied,
        deniable.AddressError,
        deniable.AlreadyAnswered,
        deniable.AnswerError,
        deniable.BudgetExceeded,
        deniable.DocumentError,
        deniable.HeldBack,
        deniable.MissingPackage,
        deniable.NotDelivered,
        deniable.QueryError,
        deniable.Refused,
        deniable.ResultsError,
        deniable.StateError,
        deniable.UnknownSurvey,
        deniable.Unreachable,
    ):
        caught: type[deniable.DeniableError] = kind
        assert issubclass(caught, Exception)
    assert_type(already.receipt, deniable.Receipt)
    assert_type(
        (budget.account, budget.spent, budget.budget), tuple[protocol.Account, protocol.Account, protocol.Account]
    )
    assert_type(refused.receipt, deniable.Receipt | None)
    assert_type(waiting.receipt, deniable.Receipt)
    assert_type((refused.status, refused.title, refused.detail), tuple[int | None, str, str])
    for error in (document, answer):
        for problem in error.problems:
            assert_type(problem, deniable.Problem)
            assert_type((problem.place, problem.reason, problem.message), tuple[str, str, str])


class OwnTransport:
    """Any object with this method is a transport."""

    def send(self, method: str, url: str, body: bytes | None, headers: object, timeout: float) -> deniable.Response:
        return deniable.Response(200, {"Content-Type": "application/json"}, body or b"")


def transports_are_interchangeable(http: deniable.HTTPTransport, wsgi: deniable.WSGITransport) -> None:
    every: list[deniable.Transport] = [http, wsgi, OwnTransport()]
    for transport in every:
        response = transport.send("GET", "https://example.org", None, {}, 1.0)
        assert_type(response, deniable.Response)
        assert_type((response.status, response.body), tuple[int, bytes])


def results_are_read(transport: deniable.Transport, path: Path) -> None:
    deniable.Results("https://example.org/shared/secret")
    deniable.Results(path, survey="campus-health")
    results = deniable.Results("http://example.org/surveys/x", "token", transport=transport, timeout=5, insecure=True)
    assert_type(results.survey, protocol.Survey)
    estimates = results.estimates("campus", where={"campus": "north"}, weights={"campus": {"north": 1}}, without=["a"])
    assert_type(estimates, deniable.results.Estimates)
    assert_type(estimates["vaped"], deniable.results.Estimates)
    assert_type(results.compare("vaped", by="campus"), deniable.results.Comparison)
    assert_type(results.compare("vaped", other="wave-1", confidence=0.9), deniable.results.Comparison)
    assert_type(results.crosstab("vaped", "stress", anytime=True), deniable.results.Crosstab)
    assert_type(results.regress("vaped", "campus", reference={"campus": "south"}), deniable.results.Regression)
    assert_type(results.plan(), deniable.results.Plan)
    assert_type(results.plan(path).in_words, list[str])
    each: deniable.results.Result = estimates
    assert_type((each.n, each.confidence, each.where, each.notes), tuple[int, float, dict[str, str], list[str]])
    assert_type(each.to_dict(), dict[str, Any])
    assert_type(each.rows(), list[dict[str, Any]])
    each.to_pandas()
    each.to_polars()
    each.plot(each.plot())


# --- deniable_protocol: what both sides share -------------------------------------------------------------------------


def a_survey_is_published(toml: str) -> None:
    survey = protocol.parse_survey(toml)
    assert_type(survey, protocol.Survey)
    assert_type((survey.id, survey.title, survey.total_epsilon), tuple[str, str, str])
    assert_type((survey.notice, survey.epsilon), tuple[str | None, str | None])
    assert_type(survey.together, tuple[tuple[str, ...], ...])
    assert_type(survey.respondents, int | None)
    assert_type(survey.exact_epsilon, Fraction)
    assert_type(survey.segments, tuple[protocol.Segment, ...])
    for question in survey.questions:
        kind: protocol.Question = question
        assert_type(kind.id, str)
        assert_type(kind.epsilon, str | None)
        assert_type(kind.show_if, protocol.ShowIf | None)
        assert_type(kind.exact_delta, Fraction | None)
        assert_type(kind.codes, tuple[str, ...])
    published = protocol.publish(survey)
    assert_type(published, bytes)
    assert_type(protocol.publish(survey, [(["vaped", "stress"], None)], [([0], 1)]), bytes)
    document = protocol.verify(published)
    assert_type(document, protocol.Document)
    assert_type(document.survey, protocol.Survey)
    assert_type((document.digest, document.epsilon), tuple[str, str])
    assert_type(document.account, protocol.Account)
    assert_type(document.content, str)
    for part in document.parts:
        assert_type(part, protocol.Part)
        assert_type((part.names, part.epsilon), tuple[tuple[str, ...], str])
        assert_type(part.exact_epsilon, Fraction)
        any_of_them: protocol.Channel = part.channel
        assert_type(any_of_them.is_report(0), bool)
    for booklet in document.booklets:
        assert_type(booklet, protocol.Booklet)
        assert_type((booklet.parts, booklet.weight), tuple[tuple[int, ...], int])
    assert_type(document.asked(0), tuple[protocol.Question, ...])
    assert_type(protocol.draw_booklet(document), int)
    assert_type(protocol.randomize(document, {}, {}, booklet=0, read=bytes), protocol.Submission)


def epsilon_adds_up(epsilons: list[Fraction]) -> None:
    account = sum((protocol.Account(each) for each in epsilons), protocol.Account())
    assert_type(account + protocol.Account.of("2.0", "0.000001"), protocol.Account)
    assert_type((account.epsilon, account.delta), tuple[Fraction, Fraction])
    assert_type((account.within(protocol.DEFAULT_BUDGET), account.power()), tuple[bool, float])
    assert_type(protocol.advanced_composition(Fraction(1), 4, 1e-6), float)
    assert_type(protocol.exact_composition(epsilons, 1e-6), Decimal)
