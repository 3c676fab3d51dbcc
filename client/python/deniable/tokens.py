"""The token of a survey with invitations: how this device gets it, whatever happens on the way.

May not: send anything before it is kept, keep the invitation once the token is there, or print either. All is kept
before each step, so that the next process goes on where this one was stopped:

    nothing kept      draw what blinds the token, and keep it together with the invitation
    blinding kept     ask the server to sign it; the same question again gets the same answer
    answer received   make the token of it, verify it, and keep it instead of the blinding and the invitation
    token kept        use it: it leaves with the submission, and not before
"""

from __future__ import annotations

import time

import msgspec

from deniable_protocol import Document, InvitationError, Problem
from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, Token, from_text, to_text

from .delivery import HEADERS, Turn, chance, remaining
from .errors import Unreachable
from .state import Asked, State
from .transport import Transport, describe
from .verdict import CLOSED, NOT_OPEN, UNKNOWN, USED, Later, Refusal, Signed, TokenVerdict, judge_token

_REFUSED = {
    UNKNOWN: ("unknown", "the server does not know this invitation, or it has expired. Ask for a new one"),
    USED: ("used", "this invitation was used already, perhaps on another device. Ask for a new one"),
    CLOSED: ("closed", "the survey no longer accepts submissions"),
    NOT_OPEN: ("not_open", "the survey is not open yet. Open it again later: this device remembers the invitation"),
}


def token_for(
    document: Document, address: str, state: State, transport: Transport, *, invitation: str | None, timeout: float
) -> Token:
    """The token of this device: the one it has, or one that it asks for now. Tries again for up to ``timeout``.

    InvitationError where there is no invitation, or the server refuses it. Unreachable if there was no answer in time:
    what was sent is kept, and the next call sends the same again.
    """
    assert document.issuer is not None
    kept = state.token(document.digest)
    if invitation is not None and not isinstance(kept, Token):
        asked = Asked(invitation, Blinding.draw(document.issuer))
        kept = state.keep_blinding(document.content, document.digest, asked)
    if kept is None:
        message = "this survey is answered by invitation. Use the link or the code that you were given"
        raise InvitationError([Problem("invitation", "missing", message)])
    if isinstance(kept, Asked):
        kept = _fetch(document.issuer, address, kept, transport, time.monotonic() + timeout)
        state.keep_token(document.digest, kept)
    return kept


def _fetch(issuer: PublicKey, address: str, asked: Asked, transport: Transport, deadline: float) -> Token:
    body = msgspec.json.encode({"invitation": asked.invitation, "blinded": to_text(asked.blinding.blinded)})
    turn = Turn()
    while True:
        verdict = _attempt(address, body, transport, max(remaining(deadline), 0.001))
        if isinstance(verdict, Signed):
            return asked.blinding.finish(issuer, from_text(verdict.signature, BYTES, "signature"))
        if isinstance(verdict, Refusal):
            words = ": ".join(part for part in (verdict.title, verdict.detail) if part)
            reason, message = _REFUSED.get(verdict.kind, ("refused", f"the server refused the invitation: {words}"))
            raise InvitationError([Problem("invitation", reason, message)])
        turn.put_off(time.monotonic(), verdict.after, chance())
        if turn.due >= deadline:
            raise Unreachable(
                f"the server did not give a token for the invitation ({verdict.trouble}). Check the network, then open "
                "the survey again: this device remembers the invitation"
            )
        time.sleep(max(turn.due - time.monotonic(), 0.0))


def _attempt(address: str, body: bytes, transport: Transport, timeout: float) -> TokenVerdict:
    try:
        return judge_token(transport.send("POST", f"{address}/tokens", body, HEADERS, timeout), time.time())
    except OSError as error:
        return Later(describe(error))
