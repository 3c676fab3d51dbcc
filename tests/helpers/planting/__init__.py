"""Faults, planted by name: a function that replaces methods and functions of ours by faulty ones.

In this process, call it. In another, start that with ``environment(fault)``: ``sitecustomize.py`` in this folder then
plants the fault before anything else runs there.
"""

from __future__ import annotations

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
    """Makes a fault of a function: planted, it is called instead of ``owner.name``, with that as its first argument."""

    def made(faulty: Callable[..., Any]) -> Planted:
        @wraps(faulty)
        def planted() -> None:
            replace(owner, name, lambda original: lambda *given, **named: faulty(original, *given, **named))

        return planted

    return made


def environment(planted: Planted | None) -> dict[str, str]:
    """The environment variables that give a Python process this fault; empty without one."""
    if planted is None:
        return {}
    paths = [str(Path(__file__).parent), str(ROOT)]
    return {"PYTHONPATH": os.pathsep.join(paths), "PLANTED_FAULT": f"{planted.__module__}:{planted.__name__}"}
