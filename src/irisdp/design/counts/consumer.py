"""The best mechanism for one reader of a count: minimax over what the reader deems possible, or under a prior.

If δ = 0 and the loss never falls as the answer moves away from the truth, on either side, the result is optimally
post-processed geometric noise. One deployed mechanism serves every such consumer (proofs/universality.md). Small
programs are solved whole all the same, because the dual certificate of that leans on no theorem; so are losses for
which universality is not guaranteed.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt
from typing import Any

from ...consumers.consumer import Consumer
from ...consumers.optimal import optimal_reading
from ...errors import BadInput
from ...exact import checked, integer
from ...graphs import Path
from ...mechanisms import FactoredMechanism, Mechanism, Objective
from ...privacy import Privacy
from ..closed_forms import LARGEST_MATRIX
from ..programs.optimal_mechanism import LARGEST_PROGRAM, optimal_mechanism
from ..programs.sealing import sealed
from .written import consumer_goal, reading_certificate, written_out

__all__ = ["consumer"]

LARGEST_WHOLE = 32
"""Counts up to which the whole program is solved in any case: about a second."""

LARGEST_CERTIFIED = 2_000
"""Counts up to which a certificate is written: checking one takes time in the square of their number, here 15 s."""

LARGEST_READING = 100_000
"""Counts up to which a reading is written out, value by value: megabytes, and seconds to minutes."""


@checked
def consumer(
    n: int, loss: Any, privacy: Privacy, *, side_information: Any = None, prior: Any = None
) -> Mechanism | FactoredMechanism:
    """Design the best mechanism for a reader of a count in 0..n whose loss is known.

    Parameters
    ----------
    n : int
        Largest count, from 0 to 100,000; neighbouring counts differ by one.
    loss : "absolute", "squared", "zero-one", Loss, mapping or table
        See `irisdp.consumers.losses`. A table holds in row i and column v the loss of reading v where i is true.
    privacy : Privacy
        Any ratio. With δ > 0, or a loss that falls with distance somewhere, the linear program over all mechanisms is
        solved whole, which ends at about a hundred counts.
    side_information : sequence or mapping, optional
        The counts the reader deems possible, as a list or as {"at_least": a, "at_most": b}; all when left out.
    prior : sequence, array or frozen SciPy distribution, optional
        Probabilities of 0..n. The reader then minimises the expected loss, not the worst over the side information.

    Returns
    -------
    Mechanism or FactoredMechanism
        Inputs and outputs 0..n, exactly private, with its loss and a lower bound for every private mechanism. Up to
        1,000 counts a matrix with its certificate: of weak duality up to n = 32, of universality above. Beyond,
        geometric noise followed by a sparse reading.

    Raises
    ------
    BadInput
        For a loss of another shape, side information outside 0..n, an invalid prior, or a whole program too large.

    Examples
    --------
    >>> consumer(3, "absolute", Privacy.from_ratio(4)).objective.value
    Fraction(168, 415)

    References
    ----------
    [Gupte2010], §2.3 and §2.4; docs/theory.md#counts; proofs/weak-duality.md, proofs/universality.md.
    """
    if integer(n, "n", at_least=0) > LARGEST_READING:
        rule = f"must be at most {LARGEST_READING} for a mechanism that is written down"
        raise BadInput("n", rule, "find the optimal reading of design.geometric(n, …) instead")
    reader = Consumer(n, loss, side_information=side_information, prior=prior)
    if reader.n <= LARGEST_WHOLE or not privacy.single or privacy.delta or not reader.universal:
        _check_size(reader, privacy)
        return optimal_mechanism(consumer_goal(reader), Path(reader.n + 1), privacy)
    noise = FactoredMechanism(privacy=privacy.pure, n=reader.n)
    found = optimal_reading(noise, reader)
    if reader.n + 1 <= LARGEST_MATRIX:
        return written_out(found, privacy)
    objective = Objective(reader.goal, found.value, found.lower_bound)
    made = replace(noise, reading=found.reading(), objective=objective)
    return made if reader.n > LARGEST_CERTIFIED else sealed(replace(made, certificate=reading_certificate(found)))


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
