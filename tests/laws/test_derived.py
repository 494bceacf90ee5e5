"""Expressions to group by have one form: respelt they are equal, and the form means what was written."""

import datetime
import itertools
import random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import _parse, read_value_of_record
from irisdp._tables.sql_compiler import ConditionCompiler
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

COLUMNS = [
    Column("Age", ColumnType.INTEGER),
    Column("rate", ColumnType.NUMBER),
    Column("name", ColumnType.TEXT),
    Column("born", ColumnType.DATE),
]
RECORDS = list(
    itertools.product(
        [None, -7, 18, 2**53, -(2**63)],
        [None, float("nan"), float("inf"), -0.0, 17.5, 1e300],
        [None, "", "a", "Ab"],
        [None, datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)],
    )
)
TABLE = pa.table(
    dict(
        zip(
            ["Age", "rate", "name", "born"],
            (
                pa.array(column, kind)
                for column, kind in zip(
                    zip(*RECORDS, strict=True), [pa.int64(), pa.float64(), pa.string(), pa.date32()], strict=True
                )
            ),
            strict=True,
        )
    )
)

NAME = st.just(("column", "name"))
TEXTS = st.sampled_from(["a", "child", "it's", ""]).map(lambda word: ("text", word))
number = st.one_of(
    st.sampled_from(["Age", "rate"]).map(lambda name: ("column", name)),
    st.sampled_from([("0", "0.0", ".0"), ("1", "1.0", "10e-1"), ("10", "1e1"), ("18", "18.", "1.8e1")]).map(
        lambda spellings: ("number", spellings)
    ),
    st.sampled_from(["year", "month", "day"]).map(lambda part: (part, ("column", "born"))),
    st.just(("length", ("column", "name"))),
)
arithmetic = st.recursive(
    number,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        st.tuples(st.sampled_from(["neg", "abs", "floor", "ceil"]), inner),
    ),
    max_leaves=4,
)
truth = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), arithmetic, arithmetic),
        st.tuples(
            st.just("="), st.just(("column", "name")), st.sampled_from(["a", "it's", ""]).map(lambda w: ("text", w))
        ),
        st.just(("in", ("column", "name"), ("text", "a"), ("text", "Ab"))),
        st.just(("null", ("column", "born"))),
    ),
    lambda inner: st.one_of(st.tuples(st.sampled_from(["and", "or"]), inner, inner), st.tuples(st.just("not"), inner)),
    max_leaves=3,
)
words = st.one_of(
    st.sampled_from(["a", "child", "it's", ""]).map(lambda word: ("text", word)), st.just(("column", "name"))
)
value = st.one_of(
    truth,
    st.tuples(st.just("floor"), arithmetic),
    st.tuples(st.just("case"), truth, words, st.one_of(words, st.just(("nothing",)))),
    st.tuples(st.just("case"), truth, st.tuples(st.just("floor"), arithmetic), st.just(("column", "Age"))),
)


class Writer:
    """Writes one tree in one of its many spellings."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def write(self, tree):
        written = self.bare(tree)
        for _ in range(self.random.choice([0, 1, 2]) if tree[0] in ("column", "number", "text", "nothing") else 1):
            written = f"({written})"
        return written

    def bare(self, tree):
        kind, *parts = tree
        pick = self.random.choice
        if kind == "column":
            return pick([parts[0], parts[0].upper(), f'"{parts[0].lower()}"'])
        if kind == "number":
            return pick(parts[0])
        if kind == "text":
            return "'" + parts[0].replace("'", "''") + "'"
        if kind == "nothing":
            return pick(["NULL", "null"])
        inner = [self.write(part) for part in parts]
        if kind in ("and", "or"):
            return f" {pick([kind, kind.upper()])} ".join(self.random.sample(inner, len(inner)))
        if kind in ("not", "neg"):
            return {"not": "NOT ", "neg": "- "}[kind] + inner[0]
        if kind == "null":
            return f"{inner[0]} IS NULL"
        if kind == "in":
            listed = self.random.sample(inner[1:], 2) + pick([[], inner[1:2]])
            return f"{inner[0]} in ({', '.join(listed)})"
        if kind == "case":
            otherwise = "" if parts[2] == ("nothing",) and pick([True, False]) else f"else {inner[2]} "
            return f"case\twhen {inner[0]} THEN {inner[1]} {otherwise}end"
        if kind in ("year", "month", "day") and pick([True, False]):
            return f"extract({kind} from {inner[0]})"
        if len(inner) == 1:
            return f"{pick([kind, kind.upper()])}({inner[0]})"
        turned = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(kind)
        if turned is not None and parts[0] != parts[1] and pick([True, False]):
            return f"{inner[1]} {turned} {inner[0]}"
        return f"{inner[0]} {kind} {inner[1]}"


def meaning(tree):
    with duckdb.connect() as connection:
        connection.register("data", TABLE)
        return connection.sql(f"SELECT {tree.sql('duckdb')} AS found FROM data").to_arrow_table()["found"].to_pylist()


@settings(max_examples=tried(40, 100), deadline=None)
@given(value, st.integers(), st.integers())
def test_an_expression_has_one_form_and_keeps_its_meaning(tree, seed, other):
    written, again = Writer(seed).write(tree), Writer(other).write(tree)
    if "column" not in str(tree):
        return
    kind, derivation = read_value_of_record(written, COLUMNS)
    assert (read_value_of_record(again, COLUMNS)[0], read_value_of_record(again, COLUMNS)[1].text) == (
        kind,
        derivation.text,
    )
    assert read_value_of_record(derivation.text, COLUMNS)[1].text == derivation.text
    plain, same = ConditionCompiler(COLUMNS).value(_parse(written))
    assert same is kind
    assert meaning(derivation.tree) == meaning(plain)
