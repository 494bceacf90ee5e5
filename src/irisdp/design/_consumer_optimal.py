"""Universality side by side, its structure, and the reading that dominates any given mechanism.

For a loss that never falls with distance on either side, no private mechanism for a count (δ = 0) is better than
geometric noise, read. And not only in the worst case: for every private mechanism there is one reading that loses no
more, at any count and under any such loss. It is read off the mechanism directly (proofs/universality.md). For other
losses a mechanism made for them may be better, by a factor of at most 2/(1 + αⁿ) (proofs/other-losses.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

import numpy as np

from .._exact import ONE, GridRow, checked, entries, integer, rational_text
from ..consumers import Consumer, OptimalReading, optimal_reading
from ..errors import BadInput, CertificateRejected
from ..graphs import Path
from ..mechanisms import FactoredMechanism, Mechanism, Reading, StatedObjective, geometric_row
from ..privacy import Privacy, are_close
from ._closed_forms import LARGEST_MATRIX
from ._optimal_mechanism import LARGEST_PROGRAM, check_size, fitted, optimal_mechanism, optimum_by_floats, sealed
from ._privacy_program import Goal, directions
from ._repair import contract, is_private

# Writing a consumer's optimum down: the goal, the evidence, and a reading multiplied out to exact short numbers.

_GUARD = 1 << 256
"""Powers of the ratio are multiples of 2^-256."""

_NOT_UNIVERSAL = " (it falls with distance somewhere: universality is not guaranteed, so the whole program was solved)"


def consumer_goal(reader: Consumer, answers: Sequence[int] | None = None) -> Goal:
    """Return what a consumer minimises, in the form of the general programs; answers are 0..n by default."""
    name = reader.goal if answers or reader.universal else reader.goal + _NOT_UNIVERSAL
    losses = reader.loss.table(reader.n)
    if answers:
        losses = tuple(tuple(reader.loss.at(i, v) for v in answers) for i in range(reader.n + 1))
    loss_name = reader.loss.name if reader.loss.standard else None
    if reader.prior is None:
        return Goal(name=name, loss=losses, loss_name=loss_name, side_information=tuple(reader.possible))
    return Goal(name=name, loss=losses, loss_name=loss_name, weights=reader.exact_prior())


def reading_certificate(found: OptimalReading) -> dict[str, Any] | None:
    """Return the evidence that a reading of geometric noise is optimal among all private mechanisms.

    The checker computes the bound of universality from it: what reading the noise costs at least under `weights`. None
    where the checker does not know universality for the loss.
    """
    reader = found.consumer
    if not _is_checkable(reader):
        return None
    loss: Any = {"name": reader.loss.name}
    if not reader.loss.standard:
        loss = [[rational_text(x) for x in row] for row in reader.loss.table(reader.n)]
    weights = found.weights if reader.prior is None else reader.exact_prior()
    certificate: dict[str, Any] = {
        "kind": "theorem",
        "theorem": "geometric-reading",
        "aggregate": "worst" if reader.prior is None else "average",
        "loss": loss,
        "weights": [rational_text(Fraction(w)) for w in weights],
    }
    if reader.prior is None and len(reader.possible) <= reader.n:
        certificate["side_information"] = list(reader.possible)
    return certificate


def written_out(found: OptimalReading, privacy: Privacy) -> Mechanism:
    """Multiply geometric noise by a reading, make the product short and exactly private, and seal it with its evidence.

    Returns
    -------
    Mechanism
        Entries are multiples of 2^-128, within about 2^-128·n/(r − 1) of the product; the value is that of the entries.
    """
    reader, graph = found.consumer, Path(found.consumer.n + 1)
    rows = _short(_product(found, privacy.ratio), directions(graph), privacy.pure)
    whole, losses = _on_common_denominator(reader.loss.table(reader.n))
    expected = [Fraction(total, whole * ONE) for total in (np.array(rows, dtype=object) * losses).sum(axis=1)]
    if reader.prior is None:
        value = max(expected[i] for i in reader.possible)
    else:
        value = sum((w * x for w, x in zip(reader.exact_prior(), expected, strict=True)), Fraction(0))
    made = Mechanism.from_matrix(
        [[Fraction(x, ONE) for x in row] for row in rows],
        privacy=privacy.pure,
        graph=graph,
        objective=StatedObjective(reader.goal, value, found.lower_bound),
        certificate=reading_certificate(found),
    )
    return sealed(made) if made.certificate is not None else made


def _product(found: OptimalReading, ratio: Fraction) -> list[GridRow]:
    """Return noise times reading in multiples of 2^-128, each rounded down; the largest of a row takes what is missing.

    Powers of the ratio are kept to multiples of 2^-256, in steps that lose at most one unit each.
    """
    n, a, b = found.consumer.n, ratio.numerator, ratio.denominator
    powers = [_GUARD]
    for _ in range(n):
        powers.append(powers[-1] * b // a)
    inner, end = (np.array([p * x // (a + b) for p in powers], dtype=object) for x in (a - b, a))
    counts = np.arange(n + 1)
    whole, chances = _on_common_denominator([[Fraction(p) for p in found.chances]])
    product = np.zeros((n + 1, n + 1), dtype=object)
    for z, v, share in zip(found.released.tolist(), found.answers.tolist(), chances[0], strict=True):
        product[:, v] += (end if z in (0, n) else inner)[abs(counts - z)] * share
    rows: list[GridRow] = (product * ONE // (whole * _GUARD)).tolist()
    for row in rows:
        row[max(range(n + 1), key=row.__getitem__)] += ONE - sum(row)
    return rows


def _short(rows: list[GridRow], edges: list[tuple[int, int]], privacy: Privacy) -> list[GridRow]:
    """Undo what rounding took from privacy, and check that it is there, exactly."""
    if not is_private(rows, edges, privacy):
        rows = contract(rows, edges, privacy)
    if min(map(min, rows)) < 0 or any(sum(row) != ONE for row in rows) or not is_private(rows, edges, privacy):
        raise CertificateRejected("the noise as it is read is not private", status="rounding failed")
    return rows


def _is_checkable(reader: Consumer) -> bool:
    """Tell whether the checker knows universality for the loss: never falling at any count, whatever its sign."""
    return reader.loss.never_falls(range(reader.n + 1))


def _on_common_denominator(table: Sequence[Sequence[Fraction]]) -> tuple[int, Any]:
    """Return a common denominator and the numerators, as an array of Python integers."""
    whole = math.lcm(*{x.denominator for row in table for x in row})
    return whole, np.array([[x.numerator * (whole // x.denominator) for x in row] for row in table], dtype=object)


# The best mechanism for one reader of a count: minimax over what the reader deems possible, or under a prior.
#
# If δ = 0 and the loss never falls as the answer moves away from the truth, on either side, the result is optimally
# post-processed geometric noise. One deployed mechanism serves every such consumer (proofs/universality.md). Small
# programs are solved whole all the same where floats find the optimum, because its dual certificate leans on no
# theorem; so are losses for which universality is not guaranteed, whatever that takes.

LARGEST_WHOLE = 32
"""Counts up to which the whole program is tried first: about a second."""

_LARGEST_AGAIN, _LITTLE = 100, Fraction(1, 10**9)
"""Counts up to which the whole program is solved where the gap of a reading is more than so much of its value."""

LARGEST_CERTIFIED = 2_000
"""Counts up to which a certificate is written: checking one takes time in the square of their number, here 15 s."""

LARGEST_READING = 100_000
"""Counts up to which a reading is written out, value by value: megabytes, and seconds to minutes."""


@checked
def consumer(
    n: int,
    loss: Any,
    privacy: Privacy,
    *,
    side_information: Any = None,
    prior: Any = None,
    outputs: Any = None,
    constraints: Any = None,
) -> Mechanism | FactoredMechanism:
    """Design the best mechanism for a reader of a count in 0..n whose loss is known.

    Parameters
    ----------
    n : int
        Largest count, from 0 to 100,000; neighbouring counts differ by one.
    loss : "absolute", "squared", "zero-one", Loss, mapping or table
        See `irisdp.consumers._loss_functions`. A table holds in row i and column v the loss of reading v where i is
        true.
    privacy : Privacy
        Any ratio. With δ > 0, or a loss that falls with distance somewhere, the linear program over all mechanisms is
        solved whole, which ends at 273 counts: about 10 s at n = 100, 90 s at n = 200.
    side_information : sequence or mapping, optional
        The counts the reader deems possible, as a list or as {"at_least": a, "at_most": b}; all when left out.
    prior : sequence, array, mapping or frozen SciPy distribution, optional
        Probabilities of 0..n. The reader then minimises the expected loss, not the worst over the side information.
    outputs : list of int, optional
        The answers that may be given, when not 0..n: below 0 and above n too, for example where the mean answer shall
        be the count. For losses with a name.
    constraints : list, optional
        Rules that every mechanism compared has to meet: "unbiased", "monotone", {"error_at_most": K},
        {"zero": [[count, answer], …]}, {"fixed": [[count, answer, p], …]}, {"keep": [count, …]} or
        {"terms": [[count, answer, a], …], "at_most" | "at_least" | "equals": b}; docs/howto/constraints.md. The
        linear program over all mechanisms that meet them is solved whole.

    Returns
    -------
    Mechanism or FactoredMechanism
        Inputs and outputs 0..n, exactly private, with its loss and a lower bound for every private mechanism. Up to
        1,000 counts a matrix with its certificate: of weak duality up to n = 32 where floats find the optimum, of
        universality elsewhere. Beyond, geometric noise followed by a sparse reading.

    Raises
    ------
    BadInput
        For a loss of another shape, side information outside 0..n, an invalid prior, or a whole program too large.
    Infeasible
        When no private mechanism meets the constraints.

    Examples
    --------
    >>> consumer(3, "absolute", Privacy.from_ratio(4)).objective.value
    Fraction(168, 415)
    >>> consumer(3, "squared", Privacy.from_ratio(2), outputs=range(-3, 7), constraints=["unbiased"]).objective.value
    Fraction(3, 1)

    References
    ----------
    [Gupte2010], §2.3 and §2.4; docs/theory.md#counts; proofs/weak-duality.md, proofs/universality.md.
    """
    if integer(n, "n", at_least=0) > LARGEST_READING:
        rule = f"must be at most {LARGEST_READING} for a mechanism that is written down"
        raise BadInput("n", rule, "find the optimal reading of design.geometric(n, …) instead")
    reader = Consumer(n, loss, side_information=side_information, prior=prior)
    if outputs is not None or constraints is not None:
        answers = _answers(outputs, reader)
        goal = consumer_goal(reader, answers)
        return optimal_mechanism(goal, Path(reader.n + 1), privacy, outputs=answers, constraints=constraints)
    if not privacy.single or privacy.delta or not reader.universal:
        _check_size(reader, fitted(privacy, reader.n, reader.n + 1))
        return optimal_mechanism(consumer_goal(reader), Path(reader.n + 1), privacy)
    if reader.n <= LARGEST_WHOLE:
        whole = optimum_by_floats(consumer_goal(reader), Path(reader.n + 1), privacy)
        if whole is not None:
            return whole
    noise = FactoredMechanism(privacy=privacy.pure, n=reader.n)
    remap = optimal_reading(noise, reader)
    gap = remap.value - remap.lower_bound
    if reader.n <= _LARGEST_AGAIN and gap > abs(remap.value) * _LITTLE:
        again = optimal_mechanism(consumer_goal(reader), Path(reader.n + 1), privacy)
        assert again.objective is not None and again.objective.lower_bound is not None
        if again.objective.value - again.objective.lower_bound < gap:
            return again
    if reader.n + 1 <= LARGEST_MATRIX:
        return written_out(remap, privacy)
    objective = StatedObjective(reader.goal, remap.value, remap.lower_bound)
    made = replace(noise, reading=remap.reading(), objective=objective)
    return made if reader.n > LARGEST_CERTIFIED else sealed(replace(made, certificate=reading_certificate(remap)))


def _answers(given: Any, reader: Consumer) -> Sequence[int]:
    """Read the answers that may be given; 0..n when left out."""
    if given is None:
        return range(reader.n + 1)
    listed = entries(given)
    if not listed:
        raise BadInput("outputs", "must be a list of whole numbers", "write range(-3, 7)")
    answers = [integer(answer, "outputs", at_least=-LARGEST_READING, at_most=2 * LARGEST_READING) for answer in listed]
    if len(set(answers)) < len(answers):
        raise BadInput("outputs", "must be different from each other", "name every answer once")
    if reader.loss.entries is not None and answers != list(range(reader.n + 1)):
        raise BadInput("outputs", "other than 0..n need a loss with a name", "choose another loss, or leave them out")
    return answers


def _check_size(reader: Consumer, privacy: Privacy) -> None:
    """Refuse a whole program that is too large, and say why it would have to be solved."""
    if 2 * reader.n * (reader.n + 1) * len(privacy.pairs) <= LARGEST_PROGRAM:
        return
    ends = (
        f"needs the linear program over all mechanisms, which ends at n = {(isqrt(2 * LARGEST_PROGRAM + 1) - 1) // 2}"
    )
    if not privacy.single:
        raise BadInput("privacy", f"of several pairs {ends}", "choose a smaller n")
    if privacy.delta:
        raise BadInput("delta", f"above 0 {ends}", "set delta to 0, or choose a smaller n")
    raise BadInput("loss", f"that falls with distance {ends}", "let it grow on each side, or choose a smaller n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The best mechanism for a consumer, and the best reading of geometric noise.

    Parameters
    ----------
    tailored : Mechanism
        Optimal among all private mechanisms, by the whole program.
    read : OptimalReading
        Of geometric noise with the same privacy.
    """

    tailored: Mechanism
    read: OptimalReading

    @property
    def excess(self) -> Fraction:
        """How much more reading the noise costs at least than the tailored mechanism.

        0 where universality holds; elsewhere, if no loss is negative, at most what the tailored mechanism costs.
        """
        assert self.tailored.objective is not None
        return max(Fraction(0), self.read.lower_bound - self.tailored.objective.value)


