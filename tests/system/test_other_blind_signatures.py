"""Tokens with another implementation of RFC 9474, from npm."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from deniable_server.issuing import IssuerKey
from tests.helpers import npm
from tests.helpers.tokens import InPython, check_finish, check_together, in_node


def test_another_implementation_makes_the_same_tokens(node: str, tmp_path: Path) -> None:
    """Whichever of the three a device has, and whichever of the two signs: all three say the same of its token."""
    web = npm.copied(tmp_path)
    npm.install(web)
    python, secret = InPython(), IssuerKey.generate()
    with in_node(node, web) as ours, in_node(node, web, "peer") as theirs:
        everybody = (python, ours, theirs)
        for device, issuer in product(everybody, (python, theirs)):
            check_together(device, issuer, list(everybody), secret)
        for finisher, drawer in product(everybody, everybody):
            check_finish(finisher, drawer, theirs, secret)
