"""Several mechanisms, or one several times, on the same data: the profile of the product.

Exact where that takes seconds, edge by edge; otherwise rounded, on a grid, from one dominating pair per mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._exact import checked, integer
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..mechanisms import Mechanism
from ._audited_mechanism import AuditedMechanism, bare_subject, distinct_row_pairs
from ._dominating_pairs import MOST_DRAWS, dominating_pair
from ._loss_distributions import LossDistribution, TooMuchWork, Work, loss_distribution, power, product
from ._loss_grids import rounded_power
from ._privacy_profile import Line, PrivacyProfile, lines_of_pair, profile_of, profile_of_lines


@checked
def compose(
    mechanisms: Mechanism | Sequence[Mechanism], *, times: int = 1, graph: DatasetGraph | None = None
) -> PrivacyProfile:
    """Return the privacy profile of independent draws on the same input: exact, or nowhere below the true one.

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
        Exact where that takes seconds: neighbours are the same for every draw, so it is a maximum over edges of
        products. Otherwise `exact` is False and the profile is an upper bound. It comes from the dominating pair of
        each mechanism (proofs/dominating-pair.md), with losses rounded up to multiples of a width h, stated in
        `irisdp.certify._loss_grids`. For k draws an ε is overstated by less than k·h, and as a rule by half of that.
        With randomised response or geometric noise at a short ratio a hundred draws are exact. If mechanisms are chosen
        in the light of earlier answers, use `dominating_pair`.

    Raises
    ------
    BadInput
        When inputs differ.
    """
    everyone = [mechanisms] if isinstance(mechanisms, Mechanism) else list(mechanisms)
    times = integer(times, "times", at_least=1, at_most=MOST_DRAWS)
    if not everyone:
        raise BadInput("mechanisms", "must be at least one", "give a mechanism")
    graph = graph if graph is not None else everyone[0].graph
    subjects = [bare_subject(one, graph) for one in everyone]
    choices = np.empty((len(subjects[0].places), len(subjects)), dtype=np.int64)
    for column, subject in enumerate(subjects):
        choices[subject.places, column] = subject.document.row_of
    combined, row_of = np.unique(choices, axis=0, return_inverse=True)
    pairs = distinct_row_pairs(subjects[0].graph, row_of.reshape(-1))

    lines_by_pair: dict[frozenset[object], list[Line]] = {}
    work = Work()

    def lines() -> Iterator[Line]:
        for first, second in zip(combined[pairs.first].tolist(), combined[pairs.second].tolist(), strict=True):
            for here, there in ((first, second), (second, first)):
                factors = [
                    loss_distribution(zip(subject.rows[i], subject.rows[j], strict=True))
                    for subject, i, j in zip(subjects, here, there, strict=True)
                ]
                yield from _lines(factors, times, lines_by_pair, work)

    try:
        return profile_of_lines(lines())
    except TooMuchWork:
        return _rounded(subjects, times)


def _lines(
    factors: Sequence[LossDistribution], times: int, found: dict[frozenset[object], list[Line]], work: Work
) -> list[Line]:
    """Return the lines of one pair, found once for all pairs that are equally distinguishable."""
    drawn = product(factors, work)
    name = frozenset((None if ratio is None else (ratio.p, ratio.q), p.p, p.q) for ratio, (p, _) in drawn.items())
    if name not in found:
        found[name] = list(lines_of_pair(power(drawn, times, work).values()))
        return found[name]
    return []


def _rounded(subjects: Sequence[AuditedMechanism], times: int) -> PrivacyProfile:
    pairs = [dominating_pair(profile_of(subject)) for subject in subjects]
    return profile_of_lines(rounded_power([pair.losses() for pair in pairs], times), exact=False)
