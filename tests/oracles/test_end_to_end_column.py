"""The proof by exhaustion for answers about each record: tables of at most three records, in their order.

The answers stand in the order of the records, so that order belongs to the table: neighbours differ in one record, at
its place. Each table goes the whole way, through the engine, and the joint law of all answers is multiplied out.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BadInput, plan
from irisdp._exact import exp_below
from irisdp._measurements import EachRecord
from irisdp._queries import column, read_groups
from irisdp._queries.statistics import read_values
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support.exhaustion import LOTS, joint_law, worst_delta

VALUES = ("x", "y", "z", "other", None)
"""Two are declared; what is not declared is `other`, and so is what has no value."""

GUARANTEES = {
    "ε": {"ratio": 2},
    "δ": {"ratio": 2, "delta": Fraction(1, 10)},
    "pairs": {"privacy": {"all": [{"ratio": 2}, {"ratio": "4/3", "delta": "1/9"}]}, "delta": Fraction(1, 20)},
}


def asked(table, categories=("x", "y"), **guarantee):
    data = pa.table({"v": pa.array(table, pa.string())})
    return plan(data, "column", "v", categories=list(categories), relation="exchange", **(guarantee or {"ratio": 2}))


def law_of(table, **options):
    planned = asked(table, **options)
    return joint_law(planned, read_statistics(planned, LOTS[0]))


def pairs(most=3):
    """Tables that one record at one place tells apart."""
    for length in range(1, most + 1):
        for table in product(VALUES, repeat=length):
            for place, value in product(range(length), VALUES):
                if str(value) > str(table[place]):
                    yield table, (*table[:place], value, *table[place + 1 :])


def excess(most=3, **options):
    """How far beyond the cost charged the laws of the worst neighbours are apart."""
    laws, worst = {}, Fraction(-1)
    cost = asked((), **options).cost
    for pair in pairs(most):
        for table in pair:
            if table not in laws:
                laws[table] = law_of(table, **options)
                assert sum(laws[table].values()) == 1
        first, second = (laws[table] for table in pair)
        worst = max(worst, worst_delta(first, second, exp_below(cost.epsilon)) - cost.delta)
    return worst


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_no_exchange_can_be_told(guarantee, one_engine):
    assert excess(3 if guarantee == "ε" else 2, **GUARANTEES[guarantee]) <= 0


def test_all_of_the_price_is_used(one_engine):
    first, second = law_of(("x",)), law_of(("y",))
    assert worst_delta(first, second, Fraction(2)) == 0
    assert worst_delta(first, second, Fraction(199, 100)) > 0


def test_each_answer_is_right_as_often_as_it_can_be(one_engine):
    law = law_of(("y",))
    assert {answer[-1][-1]: chance for answer, chance in law.items()} == {
        "x": Fraction(1, 4),
        "y": Fraction(1, 2),
        "other": Fraction(1, 4),
    }


class TestPlantedBugs:
    def test_records_without_a_value_that_say_so(self, monkeypatch, one_engine):
        real = EachRecord.law

        def law(self, nodes, cell, largest):
            other = len(nodes.categories) - 1
            kept = {drawn: p for drawn, p in real(self, nodes, cell, largest).items()}
            told = nodes.codes[cell] == other
            fixed = {}
            for drawn, chance in kept.items():
                answer = tuple(np.where(told, other, drawn).tolist())
                fixed[answer] = fixed.get(answer, 0) + chance
            return fixed

        monkeypatch.setattr(EachRecord, "law", law)
        assert excess(1) > 0

    def test_a_truth_for_one_category_fewer(self, monkeypatch, one_engine):
        real = column.EachRecord
        monkeypatch.setattr(
            column, "EachRecord", lambda number, privacy: Odd(number, privacy, real(number - 1, privacy))
        )
        assert excess(1) > 0

    def test_answers_in_the_order_of_the_values(self, monkeypatch, one_engine):
        real = column.read_values

        def sorted_values(*arguments):
            found = real(*arguments)
            return type(found)(np.sort(found.codes))

        monkeypatch.setattr(column, "read_values", sorted_values)
        # One record exchanged moves the answers of the others: their laws change too.
        assert excess(2) > 0


class Odd(EachRecord):
    """Keeps the truth of fewer categories than there are."""

    __slots__ = ("fewer",)

    def __init__(self, categories, privacy, fewer):
        super().__init__(categories, privacy)
        object.__setattr__(self, "fewer", fewer)

    @property
    def truth(self):
        return self.fewer.truth


def test_answers_are_about_the_records_in_their_order(tmp_path):
    values = np.random.default_rng(5).integers(0, 4, 200_000)
    frame = pa.table({"v": values})
    parquet, text = tmp_path / "v.parquet", tmp_path / "v.csv"
    pq.write_table(frame, parquet, row_group_size=1000)
    text.write_text("v\n" + "\n".join(map(str, values)) + "\n", encoding="utf-8")
    for data in (frame, parquet, text):
        table = open_table(data)
        codes = read_values(table, read_groups(table, "v", ["1", "0", "2"])).codes
        assert (codes == np.array([1, 0, 2, 3])[values]).all()


@pytest.mark.parametrize(("options", "field"), [
    ({"relation": "add-remove"}, "relation"),
    ({"by": "g", "groups": ["a"]}, "by"),
    ({"by": "g", "groups": ["a"], "public_membership": True}, "by"),
    ({"unit": "g"}, "unit"),
    ({"categories": None}, "categories"),
    ({"bins": "1,2"}, "bins"),
])  # fmt: skip
def test_what_has_no_answer_is_refused_by_name(options, field):
    data = pa.table({"v": ["x", "y"], "g": ["a", "b"]})
    with pytest.raises(BadInput) as refused:
        plan(data, "column", "v", **{"categories": ["x", "y"], "relation": "exchange", "epsilon": 1, **options})
    assert refused.value.field == field


def test_records_without_an_order_are_refused():
    import duckdb

    relation = duckdb.sql("SELECT 'x' AS v")
    with pytest.raises(BadInput, match="has no order"):
        plan(relation, "column", "v", categories=["x"], relation="exchange", epsilon=1)
