"""A whole categorical column, released record by record: the exponential mechanism on a Hamming graph.

Tables of N records over q categories, neighbours when one record is exchanged, form the Hamming graph H(N, q). There
p(y|x) ∝ r^(−records that differ) is a product over the records, so a draw is N independent randomised responses. By
Theorem 1 of [Alda2017] no private mechanism with δ = 0 changes fewer records on average over
equally likely tables, or at worst (proofs/columns.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import checked, integer
from ..mechanisms import balanced_truth
from ..privacy import Privacy
from ..sampling.bits import BitSource
from ..sampling.inputs import integers
from ..sampling.tables import draw

__all__ = ["expected_changes", "release_column"]

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
        The operating system's bits unless given; tests script it.

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
