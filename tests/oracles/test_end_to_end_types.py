"""The proof by exhaustion over text files whose columns have declared types, and bugs that it must catch."""

from dataclasses import replace

import numpy as np
import pytest
import sqlglot

from irisdp._tables import column_types
from irisdp._tables import text_files as reader
from irisdp._tables.table import Table, open_table
from support import exhaustion
from support.exhaustion import DELTA, LOTS, assert_private, caught, neighbours, personal_neighbours
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

TYPES = {"v": "integer", "u": "integer", "g": "text"}
SPELT = {None: "1.5", 0: "-0", 1: " 1.0"}
"""How values are written: that which is none is what an engine's own cast would round."""
WHOLE = {"relation": "add-remove", "types": TYPES}
GROUPED = {**WHOLE, "by": "v", "groups": [0, 1, 2]}
SELECTED = {**WHOLE, "by": "v", "select_groups": True, "selection_delta": DELTA, "delta": DELTA}
PERSONS = {**WHOLE, "unit": "u", "at_most": 1}


def persons_name(person, value):
    """Write a person's number in two ways, of which the record's value decides."""
    return "" if person is None else f"{person}.0" if value else f"0{person}"


@pytest.fixture(autouse=True)
def text_files(tmp_path, monkeypatch):
    """Let tables be text files."""

    def written(table):
        rows = [(None, *row) if len(row) == 2 else row for row in table]
        lines = [f"{persons_name(u, v)},{g or ''},{SPELT[v]}\n" for u, g, v in rows]
        file = tmp_path / "t.csv"
        file.write_text("".join(["u,g,v\n", *lines]))
        return file

    monkeypatch.setattr(exhaustion, "frame", written)
    monkeypatch.setattr(exhaustion, "opened", lambda table: open_table(written(table), types=TYPES))


def small(pairs, most=3):
    return {pair for pair in pairs if max(map(len, pair)) <= most}


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize(
    ("query", "options"), [("majority", WHOLE), ("count", GROUPED), ("count", SELECTED)], ids=["whole", "by", "select"]
)
def test_tables_of_typed_text_cannot_be_told_apart(query, options, relation):
    assert_private(query, {**options, "relation": relation}, small(neighbours(relation, "any")), more_than=100)


@pytest.mark.parametrize("options", [PERSONS, {**PERSONS, **GROUPED}], ids=["whole", "by"])
def test_persons_whose_numbers_are_written_in_two_ways_cannot_be_told_apart(options):
    pairs = small(personal_neighbours("add-remove"), tried(2, 3))
    assert_private("count-where", options, pairs, LOTS[1], more_than=30)


@pytest.mark.parametrize(("query", "options"), [("majority", WHOLE), ("count", GROUPED)], ids=["whole", "by"])
def test_a_type_that_other_records_decide_is_caught(query, options, monkeypatch):
    real = column_types._reading

    def sniffed(text, kind):
        read = real(text, kind).sql("duckdb")
        return sqlglot.parse_one(f"CASE WHEN BOOL_AND(({read}) IS NOT NULL) OVER () THEN ({read}) END", "duckdb")

    monkeypatch.setattr(column_types, "_reading", sniffed)
    assert caught(query, options, small(neighbours("add-remove", "any")))


def test_persons_that_are_told_apart_as_text_are_caught(monkeypatch):
    real = Table.column

    def untyped(table, name, field):
        return real(table, name, field).sources[0] if field == "unit" else real(table, name, field)

    monkeypatch.setattr(Table, "column", untyped)
    assert caught("count", PERSONS, small(personal_neighbours("add-remove")))


