"""Exports, and the estimates that are counted from them on this machine."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import Document, Drawn, Draws, Subset, publish, survey_from_tree, verify
from deniable_server.analysis.reports import report_columns
from deniable_server.estimator.features import Joint, coded_question
from deniable_server.export import opened
from deniable_server.export.write import columns, export, writing
from deniable_server.statistics import MODULUS, Content, tally
from deniable_server.storage import Row, open_storage
from tests.helpers.exports import (
    ASKED,
    contents_of,
    deniable,
    every_channel,
    example,
    filled,
    told,
)
from tests.helpers.machine import missing
from tests.helpers.spark import find_java
from tests.helpers.surveys import documents, several, surveys

PEOPLE = 1_500


# --- the same estimates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("survey", "asked"), [(survey, asked) for survey in ASKED for asked in ASKED[survey]])
def test_an_export_tells_what_the_database_tells(survey: str, asked: list[str], kept: Path) -> None:
    """Every estimate, comparison, cross-tabulation and regression has the same bytes from the files."""
    there = told([asked[0], survey, *asked[1:]], kept, "--database", kept / "a.db")
    assert told(asked, kept, "--from", kept / survey) == there
    assert told([asked[0], survey, *asked[1:]], kept, "--from", kept / survey, "--engine", "local") == there


def test_two_waves_are_compared_from_their_exports(kept: Path, tmp_path: Path) -> None:
    """With --from, the other survey of a comparison is an export too."""
    filled(str(tmp_path / "b.db"), every_channel("wave"), 300)
    filled(str(tmp_path / "b.db"), every_channel(), 300)
    for survey in ("wave", "every-channel"):
        deniable("export", survey, "--to", tmp_path / survey, "--database", tmp_path / "b.db")
    asked = ["--question", "bit", "--json"]
    there = deniable("compare", "wave", "--with", "every-channel", "--database", tmp_path / "b.db", *asked)
    assert deniable("compare", "--from", tmp_path / "wave", "--with", tmp_path / "every-channel", *asked) == there


def test_a_closed_survey_is_closed_in_its_export(tmp_path: Path) -> None:
    """The status is that of the moment of the export; a survey that nobody answered can be exported too."""
    filled(str(tmp_path / "a.db"), example(), 20)
    storage = open_storage(str(tmp_path / "a.db"))
    storage.publish(every_channel())
    storage.close()
    for survey in ("campus-health", "every-channel"):
        deniable("export", survey, "--to", tmp_path / survey, "--database", tmp_path / "a.db")
    deniable("survey", "close", "campus-health", "--database", tmp_path / "a.db")
    deniable("export", "campus-health", "--to", tmp_path / "closed", "--database", tmp_path / "a.db")
    told_then = json.loads(deniable("estimate", "--from", tmp_path / "campus-health", "--json"))
    told_now = deniable("estimate", "--from", tmp_path / "closed", "--json")
    assert told_then["status"] == "open" and json.loads(told_now)["status"] == "closed"
    assert told_now == deniable("estimate", "campus-health", "--database", tmp_path / "a.db", "--json")
    nobody = deniable("estimate", "--from", tmp_path / "every-channel", "--json")
    assert nobody == deniable("estimate", "every-channel", "--database", tmp_path / "a.db", "--json")


# --- counting --------------------------------------------------------------------------------------------------------


Counted = dict[tuple[int, ...], tuple[list[int], list[list[int]]]]


def counted_one_by_one(document: Document, contents: list[Content]) -> Counted:
    """The statistics, by the definition and nothing else."""
    sums: dict[tuple[int, ...], Counter[Any]] = {}
    for content in contents:
        cell = sums.setdefault(content.segments, Counter())
        cell[content.booklet] += 1
        for part, report in zip(document.booklets[content.booklet].parts, content.reports, strict=True):
            channel = document.parts[part].channel
            held = [j for j in range(channel.options) if report >> j & 1] if isinstance(channel, Subset) else [report]
            cell.update((part, j) for j in held)
    sizes = [part.channel.feature_count for part in document.parts]
    return {
        codes: (
            [cell[booklet] for booklet in range(len(document.booklets))],
            [[cell[part, j] for j in range(n)] for part, n in enumerate(sizes)],
        )
        for codes, cell in sums.items()
    }


def repeated_one_by_one(document: Document, contents: list[Content]) -> list[int]:
    """The counts of whole reports: of a part, and of all of a submission as one long number, by their remainders."""
    sizes: dict[int | None, int] = {}
    for number, part in enumerate(document.parts):
        if isinstance(part.channel, Subset) and part.channel.size > 1:
            sizes[number] = min(2**part.channel.options, MODULUS)
    if any(len(booklet.parts) > 1 for booklet in document.booklets):
        sizes[None] = MODULUS
    found: Counter[Any] = Counter()
    for content in contents:
        reports = dict(zip(document.booklets[content.booklet].parts, content.reports, strict=True))
        found.update((part, report % sizes[part]) for part, report in reports.items() if part in sizes)
        found[None, sum(report << 51 * part for part, report in reports.items()) % MODULUS] += 1
    return [found[part, remainder] for part, size in sizes.items() for remainder in range(size)]


@st.composite
def exported(draw: st.DrawFn) -> bytes:
    """A document of either design; of the textbook's also one with many options."""
    if draw(st.booleans()):
        return draw(documents() | st.just(several()))
    many = [{"code": f"m{i}", "text": "?"} for i in range(draw(st.integers(2, 50)))]
    tree = draw(surveys())
    tree["questions"].append({"id": "many", "type": "choice", "text": "?", "epsilon": 1, "options": many})
    return publish(survey_from_tree(tree))


