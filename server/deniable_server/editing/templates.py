"""Surveys to start from, written as survey files."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class Template(NamedTuple):
    """``purpose`` says what the survey is for; ``protection`` how well it protects, why, and for how many people."""

    name: str
    title: str
    purpose: str
    protection: str


TEMPLATES = (
    Template(
        "workplace",
        "Workplace",
        "How people are treated at work, and whether they dare to report it.",
        "ε = 2, as we recommend. For about 2,500 people.",
    ),
    Template(
        "campus-health",
        "Campus health",
        "How students are doing and which help they use. English and Spanish.",
        "ε = 2, as we recommend. For about 5,000 people. If you reach 20,000, choose 1.",
    ),
    Template(
        "drug-use",
        "Drug use",
        "Which drugs a population uses, and who looks for help.",
        "ε = 1, because answers can be evidence of a crime. For about 15,000 people.",
    ),
    Template(
        "course-feedback",
        "Course feedback",
        "What students think of their courses. For a programme, not for one small class.",
        "ε = 2, because students depend on those who read this. For about 1,500 people.",
    ),
    Template(
        "product-telemetry",
        "Product telemetry",
        "How an app is used. The app answers, if its user agreed.",
        "ε = 4, because it is about an app and not about a life. For about 20,000 devices.",
    ),
)


def template(name: str) -> str:
    """The survey file of a template. KeyError if there is none of this name."""
    if name not in {each.name for each in TEMPLATES}:
        raise KeyError(name)
    return (files("deniable_server") / "editing" / "templates" / f"{name}.toml").read_text("utf-8")
