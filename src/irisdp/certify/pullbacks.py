"""Optimality that comes down an arrow: a mechanism that asks a query first and is optimal on the query's small graph.

Suppose every input over one small node has the same number of neighbours over every other small node. Then averaging a
private mechanism over the inputs that share a small node leaves a private mechanism of the small graph with no larger
goal (proofs/pullback.md). So what is optimal on the small graph is optimal above it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import integer, json_list
from ..mechanisms import read_document
from .subject import Subject, same_promise, subject_of

__all__ = ["inner_subject"]


def inner_subject(subject: Subject, certificate: Mapping[str, Any]) -> tuple[Subject, list[int]]:
    """Check that a mechanism is the pullback of the one in its certificate, along an equitable query.

    Returns
    -------
    tuple
        The inner mechanism, and for every input the number of its input below.

    Raises
    ------
    BadInput
        When rows, privacy or outputs differ, or the query is not equitable and onto.
    """
    inner = subject_of(read_document(certificate.get("mechanism")))
    if inner.document.factored is not None or subject.document.factored is not None:
        raise BadInput("factors", "cannot be pulled back", "write the matrix")
    if not same_promise(inner.privacy, subject.privacy):
        raise BadInput("privacy", "differs from the inner mechanism's", "state the same")
    numbers = json_list(certificate.get("query"), "query", len(subject.inputs))
    query = [integer(k, "query", at_least=0, at_most=len(inner.inputs) - 1) for k in numbers]
    if inner.outputs != subject.outputs or any(subject.row(i) != inner.row(k) for i, k in enumerate(query)):
        raise BadInput("matrix", "is not the inner mechanism read through the query", "correct the rows")
    over = np.empty(len(query), dtype=np.int64)
    over[subject.places] = inner.places[np.array(query, dtype=np.int64)]
    _check_equity(subject, inner, over)
    return inner, query


def _check_equity(subject: Subject, inner: Subject, over: NDArray[np.int64]) -> None:
    size = inner.graph.number_of_nodes
    fibres = np.bincount(over, minlength=size)
    codes = np.concatenate([np.zeros(0, np.int64), *_crossings(subject, over, size)])
    crossings, counts = np.unique(codes, return_counts=True)
    nodes, targets = np.divmod(crossings, size)
    # Every node's counts must be those of its fibre: group by (node below, target) and compare within groups.
    groups, group_of = np.unique(over[nodes] * size + targets, return_inverse=True)
    smallest = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(smallest, group_of, counts)
    largest = np.zeros(len(groups), np.int64)
    np.maximum.at(largest, group_of, counts)
    below, targets = np.divmod(groups, size)
    complete = np.bincount(group_of, minlength=len(groups)) == fibres[below]
    if not (complete.all() and (smallest == largest).all()):
        raise BadInput("query", "is not equitable", "inputs over one node need equally many neighbours over each other")
    # Complete groups come both ways round, so as many of them as directed edges, all on edges, is every edge.
    if not inner.graph.adjacent(below, targets).all() or len(groups) != 2 * inner.graph.number_of_edges:
        raise BadInput("query", "must meet exactly the edges of the inner graph", "use a smaller inner graph")
    if not fibres.all():
        raise BadInput("query", "must reach every inner input", "leave out the others")


def _crossings(subject: Subject, over: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Return a code for every directed edge between fibres: the node it leaves, and the small node it leads to."""
    found = []
    for chunk_tails, chunk_heads in subject.graph.edges():
        apart = over[chunk_tails] != over[chunk_heads]
        tails, heads = chunk_tails[apart], chunk_heads[apart]
        found += [tails * size + over[heads], heads * size + over[tails]]
    return found
