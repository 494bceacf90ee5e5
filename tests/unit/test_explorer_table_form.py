"""The forms of the page Table change the project file, and nothing of it that a form left as it was."""

import tomllib
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("tomlkit", reason="tomlkit is not installed: `make test` installs it")

from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput, ScopeRefused, publish
from irisdp._explorer.table_form import (
    TYPE_OF,
    column_changes,
    column_fields,
    column_values,
    table_changes,
    table_fields,
    table_values,
    type_changes,
)
from irisdp._release.declared_table import save_settings, table_settings
from irisdp._release.project import read_project
from irisdp._tables import open_table

RECORDS = "1,70,Ely,20000000\n2,71,Wells,19000000\n"
PROJECT = """\
# The survey of 2024.
privacy_unit = "person_id"
limit = 1.50  # agreed with the council
[types]
AGE = {type = "integer", missing = [-9, 99]}  # years
[groups]
town = ["Ely", "Wells, St Cuthbert", 7, 1970-01-01]
[labels.groups.town]
"a = b" = "Both"
"""


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(f"person_id,age,town,pay\n{RECORDS}")
    return path


@pytest.fixture
def declared(data):
    data.with_name("survey.iris.toml").write_text(PROJECT)
    return data


def text_of(data):
    return data.with_name("survey.iris.toml").read_text()


def save_column(data, name, **given):
    found = table_settings(data)
    column = found.column(name)
    return save_settings(data, column_changes(column, {**column_values(column), **given}), found.version)


def save_table(data, **given):
    found = table_settings(data)
    return save_settings(data, table_changes(found, {**table_values(found), **given}), found.version)


# What is declared of a table, without a record of it.


def test_columns_come_from_the_header_and_the_project_file(declared):
    found = table_settings(declared)
    assert [(column.name, column.kind, column.type) for column in found.columns] == [
        ("person_id", "untyped", ""),
        ("age", "untyped", "integer"),
        ("town", "untyped", ""),
        ("pay", "untyped", ""),
    ]
    assert found.settings == {"unit": "person_id", "limit": "1.50"} and found.is_there and not found.problem
    assert column_values(found.column("town"))["groups"] == 'Ely\n"Wells, St Cuthbert"\n7\n1970-01-01'
    assert column_values(found.column("town"))["group_labels"] == '"a = b" = Both'
    assert column_values(found.column("age"))["missing"] == "-9,99"


def test_no_record_is_read(declared, monkeypatch):
    before = table_settings(declared)
    # A file whose records cannot be read at all, and a header as before.
    declared.write_bytes(declared.read_bytes().splitlines(keepends=True)[0] + b"\xff\xfe\x00,,,,,,\n" * 3)
    assert table_settings(declared) == before


@pytest.mark.parametrize("header", ["person_id,1971-02-03,town\n", "4711,ann@example.com,Ely\n", "Ann,Ann,Ely\n"])
def test_a_first_line_that_may_be_a_record_is_not_shown(tmp_path, header):
    path = tmp_path / "survey.csv"
    path.write_text(header + RECORDS)
    found = table_settings(path)
    assert found.problem and not found.columns
    for value in ("1971", "4711", "ann", "Ann", "Ely", "70"):
        assert value not in repr(found).replace(str(tmp_path), "")


def test_the_ledger_does_not_name_a_first_line_that_may_be_a_record(data):
    publish(data, "count", "age > 3", epsilon=1)
    data.write_text("4711,ann@example.com,Ely,1\n" + RECORDS)
    found = table_settings(data)
    assert found.problem and "ann" not in repr(found) and "4711" not in repr(found)


