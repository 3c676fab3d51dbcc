"""The Flask app. ``create_app`` is its table of contents."""

from __future__ import annotations

from flask import Flask

from deniable_protocol.document import MAX_BYTES

from . import pages
from .pages.respondent import respondent
from .settings import Settings
from .storage import Storage, open_storage
from .web import computing, metrics, middleware, problems
from .web.context import AppState
from .web.health import health
from .web.invitations import invitations
from .web.results import results
from .web.static import static
from .web.submissions import submissions
from .web.surveys import surveys


def create_app(settings: Settings | None = None, storage: Storage | None = None) -> Flask:
    """The collection server, for any WSGI server: ``gunicorn "deniable_server:create_app()"``.

    Results are computed in another process. With an open ``storage``, which no other process can use, or a database
    that two processes cannot share, they are computed in this one.
    """
    settings = settings or Settings.from_environment()
    given, storage = storage, storage or open_storage(settings.database)
    if given is None:
        storage.finish_closing()
        storage.keep_schedule()
    app = Flask("deniable", static_folder=None)
    app.url_map.merge_slashes = False  # a double slash is a wrong address, not one to redirect to another
    app.ensure_sync = lambda func: func  # type: ignore[method-assign]  # none is async, and looking costs each request
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.config["MAX_FORM_MEMORY_SIZE"] = 2 * MAX_BYTES  # of a survey that is published: a form is larger than its text
    apart = given is None and computing.PROCESSES > 0 and not storage.refuses_to_share()
    state = AppState(settings, storage, computing.Computing(settings, in_place=not apart))
    app.extensions["deniable"] = state

    app.register_blueprint(surveys, url_prefix="/api/v1")
    app.register_blueprint(submissions, url_prefix="/api/v1")
    app.register_blueprint(invitations, url_prefix="/api/v1")
    app.register_blueprint(results, url_prefix="/api/v1")
    app.register_blueprint(health)
    app.register_blueprint(static)
    app.register_blueprint(respondent)
    problems.register(app)
    metrics.register(app, state.metrics)
    middleware.register(app, settings)
    pages.register(app)
    return app
