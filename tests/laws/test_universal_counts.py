"""Counts under a δ: the cells that are published have the stated law, which spends every δ; people see units."""

from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import (
    CountNodes,
    GeometricNoise,
    HasAuxiliaryOutput,
    UniversalNoiseMeasurement,
)
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.noise import bounded_delta
from support.closeness import hockey_stick

TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
MOST = 3
ALIGNED = [Privacy(ratio=r).with_delta(bounded_delta(Privacy(ratio=r), k)) for r in ("3/2", 2, 4) for k in (1, 2, 3, 5)]
UNALIGNED = [Privacy(ratio=r, delta=d) for r in ("3/2", 2, 4) for d in ("1/7", "1/11", "1/40", "1e-3")]
GUARANTEES = [*ALIGNED, *UNALIGNED, Privacy(ratio=1, delta="1/9"), TWO]


def node(value, lower=0, upper=None):
    ends = None if upper is None else np.array([upper])
    return CountNodes(np.array([value]), np.array([lower]), ends)


@pytest.mark.parametrize("privacy", GUARANTEES, ids=str)
def test_neighbouring_counts_are_apart_by_every_delta_and_no_more(privacy):
    """Over the published cells, in fractions, whatever ends the shown numbers have."""
    mechanism = UniversalNoiseMeasurement(privacy)
    for value in range(MOST):
        here, there = (mechanism.law(node(count, 0, MOST), 0, MOST) for count in (value, value + 1))
        assert sum(here.values()) == sum(there.values()) == 1
        for pair in privacy.pairs:
            assert hockey_stick(here, there, pair.ratio) == pair.delta == hockey_stick(there, here, pair.ratio)


def test_there_is_one_cell_to_a_unit_exactly_where_noise_can_end_at_a_whole_number():
    assert [UniversalNoiseMeasurement(privacy).noise.atoms_per_unit for privacy in ALIGNED] == [1] * len(ALIGNED)
    assert {UniversalNoiseMeasurement(privacy).noise.atoms_per_unit for privacy in UNALIGNED} == {3}


@pytest.mark.parametrize(
    ("privacy", "word_bits", "words"),
    [(ALIGNED[1], 1, 9), (UNALIGNED[4], 1, 8), *((privacy, 9, 1) for privacy in (ALIGNED[1], UNALIGNED[4], TWO))],
    ids=str,
)
def test_draws_have_the_stated_law(privacy, word_bits, words):
    """Every script of words: what is decided for a cell is at most its probability, and short of it by the rest."""
    mechanism, nodes = UniversalNoiseMeasurement(privacy), node(2)
    law, size = mechanism.law(nodes, 0, 5), mechanism.noise.atoms_per_unit
    found = law_of(lambda bits: mechanism.draw(nodes, source=bits).tolist()[0], word_bits=word_bits, words=words)
    assert found.undecided < F(1, 4)
    low, high = min(law), max(law)
    for cell, chance in law.items():
        lumped = {z for z in found.outcomes if z == cell or (cell == low and z < low) or (cell == high and z > high)}
        decided = sum((found.outcomes[z] for z in lumped), F(0))
        assert decided <= chance <= decided + found.undecided
    assert size * 2 in law


def test_people_see_the_whole_number_between_public_ends_and_readers_the_cell():
    mechanism = UniversalNoiseMeasurement(UNALIGNED[4])
    assert isinstance(mechanism, HasAuxiliaryOutput)
    assert not isinstance(GeometricNoise(Privacy(ratio=2)), HasAuxiliaryOutput)
    drawn = [-4, -3, 0, 2, 3, 16]
    free = CountNodes(np.zeros(6), np.zeros(6), None)
    ended = CountNodes(np.zeros(6), np.zeros(6), np.full(6, 4))
    assert mechanism.show(drawn, free) == [-2, -1, 0, 0, 1, 5]
    assert mechanism.show(drawn, ended) == [0, 0, 0, 0, 1, 4]
    assert mechanism.beside(drawn) == {"cells": drawn}
    assert mechanism.to_document() == {"kind": "universal-noise", "cells_per_unit": 3}


@pytest.mark.parametrize("privacy", [ALIGNED[1], UNALIGNED[4], UNALIGNED[7], TWO], ids=str)
def test_stated_errors_are_those_of_the_law(privacy):
    mechanism = UniversalNoiseMeasurement(privacy)
    size, error = mechanism.noise.atoms_per_unit, mechanism.expected_error()
    law = mechanism.law(node(60), 0, 120)
    far = {abs(cell // size - 60) for cell in law}
    chances = {d: sum(p for cell, p in law.items() if abs(cell // size - 60) == d) for d in far}
    assert error["mean_absolute"] == pytest.approx(float(sum(d * p for d, p in chances.items())), rel=1e-9)
    within = error["within_95_percent"]
    assert sum(p for d, p in chances.items() if d <= within) >= F(19, 20)
    assert sum(p for d, p in chances.items() if d < within) < F(19, 20)
    assert sum(p for d, p in chances.items() if d <= within) in mechanism.chance_within(within)


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        (Privacy(epsilon=1, delta="1e-6"), "δ buys next to nothing on a single count"),
        (Privacy(epsilon="0.1", delta="1e-6"), "δ buys next to nothing on a single count"),
        (Privacy(epsilon=1, delta="1/10"), "δ saves 30.8% of the error"),
        (TWO, "one noise serves every reader"),
    ],
    ids=str,
)
def test_a_plan_says_what_a_delta_is_worth(privacy, said):
    mechanism = UniversalNoiseMeasurement(privacy)
    assert "one noise serves every reader" in mechanism.describe_error()
    assert said in mechanism.describe_error()
    if privacy.single:
        without = GeometricNoise(privacy.pure).expected_error()["mean_absolute"]
        assert 1 - mechanism.expected_error()["mean_absolute"] / without == pytest.approx(mechanism.saved, abs=1e-12)
        assert mechanism.saved <= 2.1e-4 or privacy.delta > F(1, 10**6)


def test_as_many_words_are_read_for_every_count():
    for privacy in (ALIGNED[1], UNALIGNED[4], TWO):
        read = set()
        for value in (0, 3, 10**6):
            bits = ScriptedBits([7 << 50] * 8, word_bits=64)
            UniversalNoiseMeasurement(privacy).draw(node(value), source=bits)
            read.add(bits.read)
        assert len(read) == 1


def test_noise_for_less_than_was_asked_is_noticed(monkeypatch):
    """Planted: cells twice as far apart, so that a count moves the law by half as many as it should."""
    mechanism = UniversalNoiseMeasurement(UNALIGNED[4])
    real = type(mechanism.noise).below_exactly
    monkeypatch.setattr(type(mechanism.noise), "below_exactly", lambda law, z: real(law, 2 * z))
    here, there = (mechanism.law(node(count), 0, MOST) for count in (0, 1))
    assert hockey_stick(here, there, mechanism.privacy.ratio) > mechanism.privacy.delta
