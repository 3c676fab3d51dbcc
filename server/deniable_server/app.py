"""The Flask app. ``create_app`` is its table of contents."""

from __future__ import annotations

from flask import Flask

from deniable_protocol.document import MAX_BYTES

from . import edges, metrics, pages, problems
from .api import api
from .assets import assets
from .installation import Installation
from .operation import operation
from .pages.respondent import respondent
from .results import results
from .settings import Settings
from .shortcut import Shortcut
from .storage import Storage, open_storage


def create_app(settings: Settings | None = None, storage: Storage | None = None) -> Flask:
    """The collection server, for any WSGI server: ``gunicorn "deniable_server:create_app()"``."""
    settings = settings or Settings.from_environment()
    storage = storage or open_storage(settings.database)
    storage.finish_closing()
    app = Flask("deniable", static_folder=None)
    app.url_map.merge_slashes = False  # a double slash is a wrong address, not one to redirect to another
    app.ensure_sync = lambda func: func  # type: ignore[method-assign]  # none is async, and looking costs each request
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.config["MAX_FORM_MEMORY_SIZE"] = 2 * MAX_BYTES  # of a survey that is published: a form is larger than its text
    installation = app.extensions["deniable"] = Installation(settings, storage)

    app.register_blueprint(api, url_prefix="/api/v1")
    app.register_blueprint(results, url_prefix="/api/v1")
    app.register_blueprint(operation)
    app.register_blueprint(assets)
    app.register_blueprint(respondent)
    problems.register(app)
    metrics.register(app, installation.metrics)
    app.wsgi_app = Shortcut(app.wsgi_app, installation)  # type: ignore[method-assign]
    edges.register(app, settings)
    pages.register(app)
    return app
