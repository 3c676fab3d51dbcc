"""The channel of a part: the most useful one that keeps the stated epsilon.

May not: use floating point. A client designs every channel itself, and accepts no other: so that each keeps what is
stated, and none has room for a hidden mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from .channel import Channel
from .channels import Band, Drawn, Subset, Table
from .exact import ONE, exp_floor, largest_favour
from .parts import Item, paths_of
from .questions import Question
from .tables import exponential, gaussian, laplace

LEVELS = 49  # of a number's band
WIDTHS: dict[int, tuple[int, ...]] = {
    3: (139,),
    4: (250, 154),
    5: (347, 157, 157),
    6: (415, 268, 213, 158),
    7: (475, 330, 177, 177, 158),
    8: (523, 386, 269, 214, 214, 156),
    9: (566, 396, 353, 187, 187, 187, 155),
    10: (603, 459, 344, 265, 208, 208, 208, 154),
    11: (636, 486, 373, 360, 191, 191, 191, 191, 153),
    LEVELS: (9999, 950, 850, *[750] * 2, *[650] * 2, *[540] * 4, *[440] * 4, *[320] * 8, 170),
}
"""For each number of levels, the hundredths of epsilon from which a band has width 1, 2 and so on; else levels - 1."""


def design(items: Sequence[Item], epsilon: Fraction, size: int | None = None) -> Channel:
    """The channel of a part: of one question its default or the mechanism that the survey names, of several a subset
    of their paths. Subsets have the best size unless one is given.
    """
    if len(items) > 1:
        return subset(len(paths_of(items)), epsilon, size)
    item = items[0]
    if item.option is not None:
        return band(2, epsilon)
    if item.channel_kind is Subset:
        return _subset(item.question, epsilon, size)
    return DESIGNS[item.channel_kind](item.question, epsilon)


def _subset(question: Question, epsilon: Fraction, size: int | None = None) -> Channel:
    return subset(len(question.codes), epsilon, 1 if question.mechanism == "krr" else size)


def _band(question: Question, epsilon: Fraction) -> Channel:
    return band(len(question.codes) or LEVELS, epsilon)


def _drawn(question: Question, epsilon: Fraction) -> Channel:
    return Drawn(parts=(band(2, epsilon),) * len(question.codes))


def _table(question: Question, epsilon: Fraction) -> Channel:
    if question.mechanism == "exponential":
        return exponential(len(question.codes), epsilon)
    levels, delta = 17 if epsilon >= 4 else 9, question.exact_delta
    return laplace(levels, epsilon) if delta is None else gaussian(levels, epsilon, delta)


DESIGNS: dict[type[Channel], Callable[[Question, Fraction], Channel]] = {
    Subset: _subset,
    Band: _band,
    Drawn: _drawn,
    Table: _table,
}
"""How a channel of each kind is made for a question that goes with it."""


@lru_cache(maxsize=1024)
def subset(options: int, epsilon: Fraction, size: int | None = None) -> Subset:
    """Subset selection, of the size that Ye and Barg (2018) show to be optimal unless one is given."""
    exp_epsilon = exp_floor(epsilon)
    if size is None:
        size = best_size(options, exp_epsilon)
    return Subset(options, size, largest_favour(exp_epsilon, options - size, size))


def best_size(options: int, exp_epsilon: int) -> int:
    """The d that minimises (d*r + k - d)^2 / (d*(k - d)), r = e^epsilon; of equals, the smaller."""

    def error(d: int) -> Fraction:
        return Fraction((d * exp_epsilon + (options - d) * ONE) ** 2, d * (options - d))

    return min(range(1, options), key=error)


@lru_cache(maxsize=1024)
def band(levels: int, epsilon: Fraction, width: int | None = None) -> Band:
    """A band of the given width, or of the one that the protocol names."""
    if width is None:
        width = band_width(levels, epsilon)
    return Band(levels, width, largest_favour(exp_floor(epsilon), levels - 1, width))


def band_width(levels: int, epsilon: Fraction) -> int:
    """The width in ``WIDTHS`` for this epsilon: of two that are about equally good, the narrower from there on.

    A scale has that of the least worst-case variance of the unbiased mean, to two places of epsilon.

    A number has 49 levels. A width w that divides the m - 1 steps costs the mean nothing: of report y, y // w says what
    k-ary response on (m - 1)/w + 1 coarse levels would say, to which the number is rounded at random; y % w says where
    between them it lies. Wide bands have less noise, narrow ones less rounding. The worst variance of the mean is never
    more than 2.2% above that of 9 levels (17 from epsilon 4 on).
    """
    steps = enumerate(WIDTHS.get(levels, ()), start=1)
    return next((width for width, least in steps if 100 * epsilon >= least), levels - 1)