def test_a_table_that_cannot_be_opened_says_why_and_can_be_mended(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_bytes("Größe;age;age\n".encode("latin-1") + b"Our survey\nperson_id;age\n1;70\n")
    found = table_settings(path)
    assert found.problem and not found.columns
    found = save_table(path, encoding="latin-1")
    assert found.problem
    found = save_table(path, skip_rows="2", delimiter=";")
    assert [column.name for column in found.columns] == ["person_id", "age"] and not found.problem


def test_other_names_of_the_project_file_are_shown_and_said_to_be_no_columns(data):
    data.with_name("survey.iris.toml").write_text('[labels.columns]\nanswer = "Number"\n')
    found = table_settings(data)
    assert (found.columns[-1].name, found.columns[-1].kind, found.columns[-1].label) == ("answer", "", "Number")


def test_json_lines_have_the_columns_that_are_declared(tmp_path):
    path = tmp_path / "survey.jsonl"
    path.write_text('{"age": 70, "town": "Ely"}\n')
    found = table_settings(path)
    assert found.problem and found.names_columns and "Ely" not in repr(found)


# A form that is sent as it is shown changes nothing.


def test_a_form_that_is_sent_as_it_is_shown_changes_nothing(declared):
    found = table_settings(declared)
    for column in found.columns:
        shown = column_values(column)
        sent = {name: text.replace("\n", "\r\n") for name, text in shown.items()}  # as browsers do
        assert column_changes(column, sent) == []
        assert {field.name for field in column_fields(column)} <= set(shown)
    assert table_changes(found, table_values(found)) == []
    assert type_changes(found.columns, {TYPE_OF + column.name: column.type for column in found.columns}) == []
    assert {field.name for field in table_fields(found)} == set(table_values(found))


# Each field says what a project file then says.


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("age", {"type": "number"}, {"types": {"AGE": {"type": "number", "missing": [-9, 99]}}}),
        ("age", {"type": ""}, {"types": {"AGE": {"missing": [-9, 99]}}}),
        ("age", {"missing": ""}, {"types": {"AGE": "integer"}}),
        ("age", {"missing": "77, 88"}, {"types": {"AGE": {"type": "integer", "missing": ["77", "88"]}}}),
        ("age", {"type": "", "missing": ""}, {"types": {}}),
        ("pay", {"type": "number", "decimal": ",", "thousands": '" "'},
         {"types": {"pay": {"type": "number", "decimal": ",", "thousands": " "}}}),
        ("pay", {"type": "text", "decimal": ","}, {"types": {"pay": "text"}}),
        ("pay", {"type": "date", "format": "%d.%m.%Y"}, {"types": {"pay": {"type": "date", "format": "%d.%m.%Y"}}}),
        ("age", {"label": "Age in years"}, {"labels": {"columns": {"age": "Age in years"}}}),
        ("town", {"groups": 'Ely\r\n"Wells, St Cuthbert"'}, {"groups": {"town": ["Ely", "Wells, St Cuthbert"]}}),
        ("town", {"groups": "Ely, York,7"}, {"groups": {"town": ["Ely", "York", 7]}}),
        ("town", {"groups": ""}, {"groups": {}}),
        ("town", {"categories": '"say ""a"""'}, {"categories": {"town": ['say "a"']}}),
        ("town", {"group_labels": "Ely = The = sign\n"}, {"labels": {"groups": {"town": {"Ely": "The = sign"}}}}),
        ("town", {"group_labels": '"a = b" = One\nEly = Two'},
         {"labels": {"groups": {"town": {"a = b": "One", "Ely": "Two"}}}}),
    ],
)  # fmt: skip
def test_a_field_of_a_column_is_what_the_project_file_then_says(declared, name, given, said):
    before = tomllib.loads(PROJECT)
    found = save_column(declared, name, **given)
    after = tomllib.loads(text_of(declared))
    for section, tables in said.items():
        for key, value in tables.items():
            assert after.get(section, {}).get(key) == value
    assert {key: value for key, value in after.items() if key not in said} == {
        key: value for key, value in before.items() if key not in said
    }
    assert "# agreed with the council" in text_of(declared)
    assert column_changes(found.column(name), column_values(found.column(name))) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"relation": "exchange"}, {"relation": "exchange"}),
        ({"at_most": "3"}, {"at_most": 3}),
        ({"limit": "2,1e-6"}, {"limit": "2,1e-6"}),
        ({"title": "Our survey"}, {"title": "Our survey"}),
        ({"missing_codes": '-9,"a,b"'}, {"missing_codes": ["-9", "a,b"]}),
        ({"comment": "#", "footer_rows": "0"}, {"comment": "#", "footer_rows": 0}),
        ({"unit": ""}, {}),
    ],
)
def test_a_field_of_the_table_is_what_the_project_file_then_says(declared, given, said):
    kept = {"unit": "person_id", "limit": "1.50"}
    found = save_table(declared, **given)
    assert dict(found.settings) == {name: value for name, value in kept.items() if name not in given} | said
    assert {name: table_values(found)[name] for name in given} == given
    assert read_project(declared.with_name("survey.iris.toml")) is not None


