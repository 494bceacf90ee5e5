"""A plan and a release file say what every used column is read as, and how declared values were split."""

import json
import sqlite3
from contextlib import closing

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import irisdp
from irisdp import BadInput
from irisdp._cli.main import app

pytestmark = pytest.mark.usefixtures("one_engine")

TEXT = "zip,age,town\n01234,70,a\n1234,30,b\n"
FRAME = {"zip": ["01234", "1234"], "age": [70, 30], "town": ["a", "b"]}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return path


def said(data, *words, **options):
    """Return the line that says what columns are read as."""
    return irisdp.plan(data, *words, epsilon=1, **options).describe_reading()[0]


ZIP = "zip as text (exact spelling)"
UNKNOWN = "; what cannot be read so is unknown"


@pytest.mark.parametrize(
    ("words", "options", "line"),
    [
        (["count", "age > 64"], {"by": "zip", "groups": "01234"}, f"{ZIP}, age as a number{UNKNOWN}"),
        (["count", "zip = 01234"], {}, "zip as text"),
        (["count", "zip = 1234"], {}, f"zip as a number{UNKNOWN}"),
        (["count", "zip > 5"], {"by": "zip", "groups": "1"}, f"{ZIP} and as a number{UNKNOWN}"),
        (["sum", "age"], {"lower": 0, "upper": 9, "step": 1, "unit": "zip", "at_most": 1},
         f"age as a number, zip as text{UNKNOWN}"),
        (["count"], {"by": "d = FLOOR(age / 10)", "groups": [1]}, f"age as a number{UNKNOWN}"),
        (["median", "age"], {"bins": "0,40"}, f"age as a number{UNKNOWN}"),
        (["histogram", "age"], {"bins": "2020-01-01"}, f"age as a date{UNKNOWN}"),
        (["plurality", "town"], {"categories": "a,b"}, "town as text (exact spelling)"),
        (["count-distinct", "zip"], {}, "zip as text"),
        (["count"], {"by": "town", "select_groups": True, "delta": "1e-3"}, "town as text"),
        (["count", "age > 64"], {"types": {"age": "integer"}}, f"age as integer{UNKNOWN}"),
        (["count", "CAST(zip AS INT) = 1 AND town IS NULL"], {}, "town as text, zip as text"),
    ],
)  # fmt: skip
def test_every_used_column_is_named_with_what_it_is_read_as(table, words, options, line):
    assert said(table, *words, **options) == line


