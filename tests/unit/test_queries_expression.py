"""EXPR: what is accepted and what it means, what is refused, and that no record can make it fail."""

import csv
import math

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

UNTYPED = [Column(name, ColumnType.UNTYPED) for name in ("a", "b", "d", "Name", "random", 'odd "name"; --')]
TYPED = [
    Column("text", ColumnType.TEXT),
    Column("age", ColumnType.INTEGER),
    Column("rate", ColumnType.NUMBER),
    Column("flag", ColumnType.BOOLEAN),
    Column("day", ColumnType.DATE),
    Column("list", ColumnType.OTHER),
]


def answers(source, expression):
    """Evaluate a condition record by record; `source` is a table or the columns of one."""
    table = open_table(source if isinstance(source, pa.Table) else pa.table(source))
    condition = read_condition(expression, table.columns)
    found = table.run(f"SELECT {condition.sql()} AS answer FROM data", condition.columns)
    assert found.column("answer").type == pa.bool_()
    return found.column("answer").to_pylist()


def csv_answers(folder, column, expression):
    path = folder / "table.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b"], *([value, "x"] for value in column)])
    table = open_table(path)
    condition = read_condition(expression, table.columns)
    return table.run(f"SELECT {condition.sql()} AS answer FROM data", condition.columns).column(0).to_pylist()


T, F, N = True, False, None


@pytest.mark.parametrize(("expression", "expected"), [
    ("x > 2", [F, T, N]),
    ("not x > 2", [T, F, N]),
    ("X >= 2.5e0 and x < 4", [F, T, N]),
    ("x = 1 or x is null", [T, F, T]),
    ("x is not null", [T, T, F]),
    ("x in (1, 2, 4)", [T, F, N]),
    ("x not in (1, 2, 4)", [F, T, N]),
    ("x between 1 and 2", [T, F, N]),
    ("x not between 1 and 2", [F, T, N]),
    ("s like 'b%'", [F, T, F]),
    ("s not like 'b%'", [T, F, T]),
    ("s ilike 'B_'", [F, T, F]),
    ("-x + 4 * 2 = 7", [T, F, N]),
    ("x - 1 - 1 = 1", [F, T, N]),
    ("x - (1 - 1) = 1", [T, F, N]),
    ("x / 2 = 0.5", [T, F, N]),
    ("x % 2 = 1", [T, T, N]),
    ("x / (x - 1) > 0", [N, T, N]),
    ("x % (x - 1) = 1", [N, T, N]),
    ("case when x = 1 then 'one' else s end = 'one'", [T, F, F]),
    ("case x when 1 then true when 3 then false end", [T, F, N]),
    ("case when x = 1 then 5 end > 4", [T, N, N]),
    ("cast(x as varchar) = '3'", [F, T, N]),
    ("x::text = '1'", [T, F, N]),
    ("try_cast(s as double) > 1", [N, N, T]),
    ("cast(s as int) = 3", [N, N, T]),
    ("abs(x - 4) = 3", [T, F, N]),
    ("upper(s) = 'A' or length(trim(s)) = 2", [T, T, F]),
    ("coalesce(x, 9) = 9", [F, F, T]),
    ("nullif(x, 1) is null", [T, F, T]),
    ("year(d) = 2024 and month(d) = 2 and day(d) = 29", [T, F, N]),
    ("d > '2024-03-01'", [F, T, N]),
    ("d > date '2024-03-01'", [F, T, N]),
    ("d between '2024-01-01' and '2024-12-31'", [T, F, N]),
    ("f", [T, F, N]),
    ("f is true", [T, F, F]),
    ("f is not true", [F, T, T]),
    ("f = false", [F, T, N]),
    ("true", [T, T, T]),
    ("x = null", [N, N, N]),
    ("s = 'a'", [T, F, F]),
    ("s = 'it''s; -- DROP TABLE data'", [F, F, F]),
])  # fmt: skip
def test_meaning(expression, expected):
    days = pa.array([19782 * 86_400_000_000, 20300 * 86_400_000_000, None], pa.timestamp("us"))
    assert answers({"x": [1, 3, None], "s": ["a", "bb", "3"], "d": days, "f": [T, F, N]}, expression) == expected


