"""Invitations: the keys that sign tokens, the codes, and which uses of a code are taken: the tables ``issuers``,
``invitations`` and ``issued``.

Once: a use is a row with a number from 1 to the uses of its code, and this number is unique. The row is on disk before
anything is signed. It has the digest of the blinded value, so the same value sent again finds its row, and another
value cannot take its place. Signing is repeatable, so signatures are not kept.

Privacy: no code, no time and no name is stored. Codes are kept as digests, which are random, and written in that order.
Until a survey is closed, the rows of ``issued`` may show in which order tokens were fetched. Closing replaces them by
counts.

May not: sign anything, or know which database it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, LiteralString, NamedTuple, TypeAlias

from msgspec import Struct

from deniable_protocol import Document, InvitationError, Survey
from deniable_protocol.blind_signatures import PublicKey
from deniable_protocol.invitations import LINK, TYPED, digest_of_code, draw_code, read_code
from deniable_server.errors import BadInvitations, InvitationUnknown, InvitationUsed, IssuingError, SurveyClosed
from deniable_server.issuing import IssuerKey

from .fieldwork import TAKES, conditions

if TYPE_CHECKING:
    from . import Published, Storage
    from .queries import View
    from .tokens import Writing

MOST_AT_ONCE = 10_000
"""Codes that are made in one transaction."""
MOST_USES = 100_000
"""Of one code that is shared."""

NO_MORE = "It gives no more tokens."

INVITATION = ("survey", "code", "uses", "used", "expires_on", "revoked")
ISSUED = ("survey", "code", "number", "blinded")

_ADD = (
    "INSERT INTO invitations (survey, code, uses, expires_on) VALUES (:survey, :code, :uses, :expires_on)"
    " ON CONFLICT DO NOTHING"
)
# Looks again at what may have changed since it was read.
_TAKE = (
    "INSERT INTO issued (survey, code, number, blinded)"  # noqa: S608 -- our own words
    " SELECT invitations.survey, code, CAST(:number AS INTEGER), :blinded FROM invitations"
    " JOIN surveys ON surveys.number = invitations.survey"
    " WHERE invitations.survey = :survey AND code = :code AND uses >= :number AND revoked = 0"
    f" AND {TAKES.format(now=':now', new=1)}"
    " ON CONFLICT DO NOTHING"
)
COUNT_USES: LiteralString = (
    "UPDATE invitations SET used = (SELECT count(*) FROM {issued} AS given"
    " WHERE given.survey = invitations.survey AND given.code = invitations.code)"
    " WHERE survey = {number} AND code IN (SELECT code FROM {issued} AS given WHERE given.survey = {number})"
)
"""What closing a survey does before it empties ``issued``. It gives no more tokens, so nobody needs to know any longer
which blinded value had which use. ``issued``: the table, or the part of it that is the survey's alone."""

State: TypeAlias = Literal["unused", "used", "revoked", "expired", "unknown"]


class InvitationNumbers(Struct, frozen=True):
    """How many people are invited, and what became of their invitations: a shared code counts as often as it may be
    used. ``made`` is the sum of used, unused, revoked and expired; ``rate`` the share of used ones among those that
    were not revoked. No more than ``unused`` submissions can still be false.
    """

    codes: int
    made: int
    used: int
    unused: int
    revoked: int
    expired: int
    rate: float | None

    @property
    def invited(self) -> int:
        """How many people could have answered: all that were not revoked before they were used."""
        return self.made - self.revoked


