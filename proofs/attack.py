"""False submissions for the greatest gain: what the server shows that they could do covers what they did.

Surveys with every question type and channel, each at several epsilon, are answered by honest respondents: once with
answers of all kinds, once all with the same answer, where a share has furthest to fall or to rise. Then 1 to 10% of
false submissions come in over the same interface, chosen for one number after the other, up and down.
"""

from __future__ import annotations

import html
import math
import random
import re
import shutil
import urllib.parse
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from http.cookiejar import CookieJar
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from deniable_protocol import Document, Survey, publish, randomize, survey_from_tree, verify
from deniable_server.simulate import Population, Respondent
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import Server, ask, collector, let_collect, running

from . import Outcome, Watch
from .attacker import Array, Target, numbers_of

FRACTIONS = (0.01, 0.02, 0.05, 0.10)
BATCH = 5_000
SLACK = 1e-12
"""Of the server's floating point."""

SENTENCE = re.compile(r"([\d,]+) false submissions? could move (?:a share|the mean) by up to ([\d,.]+)")
MORE = {
    "several": re.compile(r"that of several points by up to ([\d,.]+)"),
    "net_score": re.compile(r"the net score by up to ([\d,.]+)"),
    "group": re.compile(r"within one group by up to ([\d,.]+)"),
}


def tree(name: str, epsilon: str) -> dict[str, Any]:
    """A survey with every question type and channel kind, all at one epsilon."""

    def options(count: int) -> list[dict[str, str]]:
        return [{"code": f"o{i}", "text": f"Option {i}"} for i in range(count)]

    def points(count: int) -> list[str]:
        return [f"Point {i}" for i in range(1, count + 1)]

    own: dict[str, dict[str, Any]] = {
        "bit": {"type": "yes_no"},
        "bit_or_declined": {"type": "yes_no", "decline": True},
        "three": {"type": "choice", "options": options(3)},
        "ten": {"type": "choice", "options": options(10)},
        "fifty": {"type": "choice", "options": options(50)},
        "krr": {"type": "choice", "options": options(4), "mechanism": "krr", "decline": True},
        "drawn": {"type": "multi_choice", "options": options(4)},
        "points": {"type": "scale", "labels": points(5)},
        "promoters": {"type": "scale", "labels": points(11), "decline": True},
        "exponential": {"type": "scale", "labels": points(5), "mechanism": "exponential"},
        "scale_mean": {"type": "scale", "labels": points(5), "measure": "mean"},
        "krr_mean": {"type": "scale", "labels": points(5), "measure": "mean", "mechanism": "krr"},
        "number": {"type": "number", "min": -10, "max": 40},
        "laplace": {"type": "number", "min": 0, "max": 40, "mechanism": "laplace"},
        "gaussian": {"type": "number", "min": 0, "max": 40, "mechanism": "gaussian", "delta": "0.000001"},
        "bins": {"type": "number", "min": 0, "max": 50, "measure": "shares", "bins": [5, 10, 20], "decline": True},
    }
    return {
        "id": name,
        "title": name,
        "segments": [{"id": "campus", "text": "Which?", "options": options(2)}],
        "questions": [{"id": q, "text": q, "epsilon": epsilon, **keys} for q, keys in own.items()],
    }


Sent = tuple[str, list[int], dict[str, str]]
"""The id, the reports and the segments of a submission: there is one booklet, with a part for every question."""


class Attacked(NamedTuple):
    """A survey that is to be attacked, as the attacker knows it: what honest respondents sent, in sum."""

    document: Document
    epsilon: float
    targets: dict[str, Target]
    honest: dict[str, Array]


