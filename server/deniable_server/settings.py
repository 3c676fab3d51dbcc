"""Settings: from the environment, each also a flag of ``deniable serve``."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import SettingError
from .storage import sqlite_path
from .storage.sqlite.connections import sync

DEFAULT_DATABASE = "deniable.db"
DEFAULT_BIND = "127.0.0.1:8000"
DEFAULT_MAX_BODY = 16 * 2**20
DEFAULT_MINIMUM_GROUP = 10
MIN_KEY = 32


@dataclass(frozen=True)
class Rate:
    """So many requests from one address in a second, a minute or an hour."""

    requests: int
    unit: str

    @property
    def seconds(self) -> int:
        return _UNITS[self.unit]


_UNITS = {"second": 1, "minute": 60, "hour": 3600}


@dataclass(frozen=True)
class Settings:
    """All that an installation can choose."""

    database: str = DEFAULT_DATABASE
    bind: str = DEFAULT_BIND
    secret_key: str | None = None
    base_path: str = ""
    trusted_proxies: int = 0
    allowed_origins: tuple[str, ...] = ("*",)
    rate_limit: Rate | None = None
    max_body_bytes: int = DEFAULT_MAX_BODY
    minimum_group: int = DEFAULT_MINIMUM_GROUP

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """DENIABLE_DATABASE and the others; SettingError for one that does not fit."""

        def get(name: str, default: str) -> str:
            return environment.get(f"DENIABLE_{name}", "").strip() or default

        return cls(
            database=get("DATABASE", DEFAULT_DATABASE),
            bind=get("BIND", DEFAULT_BIND),
            secret_key=get("SECRET_KEY", "") or None,
            base_path=_base_path(get("BASE_PATH", "")),
            trusted_proxies=_whole("--trusted-proxies (DENIABLE_TRUSTED_PROXIES)", get("TRUSTED_PROXIES", "0"), 0, 10),
            allowed_origins=_origins(get("ALLOWED_ORIGINS", "*")),
            rate_limit=parse_rate(get("RATE_LIMIT", "off")),
            max_body_bytes=_whole(
                "--max-body-bytes (DENIABLE_MAX_BODY_BYTES)", get("MAX_BODY_BYTES", str(DEFAULT_MAX_BODY)), 1_000, 2**30
            ),
            minimum_group=parse_minimum_group(get("MINIMUM_GROUP", str(DEFAULT_MINIMUM_GROUP))),
        )

    def to_environment(self) -> dict[str, str]:
        """The same as an environment, for processes that are started to serve."""
        rate = self.rate_limit
        environment = {
            "DATABASE": self.database,
            "BIND": self.bind,
            "BASE_PATH": self.base_path,
            "TRUSTED_PROXIES": str(self.trusted_proxies),
            "ALLOWED_ORIGINS": " ".join(self.allowed_origins) or "none",
            "RATE_LIMIT": "off" if rate is None else f"{rate.requests}/{rate.unit}",
            "MAX_BODY_BYTES": str(self.max_body_bytes),
            "MINIMUM_GROUP": str(self.minimum_group),
        } | ({} if self.secret_key is None else {"SECRET_KEY": self.secret_key})
        return {f"DENIABLE_{name}": value for name, value in environment.items()}

    @property
    def sqlite_path(self) -> Path | None:
        """The file of an SQLite database."""
        return sqlite_path(self.database)

    @property
    def key_file(self) -> Path | None:
        """Where the secret key is kept when the environment has none: beside the database, and never in it or in its
        backups, which would let whoever has one forge sessions.
        """
        return None if self.sqlite_path is None else self.sqlite_path.with_name(self.sqlite_path.name + ".key")

    def ensure_secret_key(self, shared: str | None = None) -> str:
        """The secret key: the one that was set, the one that all servers of the database share, or one that is made and
        kept in a file on first use.
        """
        if self.secret_key is not None:
            if len(self.secret_key) < MIN_KEY:
                raise SettingError(f"DENIABLE_SECRET_KEY must have at least {MIN_KEY} characters")
            return self.secret_key
        if shared is not None:
            return shared
        path = self.key_file
        if path is None:
            raise SettingError("DENIABLE_SECRET_KEY must be set, the same for all servers of one database")
        try:
            if not path.exists():
                _keep(secrets.token_hex(32), path)
            key = path.read_text().strip()
        except OSError as error:
            raise SettingError(f"The secret key cannot be kept in {path}: {error.strerror}") from None
        if len(key) < MIN_KEY:
            raise SettingError(f"{path} holds no secret key; remove it, and a new one is made")
        return key


def _keep(key: str, path: Path) -> None:
    """A file for its owner only that is there whole or not at all, also after a power cut; the first that is made
    stays.
    """
    descriptor, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(partial, path)
        except FileExistsError:
            return
        except OSError:  # a file system without links
            os.replace(partial, path)
        sync(path.parent)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def parse_bind(text: str) -> tuple[str, int]:
    """HOST:PORT as its two parts; an IPv6 host stands in brackets."""
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not host or not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise SettingError("--bind (DENIABLE_BIND) takes HOST:PORT, such as 127.0.0.1:8000 or [::]:8000")
    return host, int(port)


def parse_rate(text: str) -> Rate | None:
    """A rate such as "60/minute", or "off"."""
    if text == "off":
        return None
    match = re.fullmatch(rf"([1-9][0-9]{{0,8}})/({'|'.join(_UNITS)})", text)
    if match is None:
        raise SettingError('--rate-limit (DENIABLE_RATE_LIMIT) takes "off", or a rate such as 60/minute')
    return Rate(int(match[1]), match[2])


def parse_minimum_group(text: str) -> int:
    """The least number of submissions that a group is shown with."""
    return _whole("--minimum-group (DENIABLE_MINIMUM_GROUP)", text, 1, 10**6)


def _base_path(text: str) -> str:
    path = "/" + text.strip("/") if text.strip("/") else ""
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", path):
        raise SettingError("--base-path (DENIABLE_BASE_PATH) takes a path such as /surveys")
    return path


def _origins(text: str) -> tuple[str, ...]:
    origins = () if text == "none" else tuple(text.split())
    if not all(origin == "*" or re.fullmatch(r"https?://[^/\s]+", origin) for origin in origins):
        raise SettingError(
            "--allowed-origins (DENIABLE_ALLOWED_ORIGINS) takes *, none, or origins such as https://app.example.org"
        )
    return origins


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not text.isdecimal() or not low <= int(text) <= high:
        raise SettingError(f"{name} takes a whole number from {low} to {high}")
    return int(text)
