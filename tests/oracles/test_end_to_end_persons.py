"""The proof by exhaustion for rows that are derived from all records of a person: one person moves one row.

One person has any of up to three records, the other one or none; each is compared with every other and with nothing.
"""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest

from irisdp import _queries
from irisdp._queries import sum_and_mean
from irisdp._tables import person_rows
from support import exhaustion
from support.exhaustion import engine_once
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

RELATIONS = ("add-remove", "exchange")
SAID = [("a", 1), ("b", 0), ("a", None), ("b", 1)][: tried(3, 4)]
PERSON = "n = COUNT(*), s = SUM(v), h = MAX(g), few = BOOL_OR(v = 0)"


def owned(person, most):
    """Every multiset of at most so many records, as one person's."""
    sizes = range(most + 1)
    return [tuple((person, *said) for said in kept) for n in sizes for kept in combinations_with_replacement(SAID, n)]


FIRST, SECOND = owned(1, 3), owned(2, 1)[: tried(3, 5)]


def pairs_of(relation):
    """Tables that one person tells apart, whatever that person's records; some records belong to nobody."""
    found = set()
    for whole, others in ((FIRST, SECOND), (SECOND, FIRST)):
        for other, one, two in product(others, whole, whole):
            if one != two and (relation == "exchange") == bool(one and two):
                tables = [tuple(sorted((*kept, *other, (None, "a", 1)), key=str)) for kept in (one, two)]
                found.add(tuple(tables))
    return found


PAIRS = {relation: pairs_of(relation) for relation in RELATIONS}
GROUPS = {"by": "h", "groups": ["a", "b"]}
ASKED = {
    "count": (("count",), {}),
    "count where": (("count", "n >= 2"), {}),
    "count by groups": (("count", "s >= 1"), GROUPS),
    "count by groups that are selected": (("count",), {**exhaustion.MODES["selected"], "by": "h"}),
    "at-least": (("at-least", 2, "n >= 2"), {}),
    "at-most": (("at-most", 1, "few"), {}),
    "band": (("band", "1,2", "n >= 2"), {}),
    "majority": (("majority", "s >= 1"), {}),
    "plurality": (("plurality", "n"), {"categories": ["1", "2", "3"]}),
    "plurality by groups": (("plurality", "n"), {"categories": ["1", "2"], **GROUPS}),
    "top": (("top", 1, "n"), {"categories": ["1", "2"]}),
    "ranking": (("ranking", "n"), {"categories": ["1", "2"]}),
    "median": (("median", "s"), {"bins": "1,2"}),
    "quantile": (("quantile", "2/3", "n"), {"bins": "2,3"}),
    "histogram": (("histogram", "n"), {"bins": "2"}),
    "sizes": (("sizes", 1, "h"), {}),
    "count-distinct": (("count-distinct", "n"), {}),
    "sum": (("sum", "s"), {"lower": 0, "upper": 2}),
    "sum by groups": (("sum", "s"), {"lower": 0, "upper": 2, **GROUPS}),
    "mean": (("mean", "n"), {"lower": 0, "upper": 3, "ratio": 2**8}),
}
TOTAL = (("sum", "v"), {"per_person_upper": 2, "step": 1})


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    for name, (words, _) in {**ASKED, "total": TOTAL}.items():
        monkeypatch.setitem(exhaustion.ASKED, name, words)
        monkeypatch.setitem(exhaustion.CHOSEN, name, {})
    monkeypatch.setattr(exhaustion, "ENCLOSED", {"ranking"})
    yield
    exhaustion.forget_counts()


def options_of(name, relation):
    if name == "total":
        return {**TOTAL[1], "relation": relation, "unit": "u"}
    return {**ASKED[name][1], "relation": relation, "unit": "u", "person": PERSON}


@pytest.mark.parametrize("name", [*ASKED, "total"])
def test_no_person_can_be_told_apart(name):
    for relation in RELATIONS:
        exhaustion.assert_private(name, options_of(name, relation), PAIRS[relation], more_than=30)


class TestPlantedBugs:
    @pytest.mark.parametrize("name", ["count", "median", "sum", "total"])
    def test_rows_of_records(self, name, monkeypatch):
        real = person_rows.PersonRows.over

        def planted(self, statement):
            statement = real(self, statement)
            assert 'GROUP BY data."u"' in statement
            return statement.replace('GROUP BY data."u"', 'GROUP BY data."u", UUID()')

        monkeypatch.setattr(person_rows.PersonRows, "over", planted)
        exhaustion.forget_counts()
        assert exhaustion.caught(name, options_of(name, "add-remove"), PAIRS["add-remove"])

    def test_records_of_nobody_make_a_row(self, monkeypatch):
        real = person_rows.PersonRows.over

        def planted(self, statement):
            return real(self, statement).replace('WHERE NOT data."u" IS NULL ', "")

        monkeypatch.setattr(person_rows.PersonRows, "over", planted)
        exhaustion.forget_counts()
        pairs = {((), tuple((None, "a", 1) for _ in range(n))) for n in (1, 2, 3)}
        assert exhaustion.caught("count", options_of("count", "exchange"), pairs)

    def test_noise_for_a_smaller_total(self, monkeypatch):
        real = sum_and_mean.total_per_person

        def planted(table, asked, unit, options):
            return real(table, asked, unit, {**options, "per_person_upper": 3})

        planned = exhaustion.planned_for((), "total", options_of("total", "add-remove"))
        monkeypatch.setattr(_queries, "total_per_person", planted)
        assert exhaustion.planned_for((), "total", options_of("total", "add-remove")).query != planned.query
        noise = planned.audiences
        larger = exhaustion.planned_for((), "total", options_of("total", "add-remove"))
        monkeypatch.setattr(exhaustion, "planned_for", lambda *given: replace(larger, audiences=noise))
        exhaustion.forget_counts()
        assert exhaustion.caught("total", options_of("total", "add-remove"), PAIRS["add-remove"])