def prove(folder: Path, watch: Watch, seed: int, *, honest: int, epsilons: Sequence[str], campaigns: int) -> Outcome:
    """Every campaign begins with the honest database, and attacks one number of every question of every survey."""
    ledger = Ledger()
    database, surveys = folder / "honest.db", []
    chance = random.Random(seed)
    documents = [
        publish(survey_from_tree(tree(f"e{e.replace('.', '-')}-{kind}", e))) for e in epsilons for kind in POPULATIONS
    ]
    storage = open_storage(str(database))
    for document in documents:
        storage.publish(document)
    let_collect(storage, *(listed.id for listed in storage.surveys()))
    token, _ = make_token(storage, "analyst", "attack")
    storage.close()
    total = len(documents) * (campaigns + 1)
    with running(database, folder / "server.log") as server:
        reader = Reader(server, token)
        before = {}
        for published in documents:
            document = verify(published)
            name = document.survey.id
            surveys.append(_answered(server, document, honest, name.rpartition("-")[2], chance))
            before[name] = reader.estimates(name)
            watch.counts(len(surveys), total)
    for campaign in range(campaigns):
        if watch.is_over:
            ledger.failures.append(f"stopped after {campaign} of {campaigns} campaigns")
            break
        attacked = folder / "attacked.db"
        shutil.copy(database, attacked)  # a server that has stopped leaves one file
        with running(attacked, folder / "server.log") as server:
            reader = Reader(server, token)
            for place, survey in enumerate(surveys):
                plots = random.Random(f"{seed} {survey.document.survey.id}")
                _attack(reader, survey, before[survey.document.survey.id], campaign, honest, plots, ledger)
                watch.counts(len(surveys) * (campaign + 1) + place + 1, total)
        for left in folder.glob("attacked.db*"):
            left.unlink()
    return Outcome({"honest submissions": honest * len(surveys)} | ledger.figures(), ledger.failures)


def _answered(server: Server, document: Document, people: int, kind: str, chance: random.Random) -> Attacked:
    """Sends the honest submissions, of real randomisers with scripted randomness."""
    targets = {part.items[0].name: Target(part.items[0].question, part.channel) for part in document.parts}
    counts: dict[str, Counter[int]] = {q: Counter() for q in targets}
    respondents = POPULATIONS[kind](document.survey, people, chance)
    while batch := [
        randomize(document, person.answers, person.segments, read=chance.randbytes)
        for person in islice(respondents, BATCH)
    ]:
        _send(server, document, [(each["id"], each["reports"], each["segments"]) for each in batch])
        for place, counted in enumerate(counts.values()):
            counted.update(each["reports"][place] for each in batch)
    honest = {q: target.totals(counts[q]) for q, target in targets.items()}
    return Attacked(document, float(document.parts[0].epsilon), targets, honest)


def _mixed(survey: Survey, people: int, chance: random.Random) -> Iterator[Respondent]:
    return Population(survey, chance.randrange(2**32)).respondents(people)


def _alike(survey: Survey, people: int, chance: random.Random) -> Iterator[Respondent]:
    parts = verify(publish(survey)).parts
    answers = {part.items[0].name: part.items[0].question.panel(part.channel.answers)[0][1] for part in parts}
    return (Respondent(answers, {"campus": chance.choice(["o0", "o1"])}) for _ in range(people))


POPULATIONS = {"mixed": _mixed, "alike": _alike}


def _send(server: Server, document: Document, submissions: Sequence[Sent]) -> None:
    for start in range(0, len(submissions), BATCH):
        batch = submissions[start : start + BATCH]
        own = {"digest": document.digest, "booklet": 0}
        body = [{"id": i, **own, "reports": reports, "segments": segments} for i, reports, segments in batch]
        survey = document.survey.id
        answer = ask(f"{server.base}/api/v1/surveys/{survey}/submissions", {"submissions": body}, collector(survey))
        if answer.status != 201 or answer.json["accepted"] != len(batch):
            raise RuntimeError(f"submissions were refused: {answer.body[:500]!r}")


