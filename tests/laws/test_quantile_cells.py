"""Cells that name the bin of a quantile: what is drawn has the exact law, for tables and for weights by score."""

from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy, design
from irisdp._measurements import BinNodes, QuantileBin
from irisdp._sampling.bits import law_of
from support.seeds import fresh_generator


def cells(bins, ratio, share=F(1, 2), relation="add-remove"):
    names = tuple("abcdefghijkl"[:bins])
    return QuantileBin(design.quantile(bins, Privacy(ratio=ratio), share, relation), names)


MADE = {"table": cells(3, 2), "scores": cells(9, 2), "exchanged": cells(4, 3, F(3, 4), "exchange")}
COUNTS = {"table": (2, 0, 1), "scores": (0, 3, 0, 0, 1, 1, 0, 0, 5), "exchanged": (1, 1, 0, 2)}


@pytest.mark.parametrize("kind", MADE)
def test_what_is_drawn_from_all_first_words_has_the_exact_law(kind):
    """Words of 8 bits, every one of them: what they leave open is resolved as the exact chances say."""
    made, counts = MADE[kind], COUNTS[kind]
    nodes = BinNodes(made.names, np.array([counts]))
    found = law_of(lambda bits: str(made.draw(nodes, source=bits)[0]), word_bits=8, words=2)
    assert found.undecided < F(1, 50)
    law = made.law(nodes, 0, 4)
    assert sum(law.values()) == 1
    for name, chance in law.items():
        drawn = found.outcomes.get(name, F(0))
        assert drawn <= chance <= drawn + found.undecided


@pytest.mark.parametrize("kind", MADE)
def test_many_cells_are_drawn_as_each_alone(kind):
    made, counts = MADE[kind], COUNTS[kind]
    times = 40_000
    nodes = BinNodes(made.names, np.repeat([counts], times, axis=0))
    drawn = Counter(made.draw(nodes).tolist())
    for name, chance in made.law(nodes, 0, 4).items():
        spread = (times * float(chance * (1 - chance))) ** 0.5
        assert abs(drawn[name] - times * float(chance)) < 6 * spread


@pytest.mark.parametrize("kind", MADE)
def test_each_cell_has_its_own_row(kind):
    """At a large ratio each cell is told its own bin."""
    generator = fresh_generator((91, len(kind)))
    bins = len(MADE[kind].names)
    sure = cells(bins, 10**30)
    counts = generator.integers(0, 9, (200, bins))
    right = (np.cumsum(counts, axis=1) >= counts.sum(axis=1, keepdims=True) / 2).argmax(axis=1)
    assert sure.draw(BinNodes(sure.names, counts)).tolist() == [sure.names[place] for place in right]


def test_as_many_words_are_read_whatever_the_counts():
    made = MADE["scores"]

    class Counting:
        word_bits = 64

        def __init__(self):
            self.read = 0

        def words(self, count):
            self.read += count
            return np.full(count, 1 << 63, np.uint64)

    reads = set()
    for counts in ([0] * 9, [10**12, *[0] * 8], [5] * 9):
        source = Counting()
        made.draw(BinNodes(made.names, np.array([counts] * 7)), source=source)
        reads.add(source.read)
    assert reads == {7}


def test_nobody_is_in_cells_that_pad():
    nodes = BinNodes(("a", "b"), np.array([[3, 1]])).padded(4)
    assert len(nodes) == 4
    assert nodes.counts[1:].sum() == 0
    assert "3" not in repr(nodes)


def test_what_is_said_of_the_error_stands_in_the_sidecar():
    for made in MADE.values():
        assert made.to_document()["records_off"] == made.expected_error()
        assert f"{made.expected_error()['within_95_percent']} record" in made.describe_error()
