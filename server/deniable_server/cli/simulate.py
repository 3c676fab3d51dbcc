"""The command that lets made-up people answer a survey."""

from __future__ import annotations

from functools import partial

import click
from rich.text import Text

from deniable_protocol import Survey
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.analysis.labels import question_texts
from deniable_server.analysis.rounding import rounded
from deniable_server.analysis.source import StoredSurvey
from deniable_server.errors import SimulationError
from deniable_server.settings import DEFAULT_MINIMUM_GROUP, Settings
from deniable_server.simulate import (
    Compared,
    Population,
    check_same_database,
    compare,
    simulate_directly,
    simulate_over_http,
)
from deniable_server.storage import Published, Storage

from .common import DATABASE, JSON, existing, find_survey, out, print_json, progress_bar
from .plan import table


@click.command(short_help="Let made-up people answer.")
@click.argument("survey_id")
@click.option("--respondents", required=True, type=click.IntRange(1, 10**9), help="How many people to make up.")
@DATABASE
@click.option(
    "--server",
    help="Address of the running server, with its base path. Default: http:// and DENIABLE_BIND.",
)
@click.option("--direct", is_flag=True, help="Write straight into the database, without a server: for millions.")
@click.option("--add", is_flag=True, help="Go on even if the survey already has submissions.")
@click.option("--seed", type=int, help="Make up the same people again; their answers are randomised again.")
@JSON
def simulate(
    survey_id: str,
    respondents: int,
    database: str,
    server: str | None,
    direct: bool,
    add: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Make up respondents who answer a survey through the real client, and compare the truth with the estimates.

    They answer through a server that uses the same database. With --direct, no server is needed.
    """
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        listed = next(one for one in storage.surveys(test_runs=True) if one.id == survey_id)
        if listed.submissions and not add:
            raise SimulationError(
                f"{survey_id} already has {listed.submissions:,} submissions, and made-up ones cannot be separated "
                "from them later. Use --add if you want this"
            )
        population = Population(published.document.survey, seed)
        with progress_bar("answering", respondents) as advance:
            if direct:
                simulate_directly(storage, published, population, respondents, advance)
            else:
                settings = Settings.from_environment()
                base = (server or f"http://{settings.bind}{settings.base_path}").rstrip("/")
                check_same_database(storage, base)
                link = f"{base}/s/{survey_id}#{published.document.digest}"
                simulate_over_http(link, population, respondents, advance)
        compared = compare_all(read_source(storage, published), population)
    if as_json:
        print_json(
            {"survey": survey_id, "respondents": respondents, "earlier": listed.submissions, "compared": compared}
        )
    else:
        show_compared(published.document.survey, compared, listed.submissions, respondents)


def read_source(storage: Storage, published: Published) -> StoredSurvey:
    """The results of a survey in this database."""
    return StoredSurvey(storage, published, DEFAULT_MINIMUM_GROUP, partial(find_survey, storage))


def compare_all(source: StoredSurvey, population: Population) -> list[Compared]:
    """Every estimate, and every cell of the planned cross-tabs, with its truth."""
    pairs = [CrosstabQuery(rows=rows, columns=columns) for rows, columns in population.pairs]
    crosstabs = [crosstab(source, query) for query in pairs]
    return compare(population.truth, estimates(source, EstimateQuery()).questions, crosstabs)


def show_compared(survey: Survey, compared: list[Compared], earlier: int, respondents: int) -> None:
    """The truth about the made-up people next to every estimate. Estimates also count earlier submissions."""
    alone = earlier * 100 <= respondents
    texts = question_texts(survey)
    follow_ups = {question.id for question in survey.questions if question.show_if is not None}
    grid = table("Question", "Answer", "Truth >", "Estimate >", "Between (95%) >", "Truth is" if alone else "")
    previous = ""
    for one in compared:
        about, low, high = written(one, one.estimate)
        truth, *_ = written(one, one.truth)
        label = one.question if one.question != previous else ""
        among = "of those: " if one.kind == "share" and one.question in follow_ups else ""
        answer = Text(f"{among}{answer_label(one, texts)}")
        grid.add_row(label, answer, truth, about, f"{low} and {high}", verdict(one) if alone else "")
        previous = one.question
    out.print(grid)
    if alone:
        say_how_many(compared)
    else:
        out.print(f"\nThe estimates also count {earlier:,} earlier submissions, whose truth is not known here.\n")


def say_how_many(compared: list[Compared]) -> None:
    covered = sum(one.covered for one in compared)
    out.print(f"\n{covered} of {len(compared)} intervals contain the truth. About one in twenty may miss it.\n")


def verdict(one: Compared) -> Text:
    return Text("inside", style="green") if one.covered else Text("outside", style="yellow")


def answer_label(one: Compared, texts: dict[str, dict[str, str]]) -> str:
    """What a number is about."""
    if one.kind == "mean":
        return "mean"
    if one.kind == "applies":
        return "applies to"
    if one.kind == "pair":
        names, codes = one.question.split(" × "), one.code.split(" × ")
        return " and ".join(texts[name].get(code, code) for name, code in zip(names, codes, strict=True))
    answer = texts[one.question][one.code]
    return f"{answer}, of those who answer" if one.kind == "among_answering" else answer


def written(one: Compared, value: float | None) -> list[str]:
    """The truth or the estimate, and the limits, with the decimals that the interval deserves."""
    if one.kind == "mean":
        return [*rounded(value, one.low, one.high).texts()]
    return [f"{text}%" for text in rounded(value, one.low, one.high, 0.0, 1.0, scale=100).texts()]