@settings(max_examples=40)
@given(
    published=exported(),
    people=st.integers(0, 60),
    group_rows=st.integers(1, 40),
    file_groups=st.integers(1, 3),
    batch=st.integers(1, 50),
    seed=st.integers(0, 2**32),
)
def test_files_of_any_size_are_counted_right(
    published: bytes,
    people: int,
    group_rows: int,
    file_groups: int,
    batch: int,
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """However rows are cut into batches, groups and files, the statistics are those of the submissions one by one; and
    so are those that the server counts.
    """
    document = verify(published)
    contents = contents_of(document, people, np.random.default_rng(seed))
    folder = tmp_path_factory.mktemp("cut") / "export"
    with writing(folder, published, group_rows, group_rows * file_groups) as writer:
        for start in range(0, people, batch):
            for group in columns(document, contents[start : start + batch]):
                writer.add(group)
        manifest = writer.finish("open")
    assert all(file.rows <= group_rows * file_groups for file in manifest.files) and manifest.submissions == people
    with opened(str(folder)) as engine:
        found = engine.statistics()
    wanted = counted_one_by_one(document, contents)
    for statistics in (found, tally(document, contents)):
        assert {
            codes: (cell.booklets.tolist(), [counts.tolist() for counts in cell.counts])
            for codes, cell in statistics.cells.items()
        } == wanted
        assert statistics.repeats.tolist() == repeated_one_by_one(document, contents)


@pytest.mark.parametrize(
    "wrong",
    [
        Content(4, (0b1111,), (0,)),
        Content(-1, (0b1111,), (0,)),
        Content(1, (), (0,)),
        Content(1, (0b1111, 0b1111), (0,)),
        Content(1, (0,), (0,)),
        Content(1, (2**70,), (0,)),
        Content(2**70, (0b1111,), (0,)),
        Content(0, (1, 99), (0,)),
        Content(0, (1, 1), (2,)),
    ],
)
def test_what_no_device_sends_is_not_counted(wrong: Content) -> None:
    """A booklet that is not there, a report too many or too few, or one that its part cannot give, is an error."""
    document = verify(several())
    right = contents_of(document, 50, np.random.default_rng(5))
    with pytest.raises(ValueError, match=r"."):
        tally(document, [*right, wrong])


def test_many_segments_are_told_apart() -> None:
    """Ten segments of two hundred codes have more combinations than 64 bits can number; all are told apart."""
    codes = [{"code": f"c{i}", "text": "?"} for i in range(200)]
    tree = {
        "id": "segments",
        "title": "?",
        "segments": [{"id": f"s{i}", "text": "?", "options": codes} for i in range(10)],
        "questions": [{"id": "q", "type": "yes_no", "text": "?", "epsilon": 1}],
    }
    document = verify(publish(survey_from_tree(tree)))
    rng = np.random.default_rng(3)
    contents = [Content(0, (i % 2,), tuple(rng.integers(190, 200, 10).tolist())) for i in range(300)] * 2
    found = tally(document, contents)
    assert {codes: cell.counts[0].tolist() for codes, cell in found.cells.items()} == {
        content.segments: [2, 0] if content.reports == (0,) else [0, 2] for content in contents
    }


@pytest.mark.parametrize("pair", [("wide", "subset"), ("drawn", "wide"), ("bit", "exponential"), ("points", "krr")])
def test_pieces_make_the_sums_of_products(pair: tuple[str, str]) -> None:
    """The sums from counted pieces are those of the features of each submission, multiplied one by one."""
    document = verify(every_channel())
    asked = {part.names[0]: (part.items[0].question, part.channel) for part in document.parts}
    rows, columns_ = (coded_question(*asked[name]) for name in pair)
    draws, n = Draws(np.random.default_rng(8).bytes), 500
    reports = []
    for name in pair:
        channel = asked[name][1]
        answer: Any = [1, 0, 1] if isinstance(channel, Drawn) else 1
        reports.append(np.array([channel.randomize(answer, draws) for _ in range(n)]))
    joint = Joint(rows, columns_)
    joint.add(reports[0][:200], reports[1][:200])
    joint.add_counts(joint.count(reports[0][200:], reports[1][200:]))
    features = np.hstack([rows.features(reports[0]), columns_.features(reports[1])])
    assert np.array_equal(joint.products, sum(np.outer(each, each) for each in features)) and joint.submissions == n


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_the_layout_is_as_documented(kept: Path) -> None:
    """The document byte for byte; codes as text, reports as the smallest signed integers; digests."""
    folder = kept / "every-channel"
    document = every_channel()
    assert (folder / "published.json").read_bytes() == document
    manifest = json.loads((folder / "export.json").read_bytes())
    assert manifest["deniable_export"] == 1 and manifest["submissions"] == PEOPLE
    assert manifest["digest"] == hashlib.sha256(document).hexdigest()
    (file,) = manifest["files"]
    assert hashlib.sha256((folder / file["name"]).read_bytes()).hexdigest() == file["sha256"]
    read = pq.ParquetFile(folder / file["name"])
    names = [segment["id"] for segment in json.loads(document)["survey"]["segments"]]
    assert read.schema_arrow.names[:3] == [*names, "booklet"] and read.schema_arrow.field("campus").type == pa.string()
    kinds = {name: str(read.schema_arrow.field(name).type) for name in ("bit", "subset", "wide", "gaussian", "band")}
    assert kinds == {"bit": "int8", "subset": "int16", "wide": "int32", "gaussian": "int16", "band": "int8"}
    assert all(read.metadata.row_group(0).column(i).compression == "ZSTD" for i in range(len(names)))
    assert not any(field.nullable for field in read.schema_arrow), "everybody reports on everything"


def test_a_column_is_called_by_what_its_part_reports_on(tmp_path: Path) -> None:
    """A part's reports are there where the booklet has it, and null elsewhere; the metadata say what the bits mean."""
    document = verify(several())
    contents = contents_of(document, 200, np.random.default_rng(9))
    with writing(tmp_path / "export", several()) as writer:
        for group in columns(document, contents):
            writer.add(group)
        writer.finish("open")
    path = tmp_path / "export" / "reports" / "part-00000.parquet"
    table = pq.read_table(path)
    assert table.column_names == [
        "campus",
        "booklet",
        "vaped+how_often+support.doctor",
        "vaped+how_often+stress",
        "support.doctor",
        "support.friend+support.nobody",
        "stress",
        "hours",
    ]
    found = []
    for campus, booklet, *reports in zip(*(column.to_pylist() for column in table.columns), strict=True):
        parts = document.booklets[booklet].parts
        assert [place for place, report in enumerate(reports) if report is not None] == sorted(parts)
        found.append(Content(booklet, tuple(reports[part] for part in parts), (["north", "south"].index(campus),)))
    assert sorted(found) == sorted(contents)
    meanings = json.loads(pq.read_metadata(path).metadata[b"deniable"])
    assert meanings["digest"] == document.digest
    assert meanings["columns"]["vaped+how_often+support.doctor"] == {
        "questions": ["vaped", "how_often", "support.doctor"],
        "paths": [
            ["no", None, "no"],
            ["no", None, "yes"],
            ["yes", "monthly", "no"],
            ["yes", "monthly", "yes"],
            ["yes", "weekly", "no"],
            ["yes", "weekly", "yes"],
            ["yes", "daily", "no"],
            ["yes", "daily", "yes"],
        ],
    }
    assert meanings["columns"]["hours"] == {"questions": ["hours"], "paths": []}


def test_no_two_columns_have_one_name(tmp_path: Path) -> None:
    """Two parts may report on the same, a question may be called booklet, and codes may differ in case only."""
    tree = {
        "id": "names",
        "title": "?",
        "epsilon": "0.1",  # so little that the best subsets of four paths have two
        "questions": [
            {"id": "booklet", "type": "yes_no", "text": "?"},
            {"id": "m", "type": "multi_choice", "text": "?", "options": [{"code": c, "text": c} for c in "aA"]},
        ],
    }
    parts = [(["booklet"], None), (["m.a"], None), (["m.A"], None), (["m.a", "m.A"], 1), (["m.a", "m.A"], None)]
    published = publish(survey_from_tree(tree), parts, [([number], 1) for number in range(5)])
    document = verify(published)
    assert report_columns(document) == ["booklet", "booklet#2", "m.a", "m.a+m.A", "m.a+m.A#2", "m.A"]
    contents = contents_of(document, 60, np.random.default_rng(9))
    with writing(tmp_path / "export", published) as writer:
        for group in columns(document, contents):
            writer.add(group)
        writer.finish("open")
    with opened(str(tmp_path / "export")) as engine:
        assert engine.statistics() == tally(document, contents)


def test_the_documented_example_debiases(kept: Path, root: Path) -> None:
    """The Python of docs/exports.md runs unchanged, and finds the share that the estimator finds."""
    (code,) = re.findall(r"```python\n(.*?)```", (root / "docs" / "exports.md").read_text("utf-8"), re.DOTALL)
    (kept / "exports").mkdir(exist_ok=True)
    (kept / "exports" / "campus-health").symlink_to(kept / "campus-health")
    run = subprocess.run([sys.executable, "-c", code], cwd=kept, capture_output=True, text=True, check=True)
    told_ = json.loads(deniable("estimate", "--from", kept / "campus-health", "--json"))
    (harassed,) = [question for question in told_["questions"] if question["id"] == "harassed"]
    assert run.stdout == f"harassed: {harassed['shares'][0]['unbiased']:.4f}\n"


def test_only_the_owner_can_read_it(kept: Path) -> None:
    """Only the owner can read the folders and files."""
    for path in (kept / "campus-health", *(kept / "campus-health").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_neither_ids_nor_arrival_can_be_read_from_it(tmp_path: Path) -> None:
    """The same submissions under other ids and in another order give the same bytes, and no file contains an id."""
    document = example()
    contents = contents_of(verify(document), 300, np.random.default_rng(4))
    exported = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        storage = open_storage(str(tmp_path / f"{seed}.db"))
        storage.publish(document)
        survey = storage.find("campus-health")
        assert survey is not None
        ids = [rng.bytes(16) for _ in contents]
        for i in rng.permutation(len(contents)).tolist():
            storage.accept(survey, [Row(ids[i], json.dumps(contents[i], separators=(",", ":")))])
        export(storage, survey, tmp_path / f"export-{seed}")
        storage.close()
        files = sorted(path for path in (tmp_path / f"export-{seed}").rglob("*") if path.is_file())
        exported.append([path.read_bytes() for path in files])
        assert not any(each in raw or each.hex().encode() in raw for raw in exported[-1] for each in ids)
    assert exported[0] == exported[1]


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["estimate"], "Missing argument 'SURVEY_ID'"),
        (["estimate", "campus-health", "--engine", "local"], "--from DIR"),
        (["estimate", "campus-health", "--master", "local[2]"], "--from DIR"),
        (["estimate", "--from", "{export}", "--master", "local[2]"], "--master is for --engine spark"),
        (["estimate", "--from", "{export}", "--engine", "local", "--master", "local[2]"], "--master is for"),
        (["estimate", "--from", "{export}", "--database", "a.db"], "--database or --from"),
    ],
)
def test_contradictory_options_are_refused(words: list[str], said: str, kept: Path) -> None:
    """Options that exclude each other get a message and exit status 2."""
    assert said in deniable(*(word.format(export=kept / "campus-health") for word in words), status=2)


