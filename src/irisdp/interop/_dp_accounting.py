"""To dp-accounting: the privacy loss of any mechanism as its PrivacyLossDistribution, and noise as its DpEvent.

Everything is rounded toward more privacy loss: what their accountants add up is an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from .._exact import checked, float_above
from .._lazy import needed
from ..certify import (
    Auditable,
    AuditedMechanism,
    Line,
    LossDistribution,
    accountant_of,
    bare_subject,
    dominating_pair,
    is_the_path,
    lines_of_pair,
    profile_of,
    profile_of_lines,
)
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..noise import GaussianLaw, UniversalDistribution


@checked
def privacy_loss_distribution(
    mechanism: Auditable,
    *,
    graph: DatasetGraph | None = None,
    interval: float = 1e-4,
    adding: Literal["either", "raises"] = "either",
) -> Any:
    """Return the privacy loss of a mechanism over its graph as a distribution of dp-accounting, never understated.

    Only its rows count, not the guarantee that it states. So nothing is assumed, and nothing is lost that a pair (ε, δ)
    would lose.

    Parameters
    ----------
    mechanism : Mechanism, FactoredMechanism, MechanismDocument or path
        For noise, `law.mechanism(1)`: two counts that differ by 1 represent all.
    graph : DatasetGraph, optional
        Which inputs are neighbours. [default: the mechanism's own graph]
    interval : float
        h, from 1e-9 to 10: losses are multiples of it. All distributions that are composed must have one interval.
    adding : {"either", "raises"}
        What adding a record does to the input. "either": it goes to any neighbour, and one distribution stands for
        adding and for removing. "raises": inputs are the counts 0..n, and a count k becomes k + 1. Adding and removing
        are then distinguished, which is tighter in compositions where the two differ.

    Returns
    -------
    PrivacyLossDistribution
        Of a pair of laws at least as distinguishable as any two neighbours at every ratio, and so in every composition,
        adaptive ones too. Losses are rounded up to multiples of h, masses up to floats. Composed k times, δ at ε is
        nowhere below the true δ of k such pairs, and nowhere above their true δ at ε − k·h. This does not cover the
        arithmetic of dp-accounting: its floats leave an error near 1e-12 that no rounding direction guards.

    Raises
    ------
    BadInput
        When dp-accounting is not installed, for an interval out of range, and where "raises" is said of other inputs
        than the counts 0..n as a path.

    References
    ----------
    [Zhu2022]; proofs/dominating-pair.md.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> loss = privacy_loss_distribution(design.geometric(5, Privacy(epsilon=1)))
    >>> bool(1 <= loss.get_epsilon_for_delta(0) <= 1.0001)
    True
    """
    subject = bare_subject(mechanism, graph)
    if adding == "either":
        return accountant_of(dominating_pair(profile_of(subject)).losses(), interval=interval)
    if not is_the_path(subject.graph, len(subject.inputs)):
        raise BadInput("adding", "can be raises for the counts 0..n on a path alone", "leave it out")
    fallen = _steps(subject)
    raised = [(after, before) for before, after in fallen]
    return accountant_of(_losses(subject, raised), _losses(subject, fallen), interval=interval)


@checked
def dp_event(law: UniversalDistribution | GaussianLaw) -> Any:
    """Return noise as a DpEvent of dp-accounting, for its accountants.

    Parameters
    ----------
    law : UniversalDistribution or GaussianLaw
        Geometric noise, or Gaussian noise. Its outcomes in atoms or whole numbers are post-processing of the event.

    Returns
    -------
    DiscreteLaplaceDpEvent or GaussianDpEvent
        The noise parameter is rounded up and the noise multiplier down, toward more privacy loss.

    Raises
    ------
    BadInput
        For noise that dp-accounting has no event for: use `privacy_loss_distribution` of `law.mechanism(1)`. No event
        is made that says less than a law keeps, and none that says "not private".

    Examples
    --------
    >>> from irisdp import Privacy, noise
    >>> dp_event(noise.law("geometric", Privacy(epsilon=1), sensitivity=2))
    DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=2)
    """
    events = needed("dp_accounting.dp_event", "accounting")
    if isinstance(law, GaussianLaw):
        return events.GaussianDpEvent(-float_above(-(1 / law.mu)))
    if law.kind != "geometric":
        rule = f"is {law.kind} noise, and dp-accounting has no event for it"
        raise BadInput("law", rule, "give law.mechanism(1) to privacy_loss_distribution")
    return events.DiscreteLaplaceDpEvent(float_above(law.cells.privacy.epsilon), law.sensitivity)


def _steps(subject: AuditedMechanism) -> list[tuple[int, int]]:
    """Return (row of k, row of k + 1) for the counts k; each two rows that differ, once."""
    places = np.array([subject.inputs.position(count) for count in range(len(subject.inputs))], dtype=np.int64)
    rows = subject.document.row_of[places].tolist()
    return [pair for pair in dict.fromkeys(pairwise(rows)) if pair[0] != pair[1]]


def _losses(subject: AuditedMechanism, pairs: Iterable[tuple[int, int]]) -> LossDistribution:
    """Return the losses of a pair of laws at least as distinguishable as each of these pairs of rows in this order."""

    def lines() -> Iterator[Line]:
        for first, second in pairs:
            yield from lines_of_pair(zip(subject.rows[first], subject.rows[second], strict=True))

    return dominating_pair(profile_of_lines(lines())).losses()
