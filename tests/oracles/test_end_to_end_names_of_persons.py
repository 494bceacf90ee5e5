"""The proof by exhaustion for names that are answered about several records of each person, by group privacy."""

from itertools import combinations_with_replacement, product

import pytest

from irisdp import BadInput, _measurements, plan
from irisdp._release import plans
from support import exhaustion
from support.exhaustion import engine_once
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

RELATIONS = ("add-remove", "exchange")
SAID = [("a", 0), ("b", 1), ("a", 1), ("a", None)][: tried(3, 4)]
GROUPS = {"by": "g", "groups": ["a", "b"]}
ASKED = {
    "median": (("median", "v"), {"bins": "1"}),
    "median by groups": (("median", "v"), {"bins": "1", **GROUPS}),
    "quantile": (("quantile", "2/3", "v"), {"bins": "1"}),
    "plurality": (("plurality", "v"), {"categories": ["0", "1"]}),
    "plurality where": (("plurality", "v", "g = 'a'"), {"categories": ["0", "1", "2"]}),
    "plurality by groups": (("plurality", "v"), {"categories": ["0", "1"], **GROUPS}),
    "top": (("top", 1, "v"), {"categories": ["0", "1", "2"]}),
    "ranking": (("ranking", "v"), {"categories": ["0", "1"]}),
}


def owned(person, most):
    """Every multiset of at most so many records, as one person's."""
    sizes = range(most + 1)
    return [tuple((person, *said) for said in kept) for n in sizes for kept in combinations_with_replacement(SAID, n)]


FIRST, SECOND = owned(1, 3), owned(2, 2)[: tried(5, 10)]


def pairs_of(relation):
    """Tables that one person tells apart, whatever that person's records."""
    found = set()
    for whole, others in ((FIRST, SECOND), (SECOND, FIRST)):
        for other, one, two in product(others, whole, whole):
            if one != two and (relation == "exchange") == bool(one and two):
                found.add(tuple(tuple(sorted(kept + other, key=str)) for kept in (one, two)))
    return found


PAIRS = {relation: pairs_of(relation) for relation in RELATIONS}


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    for name, (words, _) in ASKED.items():
        monkeypatch.setitem(exhaustion.ASKED, name, words)
        monkeypatch.setitem(exhaustion.CHOSEN, name, {})
    yield
    exhaustion.forget_counts()


def options_of(name, relation):
    return {**ASKED[name][1], "relation": relation, "unit": "u", "at_most": 2, "ratio": 4}


@pytest.mark.parametrize("name", ASKED)
def test_no_person_with_several_records_can_be_told_apart(name):
    for relation in RELATIONS:
        exhaustion.assert_private(name, options_of(name, relation), PAIRS[relation], more_than=30)


@pytest.mark.parametrize("name", ASKED)
def test_the_cost_is_what_was_asked(name):
    for relation in RELATIONS:
        found = exhaustion.planned_for((), name, options_of(name, relation)).cost
        once = exhaustion.planned_for((), name, options_of(name, relation) | {"at_most": 1}).cost
        twice = relation == "exchange" and "groups" in name
        assert abs(float(found.epsilon) / 1.3862943611198906 - (2 if twice else 1)) < 1e-9
        assert abs(found.epsilon - once.epsilon) < 1e-9


class TestPlantedBugs:
    @pytest.mark.parametrize("relation", RELATIONS)
    @pytest.mark.parametrize("name", ["median", "plurality", "plurality by groups", "top"])
    def test_a_mechanism_for_one_record(self, name, relation, monkeypatch):
        monkeypatch.setattr(_measurements, "share_of", lambda privacy, steps: privacy)
        monkeypatch.setattr(plans, "steps_of_person", lambda query: 1)
        assert exhaustion.caught(name, options_of(name, relation), PAIRS[relation])

    def test_an_exchange_taken_for_one_who_comes(self, monkeypatch):
        real = _measurements.share_of
        monkeypatch.setattr(_measurements, "share_of", lambda privacy, steps: real(privacy, steps // 2))
        monkeypatch.setattr(plans, "steps_of_person", lambda query: 2)
        assert exhaustion.caught("plurality", options_of("plurality", "exchange"), PAIRS["exchange"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"by": "g", "select_groups": True, "delta": "1/10"}, "is not for plurality with several records"),
        ({**GROUPS, "groups_per_unit": 1}, "whose error depends on the number of records alone"),
    ],
)
def test_what_group_privacy_does_not_cover_is_refused(more, said):
    with pytest.raises(BadInput, match=said):
        plan(exhaustion.frame(()), "plurality", "v", categories=["0", "1"], unit="u", at_most=2, epsilon=1, **more)


def test_within_is_refused():
    with pytest.raises(BadInput, match="is not for median with several records"):
        plan(exhaustion.frame(()), "median", "v", bins="1", unit="u", at_most=2, within=3)
