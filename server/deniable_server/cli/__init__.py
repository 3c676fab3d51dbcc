"""The command line. Each command reads its input, calls one function and prints what it returns."""

from __future__ import annotations

import click

from deniable import __version__

from .common import Group
from .database import backup, doctor, move, restore
from .demo import demo
from .estimate import estimate
from .export import export
from .invitations import invitations
from .plan import plan
from .relate import compare_, crosstab_, regress_
from .serve import serve
from .simulate import simulate
from .surveys import audit_, survey
from .tokens import token
from .verify import verify

__all__ = ["cli"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deniable")
def cli() -> None:
    """Surveys under local differential privacy: answers are randomised on the respondent's own device."""


COMMANDS = [
    demo, serve, survey, plan, invitations, estimate, compare_, crosstab_, regress_, export, simulate, audit_, verify,
    token, backup, restore, move, doctor,
]  # fmt: skip
for command in COMMANDS:
    cli.add_command(command)
