"""Questions that ask nearly the same, so that their owner is warned. A help against oversights, no proof of anything:
what a survey reveals is limited by its total, whatever its questions say.

Two questions ask nearly the same if they differ only in case, accents, punctuation, numbering, words that carry little
meaning, a letter more or less in a word, or the place of one phrase. Other words are taken to matter, even one among
thirty: batteries ask "How stressed are you at work?" and then "… at home?".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deniable_protocol import Question, Segment, Survey

LITTLE = {
    "a", "an", "the", "do", "does", "did", "have", "has", "had", "is", "are", "am", "was", "were", "be", "been",
    "being", "not", "and", "or", "of", "to", "in", "on", "at", "for",
    "please", "really", "truly", "honestly", "actually", "just", "again", "also",
}  # fmt: skip
"""English words without which a question asks nearly the same."""
PERSONS = {"you", "your", "yours", "i", "me", "my", "we", "our", "us"}
"""Little as well, but for who does what to whom: "Does your partner hit you?" is not "Do you hit your partner?"."""
SHORTEST = 5
"""Letters. In a word as long as this, a letter more or less is a slip or an ending; shorter ones are other words."""
LONGEST = 60
"""Words. Longer texts are compared word by word only, so that no survey takes long."""

_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc]")
_NUMBERED = re.compile(r"^\W*(?:q(?:uestion)?\s*)?(?:\d+[a-z]?|[a-z])\s*[.):]+\s+|\s*\(\d+\)\W*$")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class _Asked:
    """What a question or a segment asks, without what does not matter."""

    text: str
    words: tuple[str, ...]
    phrase: tuple[str, ...]
    sorted_phrase: tuple[str, ...]
    options: frozenset[tuple[str, ...]]
    condition: object


def repeated_questions(survey: Survey) -> list[tuple[Question, ...]]:
    """Groups of questions that ask nearly the same, in the order of the survey."""
    asked = [_asked(question) for question in survey.questions]
    group = list(range(len(asked)))
    for first, one in enumerate(asked):
        for second in range(first + 1, len(asked)):
            if group[second] != group[first] and _nearly_equal(one, asked[second]):
                group = [group[first] if each == group[second] else each for each in group]
    found: dict[int, list[Question]] = {}
    for number, question in zip(group, survey.questions, strict=True):
        found.setdefault(number, []).append(question)
    return [tuple(questions) for questions in found.values() if len(questions) > 1]


def repeated_segments(survey: Survey) -> Iterator[tuple[Segment, Question]]:
    """Segments that ask nearly the same as a question: they are sent as they are."""
    questions = [(question, _asked(question)) for question in survey.questions]
    for segment in survey.segments:
        about = _asked(segment)
        yield from ((segment, question) for question, other in questions if _nearly_equal(about, other))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, without case, accents, punctuation and numbering."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()
    plain = _APOSTROPHES.sub("", plain.replace("n't", " not").replace("n\u2019t", " not"))
    return tuple(_WORD.findall(_NUMBERED.sub("", plain)))


def _asked(about: Question | Segment) -> _Asked:
    whole = words_of(about.text)
    phrase = tuple(word for word in whole if word not in LITTLE) or whole
    words = tuple(word for word in phrase if word not in PERSONS) or phrase
    return _Asked(
        text=" ".join(words),
        words=words,
        phrase=phrase,
        sorted_phrase=tuple(sorted(phrase)),
        options=frozenset(words_of(option.text) for option in about.options),
        condition=getattr(about, "show_if", None),
    )


def _nearly_equal(one: _Asked, other: _Asked) -> bool:
    if not one.text:
        return False  # a text without words says nothing
    if one.text != other.text:
        if max(len(one.phrase), len(other.phrase)) > LONGEST:
            return False
        if not (_same_words(one.words, other.words) or _one_phrase_moved(one, other)):
            return False
    return one.condition == other.condition and _same_options(one.options, other.options)


def _same_words(words: Sequence[str], others: Sequence[str]) -> bool:
    return len(words) == len(others) and all(map(_same_word, words, others))


def _same_word(word: str, other: str) -> bool:
    """The same, or one with a letter more: "drug" and "drugs", but not "hermano" and "hermana"."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    # Where letters have no case, as in Chinese, one of them is a word of its own.
    if len(long) != len(short) + 1 or len(long) < SHORTEST or long.upper() == long:
        return False
    same = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[same:] == long[same + 1 :]


def _one_phrase_moved(one: _Asked, other: _Asked) -> bool:
    """The same words, if two neighbouring phrases change places: "In the last month, have you …"."""
    if one.sorted_phrase != other.sorted_phrase:
        return False
    a, b = one.phrase, other.phrase
    while a and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return not a or any(a[i] == b[0] and a[i:] + a[:i] == b for i in range(len(a)))


def _same_options(options: frozenset[tuple[str, ...]], others: frozenset[tuple[str, ...]]) -> bool:
    """One text may introduce two lists of options. If these have little in common, they are two questions."""
    return not (options and others) or 2 * len(options & others) >= min(len(options), len(others))
