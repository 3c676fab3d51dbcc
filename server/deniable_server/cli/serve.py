"""``deniable serve``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import click

from deniable_server.settings import SETTINGS, Settings

from .common import say, setting_option


def every_setting(command: Callable[..., None]) -> Callable[..., None]:
    """Options for all settings but the secret key, in the order of the table."""
    for row in reversed(SETTINGS.values()):
        if row.flag:
            command = setting_option(row.name)(command)
    return command


@click.command(short_help="Run the collection server.")
@every_setting
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Number of server processes.")
@click.option(
    "--threads",
    default=16,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Requests that each process handles at the same time.",
)
@click.pass_context
def serve(ctx: click.Context, /, workers: int, threads: int, **flags: str) -> None:
    """Run the collection server until it is stopped (SIGTERM or Ctrl-C). Makes the database if there is none."""
    from deniable_server.serving.run import serve as run

    given = {
        SETTINGS[name].variable: value
        for name, value in flags.items()
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    run(Settings.from_environment({**os.environ, **given}), workers, threads, partial(say, err=True))
