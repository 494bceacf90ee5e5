"""The dual bound: no private mechanism does better, by weak duality (proofs/weak-duality.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import flint
import numpy as np

from ..errors import BadInput
from ..exact import integer, json_list, rational
from .arithmetic import Number, flint_rational
from .goals import Goal
from .subject import Subject

__all__ = ["dual_bound", "multipliers"]


def dual_bound(subject: Subject, certificate: Mapping[str, Any], goal: Goal) -> Number:
    """Recompute the bound that the multipliers of a certificate prove.

    Parameters
    ----------
    subject : Subject
        On whose graph the multipliers lie.
    certificate : mapping
        Holds "multipliers": [[i, j, v, λ], …], λ ≥ 0 on the directed edge (i, j) and output v. [i, j, v, λ, k] is for
        pair number k of the privacy instead of the first, number 0.
    goal : Goal
        Its weights enter the bound.

    Returns
    -------
    number
        Σ_i min_v [ w_i·loss(i,v) + Σ_j (λ_ij,v − r·λ_ji,v) ] − δ·Σ_(i,j) max_v λ_ij,v, where there are several pairs
        with both inner sums and the last one over all of them. Every private mechanism has a goal at least as large,
        whatever the multipliers: bad ones only make it weak.

    Raises
    ------
    BadInput
        For a multiplier that is negative, listed twice, of a pair that is not there, or on no edge.
    """
    pairs = [(flint_rational(pair.ratio), flint_rational(pair.delta)) for pair in subject.privacy.pairs]
    changes, largest = _read(certificate, len(subject.inputs), len(subject.outputs), [ratio for ratio, _ in pairs])
    _check_edges([(i, j) for i, j, _ in largest], subject)
    bound = flint.fmpq(0)
    for i, weight in enumerate(goal.weights):
        here = changes.get(i)
        if here is None:
            bound += weight * min(goal.loss_row(i)) if weight else 0
        else:
            bound += min(weight * loss + here.get(v, 0) for v, loss in enumerate(goal.loss_row(i)))
    return bound - sum((pairs[k][1] * size for (_, _, k), size in largest.items()), start=flint.fmpq(0))


def _read(
    certificate: Mapping[str, Any], inputs: int, outputs: int, ratios: Sequence[Number]
) -> tuple[dict[int, dict[int, Number]], dict[tuple[int, int, int], Number]]:
    """Return Σ_j (λ_ij,v − r·λ_ji,v) where it is not 0, and max_v λ_ij,v by directed edge and pair."""
    changes: dict[int, dict[int, Number]] = {}
    largest: dict[tuple[int, int, int], Number] = {}
    seen = set()
    for i, j, v, k, size in multipliers(certificate, inputs, outputs, len(ratios)):
        if size < 0 or (i, j, v, k) in seen:
            raise BadInput("multipliers", "must not be negative or listed twice", "give each once, from 0 up")
        seen.add((i, j, v, k))
        largest[i, j, k] = max(size, largest.get((i, j, k), size))
        for node, change in ((i, size), (j, -ratios[k] * size)):
            table = changes.setdefault(node, {})
            table[v] = table.get(v, 0) + change
    return changes, largest


def multipliers(
    facts: Mapping[str, Any], nodes: int, outputs: int, pairs: int
) -> Iterator[tuple[int, int, int, int, Number]]:
    """Yield i, j, v, the number of the pair (0 where none is given) and λ, for every entry of "multipliers"."""
    for entry in json_list(facts.get("multipliers"), "multipliers"):
        listed = json_list(entry, "multipliers")
        if len(listed) not in (4, 5):
            raise BadInput("multipliers", "must hold [i, j, v, λ], or [i, j, v, λ, k] of pair k", "correct them")
        first, second, output, size, pair = listed if len(listed) == 5 else (*listed, 0)
        i, j = (integer(node, "multipliers", at_least=0, at_most=nodes - 1) for node in (first, second))
        v = integer(output, "multipliers", at_least=0, at_most=outputs - 1)
        k = integer(pair, "multipliers", at_least=0, at_most=pairs - 1)
        yield i, j, v, k, flint_rational(rational(size, "multipliers"))


def _check_edges(pairs: list[tuple[int, int]], subject: Subject) -> None:
    if pairs:
        tails, heads = subject.places[np.array(pairs, dtype=np.int64)].T
        if not subject.graph.adjacent(tails, heads).all():
            raise BadInput("multipliers", "must lie on edges of the graph", "leave out pairs that are no neighbours")
