"""The README of every export: what is in it, and what it is not."""

from __future__ import annotations

from textwrap import fill

from deniable_protocol import Document, Survey
from deniable_server.analysis.estimates import SurveyEstimates
from deniable_server.analysis.scope import scope

from . import Manifest

README = "README.txt"
WIDTH = 100

NOT_ANSWERS = (
    "A randomised report is not an answer. Each device drew it at random, with odds that depend on the true answer "
    "only a little. Counting reports as if they were answers gives wrong shares, and looking up one row says next to "
    "nothing about the person who sent it. Estimates have to remove the noise first, with the rules in published.json."
)
NOT_PEOPLE = (
    "A row is a number about many people: there is no row for a person, and none can be made from these files. Do not "
    "compute with the rows as if they were respondents (no means, tests or regressions over rows)."
)


def readme_of_reports(document: Document, manifest: Manifest) -> str:
    """For all randomised reports of a survey."""
    survey = document.survey
    return _written(
        f"{survey.title} ({survey.id}): randomised reports",
        f"{manifest.submissions:,} submissions, exported on {manifest.exported_on} (UTC). The survey was "
        f"{manifest.status}. Everything that one person sent spent ε = {document.epsilon} in all.",
        "What is here: export.json lists the files with their digests; published.json is the published survey; "
        "reports/ has one row for each submission: its segments, its booklet and its randomised reports, in an order "
        "that means nothing. Segments were sent in the clear.",
        f"What it is not: {NOT_ANSWERS[0].lower()}{NOT_ANSWERS[1:]}",
        "Estimates with intervals from these files:  deniable estimate --from DIR",
    )


def readme_of_estimates(survey: Survey, result: SurveyEstimates, files: list[str]) -> str:
    """For estimates."""
    return _written(
        f"{survey.title} ({survey.id}): estimates",
        f"{result.submissions:,} submissions. {scope(survey, result, weighted=True)}. Everything that one person sent "
        f"spent ε = {result.epsilon} in all.",
        f"What is here: {', '.join(files)}. All of them have the same numbers. A row of the tables is one number of "
        "one question: a share, a mean or a summary, for everybody or for one group, with its standard error and the "
        "limits of its interval. codebook.csv says what each variable is. Shares are fractions: 0.231 is 23.1%.",
        f"What it is not: {NOT_PEOPLE[0].lower()}{NOT_PEOPLE[1:]}",
        "estimate is a possible share or mean. unbiased may be impossible, such as a share below 0, and is the one to "
        "add up or to average. Reports were randomised on each respondent's device; the intervals include that noise.",
        *(f"Note: {note}." for note in result.notes),
    )


def _written(title: str, *paragraphs: str) -> str:
    return "\n\n".join([title, *(fill(each, WIDTH, break_on_hyphens=False) for each in paragraphs)]) + "\n"