def test_another_survey_than_the_export_is_refused(kept: Path) -> None:
    """An id given with --from must be the export's own."""
    words = ["estimate", "every-channel", "--from", kept / "campus-health"]
    assert "is an export of campus-health, not of every-channel" in " ".join(deniable(*words, status=1).split())


@pytest.mark.parametrize(
    ("module", "words", "cure"),
    [
        ("pyarrow", ["export", "campus-health", "--to", "x", "--database", "{a.db}"], "deniable[parquet]"),
        ("pyarrow", ["estimate", "--from", "{export}"], "deniable[parquet]"),
        ("pyspark", ["estimate", "--from", "{export}", "--engine", "spark"], "deniable[spark]"),
    ],
)
def test_a_missing_package_is_named(module: str, words: list[str], cure: str, kept: Path, tmp_path: Path) -> None:
    """Without the extra, the message says what to install."""
    words = [
        word.replace("{export}", str(kept / "campus-health")).replace("{a.db}", str(kept / "a.db")) for word in words
    ]
    code = f"import sys; sys.modules[{module!r}] = None\nfrom deniable_server.cli import cli\ncli(sys.argv[1:])"
    run = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 1 and cure in run.stderr and "Traceback" not in run.stderr


@pytest.mark.parametrize("master", ["spark://head", "localhost:7077", "foo", "local[", "spark://a:1/x"])
def test_what_is_no_master_is_refused_at_once(master: str, kept: Path) -> None:
    """The form of --master is checked before Java is started."""
    if not find_java():
        missing("Java")
    words = ["estimate", "--from", kept / "campus-health", "--engine", "spark", "--master", master]
    assert "--master (SPARK_MASTER) takes spark://HOST:PORT" in " ".join(deniable(*words, status=1).split())


def test_where_an_export_can_be_written(kept: Path, tmp_path: Path) -> None:
    """Folders above it are made; an address is refused, with what to do instead."""
    words = ["export", "campus-health", "--database", kept / "a.db", "--to"]
    deniable(*words, tmp_path / "exports" / "first")
    assert (tmp_path / "exports" / "first" / "export.json").is_file()
    assert "takes a folder on this machine" in deniable(*words, "s3://bucket/x", status=1)
