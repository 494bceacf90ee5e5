"""The items of a total: guarantees and mechanisms, as privacy-loss distributions for both bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import entries, integer
from ..certify import (
    MOST_DRAWS,
    AuditedMechanism,
    LossDistribution,
    PrivacyLossDistribution,
    TwoPointLaw,
    bare_subject,
    distinct_row_pairs,
    dominating_pair,
    finite_law,
    loss_distribution,
    profile_of,
    worst_profile,
)
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
from ..privacy import Gaussian, Guarantee, Privacy
from ._gaussian_losses import law_above, optimistic_distribution

Readable = Mechanism | FactoredMechanism | MechanismDocument
"""A mechanism in any form that has rows, or is expanded to them."""

_MOST_ITEMS = 10**5
_LARGEST_COUNTED = 50.0
"""A loss that counts as this much where a pair of rows is chosen, be it larger or infinite."""


@dataclass(frozen=True, slots=True)
class Laws:
    """The laws of all releases, each with how often it occurs.

    Parameters
    ----------
    above : mapping from PrivacyLossDistribution to int
        Of pairs at least as distinguishable as any neighbours.
    below : mapping from PrivacyLossDistribution to int
        Of pairs that some neighbours make, all at once; empty where it was not asked for.
    promised : frozenset of Fraction
        The ε of guarantees, and those that mechanisms were made for: the grid holds them if it can.
    square : Fraction
        Σ μ² of the Gaussian releases. Beside others they are among the laws as well.
    """

    above: Counter[PrivacyLossDistribution]
    below: Counter[PrivacyLossDistribution]
    promised: frozenset[Fraction]
    square: Fraction = Fraction(0)


def read_items(items: Any, *, below: bool = True) -> Laws:
    """Read a list of guarantees and mechanisms, each alone or with the number of times it is released.

    Parameters
    ----------
    items : list
        As for `irisdp.accounting.total`.
    below : bool
        Whether the bound from below is asked for as well.

    Raises
    ------
    BadInput
        For an empty list, anything else in it, and numbers of times below 1 or above a million in all.
    """
    listed = entries(items)
    if not listed:
        raise BadInput("items", "must be a list of at least one Privacy or mechanism", "write [Privacy(epsilon=1)]")
    if len(listed) > _MOST_ITEMS:
        raise BadInput("items", f"are more than {_MOST_ITEMS:,}", "write equal ones once, as (item, times)")
    laws, gaussian, mechanisms = _sorted_by_kind(listed)
    drawn = {name: times for name, (_, times) in mechanisms.items()}
    if laws.total() + sum(drawn.values()) + gaussian.total() > MOST_DRAWS:
        raise BadInput("items", f"are more than {MOST_DRAWS:,} releases", "add up fewer")
    above, lesser = laws.copy(), laws.copy()
    square = sum((item.mu**2 * times for item, times in gaussian.items()), start=Fraction(0))
    if square and (laws or drawn):
        above[law_above(square)] += 1
        if below and (least := optimistic_distribution(square)) is not None:
            lesser[least] += 1
    read = {name: bare_subject(mechanism) for name, (mechanism, _) in mechanisms.items()}
    for name, subject in read.items():
        above[finite_law(dominating_pair(profile_of(subject)).losses())] += drawn[name]
    for group in _asked_alike(read) if below else ():
        pairs = _one_pair([read[name] for name in group], [drawn[name] for name in group])
        for name, losses in zip(group, pairs, strict=True):
            lesser[finite_law(losses)] += drawn[name]
    promised = {law.epsilon for law in laws if isinstance(law, TwoPointLaw)}
    for made, _ in mechanisms.values():
        with suppress(BadInput):  # of a privacy that has no ε of its own: the grid can do without
            promised |= {made.privacy.epsilon} if made.privacy is not None else set()
    return Laws(above, lesser if below else Counter(), frozenset(promised), square)


def _sorted_by_kind(
    listed: Sequence[Any],
) -> tuple[Counter[PrivacyLossDistribution], Counter[Gaussian], dict[int, tuple[Readable, int]]]:
    """Count laws and Gaussian releases, and mechanisms by their identity."""
    laws: Counter[PrivacyLossDistribution] = Counter()
    gaussian: Counter[Gaussian] = Counter()
    mechanisms: dict[int, tuple[Readable, int]] = {}
    for one in listed:
        item, times = _timed(one)
        if not isinstance(item, Readable | PrivacyLossDistribution) and isinstance(
            kept := getattr(item, "privacy", None), Guarantee
        ):
            item = kept  # noise counts as the guarantee that it satisfies
        if isinstance(item, Privacy):
            laws[_law_of_guarantee(item)] += times
        elif isinstance(item, Gaussian):
            gaussian[item] += times
        elif isinstance(item, Readable):
            mechanisms[id(item)] = item, times + mechanisms.get(id(item), (item, 0))[1]
        elif isinstance(item, PrivacyLossDistribution) and not isinstance(item, type):
            laws[item] += times
        else:
            raise BadInput("items", "hold something that states no privacy", "write for example Privacy(epsilon=1)")
    return laws, gaussian, mechanisms


def _law_of_guarantee(privacy: Privacy) -> PrivacyLossDistribution:
    """Return the losses of the worst that a guarantee allows: of several pairs, of all together."""
    if privacy.single:
        return TwoPointLaw(privacy.epsilon, privacy.delta)
    profile = worst_profile([(pair.ratio, pair.delta) for pair in privacy.pairs])
    return finite_law(dominating_pair(profile).losses())


def _timed(one: Any) -> tuple[Any, int]:
    if not isinstance(one, tuple):
        return one, 1
    if len(one) != 2:
        raise BadInput("items", "hold a tuple that is no pair", "write (item, times)")
    return one[0], integer(one[1], "times", at_least=1, at_most=MOST_DRAWS)


def _asked_alike(read: dict[int, AuditedMechanism]) -> Iterable[list[int]]:
    """Group mechanisms with the same inputs: they may be asked about the same one."""
    groups: dict[frozenset[Any], list[int]] = {}
    for name, subject in read.items():
        groups.setdefault(frozenset(subject.inputs), []).append(name)
    return groups.values()


def _one_pair(subjects: Sequence[AuditedMechanism], times: Sequence[int]) -> list[LossDistribution]:
    """Return what one ordered pair of neighbours makes of all: the one whose losses are largest on average.

    Any pair is a bound from below; floats choose which. Without neighbours that all graphs join there is no loss.
    """
    first = subjects[0]
    order = {place: number for number, place in enumerate(first.places.tolist())}
    columns = [_rows_by_place(subject, first) for subject in subjects]
    distinct, row_of = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    pairs = distinct_row_pairs(first.graph, row_of.reshape(-1))
    best, chosen = 0.0, [loss_distribution([(flint.fmpq(1), flint.fmpq(1))])] * len(subjects)
    tables = [np.array([[float(p) for p in row] for row in subject.rows]) for subject in subjects]
    for edge in np.stack([pairs.tails, pairs.heads], axis=1).tolist():
        ends = [first.inputs[order[place]] for place in edge]
        if not all(_are_neighbours(subject, *ends) for subject in subjects[1:]):
            continue
        tail, head = (distinct[row_of.reshape(-1)[place]] for place in edge)
        for here, there in ((tail, head), (head, tail)):
            score = sum(
                count * _mean_loss(table[a], table[b])
                for table, a, b, count in zip(tables, here, there, times, strict=True)
            )
            if score > best:
                best = score
                chosen = [
                    loss_distribution(zip(subject.rows[a], subject.rows[b], strict=True))
                    for subject, a, b in zip(subjects, here, there, strict=True)
                ]
    return chosen


def _rows_by_place(subject: AuditedMechanism, first: AuditedMechanism) -> NDArray[np.int64]:
    """Return which row each node of the first mechanism's graph has."""
    row_of = dict(zip(subject.inputs, subject.document.row_of.tolist(), strict=True))
    result = np.empty(len(first.places), dtype=np.int64)
    result[first.places] = [row_of[name] for name in first.inputs]
    return result


def _are_neighbours(subject: AuditedMechanism, tail: Any, head: Any) -> bool:
    places = [subject.graph.nodes.position(name) for name in (tail, head)]
    assert None not in places
    return bool(subject.graph.adjacent(*(np.array([place], dtype=np.int64) for place in places))[0])


def _mean_loss(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.clip(np.log(p / q), -_LARGEST_COUNTED, _LARGEST_COUNTED)
    return float((p[p > 0] * losses[p > 0]).sum())
