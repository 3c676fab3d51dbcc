"""Frequency oracles: what those of the peers do, by their own probabilities, and their own code to compare with.

Used by accuracy.py. A model knows the exact noise of its unbiased shares and can draw them fast; a run takes true
answers through the client and the server code of a library.

[1] Ye and Barg 2018, IEEE Trans. Inf. Theory 64 (subset selection).  [2] Wang et al. 2017, USENIX Security (unary and
histogram encoding, local hashing).  [3] Acharya, Sun and Zhang 2019, AISTATS (Hadamard response).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import hadamard
from scipy.optimize import minimize_scalar

from deniable_protocol import Choice, Item, design, draw_report, survey_from_tree
from deniable_server.estimator import alone, estimate_question

Array = npt.NDArray[np.float64]
Truth = npt.NDArray[np.int64]
"""How many respondents have each option."""


# --- models ------------------------------------------------------------------------------------------------------


class Model(Protocol):
    """What a frequency oracle does, by its own probabilities."""

    def noise(self, truth: Truth) -> Array:
        """The variance of each unbiased share, given the true answers."""
        ...

    def draw(self, truth: Truth, times: int, rng: np.random.Generator) -> Array:
        """Unbiased shares, so many times."""
        ...


def _noise(truth: Truth, p: float, q: float) -> Array:
    """Reports support an option with p where it is the truth and q where not: Bernoulli variances over (p - q)^2."""
    n = truth.sum()
    return (truth * p * (1 - p) + (n - truth) * q * (1 - q)) / (n * (p - q)) ** 2


class Bits(NamedTuple):
    """Every option is supported on its own: unary, histogram and, with an ideal hash, local hashing [2]."""

    p: float
    q: float

    def noise(self, truth: Truth) -> Array:
        return _noise(truth, self.p, self.q)

    def draw(self, truth: Truth, times: int, rng: np.random.Generator) -> Array:
        n, shape = truth.sum(), (times, len(truth))
        counts = rng.binomial(truth, self.p, shape) + rng.binomial(n - truth, self.q, shape)
        return (counts / n - self.q) / (self.p - self.q)


class Subsets(NamedTuple):
    """Reports are d of the k options, including the true one with p [1]; d = 1 is k-ary response."""

    options: int
    size: int
    p: float

    @property
    def q(self) -> float:
        return (self.size - self.p) / (self.options - 1)

    def noise(self, truth: Truth) -> Array:
        return _noise(truth, self.p, self.q)

    def draw(self, truth: Truth, times: int, rng: np.random.Generator) -> Array:
        """Goes through the options in turn: who has r of them still to take out of those left takes one with r/left."""
        k, d = self.options, self.size
        counts = np.zeros((times, k), dtype=np.int64)
        still = np.arange(1, d + 1)[:, None]
        for x in np.flatnonzero(truth):
            held = rng.binomial(truth[x], self.p, times)
            counts[:, x] += held
            waiting = np.zeros((d + 1, times), dtype=np.int64)  # respondents by what they have still to take
            waiting[d - 1] += held
            waiting[d] += truth[x] - held
            for left, j in zip(range(k - 1, 0, -1), (j for j in range(k) if j != x), strict=True):
                taken = rng.binomial(waiting[1:], np.minimum(still / left, 1.0))
                counts[:, j] += taken.sum(axis=0)
                waiting[1:] -= taken
                waiting[:-1] += taken
        return (counts / truth.sum() - self.q) / (self.p - self.q)


class Hadamard(NamedTuple):
    """Hadamard response as pure-ldp has it [3]: B blocks of outputs, options dealt to them at random.

    Up to epsilon 1 there is one block. A report lies, beyond a uniform part, in its option's half of its block; an
    option's score is +-c over the halves of its block and 0 outside.
    """

    options: int
    epsilon: float

    @property
    def shape(self) -> tuple[int, int, float, float]:
        """Blocks, outputs in each, the uniform part, and c."""
        k, e = self.options, math.exp(self.epsilon)
        if self.epsilon <= 1:
            return 1, 2 ** math.ceil(math.log2(k + 1)), 2 / (1 + e), (e + 1) / (e - 1)
        blocks = 2 ** math.floor(math.log2(min(2 * k, e)))
        size = 2 ** math.ceil(math.log2(k / blocks + 1))
        return blocks, size, 2 * blocks / (2 * blocks - 1 + e), (2 * blocks - 1 + e) / (e - 1)

    def noise(self, truth: Truth) -> Array:
        """c^2 P(block), the mean of the squared score, less the square of its mean; averaged over the dealing."""
        k, (blocks, size, uniform, c) = self.options, self.shape
        share = truth / truth.sum()
        dealt = np.bincount(np.arange(k) // (size - 1))
        beside = (np.sum(dealt**2) / k - 1) / (k - 1)  # how likely another option is in the same block
        in_block = uniform / blocks + (1 - uniform) * (share + (1 - share) * beside)
        return (c**2 * in_block - share) / truth.sum()

    def draw(self, truth: Truth, times: int, rng: np.random.Generator) -> Array:
        k, (blocks, size, uniform, c) = self.options, self.shape
        signs = hadamard(size)[1:]  # the row of an option's place within its block
        places = [divmod(i, size - 1) for i in range(k)]
        scores = np.zeros((k, blocks, size))
        for i, (block, row) in enumerate(places):
            scores[i, block] = c * signs[row]
        table = uniform / (blocks * size) + (1 - uniform) * (scores > 0) / (size / 2)
        shares = []
        for dealt in np.array_split(np.arange(times), min(times, 40)):
            order = rng.permutation(k)
            held = [i for i in range(k) if truth[order[i]]]
            counts = sum(rng.multinomial(truth[order[i]], table[i].ravel(), len(dealt)) for i in held)
            estimate = np.empty((len(dealt), k))
            estimate[:, order] = counts @ scores.reshape(k, -1).T / truth.sum()
            shares.append(estimate)
        return np.concatenate(shares)


class Summed(NamedTuple):
    """Laplace noise on every option, summed up [2]. The sum of n is the difference of two gamma variables."""

    scale: float

    def noise(self, truth: Truth) -> Array:
        return np.full(len(truth), 2 * self.scale**2 / truth.sum())

    def draw(self, truth: Truth, times: int, rng: np.random.Generator) -> Array:
        n, shape = truth.sum(), (times, len(truth))
        return (truth + rng.gamma(n, self.scale, shape) - rng.gamma(n, self.scale, shape)) / n


class Signs(NamedTuple):
    """The Hadamard mechanism of pure-ldp: t signs of random columns, sent as one of 2^t patterns by k-ary response.

    With a = the probability that the pattern is kept beyond chance, each sign is unbiased over a; two signs of one
    respondent agree with the true option's together or not at all.
    """

    epsilon: float

    def noise(self, truth: Truth) -> Array:
        e, n = math.exp(self.epsilon), truth.sum()
        t = math.ceil(math.log2(e + 1))
        a = (e - 1) / (e + 2**t - 1)
        other, true = 1 / (t * a * a), 1 / (t * a * a) + (t - 1) / (t * a) - 1
        return (truth * true + (n - truth) * other) / n**2


def models(k: int, epsilon: float) -> dict[str, Model]:
    """What the oracles of the peers do; one name for what several of them have."""
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    size = max(1, round(k / (e + 1)))

    def threshold(theta: float) -> Bits:
        return Bits(1 - math.exp(epsilon * (theta - 1) / 2) / 2, math.exp(-epsilon * theta / 2) / 2)

    def spread(theta: float) -> float:
        p, q = threshold(theta)
        return q * (1 - q) / (p - q) ** 2

    return {
        "k-ary response": Subsets(k, 1, e / (e + k - 1)),
        "subset selection": Subsets(k, size, size * e / (size * e + k - size)),
        "symmetric unary": Bits(half / (half + 1), 1 / (half + 1)),
        "optimised unary": Bits(0.5, 1 / (e + 1)),
        "binary hashing": Bits(e / (e + 1), 0.5),
        "optimised hashing": Bits(e / (e + round(e)), 1 / (round(e) + 1)),
        "Hadamard response": Hadamard(k, epsilon),
        "summed histogram": Summed(2 / epsilon),
        "cut histogram": threshold(float(minimize_scalar(spread, bounds=(0.5, 1), method="bounded").x)),
    }


# --- their own code ----------------------------------------------------------------------------------------------


class Shares(NamedTuple):
    """What a run gives: unbiased shares, and those that the library returns where they are others."""

    unbiased: Array
    returned: Array


Run = Callable[[Sequence[int], int, float], Shares]
"""From true options (0-based), k and epsilon."""


def deniable() -> dict[str, Run]:
    def run(answers: Sequence[int], k: int, epsilon: float) -> Shares:
        question = choice(k, epsilon)
        channel = design([Item(question)], Fraction(str(epsilon)))
        truths = [question.encode(code) for code in question.codes]
        counts = [0] * k
        for answer in answers:
            report = draw_report(channel, truths[answer])
            for j in range(k):
                counts[j] += report >> j & 1
        shares = estimate_question(alone(question, channel, counts, len(answers))).shares
        return Shares(np.array([s.unbiased for s in shares]), np.array([s.estimate for s in shares]))

    return {"subset": run}


def choice(k: int, epsilon: float) -> Choice:
    """A question with k options."""
    options = [{"code": f"o{i}", "text": "?"} for i in range(k)]
    tree = {"id": "which", "type": "choice", "text": "?", "epsilon": epsilon, "options": options}
    (question,) = survey_from_tree({"id": "accuracy", "title": "Accuracy", "questions": [tree]}).questions
    assert isinstance(question, Choice)
    return question


def pure_ldp() -> dict[str, Run]:
    from pure_ldp.frequency_oracles import direct_encoding as de
    from pure_ldp.frequency_oracles import hadamard_mechanism as hm
    from pure_ldp.frequency_oracles import hadamard_response as hr
    from pure_ldp.frequency_oracles import histogram_encoding as he
    from pure_ldp.frequency_oracles import local_hashing as lh
    from pure_ldp.frequency_oracles import unary_encoding as ue

    def response(e: float, k: int) -> tuple[Any, Any]:
        server = hr.HadamardResponseServer(e, k)
        return hr.HadamardResponseClient(e, k, server.get_hash_funcs()), server  # the server deals the options

    def signs(e: float, k: int) -> tuple[Any, Any]:
        d = 1 << (k - 1).bit_length()  # its transform fails on anything but a power of two
        both = hm.HadamardMechClient, hm.HadamardMechServer
        client, server = (make(e, d, 1, use_optimal_t=True) for make in both)
        return client, server

    pairs: dict[str, Callable[[float, int], tuple[Any, Any]]] = {
        "k-ary response": lambda e, k: (de.DEClient(e, k), de.DEServer(e, k)),
        "symmetric unary": lambda e, k: (ue.UEClient(e, k), ue.UEServer(e, k)),
        "optimised unary": lambda e, k: (ue.UEClient(e, k, use_oue=True), ue.UEServer(e, k, use_oue=True)),
        "binary hashing": lambda e, k: (lh.LHClient(e, k), lh.LHServer(e, k)),
        "optimised hashing": lambda e, k: (lh.LHClient(e, k, use_olh=True), lh.LHServer(e, k, use_olh=True)),
        "fast hashing": lambda e, k: (
            lh.FastLHClient(e, k, 1000, use_olh=True),
            lh.FastLHServer(e, k, 1000, use_olh=True),
        ),
        "Hadamard response": response,
        "Hadamard signs": signs,
        "summed histogram": lambda e, k: (he.HEClient(e, k), he.HEServer(e, k)),
        "cut histogram": lambda e, k: (he.HEClient(e, k), he.HEServer(e, k, use_the=True)),
    }

    def run_of(pair: Callable[[float, int], tuple[Any, Any]]) -> Run:
        def run(answers: Sequence[int], k: int, epsilon: float) -> Shares:
            client, server = pair(epsilon, k)
            for answer in answers:
                server.aggregate(client.privatise(answer + 1))  # it counts from 1
            shares = server.estimate_all(range(1, k + 1), suppress_warnings=True) / len(answers)
            return Shares(shares, shares)

        return run

    return {name: run_of(pair) for name, pair in pairs.items()}


def multi_freq_ldpy() -> dict[str, Run]:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE

    def run_of(module: ModuleType, client: Callable[..., Any], server: Callable[..., Array]) -> Run:
        theirs, seen = module.MI, []

        def listening(count: Array, n: int, p: float, q: float) -> Array:
            """Its estimator, which clips at zero and scales to 1: we also want what it had before that."""
            seen.append((np.asarray(count) / n - q) / (p - q))
            return theirs(count, n, p, q)

        def run(answers: Sequence[int], k: int, epsilon: float) -> Shares:
            reports = [client(answer, k, epsilon) for answer in answers]
            module.MI = listening
            try:
                returned = server(reports, k, epsilon)
            finally:
                module.MI = theirs
            return Shares(seen.pop(), returned)

        return run

    return {
        "k-ary response": run_of(GRR, GRR.GRR_Client, GRR.GRR_Aggregator_MI),
        "subset selection": run_of(SS, SS.SS_Client, SS.SS_Aggregator_MI),
        "symmetric unary": run_of(
            UE, lambda x, k, e: UE.UE_Client(x, k, e, False), lambda r, k, e: UE.UE_Aggregator_MI(r, e, False)
        ),
        "optimised unary": run_of(UE, UE.UE_Client, lambda r, k, e: UE.UE_Aggregator_MI(r, e)),
        "binary hashing": run_of(
            LH, lambda x, k, e: LH.LH_Client(x, k, e, False), lambda r, k, e: LH.LH_Aggregator_MI(r, k, e, False)
        ),
        "optimised hashing": run_of(LH, LH.LH_Client, LH.LH_Aggregator_MI),
        "cut histogram": run_of(HE, HE.HE_Client, HE.HE_Aggregator_MI),
    }


LIBRARIES: dict[str, Callable[[], dict[str, Run]]] = {
    "deniable": deniable,
    "pure-ldp": pure_ldp,
    "multi-freq-ldpy": multi_freq_ldpy,
}

NOTES = """\
pure-ldp: its sketches (CMS, HCMS, RAPPOR, private count sketch, sketch response) are for domains
too large to list, and are not run. Fast hashing, a heuristic with a thousand fixed hash
functions, is shown over the formula of optimised hashing. multi-freq-ldpy: clips its shares at
zero and scales them to sum to 1; the unbiased ones are what it had before. Its adaptive oracle is
k-ary response or optimised unary, whichever varies less: not run again. Both draw from seeded
generators (randomize.py), and their local hashing fails with xxhash 4 (peers.py installs 3)."""


def seed_peers(seed: int) -> None:
    """The same runs every time, which their generators allow; ours is the operating system's and does not."""
    random.seed(seed)
    np.random.seed(seed)
    try:
        import numba
    except ImportError:
        return

    @numba.njit
    def inside() -> None:
        np.random.seed(seed)

    inside()
