"""What releases about partitions of a growing table cost together.

A record lies in one partition, through all versions of the table. So releases about other partitions say nothing about
it, and the largest charge of a partition counts. A person may have records in every partition: then all charges add up
(proofs/partitions.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from ..accounting import Charge
from ..errors import BadInput, ScopeRefused


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


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of a table, named by a public value.

    Parameters
    ----------
    column : str
        What the table is divided by: a column, or a name for what files hold.
    value : str
        Which partition it is; compared as text.
    period : str, optional
        Of a column of dates, the calendar period that makes one partition.
    reading : str
        How a record says which partition it belongs to. A ledger has one such way: read otherwise, a record would lie
        in two partitions, and only the larger charge would count.
    """

    column: str
    value: str
    period: str | None = None
    reading: str = "files"

    def by(self) -> dict[str, str]:
        """Return what the table is divided by: a fact of the ledger."""
        return {**self._divided(), "reading": self.reading}

    def _divided(self) -> dict[str, str]:
        return {"column": self.column} | ({} if self.period is None else {"period": self.period})

    @property
    def public(self) -> str:
        """What neighbours keep of a record under the relation exchange: the partition that it lies in."""
        return public_name(self.by())

    def to_document(self) -> dict[str, str]:
        """Return it as JSON-ready data: a part of the question, and of what the ledger keeps of its answers."""
        return {**self._divided(), "value": self.value}

    def __str__(self) -> str:
        """Name it in a line."""
        return f"{self.column if self.period is None else self.period} {self.value}"


def public_name(by: Mapping[str, str]) -> str:
    """Return what a ledger calls that which divides a table, among its public columns."""
    return f"{by['period']} of {by['column']}" if "period" in by else by["column"]


def check_protected(by: Mapping[str, str], relation: str, unit: str | None, public_columns: Iterable[str]) -> None:
    """Refuse partitions where no charge of theirs bounds anything: proofs/partitions.md, claim 5.

    Raises
    ------
    BadInput
        Under the relation exchange, for persons, and where the partition's column is not public.
    """
    if relation != "exchange":
        return
    if unit is not None:
        rule = "cannot be combined with unit= under the relation exchange: the person who takes a place may have no"
        raise BadInput("partition", f"{rule} record in that partition", "use relation='add-remove'")
    if public_name(by).casefold() not in {name.casefold() for name in public_columns}:
        rule = f"needs {public_name(by)} to be public under the relation exchange"
        raise BadInput("partition", rule, "use relation='add-remove'")


def is_parallel(by: Mapping[str, str], relation: str, unit: str | None, public_columns: Iterable[str]) -> bool:
    """Tell whether what is protected lies in one partition, so that the largest charge counts and not the sum."""
    if unit is not None:
        return False
    return relation == "add-remove" or public_name(by).casefold() in {name.casefold() for name in public_columns}


@dataclass(frozen=True, slots=True)
class Spending:
    """What was charged, for the whole table and for each partition.

    Attributes
    ----------
    whole : Charge
        Of all releases about the whole table.
    parts : mapping
        Of all releases about each partition, by its value.
    parallel : bool
        See `composed`.
    """

    whole: Charge
    parts: Mapping[str, Charge] = field(default_factory=dict)
    parallel: bool = False

    @property
    def total(self) -> Charge:
        """What all of it costs together."""
        return composed(self.whole, self.parts.values(), parallel=self.parallel)

    @property
    def summed(self) -> Charge:
        """The sum of all charges, about whatever they are."""
        return composed(self.whole, self.parts.values(), parallel=False)

    def about(self, partition: str | None) -> Charge:
        """Return what counts against the limit of a partition's next question; in parallel, others do not."""
        if partition is None or not self.parallel:
            return self.total
        return self.whole + self.parts.get(partition, self.whole * 0)

    def after(self, partition: str | None, charge: Charge) -> Spending:
        """Return the spending after a charge for a partition, or for the whole table."""
        if partition is None:
            return replace(self, whole=self.whole + charge)
        before = self.parts.get(partition, self.whole * 0)
        return replace(self, parts={**self.parts, partition: before + charge})

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "composition": "maximum" if self.parallel else "sum",
            "whole": self.whole.to_document(),
            "partitions": {value: spent.to_document() for value, spent in sorted(self.parts.items())},
        }


_DIGITS = re.compile(r"\d+")


def normal_form(value: str) -> str:
    """Return what two spellings of one partition have in common: letters whatever their case, numbers without zeros."""
    plain = unicodedata.normalize("NFKC", value).casefold().strip()
    return _DIGITS.sub(lambda digits: str(int(digits[0])) if len(digits[0]) < 100 else digits[0], plain)


def check_spelling(values: Iterable[str], value: str, *, where: str) -> None:
    """Refuse a value that may be another spelling of a partition that is known: it would get a charge of its own.

    Raises
    ------
    ScopeRefused
        It names the known spelling.
    """
    form = normal_form(value)
    for known in values:
        if known != value and normal_form(known) == form:
            raise ScopeRefused(
                f"{where} knows the partition {known!r}, and {value!r} may be the same; write {known!r}",
                differs=["partition"],
                pinned={"partition": known},
                asked={"partition": value},
            )
