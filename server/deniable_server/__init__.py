"""Deniable's server: it collects randomised reports, and estimates what they say about the population.

It never sees an answer. Start at ``create_app``; the command line is in ``cli``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> object:
    # On a base install Flask is absent, and the command must still be able to say so.
    if name == "create_app":
        calculate_in_one_thread()
        from .app import create_app

        return create_app
    raise AttributeError(name)


def calculate_in_one_thread() -> None:
    """Before numpy is imported: our matrices are small, and its threads would mostly wait for each other, at full load.

    The plan of 200 numbers took 31 s of processor time with two threads, and takes 2 s with one.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
