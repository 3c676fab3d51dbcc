"""The pages for people: respondents, analysts and admins. All scripts are our own, and none is inline.

May not: estimate or store anything. Pages show what ``analysis`` and ``planning`` return.
"""

from __future__ import annotations

from flask import Flask

from . import layout
from .activity import activity_pages
from .dashboard import dashboard
from .drafts import drafts
from .fieldwork import fieldwork
from .invitations import inviting
from .people import people
from .preview import preview
from .progress import progress
from .sign_in import sign_in_pages
from .surveys import surveys


def register(app: Flask) -> None:
    """All pages except the respondents', which has nothing in common with them."""
    layout.register(app)
    for blueprint in (
        sign_in_pages, surveys, drafts, preview, progress, fieldwork, inviting, dashboard, people, activity_pages,
    ):  # fmt: skip
        app.register_blueprint(blueprint)
