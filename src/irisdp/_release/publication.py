"""What a publication gives back: answers, cost, and where they are written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._exact import told_above, told_below
from .._frames import InOneLine, Tabular, html_table, printable, text_lines, text_table
from .._hooks import Drawable
from .._lazy import renamed_method
from .._ledger import Ledger, Spending, say_unlimited
from .._measurements import BELOW, FIRST, FROM, HIGH, LOW
from ..accounting import Charge, Cost
from .answers import Answers
from .plans import Plan

if TYPE_CHECKING:
    import pyarrow

    from .batch_plan import BatchPlan


_MOST_PRINTED = 40
_ENDS_PRINTED = 10
"""Rows that are printed at each end of a longer table."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Publication(Tabular, Drawable):
    """What was published: public, all of it.

    Attributes
    ----------
    plan : Plan
        What was asked; its table holds no record and cannot be read.
    answers_of : dict
        Answers by audience; where no audiences were named there is one, called None.
    repeated : bool
        Whether the question had been answered before; then these are the same answers, and nothing was charged.
    cost : Charge
        What was charged now; nothing for a question of a batch, which is charged as one.
    ledger, ids
        Where the release is written down, an id for each audience.
    out : tuple of Path
        Written files: for each audience the answers, then the release file, then the data package; last the pages, if
        any.
    sidecars : dict
        How the answers of each audience were made, JSON-ready: the content of the release file, which
        `irisdp.interpret` takes.
    in_batch : bool
        Whether this is one question of a batch (`irisdp.batch`).
    anew : "data", "secret", "unknown" or None
        Why a question was charged again that the ledger had answered before: the data changed, the secret was lost or
        replaced, or one of the two. None where it was not.
    unlimited : tuple of str
        The audiences that have no limit of their own in the ledger, where others have one.
    """

    plan: Plan
    answers_of: dict[str | None, Answers]
    repeated: bool
    cost: Charge
    ledger: Path | str
    ids: tuple[int, ...]
    out: tuple[Path, ...]
    sidecars: dict[str | None, dict[str, Any]]
    in_batch: bool = False
    anew: str | None = None
    unlimited: tuple[str, ...] = ()

    @property
    def answers(self) -> Answers:
        """The answers of the most accurate audience."""
        return next(iter(self.answers_of.values()))

    def to_arrow(self) -> pyarrow.Table:
        """Return the group columns, the answers, and what says how sure they are, as an Arrow table.

        Where audiences have names, their answers stand in columns of these names, and beside them `NAME low` and so on.
        """
        table = self.answers.to_arrow()
        if None in self.answers_of:
            return table
        table = table.drop_columns(list(table.column_names[len(self.answers.by) :]))
        for name, values in self.answers_of.items():
            column = f"answer {name}" if name in self.plan.by else str(name)
            shown = values.to_arrow()
            for part in shown.column_names[len(values.by) :]:
                table = table.append_column(column + part.removeprefix("answer").replace("_", " "), shown[part])
        return table

    def _summary(self) -> str:
        cost = self.cost
        told = told_above("ε", cost.epsilon) if isinstance(cost, Cost) and cost.delta == 0 else str(cost)
        charged = "charged with its batch" if self.in_batch else f"charged {told}"
        return f"{self.plan.line}; {self.answers._summary()}; {'charged before' if self.repeated else charged}"

    def __str__(self) -> str:
        """Show the answers as a table, with their interval and their cost; of many groups the first and the last."""
        answers, number = self.answers, len(self.answers.values)
        columns: dict[str, Sequence[Any]] = {name or "answer": each.values for name, each in self.answers_of.items()}
        ends = answers.assured if len(columns) == 1 else replace(answers.assured, columns={}, promise="")
        columns |= {name: column for name, column in ends.columns.items() if name not in (FROM, BELOW)}
        is_long = number > _MOST_PRINTED
        places = [*range(_ENDS_PRINTED), *range(number - _ENDS_PRINTED, number)] if is_long else range(number)
        rows = [(*answers.keys[place], *(column[place] for column in columns.values())) for place in places]
        table = text_table([*answers.by, *columns], rows, gap=_ENDS_PRINTED if is_long else None)
        lines = [printable(self.plan.line), table]
        if is_long:
            hidden = number - 2 * _ENDS_PRINTED
            lines.append(f"({hidden:,} of {number:,} rows are not shown; to_pandas(), to_arrow() and out= have all)")
        promised = ends.promise or "; ".join(self.plan.leaves_out())
        if promised:
            lines.append(text_lines("interval" if {LOW, FIRST} & set(ends.columns) else "accuracy", promised))
        lines += [text_lines("note", words) for heading, words in self.plan.describe_rules() if heading == "note"]
        cost = "nothing: answered before" if self.repeated else self.plan.describe_cost()
        if not self.repeated and self.cost != self.plan.cost:
            cost += ", charged with its batch" if self.in_batch else f"; charged {self.cost}"
        return "\n".join([*lines, text_lines("cost", cost)])

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return the publication as `publish --json` prints it."""
        answers = {name: values.to_documents() for name, values in self.answers_of.items()}
        return {
            "cost": self.cost.to_document(),
            "repeated": self.repeated,
            "anew": self.anew,
            "answers": answers.get(None, answers),
            "out": [str(path) for path in self.out],
            "ledger": {
                "file": str(self.ledger),
                "ids": list(self.ids),
                **({"audiences_without_limit": list(self.unlimited)} if self.unlimited else {}),
            },
            "expected_error": self.plan.to_document()["expected_error"],
            **{name: value for name, value in self.plan.asked.facts.items() if name == "partition"},
            **self.plan.asked.reading,
        }

    def describe_doubt(self) -> list[str]:
        """Say how many means or variances have ends that leave all possible; it follows from what is published."""
        query, columns = self.plan.query, self.answers.assured.columns
        if (widest := getattr(query, "widest", None)) is not None:  # of bounds alone
            return self._widest(list(map(float, widest)))
        possible = getattr(query, "possible", None)  # of means and variances alone
        if possible is None or LOW not in columns:
            return []
        lower, upper = map(float, possible)
        empty = sum(low <= lower and high >= upper for low, high in zip(columns[LOW], columns[HIGH], strict=True))
        if not empty:
            return []
        told = f"{empty} of {len(self.answers.values)} say nothing" if self.answers.by else "this says nothing"
        why = "perhaps no value could be read as a number, or there are too few records for this ε"
        return [f"{told}: any {query.name} between {lower:g} and {upper:g} could be true; {why}"]

    def _widest(self, widest: list[float]) -> list[str]:
        values = list(map(float, self.answers.values))
        empty = sum(values[place : place + 2] == widest for place in range(0, len(values), 2))
        if not empty:
            return []
        why = "no values stand out from the noise; perhaps none could be read as a number, or there are too few records"
        return [f"{empty} of {len(values) // 2} answers are the widest bounds there are: {why} for this ε"]

    def describe_unlimited(self) -> list[str]:
        """Say of each audience without a limit of its own, where others have one, that it has none."""
        return say_unlimited(self.unlimited, Ledger(self.ledger).currency) if self.unlimited else []

    def describe_budget(self) -> str:
        """Return the text that states spent and remaining budget."""
        ledger = Ledger(self.ledger)
        spent, limit = ledger.spent, ledger.limit
        return f"spent {spent}{_of(limit, spent)}"


def _of(limit: Charge | None, spent: Charge) -> str:
    """Say of which limit that was spent, and what is left."""
    if limit is None:
        return "; no limit is set"
    return f" of {limit.told(told_below)}; left {limit.left_after(spent).told(told_below)}"


# What a batch gives back: a publication for each question, and the one charge.

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
    anew : str or None
        As of a `Publication`.
    """

    plan: BatchPlan
    publications: tuple[Publication, ...]
    repeated: bool
    cost: Charge
    charged: Charge
    ledger: Path | str
    id: int
    pages: tuple[Path, ...] = ()
    anew: str | None = None

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
        return (*(path for publication in self.publications for path in publication.out), *self.pages)

    def _summary(self) -> str:
        return f"{self.plan.line}; {'charged before' if self.repeated else f'charged {self.cost}'}"

    def _repr_html_(self) -> str:
        """Show in a notebook the answers of each question, the first of many."""
        return "".join(publication._repr_html_() for publication in self.publications[:_MOST_SHOWN]) + (
            f"<p>… ({len(self)} in all)</p>" if len(self) > _MOST_SHOWN else ""
        )

    def to_document(self) -> dict[str, Any]:
        """Return the batch as `irisdp batch --json` prints it."""
        planned = self.plan.to_document()
        return {
            "cost": self.cost.to_document(),
            "charged": self.charged.to_document(),
            "repeated": self.repeated,
            "anew": self.anew,
            "answers": [publication.answers.to_documents() for publication in self.publications],
            "questions": [
                {
                    "question": publication.plan.line,
                    "expected_error": told["expected_error"],
                    "answers": publication.answers.to_documents(),
                    "out": [str(path) for path in publication.out],
                }
                for publication, told in zip(self.publications, planned["questions"], strict=True)
            ],
            "out": [str(path) for path in self.out],
            "ledger": {"file": str(self.ledger), "ids": [self.id]},
            **{name: planned[name] for name in ("budget", "composition", "scale", "noise", "total")},
        }

    def describe_budget(self) -> str:
        """Return the text that states spent and remaining budget."""
        return self.publications[0].describe_budget()


