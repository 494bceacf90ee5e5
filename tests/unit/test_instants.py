"""An instant is in UTC however it is written: in text, in typed columns, in conditions and in declared groups.

Every test here failed on what it mends: offsets in text were dropped, and one instant fell on two days.
"""

from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.spark_frames import spark_statement
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

TEXTS = (
    "2023-07-01T00:30:00+01:00",
    "2023-06-30T23:30:00Z",
    "2023-06-30 18:30:00-05:00",
    "2023-07-01T00:30:00+0100",
    "2023-07-01 00:30:00+01",
    "2023-06-30 23:30:00",
    "2023-06-30T23:30",
    " 2023-06-30 23:30:00 ",
)
"""One instant."""

DAY = "DATE '2023-06-30'"
FORMS = (
    f"CAST(t AS TIMESTAMP) < {DAY}",  # none
    *(f"CAST(t AS TIMESTAMP) = '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) = TIMESTAMP '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) >= '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) IN ('2020-01-01', '{text}')" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) BETWEEN '{text}' AND '2023-07-01'" for text in TEXTS),
    *(f"CAST(t AS DATE) = CAST('{text}' AS DATE)" for text in TEXTS),
    f"CAST(t AS DATE) = {DAY}",
    "day(CAST(t AS DATE)) = 30 AND month(CAST(t AS TIMESTAMP)) = 6",
    f"CAST(CAST(t AS TIMESTAMP) AS DATE) = {DAY}",
    "CAST(CAST(t AS TIMESTAMP) AS VARCHAR) = '2023-06-30 23:30:00'",
)
UNTYPED = (*(f"t = TIMESTAMP '{text}'" for text in TEXTS), f"t >= {DAY} AND t < DATE '2023-07-01'", "day(t) = 30")


def tables(folder):
    """Yield every reader's table of one instant written in all ways, and whether it is untyped."""
    (folder / "t.csv").write_text("t,x\n" + "".join(f"{text},\n" for text in TEXTS))
    yield str(folder / "t.csv"), True
    frame = pa.table({"t": TEXTS})
    pq.write_table(frame, folder / "t.parquet")
    yield from ((data, False) for data in (frame, pl.from_arrow(frame), str(folder / "t.parquet")))
    yield frame.to_pandas().astype(object), True
    yield frame.to_pandas().astype("category"), True
    instants = [datetime(2023, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))] * len(TEXTS)
    yield pd.DataFrame({"t": pd.Series(instants, dtype=object)}), True
    yield pa.table({"t": pa.array(instants, pa.timestamp("s", "Europe/London"))}), False


READERS = 8
"""Tables below."""


@pytest.mark.parametrize("number", range(READERS))
def test_every_reader_and_every_form_finds_one_instant(number, tmp_path):
    readers = list(tables(tmp_path))
    assert len(readers) == READERS
    data, untyped = readers[number]
    table = open_table(data)
    for form in (*FORMS, *UNTYPED) if untyped else FORMS:
        expected = 0 if form is FORMS[0] else len(TEXTS)
        found = count_records(table, condition=read_condition(form, table.columns))
        assert (form, found.yes.tolist(), found.no.tolist()) == (form, [expected], [len(TEXTS) - expected])


def test_conditions_and_declared_groups_name_one_instant():
    table = open_table(pa.table({"t": pa.array([datetime(2023, 6, 30, 23, 30)])}))
    for text in TEXTS:
        assert count_records(table, groups=read_groups(table, "t", [text])).total.tolist() == [1]
        assert count_records(table, condition=read_condition(f"t = '{text}'", table.columns)).yes.tolist() == [1]


def test_text_that_is_compared_as_text_stays_text():
    table = open_table(pa.table({"t": TEXTS}))
    for text in TEXTS:
        assert count_records(table, condition=read_condition(f"t = '{text}'", table.columns)).yes.tolist() == [1]


@settings(max_examples=100, deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 2), datetime(2100, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from("T "),
    st.sampled_from(["=", "<", ">="]),
)
def test_one_instant_is_one_question(moment, minutes, between, sign):
    columns = [Column("t", ColumnType.DATE), Column("u", ColumnType.UNTYPED)]
    plain = str(moment)
    shifted = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes))).isoformat(between)
    forms = [f"t {sign} {word}'{text}'" for text in (plain, shifted) for word in ("", "TIMESTAMP ")]
    assert len({read_condition(form, columns).text for form in forms}) == 1
    forms = [f"u {sign} TIMESTAMP '{text}'" for text in (plain, shifted)]
    assert len({read_condition(form, columns).sql() for form in forms}) == 1
    (stated,) = {read_condition(form, columns).text for form in forms}
    assert read_condition(stated, columns).text == stated
    midnight = moment.date()
    forms = [f"t {sign} {day}" for day in (f"'{midnight}'", f"'{midnight} 00:00:00'", f"DATE '{shifted[:10]}'")]
    texts = {read_condition(form, columns).text for form in forms[: 3 if shifted[:10] == str(midnight) else 2]}
    assert len(texts) == 1


@pytest.mark.parametrize("text", ["abc", "2023-02-30", "2023-07-01T00:30:00.1234567", "infinity", ""])
def test_a_date_that_is_none_is_refused(text):
    columns = [Column("t", ColumnType.DATE)]
    for form in (f"t = '{text}'", f"t > DATE '2023-01-01' AND t IN ('{text}')", f"day('{text}') = 1"):
        with pytest.raises(BadInput, match=r"takes .* for a date, .*; write dates as"):
            read_condition(form, columns)


def test_spark_casts_no_text_in_its_session_s_zone():
    columns = [Column("t", ColumnType.UNTYPED)]
    for form in (f"t > {DAY}", "CAST(CAST(CAST(t AS DATE) AS VARCHAR) AS DATE) IS NULL"):
        statement = spark_statement(
            f"SELECT {read_condition(form, columns).sql()} FROM data", {"data": "v"}, {"t": "column_0"}
        )
        depth = form.count("AS DATE") or 1
        assert statement.count("UNIX_MICROS(TRY_CAST(REGEXP_EXTRACT(") == statement.count(" AS TIMESTAMP_LTZ)") == depth
