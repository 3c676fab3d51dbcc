"""Surveys with submissions, all that is asked about them, and broken exports: for tests that ask several engines."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

from deniable_protocol import Document, Drawn, Draws, parse_survey, publish, survey_from_tree
from deniable_server.cli import cli
from deniable_server.export.write import Writer, columns, writing
from deniable_server.planning.design import publish_survey
from deniable_server.simulate import Population, simulate_directly
from deniable_server.statistics import Content
from deniable_server.storage import open_storage
from tests.helpers.machine import ROOT
from tests.helpers.surveys import joint, several

WEIGHTS = "[campus]\nnorth = 0.7\nsouth = 0.3\n[age]\nyoung = 0.5\nolder = 0.3\nold = 0.2\n"
SEGMENTS = [
    {"id": "campus", "text": "?", "options": [{"code": code, "text": "?"} for code in ("north", "south")]},
    {"id": "age", "text": "?", "options": [{"code": code, "text": "?"} for code in ("young", "older", "old")]},
]


def example() -> bytes:
    """The example survey, as the server publishes it."""
    return publish_survey(parse_survey((files("deniable_server") / "example.toml").read_bytes()))


def every_channel(name: str = "every-channel") -> bytes:
    """Every channel; two segments; and a choice of so many options that its reports cannot all be counted."""
    tree = tomllib.loads((ROOT / "bench" / "every-channel.toml").read_text("utf-8"))
    many = [{"code": f"m{i}", "text": "?"} for i in range(21)]
    wide = {"id": "wide", "type": "choice", "text": "?", "epsilon": 1, "options": many}
    return publish(
        survey_from_tree({**tree, "id": name, "segments": SEGMENTS, "questions": [*tree["questions"], wide]})
    )


ASKED: dict[str, list[list[str]]] = {
    "campus-health": [
        ["estimate", "--by", "campus", "--distribution"],
        ["estimate", "--where", "campus:north", "--confidence", "0.9", "--simultaneous"],
        ["compare", "--question", "drinks", "--by", "campus"],
        ["regress", "--question", "vaped", "--on", "campus"],
    ],
    "joint": [
        ["estimate", "--by", "campus"],
        ["estimate", "--where", "campus:north", "--confidence", "0.9"],
        ["compare", "--question", "stress", "--by", "campus"],
        ["compare", "--question", "hours", "--by", "campus"],
        ["crosstab", "--rows", "vaped", "--columns", "stress"],
        ["crosstab", "--rows", "how_often", "--columns", "stress", "--where", "campus:south"],
        ["crosstab", "--rows", "campus", "--columns", "vaped"],
        ["regress", "--question", "vaped", "--on", "campus"],
    ],
    "every-channel": [
        ["estimate", "--by", "age"],
        ["estimate", "--weights", "weights.toml"],
        ["estimate", "--where", "age:young", "--weights", "weights.toml", "--by", "campus"],
        ["compare", "--question", "gaussian", "--by", "age"],
        ["crosstab", "--rows", "wide", "--columns", "subset"],
        ["crosstab", "--rows", "wide", "--columns", "exponential", "--where", "age:older"],
        ["crosstab", "--rows", "age", "--columns", "campus"],
        ["crosstab", "--rows", "drawn", "--columns", "bins"],
        ["regress", "--question", "subset", "--answer", "c", "--on", "campus", "--on", "age"],
    ],
}
DOCUMENTS: dict[str, Callable[[], bytes]] = {"campus-health": example, "joint": joint, "every-channel": every_channel}


def filled(database: str, document: bytes, people: int) -> str:
    """The survey's id, in a database where so many made-up people have answered it."""
    storage = open_storage(database)
    try:
        storage.publish(document)
        survey = json.loads(document)["survey"]["id"]
        published = storage.find(survey)
        assert published is not None
        simulate_directly(storage, published, Population(published.document.survey, 5), people, lambda done: None)
    finally:
        storage.close()
    return str(survey)


def deniable(*words: str | Path, status: int = 0) -> str:
    """What a command prints: the result, or the reason why it failed."""
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result.stdout if status == 0 else result.output


def told(asked: list[str], folder: Path, *source: str | Path) -> str:
    """The answer in JSON to one of the above, from this source; files that it names lie in the folder."""
    words = [str(folder / word) if word == "weights.toml" else word for word in asked]
    return deniable(*words, *source, "--minimum-group", "5", "--json")


def contents_of(document: Document, people: int, rng: np.random.Generator) -> list[Content]:
    """Submissions with any reports that the channels can give."""
    draws = Draws(rng.bytes)

    def report(part: int) -> int:
        channel = document.parts[part].channel
        answer: Any = [0] * len(channel.parts) if isinstance(channel, Drawn) else 0
        return int(channel.randomize(answer, draws))

    booklets = rng.integers(len(document.booklets), size=people).tolist()
    segments = [rng.integers(len(segment.options), size=people).tolist() for segment in document.survey.segments]
    return [
        Content(
            booklet,
            tuple(report(part) for part in document.booklets[booklet].parts),
            tuple(column[i] for column in segments),
        )
        for i, booklet in enumerate(booklets)
    ]


# --- broken exports --------------------------------------------------------------------------------------------------