@checked
def side_by_side(consumer: Consumer, privacy: Privacy) -> SideBySide:
    """Solve both problems of a consumer, one independently of the other; up to 273 counts.

    Parameters
    ----------
    consumer : Consumer
    privacy : Privacy

    Examples
    --------
    >>> both = side_by_side(Consumer(3, "absolute"), Privacy(ratio=4))
    >>> both.tailored.objective.value == both.read.value, both.excess
    (True, Fraction(0, 1))
    """
    check_size("n", consumer.n, consumer.n + 1, privacy)
    path = Path(consumer.n + 1)
    return SideBySide(
        tailored=optimal_mechanism(consumer_goal(consumer), path, privacy.pure),
        read=optimal_reading(FactoredMechanism(privacy=privacy.pure, n=consumer.n), consumer),
    )


def broken_adjacency(mechanism: Mechanism) -> tuple[int, int] | None:
    """Return the first two neighbouring counts whose rows lack the structure of optimal mechanisms, or None.

    From left to right, row i + 1 is α times row i, then at most one entry is anything that privacy allows, then it is
    1/α times row i. There is always an optimal mechanism like that; readings by thresholds are.

    References
    ----------
    [Gupte2010], Lemma 5.
    """
    ratio = mechanism.privacy.ratio
    for i, (here, after) in enumerate(pairwise(mechanism.matrix())):
        falling = [x == ratio * y for x, y in zip(here, after, strict=True)]
        rising = [ratio * x == y for x, y in zip(here, after, strict=True)]
        left = next((v for v, falls in enumerate(falling) if not falls), len(here))
        right = next((v for v, rises in enumerate(reversed(rising)) if not rises), len(here))
        if left + right < len(here) - 1:
            return i, i + 1
    return None


