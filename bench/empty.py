"""Endpoints that do nothing, as references for what a server could do at most."""

from __future__ import annotations

from flask import Flask
from granian.rsgi import HTTPProtocol, Scope  # type: ignore[attr-defined]  # its documented names

app = Flask("empty")


@app.post("/api/v1/surveys/bench/submissions")
def nothing() -> str:
    return ""


class Raw:
    """Without Flask, and without a thread: as little as granian can be asked for. The body is read."""

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        await protocol()
        protocol.response_bytes(201, [("content-type", "application/json")], b"{}")


raw = Raw()
