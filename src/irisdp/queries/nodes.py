"""Nodes of small graphs: what a query makes of the statistics, cell by cell, and what a mechanism is looked up by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .neighbours import Relation
from .statistics import Statistics

__all__ = ["NO_BOUNDARY", "ClassNodes", "CountNodes", "Query", "check_expression"]

NO_BOUNDARY = -1
"""Depth of a node whose component has one class only: the truth is public and is said with probability 1."""


@dataclass(frozen=True, slots=True, eq=False)
class CountNodes:
    """A node of a path per cell; private, and not shown by `repr`.

    Attributes
    ----------
    values : int64 array
        The counts.
    lower : int64 array
        Least count the cell's path has; public.
    upper : int64 array or None
        Largest count the cell's path has, public; None if it has no end.
    """

    values: NDArray[np.int64] = field(repr=False)
    lower: NDArray[np.int64] = field(repr=False)
    upper: NDArray[np.int64] | None = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ClassNodes:
    """A class and a depth per cell; private, and not shown by `repr`.

    Attributes
    ----------
    classes : tuple of text
        The names of the classes; public.
    true_class : int64 array
        Index of the cell's class among `classes`.
    depth : int64 array
        Distance to the boundary of the cell's own class, or `NO_BOUNDARY`.
    """

    classes: tuple[str, ...]
    true_class: NDArray[np.int64] = field(repr=False)
    depth: NDArray[np.int64] = field(repr=False)


class Query(Protocol):
    """A question: it says what it asks, how far an exchange moves it, and which node a cell is on."""

    name: ClassVar[str]
    exchange_steps: ClassVar[int]
    """Steps on a cell's add-remove graph that exchanging one of its records takes at most."""

    @property
    def expression(self) -> str | None:
        """The condition, as written."""
        ...

    def describe(self) -> dict[str, str]:
        """Return the public description, for the ledger and the release."""
        ...

    def nodes(self, statistics: Statistics, relation: Relation) -> CountNodes | ClassNodes:
        """Return each cell's node on the graph of `relation` (see `neighbours.cell_relation`).

        The query is a morphism to that graph: a neighbour's cell is at most one step away.
        """
        ...


def check_expression(expression: str | None, query: str, *, needed: bool) -> None:
    """Refuse a query without the condition it is about, and a condition that is no text."""
    if expression is None and not needed:
        return
    if not isinstance(expression, str) or not expression.strip():
        rule = "is missing" if expression is None else "must be a SQL condition"
        raise BadInput("expression", f"{rule} for {query}", f'write a SQL condition, such as {query} "age > 64"')
