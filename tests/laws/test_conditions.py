"""Conditions have one spelling: respelt they are equal, with another meaning they differ, and nonsense is refused."""

import datetime
import itertools
import random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.tokens import Tokenizer

from irisdp import BadInput
from irisdp._queries import read_query
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import _parse, read_condition, read_value_of_record
from irisdp._tables.sql_compiler import ConditionCompiler
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

COLUMNS = [
    Column("Age", ColumnType.INTEGER),
    Column("rate", ColumnType.NUMBER),
    Column("name", ColumnType.TEXT),
    Column("flag", ColumnType.BOOLEAN),
    Column("born", ColumnType.DATE),
    Column("select", ColumnType.NUMBER),
    Column('odd "name', ColumnType.TEXT),
    Column("free", ColumnType.UNTYPED),
    Column("loose", ColumnType.UNTYPED),
]
RECORDS = pa.table(
    {
        "Age": [None, 0, 1, 5, 64],
        "rate": [float("nan"), None, -0.0, 1.0, float("inf")],
        "name": ["a", "", None, "ab", "1"],
        "flag": [True, None, False, True, False],
        "born": [datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1), datetime.date(1999, 12, 31), None],
        "select": [1.0, 2.0, None, float("nan"), 0.5],
        'odd "name': [None, "a", "b", "ab", ""],
        "free": ["1", "1.0", "nan", None, "abc"],
        "loose": ["0", "true", "", "2024-01-01", None],
    }
)
"""One of each kind of value, and what orders strangely: the meaning of two conditions is compared on them."""
NUMBERS = ["Age", "rate", "select"]
TEXTS = ["name", 'odd "name']

# Numbers are doubles: each line holds spellings of one.
SPELLINGS = [
    ["0", "0.0", "0.", ".0", "0e5", "00", "1e-400"],
    ["1", "1.0", "1e0", "01", "10e-1", "0.1e1", "1.00000000000000000001"],
    ["2", "2.", "0.2e1", "0002.000"],
    ["0.1", ".1", "1e-1", "0.10", "0.1000000000000000055"],
    ["0.30000000000000004", "0.300000000000000044"],
    ["0.3", "3e-1"],
    ["9007199254740992", "9007199254740993", "9007199254740992.0"],
    ["9007199254740994", "9007199254740994.0"],
    ["1e300", "1E300", "10e299"],
    ["10", "1e1", "10.0"],
]
WORDS = ["", "a", "01", "1", "1.0", "A", "it's", "2020-01-01", "2020-01-01 00:00:00+02:00", "é", "%", "true", 'x"y']

number = st.one_of(
    st.sampled_from(NUMBERS).map(lambda name: ("column", name)),
    st.sampled_from(range(len(SPELLINGS))).map(lambda place: ("number", place)),
)
text = st.one_of(
    st.sampled_from(TEXTS).map(lambda name: ("column", name)), st.sampled_from(WORDS).map(lambda word: ("text", word))
)
arithmetic = st.recursive(
    number,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        st.tuples(st.just("neg"), inner),
        st.tuples(st.just("abs"), inner),
    ),
    max_leaves=3,
)
atom = st.one_of(
    st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), arithmetic, arithmetic),
    st.tuples(st.sampled_from(["=", "<>", "<", ">="]), text, text),
    st.tuples(st.just("in"), text, text, text),
    st.tuples(st.just("between"), arithmetic, number, number),
    st.tuples(st.just("like"), text, st.sampled_from(WORDS)),
    st.tuples(st.just("null"), text),
    st.just(("column", "flag")),
    st.tuples(st.sampled_from(["=", "<="]), st.just(("column", "born")), st.just(("text", "2020-01-01"))),
    st.sampled_from([("=", ("column", "free"), ("text", "1")), (">=", ("column", "loose"), ("number", 1))]),
)
condition = st.recursive(
    atom,
    lambda inner: st.one_of(st.tuples(st.sampled_from(["and", "or"]), inner, inner), st.tuples(st.just("not"), inner)),
    max_leaves=4,
)


