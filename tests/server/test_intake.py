"""What is taken as a submission: strict, and the same by the quick way as by the careful one."""

from __future__ import annotations

import json
import re
import tracemalloc
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import Document, randomize, verify
from deniable_protocol.blind_signatures import BYTES, Blinding, Token, from_text, submission_id, to_text
from deniable_protocol.errors import SubmissionError
from deniable_server.errors import NotJSON, TooMany
from deniable_server.statistics import tally
from deniable_server.storage.queries import read_content
from deniable_server.web.submission_reader import MAX_PROBLEMS, SubmissionReader
from tests.helpers.invited import INVITED, ISSUER, OTHER_ISSUER, Issuer
from tests.helpers.surveys import documents, several


def submission_to(document: Document, booklet: int | None = None) -> dict[str, Any]:
    answers = {question.id: question.panel(2)[0][1] for question in document.survey.questions}
    segments = {segment.id: segment.options[0].code for segment in document.survey.segments}
    return dict(randomize(document, answers, segments, booklet=booklet))


def encode(tree: object) -> bytes:
    return msgspec.json.encode(tree)


@pytest.fixture(scope="module")
def document() -> Document:
    return verify(several())


@pytest.fixture(scope="module")
def intake(document: Document) -> SubmissionReader:
    return SubmissionReader(document)


THREE = 3
"""A booklet of three parts: two options (four paths), stress (four paths), hours (a band)."""


@pytest.fixture
def good(document: Document) -> dict[str, Any]:
    return submission_to(document, THREE)


@settings(max_examples=60)
@given(documents() | st.just(several()), st.integers(1, 3))
def test_both_ways_read_what_clients_write(published: bytes, n: int) -> None:
    """For any survey, the quick way takes single submissions and batches as clients write them, as the careful does."""
    document = verify(published)
    intake = SubmissionReader(document)
    for body in (
        encode(submission_to(document)),
        encode({"submissions": [submission_to(document) for _ in range(n)]}),
    ):
        quick = intake._read_quickly(body)
        assert quick is not None
        assert quick.rows == intake._read_carefully(body).rows == intake.read(body).rows
        assert quick.counted in (None, tally(document, [read_content(row.content) for row in quick.rows]))
        assert (quick.counted is None) == (quick == intake.read_plain(body))


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**60), st.floats(), st.text(max_size=3), st.just([]), st.just({}),
    st.sampled_from(["north", "south", "0" * 32, "A" * 32, "0" * 33, "é", "\x00"]),
)  # fmt: skip


@st.composite
def mangled(draw: st.DrawFn, document: Document) -> bytes:
    """A submission or batch with a few things wrong, or only written otherwise."""
    booklets = st.integers(0, len(document.booklets) - 1)  # drawn here: how much there is to change depends on it
    tree: Any = submission_to(document, draw(booklets))
    if draw(st.booleans()):
        tree = {"submissions": [tree, submission_to(document, draw(booklets))]}
    for _ in range(draw(st.integers(0, 2))):
        batch = tree.get("submissions")
        target = batch[0] if isinstance(batch, list) and batch and draw(st.booleans()) else tree
        if isinstance(target, dict) and draw(st.booleans()):
            inner = draw(st.sampled_from(["reports", "segments", "id"]))
            target = target[inner] if isinstance(target.get(inner), dict | list) else target
        if isinstance(target, list) and target:
            target[draw(st.integers(0, len(target) - 1))] = draw(VALUES)
            target += draw(st.lists(VALUES, max_size=1))
        elif isinstance(target, dict) and target:
            key = draw(st.sampled_from([*target, "more"]))
            if draw(st.booleans()):
                target[key] = draw(VALUES)
            else:
                target.pop(key, None)
    text = json.dumps(tree, separators=(",", ":"), ensure_ascii=draw(st.booleans()))
    how = draw(st.integers(0, 4))
    if how == 1:
        text = json.dumps(tree, indent=1)
    elif how == 2:
        text = text.replace('"id":', '"id":"' + "0" * 32 + '","id":', 1)
    elif how == 3:
        text = text.replace('"booklet":', '"booklet":0,"booklet":', 1)
    elif how == 4:
        text = text.replace("booklet", "b\\u006foklet", 1)
    return text.encode("utf-8", errors="surrogatepass")


