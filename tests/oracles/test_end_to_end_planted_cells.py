"""Bugs of counts that are kept in cells, planted one by one: the proof by exhaustion has to catch each.

What is compared is the law of all that is published: the cell in the sidecar, and the number that people see.
"""

from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp._measurements import GeometricNoise, UniversalNoiseMeasurement
from irisdp.noise import law
from support.exhaustion import DELTA, MODES, caught, engine_once, neighbours, violations

__all__ = ["engine_once"]

CELLS = {"delta": Fraction(1, 7)}
WHOLE = {"delta": DELTA}
"""At r = 2 noise of δ = 1/7 has three cells to a unit, and that of 1/10 ends at 2."""

pytestmark = pytest.mark.usefixtures("engine_once")


def found(options, *, query="count-where", mode="whole", relation="add-remove"):
    return caught(query, {**MODES[mode], "relation": relation, **options}, neighbours(relation, mode))


@pytest.mark.parametrize("options", [CELLS, WHOLE], ids=str)
@pytest.mark.parametrize(("mode", "relation"), [("whole", "add-remove"), ("declared", "exchange")])
def test_nothing_is_caught_where_nothing_is_planted(options, mode, relation):
    pairs = sorted(neighbours(relation, mode), key=str)[::20]
    assert violations("count-where", {**MODES[mode], "relation": relation, **options}, pairs)[0] == 0


def test_a_sidecar_that_tells_more_than_the_cell_is_caught(monkeypatch):
    """Planted: within a unit the cell says the parity of the true count."""
    real = UniversalNoiseMeasurement.law

    def telling(self, nodes, cell, largest):
        size = self.noise.atoms_per_unit
        drawn, shown = real(self, nodes, cell, largest), {}
        for place, chance in drawn.items():
            kept = place // size * size + int(nodes.values[cell]) % 2
            shown[kept] = shown.get(kept, 0) + chance
        return shown

    monkeypatch.setattr(UniversalNoiseMeasurement, "law", telling)
    assert found(CELLS)


@pytest.mark.parametrize("delta", ["1/6", "1/5"])
@pytest.mark.parametrize("mode", ["whole", "declared"])
def test_noise_of_a_larger_delta_than_is_charged_is_caught(delta, mode, monkeypatch):
    monkeypatch.setattr(UniversalNoiseMeasurement, "noise", law("universal", Privacy(ratio=2, delta=delta)))
    assert found(CELLS, mode=mode)


@pytest.mark.parametrize("options", [CELLS, WHOLE], ids=str)
def test_noise_that_ends_a_cell_too_early_is_caught(options, monkeypatch):
    """Planted: what lies in the last cell on either side is put into the one before."""
    real = UniversalNoiseMeasurement.law

    def shorter(self, nodes, cell, largest):
        size, (first, last) = self.noise.atoms_per_unit, self.noise.support
        start, found = int(nodes.values[cell]) * size, {}
        for place, chance in real(self, nodes, cell, largest).items():
            kept = min(max(place, start + first + 1), start + last - 1)
            found[kept] = found.get(kept, 0) + chance
        return found

    monkeypatch.setattr(UniversalNoiseMeasurement, "law", shorter)
    assert found(options)


@pytest.mark.parametrize("options", [CELLS, WHOLE], ids=str)
def test_a_delta_that_is_spent_and_not_charged_is_caught(options, monkeypatch):
    """Planted: the mechanism states its ε alone."""
    asked = Privacy(ratio=2, **options)

    def pure(self):
        return asked.pure

    made = law("universal", asked)
    monkeypatch.setattr(UniversalNoiseMeasurement, "noise", made)
    monkeypatch.setattr(UniversalNoiseMeasurement, "privacy", property(pure))
    monkeypatch.setattr(UniversalNoiseMeasurement, "__init__", lambda self, privacy: None)
    assert found(options)


def test_numbers_shown_by_what_is_private_are_caught(monkeypatch):
    """Planted: what people see is put near the true count, though its cell is as it was drawn."""
    real = UniversalNoiseMeasurement.show

    def near(self, drawn, nodes):
        whole = real(self, drawn, nodes)
        return [min(max(z, int(v) - 1), int(v) + 1) for z, v in zip(whole, nodes.values.tolist(), strict=False)]

    monkeypatch.setattr(UniversalNoiseMeasurement, "show", near)
    assert found(CELLS)


def test_noise_without_a_delta_at_twice_the_epsilon_is_caught(monkeypatch):
    """Planted: geometric noise at twice the ε in place of noise with a δ."""
    monkeypatch.setattr(
        UniversalNoiseMeasurement, "law", lambda self, *where: GeometricNoise(Privacy(ratio=4)).law(*where)
    )
    assert found(CELLS)
