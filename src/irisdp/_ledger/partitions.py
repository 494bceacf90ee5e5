"""What releases about partitions of a table cost together.

A record lies in one partition, through all versions of the table. So releases about other partitions say nothing about
it, and the largest charge of a partition counts. A person may have records in every partition: then all charges add up
(proofs/partitions.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..accounting import Charge


def composed(whole: Charge, partitions: Iterable[Charge], *, parallel: bool) -> Charge:
    """Return what all releases of a ledger cost together.

    Parameters
    ----------
    whole : Charge
        The sum of all releases about the whole table, in all of its versions.
    partitions : iterable of Charge
        For each partition, the sum of all releases about it, in all of its versions.
    parallel : bool
        Whether what is protected lies in one partition: a record does. A person may be in all of them.

    Returns
    -------
    Charge
        Number by number: the sum for the whole table, and the largest sum of a partition. Or all sums added up.

    References
    ----------
    proofs/partitions.md, claims 1 and 3.

    Examples
    --------
    >>> from irisdp.accounting import Cost
    >>> months = [Cost(1), Cost("3/2", "1/1000"), Cost("1/2", "1/100")]
    >>> composed(Cost(2), months, parallel=True)
    Cost(epsilon=Fraction(7, 2), delta=Fraction(1, 100))
    >>> composed(Cost(2), months, parallel=False)
    Cost(epsilon=Fraction(5, 1), delta=Fraction(11, 1000))
    """
    if parallel:
        return whole + reduce(lambda one, other: one.at_least(other), partitions, whole * 0)
    return sum(partitions, whole)
