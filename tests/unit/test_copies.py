"""What an expression comes to in a statement is bounded by a public rule, and found in no more time than it is long."""

import time

import pyarrow as pa
import pytest

from irisdp import BadInput
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition, read_value_of_record
from irisdp._tables.table import open_table

TABLE = pa.table({"x": [1.0, None, 3.0], "s": ["a", None, "b"], "d": pa.array([0, 1, 2], pa.timestamp("us"))})
SECONDS = 20
"""Of the processor, for what takes less than three; without the rule it takes minutes, and twice as long a level."""

NESTED = {
    "ABS": ("ABS(", "x", ")"),
    "FLOOR": ("FLOOR(", "x", ")"),
    "CEIL": ("CEIL(", "x", ")"),
    "a divisor": ("(1 / ", "x", ")"),
    "a remainder": ("(7 % ", "x", ")"),
    "NULLIF": ("NULLIF(", "x", ", 0)"),
    "CAST": ("CAST(CAST(", "x", " AS VARCHAR) AS DOUBLE)"),
    "TRY_CAST": ("TRY_CAST(TRY_CAST(", "x", " AS VARCHAR) AS DECIMAL(18, 2))"),
    "LENGTH": ("LENGTH(CAST(", "x", " AS VARCHAR))"),
    "YEAR": ("YEAR(CAST(CAST(", "x", " AS VARCHAR) AS DATE))"),
    "a subject": ("CASE ", "x", " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 ELSE 5 END"),
    "COALESCE": ("COALESCE(", "x", ", 1)"),
    "BETWEEN": ("CASE WHEN ", "x", " BETWEEN 1 AND 2 THEN 1 ELSE 2 END"),
}


def nested(name, depth):
    before, inside, after = NESTED[name]
    return before * depth + inside + after * depth


@pytest.mark.parametrize("name", NESTED)
def test_what_is_taken_is_answered_soon(name):
    table = open_table(TABLE)
    begun = time.process_time()
    for depth in (3, 6, 10, 16, 40):
        try:
            condition = read_condition(f"{nested(name, depth)} > 0", table.columns)
        except BadInput as error:
            assert error.field == "expression"
            break
        count_records(table, condition=condition)
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize("name", ["ABS", "FLOOR", "NULLIF", "CAST", "a subject", "a divisor"])
def test_what_repeats_its_parts_is_refused(name):
    columns = [Column("x", ColumnType.UNTYPED)]
    for depth in (14, 16):
        with pytest.raises(BadInput, match="repeat its parts more than 8192 times"):
            read_condition(f"{nested(name, depth)} > 0", columns)
        with pytest.raises(BadInput, match="repeat its parts more than 8192 times"):
            read_value_of_record(f"CAST({nested(name, depth)} AS VARCHAR)", columns)


def test_a_column_that_is_computed_counts_as_what_it_is_computed_of():
    branches = " ".join(f"WHEN ABS(x) = {place} THEN {place}" for place in range(60))
    _, derivation = read_value_of_record(f"CASE {branches} END", [Column("x", ColumnType.NUMBER)])
    columns = [Column("x", ColumnType.NUMBER), Column("y", ColumnType.INTEGER, derivation)]
    read_condition("y > 1", columns)
    with pytest.raises(BadInput, match="repeat its parts"):
        read_condition(" OR ".join(f"y = {place}" for place in range(100)), columns)


def test_what_is_long_and_flat_is_taken():
    columns = open_table(TABLE).columns
    for text in (
        "+".join(["x / 2"] * 40) + " > 0",
        " AND ".join(["x BETWEEN 1 AND 2"] * 400),
        " OR ".join(f"ABS(x) = {place}" for place in range(600)),
        "CASE x " + " ".join(f"WHEN {place} THEN {place}" for place in range(400)) + " END > 1",
    ):
        assert len(text) <= 10_000
        read_condition(text, columns)


@pytest.mark.parametrize("column", ["s", "d"])
def test_a_list_takes_time_in_proportion_to_its_length(column):
    columns = open_table(TABLE).columns
    spent = []
    for many in (170, 680):
        listed = ", ".join(f"'{1000 + place}-01-01'" for place in range(many))
        begun = time.process_time()
        read_condition(f"{column} IN ({listed})", columns)
        spent.append(time.process_time() - begun)
    assert spent[1] < 8 * spent[0] + 0.5  # sixteen times as long, where each is compared with all
