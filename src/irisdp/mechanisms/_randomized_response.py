"""Randomised response: the best answer about one record that may be anything."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, integer
from .._sampling import BitSource, draw, integers
from ..errors import BadInput
from ..graphs import Complete, graph_from_edges
from ..privacy import Privacy
from ._mechanism import Mechanism


@checked
def balanced_truth(choices: int, privacy: Privacy) -> Fraction:
    """Return the largest truth-probability that `choices` mutually adjacent answers can all have.

    (r + δ(q−1)) / (r + q − 1), for several pairs the least of theirs; for q = 2 it is the boundary value
    (r + δ)/(r + 1) of a balanced binary mechanism.

    Parameters
    ----------
    choices : int
        q, at least 1.
    privacy : Privacy
        One pair or several.

    References
    ----------
    docs/theory.md#colourings; proofs/randomized-response.md.
    """
    choices = integer(choices, "choices", at_least=1)
    return min((pair.ratio + pair.delta * (choices - 1)) / (pair.ratio + choices - 1) for pair in privacy.pairs)


@checked
def randomized_response(choices: int | Sequence[Hashable], privacy: Privacy) -> Mechanism:
    """Build q-ary randomised response: the truth with `balanced_truth`, every other answer equally likely.

    Parameters
    ----------
    choices : int or sequence
        The answers, or how many (then 0..q−1).
    privacy : Privacy
        Any ratio and δ; any two inputs are neighbours.

    Raises
    ------
    BadInput
        For fewer than two answers.
    """
    names = tuple(range(choices)) if isinstance(choices, int) else tuple(choices)
    if len(names) < 2:
        raise BadInput("choices", "must be at least 2", "name two or more answers")
    truth = balanced_truth(len(names), privacy)
    lie = (1 - truth) / (len(names) - 1)
    rows = [[truth if answer == fact else lie for answer in names] for fact in names]
    numbered = names == tuple(range(len(names)))
    graph = Complete(len(names)) if numbered else graph_from_edges(combinations(names, 2), nodes=names)
    return Mechanism.from_matrix(rows, privacy=privacy, graph=graph, inputs=names, outputs=names)


@checked
def binary_randomized_response(privacy: Privacy) -> Mechanism:
    """Build randomised response about one bit, inputs and outputs 0 and 1.

    Parameters
    ----------
    privacy : Privacy
        Any ratio and δ.
    """
    return randomized_response(2, privacy)


# Release a whole categorical column record by record: the exponential mechanism on a Hamming graph.
#
# Tables of N records over q categories, neighbours when one record is replaced, form the Hamming graph H(N, q). There
# p(y|x) ∝ r^(−records that differ) is a product over the records, so a draw is N independent randomised responses. By
# Theorem 1 of [Alda2017] no private mechanism with δ = 0 changes fewer records on average over equally likely tables,
# or at worst (proofs/columns.md).

LARGEST_ALPHABET = 1 << 16


@checked
def release_column(
    values: Any, categories: int, privacy: Privacy, *, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Release a categorical column record by record.

    Parameters
    ----------
    values : array of int
        The category of every record, in [0, categories), in any shape.
    categories : int
        How many categories there are, declared and not read off the data; 2 to 65,536.
    privacy : Privacy
        Of the whole column when one record is exchanged for another.
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    array of int64, the shape of `values`
        Each record independently keeps its category with probability (r + δ(q−1))/(r + q − 1) and is otherwise any of
        the others, exactly.

    Notes
    -----
    What is drawn is by how much a category moves on, modulo q; its law does not depend on the record. So the time and
    the number of random words say nothing about the data, but for ties of probability at most q/2^64 a record.

    References
    ----------
    [Alda2017], Theorem 1 on H(N, q); docs/theory.md#databases; proofs/columns.md.

    Examples
    --------
    >>> release_column([0, 2, 1, 1], 3, Privacy(epsilon=100)).tolist()
    [0, 2, 1, 1]
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_ALPHABET)
    given = integers(values, "values", at_least=0, at_most=q - 1)
    truth = balanced_truth(q, privacy)
    law = [truth, *[(1 - truth) / (q - 1)] * (q - 1)]
    moved = draw([law], np.zeros(given.shape, dtype=np.int64), source=source)
    moved += given
    moved -= q * (moved >= q)
    return moved


@checked
def expected_changes(records: int, categories: int, privacy: Privacy) -> Fraction:
    """Return how many records change on average, N·(1 − truth), whatever the table.

    With δ = 0 no private mechanism changes fewer on average over equally likely tables, or at worst
    (proofs/columns.md).

    Parameters
    ----------
    records : int
        N, at least 0.
    categories : int
        q, at least 2.
    privacy : Privacy
        Of the whole column when one record is exchanged for another.

    Examples
    --------
    >>> expected_changes(3, 2, Privacy.from_ratio(3))
    Fraction(3, 4)
    """
    number = integer(records, "records", at_least=0)
    return number * (1 - balanced_truth(integer(categories, "categories", at_least=2), privacy))
