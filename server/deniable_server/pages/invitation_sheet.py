"""A sheet of invitations to print and cut: each with its QR code, and the code to type.

May not: load anything from elsewhere. As a file, it is one page with its style in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from deniable_protocol import Survey
from deniable_protocol.invitations import show_code

from .qr_code import Code, svg_code


class Ticket(NamedTuple):
    """One invitation on the sheet."""

    code: str
    picture: Code


def tickets(address: str, codes: Iterable[str]) -> list[Ticket]:
    """One for each code. ``address``: the link of the survey, with its digest."""
    return [Ticket(show_code(code), svg_code(f"{address}.{code}")) for code in codes]


def whole_sheet(survey: Survey, address: str, codes: Sequence[str]) -> str:
    """The sheet as a file."""
    css = (files("deniable_server") / "pages" / "static" / "sheet.css").read_text("utf-8")
    style = Markup(f"<style>{css}</style>")  # noqa: S704 -- our own, which has nothing that could end it
    page = _templates().get_template("invitation-sheet.html")
    return page.render(survey=survey, place=place_of(address), tickets=tickets(address, codes), style=style)


def place_of(address: str) -> str:
    """Where people type the code: the address of the survey without its digest and scheme."""
    return address.partition("#")[0].partition("://")[2] or address.partition("#")[0]


@cache
def _templates() -> Environment:
    return Environment(loader=PackageLoader("deniable_server", "pages/templates"), autoescape=True)
