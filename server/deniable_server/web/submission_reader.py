"""From a posted body to the rows that are stored: every check on what respondents' devices send.

There are two ways through. The careful one is the definition: strict JSON, then ``check_submission``. The quick one is
for bodies as clients write them: msgspec decodes and checks types and keys in one go, with a type made for the survey;
then each report is checked against its part. In a batch, counting the reports checks them, a column at a time.
Whatever the quick way does not take goes the careful way, which takes it or says everything that is wrong.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, astuple

from deniable_protocol import Document
from deniable_protocol.blind_signatures import Token, submission_id, verify_token
from deniable_protocol.checks import Checker, strict_json
from deniable_protocol.errors import Problem, SubmissionError, TokenError
from deniable_protocol.receive import SUBMISSION_ID, check_submission
from deniable_server.errors import CHALLENGE, Kind, NotJSON, Refusal, TooMany
from deniable_server.statistics import Content, Statistics, tally
from deniable_server.storage import Row

MAX_BATCH = 10_000
MAX_SINGLE = 65_536
"""Bytes of a body that is not a batch: more than the longest submission that a survey can ask for."""
MAX_PROBLEMS = 20
MAX_CAREFUL = 1_000_000
"""Bytes of a body that is looked at in detail: that takes many times its size in memory, and anyone can send one."""

_encode, _lines = msgspec.json.Encoder().encode, msgspec.json.Encoder().encode_lines
_REFUSED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Posted(NamedTuple):
    """What was posted, as rows, and the statistics of a batch."""

    rows: list[Row]
    counted: Statistics | None = None


class SubmissionReader:
    """Reads the bodies that are posted to one survey."""

    def __init__(self, document: Document) -> None:
        self._document = document
        survey = document.survey
        self._positions = [
            {option.code: position for position, option in enumerate(segment.options)} for segment in survey.segments
        ]
        # For each booklet, the largest report of each of its parts, and how many paths it holds.
        self._limits = [
            [(part.channel.largest_report, part.channel.held) for part in document.parts_of(number)]
            for number in range(len(document.booklets))
        ]
        self._fields: tuple[str, ...] = ("id", "digest", "booklet", "reports", "segments")
        # Of one submission: its keys, two texts, and a key and a text for each segment.
        self._quotes = 2 * (len(self._fields) + 2 + 2 * len(survey.segments))
        if document.issuer is not None:
            self._fields += ("token",)
            self._quotes += 2 * (3 + 2)  # with those of the token: three keys, two texts
        self._decoder = msgspec.json.Decoder(_posted_type(document))

    def read(self, body: bytes, *, batches: bool = True) -> Posted:
        """The rows of a submission or a batch; SubmissionError where anything at all is wrong. Refusal for a batch
        unless ``batches`` are allowed.
        """
        rows = self._read_quickly(body, batches)
        if rows is not None:
            return rows
        if len(body) > MAX_CAREFUL:
            raise self._coarse_error(body)
        return self._read_carefully(body, batches)

    def read_plain(self, body: bytes) -> Posted | None:
        """The row of one submission that is written as clients write it. None: ``read`` says more about it."""
        try:
            return self._read_quickly(body, batches=False)
        except Refusal:
            return None

    def _read_quickly(self, body: bytes, batches: bool = True) -> Posted | None:
        try:
            posted = self._decoder.decode(body)
        except _REFUSED:
            return None
        single = [getattr(posted, name) for name in self._fields]
        if posted.submissions is msgspec.UNSET:
            if msgspec.UNSET in single or self._repeats_a_key(body, 1, 0):
                return None
            return self._single(posted)
        if not batches:
            raise _no_batch()
        if single != [msgspec.UNSET] * len(single) or self._repeats_a_key(body, len(posted.submissions), 1):
            return None
        return self._batch(posted.submissions)

    def _repeats_a_key(self, body: bytes, submissions: int, keys: int) -> bool:
        """Of two equal keys, msgspec takes the last. But all keys of the type were found, no text of a submission has a
        quotation mark in it, and a repeated key brings two more of them: so it is enough to count them.
        """
        return body.count(b'"') != self._quotes * submissions + 2 * keys

    def _single(self, posted: Any) -> Posted | None:
        if not self._fits(posted.booklet, posted.reports) or not self._is_entitled(posted):
            return None
        segments = self._codes(posted.segments) if self._positions else ()
        return Posted([Row(bytes.fromhex(posted.id), _encode((posted.booklet, posted.reports, segments)).decode())])

    def _batch(self, submissions: list[Any]) -> Posted | None:
        contents = [
            Content(each.booklet, each.reports, self._codes(each.segments) if self._positions else ())
            for each in submissions
        ]
        try:
            counted = tally(self._document, contents)
        except ValueError:
            return None
        if not all(map(self._is_entitled, submissions)):
            return None
        ids = bytes.fromhex("".join([each.id for each in submissions]))
        texts = _lines(contents).decode().splitlines()
        return Posted([*map(Row, [ids[i : i + 16] for i in range(0, len(ids), 16)], texts)], counted)

    def _is_entitled(self, posted: Any) -> bool:
        """Whether it has a token of the issuer, if the survey has one, and its id follows from that."""
        issuer = self._document.issuer
        if issuer is None:
            return True
        try:
            token = Token.read(asdict(posted.token))
        except TokenError:
            return False
        return submission_id(token.message) == posted.id and verify_token(issuer, token)

    def _codes(self, segments: Any) -> tuple[int, ...]:
        """The position of each segment's code."""
        return tuple([known[code] for known, code in zip(self._positions, astuple(segments), strict=True)])

    def _fits(self, booklet: int, reports: list[int]) -> bool:
        """Whether these, none of which is below zero, are reports of the booklet's parts."""
        limits = self._limits[booklet]
        if len(limits) != len(reports):
            return False
        for report, (largest, held) in zip(reports, limits, strict=True):
            if report > largest or (held is not None and report.bit_count() != held):
                return False
        return True

    def _coarse_error(self, body: bytes) -> SubmissionError:
        """What is wrong with a large body, as far as it can be found without building it up in memory.

        Of msgspec's message only the place is used: the rest may quote the body.
        """
        try:
            posted = self._decoder.decode(body)
        except msgspec.ValidationError as error:
            message, _, rest = str(error).rpartition(" - at `$")
            place = rest.rstrip("`").lstrip(".") if message else ""
            if place == "submissions" and "length <=" in message:
                return TooMany([Problem(place, "range", f"at most {MAX_BATCH} at a time")])
            return SubmissionError([Problem(place, "invalid", "does not fit; send less at a time for the details")])
        except _REFUSED:
            return NotJSON()
        batch = [] if posted.submissions is msgspec.UNSET else posted.submissions
        wrong = (i for i, each in enumerate(batch) if not self._fits(each.booklet, each.reports))
        place = next((f"submissions[{i}].reports" for i in wrong), "")
        return SubmissionError([Problem(place, "invalid", "does not fit; send less at a time for the details")])

    def _read_carefully(self, body: bytes, batches: bool = True) -> Posted:
        try:
            tree = strict_json(body.decode())
        except ValueError:  # its message may quote the body
            raise NotJSON from None
        check = Checker()
        batch = isinstance(tree, dict) and "submissions" in tree
        if batch and not batches:
            raise _no_batch()
        if batch:
            submissions = tree["submissions"]
            if len(tree) > 1:
                check.note("", "unknown", "a batch has no key but submissions")
            if not isinstance(submissions, list):
                check.note("submissions", "type", "must be a list")
                submissions = []
            elif not submissions:
                check.note("submissions", "range", "must not be empty")
            if len(submissions) > MAX_BATCH:
                raise TooMany(
                    [Problem("submissions", "range", f"has {len(submissions)} entries; at most {MAX_BATCH} at a time")]
                )
        else:
            submissions = [tree]
        rows = []
        for i, submission in enumerate(submissions):
            clean = check_submission(check, self._document, submission, f"submissions[{i}]" if batch else "")
            if clean is not None:
                codes = [clean["segments"][segment.id] for segment in self._document.survey.segments]
                segments = [known[code] for known, code in zip(self._positions, codes, strict=True)]
                content = _encode((clean["booklet"], clean["reports"], segments)).decode()
                rows.append(Row(bytes.fromhex(clean["id"]), content))
            if len(check.problems) >= MAX_PROBLEMS:
                break
        if check.problems:
            raise SubmissionError(check.problems[:MAX_PROBLEMS])
        return Posted(rows)


