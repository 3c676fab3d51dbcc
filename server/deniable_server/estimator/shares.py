"""The shares of a question's answers, from its evidence: of all people, of those whom it is asked, of those who answer.

With ``show_if`` the shares are among those whom the question is asked; ``applies`` says how many these are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from deniable_protocol.checks import DECLINED

from .evidence import Evidence, Pooled
from .intervals import Aim, Raw, Supported, clip, share_of_support
from .ratios import Ratio, ratios
from .scores import Scored, pooled_scores, share_scores

TOO_NOISY = "too noisy to say"
MANY = 11
"""From so many options on, a chart shows smoothed shares where noise is large."""
STANDS_OUT = 2.0, 3.0
"""Standard errors above equal shares at which one option begins to stand out, and does."""


class Share(msgspec.Struct, frozen=True):
    """The share of one option; the numbers are None where no report is about it.

    ``unbiased`` may lie outside [0, 1]; ``estimate`` is a possible share, and lies between ``low`` and ``high``. Among
    those whom a question is asked, or who answer it, a share is a ratio and only nearly unbiased.
    ``note`` is there where the interval spans more than half of all that is possible. ``answers``: how many reports are
    about this option, where it is one of a multi_choice. ``deff``: the design effect of weights, where there are some.
    ``smoothed``: what a chart of many options shows instead of the estimate, see there.
    """

    code: str
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET
    answers: int | UnsetType = UNSET
    deff: float | UnsetType = UNSET
    smoothed: float | UnsetType = UNSET


class Applies(msgspec.Struct, frozen=True):
    """The share of people whom a question is asked; otherwise as a Share is."""

    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET
    deff: float | UnsetType = UNSET


class Known(NamedTuple):
    """What is known of one share, and what it is from: a support, a ratio, or the scores of reports."""

    raw: Raw | None = None
    support: Supported | None = None
    ratio: Ratio | None = None
    scored: Scored | None = None


def known_shares(evidence: Evidence, aim: Aim) -> list[Known]:
    """Of each code of the question, in channel order."""
    if evidence.is_scored:
        return _scored(evidence, aim)
    if evidence.is_exclusive:
        return _of_item(evidence, evidence.shares[0], range(len(evidence.question.codes)), aim)
    # Of an option, the share of yes.
    return [known for shares in evidence.shares for known in _of_item(evidence, shares, [1], aim)]


def _of_item(evidence: Evidence, shares: Pooled | None, places: Sequence[int], aim: Aim) -> list[Known]:
    if shares is None:
        return [Known()] * len(places)
    if evidence.is_conditional:
        asked = range(len(shares.unbiased))
        found = ratios(shares, [[place] for place in places], asked, aim)
        return [Known(each.raw, None, each) for each in found]
    supports = [shares.together([place]) for place in places]
    return [Known(share_of_support(*support, aim), support) for support in supports]


def _scored(evidence: Evidence, aim: Aim) -> list[Known]:
    codes = range(len(evidence.question.codes))
    if not evidence.answers:
        return [Known()] * len(codes)
    scores = ([share_scores(part.channel)[place] for part in evidence.parts] for place in codes)
    found = [pooled_scores(each, evidence.parts, aim) for each in scores]
    return [Known(each.raw(aim), scored=each) for each in found]


def shares_of(evidence: Evidence, aim: Aim, simultaneous: bool = False) -> list[Share]:
    """The shares in channel order."""
    codes = evidence.question.codes
    known = [each.raw for each in known_shares(evidence, aim.split(len(codes)) if simultaneous else aim)]
    if evidence.is_exclusive:
        return _possible(codes, known)
    estimates = [None if raw is None else clip(raw.unbiased) for raw in known]
    found = [_share(*entry) for entry in zip(codes, estimates, known, strict=True)]
    about = [round(sum(heard.n for heard in item)) for item in evidence.items]
    return [msgspec.structs.replace(share, answers=n) for share, n in zip(found, about, strict=True)]


def among_answering(evidence: Evidence, aim: Aim, simultaneous: bool = False) -> list[Share]:
    """The shares, in channel order, among those who did not decline."""
    places = [place for place, code in enumerate(evidence.question.codes) if code != DECLINED]
    codes = [evidence.question.codes[place] for place in places]
    aim = aim.split(len(places)) if simultaneous else aim
    (shares,) = evidence.shares
    if shares is None:
        return _possible(codes, [None] * len(codes))
    return _possible(codes, [each.raw for each in ratios(shares, [[place] for place in places], places, aim)])


def applies_to(evidence: Evidence, aim: Aim) -> Applies:
    """The share of people whom the question is asked."""
    shares = evidence.applies()
    if shares is None:
        return Applies(None, None, None, 0.0, 1.0, TOO_NOISY)
    raw = share_of_support(*shares.together([0]), aim)
    return Applies(clip(raw.unbiased), *raw, too_noisy(raw.high - raw.low, 1.0))


def _possible(codes: Sequence[str], raw: Sequence[Raw | None]) -> list[Share]:
    """Shares of which just one is true of everybody: they sum to 1."""
    known = [share for share in raw if share is not None]
    if len(known) < len(raw):
        return [_share(code, None, None) for code in codes]
    unbiased, errors = [share.unbiased for share in known], [share.standard_error or 0.0 for share in known]
    drawn: Sequence[float | UnsetType] = smoothed(unbiased, errors) or [UNSET] * len(codes)
    return [_share(*entry) for entry in zip(codes, project(unbiased), known, drawn, strict=True)]


def _share(code: str, estimate: float | None, raw: Raw | None, drawn: float | UnsetType = UNSET) -> Share:
    if estimate is None or raw is None:
        return Share(code, None, None, None, 0.0, 1.0, TOO_NOISY)
    # The projection only ever lowers a positive share, and where many options vie it can take one below its own
    # interval, which knows nothing of the others. The interval then reaches down to it: wider, never less sure.
    shown = [estimate] if drawn is UNSET else [estimate, drawn]
    low, high = min(raw.low, *shown), max(raw.high, *shown)
    note = too_noisy(high - low, 1.0)
    return Share(code, estimate, raw.unbiased, raw.standard_error, low, high, note, smoothed=drawn)


def smoothed(unbiased: Sequence[float], errors: Sequence[float]) -> list[float] | None:
    """Many shares, drawn towards equal ones by the part of their spread that noise explains; None where that is not
    sure to help.

    Of k values with noise of variance v each, the sum of squares S about a point loses (k - 3)v/S of itself: less error
    on the whole than without, whatever is true, of all values together [1]. One large value would pay for many small
    ones. So it fades out as one option stands out, from two to three standard errors above equal shares. Depending on
    all reports, it can move further by a false one than ``estimate``, which therefore stays as it is.

    [1] James and Stein 1961, Proc. 4th Berkeley Symp. 1; about a given sum, one degree of freedom less.
    """
    k, equal = len(unbiased), 1 / len(unbiased)
    spread, noise = sum((share - equal) ** 2 for share in unbiased), sum(error**2 for error in errors) / (k - 1)
    if k < MANY or not all(errors) or not spread:
        return None
    first, last = STANDS_OUT
    most = max((share - equal) / error for share, error in zip(unbiased, errors, strict=True))
    pull = min((k - 3) * noise / spread, 1.0) * clip((last - most) / (last - first))
    return project([share + pull * (equal - share) for share in unbiased]) if pull else None


def too_noisy(width: float, scale: float) -> str | UnsetType:
    """The note for an interval that spans more than half of all that is possible."""
    return TOO_NOISY if width > scale / 2 else UNSET


def project(values: Sequence[float]) -> list[float]:
    """The nearest point of the simplex: max(v - t, 0), with the t at which the entries sum to 1.

    Taking the largest entries one by one, t = (their sum - 1)/(their number) until the next entry is not above it
    (Held, Wolfe and Crowder 1974, Math. Programming 6; Duchi et al. 2008, ICML).
    A common shift changes nothing: with the largest entry at 0, all that counts is within 1 of it and stays exact.
    """
    top = max(values)
    total, threshold = 0.0, -math.inf
    for number, value in enumerate(sorted((value - top for value in values), reverse=True), start=1):
        if value <= threshold:
            break
        total += value
        threshold = (total - 1) / number
    return [max(value - top - threshold, 0.0) for value in values]
