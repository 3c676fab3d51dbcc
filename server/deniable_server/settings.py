"""Settings: one table, from which come the environment variables, the flags of ``deniable serve`` and their help."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .errors import SettingError
from .storage.files import sync
from .storage.location import Location, locate

DEFAULT_MINIMUM_GROUP = 10
MIN_KEY = 32
LOCALHOST = "localhost"
"""Among allowed origins: pages from the visitor's own machine, on any port."""


@dataclass(frozen=True)
class Rate:
    """So many submissions, or wrong tokens, from one address in a second, a minute or an hour."""

    number: int
    unit: str

    @property
    def seconds(self) -> int:
        return _UNITS[self.unit]

    def __str__(self) -> str:
        return f"{self.number}/{self.unit}"


_UNITS = {"second": 1, "minute": 60, "hour": 3600}


# --- parsers: ValueError for a text that does not fit -----------------------------------------------------------------


def _bind(text: str) -> str:
    _split(text)
    return text


def _split(bind: str) -> tuple[str, int]:
    host, separator, port = bind.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not host or not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise ValueError
    return host, int(port)


def _base_path(text: str) -> str:
    path = "/" + text.strip("/") if text.strip("/") else ""
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", path):
        raise ValueError
    return path


def _origins(text: str) -> tuple[str, ...]:
    origins = () if text == "none" else tuple(text.split())
    if not all(origin in ("*", LOCALHOST) or re.fullmatch(r"https?://[^/\s]+", origin) for origin in origins):
        raise ValueError
    return origins


def _rate(text: str) -> Rate | None:
    if text == "off":
        return None
    match = re.fullmatch(rf"([1-9][0-9]{{0,8}})/({'|'.join(_UNITS)})", text)
    if match is None:
        raise ValueError
    return Rate(int(match[1]), match[2])


def _whole(low: int, high: int) -> dict[str, Any]:
    def parse(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    return {"parse": parse, "takes": f"a whole number from {low} to {high}"}


# --- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Everything that an installation can choose: each field is a flag (--base-path) and an environment variable
    (DENIABLE_BASE_PATH), but for the key, which is no flag: others on the machine can see those.
    """

    database: str = field(
        default="deniable.db", metadata={"help": "The database: a path, sqlite:///path or postgresql://…"}
    )
    bind: str = field(
        default="127.0.0.1:8000",
        metadata={
            "parse": _bind,
            "takes": "HOST:PORT, such as 127.0.0.1:8000 or [::]:8000",
            "help": "The address to listen at, HOST:PORT.",
        },
    )
    secret_key: str | None = field(default=None, metadata={"flag": None, "help": "The key that signs forms."})
    base_path: str = field(
        default="",
        metadata={
            "parse": _base_path,
            "takes": "a path such as /surveys",
            "help": "Serve under this path, such as /surveys.",
        },
    )
    trusted_proxies: int = field(
        default=0,
        metadata=_whole(0, 10) | {"help": "How many proxies in front of the server may say who sent a request."},
    )
    allowed_origins: tuple[str, ...] = field(
        default=(LOCALHOST,),
        metadata={
            "parse": _origins,
            "write": lambda origins: " ".join(origins) or "none",
            "takes": "*, none, or origins such as https://app.example.org",
            "help": "Other sites whose pages may send submissions, separated by spaces; * for all.",
        },
    )
    rate_limit: Rate | None = field(
        default=None,
        metadata={
            "parse": _rate,
            "write": lambda rate: "off" if rate is None else str(rate),
            "takes": '"off", or a rate such as 60/minute',
            "help": "Most submissions per address, such as 60/minute, in each server process.",
        },
    )
    max_body_bytes: int = field(
        default=16 * 2**20, metadata=_whole(1_000, 2**30) | {"help": "The largest request, in bytes."}
    )
    minimum_group: int = field(
        default=DEFAULT_MINIMUM_GROUP,
        metadata=_whole(1, 10**6) | {"help": "Merge or withhold groups with fewer submissions than this."},
    )
    logo: str = field(
        default="",
        metadata={"help": "A picture for the page of respondents: PNG, JPEG or WebP, at most 200 kB."},
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """DENIABLE_DATABASE and the others; SettingError for one that does not fit."""
        given = {name: environment.get(row.variable, "").strip() for name, row in SETTINGS.items()}
        return cls(**{name: SETTINGS[name].read(text) for name, text in given.items() if text})

    def to_environment(self) -> dict[str, str]:
        """The same as an environment, for the processes that serve."""
        values = {name: getattr(self, name) for name in SETTINGS if name != "secret_key" or self.secret_key}
        return {SETTINGS[name].variable: SETTINGS[name].write(value) for name, value in values.items()}

    @property
    def location(self) -> Location:
        """Where the database is."""
        return locate(self.database)

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
        path = self.location.key_file
        if path is None:
            raise SettingError("DENIABLE_SECRET_KEY must be set, the same for all servers of one database")
        try:
            if not path.exists():
                _keep(secrets.token_hex(32), path)
        except OSError as error:
            raise SettingError(f"The secret key cannot be kept in {path}: {error.strerror}") from None
        return read_key(path)

    def known_secret_key(self) -> str | None:
        """The secret key that was set, or is in its file; None: there is none yet, and none is made."""
        path = self.location.key_file
        if self.secret_key is None and (path is None or not path.exists()):
            return None
        return self.ensure_secret_key()


@dataclass(frozen=True)
class Setting:
    """A row of the table: ``parse`` and ``write`` turn its text into its value and back."""

    name: str
    default: Any
    help: str
    flag: str | None
    takes: str = ""
    parse: Callable[[str], Any] = str
    write: Callable[[Any], str] = str

    @property
    def variable(self) -> str:
        return f"DENIABLE_{self.name.upper()}"

    def read(self, text: str) -> Any:
        """The value; SettingError for a text that does not fit."""
        try:
            return self.parse(text)
        except ValueError:
            raise SettingError(f"{self.flag} ({self.variable}) takes {self.takes}") from None


SETTINGS = {
    each.name: Setting(each.name, each.default, **{"flag": "--" + each.name.replace("_", "-"), **each.metadata})
    for each in fields(Settings)
}


def parse_bind(text: str) -> tuple[str, int]:
    """HOST:PORT as its two parts; an IPv6 host is in brackets."""
    return _split(SETTINGS["bind"].read(text))


def parse_rate(text: str) -> Rate | None:
    """A rate such as "60/minute", or "off"."""
    rate: Rate | None = SETTINGS["rate_limit"].read(text)
    return rate


def parse_minimum_group(text: str) -> int:
    """The least number of submissions that a group is shown with."""
    return int(SETTINGS["minimum_group"].read(text))


def read_key(path: Path) -> str:
    """The secret key in a file; SettingError where there is none in it."""
    try:
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"The secret key in {path} cannot be read") from None
    if len(key) < MIN_KEY:
        raise SettingError(f"{path} has no secret key in it; remove it, and a new one is made")
    return key


def _keep(key: str, path: Path) -> None:
    """Write a file for its owner only, whole or not at all, also after a power cut. An existing file stays."""
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
