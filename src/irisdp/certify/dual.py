"""The dual bound: no private mechanism does better, by weak duality (proofs/weak-duality.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
import numpy as np

from ..errors import BadInput
from ..exact import integer, json_list, rational
from .arithmetic import Number, flint_rational
from .goals import Goal
from .subject import Subject

__all__ = ["dual_bound"]


def dual_bound(subject: Subject, certificate: Mapping[str, Any], goal: Goal) -> Number:
    """Recompute the bound that the multipliers of a certificate prove.

    Parameters
    ----------
    subject : Subject
        On whose graph the multipliers lie.
    certificate : mapping
        Holds "multipliers": [[i, j, v, λ], …], λ ≥ 0 on the directed edge (i, j) and output v.
    goal : Goal
        Its weights enter the bound.

    Returns
    -------
    number
        Σ_i min_v [ w_i·loss(i,v) + Σ_j (λ_ij,v − r·λ_ji,v) ] − δ·Σ_(i,j) max_v λ_ij,v. Every (r,δ)-private mechanism
        has a goal at least as large, whatever the multipliers: bad ones only make it weak.

    Raises
    ------
    BadInput
        For a multiplier that is negative, listed twice, or on a pair that is no edge.
    """
    ratio, delta = flint_rational(subject.privacy.ratio), flint_rational(subject.privacy.delta)
    changes, largest = _read(certificate, len(subject.inputs), len(subject.outputs), ratio)
    _check_edges(list(largest), subject)
    bound = flint.fmpq(0)
    for i, weight in enumerate(goal.weights):
        here = changes.get(i)
        if here is None:
            bound += weight * min(goal.loss_row(i)) if weight else 0
        else:
            bound += min(weight * loss + here.get(v, 0) for v, loss in enumerate(goal.loss_row(i)))
    return bound - delta * sum(largest.values(), start=flint.fmpq(0))


def _read(
    certificate: Mapping[str, Any], inputs: int, outputs: int, ratio: Number
) -> tuple[dict[int, dict[int, Number]], dict[tuple[int, int], Number]]:
    """Return Σ_j (λ_ij,v − r·λ_ji,v) where it is not 0, and max_v λ_ij,v by directed edge."""
    changes: dict[int, dict[int, Number]] = {}
    largest: dict[tuple[int, int], Number] = {}
    seen = set()
    for entry in json_list(certificate.get("multipliers"), "multipliers"):
        first, second, output, multiplier = json_list(entry, "multipliers", 4)
        i, j = (integer(k, "multipliers", at_least=0, at_most=inputs - 1) for k in (first, second))
        v = integer(output, "multipliers", at_least=0, at_most=outputs - 1)
        size = flint_rational(rational(multiplier, "multipliers"))
        if size < 0 or (i, j, v) in seen:
            raise BadInput("multipliers", "must not be negative or listed twice", "give each once, from 0 up")
        seen.add((i, j, v))
        largest[i, j] = max(size, largest.get((i, j), size))
        for node, change in ((i, size), (j, -ratio * size)):
            table = changes.setdefault(node, {})
            table[v] = table.get(v, 0) + change
    return changes, largest


def _check_edges(pairs: list[tuple[int, int]], subject: Subject) -> None:
    if pairs:
        tails, heads = subject.places[np.array(pairs, dtype=np.int64)].T
        if not subject.graph.adjacent(tails, heads).all():
            raise BadInput("multipliers", "must lie on edges of the graph", "leave out pairs that are no neighbours")
