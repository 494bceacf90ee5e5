"""What a draft would cost, in a process of its own: each question's ε, error and risk, and what its ledger would say.

A plan follows from public facts and from the ledger: no record is read.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._child_processes import Phase
from .._exact import rational_text
from ..errors import BadInput
from .draft import Draft, plan_document, plan_text, shared_out, short_epsilon
from .question_form import question_of
from .results import Values

if TYPE_CHECKING:
    from .._release import Case, Expected, LedgerOutlook, RunOutlook
    from ..accounting import Charge

_DIVIDE = "start the explorer with --partition each, for all partitions, with one value, or with --partition whole"
_FILES = ("out", "report")
_UNDIVIDED = "cannot be divided, as the cost of a question does not grow evenly with its ε"
_PASSES = 5
"""Plans until the costs that the budget is divided by are those that were found."""


_FORM_WORDS = (
    (
        r"add at_most ?= ?M to count up to M records.*",
        "choose “keep some of each person's records” or “make one row of each person's records”; under Table, Whole "
        "table, the first can be set for all questions",
    ),
    (r"\bgive groups ?= ?\"v1,v2,…\" or a CSV file, or ", "list the groups, or "),
    (
        r"(select_groups|“An answer for each group”) ?= ?true with a δ( \(one of the two\))?",
        "choose “yes, and discover the groups privately” with a δ",
    ),
    (r"\bgive categories ?= ?\"v1,v2,…\", a list, or a CSV file", "list them, such as A, B, C, or name a CSV file"),
    (r"\bbins ?= ?\"([^\"]*)\"", r"\1"),
    (
        r"\badd records ?= ?N, an assumption.*",
        "fill in the least number of records with a value, which is an assumption for planning, or choose an ε instead",
    ),
    (
        r"\.? ?(Nothing was spent\. Ask|; ask) with less.*",
        ". Lower the budget, or ask less accurately. If what you promised the people in the data allows it, raise the "
        "limit on the page Ledger",
    ),
)
"""What plans and the command line say in their own words, and how pages say it."""


def in_form_words(text: str) -> str:
    """Put a message of a plan into the words of the pages.

    Examples
    --------
    >>> print(in_form_words('give the edges between bins, such as bins = "0,18,65"'))
    give the edges between bins, such as 0,18,65
    """
    for pattern, words in _FORM_WORDS:
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What is wrong with one field of a question."""

    field: str
    rule: str
    remedy: str

    @classmethod
    def of(cls, error: BadInput, field: str) -> Wrong:
        """Return an error in the words of the pages."""
        return cls(field=field, rule=in_form_words(error.rule), remedy=in_form_words(error.remedy))

    def __str__(self) -> str:
        return f"{self.field}: {self.rule}; {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOutlook:
    """What one question would cost, and how good its answer would be; public, all of it.

    Attributes
    ----------
    key, number : int
    name, line : str
        What the plan calls it, and the question as the command line has it; empty where it makes no sense yet.
    exact, cost, charge : str
        The ε that the plan gives a question with a share; what it costs, and what the ledger would be charged now.
    is_free : bool
    error : tuple of str
    risk : str
        How sure an adversary may get at most, in per cent.
    out : str
        The file of its answers.
    lines : tuple of (heading, text)
        All that a dry run says of it; of the question that is looked at alone.
    levels : tuple of (name, *cells)
        A table of errors at other ε, likewise.
    wrong : Wrong or None
    """

    key: int
    number: int
    name: str = ""
    line: str = ""
    exact: str = ""
    cost: str = ""
    charge: str = ""
    is_free: bool = False
    error: tuple[str, ...] = ()
    risk: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, ...], ...] = ()
    out: str = ""
    wrong: Wrong | None = None

    @property
    def title(self) -> str:
        """Its name and what it asks."""
        return f"{self.name}: {self.line}" if self.name else self.line


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutlook:
    """What a draft would cost.

    Attributes
    ----------
    text : str
        The plan file; empty where no question makes sense.
    questions : tuple of QuestionOutlook
    total, risk : str
        What all questions cost together; what all that the ledger will have charged may tell about one person.
    ledger, before, after : str
        The ledger, what it has spent, and what it would have spent.
    left_before, left_after, limit : str
        Likewise; empty without a limit.
    charge : str
        What would be charged, in words.
    most : str
        The same as a document in JSON: more than this is never charged by the press that follows.
    agreement : str
        A digest of the questions, of whom they protect, and of the ledger.
    refused : str
        Why it would be refused; empty where it would not.
    warnings : tuple of str
    wrong : Wrong or None
        What is wrong with the budget or a share.
    known : str
        What was found about costs, for the next draft, in JSON.
    """

    text: str = ""
    questions: tuple[QuestionOutlook, ...] = ()
    total: str = ""
    risk: str = ""
    ledger: str = ""
    before: str = ""
    after: str = ""
    limit: str = ""
    left_before: str = ""
    left_after: str = ""
    charge: str = ""
    most: str = ""
    agreement: str = ""
    refused: str = ""
    warnings: tuple[str, ...] = ()
    wrong: Wrong | None = None
    known: str = "{}"