def _no_batch() -> Refusal:
    detail = "A batch needs an access token of the role collector. Without one, send one submission in each request."
    return Refusal(Kind.UNAUTHORIZED, detail, CHALLENGE)


def _posted_type(document: Document) -> Any:
    """A single submission or a batch, for the survey of this document, as msgspec types."""
    segments = msgspec.defstruct(
        "Segments",
        [
            (f"s{i}", Literal[tuple(option.code for option in segment.options)])
            for i, segment in enumerate(document.survey.segments)
        ],
        rename={f"s{i}": segment.id for i, segment in enumerate(document.survey.segments)},
        forbid_unknown_fields=True,
        gc=False,  # nothing here can refer to itself, and a batch makes thousands of them
    )
    most = max(len(booklet.parts) for booklet in document.booklets)
    identity = Annotated[str, Meta(pattern=rf"^{SUBMISSION_ID.pattern}\Z")]
    fields: list[tuple[str, Any]] = [
        ("id", identity),
        ("digest", Literal[document.digest]),
        ("booklet", Annotated[int, Meta(ge=0, lt=len(document.booklets))]),
        ("reports", Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=most)]),
        ("segments", segments),
    ]
    if document.issuer is not None:
        texts = [("message", str), ("signature", str)]
        fields.append(("token", msgspec.defstruct("Token", texts, forbid_unknown_fields=True, gc=False)))
    submission = msgspec.defstruct("Submission", fields, forbid_unknown_fields=True, gc=False)
    batch = Annotated[list[submission], Meta(min_length=1, max_length=MAX_BATCH)]  # type: ignore[valid-type]
    return msgspec.defstruct(
        "Posted",
        [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in [*fields, ("submissions", batch)]],
        forbid_unknown_fields=True,
    )
