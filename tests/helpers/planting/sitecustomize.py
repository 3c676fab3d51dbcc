"""Python runs this at its start where this folder is on its path: it plants the faults that PLANTED_FAULT names."""

from __future__ import annotations

import importlib
import os
import traceback

try:
    for fault in os.environ["PLANTED_FAULT"].split(","):
        module, _, function = fault.partition(":")
        getattr(importlib.import_module(module), function)()
except BaseException:
    traceback.print_exc()
    os._exit(3)  # or Python would go on without the fault