def plan_outlook(values: Values, say: Phase) -> PlanOutlook:
    """Return what a draft would cost.

    Parameters
    ----------
    values : mapping
        ``draft`` as JSON, the ``path`` of its plan file, what is ``known`` of costs, and the key of the question that
        is ``looked_at``.
    """
    say("planning")
    draft, path = Draft.from_json(values["draft"]), Path(values["path"])
    known = _Known.read(values["known"], draft)
    said, wrong = _said(draft)
    outlook: RunOutlook | None = None
    text, given = "", dict[int, str]()
    points: dict[int, _Point] = {}
    for _ in range(_PASSES):
        try:
            shares = shared_out(draft, known.fixed)
            epsilons = {key: known.epsilon(key, share) for key, share in shares.items()}
        except BadInput as error:
            return PlanOutlook(
                questions=_wrongs(draft, wrong), wrong=Wrong.of(error, error.field), known=known.to_json()
            )
        given = {key: rational_text(epsilon) for key, epsilon in epsilons.items()}
        asked = {key: {**one, **({"epsilon": given[key]} if key in given else {})} for key, one in said.items()}
        outlook, text, wrong = _dry_run(draft, path, asked, wrong)
        costs = _costs(draft, outlook, wrong)
        found = known.after(costs, epsilons, points)
        if found == known:
            break
        known, points = found, {key: (epsilons[key], cost) for key, cost in costs.items() if key in epsilons}
    else:
        told = Wrong(field="budget", rule=_UNDIVIDED, remedy="give the last question an ε of its own")
        return PlanOutlook(questions=_wrongs(draft, wrong), wrong=told)
    weighed = _told(draft, outlook, text, wrong, known)
    names = {one.key: one.values.get("name", "").strip() for one in draft.questions}
    questions = (replace(one, exact=given.get(one.key, ""), name=names[one.key]) for one in weighed.questions)
    weighed = replace(weighed, questions=tuple(questions))
    return weighed if outlook is None else _with_details(weighed, outlook, values.get("looked_at", ""))


@dataclass(frozen=True, slots=True)
class _Known:
    """What the last plan found: how the budget must be divided.

    A question that takes a share costs its ε times a factor, and beyond it what does not grow with it, such as a
    selection of groups with an ε of its own.

    Attributes
    ----------
    factors, bases : mapping
        Of each question that takes a share.
    fixed : mapping
        What each of the other questions costs in ε; nothing if it was answered before.
    """

    factors: dict[int, Fraction]
    bases: dict[int, Fraction]
    fixed: dict[int, Fraction]

    @classmethod
    def read(cls, text: str, draft: Draft) -> _Known:
        document = json.loads(text)
        factors, bases, fixed = (
            {int(key): Fraction(value) for key, value in document.get(name, {}).items()}
            for name in ("factors", "bases", "fixed")
        )
        return cls(
            {one.key: factors.get(one.key, Fraction(1)) for one in draft.questions if one.shares},
            {one.key: bases.get(one.key, Fraction(0)) for one in draft.questions if one.shares},
            {one.key: fixed.get(one.key, Fraction(0)) for one in draft.questions if not one.shares},
        )

    def epsilon(self, key: int, share: Fraction) -> Fraction:
        """Return the ε at which a question costs at most its share.

        Raises
        ------
        BadInput
            Where what does not grow with ε takes all of it.
        """
        left = share - self.bases[key]
        if self.factors[key] <= 0:
            raise BadInput("budget", _UNDIVIDED, "give that question an ε of its own")
        if left <= 0:
            cost = rational_text(self.bases[key])
            rule = f"is too small: to discover groups costs a question ε = {cost}, and its share is smaller"
            raise BadInput("budget", rule, "raise the budget or its share, or discover its groups with less")
        return short_epsilon(left / self.factors[key])

    def after(
        self, costs: Mapping[int, Fraction], epsilons: Mapping[int, Fraction], before: Mapping[int, _Point]
    ) -> _Known:
        """Return what is known after a plan that found these costs; `before` is what an earlier plan found."""
        factors, bases, fixed = dict(self.factors), dict(self.bases), dict(self.fixed)
        for key, cost in costs.items():
            if key not in epsilons:
                fixed[key] = cost
            elif cost != factors[key] * epsilons[key] + bases[key]:
                epsilon, other = before.get(key, (Fraction(0), Fraction(0)))
                factors[key] = (cost - other) / (epsilons[key] - epsilon) if epsilons[key] != epsilon else factors[key]
                bases[key] = cost - factors[key] * epsilons[key]
        return _Known(factors, bases, fixed)

    def to_json(self) -> str:
        parts = {"factors": self.factors, "bases": self.bases, "fixed": self.fixed}
        return json.dumps({name: {str(k): str(v) for k, v in part.items()} for name, part in parts.items()})


