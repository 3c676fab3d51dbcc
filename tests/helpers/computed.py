"""What tests have a computing process compute."""

from __future__ import annotations

import os
from typing import Any

from deniable_server.web.context import compute, here


def about_itself() -> dict[str, Any]:
    """What a computing process has."""
    links = []
    for name in set(os.listdir("/proc/self/fd")) - {"0", "1", "2"}:
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:  # that of the folder itself
            continue
    return {
        "pid": os.getpid(),
        "nice": os.nice(0),
        "sockets": sum(link.startswith("socket:") for link in links),
        "key": here().secret_key,
        "survey": here().storage.find("campus-health") is not None,
        "nested": compute(int, "7"),
    }
