"""Python runs this at its start where this folder is on its path: it plants the fault that PLANTED_FAULT names."""

from __future__ import annotations

import importlib
import os
import traceback

module, _, function = os.environ["PLANTED_FAULT"].partition(":")
try:
    getattr(importlib.import_module(module), function)()
except BaseException:
    traceback.print_exc()
    os._exit(3)  # or Python would go on without the fault