@pytest.mark.parametrize(("expression", "expected"), [
    ("a > 9", [T, F, N, N]),
    ("a = 10", [T, F, N, N]),
    ("a = '10'", [T, F, F, N]),
    ("a > '9'", [F, F, T, N]),
    ("a is null", [F, F, F, T]),
    ("a > 9 or a is null", [T, F, T, T]),  # read as a number, text is null
    ("a = b", [F, F, T, N]),
    ("cast(a as varchar) = '10' and a > 0", [T, F, F, N]),
    ("year(a) = 2020", [N, N, N, N]),
])  # fmt: skip
def test_untyped_columns_are_read_as_what_they_meet(tmp_path, expression, expected):
    assert csv_answers(tmp_path, ["10", "9", "x", ""], expression) == expected


def test_not_a_number_is_no_answer():
    assert answers({"x": [math.nan, 1.0, math.inf]}, "x > 2") == [N, F, T]
    assert answers({"s": ["nan", "1"]}, "cast(s as double) > 2") == [N, F]


HOSTILE = [
    "1e308", "-1e308", "9" * 400, "0", "-0", "nan", "inf", "-inf", "", " ", "abc", "2024-02-30", "infinity",
    "294277-01-01", "true", "%", "\\", "'", '"', "é", "\U0001f600", "1,5", "0x1F", "1e-400", "9223372036854775808",
]  # fmt: skip


@pytest.mark.parametrize("expression", [
    "a * a * a > 1",
    "a / a = 1",
    "1 / (a - a) > 0",
    "a % 0 = 1",
    "a + 1e308 + 1e308 > 0",
    "-a < abs(a)",
    "a::int > 0",
    "a::tinyint + 1 > 0",
    "a::decimal(3, 2) > 0",
    "a::date > '2020-01-01'",
    "a::timestamp is null",
    "a::boolean",
    "(a::double)::int = 3",
    "(a::double)::boolean",
    "((a::int)::text)::date is null",
    "year(a) + month(a) + day(a) > 0",
    "a like '%\u00e9%' or a ilike '_'",
    "length(a) / length(trim(a)) > 1",
    "upper(lower(a)) = a",
    "case a when 1 then 1 / 0 end is null",
    "nullif(a, 0) is null and coalesce(a, 1 / 0) > 0",
    "a in (0, 1e308, 1 / 0)",
])  # fmt: skip
def test_no_record_can_make_it_fail(tmp_path, expression):
    assert len(csv_answers(tmp_path, HOSTILE, expression)) == len(HOSTILE)


def test_arithmetic_on_the_largest_integers_does_not_overflow():
    assert answers({"x": [2**63 - 1, -(2**63)]}, "x * x * 2 > 0 and abs(x) > 0 and -x <> 0") == [T, T]
    decimals = pa.table({"x": pa.array([10**37], pa.decimal128(38, 0))})
    assert answers(decimals, "x * x > 0.00000000000000000000000000000000000001") == [T]


