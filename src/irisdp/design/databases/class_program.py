"""The linear program over classes of pairs: one probability for all pairs that symmetry takes to each other.

    minimise    Σ_c n_c w_c loss_c p_c               over classes c of pairs (input, answer)
    subject to  Σ_c a_c p_c = 1                      for every orbit of inputs
                p_b − r p_c ≤ s,  Σ a_bc s ≤ δ       for classes that meet over a kind of edge

with a_c the answers of a class for one input, n_c all its pairs, and a_bc the answers that see b at the tail of an edge
and c at its head. Its solutions are the solutions of `program` that the group leaves unchanged, so they are optimal
there too. Its multipliers prove it, shared equally among the triples (tail, head, answer) that they represent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from ...exact import rational_text
from ...exact.grid import GRID_BITS
from ...exact.short import is_short, stepping_stones, workable_ratio
from ...graphs import DatasetGraph
from ...graphs.protocol import Indices
from ...linprog.elimination import SparseRow
from ...linprog.optimum import exact_optimum
from ...linprog.program import LinearProgram, as_fmpq, as_fraction
from ...privacy import Privacy
from .orbits import Constraints, PairClasses, constraints

__all__ = ["ClassProgram"]

Numbers = list[Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class ClassProgram:
    """Everything about the program but the ratio it is solved at.

    Parameters
    ----------
    graph : DatasetGraph
        Its nodes are inputs and answers.
    classes : PairClasses
        Of a group that keeps loss and weights.
    privacy : Privacy
    loss : tuple of Fraction
        One per class.
    weight : tuple of Fraction
        w of an input, one per orbit of inputs.
    pairs : Constraints
    """

    graph: DatasetGraph
    classes: PairClasses
    privacy: Privacy
    loss: tuple[Fraction, ...]
    weight: tuple[Fraction, ...]
    pairs: Constraints

    @classmethod
    def of(
        cls,
        graph: DatasetGraph,
        classes: PairClasses,
        privacy: Privacy,
        losses: Sequence[Sequence[Fraction]],
        weights: Sequence[Fraction],
    ) -> ClassProgram:
        """Collect the program from the losses of the representatives and the weights of all nodes."""
        loss = [Fraction(0)] * classes.number
        for labels, row in zip(classes.labels.tolist(), losses, strict=True):
            for label, value in zip(labels, row, strict=True):
                loss[label] = value
        weight = tuple(weights[node] for node in classes.representatives.tolist())
        pairs = constraints(graph, classes, by_kind=privacy.delta > 0)
        return cls(graph, classes, privacy, tuple(loss), weight, pairs)

    @property
    def triples(self) -> Indices:
        """For how many triples (tail, head, answer) each pair of classes stands."""
        return self.pairs.answers * self.pairs.edges[self.pairs.block]

    def solve(self) -> tuple[Numbers, Numbers, bool]:
        """Solve the program at a workable ratio.

        Returns
        -------
        values
            p, one per class.
        multipliers
            λ of one triple, one per pair of classes.
        exact
            Whether both are exactly optimal at that ratio.
        """
        basis = None
        *stones, last = stepping_stones(workable_ratio(self.privacy.ratio))
        for stone in stones:
            basis = exact_optimum(self._linear(stone), start=basis, most_pivots=0).basis
        optimum = exact_optimum(self._linear(last), start=basis)
        first = len(self.weight)
        duals = optimum.duals[first : first + len(self.pairs.first)]
        shares = zip(duals, self.triples.tolist(), strict=True)
        multipliers = [max(-as_fraction(dual), Fraction(0)) / count for dual, count in shares]
        return [as_fraction(x) for x in optimum.values[: len(self.loss)]], multipliers, optimum.exact

    def value(self, values: Sequence[Fraction]) -> Fraction:
        """Return the goal."""
        terms = zip(self._pairs_of_class(), self.loss, values, strict=True)
        return sum((weight * loss * p for weight, loss, p in terms if p), start=Fraction(0))

    def bound(self, multipliers: Sequence[Fraction]) -> Fraction:
        """Return the lower bound that multipliers prove: the formula of `dual`, added up orbit by orbit."""
        ratio = as_fmpq(self.privacy.ratio)
        scores = [as_fmpq(w * x) for w, x in zip(self._pairs_of_class(), self.loss, strict=True)]
        largest = [Fraction(0)] * len(self.pairs.edges)
        columns = (self.pairs.block, self.pairs.first, self.pairs.second, self.triples)
        for multiplier, block, b, c, count in zip(multipliers, *(x.tolist() for x in columns), strict=True):
            if multiplier:
                scores[b] += as_fmpq(multiplier) * count
                scores[c] -= as_fmpq(multiplier) * count * ratio
                largest[block] = max(largest[block], multiplier)
        least: list[flint.fmpq | None] = [None] * len(self.weight)
        orbits, sizes = self.classes.orbit_of_class.tolist(), self.classes.sizes.tolist()
        for score, orbit, size in zip(scores, orbits, sizes, strict=True):
            share = score / size
            known = least[orbit]
            least[orbit] = share if known is None else min(known, share)
        total = as_fraction(sum((x for x in least if x is not None), start=flint.fmpq(0)))
        edges = zip(largest, self.pairs.edges.tolist(), strict=True)
        return total - self.privacy.delta * sum((most * count for most, count in edges), start=Fraction(0))

    def is_private(self, values: Sequence[Fraction]) -> bool:
        """Tell whether the mechanism with these probabilities is private on every edge, exactly."""
        ratio = self.privacy.ratio
        excess = [Fraction(0)] * len(self.pairs.edges)
        columns = (self.pairs.block, self.pairs.first, self.pairs.second, self.pairs.answers)
        for block, b, c, answers in zip(*(x.tolist() for x in columns), strict=True):
            over = values[b] - ratio * values[c]
            if over > 0:
                excess[block] += over * answers
        return max(excess, default=Fraction(0)) <= self.privacy.delta

    def shortened(self, values: Sequence[Fraction]) -> Numbers:
        """Return probabilities in short numbers, exactly private: the given ones if they are both.

        Otherwise multiples of 2^-128. With more than one class a row, they are contracted towards the uniform answer as
        `grid` does, by the smallest power of 1/16 that allows for rounding.
        """
        if is_short((tuple(values),)) and self.is_private(values):
            return list(values)
        answers = self.classes.orbit_of_answers
        used = np.zeros(len(self.weight), np.bool_)
        used[answers[[p > 0 for p in values]]] = True
        safe = Fraction(1, int(self.classes.group.orbit_sizes[used].sum()))
        uniform = [safe if used[orbit] else Fraction(0) for orbit in answers.tolist()]
        for places in range(GRID_BITS, 0, -4):
            share = Fraction(1, 1 << places)
            found = self._completed(
                [(1 - share) * max(p, Fraction(0)) + share * s for p, s in zip(values, uniform, strict=True)]
            )
            if min(found) >= 0 and self.is_private(found):
                return found
        return uniform

    def _completed(self, values: Sequence[Fraction]) -> Numbers:
        """Round down to the grid, and give what every row then lacks to its likeliest class."""
        found = [Fraction((p.numerator << GRID_BITS) // p.denominator, 1 << GRID_BITS) for p in values]
        sizes, lacking = self.classes.sizes.tolist(), [Fraction(1)] * len(self.weight)
        likeliest: dict[int, int] = {}
        for c, orbit in enumerate(self.classes.orbit_of_class.tolist()):
            lacking[orbit] -= sizes[c] * found[c]
            if orbit not in likeliest or found[c] > found[likeliest[orbit]]:
                likeliest[orbit] = c
        for orbit, c in likeliest.items():
            found[c] += lacking[orbit] / sizes[c]
        return found

    def rows(self, values: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], ...]:
        """Return the mechanism, one row per input."""
        table = np.array([*values, None], dtype=object)[:-1]
        return tuple(tuple(table[self.classes.row(node)]) for node in range(self.graph.number_of_nodes))

    def multipliers_document(self, multipliers: Sequence[Fraction]) -> list[list[int | str]]:
        """List [i, j, v, λ] for every triple with λ > 0, as dual certificates do."""
        rows = [self.classes.row(node) for node in range(self.graph.number_of_nodes)]
        texts = [rational_text(multiplier) for multiplier in multipliers]
        positive = np.array([multiplier > 0 for multiplier in multipliers], dtype=np.bool_)
        listed: list[list[int | str]] = []
        for i, here in enumerate(rows):
            for j in self.graph.neighbours(i).tolist():
                place = self.pairs.find(here, rows[j])
                listed += [[i, j, v, texts[place[v]]] for v in np.flatnonzero(positive[place]).tolist()]
        return listed

    def _pairs_of_class(self) -> Numbers:
        """Return the weights of all pairs of each class together."""
        orbits, nodes = self.classes.orbit_of_class.tolist(), self.classes.group.orbit_sizes.tolist()
        sizes = self.classes.sizes.tolist()
        return [self.weight[orbit] * nodes[orbit] * size for orbit, size in zip(orbits, sizes, strict=True)]

    def _linear(self, ratio: Fraction) -> LinearProgram:
        one, delta, r = flint.fmpq(1), as_fmpq(self.privacy.delta), as_fmpq(ratio)
        columns: list[SparseRow] = [
            {orbit: flint.fmpq(size)}
            for orbit, size in zip(self.classes.orbit_of_class.tolist(), self.classes.sizes.tolist(), strict=True)
        ]
        cost = [as_fmpq(w * x) for w, x in zip(self._pairs_of_class(), self.loss, strict=True)]
        right = [one] * len(self.weight) + [flint.fmpq(0)] * len(self.pairs.first)
        for row, (b, c) in enumerate(
            zip(self.pairs.first.tolist(), self.pairs.second.tolist(), strict=True), len(self.weight)
        ):
            entries = [(b, one), (c, -r)] if b != c else [(b, one - r)]
            for column, x in entries:
                if x != 0:
                    columns[column][row] = x
            columns.append({row: one})
        if delta != 0:
            first = len(right)
            right += [delta] * len(self.pairs.edges)
            row = len(self.weight)
            for block, answers in zip(self.pairs.block.tolist(), self.pairs.answers.tolist(), strict=True):
                columns.append({row: -one, first + block: flint.fmpq(answers)})
                row += 1
            columns += [{first + block: one} for block in range(len(self.pairs.edges))]
        return LinearProgram(columns, cost + [flint.fmpq(0)] * (len(columns) - len(cost)), right)
