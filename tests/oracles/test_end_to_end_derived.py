"""The proof by exhaustion for expressions and bins, bugs it must catch, and whose record no question moves."""

import pytest

from irisdp._queries import PrivacyUnit, privacy_units, read_by, read_groups, statistics
from irisdp._queries.derived_columns import read_bins
from irisdp._queries.statistics import count_records
from irisdp._tables.table import open_table
from support.exhaustion import (
    DELTA,
    LOTS,
    MODES,
    caught,
    engine_once,
    forget_counts,
    frame,
    neighbours,
    personal_neighbours,
    violations,
)
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

SELECTED = {"by": "h = COALESCE(g, 'none')", "select_groups": True, "selection_delta": DELTA, "delta": DELTA}
BINNED = {"by": "h = BINS(v, 1)", "groups": ["below 1", "1 and over"]}


@pytest.fixture
def forget():
    yield
    forget_counts()


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("options", [SELECTED, BINNED], ids=["selected", "binned"])
def test_groups_by_expressions_cannot_be_told_apart(options, relation):
    wrong, compared = violations("count", {**options, "relation": relation}, neighbours(relation, "any"))
    assert compared > 100
    assert wrong == 0


def test_histograms_by_groups_cannot_be_told_apart():
    options = {**MODES["declared"], "relation": "add-remove"}
    wrong, compared = violations("histogram", options, neighbours("add-remove", "any"))
    assert compared > 100
    assert wrong == 0


def rewritten(monkeypatch, old, new):
    """Plant a bug in the statement that reads the records."""
    real = statistics.records_statement

    def planted(*arguments):
        statement = real(*arguments)
        assert old in statement
        return statement.replace(old, new)

    monkeypatch.setattr(statistics, "records_statement", planted)
    forget_counts()


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