def test_the_types_of_many_columns_are_saved_at_once(declared):
    found = table_settings(declared)
    changes = type_changes(found.columns, {f"{TYPE_OF}age": "number", f"{TYPE_OF}pay": "integer"})
    save_settings(declared, changes, found.version)
    assert read_project(declared.with_name("survey.iris.toml")).types == {
        "AGE": {"type": "number", "missing": [-9, 99]},
        "pay": "integer",
    }
    assert 'AGE = {type = "number", missing = [-9, 99]}  # years' in text_of(declared)
    table = open_table(str(declared), types=read_project(declared.with_name("survey.iris.toml")).types)
    assert [str(column.kind) for column in table.columns] == ["untyped", "a number", "untyped", "a whole number"]


# What is wrong is refused by the name of its field, before the file is touched.


@pytest.mark.parametrize(
    ("name", "given", "field"),
    [
        ("age", {"type": "whole"}, "type"),
        ("town", {"group_labels": "Ely"}, "group_labels"),
        ("town", {"group_labels": "Ely = "}, "group_labels"),
        ("town", {"group_labels": "Ely = a\nEly = b"}, "group_labels"),
        ("age", {"label": "x" * 301}, "project"),
        ("pay", {"type": "number", "decimal": ";"}, "project"),
        ("pay", {"type": "date", "format": "%Q"}, "project"),
    ],
)
def test_a_wrong_field_of_a_column_is_refused_by_name(declared, name, given, field):
    with pytest.raises(BadInput) as refused:
        save_column(declared, name, **given)
    assert refused.value.field == field and text_of(declared) == PROJECT


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"at_most": "a few"}, "at_most"),
        ({"skip_rows": "-1"}, "skip_rows"),
        ({"unit": "persn"}, "project"),
        ({"limit": "everything"}, "project"),
        ({"encoding": "utf-99"}, "project"),
        ({"relation": "sideways"}, "project"),
        ({"delimiter": "ab"}, "project"),
    ],
)
def test_a_wrong_field_of_the_table_is_refused_by_name(declared, given, field):
    with pytest.raises(BadInput) as refused:
        save_table(declared, **given)
    assert refused.value.field == field and text_of(declared) == PROJECT


def test_what_the_ledger_contradicts_is_refused_and_says_how(data):
    save_table(data, unit="person_id", limit="5")
    publish(data, "count", "age > 3", epsilon=1, at_most=1)
    before = text_of(data)
    for wrong, words in (
        ({"relation": "exchange"}, "uses relation add-remove; you asked for relation exchange"),
        ({"unit": "town"}, "uses unit person_id; you asked for unit town"),
        ({"limit": "6"}, "sets the limit"),
    ):
        with pytest.raises(ScopeRefused, match=words):
            save_table(data, **wrong)
    with pytest.raises(ScopeRefused, match="person_id says what the ledger protects"):
        save_column(data, "person_id", type="integer")
    assert text_of(data) == before and not table_settings(data).contradiction
    assert save_column(data, "age", type="integer").column("age").type == "integer"


def test_a_contradiction_that_was_there_keeps_nobody_from_other_settings(data):
    publish(data, "count", "age > 3", epsilon=1)
    data.with_name("survey.iris.toml").write_text('relation = "exchange"\n')
    assert "uses relation add-remove" in table_settings(data).contradiction
    assert save_column(data, "age", label="Age").contradiction
    assert not save_table(data, relation="").contradiction


def test_a_form_of_an_earlier_version_of_the_file_is_not_saved(declared):
    found = table_settings(declared)
    changes = table_changes(found, {**table_values(found), "at_most": "2"})
    declared.with_name("survey.iris.toml").write_text(PROJECT + "# another remark\n")
    with pytest.raises(BadInput, match="changed meanwhile"):
        save_settings(declared, changes, found.version)
    assert text_of(declared) == PROJECT + "# another remark\n"


words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), max_size=12)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(words.filter(lambda text: text.strip()), unique=True, max_size=5),
    st.dictionaries(words, words.map(str.strip).filter(bool), max_size=4),
)
def test_any_values_and_labels_come_back_as_they_were_written(groups, labels):
    from irisdp._release.declared_table import ColumnSettings

    column = ColumnSettings(name="town", kind="untyped", takes_type=True)
    shown = column_values(ColumnSettings(name="town", groups=tuple(groups), group_labels=labels))
    changes = {change.path: change.value for change in column_changes(column, shown)}
    assert changes.pop(("groups", "town"), []) == groups
    assert changes == {("labels", "groups", "town", value): label for value, label in labels.items()}


def test_the_page_is_not_for_a_table_without_a_place(tmp_path):
    found = table_settings("postgresql://db.invalid/x#t", project=tmp_path / "t.iris.toml")
    assert found.place == Path(tmp_path / "t.iris.toml") and found.problem and not found.columns