def small_export(folder: Path, group_rows: int = 10, file_rows: int = 20) -> Path:
    """Fifty submissions in three files, of booklets of one, two and three parts."""
    with writing(folder, several(), group_rows, file_rows) as writer:
        fill(writer, 50)
        writer.finish("open")
    return folder


def fill(writer: Writer, people: int) -> None:
    """So many submissions."""
    for group in columns(writer.document, contents_of(writer.document, people, np.random.default_rng(2))):
        writer.add(group)


def rewrite(folder: Path, **changed: Any) -> None:
    manifest = json.loads((folder / "export.json").read_bytes())
    (folder / "export.json").write_text(json.dumps(manifest | changed))


def adopt(folder: Path) -> None:
    """A manifest that says what is there now: what only reading can find is left."""
    files = []
    for path in sorted((folder / "reports").iterdir()):
        raw = path.read_bytes()
        digest, rows = hashlib.sha256(raw).hexdigest(), pq.read_metadata(path).num_rows
        files.append({"name": f"reports/{path.name}", "rows": rows, "bytes": len(raw), "sha256": digest})
    rewrite(folder, files=files, submissions=sum(file["rows"] for file in files))


def alter(folder: Path, name: str, value: object, row: int = 0, *, there: bool = True) -> None:
    """Another value in the first file, under a manifest that knows nothing else: in this one of the rows in which the
    column has a value, or has none.
    """
    path = folder / "reports" / "part-00000.parquet"
    table = pq.read_table(path)
    column = table.column(name).to_pylist()
    places = [place for place, known in enumerate(column) if (known is not None) == there]
    column[places[row]] = value
    place, kind = table.schema.get_field_index(name), table.schema.field(name).type
    pq.write_table(table.set_column(place, pa.field(name, kind), pa.array(column, kind)), path)
    adopt(folder)


def damage(folder: Path, how: str) -> None:
    """One of the ways in which an export can be broken."""
    first = folder / "reports" / "part-00000.parquet"
    raw = first.read_bytes()
    manifest = json.loads((folder / "export.json").read_bytes())
    match how:
        case "no manifest":
            (folder / "export.json").unlink()
        case "no document":
            (folder / "published.json").unlink()
        case "another document":
            (folder / "published.json").write_bytes(every_channel())
        case "a document of no kind":
            (folder / "published.json").write_bytes(b"{}")
        case "a manifest of no kind":
            (folder / "export.json").write_bytes(b"{")
        case "a newer format":
            rewrite(folder, deniable_export=2)
        case "other sums":
            rewrite(folder, submissions=51)
        case "a file elsewhere":
            rewrite(folder, files=[manifest["files"][0] | {"name": "../a.parquet"}, *manifest["files"][1:]])
        case "a missing file":
            first.unlink()
        case "a cut file":
            first.write_bytes(raw[:-9])
        case "an altered file":
            first.write_bytes(raw[:100] + bytes([raw[100] ^ 1]) + raw[101:])
        case "files in each other's place":
            second = folder / "reports" / "part-00001.parquet"
            first.write_bytes(second.read_bytes())
            second.write_bytes(raw)
        # Rows are sorted by segment: what is too large or too small would count for the neighbouring one.
        case "a report out of range":
            alter(folder, "hours", 99)
        case "a report below zero":
            alter(folder, "hours", -1, -1)
        case "a subset of another size":
            alter(folder, "stress", 0b1111)
        case "an unknown code":
            alter(folder, "campus", "east")
        case "an unknown booklet":
            alter(folder, "booklet", 4)
        case "no booklet":
            alter(folder, "booklet", None)
        case "a report of another booklet":
            alter(folder, "hours", 1, there=False)
        case "a report that is missing":
            alter(folder, "hours", None)
        case "another booklet of as many parts":
            alter(folder, "booklet", 3, booklets_before(folder, 1))


DAMAGES = {
    "no manifest": "has no export.json",
    "no document": "has no published.json",
    "another document": "is not the document that these reports belong to",
    "a document of no kind": "no published document",
    "a manifest of no kind": "is damaged, or not one of Deniable's",
    "a newer format": "newer Deniable",
    "other sums": "contradicts itself",
    "a file elsewhere": "contradicts itself",
    "a missing file": "is missing|lacks a file",
    "a cut file": "another size|not the file that was written",
    "an altered file": "not the file that was written",
    "files in each other's place": "not the file that was written|another size",
    "a report out of range": "does not fit the survey",
    "a report below zero": "does not fit the survey",
    "a subset of another size": "does not fit the survey",
    "an unknown code": "does not fit the survey",
    "an unknown booklet": "does not fit the survey",
    "no booklet": "does not fit the survey",
    "a report of another booklet": "does not fit the survey",
    "a report that is missing": "does not fit the survey",
    "another booklet of as many parts": "does not fit the survey",
}


def booklets_before(folder: Path, booklet: int) -> int:
    """The first row of this booklet in the first file."""
    found = pq.read_table(folder / "reports" / "part-00000.parquet").column("booklet").to_pylist()
    return int(found.index(booklet))


def keep_exports(folder: Path, people: int) -> None:
    """Fill a folder with a database of both surveys, an export of each, and a file of weights."""
    (folder / "weights.toml").write_text(WEIGHTS)
    for survey, document in DOCUMENTS.items():
        filled(str(folder / "a.db"), document(), people)
        deniable("export", survey, "--to", folder / survey, "--database", folder / "a.db")