def test_the_line_stands_for_every_kind_of_source(tmp_path):
    pq.write_table(pa.table(FRAME), tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text('{"zip": "01234", "age": 70}\n')
    with closing(sqlite3.connect(tmp_path / "t.db")) as database:
        database.execute("CREATE TABLE t (zip TEXT, age INTEGER)")
    types = {"types": {"zip": "text", "age": "integer"}}
    sources = [(tmp_path / "t.parquet", {}), (pd.DataFrame(FRAME), {}), (pl.DataFrame(FRAME), {})]
    sources += [(tmp_path / "t.jsonl", types), (f"sqlite:///{tmp_path}/t.db#t", {})]
    for data, options in sources:
        line = said(data, "count", "age > 64", by="zip", groups="01234", **options)
        assert line.startswith("zip as text (exact spelling), age as "), line


def test_the_release_file_says_it_and_names_the_split_values(table):
    irisdp.publish(table, "plurality", "town", categories="Yes, often, No", epsilon=1, out=table.with_name("o.csv"))
    reading = json.loads(table.with_name("o.csv.release.json").read_text())["reading"]
    assert reading.startswith("town as text (exact spelling); as UTF-8 text, separated by commas")
    assert '3 categories as declared: "Yes" · "often" · "No"' in reading


@pytest.mark.parametrize(
    ("groups", "listed"),
    [
        ('"Yes, often",No', '2 groups as declared: "Yes, often" · "No"'),
        ('" north",south', '2 groups as declared: " north" · "south"'),
        ("'a','b'", """2 groups as declared: "'a'" · "'b'\""""),
        ([" a", "b"], '2 groups as declared: " a" · "b"'),
        (["a,b"], '1 group as declared: "a,b"'),
        ("a,b", None),
        (["a", "b"], None),
    ],
)
def test_values_are_listed_where_another_split_may_have_been_meant(table, groups, listed):
    notes = [note.fact for note in irisdp.plan(table, "count", by="town", groups=groups, epsilon=1).asked.notes]
    assert notes == ([] if listed is None else [listed])


def test_blanks_in_quotes_belong_to_the_value(tmp_path):
    (tmp_path / "t.csv").write_text("town,x\n a,1\na,2\na,3\n")
    found = irisdp.publish(tmp_path / "t.csv", "count", by="town", groups='" a", a ', epsilon=500)
    assert found.answers.values == [1, 2]


@pytest.mark.parametrize("text", ["['a', 'b']", '["a", "b"]', "('a','b')", "[a,b]", "{'a'}", "[]", "(0,5)"])
def test_a_list_written_as_text_is_refused(table, text):
    with pytest.raises(BadInput, match="groups: is a list written as text"):
        irisdp.plan(table, "count", by="town", groups=text, epsilon=1)


@pytest.mark.parametrize("text", ["[0,5),[5,10)", '"[0,5]","(5,9]"', "(a) yes,(b) no"])
def test_values_in_brackets_of_their_own_are_no_list(table, text):
    assert irisdp.plan(table, "count", by="town", groups=text, epsilon=1).groups


def test_one_category_with_commas_in_a_list_is_told_how_to_be_several(table):
    with pytest.raises(BadInput, match=r"must be from 2 to 100, not 1; .*categories='a,b'"):
        irisdp.plan(table, "plurality", "town", categories=["a,b"], epsilon=1)


@pytest.mark.parametrize(
    ("words", "options", "name"),
    [
        (["count"], {"by": "town", "groups": "Zürich,Bern"}, "Zürich"),
        (["plurality", "town"], {"categories": ["Bern", "Genève"]}, "Genève"),
        (["count", "town = 'Łódź'"], {}, "Łódź"),
        (["count", "town LIKE 'Mün%'"], {}, "Mün%"),
        (["count"], {"by": "c = CASE town WHEN 'Köln' THEN 'k' END", "groups": "k"}, "Köln"),
    ],
)
def test_a_name_beyond_ascii_asked_of_a_utf_8_file_gets_a_note_on_the_encoding(table, words, options, name):
    noted = f'with "{name}" as UTF-8; if the file is written in another encoding, name it, as in encoding=windows-1252'
    for content in (TEXT.encode(), "zip,age,town\n1,2,Zürich\n".encode("latin-1")):  # what is in it changes nothing
        table.write_bytes(content)
        assert noted in irisdp.plan(table, *words, epsilon=1, **options).describe_reading()
    other = irisdp.plan(table, *words, epsilon=1, encoding="latin-1", **options).describe_reading()
    frame = irisdp.plan(pl.DataFrame(FRAME), *words, epsilon=1, **options).describe_reading()
    assert not any("another encoding" in line for line in [*other, *frame])


def test_the_command_names_the_option(table):
    asked = ["publish", str(table), "count", "--by", "town", "--groups", "Zürich", "--epsilon", "1"]
    for more in (["--dry-run"], []):
        assert "name it, as in --encoding windows-1252" in CliRunner().invoke(app, [*asked, *more]).output


@pytest.mark.parametrize("code", ["01234", "1E2", "5.", "+5", "-05", "1e2", "00"])
def test_a_number_written_as_a_code_is_compared_as_text(table, code):
    for condition in (f"zip = {code}", f"zip IN ({code}, 7)", f"CASE zip WHEN {code} THEN TRUE END"):
        planned = irisdp.plan(table, "count", condition, epsilon=1)
        assert f"'{code}'" in planned.condition.text
        assert planned.condition.readings == (("zip", "text"),)
        assert planned.question() == irisdp.plan(table, "count", planned.condition.text, epsilon=1).question()


@pytest.mark.parametrize("condition", ["age = 64", "age > 064", "age <> 2.50 AND age > 1", "age + 1 = 01", "age = 0.5"])
def test_what_is_computed_with_or_compared_by_size_stays_a_number(table, condition):
    assert irisdp.plan(table, "count", condition, epsilon=1).condition.readings == (("age", "a number"),)


def test_numbers_declared_in_python(table):
    assert irisdp.plan(table, "count", by="zip", groups=[1234], epsilon=1).groups.labels == ((1234,),)
    with pytest.raises(BadInput, match=r"has the number 1\.5 for age, which is read as text"):
        irisdp.plan(table, "count", by="age", groups=[1.5], epsilon=1)
    mixed = pd.DataFrame({"age": pd.Series([1, 1.5, "x", 1.0], dtype=object)})
    planned = irisdp.plan(mixed, "count", by="age", groups=[1.5, 1.0], epsilon=1)
    assert planned.query.statistics(planned.table, condition=None, groups=planned.groups, unit=None).total.tolist() == [
        2,
        1,
    ]
