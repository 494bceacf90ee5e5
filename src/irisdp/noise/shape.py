"""Noise for a shape of privacy: geometric, bounded, and universal for any pairs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import Enclosure, checked, integer
from ..graphs import Path
from ..mechanisms import Mechanism
from ..privacy import Privacy, Shape
from ..sampling import BitSource
from ..sampling.geometric import add_drawn, draw_digits
from .cells import Cells
from .protocol import DEFAULT_WIDTH, Loss, check_atom, check_distance, check_width
from .tables import digits_of_cells

__all__ = ["ShapeLaw", "mean_loss"]

_LARGEST_COUNT = 10_000
_MOST_ENTRIES = 1_000_000

_BITS = 512
"""Bits beyond which a cumulative probability is rounded, down and up, in the sum of a mean loss."""


@dataclass(frozen=True, slots=True, repr=False)
class ShapeLaw:
    """Noise whose cumulative distribution climbs by u from one count to the next, represented in cells of a unit.

    Atom k is cell k: the noise lies between cut points k and k + 1, and cell 0 begins at −½. A value that grows by 1
    moves the law by `atoms_per_unit` cells. With one atom per unit atoms are whole numbers.

    Attributes
    ----------
    kind : str
        "geometric", "bounded" or "universal".
    privacy : Privacy
        The guarantee of a value that one record changes by at most `sensitivity`: every pair of it, exactly.
    sensitivity : int
        More than 1 for geometric noise only.
    cells : Cells
        For a change by 1.

    References
    ----------
    proofs/shape-noise.md.
    """

    kind: Literal["geometric", "bounded", "universal"]
    privacy: Privacy
    sensitivity: int
    cells: Cells

    @property
    def atoms_per_unit(self) -> int:
        """How many cells a unit has, m."""
        return len(self.cells.phases)

    @property
    def support(self) -> tuple[int, int] | None:
        """The first and the last cell with mass; None where there is no end."""
        if self.cells.first is None or self.cells.last is None:
            return None
        return self.cells.first, self.cells.last

    @checked
    def probability(self, z: int) -> Fraction:
        """Return the probability of cell z, exactly; far out, where that is too long, use `enclose`."""
        place = check_atom(z)
        if self._outside(place):
            return Fraction(0)
        mass = self.cells.exactly(place + 1) - self.cells.exactly(place)
        return Fraction(int(mass.p), int(mass.q))

    @checked
    def enclose(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of cell z, to a width."""
        place, most = check_atom(z), check_width(width)
        if self._outside(place):
            return Enclosure.exactly(Fraction(0))
        low = self.cells.cumulative(place, width=most / 2)
        high = self.cells.cumulative(place + 1, width=most / 2)
        return Enclosure(high.lower - low.upper, high.upper - low.lower).clamp(Fraction(0), Fraction(1))

    @checked
    def below(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of all cells below z, to a width."""
        return self.cells.cumulative(check_atom(z), width=check_width(width))

    @checked
    def below_exactly(self, z: int) -> Fraction:
        """Return the probability of all cells below z, exactly; far out, where that is too long, use `below`."""
        place = check_atom(z)
        if self.support is not None and not self.support[0] < place <= self.support[1]:
            return Fraction(place > self.support[1])
        found = self.cells.exactly(place)
        return Fraction(int(found.p), int(found.q))

    @checked
    def within(self, distance: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability that the noise in whole numbers, ⌊cell / m⌋, is at most so far from 0.

        The law is its own mirror image, so that twice what lies below is what lies outside.
        """
        reach, most = check_distance(distance, self.atoms_per_unit), check_width(width)
        if self.support is not None and -reach <= self.support[0]:
            return Enclosure.exactly(Fraction(1))
        below = self.cells.cumulative(-reach, width=most / 2)
        return Enclosure(1 - 2 * below.upper, 1 - 2 * below.lower).clamp(Fraction(0), Fraction(1))

    @checked
    def expected(self, loss: Loss = "absolute") -> Enclosure:
        """Enclose the mean loss of the noise in whole numbers, ⌊cell / m⌋; exact where the numbers are short.

        If the sensitivity is 1, no noise that is added to every whole number alike, with whole numbers as outcomes,
        does better under this guarantee, for either loss. This was compared with programs in
        `tests/oracles/test_noise.py`; it is not proved here. Readers who weigh what they know do better: see
        `interpret`.
        """
        return mean_loss(self.cells.privacy.shape, loss)

    @checked
    def whole(self, cells: Any) -> NDArray[np.int64]:
        """Return the whole number in which cells lie: ⌊cell / m⌋, which is the noisy count, rounded."""
        drawn: NDArray[np.int64] = np.floor_divide(np.asarray(cells, dtype=np.int64), self.atoms_per_unit)
        return drawn

    @checked
    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Add noise to integers: m · value + cell, exactly, each draw by itself.

        Parameters
        ----------
        values : array of int
            Any shape, magnitudes up to 2^62/m.
        source : BitSource, optional
            The operating system's bits unless given.

        Returns
        -------
        array of int64, the shape of `values`
            Where one record changes one value by at most the sensitivity and no other, it keeps `privacy`. Sums beyond
            64 bits saturate, which is post-processing.
        """
        digits = digits_of_cells(self.cells)
        return add_drawn(
            values, lambda number, bits: draw_digits(number, digits, bits), factor=self.atoms_per_unit, source=source
        )

    @checked
    def mechanism(self, n: int) -> Mechanism:
        """Return the noisy count as a mechanism on 0..n, for checks and for `consumers.optimal_reading`.

        Parameters
        ----------
        n : int
            The largest count that is possible.

        Returns
        -------
        Mechanism
            A row for each count and a column for each cell that one of them reaches. If noise is unbounded, cells
            beyond all kinks represent all further ones. There the counts' likelihoods keep their ratios, and no reader
            learns more from a cell that lies further out.
        """
        largest, size = integer(n, "n", at_least=0, at_most=_LARGEST_COUNT), self.atoms_per_unit
        low, high = self.cells.telling(largest)
        if self.support is not None:
            low, high = self.support[0], self.support[1] + largest * size
        if (high - low) * (largest + 1) > _MOST_ENTRIES:
            rule = f"makes more than {_MOST_ENTRIES:,} entries with this noise"
            raise BadInput("n", rule, "give a smaller n, or a larger epsilon")
        outputs = range(low, high + 1)
        below = {z: self.below_exactly(z) for z in range(low - largest * size, outputs[-1] + 2)}
        rows = []
        for value in range(largest + 1):
            cuts = [Fraction(0), *(below[z - value * size] for z in outputs[1:]), Fraction(1)]
            rows.append([after - before for before, after in pairwise(cuts)])
        return Mechanism.from_matrix(rows, privacy=self.privacy, graph=Path(largest + 1), outputs=outputs)

    def __repr__(self) -> str:
        """Say in one line what noise it is."""
        unit = "" if self.atoms_per_unit == 1 else f", {self.atoms_per_unit} atoms per unit"
        return f"ShapeLaw({self.kind}, {self.privacy}, sensitivity {self.sensitivity}{unit})"

    def _outside(self, place: int) -> bool:
        return self.support is not None and not self.support[0] <= place <= self.support[1]


def mean_loss(shape: Shape, loss: Loss) -> Enclosure:
    """Enclose Σ_z F-mass(z)·|z| (or z²) of the noise that climbs by u.

    With p_j = P(Z ≥ j) = 1 − u^j(θ) it is 2Σ p_j (or 2Σ (2j − 1)p_j), j from 1 up. Right of θ u draws together, so
    that what rounding takes does not grow; at the last, p shrinks by one factor for good.
    """
    middle = shape.starts[len(shape.starts) // 2]
    ends = []
    for up in (False, True):
        s, total = shape.step(middle), Fraction(0)
        for place in count(1):
            line, tail = shape.lines[shape.place(s)], 1 - s
            weight, growth = (2 * place - 1, 2) if loss == "squared" else (1, 0)
            if line.at(Fraction(1)) == 1:
                shrink = line.slope
                total += tail * (weight / (1 - shrink) + growth * shrink / (1 - shrink) ** 2)
                break
            total += weight * tail
            s = _short(line.at(s), up=not up)
        ends.append(2 * total)
    return Enclosure(ends[0], ends[1])


def _short(s: Fraction, *, up: bool) -> Fraction:
    if s.denominator.bit_length() <= _BITS:
        return s
    scaled = s.numerator << _BITS
    return Fraction(-(-scaled // s.denominator) if up else scaled // s.denominator, 1 << _BITS)
