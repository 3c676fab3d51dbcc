"""The pages for people: respondents, analysts and admins. HTML made here, no script that is not ours, no inline script.

May not: estimate or store anything themselves; they show what ``analysis``, ``relations`` and ``planning`` say.
"""

from __future__ import annotations

from flask import Flask

from . import layout
from .dashboard import dashboard
from .sign_in import sign_in_pages
from .surveys import surveys


def register(app: Flask) -> None:
    """All pages but the respondents', which shares nothing with them."""
    layout.register(app)
    for blueprint in (sign_in_pages, surveys, dashboard):
        app.register_blueprint(blueprint)
