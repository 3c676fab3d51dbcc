"""An export as a source of answers to queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cached_property

from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.source import Source
from deniable_server.errors import ExportError
from deniable_server.statistics import Statistics
from deniable_server.storage import Status

from . import Engine


class ExportedSurvey(Source):
    """A survey in an export, counted by an engine. ``survey`` is the id that it must have, if one was given."""

    def __init__(self, engine: Engine, minimum: int, survey: str | None = None) -> None:
        super().__init__(engine.export.published, minimum)
        self._engine = engine
        if survey not in (None, self.survey.id):
            raise ExportError(f"{engine.export.folder} is an export of {self.survey.id}, not of {survey}")

    def _status(self) -> Status:
        return self._engine.export.manifest.status

    def _day(self) -> date:
        return date.fromisoformat(self._engine.export.manifest.exported_on)

    def _statistics(self, over: Sequence[int]) -> Statistics:
        return self._counted.over(over)

    @cached_property
    def _counted(self) -> Statistics:
        """By all segments: the files are read once."""
        return self._engine.statistics()

    def _count(self, crossing: Crossing) -> None:
        self._engine.count(crossing)

    def another(self, name: str) -> ExportedSurvey:
        return ExportedSurvey(self._engine.another(name), self.minimum)
