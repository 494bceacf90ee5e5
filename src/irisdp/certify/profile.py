"""The privacy profile: δ as an exact function of the ratio, for a whole mechanism at once.

For one pair of rows, Σ_v max(0, P_v − r·Q_v) is the largest of the lines C − r·S. There is one for each set of outputs
that contains every output of larger likelihood ratio. A mechanism's profile is the largest over its pairs, so it is the
upper envelope of all these lines: convex, piecewise linear, and exact.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import checked, log_above, numbers, rational, short_text
from ..graphs import DatasetGraph
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
from ..privacy import Privacy
from ..tabular import InOneLine
from ..upstairs import Drawable
from .arithmetic import Number, as_fraction, flint_rational
from .subject import Subject, bare_subject

__all__ = ["Line", "PrivacyProfile", "lines_of_pair", "privacy_profile", "profile_of", "profile_of_lines"]

Line = tuple[Number, Number]
"""(C, S): the line C − r·S."""

_LARGEST_IN_FLOATS = 700


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyProfile(InOneLine, Drawable):
    """δ(r) = max over neighbours, both ways, of Σ_v max(0, P_v − r·Q_v), as a convex piecewise linear function.

    Parameters
    ----------
    ratios : tuple of Fraction
        Where the slope changes, ascending; the first is 0.
    deltas : tuple of Fraction
        δ at those ratios; constant beyond the last.
    exact : bool
        Whether this is δ; otherwise it is nowhere less than δ.

    Notes
    -----
    A mechanism is (ε,δ)-private exactly when δ(e^ε) ≤ δ. Ratios below 1 say nothing about privacy but complete the
    profile: by symmetry δ(r) = 1 − r + r·δ(1/r), and a dominating pair is read off the whole of it.
    """

    ratios: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    exact: bool = True

    def _summary(self) -> str:
        kind = "exact" if self.exact else "nowhere below δ"
        return f"δ = {short_text(self.total_variation)} at ratio 1, {short_text(self.unbounded)} in the end; {kind}"

    @property
    def total_variation(self) -> Fraction:
        """Largest total variation distance between neighbours: δ at ratio 1."""
        return self.delta_at(1)

    @property
    def unbounded(self) -> Fraction:
        """The δ that no ratio avoids: the largest mass that a neighbour gives no probability to."""
        return self.deltas[-1]

    @checked
    def delta_at(self, ratio: Any) -> Fraction:
        """Return the smallest δ at a ratio, exactly.

        Parameters
        ----------
        ratio : number, text or Privacy
            r ≥ 0; a `Privacy` stands for its ratio.
        """
        r = ratio.ratio if isinstance(ratio, Privacy) else rational(ratio, "ratio")
        if r < 0:
            raise BadInput("ratio", "must not be negative", "give e^epsilon")
        place = bisect_right(self.ratios, r) - 1
        if place == len(self.ratios) - 1:
            return self.deltas[-1]
        return self.deltas[place] + (r - self.ratios[place]) * self._slope(place)

    @checked
    def ratio_at(self, delta: Any) -> Fraction | None:
        """Return the smallest ratio, at least 1, at which δ suffices; None when none does."""
        wanted = rational(delta, "delta")
        if wanted < self.unbounded:
            return None
        place = next(k for k, found in enumerate(self.deltas) if found <= wanted)
        if place == 0:
            return Fraction(1)
        return max(Fraction(1), self.ratios[place - 1] + (wanted - self.deltas[place - 1]) / self._slope(place - 1))

    @checked
    def epsilon_at(self, delta: Any) -> Fraction | None:
        """Return log(`ratio_at`), rounded up to 30 decimals; None when no ε suffices."""
        ratio = self.ratio_at(delta)
        return None if ratio is None else log_above(ratio)

    @checked
    def points(self, epsilons: Sequence[float]) -> list[float]:
        """Return δ at some ε as floats, for plots; each is the exact δ at float(e^ε)."""
        given = numbers(epsilons, "epsilons")
        if max(given, default=Fraction(0)) > _LARGEST_IN_FLOATS:
            raise BadInput("epsilons", f"must be at most {_LARGEST_IN_FLOATS}, as e^ε is a float", "leave larger out")
        return [float(self.delta_at(Fraction(math.exp(epsilon)))) for epsilon in given]

    @checked
    def dominates(self, other: PrivacyProfile) -> bool:
        """Tell whether this profile is nowhere below another, at ratios from 0 to infinity."""
        corners = (*self.ratios, *other.ratios)
        return self.unbounded >= other.unbounded and all(self.delta_at(r) >= other.delta_at(r) for r in corners)

    def _slope(self, place: int) -> Fraction:
        return (self.deltas[place + 1] - self.deltas[place]) / (self.ratios[place + 1] - self.ratios[place])


@checked
def privacy_profile(
    subject: Mechanism | FactoredMechanism | MechanismDocument, *, graph: DatasetGraph | None = None
) -> PrivacyProfile:
    """Return δ as an exact piecewise linear function of the ratio, for a whole mechanism on its graph.

    Costs a sort per distinct pair of rows that meets. A factored mechanism is expanded first.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism or MechanismDocument
        Whose rows are compared.
    graph : DatasetGraph, optional
        Which inputs are neighbours; the subject's own graph unless given.

    Raises
    ------
    BadInput
        For a subject without a graph where none is given.
    """
    return profile_of(bare_subject(subject, graph))


def profile_of(subject: Subject) -> PrivacyProfile:
    """Return the privacy profile of a mechanism that was converted."""
    pairs = subject.row_pairs()

    def lines() -> Iterator[Line]:
        for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
            yield from lines_of_pair(zip(subject.rows[i], subject.rows[j], strict=True))
            yield from lines_of_pair(zip(subject.rows[j], subject.rows[i], strict=True))

    return profile_of_lines(lines())


def lines_of_pair(masses: Iterable[tuple[Number, Number]]) -> Iterator[Line]:
    """Yield the lines C − r·S of one ordered pair of distributions, from the steepest cut to the flattest.

    Parameters
    ----------
    masses : iterable of pairs
        (P_v, Q_v) for every output.
    """
    ordered = sorted(((p, q) for p, q in masses if p > 0), key=_Descending)
    above = below = flint_rational(Fraction(0))
    for p, q in ordered:
        above, below = above + p, below + q
        yield above, below


def profile_of_lines(lines: Iterable[Line], *, exact: bool = True) -> PrivacyProfile:
    """Return the upper envelope on r ≥ 0 of the lines C − r·S and of the two every profile lies above, 0 and 1 − r."""
    zero, one = (flint_rational(Fraction(k)) for k in (0, 1))
    best: dict[Number, Number] = {zero: zero, one: one}
    for above, below in lines:
        if below not in best or above > best[below]:
            best[below] = above
    hull: list[Line] = []
    starts: list[Number] = []  # where each line of the hull begins to lead, from r = 0 on
    for below in sorted(best, reverse=True):
        above = best[below]
        start = zero
        while hull:
            # A flatter line overtakes the leading one where C' − r·S' = C − r·S.
            start = (hull[-1][0] - above) / (hull[-1][1] - below)
            if start > starts[-1]:
                break
            hull.pop()
            starts.pop()
        hull.append((above, below))
        starts.append(start if len(hull) > 1 else zero)
    deltas = [above - start * below for (above, below), start in zip(hull, starts, strict=True)]
    return PrivacyProfile(tuple(map(as_fraction, starts)), tuple(map(as_fraction, deltas)), exact)


class _Descending:
    """Sort key for (P_v, Q_v): larger likelihood ratio first, without dividing by a zero Q_v."""

    __slots__ = ("p", "q")

    def __init__(self, masses: tuple[Number, Number]) -> None:
        self.p, self.q = masses

    def __lt__(self, other: _Descending) -> bool:
        return bool(self.p * other.q > other.p * self.q)
