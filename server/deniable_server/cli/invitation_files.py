"""Tables of people and codes: read and written on the machine of the person who sends invitations.

May not: overwrite a file, or let others on the machine read what it writes.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deniable_server.errors import BadInvitations
from deniable_server.storage.invitations import code_in

DELIMITERS = ",;\t"


@dataclass(frozen=True)
class Sheet:
    """A table. Without a header it has no names of columns."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","

    def codes(self) -> list[str | None]:
        """The code in each row, by itself or in a link, in whichever column; None where there is none."""
        return [next((code for cell in row if (code := code_in(cell))), None) for row in self.rows]

    def only(self, chosen: Sequence[bool]) -> Sheet:
        """The rows for which this is true."""
        rows = [row for row, wanted in zip(self.rows, chosen, strict=True) if wanted]
        return Sheet(self.header, rows, self.delimiter)

    def with_columns(self, **columns: Sequence[str]) -> Sheet:
        """The same with these columns added. BadInvitations where it has one of that name."""
        if taken := sorted({*columns} & {name.strip().lower() for name in self.header}):
            raise BadInvitations(
                f"The file has a column {taken[0]} already. Rename it, or start from the file of names."
            )
        width = len(self.header)
        added = zip(*columns.values(), strict=True)
        rows = [
            [*row, *[""] * (width - len(row)), *each] if width else [*row, *each]
            for row, each in zip(self.rows, added, strict=True)
        ]
        return Sheet([*self.header, *columns], rows, self.delimiter)

    def as_csv(self) -> str:
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerows(
            [self.header, *self.rows] if self.header else self.rows
        )
        return text.getvalue()


def read_sheet(file: Path) -> Sheet:
    """The table in a file: separated by commas, semicolons or tabs, in UTF-8. The first line has the names of its
    columns, unless there is a code in it.
    """
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInvitations(f"{file} is not text in UTF-8. Save it as CSV UTF-8.") from None
    first = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))
        ]
    except csv.Error:
        raise BadInvitations(f"{file} is not a CSV file.") from None
    if rows and any(map(code_in, rows[0])):
        return Sheet([], rows, delimiter)
    if len(rows) < 2:
        raise BadInvitations(f"{file} has no lines below the names of its columns.")
    return Sheet(rows[0], rows[1:], delimiter)


def refuse_taken(*files: Path | None) -> None:
    """BadInvitations where one of these exists: before codes are made that would be lost."""
    for file in files:
        if file is not None and os.path.lexists(file):
            raise _taken(file)


def _taken(file: Path) -> BadInvitations:
    return BadInvitations(f"{file} exists already, and is not overwritten. Use another name.")


def write_new(file: Path, text: str) -> None:
    """Write a new file that only its owner can read: who has a code can answer."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="") as target:
            target.write(text)
            target.flush()
            os.fsync(descriptor)
    except FileExistsError:
        raise _taken(file) from None
    except OSError as error:
        raise BadInvitations(f"{file} cannot be written: {error.strerror}.") from None
