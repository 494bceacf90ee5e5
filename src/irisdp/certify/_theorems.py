"""Optimality by a theorem: each is re-derived on the instance, its hypotheses checked, nothing taken on trust.

A theorem's check returns what it proves: the largest distance of an entry from the theorem's own, and a lower bound of
the goal if the certificate states one. It raises `BadInput` where a hypothesis fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint

from .._exact import Number, flint_rational, rational
from ..errors import BadInput
from ._audited_mechanism import AuditedMechanism, is_the_path
from ._boundaries import Best, balanced_line, choice_bound, fixed_rainbow, homogeneous_rainbow
from ._objectives import StatedGoal

# Compute powers of α = 1/r for the rows of the geometric mechanism, as integers over one scale.
#
# G_{n,α} has α^i·a/(a+b) and α^(n−i)·a/(a+b) at its ends and α^|z−i|·(a−b)/(a+b) between, for r = a/b. Exact powers
# have n·log2(a) bits; beyond `LONGEST` they are kept in fixed point, rounded down and up, so that bounds stay bounds.

LONGEST = 20_000
"""Bits up to which powers are exact. Part of the certificate's definition: the stand-alone verifier does the same."""

FIXED_POINT = 512
"""Bits after the point beyond that."""


class GeometricPowers:
    """The geometric mechanism on 0..n at a ratio, ready for sums over its rows and columns.

    Parameters
    ----------
    n : int
        Largest count.
    ratio : Fraction
        r ≥ 1.
    up : bool
        Round the powers up where they are not exact; down otherwise.
    """

    def __init__(self, n: int, ratio: Fraction, *, up: bool) -> None:
        a, b = ratio.numerator, ratio.denominator
        powers = [flint.fmpz(1)]
        if n * a.bit_length() <= LONGEST:
            scale = flint.fmpz(a) ** n
            powers = [flint.fmpz(b) ** d * flint.fmpz(a) ** (n - d) for d in range(n + 1)]
        else:
            scale = powers[0] = flint.fmpz(1) << FIXED_POINT
            for _ in range(n):
                powers.append(-(-powers[-1] * b // a) if up else powers[-1] * b // a)
        self.n, self.powers = n, powers
        self.end = flint.fmpq(a, a + b) / scale if n else flint.fmpq(1)
        self.inner = flint.fmpq(a - b, a + b) / scale

    def factor(self, z: int) -> Number:
        """Return what every power in column z is multiplied with."""
        return self.end if z in (0, self.n) else self.inner

    def expected(self, i: int, at_release: Sequence[Number]) -> Number:
        """Return Σ_z G_{i,z}·c_z for c ≥ 0."""
        inner = sum((self.powers[abs(z - i)] * at_release[z] for z in range(1, self.n)), start=flint.fmpq(0))
        ends = sum((self.powers[abs(z - i)] * at_release[z] for z in {0, self.n}), start=flint.fmpq(0))
        return self.end * ends + self.inner * inner

    def row(self, i: int) -> tuple[Number, ...]:
        """Return one row; exact only where the powers are."""
        return tuple(self.factor(z) * self.powers[abs(z - i)] for z in range(self.n + 1))


ROUNDING = Fraction(1, 1 << 45)
"""How far entries may be from a theorem's where no goal is stated, so that no gap can be shown.

The verdict on such rows is that on the theorem's rows. Designs write rows to about
2^-128; at the worst ε, near 1e-18, to 2^-49.
"""


@dataclass(frozen=True, slots=True)
class Proven:
    """What a theorem gives on one instance.

    Parameters
    ----------
    distance : number or None
        How far an entry is from the theorem's own at most; None where it speaks of no particular rows.
    bound : number or None
        Its bound on the goal, where one is stated.
    given, off_boundary : frozenset of int
        The inputs whose rows were taken as given, so that the bound is one on mechanisms with these rows only. Also
        those of them that have no neighbour with another ranking.
    choice : number or None
        A bound on the goal of all mechanisms with one boundary row per ranking, whatever these rows are.
    """

    distance: Number | None
    bound: Number | None
    given: frozenset[int] = frozenset()
    off_boundary: frozenset[int] = frozenset()
    choice: Number | None = None


def prove(subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal | None) -> Proven:
    """Check a theorem certificate and return what it proves.

    Raises
    ------
    BadInput
        If the theorem is unknown, a hypothesis fails, or an entry is farther from the theorem's than `within`. Also if
        the distance is more than rounding explains, and no goal is stated whose gap would show its cost.
    """
    name = certificate.get("theorem")
    check = THEOREMS.get(name) if isinstance(name, str) else None
    if check is None:
        raise BadInput("theorem", "is not known", f"use one of {', '.join(THEOREMS)}")
    proven = check(subject, certificate, goal)
    if (proven.distance or 0) > flint_rational(rational(certificate.get("within", 0), "within")):
        raise BadInput("matrix", "is not the mechanism of the theorem", "correct the rows or state `within`")
    if goal is None and (proven.distance or 0) > flint_rational(ROUNDING):
        raise BadInput(
            "matrix", "is not the mechanism of the theorem, even up to rounding", "state a goal: it has a gap"
        )
    return proven


def _geometric(subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal | None) -> Proven:
    _check_counts(subject)
    if goal is not None:
        raise BadInput("loss", "says nothing about the geometric mechanism itself", "use geometric-reading")
    if subject.document.factored is not None:
        reading = subject.document.factored.reading or {}
        if any(p and r != z for z, choices in reading.items() for r, p in choices):
            raise BadInput("factors", "read the geometric mechanism as another one", "use geometric-reading")
        return Proven(flint.fmpq(0), None)
    if list(subject.outputs) != list(subject.inputs):
        raise BadInput("outputs", "must be 0..n", "answer with counts")
    n = len(subject.inputs) - 1
    powers = GeometricPowers(n, subject.privacy.ratio, up=False)
    return Proven(_distance(subject, powers.row), None)


def _geometric_reading(subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal | None) -> Proven:
    _check_counts(subject)
    if goal is None:
        raise BadInput("loss", "is missing", "state the goal of the reading")
    n = len(subject.inputs) - 1
    if list(subject.outputs) != list(subject.inputs):
        raise BadInput("outputs", "must be 0..n", "answer with counts")
    if goal.name == "graph-distance" or not _grows_with_distance(goal, n):
        raise BadInput("loss", "does not grow with distance as universality needs", "use a dual certificate")
    powers = GeometricPowers(n, subject.privacy.ratio, up=False)
    # Powers are rounded down, which lowers a sum of losses only where none is negative; so what a row has below 0 is
    # taken out of it first. As the probabilities of a row sum to 1, that adds the same to everything compared.
    lowest = [min(flint.fmpq(0), *goal.loss_row(i)) if goal.name == "table" else flint.fmpq(0) for i in range(n + 1)]
    bound = sum((w * low for w, low in zip(goal.weights, lowest, strict=True)), start=flint.fmpq(0))
    for z in range(n + 1):
        masses = [weight * powers.powers[abs(z - i)] for i, weight in enumerate(goal.weights)]
        taken = sum((mass * low for mass, low in zip(masses, lowest, strict=True) if low), start=flint.fmpq(0))
        bound += powers.factor(z) * (min(_risks(goal, masses)) - taken)
    return Proven(None, bound)


def _randomized_response(subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal | None) -> Proven:
    q = len(subject.inputs)
    if q < 2 or len(subject.outputs) != q or subject.graph.number_of_edges != q * (q - 1) // 2:
        raise BadInput("graph", "must be complete, with one output per input", "use another certificate")
    # Under several pairs, the one that allows the least truth decides.
    pairs = subject.privacy.pairs
    truth = flint_rational(min((pair.ratio + pair.delta * (q - 1)) / (pair.ratio + q - 1) for pair in pairs))
    lie = (1 - truth) / (q - 1)
    distance = _distance(subject, lambda i: [truth if v == i else lie for v in range(q)])
    if goal is None:
        # What is proven is then said of "the true answer": the names must say which one that is.
        if list(subject.outputs) != list(subject.inputs):
            raise BadInput("outputs", "must be the inputs, in their order, where no goal is stated", "state a goal")
        return Proven(distance, None)
    for i in range(q):
        if list(goal.loss_row(i)) != [int(v != i) for v in range(q)]:
            raise BadInput("loss", "must be zero-one", "write 0 on the diagonal and 1 off it")
    if any(weight != flint.fmpq(1, q) for weight in goal.weights) or len(goal.considered) != q:
        raise BadInput("weights", "must be equal", f"give every input 1/{q}")
    return Proven(distance, 1 - truth)


def _rainbow(
    rows_of: Callable[[AuditedMechanism, Mapping[str, Any]], Best],
) -> Callable[[AuditedMechanism, Mapping[str, Any], StatedGoal | None], Proven]:
    """Turn a recomputation of the best rows into a check; dominance bounds every goal that likes each ranking."""

    def check(subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal | None) -> Proven:
        best = rows_of(subject, certificate)
        proven = Proven(
            max(best.apart, _distance(subject, best.rows.__getitem__)), None, best.given, best.given - best.boundary
        )
        if goal is None:
            return proven
        for i, ranking in enumerate(best.rankings):
            ranked = [goal.loss_row(i)[v] for v in ranking]
            if ranked != sorted(ranked):
                raise BadInput("loss", "does not follow the rankings", "make it grow along each input's ranking")
        choice = choice_bound(subject, certificate, best, goal) if "choice" in certificate else None
        return replace(proven, bound=goal.value(best.rows.__getitem__), choice=choice)

    return check


THEOREMS: dict[str, Callable[[AuditedMechanism, Mapping[str, Any], StatedGoal | None], Proven]] = {
    "balanced-line": _rainbow(balanced_line),
    "geometric": _geometric,
    "geometric-reading": _geometric_reading,
    "homogeneous-rainbow": _rainbow(homogeneous_rainbow),
    "rainbow": _rainbow(fixed_rainbow),
    "randomized-response": _randomized_response,
}
"""Every theorem a certificate may name, besides "pullback", which rests on another document."""

THEOREMS_OF_RAINBOWS = ("balanced-line", "homogeneous-rainbow", "rainbow")
"""Those whose certificates may say how well the boundary was chosen."""


def _check_counts(subject: AuditedMechanism) -> None:
    if not subject.privacy.single:
        rule = f"holds {len(subject.privacy.pairs)} pairs, and the geometric theorems speak of one, with delta 0"
        raise BadInput("privacy", rule, "use a dual certificate")
    if subject.privacy.delta != 0:
        raise BadInput("delta", "must be 0 for the geometric theorems", "use a dual certificate")
    if not is_the_path(subject.graph, len(subject.inputs)) or list(subject.inputs) != list(range(len(subject.inputs))):
        raise BadInput("graph", "must be the path 0..n with its nodes in order", "use a dual certificate")


def _distance(subject: AuditedMechanism, exact_row: Callable[[int], Sequence[Number]]) -> Number:
    """Return the largest absolute difference between an entry and the theorem's."""
    return max(
        abs(stated - exact)
        for i in range(len(subject.inputs))
        for stated, exact in zip(subject.row(i), exact_row(i), strict=True)
    )


def _grows_with_distance(goal: StatedGoal, n: int) -> bool:
    """Check that losses never fall as the answer moves away from the truth, on either side.

    Their sign does not matter: a number added to a row adds as much to the loss of every mechanism and to the bound.
    """
    if goal.name != "table":
        return True
    table = [goal.loss_row(i) for i in range(n + 1)]
    for i, line in enumerate(table):
        if any(line[v] < line[v + 1] for v in range(i)) or any(line[v] > line[v + 1] for v in range(i, n)):
            return False
    return True


def _risks(goal: StatedGoal, masses: Sequence[Number]) -> list[Number]:
    """Return Σ_i c_i·loss(i, v) for every v, in linear time where the loss has a name."""
    n, total = len(masses) - 1, sum(masses, start=flint.fmpq(0))
    if goal.name == "zero-one":
        return [total - mass for mass in masses]
    first = sum((i * mass for i, mass in enumerate(masses)), start=flint.fmpq(0))
    if goal.name == "squared":
        second = sum((i * i * mass for i, mass in enumerate(masses)), start=flint.fmpq(0))
        return [second - 2 * v * first + v * v * total for v in range(n + 1)]
    if goal.name == "absolute":
        risks, below = [first], flint.fmpq(0)
        for mass in masses[:-1]:
            below += mass
            risks.append(risks[-1] + 2 * below - total)
        return risks
    columns = [flint.fmpq(0)] * (n + 1)
    for i, mass in enumerate(masses):
        if mass:
            columns = [risk + mass * loss for risk, loss in zip(columns, goal.loss_row(i), strict=True)]
    return columns
