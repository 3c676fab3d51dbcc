"""The address of a survey, from the link that respondents get.

May not: touch the network. Two links to one survey give one address: the ledger compares addresses.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from deniable_protocol.checks import SURVEY_ID

from .errors import AddressError

FORM = "a link to a survey looks like https://example.org/s/survey-id, or https://example.org/s/survey-id#digest"
"""An invitation is behind the digest, after a dot. The code itself is checked where it is used."""
_PATH = re.compile(rf"(?P<base>.*)/(?:s|api/v1/surveys)/(?P<id>{SURVEY_ID.pattern})")
_FRAGMENT = re.compile(r"(?P<digest>[0-9a-fA-F]{64})(?:\.(?P<code>[0-9A-Za-z-]{1,50}))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """Where a survey is published, the digest that its link pins, if any, and the invitation in it, if any.

    Never printed: an invitation is a secret.
    """

    url: str
    survey: str
    digest: str | None
    invitation: str | None = None

    def __repr__(self) -> str:
        return f"<Address {self.url}>"

    @property
    def is_protected(self) -> bool:
        """Whether nobody on the way can read or change what is sent: over https, or within this machine."""
        return is_protected(self.url)


def is_protected(url: str) -> bool:
    """The same for any address."""
    parts = urlsplit(url)
    return parts.scheme == "https" or _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def parse_address(link: str) -> Address:
    """The address in a page link (…/s/<id>) or an API link (…/api/v1/surveys/<id>), with or without a pinned digest. An
    invitation may follow the digest.
    """
    # urlsplit would drop line breaks and tabs without a word.
    if any(character <= " " or character == "\x7f" for character in link):
        raise AddressError(f"the link contains white space; {FORM}")
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError:
        raise AddressError(f"the link is not a URL; {FORM}") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise AddressError(f"the link does not start with http:// or https:// and a host; {FORM}")
    if "@" in parts.netloc:
        raise AddressError(f"the link contains a user name or password, but submissions are anonymous; {FORM}")
    path = _PATH.fullmatch(quote(parts.path, safe="/%:@!$&'()*+,;=~"))
    if path is None:
        raise AddressError(f"the link does not end in /s/ and the id of a survey; {FORM}")
    # A link that lost its digest on the way, or a part of it, is not a link without one.
    pinned = _FRAGMENT.fullmatch(parts.fragment)
    if "#" in link and pinned is None:
        raise AddressError(f"what follows the # is not a digest of 64 hex digits; {FORM}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        host = f"{host}:{port}"
    # The query is left out: it says where a respondent found the link, and the survey does not need to know.
    url = f"{parts.scheme}://{host}{path['base']}/api/v1/surveys/{path['id']}"
    digest, code = (None, None) if pinned is None else (pinned["digest"].lower(), pinned["code"])
    return Address(url, path["id"], digest, code)