WRITTEN = {
    "skip_rows": 1,
    "comment": "#",
    "footer_rows": 2,
    "types": {"v": {"type": "integer", "thousands": "'", "missing": [7]}, "g": "text"},
    "missing_codes": ["x"],
}
SPELT_AS_DECLARED = {None: "7.0", 0: "-0", 1: "1"}


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize(("query", "options"), [("majority", {}), ("count", {"by": "v", "groups": ["0", "1", "2"]})])
def test_tables_of_declared_formats_cannot_be_told_apart(query, options, relation, tmp_path, monkeypatch):
    """One of the two rows of the declared footer is a record: whatever was declared, privacy holds."""

    def written(table):
        lines = [f"{g or 'x'},{SPELT_AS_DECLARED[v]}\n# a comment\n" for g, v in table]
        file = tmp_path / "w.csv"
        file.write_text("".join(["Report, of 2024\n", "g,v\n", *lines, "Total,3\n"]))
        return file

    monkeypatch.setattr(exhaustion, "frame", written)
    monkeypatch.setattr(exhaustion, "opened", lambda table: open_table(written(table), **WRITTEN))
    pairs = small(neighbours(relation, "any"))
    assert_private(query, {"relation": relation, **WRITTEN, **options}, pairs, more_than=20)


# Comments and footers: which records are none may depend on no other record.

MARKED = {"comment": "#", "footer_rows": 1}
MARKED_NAMES = {None: "#x", "a": "Total", "b": "b"}
"""Records that look like a comment, or like a footer."""


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """Let tables be text files whose records may look like comments and footers, and end in a footer."""

    def written(table):
        rows = [row[-2:] for row in table]
        file = tmp_path / "m.csv"
        lines = [f"{MARKED_NAMES[g]},{SPELT[v]}\n" for g, v in rows]
        file.write_text("".join(["g,v\n", *lines, "Total,3\n"]))
        return file

    monkeypatch.setattr(exhaustion, "frame", written)
    monkeypatch.setattr(
        exhaustion, "opened", lambda table: open_table(written(table), types={"v": "integer"}, **MARKED)
    )


MARKED_QUESTIONS = [
    ("majority", {"types": {"v": "integer"}, **MARKED}),
    ("count", {"types": {"v": "integer"}, "by": "v", "groups": [0, 1, 2], **MARKED}),
]


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize(("query", "options"), MARKED_QUESTIONS, ids=["whole", "by"])
def test_records_that_look_like_comments_or_footers_cannot_be_told_apart(query, options, relation):
    pairs = small(neighbours(relation, "any"))
    if relation == "exchange":  # the number of records is public, and comments are none
        pairs = {pair for pair in pairs if len({sum(g is not None for g, _ in table) for table in pair}) == 1}
    assert_private(query, {"relation": relation, **options}, pairs, more_than=20)


def stopped_by_a_comment(blocks, form):
    """Read no record from the first comment on."""
    real = list(_records(blocks, replace(form, comment="")))
    for block in real:
        marks = _begins(block)[block.kept]
        first = int(marks.argmax()) if marks.any() else len(block.kept)
        yield replace(block, kept=block.kept[:first])
        if marks.any():
            return


def footer_that_is_found(blocks, form):
    """Take for the footer all that follows the first record that begins like one."""
    for block in _records(blocks, replace(form, footer_rows=0)):
        begins = [bytes(block.data[start : start + 5]) == b"Total" for start in _starts(block)]
        first = begins.index(True) if any(begins) else len(begins)
        yield replace(block, kept=block.kept[:first])
        if any(begins):
            return


def footer_as_long_as_comments(blocks, form):
    """Leave out two more rows at the end for each comment."""
    held = list(blocks)
    comments = sum(int(_begins(block)[block.kept].sum()) for block in held)
    return _records(iter(held), replace(form, footer_rows=form.footer_rows + 2 * comments))


def _starts(block):
    return block.fields.starts[block.fields.firsts[block.kept]].tolist()


def _begins(block):
    return reader._begin_with(block, np.frombuffer(b"#", np.uint8))


_records = reader.records_of
BROKEN = [stopped_by_a_comment, footer_that_is_found, footer_as_long_as_comments]


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(("query", "options"), MARKED_QUESTIONS, ids=["whole", "by"])
def test_a_reader_that_lets_one_record_decide_about_others_is_caught(query, options, broken, monkeypatch):
    monkeypatch.setattr(reader, "records_of", broken)
    assert caught(query, {"relation": "add-remove", **options}, small(neighbours("add-remove", "any")))