@pytest.mark.parametrize(("expression", "named"), [
    ("a > (select 1)", "holds a SELECT"),
    ("exists (select 1)", "EXISTS"),
    ("a in (select b from data)", "holds IN with a SELECT, which a condition may not hold; write IN ("),
    ("a in b", "holds IN without parentheses"),
    ("a > all (select 1)", "ALL"),
    ("count(*) > 1", "COUNT"),
    ("sum(a) > 1", "SUM"),
    ("max(a) over () > 1", "OVER"),
    ("abs(a) filter (where true) > 1", "FILTER"),
    ("read_csv('/etc/passwd') is null", "READ_CSV"),
    ("read_text('/etc/passwd') is null", "read_text"),
    ("random() < 0.5", "RANDOM"),
    ("getenv('HOME') = 'x'", "getenv"),
    ("current_setting('temp_directory') = ''", "current_setting"),
    ("current_date > d", "CURRENT_DATE"),
    ("error(a) = 'x'", "error"),
    ("regexp_matches(a, '(')", "holds a regular expression, which a condition may not hold; write LIKE"),
    ("a ~ '('", "a regular expression"),
    ("a similar to 'x'", "SIMILAR TO"),
    ("a glob 'x'", "GLOB"),
    ("a like 'x!' escape '!'", "ESCAPE"),
    ("a like b", "LIKE"),
    ("a like 'x\\'", "backslash"),
    ("a like any ('x', 'y')", "LIKE"),
    ("a between symmetric 1 and 2", "symmetric"),
    ("a is distinct from 3", "IS DISTINCT FROM"),
    ("a is b", "expression: "),
    ("a // 2 = 1", "holds //, which a condition may not hold; write FLOOR(a / b)"),
    ("a ^ 2 = 1", "a power (^)"),
    ("DATE_DIFF('week', d, d) = 1", "holds this unit of DATE_DIFF"),
    ("SUBSTR(b, 0) = 'a'", "needs whole numbers from 1 to 1,000,000 after what SUBSTR is of"),
    ("LEFT(b, a) = 'a'", "needs whole numbers from 0 to 1,000,000 after what LEFT is of"),
    ("RIGHT(b, -1) = 'a'", "needs whole numbers from 0 to 1,000,000 after what RIGHT is of"),
    ("ROUND(a, 13) = 1", "needs whole numbers from 0 to 12 after what ROUND is of"),
    ("HAS(s, 'a;b', ';')", "needs in HAS a choice that is not empty, and a delimiter that is not in it"),
    ("HAS(s, s, ';')", "needs a column and quoted text in HAS"),
    ("STRANGE(s)", "the function STRANGE"),
    ("b || " * 101 + "b = 'a'", "joins texts with || more than 100 times"),
    ("a > 3 || a < 1", "holds ||, which a condition may not hold; write OR"),
    ("a = 1 & b = 2", "holds &, which a condition may not hold; write AND"),
    ("a = 1 && b = 2", "holds &&, which a condition may not hold; write AND"),
    ("a = 1 | b = 2", "holds |, which a condition may not hold; write OR"),
    ("~(a = 1)", "holds ~, which a condition may not hold; write NOT"),
    ("a is None", "holds IS with a name, which a condition may not hold; write IS NULL"),
    ("a << 2 = 1", "<<"),
    ("a = 'x' 'y'", "CONCAT"),
    ("a[1] = 2", "a place in brackets"),
    ("{'x': a} = 2", "a structure in braces"),
    ("[a] = 2", "a list in brackets"),
    ("a -> 'x' = 2", "holds ->,"),
    ("data.a = 2", "a name with a dot in it"),
    ("$1 = 2", "a parameter"),
    ("? = a", "a parameter"),
    (":a = 2", "a parameter"),
    ("#1 = 2", "expression: "),
    ("columns('a') = 1", "COLUMNS"),
    ("*", "holds *,"),
    ("interval 1 day > d", "INTERVAL"),
    ("d at time zone 'utc' > '2020-01-01'", "holds AT TIME ZONE, which a condition may not hold; write TIMESTAMP"),
    ("a collate nocase = 'x'", "COLLATE"),
    ("cast(a as interval) is null", "CAST to INTERVAL"),
    ("cast(a as int[]) is null", "CAST to"),
    ("cast(a as json) is null", "CAST to JSON"),
    ("if(a > 1, true, false)", "holds IF, which a condition may not hold; write CASE"),
    ("trim(both 'x' from a) = ''", "TRIM with"),
    ("length(distinct a) = 1", "DISTINCT"),
    ("year(d, d) = 1", "is not a SQL condition"),
    ("1e400 = a", "1.8e308"),
    ("a = 1; drop table data", "semicolon"),
    ("a = 1;", "semicolon"),
    ("a = 1 -- and b = 2", "comment"),
    ("a = /* b */ 1", "comment"),
    ("a = 1) or (true", "is not a SQL condition"),
    ("(a = 1", "is not a SQL condition"),
    ("a = 'x", "is not a SQL condition"),
    ("select 1", "is not a SQL condition"),
    ("a = 1 as b", "is not a SQL condition"),
    ("a = 1 order by 1", "is not a SQL condition"),
    ("a = 1 union select 1", "is not a SQL condition"),
    ("set memory_limit = '1TB'", "is not a SQL condition"),
    ("attach 'x.db'", "is not a SQL condition"),
    ("copy data to 'x.csv'", "is not a SQL condition"),
    ("pragma version", "is not a SQL condition"),
    ("", "must be a SQL condition"),
    (None, "must be a SQL condition"),
    (True, "must be a SQL condition"),
    ("c = 1", "names the column 'c'"),
    ("rowid = 1", "names the column 'rowid'"),
    ("filename = 'x'", "names the column 'filename'"),
    ("a = 1 and a = 'x'", "the column a both"),
    ("a = b and a = 1 and b = 'x'", "the column"),
    ("a like 'x' and a > 1", "the column a both"),
    ("a + 1", "write a whole condition"),
    ("'x'", "write a whole condition"),
    ("a", "write a whole condition, such as \"lower(a) = 'true'\""),
    ("(Name)", "write a whole condition, such as \"lower(Name) = 'true'\""),
    ("coalesce(a, b)", "write a whole condition"),
    ("case when a = 1 then b end", "write a whole condition"),
    ("null", "write a whole condition"),
    ("1", "write a whole condition"),
    ("a and b = 1", "lower(a) = 'true', or a > 64"),
    ("not a", "lower(a) = 'true', or a > 64"),
    ("case when a then 1 else 0 end = 1", "lower(a) = 'true', or a > 64"),
    ("@", "is not a SQL condition"),
    ("abs(@)", "is not a SQL condition"),
    ("a < b", "untyped columns by size"),
    ("a between b and d", "untyped columns by size"),
    ("(a = 1) < (b = 1)", "truth values by size"),
    ("year(d) = 2020 and d > 'soon'", "for a date, which"),
    ("case when a = 1 then 1 else 'x' end = 1", "both"),
    ("+".join(["a"] * 6000) + " > 1", "10000 characters"),
    ("(" * 4000 + "a" + ")" * 4000, "nested too deeply"),
    ("not " * 2400 + "a", "nested too deeply"),
    ("(1 / " * 17 + "a" + ")" * 17 + " > 1", "repeat its parts more than 8192 times"),
])  # fmt: skip
def test_refused_by_name(expression, named):
    with pytest.raises(BadInput) as refusal:
        read_condition(expression, UNTYPED)
    assert named in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("expression", [
    "text = 3",
    "age = 'x'",
    "flag > 1",
    "day = 3",
    "list = list",
    "list in (1)",
    "lower(age) = 'x'",
    "year(age) = 1",
    "cast(age as date) is null",
    "cast(flag as timestamp) is null",
    "cast(day as double) > 1",
    "cast(list as text) = ''",
    "coalesce(list, 1) = 1",
    "age + day > 1",
    "age",
    "text",
    "not age",
    "text and flag",
    "day > '31.12.2024'",
])  # fmt: skip
def test_kinds_of_a_schema_are_kept(expression):
    with pytest.raises(BadInput):
        read_condition(expression, TYPED)


