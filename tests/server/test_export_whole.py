"""Exports are there whole or not at all, and a broken one is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable_server.errors import ExportError
from deniable_server.export import opened
from deniable_server.export.write import writing
from deniable_server.storage import Row, open_storage
from tests.helpers.exports import DAMAGES, adopt, contents_of, damage, deniable, example, fill, filled, small_export

PEOPLE = 200


def test_an_export_is_never_overwritten(tmp_path: Path) -> None:
    """A folder with anything in it is refused and left as it is; an empty one is filled."""
    filled(str(tmp_path / "a.db"), example(), PEOPLE)
    words = ["export", "campus-health", "--database", tmp_path / "a.db", "--to"]
    tmp_path /= "exports"
    (tmp_path / "empty").mkdir(parents=True)
    assert f"{PEOPLE:,} submissions in 1 file" in " ".join(deniable(*words, tmp_path / "empty").split())
    before = (tmp_path / "empty" / "export.json").read_bytes()
    assert "is not overwritten" in deniable(*words, tmp_path / "empty", status=1)
    assert (tmp_path / "empty" / "export.json").read_bytes() == before
    assert "cannot be written" in " ".join(deniable(*words, tmp_path / "empty" / "export.json" / "x", status=1).split())
    (tmp_path / ".again.partial").mkdir()
    assert "broke off" in deniable(*words, tmp_path / "again", status=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".again.partial", "empty"]


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """An error half-way leaves neither the folder nor a part of it."""
    document = example()

    with suppress(RuntimeError), writing(tmp_path / "export", document, 10, 20) as writer:
        fill(writer, 50)
        raise RuntimeError
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_broken_export_is_refused(how: str, tmp_path: Path) -> None:
    """Whatever is missing, cut, altered or foreign is noticed, and reported in one sentence."""
    folder = small_export(tmp_path / "export")
    deniable("estimate", "--from", folder)
    damage(folder, how)
    with pytest.raises(ExportError, match=DAMAGES[how]), opened(str(folder)) as engine:
        engine.statistics()
    assert len(deniable("estimate", "--from", folder, status=1).strip().splitlines()) <= 4


def test_other_columns_are_refused(tmp_path: Path) -> None:
    """A file whose columns are not the survey's, under a manifest that fits it, is refused before it is counted."""
    folder = small_export(tmp_path / "export")
    path = folder / "reports" / "part-00001.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["stress"]), path)
    adopt(folder)
    with pytest.raises(ExportError, match="other columns"), opened(str(folder)):
        pass


def test_an_export_that_is_killed_cannot_be_taken_for_one(tmp_path: Path) -> None:
    """A killed export leaves files under another name, which are refused; the next export says to delete them."""
    database, rng = tmp_path / "a.db", np.random.default_rng(1)
    storage = open_storage(str(database))
    storage.publish(example())
    survey = storage.find("campus-health")
    assert survey is not None
    some = [json.dumps(each, separators=(",", ":")) for each in contents_of(survey.document, 100, rng)]
    for _ in range(5):
        storage.accept(survey, [Row(rng.bytes(16), some[i % 100]) for i in range(10_000)])
    storage.close()
    words = ["export", "campus-health", "--database", str(database), "--to", str(tmp_path / "export")]
    process = subprocess.Popen([sys.executable, "-m", "deniable_server", *words])
    partial = tmp_path / ".export.partial"
    while not (partial / "published.json").exists():
        assert process.poll() is None
    process.kill()
    process.wait()
    assert partial.exists() and not (tmp_path / "export").exists()
    assert "has no export.json" in " ".join(deniable("estimate", "--from", partial, status=1).split())
    assert "delete it and try again" in " ".join(deniable(*words, status=1).split())


LIMITED = """
import resource, sys
from pathlib import Path
from tests.helpers.exports import example, fill
from deniable_server.export.write import writing
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
with writing(Path(sys.argv[1]), example()) as writer:
    fill(writer, 3_000)
    writer.finish("open")
"""


def test_a_full_disk_is_said(tmp_path: Path, root: Path) -> None:
    """If a file cannot be written, the message says why, and nothing is left behind."""
    environment = {**os.environ, "PYTHONPATH": str(root / "tests")}
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "export")]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "could not be written: File too large. Nothing was left behind." in run.stderr
    assert not [*tmp_path.iterdir()]
