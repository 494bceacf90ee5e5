"""The geometric mechanism, and a sparse reading of it: how large mechanisms are written down and drawn.

It is the one mechanism that every minimax reader of a count wants (docs/theory.md#counts).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, integer, rational
from .._sampling import BitSource, clamped_geometric, draw, integers
from ..errors import BadInput
from ..graphs import Path
from ..privacy import Privacy
from ._file_format import Serializable, StatedObjective, exact_text
from ._mechanism import Mechanism, Row
from ._remap import read_remap


@checked
def geometric(n: int, privacy: Privacy) -> Mechanism:
    """Build the range-restricted geometric mechanism G_{n,α} for a count in 0..n, α = 1/ratio.

    Parameters
    ----------
    n : int
        Largest count, at least 0; inputs and outputs are 0..n and neighbours differ by one.
    privacy : Privacy
        The ratio; the mechanism needs no δ and satisfies δ = 0.

    Returns
    -------
    Mechanism
        Exactly α-private: every edge is tight somewhere. Entries are powers of the ratio, so with a long ratio they
        are long; `irisdp.design.geometric` gives the same mechanism in short numbers.

    References
    ----------
    [Gupte2010], Definition 4 and Figure 1; docs/theory.md#counts.
    """
    n = integer(n, "n", at_least=0)
    rows = [geometric_row(count, n, privacy.ratio) for count in range(n + 1)]
    return Mechanism.from_matrix(rows, privacy=privacy.pure, graph=Path(n + 1))


@checked
def geometric_row(count: int, n: int, ratio: Fraction) -> Row:
    """Return the distribution over 0..n of clamp(count + noise), noise two-sided geometric with α = 1/ratio.

    Parameters
    ----------
    count : int
        The true count, from 0 to `n`.
    n : int
        The largest count, at least 0.
    ratio : number or text
        r ≥ 1.

    Raises
    ------
    BadInput
        For numbers out of these ranges.
    """
    n = integer(n, "n", at_least=0)
    count, ratio = integer(count, "count", at_least=0, at_most=n), rational(ratio, "ratio")
    if ratio < 1:
        raise BadInput("ratio", "must be at least 1 (it is e^epsilon)", "give a number from 1 up")
    if n == 0:
        return (Fraction(1),)
    alpha = 1 / ratio
    inner = (1 - alpha) / (1 + alpha)
    middle = tuple(inner * alpha ** abs(z - count) for z in range(1, n))
    return (alpha**count / (1 + alpha), *middle, alpha ** (n - count) / (1 + alpha))


Reading = dict[int, tuple[tuple[int, Fraction], ...]]
"""For every released value z the answers r it is read as, with their probabilities."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FactoredMechanism(Serializable):
    """The range-restricted geometric mechanism on 0..n, then each released z read as r with probability p.

    Privacy is the geometric mechanism's: reading is post-processing.

    Parameters
    ----------
    privacy : Privacy
        α = 1/ratio.
    n : int
        Largest count.
    reading : Reading
        A distribution for every z in 0..n; an identity reading may be left out as None.
    objective, certificate : optional
        As `Mechanism` has them.
    """

    privacy: Privacy
    n: int
    reading: Reading | None = field(default=None, hash=False)
    objective: StatedObjective | None = field(default=None, compare=False)
    certificate: Mapping[str, Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse a reading that is no stochastic matrix on 0..n."""
        if self.reading is None:
            return
        if len(self.reading) != self.n + 1 or set(self.reading) != set(range(self.n + 1)):
            raise BadInput("reading", f"must say how to read every value 0..{self.n}", "give each z a distribution")
        for choices in self.reading.values():
            if any(p < 0 or not 0 <= r <= self.n for r, p in choices) or sum(p for _, p in choices) != 1:
                raise BadInput(
                    "reading", "must spread probability 1 over answers 0..n for every z", "correct [z, r, p]"
                )

    @property
    def inputs(self) -> range:
        """The counts 0..n."""
        return range(self.n + 1)

    @property
    def outputs(self) -> range:
        """The answers 0..n."""
        return range(self.n + 1)

    @checked
    def position(self, node: Hashable) -> int:
        """Return the position of an input, which is the count itself."""
        if not isinstance(node, int) or isinstance(node, bool) or not 0 <= node <= self.n:
            raise BadInput("input", "is not an input of this mechanism", f"choose a count from 0 to {self.n}")
        return node

    @checked
    def row(self, node: Hashable) -> Row:
        """Return the exact distribution of the answer for one count."""
        released = geometric_row(self.position(node), self.n, self.privacy.ratio)
        if self.reading is None:
            return released
        answer = [Fraction(0)] * (self.n + 1)
        for z, probability in enumerate(released):
            for r, share in self.reading[z]:
                answer[r] += probability * share
        return tuple(answer)

    @checked
    def approximate_row(self, node: Hashable) -> NDArray[np.float64]:
        """Return the distribution of the answer for one count in floats; exact rows of many counts take long.

        Parameters
        ----------
        node : int
            The count.
        """
        alpha = 1 / self.privacy.ratio
        released = float(alpha) ** np.abs(np.arange(self.n + 1) - self.position(node)) / float(1 + alpha)
        released[1:-1] *= float(1 - alpha)
        if self.n == 0:
            released[0] = 1.0
        if self.reading is None:
            return released
        answer = np.zeros(self.n + 1)
        for z in np.flatnonzero(released).tolist():
            for r, share in self.reading[z]:
                answer[r] += released[z] * float(share)
        return answer

    @checked
    def draw_positions(self, node: Hashable, count: int, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw `count` independent answers to one count, factor by factor, so that nothing large is built.

        Returns
        -------
        array of int64, shape (count,)
            Answers, with exactly the probabilities of the count's row.
        """
        draws = integer(count, "count", at_least=0)
        return self.draw_each(np.full(draws, self.position(node), dtype=np.int64), source=source)

    @checked
    def draw_each(self, places: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw one answer for each count, independently, factor by factor."""
        counts = integers(places, "places", at_least=0, at_most=self.n)
        released = clamped_geometric(counts, self.n, self.privacy, source=source)
        if self.reading is None:
            return released
        distinct, which = np.unique(released, return_inverse=True)
        answers = sorted({answer for z in distinct.tolist() for answer, _ in self.reading[z]})
        place = {answer: position for position, answer in enumerate(answers)}
        rows = []
        for z in distinct.tolist():
            row = [Fraction(0)] * len(answers)
            for answer, probability in self.reading[z]:
                row[place[answer]] += probability
            rows.append(row)
        return np.array(answers, dtype=np.int64)[draw(rows, which, source=source)]

    @checked
    def post_process(self, reading: Any) -> FactoredMechanism:
        """Re-map the answers, as `Mechanism.post_process` does; the new answers must be counts 0..n too.

        Parameters
        ----------
        reading : matrix, mapping or OptimalReading
            How every answer 0..n is read. An optimal reading of many counts stays sparse.
        """
        sparse = reading.reading() if callable(getattr(reading, "reading", None)) else reading
        names, lines = read_remap(sparse, self.outputs, None)
        if not all(type(name) is int and 0 <= name <= self.n for name in names):
            raise BadInput("reading", f"must read answers as counts 0..{self.n}", "expand() the mechanism first")
        remap: Reading = {}
        for z in self.inputs:
            shares: dict[int, Fraction] = {}
            for middle, p in ((z, Fraction(1)),) if self.reading is None else self.reading[z]:
                for place, share in lines[middle]:
                    answer = cast("int", names[place])
                    shares[answer] = shares.get(answer, Fraction(0)) + p * share
            remap[z] = tuple(sorted(shares.items()))
        return FactoredMechanism(privacy=self.privacy, n=self.n, reading=remap)

    def _table(self) -> dict[str, Any]:
        factors: list[dict[str, Any]] = [{"kind": "geometric", "n": self.n}]
        if self.reading is not None:
            lines = sorted(self.reading.items())
            factors.append({"reading": [[z, r, exact_text(p, "reading")] for z, line in lines for r, p in line]})
        return {"factors": factors}

    def expand(self) -> Mechanism:
        """Multiply out into a matrix, one row per count; for small n."""
        rows = [self.row(count) for count in self.inputs]
        return Mechanism.from_matrix(rows, privacy=self.privacy.pure, graph=Path(self.n + 1), objective=self.objective)
