"""A batch, planned: each question, the noise they share, and what they cost together, from public facts alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, log10
from typing import Any

from .._exact import checked, decimal_above, rational_text, told_above
from .._frames import html_table
from .._ledger import ChargeRequest, LedgerEntry, LedgerScope
from .._measurements import GeometricNoise, UniversalNoiseMeasurement
from ..accounting import EPSILON_DELTA, Charge, Cost, Currency
from ..errors import BadInput
from .audiences import Audience
from .batch_noise import Composition, compose_questions
from .canonical_question import canonical, say_columns
from .options import PlanOptions, options_of
from .plan_file import PlanFile, PlanQuestion, read_batch
from .planning import plan
from .plans import Plan
from .project import Project, find_project

_MOST_NAMED = 3
_PLACES, _SHOWN_PLACES = 30, 6


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BatchPlan:
    """Questions that are answered together, and what they cost as one; says nothing of the records.

    Attributes
    ----------
    asked : PlanFile
        What was asked, with the budget and the weights, but without the data.
    composition : Composition
        The noise and the scale that fit, what all answers tell together, and the charge.
    """

    asked: PlanFile = field(repr=False)
    composition: Composition

    def __repr__(self) -> str:
        """Say what is asked and what it costs."""
        return f"<BatchPlan: {self.line}; {self.cost}>"

    def _repr_html_(self) -> str:
        """Show in a notebook each question with its error, and what they cost together."""
        rows = [
            (number, plan.line, "; ".join(plan.describe_error())) for number, plan in enumerate(self.plans, start=1)
        ]
        return html_table("; ".join(words for _, words in self.describe_cost()), ["", "question", "error"], rows)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The questions, each with the mechanism that answers it in this batch."""
        return self.composition.plans

    @property
    def cost(self) -> Cost:
        """What the whole batch is charged."""
        return self.composition.cost

    @property
    def budget(self) -> Cost:
        """The most that all answers together may cost."""
        assert self.asked.budget is not None
        return self.asked.budget

    def cost_in(self, currency: Currency) -> Charge:
        """Return what the whole batch is charged in a currency: its budget, or its questions' μ² or ρ added up."""
        if currency.cost is Cost:
            return self.cost
        return sum((planned.cost_in(currency) for planned in self.plans), currency.cost())

    @property
    def line(self) -> str:
        """The batch in one line, for people."""
        first = "; ".join(planned.line for planned in self.plans[:_MOST_NAMED])
        more = len(self.plans) - _MOST_NAMED
        return f"batch of {len(self.plans)}: {first}" + (f"; and {more} more" if more > 0 else "")

    @property
    def order(self) -> tuple[int, ...]:
        """Places of the questions in the order in which the ledger keeps them: that they were asked in is no matter."""
        texts = [planned.question() for planned in self.plans]
        return tuple(sorted(range(len(texts)), key=texts.__getitem__))

    def question(self) -> str:
        """Return all questions as canonical JSON text: what must be equal for the answers to be given again."""
        return self._question(self.plans)

    def questions_alike(self) -> tuple[str, ...]:
        """Return all questions as other releases of the engine note them that read the same."""
        first, *others = (planned.asked.readers for planned in self.plans)
        alike = [reader for reader in first if all(reader in readers for readers in others)]
        return tuple(self._question([planned.read_by(reader) for planned in self.plans]) for reader in alike)

    def _question(self, plans: Sequence[Plan]) -> str:
        asked = {"batch": [json.loads(plans[place].question()) for place in self.order]}
        # Such batches were once answered about the groups of the first question alone: those answers stay unused.
        return canonical(asked | ({"derived": "by each question"} if self._gives_two_meanings() else {}))

    def _gives_two_meanings(self) -> bool:
        """Tell whether a name stands for one expression in one question, and for another in another."""
        meanings: dict[str, str] = {}
        derived = [pair for planned in self.plans for pair in planned.asked.facts.get("derived", {}).items()]
        return any(meanings.setdefault(name.casefold(), meaning) != meaning for name, meaning in derived)

    def promise(self) -> LedgerScope:
        """Return what the batch takes for granted: public is what any of its questions takes as public."""
        promises = [planned.asked.promise.named(self.asked.datasets[0].options.get("table")) for planned in self.plans]
        first = promises[0]
        return replace(first, public_columns=sorted({name for promise in promises for name in promise.public_columns}))

    def request(self) -> ChargeRequest:
        """Return what a ledger is asked to charge for the whole batch, with nothing drawn."""
        return ChargeRequest(
            query=self.line,
            text=self.question(),
            aliases=self.questions_alike(),
            promise=self.promise(),
            cost=lambda _, currency: self.cost_in(currency),
            draw=lambda _, cost: [LedgerEntry(cost=cost, answers=b"")],
        )

    def describe_reading(self) -> list[str]:
        """Say what the columns of all questions are read as, and how values are, each line once."""
        lines = [line for planned in self.plans for line in planned.asked.describe_reading()]
        lines += [line for planned in self.plans for line in planned.query.describe_values()]
        return [*say_columns(planned.asked for planned in self.plans), *dict.fromkeys(lines)]

    def describe_cost(self) -> list[tuple[str, str]]:
        """Say in lines for people, each with its heading, what the batch costs and how the questions share it."""
        composition = self.composition
        as_one = replace(self.plans[0], cost=self.cost)
        number = len(self.plans)
        lines = [("cost", as_one.describe_cost() + (f", for all {number} questions together" if number > 1 else ""))]
        if composition.sums is not None:
            sums = composition.sums
            lines.append(("by sums", str(sums)))
        how = (
            "by the exact total"
            if composition.exact
            else "by sums: the exact total is hardly smaller, and would cost δ"
        )
        if self.budget.delta:
            lines.append(("exactly", f"{_shown_total(composition)} at {told_above('δ', self.budget.delta)}"))
        else:
            how = "by sums; a budget with a delta such as 1e-6 may leave less noise"
        shares = " and ".join(dict.fromkeys(kind.describe(composition.scale) for kind in composition.kinds))
        lines.append(("shares", f"{shares}, {how}; twice the weight is half the noise"))
        return lines

    def to_document(self) -> dict[str, Any]:
        """Return the batch as `irisdp batch --dry-run --json` prints it."""
        composition = self.composition
        lower, upper = _outward(composition, _PLACES)
        return {
            "cost": self.cost.to_document(),
            "budget": self.budget.to_document(),
            "composition": "exact" if composition.exact else "sums",
            "scale": rational_text(composition.scale),
            "noise": " and ".join(composition.noise),
            "total": {
                "delta": rational_text(self.budget.delta),
                "lower": rational_text(lower),
                "upper": rational_text(upper),
                "sums": composition.sums and composition.sums.to_document(),
            },
            "questions": [
                {"question": planned.line, "weight": rational_text(asked.weight), **planned.to_document()}
                for planned, asked in zip(self.plans, self.asked.questions, strict=True)
            ],
        }


