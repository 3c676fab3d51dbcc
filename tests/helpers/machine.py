"""Where the repository is, and what happens when a part of the machine is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]


def missing(part: str) -> NoReturn:
    """Skip because a part of the machine is missing; in CI, where nothing may be missing, fail instead."""
    if os.environ.get("DENIABLE_REQUIRE_ALL") == "1":
        pytest.fail(f"{part} is missing, and DENIABLE_REQUIRE_ALL=1 allows no skips")
    pytest.skip(f"{part} is missing on this machine")
