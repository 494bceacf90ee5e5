"""What a batch gives back: a publication for each question, and the one charge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...accounting import Charge
from ...tabular import InOneLine
from ..publication import Publication
from .planning import BatchPlan

__all__ = ["BatchPublication"]

_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BatchPublication(InOneLine):
    """What was published together: public, all of it.

    Attributes
    ----------
    plan : BatchPlan
        What was asked; its tables hold no record and cannot be read.
    publications : tuple of Publication
        One for each question, in the order asked; `irisdp.interpret` reads each.
    repeated : bool
        Whether all this had been answered before; then these are the same answers, and nothing was charged.
    cost : Charge
        What was charged now, for all questions together.
    charged : Charge
        What its line of the ledger was charged, now or before; then the budget may have been another.
    ledger : Path or str
        Where the batch is written down.
    id : int
        Its one line there.
    pages : tuple of Path
        The page of the whole batch, where one was written.
    """

    plan: BatchPlan
    publications: tuple[Publication, ...]
    repeated: bool
    cost: Charge
    charged: Charge
    ledger: Path | str
    id: int
    pages: tuple[Path, ...] = ()

    def __iter__(self) -> Iterator[Publication]:
        """Iterate over the questions' publications."""
        return iter(self.publications)

    def __len__(self) -> int:
        """Count the questions."""
        return len(self.publications)

    def __getitem__(self, place: int) -> Publication:
        """Return the publication of one question, counted from 0."""
        return self.publications[place]

    @property
    def out(self) -> tuple[Path, ...]:
        """All files written; last the page, if any."""
        return (*(path for found in self.publications for path in found.out), *self.pages)

    def _summary(self) -> str:
        return f"{self.plan.line}; {'charged before' if self.repeated else f'charged {self.cost}'}"

    def _repr_html_(self) -> str:
        """Show in a notebook the answers of each question, the first of many."""
        return "".join(found._repr_html_() for found in self.publications[:_MOST_SHOWN]) + (
            f"<p>… ({len(self)} in all)</p>" if len(self) > _MOST_SHOWN else ""
        )

    def to_document(self) -> dict[str, Any]:
        """Return the batch as `irisdp batch --json` prints it."""
        planned = self.plan.to_document()
        return {
            "cost": self.cost.to_document(),
            "charged": self.charged.to_document(),
            "repeated": self.repeated,
            "answers": [found.answers.to_documents() for found in self.publications],
            "questions": [
                {
                    "question": found.plan.line,
                    "expected_error": told["expected_error"],
                    "answers": found.answers.to_documents(),
                    "out": [str(path) for path in found.out],
                }
                for found, told in zip(self.publications, planned["questions"], strict=True)
            ],
            "out": [str(path) for path in self.out],
            "ledger": {"file": str(self.ledger), "ids": [self.id]},
            **{name: planned[name] for name in ("budget", "composition", "scale", "noise", "total")},
        }

    def describe_budget(self) -> str:
        """Return the text that states spent and remaining budget."""
        return self.publications[0].describe_budget()
