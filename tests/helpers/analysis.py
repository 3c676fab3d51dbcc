"""A real server with the example survey, answered by the same made-up people in every run, and a notebook that reads
its results.

``python -m tests.helpers.analysis`` executes docs/notebook.ipynb, and writes it with what its cells give.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from nbclient import NotebookClient

from deniable_protocol import randomize
from deniable_server import simulate
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.exports import example, filled
from tests.helpers.machine import ROOT
from tests.helpers.servers import running

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
LINK = "http://127.0.0.1:8000/shared/…"
"""What the notebook has instead of a real link."""
PEOPLE = 6_000


class Analysed(NamedTuple):
    """A server, its database, an access token of the role admin, and a shared link."""

    base: str
    database: Path
    token: str
    link: str


@contextmanager
def analysed(folder: Path, people: int = PEOPLE) -> Iterator[Analysed]:
    """The example survey, with results to read."""
    database = folder / "a.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "randomize", partial(randomize, read=random.Random(19).randbytes))
        survey = filled(str(database), example(), people)
    storage = open_storage(str(database))
    try:
        token, _ = make_token(storage, "admin", "analyst")
        reader, _ = make_token(storage, "reader", "link", surveys={survey: "reader"})
    finally:
        storage.close()
    with running(database, folder / "server.log") as server:
        yield Analysed(server.base, database, token, f"{server.base}/shared/{reader}")


def executed(link: str) -> Any:
    """The notebook with what its cells give, read by this link; raises what a cell raises."""
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    sources = [cell.source for cell in notebook.cells]
    assert sum(LINK in source for source in sources if "Results(" in source) == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(LINK, link) if cell.cell_type == "code" else cell.source
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell, source in zip(notebook.cells, sources, strict=True):
        cell.source = source
        cell.metadata.pop("execution", None)  # when it ran, which is of no interest
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, analysed(Path(folder)) as server:
        nbformat.write(executed(server.link), NOTEBOOK)


if __name__ == "__main__":
    main()
