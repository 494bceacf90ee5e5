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

import flint

from .._exact import (
    Number,
    as_fraction,
    ball,
    checked,
    entries,
    flint_rational,
    log_above,
    numbers,
    rational,
    short_text,
    working_precision,
)
from .._frames import InOneLine
from .._hooks import Drawable
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
from ..privacy import Privacy
from ._audited_mechanism import AuditedMechanism, bare_subject

# Rényi divergences of a mechanism as floats for people, computed with enclosures and rounded up.

RENYI_ACCURACY = 2.0**-40
"""A divergence returned is at least the true one, and above it by at most this, relatively or absolutely."""

LARGEST_ORDER = 10_000

_BITS = 160


@checked
def renyi_divergence(
    subject: Mechanism | FactoredMechanism | MechanismDocument, order: Any, *, graph: DatasetGraph | None = None
) -> float:
    """Return the largest Rényi divergence between neighbours, in nats, in either direction.

    D_a(P‖Q) = log(Σ_v P_v^a · Q_v^(1−a)) / (a − 1); order 1 is Kullback and Leibler's, infinity the ε at δ = 0.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism or MechanismDocument
        A factored mechanism is expanded first.
    order : number, text or math.inf
        a > 0.
    graph : DatasetGraph, optional
        Which inputs are neighbours. [default: the subject's own graph]

    Returns
    -------
    float
        At least the true value and within `RENYI_ACCURACY` of it; infinity where a probability faces zero (a ≥ 1).

    Raises
    ------
    BadInput
        For an order that is not more than 0, or finite and too large.
    """
    infinite = isinstance(order, float) and order == math.inf
    a = Fraction(0) if infinite else rational(order, "order")
    if not infinite and not 0 < a <= LARGEST_ORDER:
        raise BadInput("order", f"must be more than 0, and at most {LARGEST_ORDER} unless infinite", "choose another")
    examined = bare_subject(subject, graph)
    rows, pairs, largest = examined.document.rows, examined.row_pairs(), 0.0
    with working_precision(_precision(a)):
        for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
            for first, second in ((rows[i], rows[j]), (rows[j], rows[i])):
                divergence = _maximum(first, second) if infinite else _of_order(first, second, a)
                if divergence is None:
                    return math.inf
                largest = max(largest, _above(divergence))
    return largest


def _of_order(first: Sequence[Fraction], second: Sequence[Fraction], order: Fraction) -> flint.arb | None:
    faced = [(p, q) for p, q in zip(first, second, strict=True) if p > 0 and q > 0]
    if not faced or (order >= 1 and any(p > 0 and q == 0 for p, q in zip(first, second, strict=True))):
        return None
    if order == 1:
        return sum((ball(p) * ball(p / q).log() for p, q in faced), start=flint.arb(0))
    total = sum((ball(p) * ((ball(order) - 1) * ball(p / q).log()).exp() for p, q in faced), start=flint.arb(0))
    return total.log() / (ball(order) - 1)


def _maximum(first: Sequence[Fraction], second: Sequence[Fraction]) -> flint.arb | None:
    if any(p > 0 and q == 0 for p, q in zip(first, second, strict=True)):
        return None
    return ball(max(p / q for p, q in zip(first, second, strict=True) if q > 0)).log()


def _above(value: flint.arb) -> float:
    """Round up to a float: one step above the nearest float to the ball's upper end."""
    return max(0.0, math.nextafter(float(value.upper()), math.inf))