def test_columns_are_found_as_in_sql_and_named_when_not():
    assert read_condition("NAME = 'x'", UNTYPED).columns == (Column("Name", ColumnType.UNTYPED),)
    assert read_condition('"odd ""name""; --" = 1', UNTYPED).columns == (UNTYPED[-1],)
    assert read_condition("random = 1", UNTYPED).columns == (Column("random", ColumnType.UNTYPED),)
    with pytest.raises(BadInput, match="choose from a, b, d, Name, random"):
        read_condition("nome = 1", UNTYPED)


def test_one_spelling_for_the_ledger():
    assert read_condition("a>1   AND\nb = 'x'", UNTYPED).text == read_condition("a > 1 and b='x'", UNTYPED).text


def test_a_list_has_no_reading_but_may_be_missing():
    assert answers({"x": [[1], None]}, "x is null") == [F, T]


def test_spark_gets_the_same_condition_and_no_cast_that_can_fail():
    text = "a > 3 and d::date > '2020-01-01' and b::int / a > 1 and length(b::text) = 1 and b like 'x%'"
    sql = read_condition(text, UNTYPED).sql("spark")
    for literal in ("CAST('NaN' AS DOUBLE)", "CAST('0' AS DOUBLE)", "CAST('1.0' AS DOUBLE)", "CAST('3.0' AS DOUBLE)"):
        sql = sql.replace(f"TRY_{literal}", "").replace(literal, "")
    assert "CAST" not in sql.replace("TRY_CAST", "")
    assert "data.`a`" in sql and "VARCHAR" not in sql