_Point = tuple[Fraction, Fraction]
"""An ε, and what a question cost at it."""


def _costs(draft: Draft, outlook: RunOutlook | None, wrong: Mapping[int, Wrong]) -> dict[int, Fraction]:
    """Return what each question costs in ε; nothing where it has an ε of its own and was answered before."""
    if outlook is None:
        return {}
    asked = [one for one in draft.questions if one.key not in wrong]
    costs = {}
    for one, parts in zip(asked, _by_question(outlook, len(asked)), strict=True):
        is_free = not one.shares and all(_case(part).repeated for part in parts)
        cost = getattr(parts[0].plan.cost, "epsilon", Fraction(0)) * _times(parts)
        costs[one.key] = Fraction(0) if is_free else cost
    return costs


def _by_question(outlook: RunOutlook, number: int) -> list[tuple[Expected, ...]]:
    """Return what is expected of each question: of a table that is divided, of each partition, one after the other."""
    each = len(outlook.questions) // number
    return [outlook.questions[start * each : (start + 1) * each] for start in range(number)]


def _times(parts: tuple[Expected, ...]) -> int:
    """Return how many partitions' costs add up: those of persons do, and of those of records the largest counts."""
    plan = parts[0].plan
    return len(parts) if plan.unit is not None and plan.table.part is not None else 1


def _said(draft: Draft) -> tuple[dict[int, dict[str, Any]], dict[int, Wrong]]:
    """Return what each question says in a plan, and what is wrong with those that say nothing."""
    said: dict[int, dict[str, Any]] = {}
    wrong: dict[int, Wrong] = {}
    for one in draft.questions:
        try:
            said[one.key] = dict(question_of(one.values))
        except BadInput as error:
            wrong[one.key] = Wrong.of(error, error.field)
    return said, wrong


def _dry_run(
    draft: Draft, path: Path, said: Mapping[int, Mapping[str, Any]], wrong: Mapping[int, Wrong]
) -> tuple[RunOutlook | None, str, dict[int, Wrong]]:
    """Return the dry run of all questions that make sense, the plan file, and what is wrong with the others."""
    found = dict(wrong)
    right = {key: one for key, one in said.items() if key not in found}
    for attempt in range(2):
        if not right:
            return None, "", found
        text = plan_text(plan_document(draft, right), path.name)
        try:
            return _ask(draft, path, right), text, found
        except BadInput as error:
            if error.field.rpartition(": ")[2] == "partition":
                raise error.said("partition", error.rule, _DIVIDE) from None
            if attempt or error.field.partition(":")[0].startswith("dataset"):
                raise
        for key, one in list(right.items()):
            with _noted(found, key):
                _ask(draft, path, {key: one})
            if key in found:
                del right[key]
    raise AssertionError("the last attempt returns or raises")


@contextlib.contextmanager
def _noted(wrong: dict[int, Wrong], key: int) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        place, _, field = error.field.rpartition(": ")
        if place.startswith("dataset"):
            raise
        wrong[key] = Wrong.of(error, field)


def _ask(draft: Draft, path: Path, said: Mapping[int, Mapping[str, Any]]) -> RunOutlook:
    from .._release import PlanText, dry_run_plan

    # The folder of the answers is made when the plan is saved: until then no file can be looked at there.
    document = plan_document(draft, said)
    parts = [document, *document["questions"]]
    if any(not (path.parent / one[key]).parent.is_dir() for one in parts for key in _FILES if key in one):
        document = {key: value for key, value in document.items() if key not in _FILES}
        document["questions"] = [
            {key: value for key, value in one.items() if key not in _FILES} for one in document["questions"]
        ]
    return dry_run_plan(PlanText(path, plan_text(document, path.name)))


# What is said of it.


def _wrongs(draft: Draft, wrong: Mapping[int, Wrong]) -> tuple[QuestionOutlook, ...]:
    return tuple(
        QuestionOutlook(key=one.key, number=number, wrong=wrong.get(one.key))
        for number, one in enumerate(draft.questions, start=1)
    )