def _precision(order: Fraction) -> int:
    """Return enough bits to survive the division by a − 1 near order 1."""
    apart = abs(order - 1)
    return _BITS + (max(0, apart.denominator.bit_length() - apart.numerator.bit_length()) if apart else 0)


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
        return self._delta(Fraction(1))

    @property
    def unbounded(self) -> Fraction:
        """The δ that no ratio avoids: the largest mass that a neighbour gives no probability to."""
        return self.deltas[-1]

    @checked
    def delta_at(self, privacy: Any = None, *, epsilon: Any = None, ratio: Any = None) -> Fraction:
        """Return the smallest δ at an ε or at a ratio, exactly. Give one of the three.

        Parameters
        ----------
        privacy : Privacy, optional
            For its ratio.
        epsilon : number or text, optional
            ε ≥ 0; δ is taken at e^ε rounded down, so that it is never too small.
        ratio : number or text, optional
            r ≥ 0, which is e^ε.

        Raises
        ------
        BadInput
            For a number without a name, which could be either.

        Examples
        --------
        >>> from irisdp import design
        >>> profile = privacy_profile(design.geometric(3, Privacy(ratio=2)))
        >>> profile.delta_at(ratio=1), profile.delta_at(epsilon=1)
        (Fraction(1, 3), Fraction(0, 1))
        """
        if privacy is not None and not isinstance(privacy, Privacy):
            rule = "cannot tell whether a number without a name is an epsilon or a ratio"
            raise BadInput("delta_at", rule, "write delta_at(epsilon=1) or delta_at(ratio=2)")
        if sum(given is not None for given in (privacy, epsilon, ratio)) != 1:
            raise BadInput("delta_at", "needs exactly one of epsilon, ratio and a Privacy", "write delta_at(epsilon=1)")
        for name, given in (("epsilon", epsilon), ("ratio", ratio)):
            if entries(given) is not None:
                remedy = f"write [profile.delta_at({name}=x) for x in values]"
                raise BadInput(name, "must be one number, not a list", remedy)
        if ratio is not None:
            r = rational(ratio, "ratio")
            if r < 0:
                raise BadInput("ratio", "must not be negative", "give e^epsilon")
        else:
            r = (Privacy(epsilon=epsilon) if privacy is None else privacy).ratio
        return self._delta(r)

    def _delta(self, r: Fraction) -> Fraction:
        place = bisect_right(self.ratios, r) - 1
        if place == len(self.ratios) - 1:
            return self.deltas[-1]
        return self.deltas[place] + (r - self.ratios[place]) * self._slope(place)

    @checked
    def ratio_at(self, delta: Any) -> Fraction | None:
        """Return the smallest ratio, at least 1, at which δ suffices; None when none does.

        Parameters
        ----------
        delta : number or text
            δ, from 0 to 1.
        """
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
        return [float(self._delta(Fraction(math.exp(epsilon)))) for epsilon in given]

    @checked
    def dominates(self, other: PrivacyProfile) -> bool:
        """Tell whether this profile is nowhere below another, at ratios from 0 to infinity."""
        corners = (*self.ratios, *other.ratios)
        return self.unbounded >= other.unbounded and all(self._delta(r) >= other._delta(r) for r in corners)

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
        Which inputs are neighbours. [default: the subject's own graph]

    Raises
    ------
    BadInput
        For a subject without a graph where none is given.
    """
    return profile_of(bare_subject(subject, graph))


def profile_of(subject: AuditedMechanism) -> PrivacyProfile:
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


# The largest profile that several simultaneous guarantees allow: the worst release with these guarantees.


@checked
def worst_profile(guarantees: Any) -> PrivacyProfile:
    """Return the profile that no release with all of these guarantees exceeds, and that some release has.

    Parameters
    ----------
    guarantees : list of pairs
        (ratio, δ), numbers or text; ratios at least 1 and δ in [0, 1), in any order; one that follows from the
        others does no harm.

    Returns
    -------
    PrivacyProfile
        Its `irisdp.certify.dominating_pair` dominates the guarantees in every composition.

    Raises
    ------
    BadInput
        For an empty list, and what is no such pair.

    Notes
    -----
    A profile is convex, does not rise, is 1 at 0, and is 1 − r + r·δ(1/r). So a guarantee at r bounds it at 1/r too,
    and the largest is the lower convex hull of these points, which the same reflection maps to itself
    (proofs/totals.md).
    """
    points = {Fraction(0): Fraction(1)}
    listed = entries(guarantees)
    if not listed:
        raise BadInput("guarantees", "must be a list of at least one pair", "write [(2, 0)]")
    for ratio, delta in (numbers(pair, "guarantees", 2) for pair in listed):
        if ratio < 1 or not 0 <= delta < 1:
            raise BadInput("guarantees", "must have ratios from 1 and deltas from 0 to 1", "write (ratio, delta)")
        for r, bound in ((ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)):
            points[r] = min(bound, points.get(r, bound))
    hull: list[tuple[Fraction, Fraction]] = []
    for r, bound in sorted(points.items()):
        if hull and bound >= hull[-1][1]:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], (r, bound)):
            hull.pop()
        hull.append((r, bound))
    return PrivacyProfile(tuple(r for r, _ in hull), tuple(bound for _, bound in hull))


def _turns_down(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Tell whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
