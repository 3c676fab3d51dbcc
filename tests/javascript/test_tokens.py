"""Tokens between the two languages."""

from __future__ import annotations

from pathlib import Path

from deniable_server.issuing import IssuerKey
from tests.helpers.tokens import InPython, check_finish, check_together, in_node


def test_both_languages_make_the_same_tokens(node: str, root: Path) -> None:
    """A token that one draws, the issuer signs and either finishes is valid for both."""
    python, secret = InPython(), IssuerKey.generate()
    with in_node(node, root / "client/web") as javascript:
        for device in (python, javascript):
            for _ in range(3):
                check_together(device, python, [python, javascript], secret)
        check_finish(python, javascript, javascript, secret)
        check_finish(javascript, python, python, secret)