@settings(max_examples=400)
@given(st.data())
def test_the_quick_way_takes_nothing_that_the_careful_one_refuses(document: Document, data: st.DataObject) -> None:
    """Whatever is wrong or written differently: if the quick way gives rows, the careful way gives the same ones."""
    body = data.draw(mangled(document))
    quick = SubmissionReader(document)._read_quickly(body)
    if quick is not None:
        assert quick.rows == SubmissionReader(document)._read_carefully(body).rows


def inside(tree: Any, place: str) -> tuple[Any, Any]:
    """What holds this place, and its key there."""
    *path, last = [int(key) if key.isdecimal() else key for key in re.findall(r"\w+", place)]
    for key in path:
        tree = tree[key]
    return tree, last


def change(tree: dict[str, Any], place: str, value: object) -> bytes:
    target, last = inside(tree, place)
    target[last] = value
    return encode(tree)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("id", "A" * 32, "format"),
        ("id", "0" * 31, "format"),
        ("id", "0" * 32 + "\n", "format"),
        ("id", 7, "format"),
        ("digest", "0" * 64, "digest"),
        ("digest", None, "digest"),
        ("booklet", -1, "range"),
        ("booklet", 4, "range"),
        ("booklet", 2**70, "range"),
        ("booklet", True, "type"),
        ("booklet", 2.0, "type"),
        ("booklet", "2", "type"),
        ("booklet", None, "type"),
        ("reports", {}, "type"),
        ("reports", None, "type"),
        ("reports", [], "range"),
        ("reports", [3], "range"),
        ("reports", [3, 1], "range"),
        ("reports", [3, 1, 0, 0], "range"),
        ("reports[2]", True, "type"),
        ("reports[2]", 1.0, "type"),
        ("reports[2]", "1", "type"),
        ("reports[2]", None, "type"),
        ("reports[2]", [1], "type"),
        ("reports[2]", 99, "range"),
        ("reports[2]", -1, "range"),
        ("reports[2]", 2**53, "range"),
        ("reports[2]", 2**63 - 1, "range"),
        ("reports[2]", 2**70, "range"),
        ("reports[0]", 0, "range"),
        ("reports[0]", 15, "range"),
        ("reports[0]", 16, "range"),
        ("reports[1]", 0, "range"),
        ("segments.campus", "west", "range"),
        ("segments.campus", 0, "range"),
        ("segments.campus", ["north"], "range"),
        ("segments", None, "type"),
    ],
)
def test_a_wrong_value_is_refused_at_its_place(
    intake: SubmissionReader, good: dict[str, Any], place: str, value: object, reason: str
) -> None:
    """Each wrong value has a place and a reason, and is not repeated."""
    with pytest.raises(SubmissionError) as caught:
        intake.read(change(good, place, value))
    (problem,) = caught.value.problems
    assert (problem.place, problem.reason) == (place, reason)


@pytest.mark.parametrize("booklet", [1, THREE])
def test_the_number_of_reports_is_said(booklet: int, intake: SubmissionReader, document: Document) -> None:
    """A booklet of one part and one of three: the error says how many reports it has."""
    posted = submission_to(document, booklet)
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode(posted | {"reports": [*posted["reports"], 1]}))
    said = f"must have one report for each part of the booklet: {len(posted['reports'])}"
    assert [(problem.place, problem.message) for problem in caught.value.problems] == [("reports", said)]


