"""Public tables that are joined on a key: which are refused, how keys are compared, and what is kept of them."""

import datetime
import json
import sqlite3
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, plan, publish
from irisdp._cli import run
from irisdp._release import check_data
from irisdp._release.pipeline import read_statistics
from irisdp._tables import lookups
from irisdp._tables.table import open_table

SURVEY = "ward,age,paid\n01,30,10\n02,70,20\n01,65,30\n,20,40\n07,40,50\n1,50,60\n"
WARDS = "ward,region,people\n01,north,100\n02,south,900\n"
SURE = {"epsilon": 200}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text(SURVEY)
    Path("wards.csv").write_text(WARDS)


JOINED = {"lookup": "wards.csv", "on": "ward"}


def count(condition, data="survey.csv", **options):
    """Return a true count: noise of so large an ε is none."""
    planned = plan(data, "count", condition, **SURE, **{**JOINED, **options})
    return int(read_statistics(planned, bytes(32)).nodes.values[0])


# How keys are compared.


@pytest.mark.parametrize(
    ("condition", "records"),
    [
        ("region = 'north'", 2),
        ("region IS NULL", 3),
        ("people > 100", 1),
        ("people + age > 900", 1),
        ("region = 'north' AND age > 30", 1),
        ("HAS(region, 'south')", 1),
    ],
)
def test_text_keys_match_by_spelling(condition, records):
    assert count(condition) == records


def test_keys_of_a_declared_type_match_as_its_values():
    assert count("region = 'north'", types={"ward": "integer"}) == 3
    assert count("region = 'north'", types={"ward": "number"}) == 3
    with pytest.raises(BadInput, match=r'"01" in rows 1 and 3 \("01" and "1" are one value as a whole number\)|"1" in'):
        Path("wards.csv").write_text(WARDS + "1,west,3\n")
        count("region = 'north'", types={"ward": "integer"})
    assert count("region = 'west'") == 1


def test_a_code_for_a_missing_value_matches_nothing():
    for declared in ({"missing_codes": "02"}, {"types": {"ward": {"missing": ["02"]}}}):
        with pytest.raises(BadInput, match='row 2 the key "02", which is declared to be a missing value of ward'):
            count("region = 'south'", **declared)
    Path("wards.csv").write_text("ward,region\n01,north\n")
    assert count("region IS NULL", missing_codes="02") == 4
    assert count("ward IS NULL", missing_codes="02") == 2


