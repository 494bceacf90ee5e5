"""Bands of a count: each threshold is answered as surely as if it were alone; draws have the law."""

from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest

from irisdp import BadInput, NeighbouringRelation, Privacy, publish
from irisdp._exact import Enclosure
from irisdp._measurements import CountNodes, DecisionDistances
from irisdp._queries import Band
from irisdp._queries.statistics import Statistics
from irisdp._queries.threshold import AtLeast
from irisdp._sampling.bits import law_of
from irisdp.privacy import Gaussian
from support.closeness import hockey_stick
from support.sweeps import tried

GUARANTEES = {
    "pure": Privacy(ratio=2),
    "with delta": Privacy(ratio=2, delta="1/30"),
    "two pairs": Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")]),
}
THRESHOLDS = (1, 2, 5, 9)
COUNTS = 12


def statistics(count, total):
    return Statistics(*(np.array([part]) for part in (total, count, total - count)))


def band_law(guarantee, count, relation, *, total=COUNTS, thresholds=THRESHOLDS, expression="x"):
    query = Band(thresholds, expression)
    mechanism = query.mechanism(guarantee, relation)
    return mechanism, mechanism.law(query.nodes(statistics(count, total), relation), 0, total)


def sides(law, names, place):
    """How probable it is to be answered from the threshold up."""
    return sum(law[name] for name in names[place + 1 :])


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("name", GUARANTEES)
def test_each_threshold_is_answered_as_if_it_were_alone(name, relation):
    """The law is compared with the depth mechanism's, which shares no code with noise."""
    guarantee = GUARANTEES[name]
    for count in range(COUNTS + 1):
        mechanism, law = band_law(guarantee, count, relation)
        assert sum(law.values()) == 1
        for place, threshold in enumerate(THRESHOLDS):
            alone = AtLeast(threshold, "x")
            node = alone.nodes(statistics(count, COUNTS), relation)
            assert isinstance(node, DecisionDistances)
            assert (
                sides(law, mechanism.names, place) == alone.mechanism(guarantee, relation).law(node, 0, COUNTS)["yes"]
            )


def test_a_threshold_off_by_one_is_noticed():
    """Planted: bands that begin one record too late."""
    mechanism, law = band_law(GUARANTEES["pure"], 5, NeighbouringRelation.ADD_REMOVE, thresholds=(1, 2, 6, 10))
    alone = AtLeast(5, "x")
    node = alone.nodes(statistics(5, COUNTS), NeighbouringRelation.ADD_REMOVE)
    assert (
        sides(law, mechanism.names, 2)
        != alone.mechanism(GUARANTEES["pure"], NeighbouringRelation.ADD_REMOVE).law(node, 0, 9)["yes"]
    )


def test_gaussian_bands_are_at_least_as_sure():
    mechanism, law = band_law(Gaussian(1), 5, NeighbouringRelation.ADD_REMOVE)
    alone = AtLeast(5, "x")
    node = alone.nodes(statistics(5, COUNTS), NeighbouringRelation.ADD_REMOVE)
    other = alone.mechanism(Gaussian(1), NeighbouringRelation.ADD_REMOVE).law(node, 0, COUNTS)["yes"]
    sure = sum(law[name].lower for name in mechanism.names[3:])
    assert other - F(1, 10**20) < sure < other + F(1, 10**5)
    assert all(isinstance(chance, Enclosure) for chance in law.values())


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("name", GUARANTEES)
def test_neighbouring_counts_are_close(name, relation):
    """And tight: at half the ratio they are not."""
    laws = [band_law(GUARANTEES[name], count, relation)[1] for count in range(COUNTS + 1)]
    for pair in GUARANTEES[name].pairs:
        found = [max(hockey_stick(a, b, pair.ratio), hockey_stick(b, a, pair.ratio)) for a, b in pairwise(laws)]
        assert max(found) <= pair.delta
        assert max(hockey_stick(a, b, 1 + pair.ratio / 4) for a, b in pairwise(laws)) > pair.delta


@pytest.mark.parametrize(("word_bits", "words"), tried([(3, 3)], [(1, 9), (3, 3), (9, 1)]))
@pytest.mark.parametrize("ends", [(0, None), (0, 4), (2, 2)])
@pytest.mark.parametrize("name", GUARANTEES)
def test_draws_have_the_stated_law(name, ends, word_bits, words):
    mechanism = Band((1, 2, 4), "x").mechanism(GUARANTEES[name], NeighbouringRelation.EXCHANGE)
    upper = None if ends[1] is None else np.array([ends[1]])
    nodes = CountNodes(np.array([2]), np.array([ends[0]]), upper)
    law = mechanism.law(nodes, 0, 9)
    found = law_of(lambda bits: mechanism.draw(nodes, source=bits).tolist()[0], word_bits=word_bits, words=words)
    assert found.undecided < F(1, 4)
    for answer, chance in law.items():
        decided = found.outcomes.get(answer, F(0))
        assert decided <= chance <= decided + found.undecided


def test_the_stated_errors_are_those_of_the_law():
    mechanism, _ = band_law(GUARANTEES["pure"], 0, NeighbouringRelation.ADD_REMOVE, thresholds=(5, 8, 20))
    names, error = mechanism.names, mechanism.expected_error()
    true = [sum(count >= threshold for threshold in (5, 8, 20)) for count in range(40)]
    wrong = [
        1
        - band_law(GUARANTEES["pure"], count, NeighbouringRelation.ADD_REMOVE, total=40, thresholds=(5, 8, 20))[1][
            names[band]
        ]
        for count, band in enumerate(true)
    ]
    assert error["wrong_band_at_worst"] == float(max(wrong))
    assert error["wrong_side_at_threshold"] == float(F(1, 3)) == float(wrong[4])
    away = [min(abs(2 * count + 1 - 2 * threshold) // 2 for threshold in (5, 8, 20)) for count in range(40)]
    far = [chance for chance, distance in zip(wrong, away, strict=True) if distance >= error["depth_for_99_percent"]]
    assert far
    assert max(far) <= F(1, 100)


def test_bands_are_named_as_people_say():
    assert Band((1, 2, 10, 20)).mechanism(Privacy(ratio=2), NeighbouringRelation.EXCHANGE).names == (
        "0", "1", "2 to 9", "10 to 19", "20 or more",
    )  # fmt: skip
    assert Band((3,)).mechanism(Privacy(ratio=2), NeighbouringRelation.EXCHANGE).names == ("0 to 2", "3 or more")


def test_a_count_that_is_public_is_in_its_band():
    for count in (0, 4, 5):
        _, law = band_law(GUARANTEES["pure"], count, NeighbouringRelation.EXCHANGE, total=count, expression=None)
        assert [name for name, chance in law.items() if chance] == [{0: "0", 4: "2 to 4", 5: "5 to 8"}[count]]


@pytest.mark.parametrize(("words", "rule"), [
    ((), "are missing"),
    (("10,5",), "must be different and ascending"),
    (("5,5",), "must be different and ascending"),
    (("0,5",), "must be"),
    (("5,x",), "must be"),
    (("",), "must be"),
    (("5,",), "must be"),
    (("5", "a", "b"), "in several words"),
    ((",".join(map(str, range(1, 1003))),), "at most 1000"),
    ((str(2**63),), "must be"),
])  # fmt: skip
def test_what_are_no_thresholds_is_refused(words, rule, tmp_path):
    import pyarrow

    with pytest.raises(BadInput, match=rule):
        publish(pyarrow.table({"a": [1]}), "band", *words, epsilon=1, ledger=tmp_path / "l.ledger")
    assert not list(tmp_path.iterdir())