def test_many_alternatives_are_no_depth():
    expression = " or ".join(f"a = {number}" for number in range(500))
    table = open_table(pa.table({"a": [1, 499, 500]}))
    counted = count_records(table, condition=read_condition(expression, table.columns))
    assert counted.yes.tolist() == [2]


@pytest.mark.parametrize(("expression", "fact", "remedy"), [
    (
        "a >= '2024-01-01'",
        "with a as text, compared with '2024-01-01' letter by letter: no other",
        "write DATE '2024-01-01' ",
    ),
    ("'31.12.2023' = a", "with a as text, compared with '31.12.2023' letter by letter", "write DATE '2024-12-31' "),
    ("a BETWEEN '2024-01-01' AND '2024-06'", "compared with '2024-01-01'", "or declare the type of a"),
    ("a IN ('x', '2024-01-01 12:00+01:00')", "'2024-01-01 12:00+01:00'", "TIMESTAMP '2024-01-01 12:00+01:00'"),
    ("a = b AND b < '2024-01-01'", "with a, b as text", "declare the type of a, b"),
    ("CASE a WHEN '2024-01-01' THEN 1 END = 1", "with a as text", "DATE"),
    ("NULLIF(a, '1900-01-01') IS NULL", "with a as text", "DATE"),
    (
        "trim(a) >= '2024-01-01'",
        "with text, compared with '2024-01-01'",
        "write CAST(… AS TIMESTAMP) beside '2024-01-01'",
    ),
    ("a > '9'", "with a as text, compared with '9' letter by letter: '10' comes before '9'", "without quotes"),
])  # fmt: skip
def test_what_looks_like_a_date_or_a_size_and_is_compared_by_its_letters_is_said(expression, fact, remedy):
    (note,) = read_condition(expression, UNTYPED).notes
    assert fact in note.fact and remedy in note.remedy


@pytest.mark.parametrize("expression", [
    "a >= DATE '2024-01-01'",
    "CAST(a AS DATE) >= '2024-01-01'",
    "d > '2024-01-01' AND year(d) = 2024",
    "a = 'yes'",
    "a = '9'",
    "a LIKE '2024-%'",
    "a > 9",
    "CASE WHEN a > 1 THEN '2024-01-01' ELSE 'x' END = 'x'",
])  # fmt: skip
def test_nothing_is_said_of_what_is_read_as_it_looks(expression):
    assert read_condition(expression, UNTYPED).notes == ()


def test_a_column_that_a_schema_calls_text_is_cast_and_not_declared():
    (note,) = read_condition("a >= '2024-01-01'", [Column("a", ColumnType.TEXT)]).notes
    assert note.remedy == "write CAST(… AS TIMESTAMP) beside '2024-01-01' to compare times"
    assert read_condition("CAST(a AS TIMESTAMP) >= '2024-01-01'", [Column("a", ColumnType.TEXT)]).notes == ()


BIG = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**62 + 1, None]


@pytest.mark.parametrize("number", ["9007199254740992", "9007199254740993", "-9007199254740993", "1e17"])
def test_a_number_that_doubles_round_is_said_to_be(number):
    note = read_condition(f"n = {number} OR n < 5", [Column("n", ColumnType.INTEGER)]).notes
    assert len(note) == 1 and "as a double: from 2^53" in note[0].fact
    assert not read_condition("n = 9007199254740991 AND t = '9007199254740993'", COLUMNS_OF_BIG).notes


COLUMNS_OF_BIG = [Column("n", ColumnType.INTEGER), Column("t", ColumnType.TEXT)]


def test_what_the_note_says_to_write_tells_them_apart(tmp_path):
    people = pa.table({"n": pa.array(BIG, pa.int64())})
    for number in BIG[:-1]:
        found = irisdp.publish(
            people, "count", f"CAST(n AS VARCHAR) = '{number}'",
            epsilon=700, ledger=tmp_path / "b.ledger", secret=tmp_path / "key", table="people",
        )  # fmt: skip
        assert found.answers.values == [1]
