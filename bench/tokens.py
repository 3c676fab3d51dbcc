"""Tokens per second on one core, compared with OpenSSL's signatures by a key of the same size in the same run.

    python bench/tokens.py [--rounds N] [--json FILE]

Signing is what a server does once for each invitation. OpenSSL's rate, through ``cryptography``, is measured in turn
with ours, several rounds, and the best round counts, so that a busy machine slows both equally. It exits with 1 if
fewer than 100 signatures are made in a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.serialization import load_der_private_key

from deniable_protocol.blind_signatures import Blinding, verify_token
from deniable_server.issuing import IssuerKey

PROMISED = 100
ROUND_SECONDS = 0.4
PSS = padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=48)


def steps() -> dict[str, Callable[[], Any]]:
    """One call each, with one key."""
    secret = IssuerKey.generate()
    key, blinding = secret.public, Blinding.draw(secret.public)
    blind_signature = secret.sign(blinding.blinded)
    token = blinding.finish(key, blind_signature)
    other: Any = load_der_private_key(secret.dump(), None)
    public = other.public_key()
    return {
        "sign, the issuer": lambda: secret.sign(blinding.blinded),
        "sign, OpenSSL": lambda: other.sign(token.message, PSS, hashes.SHA384()),
        "verify, the server": lambda: verify_token(key, token),
        "verify, OpenSSL": lambda: public.verify(token.signature, token.message, PSS, hashes.SHA384()),
        "blind, the device": lambda: Blinding.draw(key),
        "finish, the device": lambda: blinding.finish(key, blind_signature),
    }


def rate(call: Callable[[], Any]) -> float:
    """Calls per second over one short round."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < ROUND_SECONDS:
        call()
        count += 1
    return count / elapsed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    calls = steps()
    best = dict.fromkeys(calls, 0.0)
    for _ in range(options.rounds):
        for name, call in calls.items():
            best[name] = max(best[name], rate(call))
    ratio = best["sign, OpenSSL"] / best["sign, the issuer"]
    for name, found in best.items():
        print(f"{name:20} {found:9,.0f} a second")
    print(f"OpenSSL signs {ratio:.1f} times as fast. Promised: {PROMISED} signatures a second")
    if options.json:
        options.json.write_text(json.dumps({"per_second": best, "openssl_is_times_faster": ratio}, indent=1) + "\n")
    sys.exit(best["sign, the issuer"] < PROMISED)


if __name__ == "__main__":
    main()