def test_reports_are_those_of_the_booklet(intake: SubmissionReader, document: Document) -> None:
    """Reports of one booklet under the number of another are refused, at the first that cannot be its own."""
    refused = 0
    for drawn, said in product(range(len(document.booklets)), repeat=2):
        posted = submission_to(document, drawn) | {"booklet": said}
        parts = document.parts_of(said)
        reports = zip(parts, posted["reports"], strict=False)
        wrong = [f"reports[{i}]" for i, (part, report) in enumerate(reports) if not part.channel.is_report(report)]
        if len(parts) != len(posted["reports"]):
            wrong = ["reports"]
        if wrong:
            refused += 1
            with pytest.raises(SubmissionError) as caught:
                intake.read(encode(posted))
            assert [problem.place for problem in caught.value.problems] == wrong
        else:
            assert len(intake.read(encode(posted)).rows) == 1
    assert refused >= 10, "all but those of the same number of parts"


@pytest.mark.parametrize("key", ["id", "digest", "booklet", "reports", "segments", "segments.campus"])
def test_a_missing_key_is_refused(intake: SubmissionReader, good: dict[str, Any], key: str) -> None:
    """A submission needs every key, and a code for every segment."""
    target, last = inside(good, key)
    del target[last]
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode(good))
    assert [(p.place, p.reason) for p in caught.value.problems] == [(key, "missing")]


@pytest.mark.parametrize("place", ["canary", "segments.canary"])
def test_an_unknown_key_is_refused_and_not_repeated(intake: SubmissionReader, good: dict[str, Any], place: str) -> None:
    """An unknown key is refused without quoting it."""
    with pytest.raises(SubmissionError) as caught:
        intake.read(change(good, place, "secret"))
    assert [p.reason for p in caught.value.problems] == ["unknown"]
    assert "canary" not in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"\xff\xfe{}",
        b'{"id":1,"id":2}',
        b'{"reports":[NaN]}',
        b'{"reports":[Infinity]}',
        b'{"id":"\\ud800"}',
        b'{"id":"\xff"}',
        b'{"\xff":1}',
        b'{"segments":{"\xff":1}}',
        b'{"id":"\\udc00\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"submissions":' + b"[" * 100_000,
        b'\xef\xbb\xbf{"id":"0"}',
        b'{"id":"a\tb"}',
        b"{} {}",
    ],
)
def test_what_is_not_strict_json_is_refused(intake: SubmissionReader, body: bytes) -> None:
    """Duplicate keys, NaN, lone surrogates, deep nesting and the like end in one refusal, never in another error."""
    with pytest.raises(NotJSON):
        intake.read(body)


@pytest.mark.parametrize("body", [b"null", b"1", b"[]", b'"x"', b"{}", b'{"submissions":{}}', b'{"submissions":[]}'])
def test_json_that_is_no_submission_is_refused(intake: SubmissionReader, body: bytes) -> None:
    """Other JSON values are refused too."""
    with pytest.raises(SubmissionError):
        intake.read(body)


