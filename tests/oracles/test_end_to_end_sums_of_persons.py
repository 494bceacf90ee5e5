"""The proof by exhaustion for sums and means of persons with several records: two are kept of each, or fewer groups.

One person has any of up to three records, the other one or none; each is compared with every other and with nothing,
as `test_end_to_end_many_records.py` does for counts.
"""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest

from irisdp import plan
from irisdp._measurements import MeanFromEnds, StaircaseNoise
from irisdp._measurements.means import NoisyMeans
from irisdp._queries import clipped_values, sum_and_mean
from irisdp._release.pipeline import read_statistics
from support import exhaustion
from support.exhaustion import engine_once
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

RELATIONS = ("add-remove", "exchange")
SAID = [("a", -9), ("b", 2), ("a", None), ("b", 0)][: tried(3, 4)]


def owned(person, most):
    """Every multiset of at most so many records, as one person's."""
    sizes = range(most + 1)
    return [tuple((person, *said) for said in kept) for n in sizes for kept in combinations_with_replacement(SAID, n)]


FIRST, SECOND = owned(1, 3), owned(2, 1)[: tried(2, 5)]


def pairs_of(relation):
    """Tables that one person tells apart, whatever that person's records."""
    found = set()
    for whole, others in ((FIRST, SECOND), (SECOND, FIRST)):
        for other, one, two in product(others, whole, whole):
            if one != two and (relation == "exchange") == bool(one and two):
                tables = [tuple(sorted(kept + other, key=str)) for kept in (one, two)]
                found.add(tuple(tables))
    return found


PAIRS = {relation: pairs_of(relation) for relation in RELATIONS}
SEVERAL = {
    "sum": ("sum", {"at_most": 2}),
    "sum, missing values count": ("sum, missing", {"at_most": 2}),
    "sum by groups": ("sum", {**exhaustion.MODES["declared"], "at_most": 2, "ratio": 2**4}),
    "sum by groups, one each": ("sum", {**exhaustion.MODES["declared"], "at_most": 2, "groups_per_unit": 1}),
    "sum, gaussian": ("sum", {"at_most": 2, "mu": 2, "delta": "1/20"}),
    "mean": ("mean", {"at_most": 2, "ratio": 2**8}),
    "mean by groups": ("mean", {**exhaustion.MODES["one-declared"], "at_most": 2, "groups_per_unit": 1, "ratio": 2**4}),
}


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    for query, more in (("sum", {}), ("sum, missing", {"missing": 1}), ("mean", {"lower": 0})):
        monkeypatch.setitem(exhaustion.ASKED, query, (query.partition(",")[0], "v"))
        monkeypatch.setitem(exhaustion.CHOSEN, query, {"lower": -1, "upper": 2, **more})
    yield
    exhaustion.forget_counts()


def options_of(name, relation):
    return {**SEVERAL[name][1], "relation": relation, "unit": "u"}


@pytest.mark.parametrize("name", SEVERAL)
def test_no_person_with_several_records_can_be_told_apart(name, monkeypatch):
    monkeypatch.setattr(NoisyMeans, "show", lambda self, drawn, nodes: list(drawn))  # what the ledger keeps tells more
    query, _ = SEVERAL[name]
    for relation, key in product(RELATIONS, exhaustion.LOTS[: tried(1, 3)]):
        charged = ("1/20",) if "gaussian" in name else ()
        exhaustion.assert_private(
            query, options_of(name, relation), PAIRS[relation], key, charged_at=charged, more_than=30
        )


def test_noise_is_for_what_a_person_moves():
    noise = {
        name: [exhaustion.planned_for((), SEVERAL[name][0], options_of(name, relation)).audiences[0].mechanism.noise
               for relation in RELATIONS]
        for name in ("sum", "sum by groups", "sum by groups, one each")
    }  # fmt: skip
    assert [found.sensitivity for found in noise["sum"]] == [4, 6]
    assert [found.to_document()["kind"] for found in noise["sum by groups"]] == ["spread-noise"] * 2
    assert [found.to_document()["kind"] for found in noise["sum by groups, one each"]] == ["staircase-noise"] * 2


class TestPlantedBugs:
    def found(self, name, relation):
        return exhaustion.caught(SEVERAL[name][0], options_of(name, relation), PAIRS[relation])

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_noise_for_one_record_less(self, relation, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "noise_for", lambda privacy, *, each, **_: StaircaseNoise(privacy, each // 2))
        assert self.found("sum", relation)

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_a_mean_with_noise_for_one_record(self, relation, monkeypatch):
        real = sum_and_mean.MeanFromCentre if relation == "exchange" else MeanFromEnds
        monkeypatch.setattr(sum_and_mean, real.__name__, lambda privacy, steps, kept, *more: real(privacy, steps))
        assert self.found("mean", relation)

    @pytest.mark.parametrize("name", ["sum", "mean"])
    def test_an_exchange_of_persons_taken_for_one_who_comes_or_goes(self, name, monkeypatch):
        kind = sum_and_mean.Sum if name == "sum" else sum_and_mean.Mean
        real = kind.mechanism

        def mechanism(self, privacy, relation):
            coming = replace(self, contribution=replace(self.contribution, exchanged=False))
            return real(coming, privacy, relation)

        monkeypatch.setattr(kind, "mechanism", mechanism)
        assert self.found(name, "exchange")

    def test_noise_for_one_group_where_there_are_two(self, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "noise_for", lambda privacy, *, each, **_: StaircaseNoise(privacy, each))
        assert self.found("sum by groups", "add-remove")

    def test_groups_that_are_not_limited(self, monkeypatch):
        real = clipped_values.records_statement

        def planted(*given, **options):
            statement = real(*given, **options)
            assert "WHERE place <= 1" in statement
            return statement.replace("WHERE place <= 1", "WHERE place <= 9")

        monkeypatch.setattr(clipped_values, "records_statement", planted)
        exhaustion.forget_counts()
        assert self.found("sum by groups, one each", "add-remove")


def test_values_are_no_part_of_a_persons_group():
    """A person whose records hold different values keeps all those of the one group that is allowed."""
    table = exhaustion.frame(((1, "a", 0), (1, "a", 1), (1, "a", 2)))
    planned = plan(
        table, "sum", "v", lower=0, upper=2, by="g", groups=["a"], epsilon=1, unit="u", at_most=3, groups_per_unit=1
    )
    assert read_statistics(planned, exhaustion.LOTS[0]).nodes.values.tolist() == [3]
