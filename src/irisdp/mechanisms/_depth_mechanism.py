"""Mechanisms whose row depends only on a class and a depth: T^depth of the class's boundary distribution.

A majority over 10^12 voters is a row of this mechanism, looked up by depth and never built.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from .._exact import Enclosure, checked, integer, rational
from ..errors import BadInput
from ..graphs import line
from ..privacy import Privacy, are_close, enclose_steps, steps
from ._mechanism import Mechanism, Row, check_distribution
from ._randomized_response import balanced_truth

INFINITE_DEPTH = -1
"""Depth of a node whose component has no boundary: there the first choice is certain."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DepthMechanism:
    """A homogeneous mechanism on classes that all touch each other, one ranking and one boundary row per class.

    Parameters
    ----------
    privacy : Privacy
        Of the whole mechanism: neighbours are a step apart in depth, or both at depth 0 of two classes.
    rankings : tuple of tuples
        For every class all outputs, best first.
    boundary : tuple of rows
        For every class the distribution at depth 0, in the order of its ranking. Any two are (ε,δ)-close.

    Notes
    -----
    The row at depth t is T^t of the boundary row: prefix sums s_k become u^t(s_k). It dominates every (ε,δ)-private
    mechanism with the same boundary ([Gu2024], Theorem 2; corrected operator; docs/theory.md#rainbows).
    """

    privacy: Privacy
    rankings: tuple[tuple[Hashable, ...], ...]
    boundary: tuple[Row, ...]

    def __post_init__(self) -> None:
        """Refuse boundaries that are not private among themselves."""
        outputs = set(self.rankings[0])
        for ranking, row in zip(self.rankings, self.boundary, strict=True):
            if set(ranking) != outputs or len(ranking) != len(outputs):
                raise BadInput("rankings", "must each list all outputs once", "rank the same outputs in every class")
            check_distribution(row, len(ranking), "boundary")
        for first in range(len(self.boundary)):
            for second in range(first):
                if not are_close(self._at_boundary(first), self._at_boundary(second), self.privacy):
                    names = f"{self.rankings[second]} and {self.rankings[first]}"
                    raise BadInput("boundary", f"is not private between {names}", "choose closer boundary values")

    @property
    def outputs(self) -> tuple[Hashable, ...]:
        """All answers, in the order of the first class's ranking."""
        return self.rankings[0]

    @checked
    def prefix_sums(self, group: int) -> Row:
        """Return the prefix sums at depth 0 of a class, without the last (which is 1)."""
        return tuple(accumulate(self._of_class(group)[:-1]))

    @checked
    def row(self, group: int, depth: int) -> Row:
        """Return the exact row of a class at a depth, in the order of its ranking; for small depths."""
        if _depth(depth) == INFINITE_DEPTH:
            return (Fraction(1), *(Fraction(0) for _ in self.outputs[1:]))
        sums = (Fraction(0), *(steps(s, _depth(depth), self.privacy) for s in self.prefix_sums(group)), Fraction(1))
        return tuple(after - before for before, after in pairwise(sums))

    @checked
    def truth(self, group: int, depth: int, *, width: Fraction = Fraction(1, 1 << 64)) -> Enclosure:
        """Enclose the probability of the class's first choice at any depth."""
        first = self._of_class(group)[0]
        if _depth(depth) == INFINITE_DEPTH:
            return Enclosure.exactly(Fraction(1))
        return enclose_steps(first, _depth(depth), self.privacy, width=rational(width, "width"))

    def _of_class(self, group: int) -> Row:
        return self.boundary[integer(group, "group", at_least=0, at_most=len(self.boundary) - 1)]

    def _at_boundary(self, group: int) -> Row:
        ranked = dict(zip(self.rankings[group], self.row(group, 0), strict=True))
        return tuple(ranked[output] for output in self.outputs)


def _depth(depth: Any) -> int:
    return integer(depth, "depth", at_least=min(0, INFINITE_DEPTH))


@checked
def balanced_line(privacy: Privacy, *, outputs: Sequence[Hashable] = ("yes", "no")) -> DepthMechanism:
    """Build the optimal balanced mechanism for a yes/no question, for lines of any length.

    Parameters
    ----------
    privacy : Privacy
        Any ratio and δ.
    outputs : pair
        The answers of class 0 and of class 1.

    Returns
    -------
    DepthMechanism
        Both boundaries tell the truth with (r + δ)/(r + 1); no mechanism that treats the two alike is better at any
        depth ([DOliveira2021], Theorem 4 and Corollary 2; corrected, docs/theory.md#operator).
    """
    truth = balanced_truth(2, privacy)
    first, second = outputs
    return DepthMechanism(
        privacy=privacy, rankings=((first, second), (second, first)), boundary=((truth, 1 - truth),) * 2
    )


@checked
def line_mechanism(blue: int, red: int, mechanism: DepthMechanism) -> Mechanism:
    """Lay a two-class `DepthMechanism` on the (n_B, n_R)-line, exactly: nodes 1..n_B are class 0, the rest class 1.

    Parameters
    ----------
    blue, red : int
        n_B and n_R, at least 1.
    mechanism : DepthMechanism
        With two classes and two outputs.

    Raises
    ------
    BadInput
        For one with more.

    References
    ----------
    [DOliveira2021], Definition 6 and Theorem 4.
    """
    if len(mechanism.rankings) != 2 or len(mechanism.outputs) != 2:
        raise BadInput("mechanism", "must have two classes and two outputs", "use `balanced_line` or a binary boundary")
    blue_rows = [mechanism.row(0, depth) for depth in reversed(range(blue))]
    red_rows = [mechanism.row(1, depth)[::-1] for depth in range(red)]
    graph = line(blue, red).graph
    return Mechanism.from_matrix(
        [*blue_rows, *red_rows], privacy=mechanism.privacy, graph=graph, outputs=mechanism.outputs
    )
