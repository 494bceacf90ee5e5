"""The best mechanism that treats categories alike, by a linear program in floats, checked in whole numbers.

Renaming categories takes neighbours to neighbours and right answers to right ones, so averaging a mechanism over all
names costs nothing. The best mechanism on average over inputs that count alike is therefore among those whose
probabilities are the same under every renaming. One unknown for each class of chances is all there is to find, which is
q! times fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..graphs import Graph
from ..graphs.protocol import Indices, Mask
from ..linprog.highs import GrowingProgram, SparseColumns
from .pulling import Pulled, checked_rows

__all__ = ["best_alike", "classes_of_chances"]

Renamed = Sequence[tuple[Indices, Indices]]
"""Where each renaming takes every node and every answer: a group of maps that keep edges and what is right."""


def classes_of_chances(renamed: Renamed) -> Indices:
    """Number the classes of chances under renamings, shape (nodes, answers)."""
    answers = len(renamed[0][1])
    least = np.min([nodes[:, np.newaxis] * answers + answer for nodes, answer in renamed], axis=0)
    return np.unique(least, return_inverse=True)[1].reshape(least.shape)


def best_alike(graph: Graph, right: Mask, ratio: Fraction, renamed: Renamed, most: int) -> Pulled | None:
    """Minimise the mean probability of a wrong answer.

    Parameters
    ----------
    graph, right, ratio
        As for `pulled`.
    renamed : sequence of pairs of integer arrays
        Every renaming, by where it takes nodes and answers.
    most : int
        Give up beyond so many privacy constraints between classes.

    Returns
    -------
    Pulled or None
        Rows that are private on every edge, which was checked in whole numbers, and best to about 1e-6; None where the
        program is too large, or the check fails.
    """
    number = classes_of_chances(renamed)
    count = int(number.max()) + 1
    tails = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))
    pairs = np.unique(np.stack([number[tails].ravel(), number[graph.indices].ravel()]), axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    if pairs.shape[1] > most:
        return None
    sums = np.unique(np.sort(number, axis=1), axis=0)  # nodes of one class have the same row
    rows = np.arange(pairs.shape[1])
    columns = SparseColumns.of_entries(
        np.concatenate([rows, rows, len(rows) + np.repeat(np.arange(len(sums)), number.shape[1])]),
        np.concatenate([pairs[0], pairs[1], sums.ravel()]),
        np.concatenate([np.ones(len(rows)), np.full(len(rows), -float(ratio)), np.ones(sums.size)]),
        count,
    )
    cost = np.bincount(number[~right], minlength=count) / len(right)
    least = np.concatenate([np.full(len(rows), -np.inf), np.ones(len(sums))])
    program = GrowingProgram(
        columns,
        cost,
        (np.zeros(count), np.ones(count)),
        (least, np.concatenate([np.zeros(len(rows)), np.ones(len(sums))])),
    )
    solved = program.solve()
    return None if solved is None else checked_rows(graph, right, np.maximum(solved[0], 0)[number], ratio)
