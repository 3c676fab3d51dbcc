"""The pages for people: respondents, analysts and admins. HTML made here, no script that is not ours, no inline script.

May not: estimate or store anything themselves; they show what ``analysis``, ``relations`` and ``planning`` say.
"""

from __future__ import annotations

from flask import Flask

from . import frame
from .dashboard import dashboard
from .surveys import surveys
from .visits import visits


def register(app: Flask) -> None:
    """All pages but the respondents', which shares nothing with them."""
    frame.register(app)
    for blueprint in (visits, surveys, dashboard):
        app.register_blueprint(blueprint)
