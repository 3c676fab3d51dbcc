"""Surveys to start from, written as survey files."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class Template(NamedTuple):
    """``purpose`` says in one sentence what the survey is for."""

    name: str
    title: str
    purpose: str


TEMPLATES = (
    Template("workplace", "Workplace", "How people are treated at work, and whether they dare to report it."),
    Template("campus-health", "Campus health", "How students are doing and which help they use. English and Spanish."),
    Template("drug-use", "Drug use", "Which drugs a population uses, and who looks for help. With strong protection."),
    Template(
        "course-feedback",
        "Course feedback",
        "What students think of their courses. For a programme, not for one small class.",
    ),
    Template("product-telemetry", "Product telemetry", "How an app is used. The app answers, if its user agreed."),
)


def template(name: str) -> str:
    """The survey file of a template. KeyError if there is none of this name."""
    if name not in {each.name for each in TEMPLATES}:
        raise KeyError(name)
    return (files("deniable_server") / "editing" / "templates" / f"{name}.toml").read_text("utf-8")