class Writer:
    """Writes one tree in one of its many spellings."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def gap(self):
        return self.random.choice([" ", "  ", "\n", "\t "])

    def word(self, word):
        return self.random.choice([word, word.upper(), word.capitalize()])

    def name(self, name):
        spelt = self.random.choice([name, name.upper(), name.lower()])
        bare = name not in ("select", 'odd "name') and self.random.random() < 0.7
        return spelt if bare else '"' + spelt.replace('"', '""') + '"'

    def write(self, tree):
        """Write a tree in parentheses, one pair or more."""
        written = self.bare(tree)
        for _ in range(self.random.choice([0, 1, 1, 2]) if tree[0] in ("column", "number", "text") else 1):
            written = f"({written})"
        return written

    def bare(self, tree):
        sign, *parts = tree
        gap = self.gap()
        if sign == "column":
            return self.name(parts[0])
        if sign == "number":
            return self.random.choice(SPELLINGS[parts[0]])
        if sign == "text":
            return "'" + parts[0].replace("'", "''") + "'"
        if sign == "neg":
            return f"-{self.random.choice(['', ' '])}{self.write(parts[0])}"
        if sign == "abs":
            return f"{self.word('abs')}({gap}{self.bare(parts[0])})"
        if sign == "not":
            return f"{self.word('not')}{gap}{self.write(parts[0])}"
        if sign == "like":
            value, pattern = self.write(parts[0]), parts[1].replace("'", "''")
            return f"{value}{gap}{self.word('like')}{self.gap()}'{pattern}'"
        if sign == "null":
            return f"{self.write(parts[0])}{gap}{self.word('is')} {self.word('null')}"
        if sign == "in":
            value, *items = map(self.write, parts)
            return f"{value}{gap}{self.word('in')} ({','.join(items)})"
        if sign == "between":
            value, low, high = map(self.write, parts)
            return f"{value}{gap}{self.word('between')} {low} {self.word('and')} {high}"
        signs = {"=": ["=", "=="], "<>": ["<>", "!="], "and": ["and", "AND"], "or": ["or", "Or"]}.get(sign, [sign])
        return f"{self.write(parts[0])}{gap}{self.random.choice(signs)}{self.gap()}{self.write(parts[1])}"


def read(tree, seed):
    return read_condition(Writer(seed).write(tree), COLUMNS)


@settings(max_examples=tried(40, 300), deadline=None)
@given(condition, st.integers(0, 2**32), st.integers(0, 2**32))
def test_a_condition_respelt_is_the_same_question(tree, seed, another):
    first, second = read(tree, seed), read(tree, another)
    assert first.text == second.text
    assert first.sql() == second.sql()
    assert read_condition(first.text, COLUMNS).text == first.text


@settings(max_examples=tried(40, 300), deadline=None)
@given(condition, st.integers(0, 2**32))
def test_its_one_spelling_means_what_was_typed(tree, seed):
    typed = Writer(seed).write(tree)
    plain = ConditionCompiler(COLUMNS).condition(_parse(typed)).sql("duckdb")
    both = f"SELECT ({plain}) IS NOT DISTINCT FROM ({read_condition(typed, COLUMNS).sql()}) AS alike FROM data"
    with duckdb.connect() as connection:
        connection.register("data", RECORDS)
        assert {alike for (alike,) in connection.sql(both).fetchall()} == {True}, typed


@settings(max_examples=tried(40, 300), deadline=None)
@given(condition, condition, st.integers(0, 2**32))
def test_equal_texts_are_equal_sql_and_unequal_sql_unequal_texts(tree, other, seed):
    first, second = read(tree, seed), read(other, seed)
    assert (first.text == second.text) == (first.sql() == second.sql())


SWAPS = {
    "=": "<>", "<>": "=", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "%", "%": "*",
    "and": "or", "or": "and",
}  # fmt: skip


def changed(tree, place):
    """Return a tree with one node changed in meaning; `place` counts nodes from the root."""
    sign, *parts = tree
    if place[0] == 0:
        place[0] = -1
        if sign == "number":
            return ("number", (parts[0] + 1) % len(SPELLINGS))
        if sign == "text":
            return ("text", WORDS[(WORDS.index(parts[0]) + 1) % len(WORDS)]) if parts[0] != "2020-01-01" else tree
        if sign == "column":
            names = NUMBERS if parts[0] in NUMBERS else TEXTS if parts[0] in TEXTS else [parts[0]]
            return ("column", names[(names.index(parts[0]) + 1) % len(names)])
        if sign in SWAPS and not (sign == "=" and ("column", "flag") in parts):
            return (SWAPS[sign], *parts)
        if sign in ("not", "neg", "abs"):
            return parts[0]
        return ("not", tree)
    place[0] -= 1
    return (sign, *(changed(part, place) if isinstance(part, tuple) else part for part in parts))


@settings(max_examples=tried(80, 500), deadline=None)
@given(condition, st.integers(0, 30), st.integers(0, 2**32))
def test_another_meaning_is_another_question(tree, place, seed):
    other = changed(tree, [place])
    if other != tree:
        assert read(tree, seed).text != read(other, seed).text


@pytest.mark.parametrize(("first", "second"), [
    ("free = 1", "free = '1'"),
    ("free = '1'", "free = '01'"),
    ("free = 1", "free = 01"),
    ("name = '1'", "name = '1.0'"),
    ("rate - 1 - 1 = 0", "rate - (1 - 1) = 0"),
    ("rate / 2 / 2 = 0", "rate / (2 / 2) = 0"),
    ("flag or flag and rate = 1", "(flag or flag) and rate = 1"),
    ("not flag and rate = 1", "not (flag and rate = 1)"),
    ("- rate * 2 > 1", "rate > 1"),
    ("rate > 0.1", "rate > 0.10000000000000002"),
    ("born > '2020-01-01 00:00:00+02:00'", "born > '2020-01-01 00:00:00+00:00'"),
    ("born > '2020-01-01'", "born > '2020-01-02'"),
    ("cast(rate as int) = 1", "cast(rate as double) = 1"),
    ("cast(rate as decimal(3, 1)) = 1", "cast(rate as decimal(3, 2)) = 1"),
    ("name = 'A'", "name = 'a'"),
    ("name = 'a '", "name = 'a'"),
    ("name = 'AND'", "name = 'and'"),
    ("name like 'a'", "name ilike 'a'"),
    ("name is null", "name = ''"),
    ("flag is true", "flag"),
    ("case when flag then 1 else 0 end = 0", "case when flag then 1 end = 0"),
])  # fmt: skip
def test_conditions_that_look_alike_are_kept_apart(first, second):
    assert read_condition(first, COLUMNS).text != read_condition(second, COLUMNS).text


@pytest.mark.parametrize(("spellings", "text"), [
    (["affairs > 0", "affairs>0.0", "AFFAIRS > 0e0", '("affairs") > (0)', "affairs  >\n.0"], "affairs > 0"),
    (["x <> 1", "x != 1.0", "not x <> 1 or 1=1"][:2], "x <> 1"),
    (["x = 1", "x == 1", "X = 1.0"], "x = 1"),
    (["x = 01", "'01' = X", "not x <> 01"], "x = '01'"),
    (["x not like 'a'", "not x like 'a'", "NOT (x LIKE 'a')"], "NOT x LIKE 'a'"),
    (["x::int = 1", "cast(x as INTEGER) = 1", "try_cast(x as int) = 1"], "CAST(x AS INT) = 1"),
    (
        ["x > -1 and (x < 5 and affairs = 2)", "(x > -1.0 AND x < 5) AND affairs = 2"],
        "affairs = 2 AND x < 5 AND x > -1",
    ),
    (["case when x = 1 then true end", "case when x = 1 then true else null end"], "CASE WHEN x = 1 THEN TRUE END"),
])  # fmt: skip
def test_examples_of_one_spelling(spellings, text):
    columns = [Column("affairs", ColumnType.UNTYPED), Column("x", ColumnType.UNTYPED)]
    assert [read_condition(spelling, columns).text for spelling in spellings] == [text] * len(spellings)


def test_no_word_of_a_grammar_is_mistaken_when_it_names_a_column():
    words = {word for word in Tokenizer.KEYWORDS if word.replace(" ", "_").isidentifier()}
    words |= {
        "next",
        "any",
        "if",
        "all",
        "some",
        "prior",
        "connect_by_root",
        "current_date",
        "localtime",
        "rowid",
        "len",
    }
    shapes = ("{0} = 1", "NOT {0} IS NULL", "{0} IN (1, 2)", "-{0} > ABS({0})", "{0} < 9 AND {0} <> 2")
    for number, word in enumerate(sorted(words)):
        for name in (word.lower().replace(" ", "_"), word):
            columns = [Column(name, ColumnType.NUMBER), Column("other", ColumnType.NUMBER)]
            for shape in (shapes * 2)[number % 5 :][: tried(1, 5)]:
                quoted = shape.format('"' + name + '"')
                found = read_condition(quoted, columns)
                assert Column(name, ColumnType.NUMBER) in found.columns
                assert found.sql() == ConditionCompiler(columns).condition(_parse(quoted)).sql("duckdb")


SQL_PIECES = [
    *"@#$?:;,.()[]{}'\"`\\|&^~!<>=+-*/%0129aé\n\0 ",
    *[
        "abs(", "@)", "CASE ", "WHEN ", "THEN ", "END", "NOT ", "AND ", "OR ", "IN (", "IS ", "NULL", "LIKE ",
        "BETWEEN ",
    ],
    *["CAST(", "AS ", "INT", "DECIMAL(", "free", "Age", "name", "flag", "SELECT ", "FROM ", "x -> ", "::", "$$", "E'"],
    *[
        "INTERVAL ", "DATE ", "EXTRACT(", "TRIM(", "BOTH ", "COALESCE(", "UNNEST(", "MAP {", "STRUCT(", "0x", "1e",
        "1e999",
    ],
    *["POSITION(", "OVER (", "FILTER (", "ESCAPE ", "COLUMNS(", "TRY_CAST(", "IF(", "LAMBDA x: ", "PIVOT ", "--", "/*"],
]  # fmt: skip


@settings(max_examples=tried(150, 1500), deadline=5_000)
@given(st.lists(st.sampled_from(SQL_PIECES), max_size=14).map("".join) | st.text(max_size=20))
def test_nonsense_is_refused_and_never_crashes(typed):
    try:
        read_condition(typed, COLUMNS)
    except BadInput as refusal:
        assert "\n" not in str(refusal)


@pytest.mark.parametrize(
    "piece", ["(", "abs(", "abs(@", "case when ", "x in (", "not ", "- ", "cast(", "[", "x -> ", "a(("]
)
def test_deep_nonsense_ends(piece):
    for depth in (20, 50, 400, 10_000 // len(piece)):
        with pytest.raises(BadInput):
            read_condition(piece * depth, COLUMNS)


@pytest.mark.parametrize(("query", "arguments", "shown"), [
    ("count", ("affairs", "=", "1"), 'write a whole condition, such as "affairs = 1"'),
    ("majority", ("vote", "=", "1"), 'write a whole condition, such as "vote = 1"'),
    ("at-least", ("3", "x", "=", "1"), 'write a whole condition, such as "x = 1"'),
    ("at-least 3", ("x", ">"), 'write a whole condition, such as "x >"'),
    ("count", ("x", object()), "write a whole condition"),
    ("count", ("x", "\x1b[2J"), "write a whole condition"),
    ("count", ("x", "y" * 1000), "write a whole condition"),
])  # fmt: skip
def test_a_condition_in_several_words_is_to_be_quoted(query, arguments, shown):
    with pytest.raises(BadInput) as refusal:
        read_query(query, arguments)
    assert shown in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 400


EXAMPLES = {
    ColumnType.UNTYPED: r"lower\(affairs\) = 'true'",  # following "affairs > 0" would count no record of true and false
    ColumnType.TEXT: "affairs = 'yes'",
    ColumnType.DATE: "affairs >= '2024-12-31'",
    ColumnType.NESTED: "affairs IS NULL",
}


@pytest.mark.parametrize("kind", [kind for kind in ColumnType if kind is not ColumnType.BOOLEAN])
def test_a_bare_column_is_no_condition(kind):
    columns = [Column("affairs", kind), Column("flag", ColumnType.BOOLEAN)]
    for typed in ("affairs", "(affairs)", '"Affairs"', "coalesce(affairs, affairs)", "affairs and flag", "not affairs"):
        with pytest.raises(BadInput):
            read_condition(typed, columns)
    if kind is not ColumnType.OTHER:
        with pytest.raises(BadInput, match=f'write a whole condition, such as "{EXAMPLES.get(kind, "affairs > 0")}'):
            read_condition("affairs", columns)
    assert read_condition("flag", columns).text == "flag"


# Expressions to group by have one form: respelt they are equal, and the form means what was written.

COLUMNS_DERIVED = [
    Column("Age", ColumnType.INTEGER),
    Column("rate", ColumnType.NUMBER),
    Column("name", ColumnType.TEXT),
    Column("born", ColumnType.DATE),
]
RECORDS_DERIVED = list(
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
                    zip(*RECORDS_DERIVED, strict=True),
                    [pa.int64(), pa.float64(), pa.string(), pa.date32()],
                    strict=True,
                )
            ),
            strict=True,
        )
    )
)

NAME = st.just(("column", "name"))
TEXTS_DERIVED = st.sampled_from(["a", "child", "it's", ""]).map(lambda word: ("text", word))
number_derived = st.one_of(
    st.sampled_from(["Age", "rate"]).map(lambda name: ("column", name)),
    st.sampled_from([("0", "0.0", ".0"), ("1", "1.0", "10e-1"), ("10", "1e1"), ("18", "18.", "1.8e1")]).map(
        lambda spellings: ("number", spellings)
    ),
    st.sampled_from(["year", "month", "day"]).map(lambda part: (part, ("column", "born"))),
    st.just(("length", ("column", "name"))),
)
arithmetic_derived = st.recursive(
    number_derived,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        st.tuples(st.sampled_from(["neg", "abs", "floor", "ceil"]), inner),
    ),
    max_leaves=4,
)
truth = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), arithmetic_derived, arithmetic_derived),
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
    st.tuples(st.just("floor"), arithmetic_derived),
    st.tuples(st.just("case"), truth, words, st.one_of(words, st.just(("nothing",)))),
    st.tuples(st.just("case"), truth, st.tuples(st.just("floor"), arithmetic_derived), st.just(("column", "Age"))),
)


class DerivedWriter:
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


@settings(max_examples=tried(20, 100), deadline=None)
@given(value, st.integers(), st.integers())
def test_an_expression_has_one_form_and_keeps_its_meaning(tree, seed, other):
    written, again = DerivedWriter(seed).write(tree), DerivedWriter(other).write(tree)
    if "column" not in str(tree):
        return
    kind, derivation = read_value_of_record(written, COLUMNS_DERIVED)
    assert (read_value_of_record(again, COLUMNS_DERIVED)[0], read_value_of_record(again, COLUMNS_DERIVED)[1].text) == (
        kind,
        derivation.text,
    )
    assert read_value_of_record(derivation.text, COLUMNS_DERIVED)[1].text == derivation.text
    plain, same = ConditionCompiler(COLUMNS_DERIVED).value(_parse(written))
    assert same is kind
    assert meaning(derivation.tree) == meaning(plain)