def _told(
    draft: Draft, outlook: RunOutlook | None, text: str, wrong: Mapping[int, Wrong], known: _Known
) -> PlanOutlook:
    if outlook is None:
        return PlanOutlook(questions=_wrongs(draft, wrong), known=known.to_json())
    expected = iter(_by_question(outlook, len(draft.questions) - len(wrong)))
    outs = {one.key: one.values.get("out", "").strip() or one.out for one in draft.questions}
    questions = tuple(
        QuestionOutlook(key=one.key, number=number, wrong=wrong[one.key])
        if one.key in wrong
        else _question(one.key, number, next(expected), outs[one.key])
        for number, one in enumerate(draft.questions, start=1)
    )
    (ledger,) = outlook.ledgers
    refusal = outlook.refusal or outlook.refusal_if_changed
    charge = ledger.changed if ledger.expected is None else ledger.expected
    return PlanOutlook(
        text=text,
        questions=questions,
        total=str(_total(outlook)),
        risk=_risk(outlook, ledger.spent + charge),
        known=known.to_json(),
        refused="" if refusal is None else in_form_words(str(refusal)),
        warnings=_warnings(outlook, ledger),
        charge=charge.as_charged(),
        most=json.dumps(charge.to_document()),
        agreement=outlook.agreement,
        **_ledger(ledger, charge),
    )


def _question(key: int, number: int, parts: tuple[Expected, ...], out: str) -> QuestionOutlook:
    plan = parts[0].plan
    new = [part for part in parts if not _case(part).repeated]
    charge = "free: it was answered before, or is asked above" if not new else _briefly(_case(new[0]).cost)
    if new and len(parts) > 1:
        charge += f" for each of {len(new)} partitions"
    if any(part.expected is None and part.unchanged.repeated for part in new):
        charge = f"{charge}; free if the data is what it was at the last release"
    return QuestionOutlook(
        key=key,
        number=number,
        line=plan.line + (f" (and {len(parts) - 1} other partitions)" if len(parts) > 1 else ""),
        cost=_briefly(plan.cost),
        charge=charge,
        is_free=not new,
        error=tuple(plan.describe_error()),
        risk=plan.risk.percent,
        out=out,
    )


def _with_details(told: PlanOutlook, outlook: RunOutlook, key: str) -> PlanOutlook:
    """Say all of the question that is looked at."""
    from .._release import error_table

    expected = iter(_by_question(outlook, sum(one.wrong is None for one in told.questions)))
    questions = []
    for one in told.questions:
        plan = None if one.wrong is not None else next(expected)[0].plan
        if plan is not None and key == str(one.key):
            lines = [(heading, text) for heading, text in plan.describe() if heading not in ("", "other ε")]
            levels = tuple((name, *cells) for name, cells in error_table(plan.errors_around()))
            questions.append(replace(one, lines=tuple(lines), levels=levels))
        else:
            questions.append(one)
    return replace(told, questions=tuple(questions))


def _briefly(cost: Charge) -> str:
    """Write a charge without a δ that is 0."""
    return cost.as_charged().removesuffix(", δ = 0")


def _case(expected: Expected) -> Case:
    """Return what is expected of a question; where the files do not tell, what it would be if the data had changed."""
    return expected.expected or expected.changed


def _total(outlook: RunOutlook) -> Any:
    costs = [one.plan.cost for one in outlook.questions]
    is_divided = any(one.plan.table.part is not None for one in outlook.questions)
    if is_divided or len({type(cost) for cost in costs}) != 1:
        return outlook.ledgers[0].changed
    return sum(costs[1:], costs[0])


def _risk(outlook: RunOutlook, spent: Charge) -> str:
    """Say what all that the ledger will have charged may tell about one person."""
    from .._release import risk_of

    plan = outlook.questions[0].plan
    return risk_of(spent, plan.relation, plan.unit).describe()


def _warnings(outlook: RunOutlook, ledger: LedgerOutlook) -> tuple[str, ...]:
    from .._ledger import say_unlimited

    notes = dict.fromkeys(said for one in outlook.questions for said in one.plan.describe_unlisted())
    return (*notes, *say_unlimited(ledger.unlimited, ledger.currency))


def _ledger(ledger: LedgerOutlook, charge: Any) -> dict[str, Any]:
    from .._exact import told_below

    after = ledger.spent + charge
    told: dict[str, Any] = {
        "ledger": str(ledger.ledger),
        "before": str(ledger.spent),
        "after": str(after),
        "limit": "" if ledger.limit is None else str(ledger.limit),
    }
    if ledger.limit is not None:
        told["left_before"] = ledger.limit.left_after(ledger.spent).told(told_below)
        told["left_after"] = ledger.limit.left_after(after).told(told_below)
    return told
