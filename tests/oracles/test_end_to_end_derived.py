"""The proof by exhaustion for expressions and bins, bugs it must catch, and whose record no question moves."""

import itertools

import duckdb
import polars as pl
import pyarrow.compute
import pytest

from irisdp._queries import PrivacyUnit, privacy_units, read_by, read_groups
from irisdp._queries.derived_columns import read_bins
from irisdp._queries.statistics import count_records
from irisdp._tables import arrow_values, dataframes, text_files
from irisdp._tables.table import open_table
from support import exhaustion
from support.exhaustion import (
    ASKED,
    DELTA,
    LOTS,
    MODES,
    assert_private,
    caught,
    engine_once,
    forget,
    forget_counts,
    frame,
    in_form,
    modes_of,
    neighbours,
    personal_neighbours,
    rewritten,
)
from support.sweeps import tried

__all__ = ["engine_once", "forget"]

pytestmark = pytest.mark.usefixtures("engine_once")

SELECTED = {"by": "h = COALESCE(g, 'none')", "select_groups": True, "selection_delta": DELTA, "delta": DELTA}
BINNED = {"by": "h = BINS(v, 1)", "groups": ["below 1", "1 and over"]}


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("options", [SELECTED, BINNED], ids=["selected", "binned"])
def test_groups_by_expressions_cannot_be_told_apart(options, relation):
    assert_private("count", {**options, "relation": relation}, neighbours(relation, "any"), more_than=100)


def test_histograms_by_groups_cannot_be_told_apart():
    options = {**MODES["declared"], "relation": "add-remove"}
    assert_private("histogram", options, neighbours("add-remove", "any"), more_than=100)


PLANTED = {
    "an edge read off the data": ("CAST('1.0' AS DOUBLE)", "(SELECT COALESCE(MAX(v), 0) FROM data)"),
    "a record on an edge on both sides of it": (
        "FROM data)",
        "FROM (SELECT * FROM data UNION ALL SELECT * REPLACE (0 AS v) FROM data WHERE v = 1) AS data)",
    ),
}


@pytest.mark.usefixtures("forget")
@pytest.mark.parametrize("query", ["histogram", "count"])
@pytest.mark.parametrize("bug", PLANTED)
def test_wrong_edges_are_caught(query, bug, monkeypatch):
    rewritten(monkeypatch, *PLANTED[bug])
    options = MODES["declared"] if query == "histogram" else BINNED
    assert caught(query, {**options, "relation": "add-remove"}, neighbours("add-remove", "any"))


@pytest.mark.usefixtures("forget")
def test_an_expression_that_depends_on_other_records_is_caught(monkeypatch):
    rewritten(monkeypatch, "CAST('1.0' AS DOUBLE)", "CAST((SELECT COUNT(*) FROM data) - 1 AS DOUBLE)")
    options = {**MODES["expression"], "relation": "add-remove"}
    assert caught("count-where", options, neighbours("add-remove", "any"))


def test_a_histogram_of_persons_that_forgets_them_is_caught():
    assert caught("histogram", {**MODES["declared"], "relation": "add-remove"}, personal_neighbours("add-remove"))


def one_record_whatever_is_asked(tables, key):
    """Tell whether the groups that persons count in stay the same when they are also told apart by an expression."""
    unit = PrivacyUnit("u", key)
    for table in tables:
        plain = open_table(frame(table))
        within, names = read_by(plain, "g, h = CASE WHEN v < 1 THEN 'low' ELSE 'high' END")
        parted = read_groups(within, names, [(g, h) for g in ("a", "b") for h in ("low", "high")])
        by_both = count_records(within, groups=parted, unit=unit).total.reshape(2, 2).sum(axis=1)
        groups = read_groups(plain, "g", ["a", "b"])
        binned = read_bins(plain, "v", "1")
        in_bins = count_records(binned.within(plain), groups=binned.groups, unit=unit).total.sum()
        by_group = count_records(plain, groups=groups, unit=unit).total
        if by_both.tolist() != by_group.tolist() or in_bins != by_group.sum():
            return False
    return True


@pytest.fixture(scope="module")
def tables():
    return sorted({table for pair in personal_neighbours("add-remove") for table in pair}, key=str)


@pytest.mark.parametrize("lot", range(len(LOTS)))
def test_a_person_keeps_one_record_whatever_it_is_grouped_by(tables, lot):
    assert one_record_whatever_is_asked(tables[lot :: 3 * tried(3, 1)], LOTS[lot])


@pytest.mark.usefixtures("forget")
def test_a_derived_column_that_is_hashed_is_caught(tables, monkeypatch):
    real = privacy_units._hashed
    monkeypatch.setattr(privacy_units, "_hashed", lambda table, unit: [*real(table, unit), *table.derived])
    forget_counts()
    assert not all(one_record_whatever_is_asked(tables, key) for key in LOTS)


# The proof by exhaustion over what other engines hold: frames of Polars and pandas, DuckDB relations and text
# files.
#
# Every table of the proof is made anew in each form, opened as it is, and read by the engine that reads that form;
# the law is that of what `publish` would print for that reading. `make test` asks a part, of tables of at most two
# records; all questions of all tables are asked with IRISDP_WHOLE. Spark starts a minute of processes for what
# takes a second here; that it reads a table as DuckDB does is shown by `tests/spark/test_every_form.py`.


