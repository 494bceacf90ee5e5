"""What a table counts is the sum of what each of its records counts alone, in Parquet with statistics and in memory."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp._queries import enumerate_keys
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

NAN, INFINITE = float("nan"), float("inf")
CONDITIONS = ("x > 64", "x <= 64", "x = 20", "x <> 20", "x BETWEEN 10 AND 30", "x IS NULL", "NOT x > 64", "x * 2 > 3")
FLOATS = (NAN, None, 20.0, 100.0, INFINITE, -INFINITE, -0.0)


def answers(table, condition, folder=None, **options):
    """Yes and no, of the table in memory or of a file with the statistics that most writers write."""
    if folder is not None:
        pq.write_table(table, folder / "t.parquet", **options)
        table = folder / "t.parquet"
    opened = open_table(table)
    found = count_records(opened, condition=read_condition(condition, opened.columns))
    return int(found.yes[0]), int(found.no[0])


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_record_decides_what_nan_is(kind, condition, tmp_path):
    alone = {value: answers(pa.table({"x": pa.array([value], kind)}), condition) for value in FLOATS}
    for others in itertools.chain(itertools.combinations(FLOATS[1:], 1), itertools.combinations(FLOATS[1:], 2), [()]):
        values = [NAN] * 50 + list(others)
        table = pa.table({"x": pa.array(values, kind)})
        expected = tuple(sum(alone[value][side] for value in values) for side in (0, 1))
        assert answers(table, condition) == expected
        assert answers(table, condition, tmp_path) == expected
        assert answers(table, condition, tmp_path, row_group_size=20) == expected


def test_nan_is_no_key_whoever_else_is_there(tmp_path):
    for others in ([], [20.0], [INFINITE], [None]):
        pq.write_table(pa.table({"x": pa.array([NAN] * 50 + others, pa.float64())}), tmp_path / "t.parquet")
        assert enumerate_keys(open_table(tmp_path / "t.parquet"), ["x"]).counts.tolist() == [1] * (others == [20.0])


def decimals(values, precision, scale=0):
    """Decimals as no library would write them: with more digits than their type has."""
    whole = [value % (1 << 128) for value in values]
    words = np.array([part for value in whole for part in (value % (1 << 64), value >> 64)], dtype=np.uint64)
    kind = pa.decimal128(precision, scale)
    return pa.table({"x": pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(words)])})


@pytest.mark.parametrize("precision", [1, 4, 9, 18, 19, 37, 38])
def test_a_decimal_of_too_many_digits_is_null_and_touches_no_other(precision):
    largest = 10**precision - 1
    bad = [v for v in (10**precision, -(10**precision), 2**70, -(2**127), 2**127 - 1) if abs(v) > largest]
    good = [1, 0, -1, largest, -largest]
    for value in bad:
        values = [1, *[0] * 2047, *([value, *[0] * 2047] * 3)]
        assert answers(decimals(values, precision), "x = 1") == (1, len(values) - 4)
        assert answers(decimals([*good, value], precision), "x IS NULL") == (1, len(good))
    table = decimals([*bad, *good, *bad], precision)
    assert answers(table.slice(len(bad), len(good)), "x IS NULL") == (0, len(good))


def test_digests_never_fail_for_one_category_or_record_more():
    def named(first, count):
        indices = pa.array(range(count), pa.int8())
        return pa.DictionaryArray.from_arrays(indices, pa.array([f"{first}{n}" for n in range(count)]))

    def runs(length):
        return pa.RunEndEncodedArray.from_arrays(pa.array([length], pa.int16()), pa.array(["a"]))

    def lists(*values):
        return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values))

    tables = [pa.chunked_array([named("a", 100), named("b", count)]) for count in (27, 28, 29, 100)]
    tables += [pa.chunked_array([runs(20_000), runs(length)]) for length in (12_767, 12_768, 30_000)]
    tables += [pa.chunked_array([lists([1], [2]), lists([1], last)]) for last in ([2], [3])]
    for column in tables:
        opened = open_table(pa.table({"x": column}))
        assert opened.digest()
        assert count_records(opened).total.tolist() == [len(column)]
    digests = [open_table(pa.table({"x": column})).digest() for column in tables[:-2]]
    assert len(set(digests)) == len(digests)
