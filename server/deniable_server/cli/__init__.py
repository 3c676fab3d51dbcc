"""The command line. Each command reads its input, calls one function and prints what it returns."""

from __future__ import annotations

import click

from deniable import __version__

from .common import Group
from .files import audit_, survey
from .operation import backup, doctor, restore, serve, token
from .respondents import demo, simulate
from .results import estimate

__all__ = ["cli"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deniable")
def cli() -> None:
    """Surveys under local differential privacy: answers are randomised on the respondent's own device."""


for command in (demo, serve, survey, estimate, simulate, audit_, token, backup, restore, doctor):
    cli.add_command(command)
