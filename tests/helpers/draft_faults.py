"""Faults in what survey managers do: writing a survey with others, publishing it, its fieldwork, and deleting it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Flask, request
from werkzeug.datastructures import ImmutableMultiDict

from deniable_server import app as app_module
from deniable_server.editing import changes, faults
from deniable_server.storage import base
from deniable_server.storage.base import DatabaseStorage
from deniable_server.storage.drafts import Draft, Drafts
from deniable_server.web import auth
from deniable_server.web.context import AppState, here
from tests.helpers.planting import instead_of, replace

# --- writing ---------------------------------------------------------------------------------------------------------


@instead_of(changes, "_tidy")
def conflicts_are_overwritten(_: Any, sketch: Any, at: str, value: Any) -> Any:
    return None


@instead_of(changes, "apply")
def a_change_sent_twice_counts_twice(original: Any, sketch: Any, change: Any, by: str) -> Any:
    sketch.done = []
    return original(sketch, change, by)


@instead_of(changes, "_taken")
def answers_that_move_are_others(_: Any, left: Any, tag: str, line: str) -> Any:
    return None


@instead_of(Drafts, "save")
def a_later_version_is_overwritten(_: Any, self: Drafts, number: int, content: str, version: int) -> bool:
    changed = "UPDATE drafts SET content = :content, version = version + 1, changed_on = :today WHERE number = :number"
    return self._write((changed, self._values(number, content))) > 0


@instead_of(faults, "_fault")
def faults_in_the_words_of_a_file(original: Any, sketch: Any, problem: Any) -> Any:
    return original(sketch, problem)._replace(sentence=problem.message)


@instead_of(auth, "may_edit")
def editors_of_some_surveys_see_all_drafts(_: Any, token: Any, maker: str | None) -> bool:
    return auth.may(token, "editor", None)


# --- publishing, fieldwork, deleting ---------------------------------------------------------------------------------


def _with_field(endpoint: str, name: str, value: Any) -> None:
    """The form that this page gets always has ``value(the rest of the address)`` in a field."""

    def faulty(original: Any) -> Any:
        def create_app(*given: Any, **named: Any) -> Flask:
            app: Flask = original(*given, **named)
            view = app.view_functions[endpoint]

            def filled(**path: Any) -> Any:
                sent = request._get_current_object()  # type: ignore[attr-defined]
                sent.form = ImmutableMultiDict({**request.form, name: value(**path)})
                return view(**path)

            app.view_functions[endpoint] = filled
            return app

        return create_app

    replace(app_module, "create_app", faulty)


def _version(number: int) -> str:
    """The one that the draft has now, whatever was seen."""
    found = here().storage.drafts.find(number)
    return "" if found is None else str(found.version)


def what_nobody_looked_at_is_published() -> None:
    _with_field("drafts.publish", "version", _version)


def a_file_replaces_what_others_wrote() -> None:
    _with_field("drafts.take_file", "version", _version)


def a_test_run_outlives_its_draft() -> None:
    replace(AppState, "end_test_run", lambda original: lambda *_: None)
    replace(DatabaseStorage, "_end_test_runs", lambda original: lambda *_: None)


@instead_of(base, "ended")
def a_draft_is_published_twice(_: Any, draft: Draft) -> Any:
    return "UPDATE surveys SET expected = expected", {}


@instead_of(DatabaseStorage, "schedule")
def a_closed_survey_gets_new_times(_: Any, self: Any, survey: Any, fieldwork: Any) -> None:
    self._write(
        (
            "UPDATE surveys SET opens_at = :opens_at, closes_at = :closes_at, most = :most WHERE number = :number",
            {**asdict(fieldwork), "number": survey.number},
        )
    )


def any_name_deletes_a_survey() -> None:
    _with_field("fieldwork.delete", "name", lambda survey: survey)