@pytest.fixture
def database():
    with duckdb.connect() as session:
        session.execute("SET threads = 1")
        yield session


@pytest.fixture
def forms(tmp_path, database):
    """Return the forms: what makes each of an Arrow table."""
    numbers = itertools.count()

    def text_file(table):
        file = tmp_path / f"{next(numbers)}.csv"
        lines = [",".join("" if value is None else str(value) for value in row.values()) for row in table.to_pylist()]
        file.write_text("\n".join([",".join(table.column_names), *lines, ""]))
        return file

    def categories(table):
        """As pandas reads them: beside a null it holds whole numbers as doubles, and so it does among categories."""
        return table.to_pandas().astype({"g": object, "v": "category"})

    return {
        "Polars": pl.from_arrow,
        "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),
        "pandas": categories,
        "DuckDB": database.from_arrow,
        "CSV": text_file,
    }


NAMES = ("Polars", "Polars, lazy", "pandas", "DuckDB", "CSV")
PART = [("count-where", "declared"), ("majority", "selected"), ("plurality", "whole"), ("count-values", "selected")]
WHOLE = [(query, mode) for query in ASKED for mode in modes_of(query)]


@pytest.fixture
def form(request, forms, monkeypatch):
    in_form(monkeypatch, request.param, forms[request.param])
    yield request.param
    forget_counts()


RECORDS, PERSONS = tried((2, 2), (4, 3))
"""How many records the largest tables have; of persons fewer."""


def small(pairs, most=RECORDS):
    return {pair for pair in pairs if max(map(len, pair)) <= most}


@pytest.mark.parametrize("form", NAMES, indirect=True)
@pytest.mark.parametrize(("query", "mode"), tried(PART, WHOLE))
def test_no_neighbours_can_be_told_apart(form, query, mode):
    for relation in ("add-remove", "exchange"):
        if (mode, relation) == ("public", "add-remove"):
            continue
        options = {**MODES[mode], "relation": relation, "delta": DELTA}
        assert_private(query, options, small(neighbours(relation, mode)), more_than=40)


@pytest.mark.parametrize("form", NAMES, indirect=True)
@pytest.mark.parametrize("per_unit", tried([None], [None, "any", "all"]))
def test_no_person_can_be_told_apart(form, per_unit):
    pairs = small(personal_neighbours("add-remove"), PERSONS)
    options = {**MODES["declared"], "relation": "add-remove", "unit": "u"}
    options |= {"at_most": 1} if per_unit is None else {"per_unit": per_unit}
    assert_private("count-where", options, pairs, LOTS[1], more_than=30)


# Bugs of one engine's path: a null takes the value of the record before, and the like.


def filled_frames(patch):
    real = dataframes.arrow_table

    def filled(*given):
        table = real(*given)
        place = table.column_names.index("v")
        return table.set_column(place, "v", pyarrow.compute.fill_null_forward(table["v"]))

    patch.setattr(dataframes, "arrow_table", filled)


def frames_that_are_computed_twice(patch):
    real = dataframes._collected
    patch.setattr(dataframes, "_collected", lambda frame: real(pl_twice(frame)))


def pl_twice(frame):
    import narwhals as nw

    return nw.concat([frame, frame])


def texts_as_python_writes_numbers(patch):
    patch.setattr(arrow_values, "text_of", lambda value: None if arrow_values._is_missing(value) else str(value))


def types_by_other_records(patch):
    real = dataframes._plain
    patch.setattr(
        dataframes,
        "_plain",
        lambda value, kind: f"CASE WHEN bool_and({real(value, kind)} IS NOT NULL) OVER () THEN {real(value, kind)} END",
    )


def filled_texts(patch):
    real = text_files._few

    def filled(*given):
        found = real(*given)
        return pyarrow.compute.fill_null_forward(found)

    patch.setattr(text_files, "_few", filled)


PLANTED_OF_FORMS = {
    "Polars": filled_frames,
    "Polars, lazy": frames_that_are_computed_twice,
    "pandas": texts_as_python_writes_numbers,
    "DuckDB": types_by_other_records,
    "CSV": filled_texts,
}


@pytest.mark.parametrize("form", NAMES, indirect=True)
def test_a_bug_of_one_engine_is_caught(form, monkeypatch):
    forget_counts()
    PLANTED_OF_FORMS[form](monkeypatch)
    named = {"by": "v", "select_groups": True, "selection_delta": DELTA, "delta": DELTA} if form == "pandas" else {}
    query = "count" if named else "count-where"
    assert caught(query, {"relation": "add-remove", **named}, small(neighbours("add-remove", "any"), 3))


def test_a_bug_of_one_engine_is_none_of_anothers(forms, monkeypatch):
    forget_counts()
    types_by_other_records(monkeypatch)
    in_form(monkeypatch, "Polars", forms["Polars"])
    assert not caught("count-where", {"relation": "add-remove"}, small(neighbours("add-remove", "any"), 2))
    forget_counts()


def test_every_form_is_another_source(forms):
    one = exhaustion.frame((("a", 1), ("a", None)))
    kinds = {name: type(forms[name](one)).__module__.lstrip("_").split(".")[0] for name in NAMES}
    assert list(kinds.values()) == ["polars", "polars", "pandas", "duckdb", "pathlib"]
