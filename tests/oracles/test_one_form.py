"""Conditions with one text mean one thing: all small conditions on all small records, nulls, NaN and infinities too.

The meaning is computed here from the condition as it was parsed, by the engine, before anything is brought into one
form. So no rule of that form is trusted: conditions that share a text must agree on every record.
"""

import itertools
import random

import duckdb
import pyarrow as pa
import pytest

from irisdp._tables.canonical_sql import one_form, spell
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import _parse, read_condition
from irisdp._tables.sql_compiler import ConditionCompiler
from support.seeds import fresh_generator
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

NUMBERS = [None, float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 64.0]
RECORDS = list(itertools.product(NUMBERS, NUMBERS, [None, "", "a", "b"], [None, True, False]))
TYPED = [
    Column("x", ColumnType.NUMBER),
    Column("y", ColumnType.NUMBER),
    Column("t", ColumnType.TEXT),
    Column("b", ColumnType.BOOLEAN),
]
TABLE = pa.table(dict(zip("xytb", zip(*RECORDS, strict=True), strict=True)))
UNTYPED = [Column(name, ColumnType.UNTYPED) for name in "xytb"]
TEXTS = pa.table({name: [None if v is None else str(v).lower() for v in TABLE[name].to_pylist()] for name in "xytb"})

SIDES = ["x", "y", "x - y", "1", "0 * x", "-x"]
SIGNS = ["=", "<>", "<", "<=", ">", ">="]
COMPARISONS = [f"{one} {sign} {other}" for one, other in itertools.permutations(SIDES, 2) for sign in SIGNS]
OTHERS = [
    "b", "t = 'a'", "'a' < t", "t >= 'a'", "t IN ('a', 'b')", "t IN ('b', 'a', 'b')", "x IN (1, 64)",
    "x IN (64, NULL, 1)",
    "x NOT IN (64, 1)", "x IS NULL", "x IS NOT NULL", "t LIKE 'a%'", "t NOT LIKE 'a%'", "x BETWEEN 0 AND 64",
    "b IS TRUE",
    "b = TRUE", "TRUE", "NULL = x", "CASE WHEN x > y THEN b END", "(x > y) = b", "b = (y < x)", "b <> (NOT x > 1)",
]  # fmt: skip


def meanings(texts, columns, table):
    """Evaluate conditions on every record, in the engine."""
    found = []
    with duckdb.connect() as connection:
        connection.register("data", table)
        for start in range(0, len(texts), 100):
            trees = map(_parse, texts[start : start + 100])
            listed = [ConditionCompiler(columns).condition(tree).sql("duckdb") for tree in trees]
            named = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(listed))
            found += [
                column.to_pylist() for column in connection.sql(f"SELECT {named} FROM data").to_arrow_table().columns
            ]
    return found


def assert_kept(texts, columns=TYPED, table=TABLE):
    """Check that conditions mean what they meant, and that those of one text mean the same; count the texts."""
    read = [read_condition(text, columns) for text in texts]
    for condition in read:
        assert read_condition(condition.text, columns).text == condition.text
        assert read_condition(condition.shown, columns).text == condition.text
    forms = list(dict.fromkeys(condition.text for condition in read))
    meant = dict(zip(forms, meanings(forms, columns, table), strict=True))
    for text, condition, plain in zip(texts, read, meanings(texts, columns, table), strict=True):
        assert meant[condition.text] == plain, text
    return len(forms)


def test_every_comparison_and_its_denial():
    denied = [f"NOT {text}" for text in COMPARISONS] + [f"NOT (NOT ({text}))" for text in COMPARISONS]
    # Each is read from either side, and its denial is another comparison.
    assert assert_kept([*COMPARISONS, *denied]) == len(COMPARISONS) // 2


@pytest.mark.parametrize("deny", ["{}", "NOT ({})", "NOT NOT ({})", "NOT (NOT (NOT ({})))"])
def test_everything_else_and_its_denials(deny):
    assert_kept([deny.format(text) for text in OTHERS])


@pytest.mark.parametrize("connector", ["AND", "OR"])
def test_every_pair_in_both_orders(connector):
    parts = [*OTHERS, "x > 1", "NOT x <= 1", "y < x", "NOT (x = y)"]
    every = tried(6, 1)  # one in so many pairs, each with its other order
    pairs = [
        f"({one}) {connector} ({other})"
        for (i, one), (j, other) in itertools.product(enumerate(parts), repeat=2)
        if (i + j) % every == 0
    ]
    assert assert_kept(pairs) < len(pairs) * 0.6


def test_deep_conditions():
    choose = random.Random(int(fresh_generator(1).integers(2**63)))

    def deep(levels):
        if not levels or choose.random() < 0.1:
            return choose.choice(COMPARISONS + OTHERS)
        form = choose.choice(["({}) AND ({})", "({}) OR ({})", "NOT ({})", "({}) = ({})", "COALESCE({}, {})"])
        return form.format(*(deep(levels - 1) for _ in range(form.count("{}"))))

    assert_kept([deep(3) for _ in range(tried(40, 100))])


def test_untyped_columns_are_read_alike():
    parts = ["x > 1", "NOT 1 >= x", "t = 'a'", "'b' <> t", "x - y <= 0", "t IN ('b', 'a')", "lower(b) = 'true'"]
    texts = [
        f"({one}) {word} NOT ({other})" for one, other in itertools.permutations(parts, 2) for word in ("AND", "OR")
    ]
    assert_kept(texts, UNTYPED, TEXTS)


@pytest.mark.parametrize(
    "forms",
    [
        ["x > 1 AND t = 'a' AND b", "b AND (t = 'a' AND x > 1)", "NOT (NOT (b AND 1 < x)) AND 'a' = t"],
        ["x IN (1, 64)", "x IN (64, 1)", "x IN (64.0, 1, 64)"],
        ["x > 64", "NOT x <= 64", "64 < x", "NOT (64 >= x)", "NOT NOT x > 64"],
        ["t NOT LIKE 'a%'", "NOT t LIKE 'a%'"],
        ["x > 1 OR (y > 1 AND b)", "(b AND y > 1) OR x > 1"],
    ],
)
def test_spellings_of_one_question(forms):
    assert len({read_condition(form, TYPED).text for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x > 1 AND b OR t = 'a'", "x > 1 AND (b OR t = 'a')"),
        ("x > y", "x >= y"),
        ("x - y > 1", "y - x > 1"),
        ("x BETWEEN 0 AND 64", "x BETWEEN 64 AND 0"),
        ("NOT (x > 1 AND b)", "NOT x > 1 AND NOT b"),
        ("CASE WHEN b THEN x > 1 ELSE y > 1 END", "CASE WHEN b THEN y > 1 ELSE x > 1 END"),
        ("NULLIF(x, y) = 1", "NULLIF(y, x) = 1"),
        ("x / y > 1", "y / x > 1"),
    ],
)
def test_other_questions_stay_apart(one, other):
    assert read_condition(one, TYPED).text != read_condition(other, TYPED).text


def test_people_see_the_order_they_wrote():
    condition = read_condition("x > 1 and b", TYPED)
    assert (condition.shown, condition.text) == ("x > 1 AND b", "b AND x > 1")


def test_the_form_is_one_that_the_parts_are_in():
    tree = _parse("NOT (x <= 1) AND (b OR NOT (NOT (y > 1 OR x IN (2, 1))))")
    found = one_form(tree, lambda part: spell(part, TYPED))
    assert spell(found, TYPED) == "(b OR x IN (1, 2) OR y > 1) AND x > 1"
