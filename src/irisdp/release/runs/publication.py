"""What a run of a plan gives back: a publication for each question, and what each ledger was charged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...accounting import Charge
from ...exact import told_below
from ...tabular import InOneLine, html_table
from ..ledger import Ledger
from ..publication import Publication

__all__ = ["Answered", "RunPublication"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question of a plan, answered.

    Attributes
    ----------
    number, name, dataset
        Its place, counted from 1, and what the plan calls it and its table.
    publication : Publication
    """

    number: int
    name: str | None
    dataset: str
    publication: Publication

    @property
    def title(self) -> str:
        """What the plan calls it, else the question itself."""
        return self.name or self.publication.plan.line

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data: as `publish --json` prints it, with what the plan says."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "question": self.publication.plan.line,
            **self.publication.to_document(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunPublication(InOneLine):
    """What a run of a plan published: public, all of it.

    Attributes
    ----------
    file : Path
        The plan.
    questions : tuple of Answered
        In the order asked.
    pages : tuple of Path
        The page of all of them, where the plan asks for one.
    """

    file: Path
    questions: tuple[Answered, ...]
    pages: tuple[Path, ...] = ()

    def __iter__(self) -> Iterator[Publication]:
        """Iterate over the questions' publications."""
        return (one.publication for one in self.questions)

    def __len__(self) -> int:
        """Count the questions."""
        return len(self.questions)

    def __getitem__(self, place: int | str) -> Publication:
        """Return the publication of one question, by its name or counted from 0."""
        if isinstance(place, str):
            return next(one.publication for one in self.questions if one.name == place)
        return self.questions[place].publication

    @property
    def repeated(self) -> bool:
        """Whether all had been answered before; then these are the same answers, and nothing was charged."""
        return all(found.repeated for found in self)

    @property
    def charged(self) -> dict[Path | str, Charge]:
        """What each ledger was charged now."""
        found: dict[Path | str, Charge] = {}
        for one in self:
            found[one.ledger] = found[one.ledger] + one.cost if one.ledger in found else one.cost
        return found

    @property
    def out(self) -> tuple[Path, ...]:
        """All files written, or found to hold already what would be; last the page, if any."""
        return (*(path for found in self for path in found.out), *self.pages)

    def _summary(self) -> str:
        new = sum(not found.repeated for found in self)
        charged = "; ".join(f"charged {cost.as_charged()}" for cost in self.charged.values())
        return f"{self.file.name}: {len(self)} questions, {new} new; {charged}"

    def _repr_html_(self) -> str:
        """Show in a notebook each question with what it was charged."""
        rows = [(one.number, one.title, one.publication.cost.as_charged()) for one in self.questions]
        return html_table(self._summary(), ["", "question", "charged"], rows)

    def describe_budgets(self) -> list[str]:
        """Return the text that states for each ledger the new charge, the spent and the remaining budget."""
        lines = []
        for place, charged in self.charged.items():
            book = Ledger(place)
            spent, limit = book.spent, book.limit
            of = "; no limit is set" if limit is None else f" of {limit.told(told_below)}"
            lines.append(f"{book.store.name}: charged {charged.as_charged()} now; spent {spent}{of}")
        return lines

    def to_document(self) -> dict[str, Any]:
        """Return the run as `irisdp run --json` prints it."""
        return {
            "plan": str(self.file),
            "repeated": self.repeated,
            "questions": [one.to_document() for one in self.questions],
            "ledgers": [_stands(place, cost) for place, cost in self.charged.items()],
            "out": [str(path) for path in self.out],
        }


def _stands(place: Path | str, charged: Charge) -> dict[str, Any]:
    """Return what a ledger was charged, and where it stands now."""
    told = Ledger(place).to_document()
    return {"file": str(place), "charged": charged.to_document(), **{key: told[key] for key in _STANDS}}


_STANDS = ("limit", "spent", "left")
