"""What the numbers of a release count: records, one or some of each person, persons, or values of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["counted", "counts_persons", "kept_of_each"]


def counted(sidecar: Mapping[str, Any]) -> str:
    """Say what numbers count, and errors are measured in.

    Examples
    --------
    >>> counted({"query": {"query": "count"}, "by": ["town"], "unit": "person"})
    'records, one per person'
    >>> counted({"query": {"query": "count"}, "by": [], "unit": "person"})
    'different values of person'
    """
    asked = sidecar["query"]
    if asked["query"] in ("sum", "mean"):
        return f"as {asked['column']}"
    if asked["query"] == "count-distinct":
        return f"different values of {asked['column']}"
    unit = sidecar.get("unit")
    if unit is None:
        return "records"
    if counts_persons(sidecar):
        return f"different values of {unit}"
    return f"records, {'one' if (kept := kept_of_each(sidecar)) == 1 else f'at most {kept}'} per {unit}"


def counts_persons(sidecar: Mapping[str, Any]) -> bool:
    """Return whether each person of the table is one in the number, or in that of one group; not some record of it."""
    if sidecar.get("unit") is None or kept_of_each(sidecar) != 1:
        return False
    asked = sidecar["query"]
    whole = asked["query"] == "count" and "expression" not in asked and not sidecar.get("by")
    return whole or sidecar.get("per_unit") is not None


def kept_of_each(sidecar: Mapping[str, Any]) -> Any:
    """Return how many records of a person count at most."""
    return sidecar.get("at_most") or 1
