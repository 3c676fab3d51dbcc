"""The ``deniable`` command, or a clear word about what is not installed."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from .cli import cli
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("deniable_server", "deniable_protocol", "deniable"):
            raise
        sys.exit(f'The deniable command needs {error.name}: install it with  pip install "deniable[server]"')
    cli()


if __name__ == "__main__":
    main()