def dominating_reading(mechanism: Mechanism) -> Reading:
    """Return a reading of geometric noise that, at every count, loses no more than a given private mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Inputs and outputs 0..n, private with its ratio and δ = 0.

    Returns
    -------
    Reading
        For every loss that never falls as the answer moves away from the truth, on either side, and at every count.

    Raises
    ------
    BadInput
        When inputs and outputs are not 0..n, δ > 0, or the mechanism is not private.

    Examples
    --------
    >>> from irisdp.mechanisms import Mechanism
    >>> given = Mechanism.from_matrix([["1/2", "1/2"], ["2/5", "3/5"]], privacy=Privacy(ratio=2))
    >>> dominating_reading(given)
    {0: ((0, Fraction(3, 4)), (1, Fraction(1, 4))), 1: ((1, Fraction(1, 1)),)}

    References
    ----------
    proofs/universality.md.
    """
    n = len(mechanism.inputs) - 1
    if list(mechanism.inputs) != list(range(n + 1)) or list(mechanism.outputs) != list(range(n + 1)):
        raise BadInput("mechanism", "must answer counts 0..n by counts 0..n", "number inputs and outputs")
    if mechanism.privacy.delta != 0:
        raise BadInput("delta", "must be 0", "give a mechanism that is private without it")
    if not all(are_close(*rows, mechanism.privacy) for rows in pairwise(mechanism.matrix())):
        raise BadInput("mechanism", "is not private at its ratio", "state the ratio it has, as the audit says it")
    one, zero = Fraction(1), Fraction(0)
    # at_most[v][z] is the chance of an answer up to v once z is released: 1, then one fraction, then 0, such that at
    # the count v itself the answer is at most v as often as the mechanism has it.
    at_most = []
    for v in range(n):
        wanted = sum(mechanism.row(v)[: v + 1], zero)
        noise = geometric_row(v, n, mechanism.privacy.ratio)
        so_far = accumulate(noise, initial=zero)
        at_most.append(
            [min(one, max(zero, (wanted - s) / p)) if p else zero for s, p in zip(so_far, noise, strict=False)]
        )
    at_most.append([one] * (n + 1))
    reading: Reading = {}
    for z in range(n + 1):
        below, line = zero, []
        for v in range(n + 1):
            if at_most[v][z] != below:
                line.append((v, at_most[v][z] - below))
                below = at_most[v][z]
        reading[z] = tuple(line)
    return reading
