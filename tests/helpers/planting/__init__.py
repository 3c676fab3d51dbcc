"""Faults, planted by name: a function that replaces methods and functions of ours by faulty ones.

In this process, call it. In another, start that with ``environment(fault)``: ``sitecustomize.py`` in this folder then
plants the fault before anything else runs there.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from tests.helpers.machine import ROOT

Planted = Callable[[], None]
"""Plants a fault."""


def replace(owner: Any, name: str, faulty: Callable[[Any], Any]) -> None:
    """Put ``faulty(original)`` where ``owner`` has ``name``, and wherever modules have imported the original."""
    original = getattr(owner, name)
    new = faulty(original)
    setattr(owner, name, new)
    for module in list(sys.modules.values()):
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if value is original:
                setattr(module, key, new)


def instead_of(owner: Any, name: str) -> Callable[[Callable[..., Any]], Planted]:
    """Makes a fault of a function: planted, it is called instead of ``owner.name``, with that as its first argument.

    It must take what ``owner.name`` takes: otherwise every test would fail, whatever it claims.
    """

    def made(faulty: Callable[..., Any]) -> Planted:
        @wraps(faulty)
        def planted() -> None:
            original = getattr(owner, name)
            _check_arguments(original, faulty)
            replace(owner, name, lambda _: wraps(original)(lambda *given, **named: faulty(original, *given, **named)))

        return planted

    return made


def _check_arguments(original: Callable[..., Any], faulty: Callable[..., Any]) -> None:
    """TypeError unless the fault can be called like the original, with every argument and with the fewest."""
    known = inspect.signature(original).parameters.values()
    for given in (known, [each for each in known if each.default is each.empty]):
        places = [each.name for each in given if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        named = {each.name: None for each in given if each.kind is each.KEYWORD_ONLY}
        try:
            inspect.signature(faulty).bind(original, *places, **named)
        except TypeError as error:
            raise TypeError(f"{faulty.__name__} does not take what {original.__qualname__} takes: {error}") from None


def environment(*planted: Planted | None) -> dict[str, str]:
    """The environment variables that give a Python process these faults; empty without any."""
    names = [f"{fault.__module__}:{fault.__name__}" for fault in planted if fault is not None]
    if not names:
        return {}
    paths = [str(Path(__file__).parent), str(ROOT)]
    return {"PYTHONPATH": os.pathsep.join(paths), "PLANTED_FAULT": ",".join(names)}


def constant(owner: Any, name: str, value: Any) -> None:
    """Put another value where ``owner`` has ``name``, and nowhere else."""
    assert hasattr(owner, name), f"{owner} has no {name}"
    setattr(owner, name, value)


def in_source(file: str, code: str) -> None:
    """More code at the end of a file, for the tests that read the sources."""
    assert (ROOT / file).is_file(), file

    def faulty(original: Any) -> Any:
        def read_text(self: Path, *given: Any, **named: Any) -> str:
            text: str = original(self, *given, **named)
            return text + code if self == ROOT / file else text

        return read_text

    replace(Path, "read_text", faulty)