@checked
def plan_batch(plan: Any, *, data: Any = None) -> BatchPlan:
    """Work out the noise and the cost of several questions that are charged as one; reads no record, spends nothing.

    Parameters
    ----------
    plan, data
        As for `irisdp.batch`.

    Returns
    -------
    BatchPlan
        Public facts alone.

    Raises
    ------
    BadInput
        For anything that does not make sense, before a record is read.

    Examples
    --------
    >>> import pyarrow
    >>> questions = [{"query": "count", "expression": f"age > {age}"} for age in range(50)]
    >>> asked = {"budget": {"epsilon": 1, "delta": "1e-6"}, "questions": questions}
    >>> planned = plan_batch(asked, data=pyarrow.table({"age": [70, 30, 81]}))
    >>> planned.plans[0].describe_error()
    ['off by 23.9 on average, by at most 59 in 95 % of cases']
    """
    return plan_asked(read_batch(plan, data=data))


def plan_asked(asked: PlanFile) -> BatchPlan:
    """Plan what was asked."""
    (dataset,), budget = asked.datasets, asked.budget
    assert budget is not None
    project = find_project(dataset.data, dataset.options.get("project"))  # read once, for all questions
    # At ε = 1, whatever the shares will be: what does not make sense is refused before they are searched.
    plans = []
    for question in asked.questions:
        with question.blamed():
            plans.append(_planned(question, project))
    # One source for all, so that they count the same records, each by the groups that it names itself.
    plans = [replace(planned, table=planned.table.read_with(plans[0].table)) for planned in plans]
    first_asked: dict[str, int] = {}
    for number, planned in enumerate(plans, start=1):
        other = first_asked.setdefault(canonical(planned.subject()), number)
        if other != number:
            raise BadInput(
                f"question {number}",
                f"asks what question {other} asks",
                f"leave it out, and give question {other} the weight of both",
            )
    weights = [question.weight for question in asked.questions]
    # A plan is public and may be copied: the data stays outside, and each question's table lets no record out.
    bare = replace(dataset, data=None)
    asked = replace(
        asked, datasets=(bare,), questions=tuple(replace(question, dataset=bare) for question in asked.questions)
    )
    return BatchPlan(asked=asked, composition=compose_questions(plans, weights, budget))


def _planned(question: PlanQuestion, project: Project | None) -> Plan:
    options = options_of(PlanOptions, {**question.options, "epsilon": 1})
    if project is not None:
        options["project"] = project
    if options.get("select_groups"):
        options["selection_epsilon"] = 1  # apart from the answers: what both keep follows from the share
    planned = plan(question.dataset.data, *question.words, **options)
    (audience,) = planned.audiences
    if isinstance(audience.mechanism, UniversalNoiseMeasurement):
        # A δ for each of many counts costs more than it saves, and the exact total knows noise without one as it is.
        without = Audience(None, GeometricNoise(audience.mechanism.privacy.pure))
        planned = replace(planned, audiences=(without,))
        planned = replace(planned, cost=planned.cost_in(EPSILON_DELTA))
    return planned if planned.apart is None else replace(planned, apart="weights share out a privacy for each")


def _shown_total(found: Composition) -> str:
    """Show the exact total: one number, rounded up, unless its bounds differ visibly."""
    size = max(0, floor(-log10(found.upper))) if found.upper else 0
    lower, upper = _outward(found, size + _SHOWN_PLACES)
    if upper - lower <= Fraction(2, 10 ** (size + _SHOWN_PLACES)):
        return f"ε ≤ {rational_text(upper)}"
    return f"ε from {rational_text(lower)} to {rational_text(upper)}"


def _outward(found: Composition, places: int) -> tuple[Fraction, Fraction]:
    """Return the enclosure of the exact total in decimals, each end rounded away from the other."""
    return -decimal_above(-found.lower, places), decimal_above(found.upper, places)
