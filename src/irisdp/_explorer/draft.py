"""The plan that the pages edit: questions, how they share a budget, and the plan file that says the same.

A draft never changes: an edit makes another, so that edits can be undone. It is made from a plan file, and written as
one; what the pages have no field for is kept.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from .._exact import rational, rational_text, toml_key, toml_value
from ..errors import BadInput

WRITTEN_BY = "# Written by irisdp explore. Publish it with: irisdp run"
SHARE = "share"
"""The accuracy of a question that takes a share of the budget."""
SHARES = "# Shares of a budget of ε ="
_TAKER = re.compile(r"(\d+): ([\d./eE-]+) = ([\d./eE-]+)")
_MOST_QUESTIONS = 1000
_DIGITS = 6
_EXACT = "\0decimal"
"""What no key of a plan is."""
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftQuestion:
    """One question of a draft.

    Attributes
    ----------
    key : int
        Its name in addresses and fields, for as long as the draft lives.
    values : mapping
        The fields of `question_form.FIELDS`, as text.
    share : str
        How many parts of the budget it takes, as it was written.
    out : str
        The file of its answers, seen from the folder of the plan, unless the fields name another.
    """

    key: int
    values: Mapping[str, str] = field(repr=False)
    share: str = "1"
    out: str

    @property
    def shares(self) -> bool:
        """Whether it takes a share of the budget: a mechanism file brings its own privacy."""
        return self.values["accuracy"] == SHARE and self.values["query"] != "apply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A plan as the pages edit it.

    Attributes
    ----------
    budget : str
        What new questions cost together, in ε, as it was written.
    questions : tuple of DraftQuestion
    next_key : int
        The key of the next question.
    dataset : mapping
        What the plan file says of the table.
    name : str
        What the plan file calls the table.
    head : mapping
        What the plan file says at its top besides tables and questions.
    """

    budget: str = "1"
    questions: tuple[DraftQuestion, ...] = ()
    next_key: int = 1
    dataset: Mapping[str, Any]
    name: str
    head: Mapping[str, Any]

    def question(self, key: int) -> DraftQuestion | None:
        """Return a question by its key."""
        return next((one for one in self.questions if one.key == key), None)

    def with_question(self, values: Mapping[str, str], key: int | None = None, *, after: int | None = None) -> Draft:
        """Return the draft with a question added, or changed where a key is given.

        Raises
        ------
        BadInput
            Where there are too many.
        """
        if key is not None:
            out = _out(self, values, key)
            changed = (replace(one, values=dict(values), out=out) if one.key == key else one for one in self.questions)
            return replace(self, questions=tuple(changed))
        if len(self.questions) >= _MOST_QUESTIONS:
            raise BadInput("query", f"{_MOST_QUESTIONS:,} questions are the most here", "write a plan file for more")
        new = DraftQuestion(key=self.next_key, values=dict(values), out=_out(self, values, self.next_key))
        place = next((n for n, one in enumerate(self.questions, 1) if one.key == after), len(self.questions))
        questions = (*self.questions[:place], new, *self.questions[place:])
        return replace(self, questions=questions, next_key=self.next_key + 1)

    def with_copy(self, key: int) -> Draft:
        """Return the draft with a question once more after itself, its answers in a file of their own."""
        one = self.question(key)
        return self if one is None else self.with_question({**one.values, "out": "", "report": ""}, after=key)

    def without(self, key: int) -> Draft:
        """Return the draft without a question."""
        return replace(self, questions=tuple(one for one in self.questions if one.key != key))

    def moved_up(self, key: int) -> Draft:
        """Return the draft with a question before the one that it follows."""
        listed = list(self.questions)
        place = next((n for n, one in enumerate(listed) if one.key == key), 0)
        if place:
            listed[place - 1], listed[place] = listed[place], listed[place - 1]
        return replace(self, questions=tuple(listed))

    def with_shares(self, budget: str, shares: Mapping[int, str]) -> Draft:
        """Return the draft with another budget and other shares."""
        told = (replace(one, share=shares.get(one.key, one.share)) for one in self.questions)
        return replace(self, budget=budget, questions=tuple(told))

    def to_json(self) -> str:
        """Write the draft for another process."""
        return json.dumps(
            {
                "budget": self.budget,
                "questions": [[one.key, dict(one.values), one.share, one.out] for one in self.questions],
                "next_key": self.next_key,
                "dataset": _plain(self.dataset),
                "name": self.name,
                "head": _plain(self.head),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Draft:
        """Read what `to_json` wrote."""
        document = json.loads(text)
        questions = tuple(
            DraftQuestion(key=key, values=values, share=share, out=out)
            for key, values, share, out in document.pop("questions")
        )
        return cls(**_numbers(document), questions=questions)


def with_own_epsilon(draft: Draft, epsilons: Mapping[int, str]) -> Draft:
    """Return the draft with published questions at the ε that they have: another would make them new questions."""
    return replace(
        draft,
        questions=tuple(
            replace(one, values={**one.values, "accuracy": "epsilon", "epsilon": epsilons[one.key]})
            if one.key in epsilons and one.shares
            else one
            for one in draft.questions
        ),
    )


# Share the budget out.


def shared_out(draft: Draft, fixed: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return what each question that takes a share may cost; the shares divide what the others leave of the budget.

    Parameters
    ----------
    fixed : mapping
        What the other questions cost, by their keys.

    Raises
    ------
    BadInput
        For a budget or a share that is no positive number, and where the others leave nothing.
    """
    budget = _positive(draft.budget, "budget", "write for example 1")
    takers = [one for one in draft.questions if one.shares]
    weights = {one.key: _positive(one.share, f"share-{one.key}", "write for example 1") for one in takers}
    left = budget - sum(fixed.values(), Fraction(0))
    if takers and left <= 0:
        rule = f"is used up by the questions with a privacy or an error of their own, which cost {_told(fixed)}"
        raise BadInput("budget", rule, "raise it, or ask those less accurately")
    total = sum(weights.values(), Fraction(0))
    return {key: left * weight / total for key, weight in weights.items()}


def short_epsilon(epsilon: Fraction) -> Fraction:
    """Return an ε of at most six digits, rounded down: costs of fractions that have no end are rounded up elsewhere.

    Examples
    --------
    >>> print(float(short_epsilon(Fraction(3, 8))), float(short_epsilon(Fraction(1, 3))))
    0.375 0.333333
    """
    places = _DIGITS - len(str(floor(epsilon))) if epsilon >= 1 else _DIGITS
    while 0 < epsilon * 10**places < 10 ** (_DIGITS - 1):
        places += 1
    return Fraction(floor(epsilon * 10 ** max(places, 0)), 10 ** max(places, 0))


def _told(fixed: Mapping[int, Fraction]) -> str:
    return f"ε = {rational_text(sum(fixed.values(), Fraction(0)))}"


def _positive(text: str, name: str, remedy: str) -> Fraction:
    number = rational(text.strip(), name)
    if number <= 0:
        raise BadInput(name, "must be above 0", remedy)
    if max(number.numerator, number.denominator).bit_length() > 128:
        raise BadInput(name, "has too many digits", remedy)
    return number


# Plan files.


def plan_document(draft: Draft, said: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the plan file says, of the questions whose words are given by their keys."""
    questions = [
        {**said[one.key], "out": said[one.key].get("out") or one.out} for one in draft.questions if one.key in said
    ]
    return {**draft.head, "datasets": {draft.name: dict(draft.dataset)}, "questions": questions}


def plan_text(document: Mapping[str, Any], file: str) -> str:
    """Write a plan file."""
    head = {key: value for key, value in document.items() if key not in ("datasets", "questions")}
    parts = [_pairs(head)]
    parts += [f"[datasets.{toml_key(name)}]\n{_pairs(said)}" for name, said in document["datasets"].items()]
    parts += [f"[[questions]]\n{_pairs(said)}" for said in document["questions"]]
    return "\n".join([f"{WRITTEN_BY} {file}", *parts])


def _pairs(said: Mapping[str, Any]) -> str:
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in said.items())


def with_shares_told(text: str, draft: Draft, epsilons: Mapping[int, str]) -> str:
    """Say in a comment of a plan file how its questions share a budget, for when the explorer opens it again.

    A share counts as long as the question has the ε that it had when the comment was written. Questions that are being
    published keep their ε, and so the file that is published has no such comment.
    """
    takers = [
        f"{number}: {one.share.strip()} = {epsilons[one.key]}"
        for number, one in enumerate(draft.questions, start=1)
        if one.key in epsilons
    ]
    if not takers:
        return text
    first, end, rest = text.partition("\n")
    return f"{first}{end}{SHARES} {draft.budget.strip()}; {'; '.join(takers)}{end}{rest}"


def _with_shares_of(draft: Draft, text: str) -> Draft:
    """Return a draft that was read from a plan file, with the budget and the shares that its comment tells."""
    line = next((line for line in text.splitlines() if line.startswith(SHARES)), None)
    if line is None:
        return draft
    budget, *takers = line.removeprefix(SHARES).split(";")
    told = {int(match[1]): (match[2], match[3]) for taker in takers if (match := _TAKER.fullmatch(taker.strip()))}
    questions = []
    for number, one in enumerate(draft.questions, start=1):
        share, epsilon = told.get(number, ("", ""))
        is_same = share and one.values["accuracy"] == "epsilon" and one.values["epsilon"] == epsilon
        values = {**one.values, "accuracy": SHARE, "epsilon": ""}
        questions.append(replace(one, share=share, values=values) if is_same else one)
    return replace(draft, budget=budget.strip() or draft.budget, questions=tuple(questions))


def read_draft(document: Mapping[str, Any], values_of: Any, *, default: Draft, text: str = "") -> Draft:
    """Return the draft of a plan file about one table.

    Parameters
    ----------
    document : mapping
        What the file says.
    values_of : callable
        From the keys of a question to its fields.
    default : Draft
        An empty draft about the table that is served.
    text : str
        The file, with its comments.

    Raises
    ------
    BadInput
        For a plan about several tables.
    """
    datasets = document.get("datasets") or {default.name: default.dataset}
    if len(datasets) != 1:
        raise BadInput("plan", "is about several tables", "publish it with irisdp run, or name another plan file")
    ((name, dataset),) = datasets.items()
    head = {key: value for key, value in document.items() if key not in ("datasets", "questions")}
    draft = replace(default, head=head or default.head, name=name, dataset=dataset)
    for said in document.get("questions", ()):
        told = {key: value for key, value in said.items() if key != "dataset"}
        draft = draft.with_question(values_of(told))
    return _with_shares_of(draft, text)


def _out(draft: Draft, values: Mapping[str, str], key: int) -> str:
    """Name the file of a question's answers by what it asks, and by its key."""
    words = values.get("name") or " ".join(filter(None, (values["query"], values.get("column"))))
    plain = unicodedata.normalize("NFKD", words.casefold()).encode("ascii", "ignore").decode()
    slug = _SLUG.sub("-", plain).strip("-")[:40].strip("-")
    return f"{answers_folder(draft.name)}/{key:02}{f'-{slug}' if slug else ''}.csv"


def answers_folder(name: str) -> str:
    """Name the folder of the answers about a table, beside its plan."""
    return f"{name}-answers"


def new_draft(data: str, name: str, dataset: Mapping[str, Any]) -> Draft:
    """Return an empty draft about a table."""
    head = {"report": f"{answers_folder(name)}/report.html"}
    return Draft(dataset={"data": data, **dataset}, name=name, head=head)


# Numbers with a point are exact, also on their way through JSON.


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {_EXACT: str(value)}
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {_EXACT}:
            return Decimal(value[_EXACT])
        return {key: _numbers(part) for key, part in value.items()}
    return [_numbers(part) for part in value] if isinstance(value, list) else value


# Undo.


class DraftHistory:
    """Drafts, one after the other, of which one is current.

    Parameters
    ----------
    first : Draft
    """

    def __init__(self, first: Draft) -> None:
        self._drafts: list[tuple[Draft, str]] = [(first, "")]
        self._place = 0
        self._next = first.next_key
        self._merged: str | None = None

    @property
    def current(self) -> Draft:
        """The draft as it stands; the key of a question that was undone is not given to another."""
        return replace(self._drafts[self._place][0], next_key=self._next)

    def edit(self, draft: Draft, what: str, *, merge: str | None = None) -> None:
        """Make a draft current; edits in a row with the same `merge` are undone together."""
        if draft == self.current:
            return
        self._next = max(self._next, draft.next_key)
        if merge is not None and merge == self._merged and self._place == len(self._drafts) - 1:
            self._drafts[self._place] = (draft, what)
            return
        self._drafts = [*self._drafts[: self._place + 1], (draft, what)][-_MOST_KEPT:]
        self._place = len(self._drafts) - 1
        self._merged = merge

    def undo(self) -> None:
        """Go back by one edit."""
        self._place, self._merged = max(self._place - 1, 0), None

    def redo(self) -> None:
        """Take the last `undo` back."""
        self._place, self._merged = min(self._place + 1, len(self._drafts) - 1), None

    @property
    def undoes(self) -> str:
        """What `undo` would take back; empty where there is nothing."""
        return self._drafts[self._place][1] if self._place else ""

    @property
    def redoes(self) -> str:
        """What `redo` would bring back; empty where there is nothing."""
        return self._drafts[self._place + 1][1] if self._place + 1 < len(self._drafts) else ""


_MOST_KEPT = 200
"""Drafts."""


def plan_path(data: Path) -> Path:
    """Return where the plan of a table is kept: beside it."""
    return data.with_name(f"{data.stem}.plan.toml")
