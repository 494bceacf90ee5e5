"""A count for several audiences as matrices: the most accurate release, and a step from each level to the next.

Every coarser level is a remap of a finer one. So any group of audiences learns no more together than its most accurate
member ([Gupte2010], Algorithm 1; docs/theory.md#counts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from .._exact import Table, checked, integer
from .._frames import InOneLine
from .._sampling import kept_probability
from ..errors import BadInput
from ..mechanisms import Mechanism, geometric, geometric_row
from ..privacy import Privacy

_MOST_BITS = 1 << 32
"""Of all numbers: half a gigabyte."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LevelChain(InOneLine):
    """Levels of privacy of one count, from the most accurate down, as matrices.

    Parameters
    ----------
    levels : tuple of Privacy
        By falling ε.
    mechanisms : tuple of Mechanism
        What each level tells on its own: geometric noise on 0..n at its ε, exactly.
    steps : tuple of tables
        `steps[i]` is a stochastic matrix. It makes the answer of level i into that of level i + 1: row z is the
        distribution of what replaces z.
    """

    levels: tuple[Privacy, ...]
    mechanisms: tuple[Mechanism, ...] = field(repr=False)
    steps: tuple[Table, ...] = field(repr=False)

    def _summary(self) -> str:
        shown = ", then ".join(str(level) for level in self.levels)
        return f"counts 0 to {len(self.mechanisms[0].inputs) - 1} at {shown}"


@checked
def chain(n: int, levels: Sequence[Privacy]) -> LevelChain:
    """Return a count's release at several levels of privacy as matrices, each level a remap of the one before.

    Parameters
    ----------
    n : int
        The largest count, from 0.
    levels : sequence of Privacy
        Two or more, with different ε and δ = 0, in any order.

    Returns
    -------
    LevelChain
        `mechanisms[i].post_process(steps[i])` has the matrix of `mechanisms[i + 1]`, exactly. A reader of all levels
        learns no more than a reader of the most accurate one.

    Raises
    ------
    BadInput
        For one level, equal levels, δ above 0, and counts whose exact matrices would take half a gigabyte.

    Examples
    --------
    >>> found = chain(2, [Privacy(ratio=2), Privacy(ratio=4)])
    >>> print(*found.steps[0][1])
    7/27 13/27 7/27
    >>> found.mechanisms[0].post_process(found.steps[0]).matrix() == found.mechanisms[1].matrix()
    True

    References
    ----------
    [Gupte2010], Algorithm 1; docs/theory.md#counts; proofs/audiences.md.
    """
    n = integer(n, "n", at_least=0)
    for level in levels:
        if not level.single or level.delta:
            raise BadInput("levels", "must each be one epsilon with delta 0", "write Privacy(epsilon=1)")
    ordered = tuple(sorted(levels, key=lambda level: level.ratio, reverse=True))
    if len(ordered) < 2 or any(fine.ratio == coarse.ratio for fine, coarse in pairwise(ordered)):
        raise BadInput("levels", "must be two or more with different epsilon", "list for example epsilon 1/2, 1 and 2")
    if n**3 * sum(level.ratio.numerator.bit_length() for level in ordered) > _MOST_BITS:
        raise BadInput("n", "makes exact matrices of more than half a gigabyte", "choose a smaller n or short ratios")
    return LevelChain(
        levels=ordered,
        mechanisms=tuple(geometric(n, level) for level in ordered),
        steps=tuple(_step(n, fine, coarse) for fine, coarse in pairwise(ordered)),
    )


def _step(n: int, fine: Privacy, coarse: Privacy) -> Table:
    """Return T with G_β = G_α·T: keep the value with probability w, else add noise of β.

    From an end, step outward first, so far as g with probability (1 − α)·α^g. What is kept there is clamped to the end.
    """
    alpha, beta, kept = 1 / fine.ratio, 1 / coarse.ratio, kept_probability(fine, coarse)
    rows = []
    for z in range(n + 1):
        row = [(1 - kept) * p for p in geometric_row(z, n, coarse.ratio)]
        row[z] += kept
        rows.append(row)
    if n:
        outward = (1 - kept) * (1 - alpha) / ((1 + beta) * (1 - alpha * beta))
        beyond = [outward * (1 - beta) * beta**v for v in range(1, n)] + [outward * beta**n]
        rows[0] = [1 - sum(beyond, Fraction(0)), *beyond]
        rows[n] = rows[0][::-1]
    return tuple(map(tuple, rows))