def _attack(
    reader: Reader, survey: Attacked, before: Any, campaign: int, honest: int, plots: random.Random, ledger: Ledger
) -> None:
    """Sends the false submissions of one campaign, and looks after each share of them."""
    sizes = [math.floor(honest * f / (1 - f)) for f in FRACTIONS]
    plans, aims = {}, {}
    for q, target in survey.targets.items():
        ways = [(number, sign) for number in range(len(target.numbers)) for sign in (1, -1)]
        plots.shuffle(ways)
        number, sign = ways[campaign % len(ways)]
        aims[q] = f"{target.numbers[number]} {'up' if sign > 0 else 'down'}"
        plans[q] = target.plan(survey.honest[q], number, sign, sizes)
    name = survey.document.survey.id
    for start, false in pairwise([0, *sizes]):
        sent = [
            (f"{plots.getrandbits(128):032x}", [plan[i] for plan in plans.values()], {"campus": "o0"})
            for i in range(start, false)
        ]
        _send(reader.server, survey.document, sent)
        after, sentences = reader.estimates(name), reader.sentences(name) if start == 0 else {}
        for place, (q, target) in enumerate(survey.targets.items()):
            where = f"{name}, {q}, {aims[q]}, {false} of {honest + false} false"
            told = Told(where, q, survey.epsilon, false, honest + false, target.widest)
            whole = [result["questions"][place] for result in (before, after)]
            foreseen = target.shown((survey.honest[q] + target.totals(Counter(plans[q][:false])))[None])[0]
            ledger.foresaw(told, dict(zip(target.numbers, foreseen.tolist(), strict=True)), whole[1])
            ledger.moved(told, *whole, sentences.get(q), "")
            if q == "bit" and len({*plans[q][:false]}) == 1:
                ledger.closed_form(told, *whole, plans[q][0])
            groups = [next(g for g in each["groups"] if g["code"] == "o0") for each in (before, after)]
            ledger.moved(told, *(group["questions"][place] for group in groups), sentences.get(q), "group")
        ledger.submissions += false - start
    ledger.plots |= {(name, q, aim) for q, aim in aims.items()}


class Told(NamedTuple):
    """Which attack a number is looked at after. ``widest``: what is possible at all, 1 for a share."""

    where: str
    question: str
    epsilon: float
    false: int
    answers: int
    widest: float


