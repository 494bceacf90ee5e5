"""A published file of answers is read within bounds, whoever wrote it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BadInput
from irisdp._release import rows_of


def test_one_value_that_stands_in_a_billion_places_is_refused(tmp_path):
    path, rows = tmp_path / "t.parquet", 7 * 10**6
    column = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), ["x"])
    pq.write_table(pa.table({"g": column, "answer": column, "end": column}), path, store_schema=False)
    assert path.stat().st_size < 10**5
    with pytest.raises(BadInput, match="more rows \\(7000000\\) than are read from a file of its size") as caught:
        rows_of(path)
    assert caught.value.field == "release"


def test_a_long_text_that_stands_in_many_places_is_held_once(tmp_path):
    path, rows = tmp_path / "t.parquet", 20_000
    column = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), ["x" * 10**6])
    pq.write_table(pa.table({"answer": column}), path, store_schema=False)
    names, found = rows_of(path)
    assert (names, len(found)) == (["answer"], rows)
    assert len({id(answer) for (answer,) in found}) <= 20  # 20 GB otherwise


def test_lists_are_refused(tmp_path):
    pq.write_table(pa.table({"answer": [[1, 2]]}), tmp_path / "t.parquet")
    with pytest.raises(BadInput, match="holds lists"):
        rows_of(tmp_path / "t.parquet")


def test_nothing_is_lost(tmp_path):
    columns = {"g": ["a", None, "é", "a"], "n": [1, 2, None, 2**60], "x": [0.5, None, float("inf"), -0.0]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    names, found = rows_of(tmp_path / "t.parquet")
    assert names == ["g", "n", "x"]
    assert found == list(map(list, zip(*columns.values(), strict=True)))
    pq.write_table(pa.table(columns).slice(0, 0), tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet") == (["g", "n", "x"], [])
