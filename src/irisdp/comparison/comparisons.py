"""A comparison as people and programs take it: a document, a frame, a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..exact import Enclosure, checked, decimal_above, nearest_float, rational_text
from ..mechanisms import privacy_to_document
from ..outputs import plan_outputs, write_outputs
from ..privacy import Privacy
from ..tabular import Tabular
from .asked import Asked, in_records
from .picture import draw
from .results import Compared, Objective

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Comparison", "picture_path"]

_PLACES = 40
_NOTHING = Fraction(1, 10**40)
_LONGEST = 120
"""Letters of a fraction that is written out."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Tabular):
    """Exact errors of this library's mechanism and of others, all under one guarantee.

    Attributes
    ----------
    query : str
        The question.
    asked : mapping
        The public facts it is compared at: categories, n, and so on.
    privacy : Privacy
    relation : str
    objectives : tuple of Objective
    mechanisms : tuple of Compared
        This library's first.
    notes : tuple of str
        What was left out, and why.
    """

    query: str
    asked: Mapping[str, Any]
    privacy: Privacy
    relation: str
    objectives: tuple[Objective, ...]
    mechanisms: tuple[Compared, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        query: str,
        size: Mapping[str, Any],
        asked: Asked,
        described: Sequence[Mapping[str, Any]],
        columns: Mapping[Objective, Sequence[Enclosure]],
        notes: Sequence[str],
    ) -> Comparison:
        """Set mechanisms, as they are `described`, beside their errors: a column for each objective, in their order."""
        return cls(
            query=query,
            asked=size,
            privacy=asked.privacy,
            relation=asked.relation,
            objectives=tuple(columns),
            mechanisms=tuple(
                Compared(**words, errors={objective.name: column[place] for objective, column in columns.items()})
                for place, words in enumerate(described)
            ),
            notes=tuple(notes),
        )

    def to_document(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data; ends of intervals are decimals, rounded outward."""
        return {
            "format": "irisdp/comparison/1",
            "query": self.query,
            **self.asked,
            "relation": self.relation,
            "privacy": privacy_to_document(self.privacy),
            "objectives": [{"name": one.name, "meaning": one.words, "unit": one.unit} for one in self.objectives],
            "mechanisms": [self._document(one) for one in self.mechanisms],
            "notes": list(self.notes),
        }

    def to_arrow(self) -> pyarrow.Table:
        """Return a row for each mechanism and a column for each objective, the nearest float in it."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {
            "mechanism": [one.name for one in self.mechanisms],
            "ours": [one.ours for one in self.mechanisms],
            "runs at": [one.runs_at for one in self.mechanisms],
        }
        for objective in self.objectives:
            columns[objective.name] = [float(one.errors[objective.name]) for one in self.mechanisms]
        columns["scope"] = [one.scope for one in self.mechanisms]
        return pa.table(columns)

    def to_svg(self) -> str:
        """Return a picture: a bar for each mechanism, a panel for each objective."""
        asked = [self.query]
        if self.asked.get("categories"):
            asked.append(f"{self.asked['categories']} categories")
        if self.asked.get("n"):
            asked.append(in_records(self.asked["n"]))
        moves = "one record exchanged" if self.relation == "exchange" else "one record added or removed"
        title = f"Exact errors of {', '.join(asked)}: private at {self.privacy}, {moves}"
        return draw(title, self.objectives, self.mechanisms)

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the picture.

        Parameters
        ----------
        path : path
            Ends by .svg.
        force : bool
            Whether a file that is there is replaced.
        """
        (output,) = plan_outputs([picture_path(path, "path")], [], field="path", force=force)
        write_outputs([(output, self.to_svg().encode())])

    def _summary(self) -> str:
        ours = self.mechanisms[0]
        first = self.objectives[0]
        best = f"{ours.name} {float(ours.errors[first.name]):.4g}"
        return (
            f"{self.query}, {self.relation}, {self.privacy}: {first.words}: {best}, {len(self.mechanisms)} mechanisms"
        )

    def _document(self, one: Compared) -> dict[str, Any]:
        base = self.mechanisms[0]
        return {
            "name": one.name,
            "known_as": one.known_as,
            "ours": one.ours,
            "runs_at": one.runs_at,
            "why": one.why,
            "scope": one.scope,
            "errors": {
                objective.name: _as_document(one.errors[objective.name], base.errors[objective.name])
                for objective in self.objectives
            },
        }


def picture_path(path: str | os.PathLike[str], field: str) -> Path:
    """Return where a picture goes; pictures are drawn as .svg."""
    if Path(path).suffix.lower() != ".svg":
        raise BadInput(field, "must end by .svg", "name a vector picture such as compared.svg")
    return Path(path)


def _as_document(found: Enclosure, ours: Enclosure) -> dict[str, Any]:
    exact = rational_text(found.lower) if found.width == 0 else None
    low = -decimal_above(-found.lower, _PLACES)
    return {
        "value": nearest_float((found.lower + found.upper) / 2),
        "lower": rational_text(low),
        "upper": rational_text(decimal_above(found.upper, _PLACES)),
        "exact": exact if exact is not None and len(exact) <= _LONGEST else None,
        "to_ours": _ratio(found, ours),
    }


def _ratio(one: Enclosure, other: Enclosure) -> float | None:
    """Return a quotient; none where either is known to be small and no more."""
    if min(one.lower, other.lower) < _NOTHING:
        return None
    return nearest_float(Fraction(one.lower + one.upper) / (other.lower + other.upper))
