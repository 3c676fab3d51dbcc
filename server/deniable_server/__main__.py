"""The ``deniable`` command, or a clear word about what is not installed."""

from __future__ import annotations

import io
import sys

from . import calculate_in_one_thread


def main() -> None:
    calculate_in_one_thread()
    try:
        from .cli import cli
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("deniable_server", "deniable_protocol", "deniable"):
            raise
        sys.exit(f'The deniable command needs {error.name}: install it with  pip install "deniable[server]"')
    # Where a terminal cannot show a character, a question mark is better than a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    cli()


if __name__ == "__main__":
    main()
