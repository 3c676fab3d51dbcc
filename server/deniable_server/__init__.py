"""Deniable's server: it collects randomised reports, and estimates what they say about the population.

It never sees an answer. Start at ``create_app``; the command line is in ``cli``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> object:
    # On a base install Flask is absent, and the command must still be able to say so.
    if name == "create_app":
        from .app import create_app

        return create_app
    raise AttributeError(name)
