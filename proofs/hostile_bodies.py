"""Bodies that hypothesis makes: any JSON, submissions with something wrong, and bytes that are no JSON at all.

None of them may be stored. A body that is right all the same carries the id of a submission that is stored already: it
is then a duplicate, or a conflict.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.helpers.hostile_texts import HOSTILE

MARK = "quagga"
"""In every text that is made up: found in a log or a database, it gives away that something of a request was kept."""

SUBMISSION_ID = re.compile(r"[0-9a-f]{32}")


class Literal(str):
    """Written into JSON unchanged."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object whose keys may occur twice."""


def write(tree: Any, separators: tuple[str, str] = (",", ":")) -> str:
    """JSON, or what was meant to look like it."""
    comma, colon = separators
    if isinstance(tree, Literal):
        return str(tree)
    if isinstance(tree, Pairs):
        return "{" + comma.join(write(key) + colon + write(value, separators) for key, value in tree) + "}"
    if isinstance(tree, dict):
        return write(Pairs(tree.items()), separators)
    if isinstance(tree, list | tuple):
        return "[" + comma.join(write(item, separators) for item in tree) + "]"
    return json.dumps(tree, ensure_ascii=False)


NUMBERS = [
    "0.0", "1.0", "1e0", "1E+0", "-0", "-0.0", "0e99999", "1e400", "-1e400", "1e-400", "1.5", "01", "+1", ".5", "1.",
    "0x1", "NaN", "Infinity", "-Infinity", "9007199254740993", "18446744073709551616", "-9223372036854775809",
    "1" + "0" * 400, "0." + "1" * 400, "1_000", "１", "true", "True", "null", "None", "undefined", "'1'", "1//x",
]  # fmt: skip
DEPTHS = [100, 999, 1_000, 1_001, 5_000, 100_000]