class Ledger:
    """What was claimed and what happened."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.submissions = self.compared = 0
        self.plots: set[tuple[str, str, str]] = set()
        self._reached: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
        self._sentences: dict[str, float] = defaultdict(float)
        self._furthest = self._off = 0.0

    def foresaw(self, told: Told, foreseen: dict[str, float], after: Any) -> None:
        """The attacker's own estimate must equal the server's: otherwise the attack may not be the worst."""
        for number, (value, _) in numbers_of(after).items():
            if abs(value - foreseen[number]) > 1e-8 * max(1.0, abs(value)):
                self.failures.append(f"{told.where}: the attacker foresaw {foreseen[number]} of {number}, not {value}")

    def moved(self, told: Told, before: Any, after: Any, sentence: dict[str, float] | None, part: str) -> None:
        """No number moved by more than was shown, before and after, in figures and in words."""
        one, other = numbers_of(before), numbers_of(after)
        for number, (value, each) in other.items():
            moved = abs(value - one[number][0])
            claims = {"shown after": told.false * each, "shown before": told.false * one[number][1]}
            if sentence is not None and told.false <= sentence["false"]:
                kind = part or ("net_score" if number == "net_score" else "several" if number in SEVERAL else "plain")
                if not (part and number in {*SEVERAL, "net_score"}):  # those are not shown of groups
                    claims["the sentence"] = sentence[kind] * (1 if number == "mean" else 0.01)
                    self._sentences["most"] = max(self._sentences["most"], moved / claims["the sentence"])
            self.compared += len(claims)
            for what, most in claims.items():
                if moved > most + SLACK * max(1.0, abs(value)):
                    self.failures.append(
                        f"{told.where}: {number} moved by {moved:.6g}{part and ' in a group'}, {what} {most:.6g}"
                    )
            if not part:
                reached = moved / min(told.false * each, 2.0 if number == "net_score" else told.widest)
                row = self._reached["sums of points" if number in {*SEVERAL, "net_score"} else told.question]
                row[told.epsilon] = max(row[told.epsilon], reached)
        self._unbiased(told, before, after)

    def _unbiased(self, told: Told, before: Any, after: Any) -> None:
        """An unbiased share from outside 0 and 1 may move by as much more as it was outside."""
        f, most = told.false / told.answers, told.false * after["fake_influence"]
        for one, other in zip(before["shares"], after["shares"], strict=True):
            if told.answers != after["answers"] or one["unbiased"] is None or before["type"] == "multi_choice":
                continue
            outside = max(-one["unbiased"], one["unbiased"] - 1, 0.0)
            moved = abs(other["unbiased"] - one["unbiased"])
            self._furthest = max(self._furthest, moved / most)
            if moved > most + f * outside + SLACK * max(1.0, abs(one["unbiased"])):
                self.failures.append(f"{told.where}: unbiased {one['code']} moved by {moved:.6g}, not {most:.6g}")

    def closed_form(self, told: Told, before: Any, after: Any, report: int) -> None:
        """Before it is cut off, a yes moves by f(e^epsilon/(e^epsilon - 1) - s) up, f(s + 1/(e^epsilon - 1)) down."""
        f, odds = told.false / told.answers, math.exp(told.epsilon)
        share = before["shares"][0]["unbiased"]
        formula = f * (odds / (odds - 1) - share) if report else -f * (share + 1 / (odds - 1))
        off = abs(after["shares"][0]["unbiased"] - share - formula)
        self._off = max(self._off, off)
        if off > 1e-9:
            self.failures.append(f"{told.where}: {off:.3g} off the closed formula {formula:.6g}")

    def figures(self) -> dict[str, int | float | str]:
        found: dict[str, int | float | str] = {
            "false submissions": self.submissions,
            "plots (survey, question, number, direction)": len(self.plots),
            "moves compared with a claim": self.compared,
            "furthest move, as part of the sentence for one in a hundred": round(self._sentences["most"], 4),
            "furthest move of an unbiased share, as part of the claim": round(self._furthest, 4),
            "furthest from the closed formula": self._off,
        }
        for question, row in self._reached.items():
            found[f"{question}: furthest move as part of the claim, by ε"] = ", ".join(
                f"{epsilon:g}: {part:.3f}" for epsilon, part in row.items()
            )
        return found


SEVERAL = {"top_two", "bottom_two", "bottom_seven"}


class Reader:
    """An analyst with a token, at the interface and in a browser."""

    def __init__(self, server: Server, token: str) -> None:
        self.server, self._token = server, token
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = self._page("/sign-in")
        (word,) = set(re.findall(r'name="word" value="([0-9a-f]{64})"', page))
        form = urllib.parse.urlencode({"word": word, "token": token}).encode()
        self._browser.open(urllib.request.Request(f"{server.base}/sign-in", form, {"Origin": server.base})).close()

    def estimates(self, survey: str) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"}
        answer = ask(f"{self.server.base}/api/v1/surveys/{survey}/estimates?by=campus", headers=headers)
        if answer.status != 200:
            raise RuntimeError(f"no estimates: {answer.body[:500]!r}")
        return answer.json

    def sentences(self, survey: str) -> dict[str, dict[str, float]]:
        """What the dashboard says that false submissions could do, by question: how many, and by how much."""
        page = html.unescape(self._page(f"/surveys/{survey}?by=campus"))
        found = {}
        for section in page.split('<section class="card" aria-labelledby="q-')[1:]:
            said = SENTENCE.search(section)
            if said is None:
                raise RuntimeError("a card does not say what false submissions could do")
            numbers = {"false": _number(said[1]), "plain": _number(said[2])}
            more = {what: pattern.search(section) for what, pattern in MORE.items()}
            found[section.partition('"')[0]] = numbers | {what: _number(hit[1]) for what, hit in more.items() if hit}
        return found

    def _page(self, path: str) -> str:
        with self._browser.open(f"{self.server.base}{path}", timeout=60) as response:
            text: str = response.read().decode()
            return text


def _number(text: str) -> float:
    return float(text.rstrip(".,").replace(",", ""))
