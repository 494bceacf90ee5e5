"""Which tables are neighbours: the relation that every graph, mechanism and question names."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from ..errors import BadInput


class NeighbouringRelation(StrEnum):
    """Which tables are neighbours."""

    ADD_REMOVE = "add-remove"
    """One has one record (or person) more."""
    EXCHANGE = "exchange"
    """They have equally many, and one record (or person) is different."""


Relation = NeighbouringRelation | Literal["exchange", "add-remove"]
"""A relation as callers may give it: itself, or its name."""


def parse_relation(relation: str) -> NeighbouringRelation:
    """Read a relation by its name."""
    try:
        return NeighbouringRelation(relation)
    except ValueError:
        raise BadInput("relation", "must be add-remove or exchange", "choose one of the two") from None
