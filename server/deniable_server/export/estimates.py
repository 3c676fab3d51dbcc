"""Estimates as files for other programs: CSV, JSON, and labelled files for SPSS and Stata, with a codebook.

A row is one number, as in the CSV; texts that come again and again are numbers with labels. May not: estimate anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deniable_protocol import Survey
from deniable_server.analysis.estimates import SurveyEstimates
from deniable_server.analysis.tables import csv_pieces, estimate_rows
from deniable_server.errors import ExportError

from .folder import making, write_file
from .readme import README, readme_of_estimates

LONGEST_TEXT = 2_000
"""Bytes of a text in a labelled file: Stata takes 2,045."""
LONGEST_LABEL = 120
"""Bytes of the label of a value: SPSS takes 120."""

NOTE = [
    "Estimates of a survey with randomised answers: a row is one number about many",
    "people, not a person. See README.txt and codebook.csv.",
]
"""What the SPSS file says of itself, in lines of at most 80 characters."""


class Variable(NamedTuple):
    """A column: what it is, and whether it is a number, a text, or a text of which there are few ("labelled")."""

    name: str
    label: str
    kind: str


VARIABLES = (
    Variable("where", "Only these submissions", "text"),
    Variable("target", "What the intervals are about", "text"),
    Variable("segment", "Segment of the group; empty for everybody", "labelled"),
    Variable("group", "Group; empty for everybody", "labelled"),
    Variable("submissions", "Submissions in the group", "number"),
    Variable("question", "Question", "labelled"),
    Variable("type", "Type of the question", "labelled"),
    Variable("weighted", "Whether reports were weighted", "labelled"),
    Variable("answers", "Reports that the number is from", "number"),
    Variable("kind", "What the number is", "labelled"),
    Variable("answer", "Code of the answer", "text"),
    Variable("estimate", "Estimate, possible", "number"),
    Variable("unbiased", "Unbiased estimate, may be impossible", "number"),
    Variable("standard_error", "Standard error", "number"),
    Variable("low", "Lower limit of the interval", "number"),
    Variable("high", "Upper limit of the interval", "number"),
    Variable("deff", "Design effect of the weights", "number"),
    Variable("confidence", "Confidence of the interval", "number"),
    Variable("note", "What a reader must know", "text"),
    Variable("method", "How the number was made", "text"),
    Variable("weights", "Margins of the weights", "text"),
    Variable("survey", "Survey", "text"),
    Variable("epsilon", "What one submission may reveal, in all", "text"),
    Variable("question_text", "Text of the question", "text"),
    Variable("answer_text", "Text of the answer", "text"),
    Variable("written", "The number as people read it, rounded outwards", "text"),
    Variable("date", "Day of the estimate (UTC)", "text"),
)


def write_estimates(folder: Path, survey: Survey, result: SurveyEstimates) -> list[str]:
    """Fill a new folder; the names of its files."""
    files = estimate_files(survey, result)
    with making(folder) as partial:
        for name, content in files.items():
            write_file(partial / name, content)
    return [*files]


def estimate_files(survey: Survey, result: SurveyEstimates) -> dict[str, bytes]:
    """All files by name. ExportError where what writes the labelled ones is not installed."""
    head, *rows = estimate_rows(survey, result)
    assert [each.name for each in VARIABLES] == head, "every column has a label"
    labels = {
        variable.name: _labels(survey, variable.name, [row[i] for row in rows])
        for i, variable in enumerate(VARIABLES)
        if variable.kind == "labelled"
    }
    found = {
        "estimates.csv": b"".join(csv_pieces([head, *rows])),
        "estimates.json": msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n",
        "codebook.csv": b"".join(csv_pieces(_codebook(labels))),
        **_labelled(survey, rows, labels),
    }
    return {README: readme_of_estimates(survey, result, [*found]).encode(), **found}


def _labels(survey: Survey, name: str, values: Sequence[Any]) -> dict[str, tuple[int, str]]:
    """Per value its number and its label, from 1 in the order in which they come; weighted is 0 and 1."""
    if name == "weighted":
        return {"no": (0, "no"), "yes": (1, "yes")}
    texts = {}
    if name == "question":
        texts = {question.id: question.text for question in survey.questions}
    elif name == "segment":
        texts = {segment.id: segment.text for segment in survey.segments}
    elif name == "group":
        texts = {option.code: option.text for segment in survey.segments for option in segment.options}
    known = dict.fromkeys(value for value in values if value != "")
    return {value: (number, _name(value, texts)) for number, value in enumerate(known, start=1)}


def _name(value: str, texts: dict[str, str]) -> str:
    """The code itself and its text: codes are unique, also where texts are cut."""
    said = " or ".join(texts[each] for each in value.split("+") if each in texts)
    return f"{value}: {said}" if said else value


def _codebook(labels: dict[str, dict[str, tuple[int, str]]]) -> Iterator[list[Any]]:
    yield ["variable", "label", "kind", "value", "code", "value_label"]
    for variable in VARIABLES:
        yield [variable.name, variable.label, variable.kind, "", "", ""]
        if variable.kind == "labelled":
            for code, (number, text) in labels[variable.name].items():
                yield [variable.name, "", "", number, code, text]


def _labelled(
    survey: Survey, rows: Sequence[Sequence[Any]], labels: dict[str, dict[str, tuple[int, str]]]
) -> dict[str, bytes]:
    try:
        import polars
        import pyreadstat
    except ModuleNotFoundError:
        raise ExportError(
            "Files for SPSS and Stata need pyreadstat: install it with  pip install 'deniable[spss]'"
        ) from None
    columns: dict[str, Any] = {}
    for i, (name, _, kind) in enumerate(VARIABLES):
        values = [row[i] for row in rows]
        if kind == "text":
            columns[name] = polars.Series(name, [_cut(str(each), LONGEST_TEXT) for each in values], polars.String)
        elif kind == "labelled":
            numbers = [None if each == "" else float(labels[name][each][0]) for each in values]
            columns[name] = polars.Series(name, numbers, polars.Float64)
        else:
            columns[name] = polars.Series(name, [None if each in ("", None) else float(each) for each in values])
            columns[name] = columns[name].cast(polars.Float64)
    frame = polars.DataFrame(columns)
    shown = {
        variable.name: {float(number): _cut(text, LONGEST_LABEL) for number, text in labels[variable.name].values()}
        for variable in VARIABLES
        if variable.kind == "labelled" and labels[variable.name]
    }
    given: dict[str, Any] = {
        "file_label": _cut(f"{survey.id}: estimates", 60),
        "column_labels": [variable.label for variable in VARIABLES],
        "variable_value_labels": shown,
    }
    measures = {variable.name: "nominal" if variable.kind == "labelled" else "scale" for variable in VARIABLES}
    with tempfile.TemporaryDirectory() as folder:
        spss, stata = Path(folder, "estimates.sav"), Path(folder, "estimates.dta")
        # Numbers are shown with all their digits.
        wide = {variable.name: "F20.12" for variable in VARIABLES if variable.kind == "number"}
        pyreadstat.write_sav(frame, spss, note=NOTE, variable_measure=measures, variable_format=wide, **given)
        pyreadstat.write_dta(frame, stata, version=15, **given)
        return {path.name: path.read_bytes() for path in (spss, stata)}


def _cut(text: str, longest: int) -> str:
    """A text of at most so many bytes, without half a character."""
    return text.encode()[:longest].decode(errors="ignore")
