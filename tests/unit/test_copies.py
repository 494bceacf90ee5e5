"""What was published can be pickled, copied and taken apart, and no record is in it."""

import copy
import dataclasses
import pickle

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp.errors import BadInput
from irisdp.queries import open_table
from irisdp.release import plan, plan_batch
from irisdp.release.batches.publishing import foresee_batch

CANARY = "canary-9f4c1e"
RECORDS = pa.table({"g": ["a", "a", "b"], "name": [CANARY] * 3})
CONNECTION = duckdb.connect()


def as_csv(folder):
    (folder / "t.csv").write_text(f"g,name\na,{CANARY}\na,{CANARY}\nb,{CANARY}\n")
    return folder / "t.csv"


def as_parquet(folder):
    pq.write_table(RECORDS, folder / "t.parquet")
    return folder / "t.parquet"


FORMS = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda folder: RECORDS.to_pandas(),
    "objects": lambda folder: pd.DataFrame(RECORDS.to_pydict(), dtype=object),
    "polars": lambda folder: pl.from_arrow(RECORDS),
    "lazy": lambda folder: pl.from_arrow(RECORDS).lazy(),
    "pyarrow": lambda folder: RECORDS,
    "duckdb": lambda folder: CONNECTION.from_arrow(RECORDS),
}


def every_way_out(thing):
    """Yield what pickles, copies and dictionaries hold, as bytes."""
    yield repr(thing).encode()
    yield str(thing).encode()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps(thing, protocol)
    for made in (copy.copy(thing), copy.deepcopy(thing), dataclasses.asdict(thing), dataclasses.astuple(thing)):
        yield repr(made).encode()
        yield pickle.dumps(made)
    yield repr(getattr(thing, "__dict__", {})).encode()
    yield repr([getattr(thing, field.name) for field in dataclasses.fields(thing)]).encode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{"groups": ["a", "b"]}, {"select_groups": True, "delta": "1e-6"}, None], ids=str)
def test_no_record_is_in_a_publication_a_plan_or_a_table(tmp_path, form, options):
    data = FORMS[form](tmp_path)
    asked = {} if options is None else {"by": "g", **options}
    published = irisdp.publish(data, "count", "name <> 'x'", **asked, epsilon=1, ledger=tmp_path / "l.ledger")
    planned = plan(data, "count", "name <> 'x'", **asked, epsilon=1)
    for thing in (published, planned, published.plan, open_table(data), published.plan.table):
        for seen in every_way_out(thing):
            assert CANARY.encode() not in seen
    batch = {
        "budget": {"epsilon": 1, "delta": "1e-6"},
        "questions": [{"query": "count", "expression": "name <> 'x'", **asked}],
    }
    answered = irisdp.batch(batch, data=data, ledger=tmp_path / "b.ledger")
    foreseen = foresee_batch(batch, data=data, ledger=tmp_path / "b.ledger")
    for thing in (answered, answered.plan, plan_batch(batch, data=data), foreseen, foreseen.plan):
        for seen in every_way_out(thing):
            assert CANARY.encode() not in seen
    again = pickle.loads(pickle.dumps(published))
    assert again.to_document() == published.to_document()
    assert again.plan.question() == published.plan.question() == planned.question()


@pytest.mark.parametrize("form", FORMS)
def test_a_publication_and_copies_of_a_plan_cannot_be_read(tmp_path, form):
    data = FORMS[form](tmp_path)
    published = irisdp.publish(data, "count", epsilon=1, ledger=tmp_path / "l.ledger")
    for table in (published.plan.table, pickle.loads(pickle.dumps(plan(data, "count", epsilon=1))).table):
        with pytest.raises(BadInput, match="not carried along"):
            table.digest()
        with pytest.raises(BadInput, match="not carried along"):
            table.run("SELECT * FROM data", table.columns)
