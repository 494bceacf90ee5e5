"""Nothing of a frame that is no column takes part: no index, whose labels are values, nor what is noted of it."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

LABELS = {
    "text and numbers": ["p1", "p2", 3],
    "numbers and text": [1, 2.5, "x"],
    "bytes and text": [b"x", "y", 3],
    "long numbers": [2**70, 1, 2],
    "dates and text": [datetime.date(2024, 1, 1), pd.Timestamp("2024-01-01"), "x"],
    "decimals": [Decimal("1"), 1.5, "x"],
    "half a character": pd.Index(["\ud800", "a", "b"], dtype=object),
    "objects": [object(), 1, ()],
    "the same label": ["a", "a", "a"],
    "several levels": pd.MultiIndex.from_tuples([("a", 1), ("b", "x"), ("c", 2.5)]),
    "categories": pd.CategoricalIndex(["a", 1, "b"]),
    "intervals": pd.Index([pd.Interval(0, 1), pd.Interval(1, 2), "z"], dtype=object),
    "times": pd.DatetimeIndex(["1677-09-22", "2262-04-11", None]),
}


def frame(**options):
    columns = {"x": [1, 2, 3], "s": ["a", "b", "a"], "t": pd.to_datetime(["2024-01-01", None, "2025-01-01"])}
    return pd.DataFrame(columns, **options).astype({"s": "string[pyarrow]"})


def answers(data):
    table = open_table(data)
    found = count_records(table, condition=read_condition("x > 1 AND t IS NOT NULL", table.columns))
    groups = count_records(table, groups=read_groups(table, "s", ["a", "b"])).total.tolist()
    return [(column.name, column.kind) for column in table.columns], found.yes.tolist(), groups, table.digest()


@pytest.mark.parametrize("name", LABELS)
def test_no_label_of_an_index_takes_part(name):
    assert answers(frame(index=LABELS[name])) == answers(frame())


def test_a_label_that_is_called_like_a_column_takes_no_part():
    named = frame(index=pd.Index(["a", 1, 2.5], name="x"))
    assert answers(named) == answers(frame())
    assert answers(frame(columns=pd.Index(["x", "s", "t"], name=object()))) == answers(frame())


def test_what_is_noted_of_a_frame_takes_no_part():
    noted = frame()
    noted.attrs["patient"] = object()
    assert answers(noted) == answers(frame())
    noted["x"].attrs["patient"] = {1: np.nan}
    assert answers(noted) == answers(frame())


def test_a_frame_is_left_as_it_was():
    given = frame(index=LABELS["text and numbers"])
    given.attrs["source"] = "ward"
    before = given.copy()
    answers(given)
    pd.testing.assert_frame_equal(given, before)
    assert given.attrs == {"source": "ward"}


@pytest.mark.parametrize("name", LABELS)
def test_no_label_of_declared_groups_takes_part(name):
    table = open_table(frame())
    declared = pd.DataFrame({"x": [1, 2, 9]}, index=LABELS[name])
    assert count_records(table, groups=read_groups(table, "x", declared)).total.tolist() == [1, 1, 0]
