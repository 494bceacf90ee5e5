"""Several mechanisms, or one several times, on the same data: the exact profile of the product.

What matters of a pair of distributions is how much mass has which likelihood ratio. Under independent draws ratios
and masses multiply, and equal ratios merge, so k draws from a small table have far fewer than q^k different ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import flint
import numpy as np

from ..errors import BadInput
from ..exact import integer
from ..graphs import DatasetGraph
from ..mechanisms import Mechanism
from .arithmetic import Number
from .case import bare_case
from .pairs import distinct_row_pairs
from .profile import Line, PrivacyProfile, lines_of_pair, profile_of_lines

__all__ = ["LossDistribution", "compose", "loss_distribution", "power", "product"]

LossDistribution = dict[Number | None, tuple[Number, Number]]
"""Likelihood ratio P/Q → (mass of P, mass of Q); None is infinity, where Q has no mass. Ratio 0 is left out."""

MOST_RATIOS = 200_000
"""Different likelihood ratios of one pair up to which a product is computed exactly."""


def compose(
    mechanisms: Mechanism | Sequence[Mechanism], *, times: int = 1, graph: DatasetGraph | None = None
) -> PrivacyProfile:
    """Return the exact privacy profile of independent draws on the same input.

    Parameters
    ----------
    mechanisms : Mechanism or sequence of Mechanism
        Each answers the same input, chosen without looking at the other answers. All have the same inputs.
    times : int
        How often all of them are applied, at least 1.
    graph : DatasetGraph, optional
        The neighbouring relation; the first mechanism's if left out.

    Returns
    -------
    PrivacyProfile
        Exact: neighbours are the same for every draw, so it is a maximum over edges of products. If mechanisms are
        chosen in the light of earlier answers, use `dominating_pair`.

    Raises
    ------
    BadInput
        When inputs differ, or one pair of rows would have more than MOST_RATIOS different likelihood ratios.
    """
    everyone = [mechanisms] if isinstance(mechanisms, Mechanism) else list(mechanisms)
    times = integer(times, "times", at_least=1)
    if not everyone:
        raise BadInput("mechanisms", "must be at least one", "give a mechanism")
    graph = graph if graph is not None else everyone[0].graph
    cases = [bare_case(one, graph) for one in everyone]
    choices = np.empty((len(cases[0].places), len(cases)), dtype=np.int64)
    for column, case in enumerate(cases):
        choices[case.places, column] = case.document.row_of
    combined, row_of = np.unique(choices, axis=0, return_inverse=True)
    pairs = distinct_row_pairs(cases[0].graph, row_of.reshape(-1))

    def lines() -> Iterator[Line]:
        for first, second in zip(combined[pairs.first].tolist(), combined[pairs.second].tolist(), strict=True):
            for here, there in ((first, second), (second, first)):
                factors = [
                    loss_distribution(zip(case.rows[i], case.rows[j], strict=True))
                    for case, i, j in zip(cases, here, there, strict=True)
                ]
                yield from lines_of_pair(power(product(factors), times).values())

    return profile_of_lines(lines())


def loss_distribution(masses: Iterable[tuple[Number, Number]]) -> LossDistribution:
    """Gather the outputs of a pair of distributions by likelihood ratio."""
    found: LossDistribution = {}
    for p, q in masses:
        if p > 0:
            _add(found, p / q if q > 0 else None, p, q)
    return found


def product(factors: Sequence[LossDistribution]) -> LossDistribution:
    """Return the loss distribution of independent pairs together."""
    result: LossDistribution = {flint.fmpq(1): (flint.fmpq(1), flint.fmpq(1))}
    for factor in factors:
        gathered: LossDistribution = {}
        for ratio, (p, q) in result.items():
            for another, (p_too, q_too) in factor.items():
                together = None if ratio is None or another is None else ratio * another
                _add(gathered, together, p * p_too, q * q_too)
                if len(gathered) > MOST_RATIOS:
                    raise BadInput("times", "gives too many different likelihood ratios", "use `dominating_pair`")
        result = gathered
    return result


def power(factor: LossDistribution, times: int) -> LossDistribution:
    """Return the loss distribution of a pair drawn several times, by repeated squaring."""
    result = product([])
    while times:
        if times & 1:
            result = product([result, factor])
        times >>= 1
        if times:
            factor = product([factor, factor])
    return result


def _add(found: LossDistribution, ratio: Number | None, p: Number, q: Number) -> None:
    before = found.get(ratio)
    found[ratio] = (p, q) if before is None else (before[0] + p, before[1] + q)
