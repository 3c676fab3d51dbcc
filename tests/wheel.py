"""Builds the wheel and runs the tests of the base install against it, in a clean environment without the extras. Then
it reads results from a real server there.

The tests and vectors are copied away from the repository, so that only the installed wheel can be imported.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT)
        (wheel,) = (folder / "dist").glob("*.whl")
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        constraints = ("--constraint", ROOT / "constraints.txt")
        install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *constraints)
        run(*install, wheel)
        installed = subprocess.run(
            [python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True
        ).stdout.lower()
        names = {line.partition("==")[0] for line in installed.split()} - {"pip", "setuptools", "wheel"}
        if names != {"deniable", "msgspec"}:
            sys.exit(f"the base install brings more than msgspec: {sorted(names)}")
        run(*install, "pytest", "pytest-timeout", "hypothesis", "trustme")
        shutil.copytree(ROOT / "shared" / "vectors", folder / "away" / "shared" / "vectors")
        for file in (
            "pyproject.toml",
            "shared/PROTOCOL.md",
            "docs/python-client.md",
            "docs/results.md",
        ):  # pages that tests hold to the code
            (folder / "away" / file).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / file, folder / "away" / file)
        for part in ("__init__.py", "conftest.py", "helpers", "protocol", "client"):
            source, target = ROOT / "tests" / part, folder / "away" / "tests" / part
            target.parent.mkdir(exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=folder / "away")
        read_results(python, folder)


READER = """
import sys, deniable
link, token, shared = sys.argv[1:]
results = deniable.Results(link, token=token)
found = results.estimates(by="campus")
assert found.to_dict() == deniable.Results(shared).estimates(by="campus").to_dict() and found.n == 300
for each in (found, results.compare("vaped", by="campus"), results.crosstab("vaped", "stress"), results.plan()):
    assert str(each) and each.rows() and "<table" in each._repr_html_()
missing = 0
for needs_more in (found.to_pandas, found.to_polars, found.plot, lambda: deniable.Results("a.db")):
    try:
        needs_more()
    except deniable.MissingPackage as error:
        missing += "pip install" in str(error)
assert missing == 4 and "numpy" not in sys.modules
"""


def read_results(python: Path, folder: Path) -> None:
    """A real server, which runs here with everything it needs, and its results in the environment without extras."""
    sys.path.insert(0, str(ROOT))
    from tests.helpers.analysis import analysed

    with analysed(folder, people=300) as server:
        run(python, "-c", READER, f"{server.base}/surveys/campus-health", server.token, server.link, cwd=folder)


def run(*command: object, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


if __name__ == "__main__":
    main()
