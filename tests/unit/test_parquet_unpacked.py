"""What a Parquet file unpacks to decides nothing: a text that it holds once may stand in it any number of times."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp._queries import enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

LONG = "x" * 10**6
COPIES = 2_300
"""Of a text of 10^6 bytes: more than an array of Arrow's holds."""


TEXT = pa.string()


def repeated(copies, *, kind=TEXT):
    listed = pa.array([LONG.encode(), b"a"], pa.binary()).cast(kind)
    return pa.DictionaryArray.from_arrays(pa.array([1, 1] + [0] * copies, pa.int32()), listed)


def listing(copies, kind=TEXT):
    ends = pa.array([0, 1, None, 2, 2 + copies], pa.int32())
    return pa.ListArray.from_arrays(ends, repeated(copies, kind=kind))


def mapped(copies):
    ends = pa.array([0, 1, None, 2, 2 + copies], pa.int32())
    return pa.MapArray.from_arrays(ends, repeated(copies), pa.array(range(2 + copies)))


NESTED = {
    "a list": listing,
    "a list of bytes": lambda copies: listing(copies, pa.binary()),
    "a list of lists": lambda copies: pa.ListArray.from_arrays(pa.array([0, 1, None, 3, 4]), listing(copies)),
    "a structure of a list": lambda copies: pa.StructArray.from_arrays(
        [listing(copies)], names=["a"], mask=pa.array([False, True, False, False])
    ),
    "a structure with a number": lambda copies: pa.StructArray.from_arrays(
        [listing(copies), pa.array(range(4))], names=["a", "b"], mask=pa.array([False, True, False, False])
    ),
    "a map": mapped,
}


@pytest.mark.parametrize("place", ["a file", "a folder"])
@pytest.mark.parametrize("name", NESTED)
def test_no_list_ends_a_question(name, place, tmp_path):
    values = NESTED[name](COPIES)
    (tmp_path / "t").mkdir()
    path = tmp_path / "t" / "t.parquet"
    pq.write_table(pa.table({"age": pa.array(range(len(values))), "l": values}), path, store_schema=False)
    table = open_table(path if place == "a file" else path.parent)
    assert [column.kind for column in table.columns] == [ColumnType.INTEGER, ColumnType.NESTED]
    for text, yes in (("l IS NULL", values.null_count), ("age > 0 AND l IS NOT NULL", 2)):
        assert count_records(table, condition=read_condition(text, table.columns)).yes.tolist() == [yes]


def test_names_with_points_are_columns_of_their_own(tmp_path):
    held = {
        "a.b": ["x", "y", None],
        "a": [{"b": "q"}, None, {"b": None}],
        "a.b.c": [{"d": 1}, {"d": None}, None],
        "l": [[{"k": ["x"]}], [], None],
    }
    pq.write_table(pa.table(held), tmp_path / "t.parquet", store_schema=False)
    table = open_table(tmp_path / "t.parquet")
    for name in held:
        found = count_records(table, condition=read_condition(f'"{name}" IS NULL', table.columns))
        assert found.yes.tolist() == [1], name
    assert count_records(table, groups=read_groups(table, "a.b", ["x", "y", "q"])).total.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"row_group_size": 7}, {"dictionary_pagesize_limit": 9}]
)
@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_texts_are_read_alike_however_they_are_stored(kind, options, tmp_path):
    values = pa.array([b"a", b"b", None, b"ccc", LONG.encode(), b"\xff", LONG.encode() + b"x"] * 9, pa.binary())
    values = pa.Array.from_buffers(pa.string(), len(values), values.buffers()) if kind != pa.binary() else values
    plain = pa.table({"s": values, "n": pa.array(range(len(values)))})
    pq.write_table(plain, tmp_path / "t.parquet", store_schema=False, **options)
    answers = []
    for data in (plain, tmp_path / "t.parquet"):
        table = open_table(data)
        found = count_records(table, condition=read_condition("s IS NULL AND n > 3", table.columns))
        keys = None
        if kind != pa.binary():
            cells = enumerate_keys(table, "s")
            keys = sorted(cells.counts.tolist())
        answers.append((found.yes.tolist(), found.no.tolist(), keys))
    assert answers[0] == answers[1]


MEASURED = """
import re, sys
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
table = open_table(sys.argv[1])
found = count_records(table, condition=read_condition("s = 'a'", table.columns))
print(found.yes.tolist(), found.no.tolist(), *re.findall(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()))
"""
"""The peak of the memory of this program alone: what is noted of a process may begin with that of its parent."""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read where Linux tells it")
def test_memory_is_bounded_by_what_a_file_holds(tmp_path):
    pq.write_table(pa.table({"s": repeated(COPIES)}), tmp_path / "t.parquet", store_schema=False)
    assert (tmp_path / "t.parquet").stat().st_size < 10**6
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path / "t.parquet"], capture_output=True, text=True, check=True
    )
    yes, no, kilobytes = done.stdout.split()
    assert (yes, no) == ("[2]", f"[{COPIES}]")
    assert int(kilobytes) < 1_500_000  # all of them at once are 2.3 GB, and several times that where they are copied