class Invitations:
    """The invitations of one storage. A code is given as its SHA-256."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[View]],
        write: Writing,
        today: Callable[[], date],
        now: Callable[[], int],
    ) -> None:
        self._reading, self._write, self._today, self._now = reading, write, today, now
        self._keys: dict[bytes, IssuerKey] = {}  # by what is stored: a survey may be deleted and published again

    # --- keys --------------------------------------------------------------------------------------------------------

    def key(self, survey: str) -> IssuerKey:
        """The key of the survey with this id. IssuingError where it has none."""
        kept = self._kept_key(survey)
        if kept is None:
            raise IssuingError("the key that signs this survey's tokens is missing. Restore it from a backup")
        if kept not in self._keys:
            self._keys[kept] = IssuerKey.load(kept)
        return self._keys[kept]

    def ensure_key(self, survey: str) -> IssuerKey:
        """The same; made and on disk first, where there is none. Of several that make one, all get the same."""
        if self._kept_key(survey) is None:
            made = IssuerKey.generate().dump()
            self._write(
                (
                    "INSERT INTO issuers (survey, key) VALUES (:id, :key) ON CONFLICT DO NOTHING",
                    {"id": survey, "key": made},
                )
            )
        return self.key(survey)

    def issuer_of(self, survey: Survey) -> PublicKey | None:
        """The key to publish a survey with: made when it is first published, and the same each time after that; None
        for a survey without invitations.
        """
        return self.ensure_key(survey.id).public if survey.invitations else None

    def _kept_key(self, survey: str) -> bytes | None:
        with self._reading() as view:
            return kept_key(view, survey)

    # --- codes -------------------------------------------------------------------------------------------------------

    def add(self, survey: Published, codes: Sequence[bytes], uses: int = 1, expires_on: date | None = None) -> None:
        """Keep these codes, all or none: each for so many people, until the end of this day (UTC)."""
        if not 0 < len(codes) <= MOST_AT_ONCE:
            raise BadInvitations(f"Make 1 to {MOST_AT_ONCE:,} invitations at a time.")
        if not 0 < uses <= MOST_USES:
            raise BadInvitations(f"An invitation can be used 1 to {MOST_USES:,} times.")
        if expires_on is not None and expires_on < self._today():
            raise BadInvitations("The last day of an invitation is today (UTC) or later.")
        day = None if expires_on is None else expires_on.isoformat()
        each = {"survey": survey.number, "uses": uses, "expires_on": day}
        self._write(*((_ADD, {**each, "code": code}) for code in sorted(codes)))

    def revoke(self, survey: Published, codes: Iterable[bytes]) -> int:
        """Let these give no more tokens; returns how many of them could until now. Tokens that they gave stay valid:
        nobody knows which these are.
        """
        states = self.states(survey, codes)
        known = sorted(code for code, state in states.items() if state not in ("unknown", "revoked"))
        statement = "UPDATE invitations SET revoked = 1 WHERE survey = :survey AND code = :code"
        if known:
            self._write(*((statement, {"survey": survey.number, "code": code}) for code in known))
        return sum(state == "unused" for state in states.values())

    def states(self, survey: Published, codes: Iterable[bytes]) -> dict[bytes, State]:
        """What became of each of these. A shared code is unused while it can be used once more."""
        wanted = list(codes)
        today = self._today().isoformat()
        with self._reading() as view:
            rows = view.stream(_each(view, survey.number), survey=survey.number)
            found = {bytes(code): _state(row, today) for code, *row in rows}
        return {code: found.get(code, "unknown") for code in wanted}

    def unused(self, survey: Published, codes: Iterable[str]) -> list[str]:
        """Those of these codes, not digests, that can still be used, in their order: for reminders."""
        digests = {code: digest_of_code(code) for code in codes}
        states = self.states(survey, digests.values())
        return [code for code, digest in digests.items() if states[digest] == "unused"]

    def numbers(self, survey: Published) -> InvitationNumbers:
        """How many there are, and how many are used."""
        with self._reading() as view:
            return numbers(view, survey.number, self._today())

    # --- uses --------------------------------------------------------------------------------------------------------

    def take(self, survey: Published, code: bytes, blinded: bytes) -> None:
        """Take a use of a code for this blinded value (its SHA-256): it is on disk when this returns, and not before
        may it be signed. Sent again, it is taken already, even if the last day of the code is over by now.

        SurveyClosed, SurveyNotOpen, InvitationUsed, or InvitationUnknown, which is also raised for revoked and expired
        codes.
        """
        while True:
            number = self._next(survey, code, blinded)
            if number is None:
                return
            values = {"survey": survey.number, "code": code, "number": number, "blinded": blinded, "now": self._now()}
            if self._write((_TAKE, values)):
                return
            # Somebody else has taken this number just now, or the code was revoked, or the survey closed: look again.

    def _next(self, survey: Published, code: bytes, blinded: bytes) -> int | None:
        """The number of the next use of a code; None where this value has one. For each code that gives no token, the
        same is done: how long it takes does not show why.
        """
        values = {"survey": survey.number, "code": code}
        with self._reading() as view:
            table = view.table("issued", survey.number)
            found, now = conditions(view, survey.number), self._now()
            invited = view.rows(
                "SELECT uses, revoked, CAST(expires_on AS TEXT) FROM invitations"
                " WHERE survey = :survey AND code = :code",
                **values,
            )
            taken = view.rows(f"SELECT blinded FROM {table} WHERE survey = :survey AND code = :code", **values)  # noqa: S608 -- our own names
        if found.at(now) != "open":
            raise found.refusal(now, NO_MORE)
        uses, revoked, expires_on = invited[0] if invited else (0, 1, None)
        if not revoked and any(bytes(known) == blinded for (known,) in taken):
            return None
        if revoked or (expires_on is not None and expires_on < self._today().isoformat()):
            raise InvitationUnknown
        if len(taken) >= uses:
            raise InvitationUsed
        return len(taken) + 1


def make_invitations(
    storage: Storage,
    survey: Published,
    number: int,
    *,
    uses: int = 1,
    short: bool = False,
    expires_on: date | None = None,
) -> list[str]:
    """New codes, which are not stored; their digests are, when this returns. ``short``: to be typed by hand."""
    if survey.document.issuer is None:
        raise BadInvitations("This survey has no invitations: everybody can answer it.")
    if storage.status(survey) == "closed":
        raise SurveyClosed(NO_MORE)
    codes = [draw_code(TYPED if short else LINK) for _ in range(min(number, MOST_AT_ONCE + 1))]
    storage.invitations.add(survey, [digest_of_code(code) for code in codes], uses, expires_on)
    return codes


def code_in(text: str) -> str | None:
    """The code that a text is, or that is at the end of a link; None where there is none."""
    try:
        return read_code(text.rpartition(".")[2] if "#" in text else text)
    except InvitationError:
        return None


# --- reading ----------------------------------------------------------------------------------------------------------


def kept_key(view: View, survey: str) -> bytes | None:
    """The private key of a survey, by its id."""
    found = view.rows("SELECT key FROM issuers WHERE survey = :id", id=survey)
    return bytes(found[0][0]) if found else None


def numbers(view: View, survey: int, today: date) -> InvitationNumbers:
    """How many invitations a survey has, and how many are used."""
    sums = (
        "count(*)",
        "sum(used)",
        "sum(CASE WHEN revoked = 1 THEN uses - used END)",
        "sum(CASE WHEN revoked = 0 AND expires_on < :today THEN uses - used END)",
        "sum(uses)",
    )
    asked = ", ".join(f"CAST(coalesce({each}, 0) AS BIGINT)" for each in sums)
    statement = f"SELECT {asked} FROM ({_each(view, survey)}) AS each_one"  # noqa: S608 -- our own names
    ((codes, used, revoked, expired, made),) = view.rows(statement, survey=survey, today=today.isoformat())
    rate = used / (made - revoked) if made > revoked else None
    return InvitationNumbers(codes, made, used, made - used - revoked - expired, revoked, expired, rate)


def _each(view: View, survey: int) -> str:
    """The query for the code, uses, used uses, last day and whether it is revoked, of each invitation."""
    table = view.table("issued", survey)
    return (
        "SELECT invitations.code AS code, uses, used + coalesce(taken, 0) AS used,"  # noqa: S608 -- our own names
        " CAST(expires_on AS TEXT) AS expires_on, revoked FROM invitations"
        f" LEFT JOIN (SELECT code, count(*) AS taken FROM {table} WHERE survey = :survey GROUP BY code) AS counted"
        " ON counted.code = invitations.code WHERE survey = :survey"
    )


def _state(row: Sequence[Any], today: str) -> State:
    uses, used, expires_on, revoked = row
    if used >= uses:
        return "used"
    if revoked:
        return "revoked"
    return "expired" if expires_on is not None and expires_on < today else "unused"


# --- copies and checks ------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """All that a database has about the invitations of one survey, but for its number there: the key, and rows of
    ``invitations`` and ``issued``, by code.
    """

    key: bytes | None
    invitations: list[tuple[Any, ...]]
    issued: list[tuple[Any, ...]]


def kept(view: View, number: int, survey: str, *, closed: bool) -> Kept:
    """What there is of a survey. Of one that is closed, or was being closed, only how often each code was used."""
    table = view.table("issued", number)
    issued = view.rows(
        f"SELECT code, number, blinded FROM {table} WHERE survey = :number ORDER BY code, number",  # noqa: S608 -- our own names
        number=number,
    )
    taken: dict[bytes, int] = {}
    for code, *_ in issued if closed else ():
        taken[bytes(code)] = taken.get(bytes(code), 0) + 1
    invitations = [
        (bytes(code), uses, used + taken.get(bytes(code), 0), expires_on, revoked)
        for code, uses, used, expires_on, revoked in view.rows(
            "SELECT code, uses, used, CAST(expires_on AS TEXT), revoked FROM invitations WHERE survey = :number"
            " ORDER BY code",
            number=number,
        )
    ]
    rows = [] if closed else [(bytes(code), each, bytes(blinded)) for code, each, blinded in issued]
    return Kept(kept_key(view, survey), invitations, rows)


def find_invitation_damage(view: View, number: int, document: Document) -> list[str]:
    """What is wrong with the invitations of a survey: uses without a code, or more than it has, or a wrong key."""
    id_, damage = document.survey.id, []
    table = view.table("issued", number)
    over = view.rows(
        f"SELECT count(*) FROM {table} AS taken LEFT JOIN invitations"  # noqa: S608 -- our own names
        " ON invitations.survey = taken.survey AND invitations.code = taken.code"
        " WHERE taken.survey = :number AND (invitations.code IS NULL OR taken.number > uses - used)",
        number=number,
    )
    if over[0][0]:
        damage.append(f"{id_} has given more tokens than its invitations allow")
    return damage + _key_damage(kept_key(view, id_), document)


def _key_damage(key: bytes | None, document: Document) -> list[str]:
    if document.issuer is None:
        return []
    try:
        same = key is not None and IssuerKey.load(key).public == document.issuer
    except IssuingError:
        same = False
    return [] if same else [f"the key that signs tokens for {document.survey.id} is missing, or another one"]