def test_a_repeated_key_is_refused_wherever_it_stands(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """The last of two equal keys does not win: the body is refused, also where both say the same."""
    text = encode(good).decode()
    member = {key: f'"{key}":{encode(good[key]).decode()}' for key in good}
    member["campus"] = '"campus":"north"'
    for written in member.values():
        assert intake.read(text.encode())
        with pytest.raises(NotJSON):
            intake.read(text.replace(written, f"{written},{written}", 1).encode())


def test_a_submission_beside_a_batch_is_refused(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """A body is a submission or a batch, not both."""
    with pytest.raises(SubmissionError):
        intake.read(encode({**good, "submissions": [good]}))
    for key in ("id", "digest", "booklet", "reports", "segments"):
        with pytest.raises(SubmissionError):
            intake.read(encode({"submissions": [good], key: good[key]}))


def test_white_space_changes_nothing(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """However a body is laid out, the quick way takes it, with the same rows."""
    for body in (json.dumps(good).encode(), json.dumps(good, indent="\t").encode(), b" \r\n" + encode(good) + b"\n"):
        quick = intake._read_quickly(body)
        assert quick is not None and quick.rows == intake.read(encode(good)).rows


def test_large_bodies_are_refused_without_being_built_up(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """A wrong body above a million bytes is cheap to refuse: the error names one wrong place, or says it is no JSON."""
    many = [good] * 7_000
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({"submissions": [*many, {**good, "id": "secret"}]}))
    assert [p.place for p in caught.value.problems] == ["submissions[7000].id"]
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({"submissions": [*many, {**good, "secret": 1}]}))
    assert "secret" not in str(caught.value)
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({"submissions": [*many, {**good, "reports": [1]}]}))
    assert [p.place for p in caught.value.problems] == ["submissions[7000].reports"]
    for body in (b"[" * 2_000_000, b"[[]," * 500_000, b'"' + b"\xff" * 2_000_000 + b'"'):
        tracemalloc.start()
        with pytest.raises(SubmissionError):
            intake.read(body)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
        tracemalloc.stop()
    twice = encode({"submissions": many}).replace(b'"booklet":', b'"booklet":0,"booklet":', 1)
    with pytest.raises(SubmissionError):
        intake.read(twice)


def test_a_batch_is_limited(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """Ten thousand submissions are read, one more is too many."""
    assert len(intake.read(encode({"submissions": [good] * 10_000})).rows) == 10_000
    with pytest.raises(TooMany):
        intake.read(encode({"submissions": [good] * 10_001}))


def test_problems_are_listed_with_their_submission(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """In a batch each place names the submission; a long list is cut."""
    bad = {**good, "id": "x"}
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({"submissions": [good, bad, good, bad]}))
    assert [p.place for p in caught.value.problems] == ["submissions[1].id", "submissions[3].id"]
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({"submissions": [bad] * 1_000}))
    assert len(caught.value.problems) == MAX_PROBLEMS


def test_only_a_wrong_digest_is_told_apart(intake: SubmissionReader, good: dict[str, Any]) -> None:
    """A submission that is right but for its digest was made for another document; with more wrong it is malformed."""
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({**good, "digest": "0" * 64}))
    assert caught.value.wrong_digest
    with pytest.raises(SubmissionError) as caught:
        intake.read(encode({**good, "digest": "0" * 64, "id": "x"}))
    assert not caught.value.wrong_digest


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_a_token_is_read_alike_by_both_ways() -> None:
    """Single and in a batch: with its token, the quick way takes a submission, and gives the same rows. A token
    that is missing, forged, of another survey's key, of another submission or cut short is refused by both, at its
    place, and nothing that was sent is repeated.
    """
    document = verify(INVITED)
    intake, key = SubmissionReader(document), ISSUER.public

    def token_of(issuer: Issuer) -> Token:
        blinding = Blinding.draw(issuer.public)
        return blinding.finish(issuer.public, from_text(issuer.sign(to_text(blinding.blinded)), BYTES, "signature"))

    def submission() -> dict[str, Any]:
        answers = {"q0": True, "q1": False}
        return dict(randomize(document, answers, {"campus": "north"}, token=token_of(ISSUER)))

    good, other, foreign = submission(), submission(), token_of(OTHER_ISSUER)
    assert document.issuer == key
    for tree in (good, {"submissions": [good, other]}):
        quick = intake._read_quickly(encode(tree))
        assert quick is not None and quick.rows == intake._read_carefully(encode(tree)).rows
    token = good["token"]
    forged = to_text(bytes(BYTES - 1) + b"\x01")
    for place, bad in {
        "token": {name: value for name, value in good.items() if name != "token"},
        "token.signature": good | {"token": token | {"signature": forged}},
        "token.message": good | {"token": token | {"message": token["message"][:-4]}},
        "token.signature ": good | {"token": token | {"signature": token["signature"][:-4]}},
        "token.signature  ": good | {"id": submission_id(foreign.message), "token": foreign.tree},
        "id": good | {"token": other["token"]},
    }.items():
        for tree, before in ((bad, ""), ({"submissions": [other, bad]}, "submissions[1].")):
            assert intake._read_quickly(encode(tree)) is None
            with pytest.raises(SubmissionError) as caught:
                intake.read(encode(tree))
            assert f"{before}{place.strip()}" in {problem.place for problem in caught.value.problems}
            assert token["signature"] not in str(caught.value) and good["id"] not in str(caught.value)