KEYS = {
    "integers": ([1, 2, None], [1, 2], [True, False, None]),
    "numbers": ([1.0, 2.5, None], ["1", "2.50"], [True, False, None]),
    "floats of a frame": ([1.0, float("nan"), 3.0], [1, 2], [True, None, None]),
    "zeros": ([0.0, -0.0, 1.0], [0.0, 1.0], [True, True, False]),
    "text": (["1", "01", " 1"], ["1", "01"], [True, False, None]),
    "numbers for text": (["1", "01", "1.0"], [1, 2], [True, None, None]),
    "dates": (
        [datetime.date(2024, 1, 31), datetime.date(1, 1, 1), None],
        ["2024-01-31", "0001-01-01"],
        [True, False, None],
    ),
    "instants": (
        [datetime.datetime(2024, 1, 31, 12), datetime.datetime(2024, 1, 31), None],
        [datetime.date(2024, 1, 31), "2024-01-31T12:00:00"],
        [False, True, None],
    ),
    "truth": ([True, False, None], ["true", "FALSE"], [True, False, None]),
    "composed letters": (["Z\u00fcrich", "Zu\u0308rich"], ["Z\u00fcrich"], [True, None]),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_compared_as_values_of_the_column(name):
    """The first row of the lookup says yes, and the others no."""
    keys, rows, expected = KEYS[name]
    data = pa.table({"k": keys})
    table = {"k": rows, "yes": [number == 0 for number in range(len(rows))]}
    lookup = pd.DataFrame(table).astype({"k": object})
    for condition, truth in (("yes = TRUE", True), ("yes = FALSE", False), ("yes IS NULL", None)):
        assert count(condition, data, lookup=lookup, on="k") == sum(each is truth for each in expected)


def test_dates_as_the_data_writes_them():
    Path("survey.csv").write_text("day,n\n31.12.2024,1\n1.1.2025,2\n,3\n")
    Path("days.csv").write_text("day,holiday\n31.12.2024,yes\n01.01.2025,no\n")
    typed = {"types": {"day": {"type": "date", "format": "%d.%m.%Y"}}, "lookup": "days.csv", "on": "day"}
    assert [count(f"holiday = '{each}'", **typed) for each in ("yes", "no")] == [1, 1]
    Path("days.csv").write_text("day,holiday\n2024-12-31,yes\n")
    with pytest.raises(BadInput, match=r'row 1 the key "2024-12-31", and day is a date.*%d\.%m\.%Y'):
        count("holiday = 'yes'", **typed)


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_a_lookup_as_programs_write_it(mark, first):
    rows = [("region", "ward", "rate"), ("N\u00f6rd, Ost", "01", "1.234,5"), ("S\u00fcd", "02", "7")]
    quoted = (mark.join(f'"{value}"' if "," in value else value for value in row) for row in rows)
    Path("wards.csv").write_text(first + "\r\n".join([*quoted, ""]), encoding="utf-8", newline="")
    assert count("region = 'N\u00f6rd, Ost'") == 2
    assert count("rate > 1000", types={"rate": {"type": "number", "decimal": ",", "thousands": "."}}) == 2
    assert count("rate > 1000") == 0


def test_a_header_that_another_delimiter_cannot_read():
    Path("wards.csv").write_text('a;"region, ""old""";ward;region\nx;y;01;north\n')
    assert count("region = 'north'") == 2


def test_formats_of_the_data_are_not_those_of_a_lookup():
    Path("survey.csv").write_text("ward;paid\n01;1,5\n02;2,5\n")
    Path("wards.csv").write_text("ward,rate\n01,1.5\n02,9\n")
    written = {"delimiter": ";", "decimal": ",", "missing_codes": "9"}
    assert count("rate > 1 AND paid > 1", **written) == 2


def test_an_empty_value_of_a_lookup_is_null():
    Path("wards.csv").write_text("ward,region\n01,\n02,south\n")
    assert count("region IS NULL") == 5


# What is refused, before a ledger is there.

REFUSED = {
    "twice": ("ward,region\n01,a\n02,b\n01,c\n", {}, r'has the key "01" in rows 1 and 3; keep one row for each value'),
    "no key": ("ward,region\n01,a\n,b\n", {}, r"has in row 2 no value of the key ward; drop the row"),
    "no column": ("ward\n01\n", {}, r"no column besides its key ward"),
    "no rows": ("ward,region\n", {}, r"has no rows; give a table"),
    "empty": ("", {}, r"is empty; give a table"),
    "collision": ("ward,AGE\n01,3\n", {}, r"has the column 'AGE', which the data has as well; rename or drop it"),
    "short line": ("ward,region\n01\n", {}, r"has a line with the wrong number of values"),
    "two of a name": ("ward,region,Region\n01,a,b\n", {}, r"lookup: wards.csv has two columns of one name"),
    "key of neither": (
        "ward,region\n01,a\n",
        {"on": "wrad"},
        r"'wrad', which the lookup wards.csv does not have.*ward",
    ),
    "key of the lookup": (
        "ward,region\n01,a\n",
        {"on": "region"},
        r"on: names the column 'region', which the data does",
    ),
    "not UTF-8": (b"ward,region\n01,\xfc\n", {}, r"is not written as CSV in UTF-8"),
    "UTF-16": ("ward,region\n".encode("utf-16"), {}, r"is written in UTF-16"),
    "other type": (
        "ward,region\nx1,a\n",
        {"types": {"ward": "integer"}},
        r'row 1 the key "x1", and ward is a whole num',
    ),
    "two keys": (
        "ward;region\n01;a\n",
        {"on": "ward,age"},
        r"'ward,age', which the lookup wards.csv does not have; did you mean ward",
    ),
    "no file": (None, {"lookup": "none.csv"}, r"finds no file at 'none.csv'"),
    "folder": (None, {"lookup": "."}, r"cannot read '\.'; give a .csv or .tsv file"),
    "workbook": (None, {"lookup": "w.xlsx"}, r"cannot read 'w.xlsx'"),
    "itself": (None, {"lookup": "./survey.csv", "on": "ward"}, r"is the data itself, and would reveal what is in it"),
    "no on": (None, {"on": None}, r"occurs once, and on= not at all; give one on=KEY"),
    "no lookup": (None, {"lookup": None}, r"names the key of a lookup, but you gave no lookup; add lookup="),
    "one on": (None, {"lookup": ["wards.csv", "wards.csv"]}, r"occurs 2 times, and on= once"),
    "both": (None, {"lookup": ["wards.csv"] * 2, "on": ["ward"] * 2}, r"has the column 'region' in wards.csv and"),
    "unit": (None, {"unit": "Region", "at_most": 1}, r"unit: is Region, which comes from the lookup wards.csv; name a"),
    "column of none": (
        None,
        {"where": "regino = 'a'"},
        r"'regino', which the data does not have; did you mean region",
    ),
    "name of one": (None, {"by": "region = LEFT(ward, 1)", "groups": "a"}, r"the name of the column 'region'"),
    "text": (None, {"where": "region > 3 AND region = 'a'"}, r"region"),
    "an int": (None, {"lookup": 3}, r"lookup: "),
    "no type": (None, {"types": {"people": "whole"}}, r"types: gives people the unknown type 'whole'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_before_anything_is_spent(name):
    written, options, message = REFUSED[name]
    if written is not None:
        Path("wards.csv").write_bytes(written if isinstance(written, bytes) else written.encode())
    before = set(Path().iterdir())
    with pytest.raises(BadInput, match=message) as raised:
        publish("survey.csv", "count", **{**SURE, **JOINED, **options})
    assert "\n" not in str(raised.value)
    assert set(Path().iterdir()) == before


@pytest.mark.parametrize("name", [name for name, (written, _, _) in REFUSED.items() if written is not None])
def test_refusals_depend_on_no_record(name):
    written, options, _ = REFUSED[name]
    Path("wards.csv").write_bytes(written if isinstance(written, bytes) else written.encode())

    def message():
        with pytest.raises(BadInput) as raised:
            plan("survey.csv", "count", **{**SURE, **JOINED, **options})
        return str(raised.value)

    first = message()
    Path("survey.csv").write_text("ward,age,paid\n" + "zzz,,x\n" * 5)
    assert message() == first


def test_a_link_to_the_data_is_the_data():
    Path("link.csv").symlink_to("survey.csv")
    with pytest.raises(BadInput, match="is the data itself"):
        count("age > 3", lookup="link.csv")
    frame = pa.table({"ward": ["1"], "x": [1]})
    with pytest.raises(BadInput, match="is the data itself"):
        count("x > 0", frame, lookup=frame)


def test_a_lookup_is_never_written_over():
    for out in ("wards.csv", "./wards.csv"):
        with pytest.raises(BadInput, match=r"wards\.csv"):
            publish("survey.csv", "count", **SURE, **JOINED, out=out, force=True)
    assert Path("wards.csv").read_text() == WARDS
    assert not Path("survey.ledger").exists()


def test_no_lookup_of_several_is_written_over():
    for folder, column in (("a", "x"), ("b", "y")):
        Path(folder).mkdir()
        Path(folder, "w.csv").write_text(f"ward,{column}\n01,1\n")
    both = {"lookup": ["a/w.csv", "b/w.csv"], "on": ["ward", "ward"]}
    for out in both["lookup"]:
        with pytest.raises(BadInput, match=r"out: .*w\.csv"):
            publish("survey.csv", "count", "x = 1 AND y = 1", **SURE, **both, out=out, force=True)
    assert count("x = 1 AND y = 1", **both) == 2


def test_opaque_columns_are_no_keys():
    data = pa.table({"k": [[1], [2]], "v": [1, 2]})
    with pytest.raises(BadInput, match=r"on: names k, which is a list or a structure"):
        count("x = 1", data, lookup=pa.table({"k": ["1"], "x": [1]}), on="k")
    with pytest.raises(BadInput, match=r"lookup: has the column x, which is a list or a structure"):
        count("v = 1", data, lookup=pa.table({"v": [1], "x": [[1]]}), on="v")


# Several lookups, persons, and other questions.


def test_several_lookups():
    Path("ages.csv").write_text("age,band\n30,young\n70,old\n")
    both = {"lookup": ["wards.csv", "ages.csv"], "on": ["ward", "age"]}
    assert count("region = 'north' AND band = 'young'", **both) == 1
    assert count("band = 'old'", **both) == 1
    one, other = (
        plan("survey.csv", "count", "band = 'old'", **SURE, **each)
        for each in (both, {"lookup": ["ages.csv"], "on": ["age"]})
    )
    assert one.question() == other.question()  # what a question does not use is no part of it


def test_every_place_of_a_column():
    """Group, expression, condition, bins, weights, categories and rows of persons."""
    asked = [
        (("count",), {"by": "region", "groups": "north,south"}),
        (("count",), {"by": "r = UPPER(region), age", "groups": [("NORTH", "30")]}),
        (("count",), {"by": "region", "select_groups": True, "delta": "1e-6"}),
        (("histogram", "people"), {"bins": "500"}),
        (("median", "people", "region = 'north'"), {"bins": "0,500"}),
        (("sum", "share = people / 10"), {"lower": 0, "upper": 100, "step": 1}),
        (("sum", "paid"), {"lower": 0, "upper": 100, "step": 1, "weight": "people", "weight_upper": 900}),
        (("plurality", "region"), {"categories": "north,south"}),
        (("count-distinct", "region"), {}),
        (("count", "most > 500"), {"unit": "age", "person": "most = MAX(CAST(people AS DOUBLE))"}),
        (("sum", "people"), {"unit": "age", "per_person_upper": 1000, "step": 1}),
        (("column", "region"), {"categories": "north,south", "relation": "exchange"}),
    ]
    for words, options in asked:
        own = f"{options.get('unit')} {options.get('relation')}.ledger"
        published = publish("survey.csv", *words, **{**SURE, **JOINED, **options}, ledger=own, another_ledger=True)
        assert published.plan.subject()["lookups"][0]["on"] == "ward", words
    chosen = {**SURE, **JOINED, "ledger": "None None.ledger", "another_ledger": True}
    shown = publish("survey.csv", "count", **chosen, by="region", groups="south,north").answers
    assert [row[:2] for row in shown.rows()] == [("south", 1), ("north", 2)]
    planned = plan("survey.csv", "sum", "people", lower=0, upper=900, step=1, epsilon=1, **JOINED)
    assert read_statistics(planned, bytes(32)).nodes.values.tolist() == [1100]


def test_a_lookup_lists_the_groups_of_its_columns():
    Path("wards.csv").write_text(
        "ward,region,side,people\n02,south,,9\n01,north,left,9\n03,south,right,9\n04,,left,9\n"
    )
    listed = plan("survey.csv", "count", by="region", groups="wards.csv", epsilon=1, **JOINED)
    assert [listed.groups.names[place] for place in listed.groups.shown] == ["south", "north"]
    assert (
        listed.question()
        == plan("survey.csv", "count", by="region", groups="south,north", epsilon=1, **JOINED).question()
    )
    both = plan("survey.csv", "count", by="side,region", groups="./wards.csv", epsilon=1, **JOINED)
    assert both.groups.labels == (("left", "north"), ("right", "south"))
    chosen = plan("survey.csv", "plurality", "region", categories="wards.csv", epsilon=1, **JOINED)
    assert sorted(chosen.query.categories.names) == ["north", "south"]
    typed = {"types": {"people": {"type": "number", "decimal": ","}}}
    Path("wards.csv").write_text('ward,people\n01,"1,5"\n02,2\n')
    assert plan("survey.csv", "count", by="people", groups="wards.csv", epsilon=1, **JOINED, **typed).groups.names == (
        "1,5",
        "2",
    )
    for by in ("ward", "r = people", "people,age"):
        with pytest.raises(BadInput, match="groups: must have exactly the group columns"):
            plan("survey.csv", "count", by=by, groups="wards.csv", epsilon=1, **JOINED)


def test_names_of_columns_may_be_years():
    Path("wards.csv").write_text("ward,2021,2022\n01,5,7\n02,6,8\n")
    assert count('"2022" - "2021" = 2 AND "2022" > 7') == 1
    with pytest.raises(BadInput, match="choose from ward, age, paid, 2021, 2022"):
        count("agee > 3")


@pytest.mark.parametrize("name", ["place", "Place", "lookup0", "data", "k", "c0", "records", 'a "b"'])
def test_names_that_a_statement_uses_are_names_of_columns(name):
    """Of the data, and of a lookup; places of records are those of the file, whatever a column of that name holds."""
    rows = [("a", 3), ("b", 2), ("a", 1), ("c", 0)]
    data = pa.table({"key": [key for key, _ in rows], name: [number for _, number in rows]})
    lookup = pa.table({"key": ["a", "b"], "x": ["n", "s"]})
    asked = {"categories": ["n", "s"], "relation": "exchange", "epsilon": 1}
    planned = plan(data, "column", "x", **asked, lookup=lookup, on="key")
    assert read_statistics(planned, bytes(32)).nodes.codes.tolist() == [[0, 1, 0, 2]]
    quoted = name.replace('"', '""')
    assert count(f"x = 'n' AND \"{quoted}\" > 1", data, lookup=lookup, on="key") == 1
    joined = lookup.rename_columns(["key", name])
    data = data.rename_columns(["key", "id"])
    planned = plan(data, "column", name, **asked, lookup=joined, on="key")
    assert read_statistics(planned, bytes(32)).nodes.codes.tolist() == [[0, 1, 0, 2]]
    assert count(f"\"{quoted}\" = 'n' AND id > 1", data, lookup=joined, on="key") == 1


def test_every_form_of_data(tmp_path):
    table = pd.read_csv("survey.csv", dtype=str)
    table.to_parquet("survey.parquet")
    Path("survey.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.fillna("").to_dict("records")))
    with sqlite3.connect("survey.db") as connection:
        table.to_sql("survey", connection, index=False)
    assert count("region = 'north' AND people < 500", "survey.parquet") == 2
    assert count("region = 'north' AND people < 500", "sqlite:///survey.db#survey") == 2
    typed = {"types": {"ward": "text", "people": "integer"}}
    assert count("region = 'north' AND people < 500", "survey.jsonl", **typed) == 2
    Path("types.json").write_text(json.dumps(typed["types"]))
    assert count("region = 'north' AND people < 500", "survey.jsonl", types="types.json") == 2
    for frame in (table, pl.from_pandas(table), pl.from_pandas(table).lazy(), pa.Table.from_pandas(table)):
        assert count("region = 'north' AND people < 500", frame) == 2
    for lookup in (pd.read_csv("wards.csv", dtype=str), pl.read_csv("wards.csv", infer_schema=False)):
        assert count("region = 'north' AND people = '100'", lookup=lookup) == 2


def test_reports_and_readers_know_what_was_joined():
    chosen = {**SURE, **JOINED, "by": "region", "groups": "north,south"}
    publish("survey.csv", "count", **chosen, out="out.csv", report="out.html")
    assert "region from the lookup wards.csv (2 rows" in Path("out.html").read_text()
    assert "north" in str(irisdp.interpret("out.csv.release.json"))


def test_the_lookup_is_held_and_not_the_records():
    """An engine keeps what it joins with in memory; a stream of records may be longer than that."""
    Path("wards.csv").write_text("ward,region\n" + "".join(f"{n:05},r{n % 7}\n" for n in range(3000)))
    table = open_table("survey.csv", **JOINED)
    used = lookups.used_lookups(table.lookups, table.lookups[0].columns)
    connection = table._source.connect(["ward"])
    for name, relation in lookups.relations(used).items():
        connection.register(name, relation)
    ((_, explained),) = connection.execute(f"EXPLAIN {lookups.join(used, ['ward'])}").fetchall()
    assert "Join Type: LEFT" in explained
    assert explained.index("Projections: ward") < explained.index("Projections: k")


# What is kept of a lookup: its content is part of the question, and how it is written is none.


def test_the_content_is_part_of_the_question(capsys):
    first = publish("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED)
    Path("copy.tsv").write_text("people\tregion\tward\n900\tsouth\t02\n100\tnorth\t01\n")
    again = publish("survey.csv", "count", "region = 'north'", epsilon=1, lookup="copy.tsv", on="WARD")
    assert again.repeated
    assert again.answers.values == first.answers.values
    Path("wards.csv").write_text(WARDS.replace("02,south", "02,north"))
    other = publish("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED)
    assert not other.repeated
    assert str(other.cost.epsilon) == "1"
    assert irisdp.Ledger("survey.ledger").spent.epsilon == 2


def test_a_question_without_columns_of_a_lookup_is_the_question_without_it():
    for options in ({}, {"by": "ward", "groups": "01,02"}, {"unit": "ward", "at_most": 1, "where": "age > 3"}):
        joined = plan("survey.csv", "count", epsilon=1, **JOINED, **options)
        assert joined.question() == plan("survey.csv", "count", epsilon=1, **options).question()
        assert "lookups" not in joined.to_document()


def test_names_of_lookups_are_no_part_of_the_question_but_of_the_release():
    published = publish("survey.csv", "count", **SURE, **JOINED, by="region", groups="north,south", out="out.csv")
    document = json.loads(Path("out.csv.release.json").read_text())
    (lookup,) = document["lookups"]
    assert {name: lookup[name] for name in ("name", "on", "columns", "rows")} == {
        "name": "wards.csv",
        "on": "ward",
        "columns": ["region"],
        "rows": 2,
    }
    assert len(lookup["sha256"]) == 64
    assert "wards.csv" not in published.plan.question()
    assert lookup["sha256"] in published.plan.question()
    assert "region from the lookup wards.csv (2 rows, SHA-256 " in document["reading"]
    assert "ward as text (exact spelling)" in document["reading"]
    assert document["derived"] == {"region": "LOOKUP(ward)"}


def test_a_declared_type_of_a_joined_column_is_part_of_the_question():
    typed = plan("survey.csv", "sum", "people", lower=0, upper=9, epsilon=1, **JOINED, types={"people": "integer"})
    assert typed.subject()["types"] == {"people": "integer"}
    assert typed.subject()["lookups"][0]["columns"] == ["people"]
    assert "people as integer, ward as text (exact spelling)" in typed.asked.reading["reading"]


def test_a_type_of_the_key_is_part_of_the_question():
    asked = [
        plan("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED, types=types)
        for types in (None, {"ward": "integer"})
    ]
    assert asked[0].question() != asked[1].question()
    assert asked[1].subject()["types"] == {"ward": "integer"}


def test_the_scope_of_a_ledger_knows_no_lookup():
    publish("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED)
    publish("survey.csv", "count", "age > 30", epsilon=1)
    assert irisdp.Ledger("survey.ledger").spent.epsilon == 2


def test_public_membership_is_of_the_key():
    planned = plan(
        "survey.csv",
        "count",
        **SURE,
        **JOINED,
        by="region",
        groups="north,south",
        relation="exchange",
        public_membership=True,
    )
    assert list(planned.asked.promise.public_columns) == ["ward"]


def test_notes_on_spelling():
    Path("wards.csv").write_text("ward,region\n1,north\n02 ,south\n")
    notes = "; ".join(plan("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED).asked.describe_reading())
    assert "with ward as text: 1 counts records that spell it so, and not 01 or 1.0" in notes
    assert 'the key "02 " of wards.csv has blanks at an end' in notes
    Path("wards.csv").write_text("ward,region\nZu\u0308rich,north\n")
    notes = "; ".join(plan("survey.csv", "count", "region = 'north'", epsilon=1, **JOINED).asked.describe_reading())
    assert "not in NFC" in notes
    assert "as UTF-8; if the file is written in another encoding" in notes


# Everywhere that a question is asked.


def test_a_session_joins_for_all_its_questions():
    session = irisdp.Session("survey.csv", **JOINED, types={"people": "integer"})
    assert session.count("region = 'north'", **SURE).answers.values == [2]
    assert session.plan("count", "people > 100", epsilon=1).subject()["types"] == {"people": "integer"}
    batch = session.batch([{"query": "count", "expression": "region = 'south'"}], budget={"epsilon": 200})
    assert batch[0].answers.values == [1]
    assert any('"07"' in warning and "wards.csv does not have" in warning for warning in session.check().warnings)
    with pytest.raises(BadInput, match="is named by the session"):
        session.count("age > 3", epsilon=1, lookup="wards.csv")


def test_check_counts_records_without_a_match():
    (said,) = [each for each in check_data("survey.csv", **JOINED).warnings if "wards.csv" in each]
    assert said == (
        '2 records have a ward that wards.csv does not have, such as "07", "1"; '
        "the columns of the lookup are null there."
    )
    (said,) = [
        each for each in check_data("survey.csv", **JOINED, types={"ward": "integer"}).warnings if "wards.csv" in each
    ]
    assert said.startswith('1 record has a ward that wards.csv does not have, such as "7"')


def test_a_project_joins_files_beside_it(tmp_path, monkeypatch):
    Path("survey.iris.toml").write_text('lookup = "wards.csv"\non = "ward"\n[groups]\nregion = ["north", "south"]\n')
    monkeypatch.chdir(tmp_path.parent)
    data = tmp_path / "survey.csv"
    planned = plan(data, "count", by="region", **SURE)
    assert planned.groups.names == ("north", "south")
    assert planned.project_says == ("lookup", "on", "groups")
    assert (
        planned.question()
        == plan(
            data, "count", by="region", groups=["north", "south"], **SURE, lookup=tmp_path / "wards.csv", on="ward"
        ).question()
    )
    (tmp_path / "survey.iris.toml").write_text('lookup = ["wards.csv"]\non = "wrad"\n')
    with pytest.raises(BadInput, match=r"in survey.iris.toml, on names the column 'wrad'"):
        plan(data, "count", **SURE)
    (tmp_path / "survey.iris.toml").write_text("lookup = 3\n")
    with pytest.raises(BadInput, match=r'gives lookup a number.*lookup = "wards.csv"'):
        plan(data, "count", **SURE)


def test_plans_join(tmp_path, monkeypatch):
    dataset = '[datasets.s]\ndata = "survey.csv"\nlookup = "wards.csv"\non = "ward"\n'
    Path("plan.toml").write_text(
        dataset + '[[questions]]\nquery = "count"\nexpression = "region = \'north\'"\nepsilon = 200\nout = "a.csv"\n'
    )
    monkeypatch.chdir(tmp_path.parent)
    irisdp.run(tmp_path / "plan.toml")
    assert (tmp_path / "a.csv").read_text().splitlines()[1].startswith("2,")
    (tmp_path / "plan.toml").write_text((tmp_path / "plan.toml").read_text().replace("a.csv", "wards.csv"))
    with pytest.raises(BadInput, match=r"wards.csv"):
        irisdp.run(tmp_path / "plan.toml", force=True)
    assert (tmp_path / "wards.csv").read_text() == WARDS


def test_the_command_line(capsys):
    joined = ["--lookup", "wards.csv", "--on", "ward"]
    grouped = ["--by", "region", "--groups", "north,south", "--epsilon", "200"]
    assert run(["publish", "survey.csv", "count", *grouped, *joined, "--json"]) == 0
    assert [row["answer"] for row in json.loads(capsys.readouterr().out)["answers"]] == [2, 1]
    assert run(["publish", "survey.csv", "count", "--epsilon", "1", "--lookup", "wards.csv"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "--lookup: occurs once, and --on not at all; give one --on KEY for each lookup" in error
    assert run(["check", "survey.csv", *joined, "--json"]) == 0
    assert "wards.csv does not have" in capsys.readouterr().out