texts = st.one_of(
    st.just(MARK),
    st.builds(lambda text: MARK + text, st.text(max_size=12)),
    st.sampled_from([*(MARK + text for text in HOSTILE), "", "\x00", "\ud800", "\udc00\ud800", "\ufeff", "x" * 5_000]),
    st.sampled_from(["north", "south", "yes", "declined", "campus", "0" * 31, "0" * 33, "A" * 32, "0" * 64]),
)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 70),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(NUMBERS).map(Literal),
    texts,
    st.sampled_from([[], {}, [[]], [{}], [0], {"": 0}, {MARK: MARK}, [MARK] * 50]),
)
trees = st.recursive(
    values,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
nested = st.builds(
    lambda depth, opening: Literal(opening * depth + ("]" * depth if opening == "[" else "")),
    st.sampled_from(DEPTHS),
    st.sampled_from(["[", '{"a":', '[{"submissions":', "[["]),
)
snippets = st.binary(min_size=1, max_size=4)


def near_valid(draw: st.DrawFn, chance: Random, known: list[dict[str, Any]], digests: list[str]) -> Any:
    """A submission that is stored already, or a batch of some, with up to three things changed."""
    batch = [_as_pairs(chance.choice(known)) for _ in range(chance.choice([1, 1, 1, 2, 5]))]
    for _ in range(chance.randint(1, 3)):
        _spoil(draw, chance, chance.choice(batch), digests)
    if len(batch) == 1 and chance.random() < 0.5:
        return batch[0]
    whole = Pairs([("submissions", batch)])
    kind = chance.randrange(10)
    if kind == 0:
        whole.append(chance.choice([("submissions", []), (MARK, 0), *batch[0]]))
    elif kind == 1:
        whole = Pairs([("submissions", draw(values))])
    return whole


def _as_pairs(submission: dict[str, Any]) -> Pairs:
    copied = {key: [*value] if isinstance(value, list) else value for key, value in submission.items()}
    return Pairs((key, Pairs(value.items()) if isinstance(value, dict) else value) for key, value in copied.items())


def _spoil(draw: st.DrawFn, chance: Random, submission: Pairs, digests: list[str]) -> None:
    """Change one thing, at the top or among reports or segments."""
    reports = next((value for key, value in submission if key == "reports" and isinstance(value, list) and value), None)
    if reports is not None and chance.randrange(4) == 0:
        _spoil_report(draw, chance, reports)
        return
    place = chance.choice([submission, *(value for _, value in submission if isinstance(value, Pairs))])
    if not place:
        place.append((MARK, draw(values)))
        return
    i = chance.randrange(len(place))
    key, value = place[i]
    how = chance.randrange(9)
    if isinstance(value, list) and how <= 5:  # the reports: another one, one more, or one fewer
        at = chance.randrange(len(value) + 1)
        place[i] = (key, [*value[:at], *([] if how == 5 else [draw(values)]), *value[at + (how <= 3) :]])
    elif how <= 2:
        place[i] = (key, chance.choice(digests) if key == "digest" else draw(values))
    elif how == 3:
        del place[i]
    elif how == 4:
        place.insert(chance.randrange(len(place) + 1), (key, chance.choice([value, draw(values)])))
    elif how == 5:
        place[i] = (chance.choice([MARK, key.upper(), key + " ", key + "\x00", "", "__proto__", "$ref"]), value)
    elif how == 6:
        place.append((draw(texts), draw(values)))
    elif how == 7:
        place[i] = (key, chance.choice([[value], {key: value}, str(value).upper(), f" {value}"]))
    else:
        number = value if isinstance(value, int) else 1
        place[i] = (key, Literal(chance.choice([f"{number}.0", f"{number}e0", f"{number}0e-1", f"-{number}"])))


def _spoil_report(draw: st.DrawFn, chance: Random, reports: list[Any]) -> None:
    """Change one report, or how many there are."""
    i, how = chance.randrange(len(reports)), chance.randrange(5)
    number = reports[i] if isinstance(reports[i], int) else 1
    if how == 0:
        reports[i] = draw(values)
    elif how == 1:
        reports[i] = chance.choice([number + 1, number << 1, number | 1 << 60, -number, [number], f"{number}"])
    elif how == 2:
        reports[i] = Literal(chance.choice([f"{number}.0", f"{number}e0", f"{number}0e-1", f"-{number}"]))
    elif how == 3:
        del reports[i]
    else:
        reports.insert(i, chance.choice([number, draw(values)]))


def make_body(draw: st.DrawFn, chance: Random, known: list[dict[str, Any]], digests: list[str]) -> bytes:
    """The bytes of a body that must not be stored."""
    kind = chance.randrange(10)
    tree = draw(trees) if kind == 0 else draw(nested) if kind == 1 else near_valid(draw, chance, known, digests)
    separators = chance.choice([(",", ":")] * 12 + [(", ", ": "), (" ,\n", "\t:\r"), (",", "\u00a0:"), (",,", ":")])
    encoding = chance.choice(["utf-8"] * 24 + ["utf-8-sig", "utf-16", "utf-32-le", "cp037"])
    raw = write(tree, separators).encode(encoding, errors="surrogatepass" if encoding.startswith("utf") else "replace")
    for _ in range(chance.choice([0, 0, 0, 0, 0, 1, 3])):
        at, how = chance.randint(0, len(raw)), chance.randrange(4)
        if how == 0:
            raw = raw[:at]
        elif how == 1:
            raw = raw[:at] + draw(snippets) + raw[at:]
        elif how == 2:
            raw = raw[:at] + chance.randbytes(1) + raw[at + 1 :]
        else:
            raw = raw[:at] + raw[at : at + 40] + raw[at:]
    return raw + b"}" if _has_new_id(raw, {submission["id"] for submission in known}) else raw


def _has_new_id(raw: bytes, known: set[str]) -> bool:
    """Whether this could be a new submission, read more kindly than any server may: then it is spoilt once more."""
    try:
        tree = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return False
    submissions = tree.get("submissions", [tree]) if isinstance(tree, dict) else []
    ids = [each.get("id") for each in submissions if isinstance(each, dict)] if isinstance(submissions, list) else []
    return any(isinstance(each, str) and SUBMISSION_ID.fullmatch(each) and each not in known for each in ids)
