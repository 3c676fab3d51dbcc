"""Exports are there whole or not at all, and a broken one is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from deniable_server.lake import ExportError, opened
from deniable_server.lake.export import writing
from lakes import DAMAGES, adopt, damage, deniable, example, fill, filled, small_export

PEOPLE = 200


def test_an_export_is_never_overwritten(tmp_path: Path) -> None:
    """A folder with anything in it is refused and left as it is; an empty one is filled."""
    filled(str(tmp_path / "a.db"), example(), PEOPLE)
    words = ["export", "campus-health", "--database", tmp_path / "a.db", "--to"]
    tmp_path /= "exports"
    (tmp_path / "empty").mkdir(parents=True)
    assert f"{PEOPLE:,} submissions in 1 file" in deniable(*words, tmp_path / "empty")
    before = (tmp_path / "empty" / "export.json").read_bytes()
    assert "is not overwritten" in deniable(*words, tmp_path / "empty", status=1)
    assert (tmp_path / "empty" / "export.json").read_bytes() == before
    assert "cannot be written" in deniable(*words, tmp_path / "no" / "such", status=1)
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
    """Whatever is missing, cut, altered or foreign is noticed, and said in one sentence."""
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
    pq.write_table(pq.read_table(path).drop_columns(["vaped"]), path)
    adopt(folder)
    with pytest.raises(ExportError, match="other columns"), opened(str(folder)):
        pass
