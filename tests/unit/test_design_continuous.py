"""Continuous answers: u on the distribution function, atoms and densities, and the exact mechanism on a grid."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from irisdp import BadInput, Privacy, audit
from irisdp.design import continuous
from irisdp.privacy import steps

PRIVACY = Privacy(ratio="1.5", delta="0.05")
GRID = 1e-3
"""A step of the grid, 1e-4, times the jumps of the density."""

DIFFERENCES = 1e-6
"""Densities taken from differences of the distribution function, against those that were given."""

BELOW, RISEN = 1e-9, 1e-8
"""A little below an answer; and how much more probability than asked for may lie there: slopes are below 10."""

FLOATS = 1e-12
"""A dozen steps of a few float operations each."""


def test_the_distribution_function_is_stepped_pointwise():
    design = continuous(stats.beta(2, 1), PRIVACY)
    x = np.array([-0.5, 0, 0.1, 0.5, 0.9, 1, 2])
    for depth in (0, 1, 3, 7):
        inside = [float(steps(Fraction(float(s)), depth, PRIVACY)) for s in stats.beta(2, 1).cdf(x[1:5])]
        assert design.cdf(x, depth) == pytest.approx([0, *inside, 1, 1], abs=FLOATS)


def test_density_and_atoms_make_up_the_whole():
    design = continuous(stats.uniform(2, 3), PRIVACY)
    assert (design.lower, design.upper) == (2, 5)
    grid = np.linspace(2, 5, 30_001)
    middle = (grid[1:] + grid[:-1]) / 2
    for depth in (0, 1, 2, 5):
        atoms = design.atoms(depth=depth)
        if depth:
            # The new atom lies at the answer preferred most, and is what u makes of nothing.
            assert atoms[2.0] == pytest.approx(float(steps(Fraction(0), depth, PRIVACY)), abs=FLOATS)
        mass = design.density(middle, depth, density0=stats.uniform(2, 3).pdf).mean() * 3
        assert mass + sum(atoms.values()) == pytest.approx(1, abs=GRID)
        assert design.density(middle, depth) == pytest.approx(
            design.density(middle, depth, density0=stats.uniform(2, 3).pdf), abs=DIFFERENCES
        )


def test_an_atom_stays_where_it_is():
    def half_at_one(x):
        return np.where(np.asarray(x) < 1, np.clip(x, 0, 1) / 2, np.clip(0.5 + np.asarray(x) / 4, 0, 1))

    design = continuous(half_at_one, Privacy(ratio=2), lower=0, upper=2)
    assert design.atoms([1.0])[1.0] == pytest.approx(0.25, abs=FLOATS)
    assert design.atoms([1.0], 1)[1.0] == pytest.approx(0.125, abs=FLOATS)


def test_quantiles_invert_the_distribution_function():
    design = continuous(stats.beta(2, 1), PRIVACY)
    p = np.linspace(0.001, 0.999, 500)
    for depth in (0, 2, 6):
        x = design.quantile(p, depth)
        assert (design.cdf(x, depth) >= p - FLOATS).all()
        inside = x > design.lower
        assert (design.cdf(x[inside] - BELOW, depth) <= p[inside] + RISEN).all()


@pytest.mark.parametrize("privacy", [PRIVACY, Privacy(epsilon="0.3"), Privacy(epsilon=1, delta="1e-6")])
def test_on_a_grid_it_is_an_exact_private_mechanism(privacy):
    design = continuous(stats.beta(2, 2), privacy)
    mechanism = design.on_grid(20, 12)
    assert audit(mechanism).private
    places = np.arange(21) / 20
    for depth in (0, 1, 5, 12):
        ahead = np.cumsum([float(p) for p in mechanism.row(depth)])
        assert ahead == pytest.approx(design.cdf(places, depth), abs=FLOATS)


def test_deeper_is_stochastically_smaller_and_neighbours_are_close():
    design = continuous(lambda x: np.clip(x, 0, 1) ** 3, PRIVACY, lower=0, upper=1)
    x = np.linspace(0, 1, 101)
    for depth in range(8):
        here, there = design.cdf(x, depth), design.cdf(x, depth + 1)
        assert (there >= here).all()
        assert (there <= 1.5 * here + 0.05 + FLOATS).all()
        assert (1 - here <= 1.5 * (1 - there) + 0.05 + FLOATS).all()


@pytest.mark.parametrize(
    ("boundary", "interval", "field"),
    [
        (stats.norm(), {}, "lower"),
        (lambda x: x, {}, "lower"),
        (lambda x: x, {"lower": 1, "upper": 0}, "lower"),
        (lambda x: x, {"lower": 0, "upper": float("inf")}, "lower"),
        (lambda x: -x, {"lower": 0, "upper": 1}, "boundary"),
        (lambda x: x, {"lower": 0, "upper": 2}, "boundary"),
        (lambda x: x * np.nan, {"lower": 0, "upper": 1}, "boundary"),
        ("uniform", {"lower": 0, "upper": 1}, "boundary"),
    ],
)
def test_bad_input_names_the_field(boundary, interval, field):
    with pytest.raises(BadInput) as error:
        continuous(boundary, PRIVACY, **interval)
    assert error.value.field == field
    with pytest.raises(BadInput):
        continuous(stats.uniform(), PRIVACY).cdf(0.5, -1)