# What a run of a plan gives back: a publication for each question, and what each ledger was charged.


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
        return (question.publication for question in self.questions)

    def __len__(self) -> int:
        """Count the questions."""
        return len(self.questions)

    def __getitem__(self, place: int | str) -> Publication:
        """Return the publication of one question, by its name or counted from 0."""
        if isinstance(place, str):
            return next(question.publication for question in self.questions if question.name == place)
        return self.questions[place].publication

    @property
    def repeated(self) -> bool:
        """Whether all had been answered before; then these are the same answers, and nothing was charged."""
        return all(publication.repeated for publication in self)

    @property
    def charged(self) -> dict[Path | str, Charge]:
        """What each ledger was charged now."""
        new: dict[Path | str, Spending] = {}
        for one in self:
            before = new.get(one.ledger) or replace(Ledger(one.ledger).spending, whole=one.cost * 0, parts={})
            new[one.ledger] = before.after(one.plan.asked.promise.part, one.cost)
        return {place: spending.total for place, spending in new.items()}

    @property
    def out(self) -> tuple[Path, ...]:
        """All files written, or found to hold already what would be; last the page, if any."""
        return (*(path for publication in self for path in publication.out), *self.pages)

    def _summary(self) -> str:
        new = sum(not publication.repeated for publication in self)
        charged = "; ".join(f"charged {cost.as_charged()}" for cost in self.charged.values())
        return f"{self.file.name}: {len(self)} questions, {new} new; {charged}"

    def _repr_html_(self) -> str:
        """Show in a notebook each question with what it was charged."""
        rows = [
            (question.number, question.title, question.publication.cost.as_charged()) for question in self.questions
        ]
        return html_table(self._summary(), ["", "question", "charged"], rows)

    def describe_budgets(self, when: str = "now") -> list[str]:
        """Return the text that states for each ledger the new charge, the spent and the remaining budget.

        Parameters
        ----------
        when : str
            The word for this run; a page may be looked at later.
        """
        lines = []
        for place, charged in self.charged.items():
            book = Ledger(place)
            spent, limit = book.spent, book.limit
            lines.append(f"{book.store.name}: charged {charged.as_charged()} {when}; spent {spent}{_of(limit, spent)}")
        return lines

    def to_document(self) -> dict[str, Any]:
        """Return the run as `irisdp run --json` prints it."""
        return {
            "plan": str(self.file),
            "repeated": self.repeated,
            "questions": [question.to_document() for question in self.questions],
            "ledgers": [_stands(place, cost) for place, cost in self.charged.items()],
            "out": [str(path) for path in self.out],
        }


def _stands(place: Path | str, charged: Charge) -> dict[str, Any]:
    """Return what a ledger was charged, and where it stands now."""
    told = Ledger(place).to_document()
    return {"file": str(place), "charged": charged.to_document(), **{key: told[key] for key in _STANDS}}


_STANDS = ("limit", "spent", "left")
