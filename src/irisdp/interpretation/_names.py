"""Published names, read: how likely each is true, by the rule for the mechanism that drew it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .._exact import Enclosure, percent_below, so_many
from .._frames import InOneLine, Tabular, printable, text_table
from .._hooks import Drawable
from .._measurements import ReadAs
from .._release import Answers, ReleaseFile
from ..errors import BadInput
from ._knowledge import ReaderKnowledge
from ._name_rules import BASES, ChoiceRule, NameProbability, band, yes_or_no
from ._released import frame_of_answers, released_table
from ._winner_rule import winner

if TYPE_CHECKING:
    import pyarrow


# What every reading of one published answer says: of which group, and what was published.


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadOne(InOneLine):
    """One published answer.

    Parameters
    ----------
    key : tuple
        Its group; empty where there are no groups.
    published : hashable
        What was published.
    """

    key: tuple[Any, ...]
    published: Hashable

    def _published(self) -> str:
        group = f"{', '.join(map(str, self.key))}: " if self.key else ""
        return f"{group}{self.published} published"


RULES: Mapping[ReadAs, Callable[[ReleaseFile, ReaderKnowledge], ChoiceRule]] = {
    ReadAs.YES_OR_NO: yes_or_no,
    ReadAs.WINNER: winner,
    ReadAs.BAND: band,
}
"""What interprets names."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterpretedName(ReadOne):
    """One published name, read.

    Parameters
    ----------
    judgement : NameProbability
        How likely it is true, and what that rests on.
    """

    judgement: NameProbability

    @property
    def reading(self) -> Hashable:
        """The name that is most likely true."""
        return self.judgement.reading

    @property
    def probability(self) -> Enclosure:
        """The probability that what was published is true."""
        return self.judgement.probability

    def _summary(self) -> str:
        return f"{self._published()}, true with probability {_said(self.judgement)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChoiceInterpretation(Tabular, Drawable):
    """One or many published names, read by one consumer.

    Parameters
    ----------
    by : tuple of str
        The group columns.
    answers : tuple of InterpretedName
    """

    by: tuple[str, ...]
    answers: tuple[InterpretedName, ...]

    def to_arrow(self) -> pyarrow.Table:
        """Return the group columns, `published`, `reading` and the ends of how likely it is true, as an Arrow table."""
        import pyarrow

        own = ("published", "reading", "answer_probability", "answer_probability_upper")
        names = [*self.by, *(name if name not in self.by else f"{name} answer" for name in own)]
        rows = [
            (
                *(*answer.key, str(answer.published), str(answer.reading)),
                *(float_below(answer.probability.lower), -float_below(-answer.probability.upper)),
            )
            for answer in self.answers
        ]
        return pyarrow.table(list(map(list, zip(*rows, strict=True))) or [[]] * len(names), names=names)

    def describe(self) -> str:
        """Return one sentence for readers: what was published, and with which probability it is right at least."""
        if self.by or len(self.answers) != 1:
            return (
                f"Published {so_many(len(self.answers), 'answer')}; each is right with the probability shown, or more"
            )
        (answer,) = self.answers
        sure = percent_below(answer.judgement.probability.lower)
        return f"Published {answer.published}; it is right with probability {sure} % or more"

    def __str__(self) -> str:
        """Show the sentence for readers; of several answers, a table below it."""
        lead = printable(self.describe())
        if not self.by and len(self.answers) == 1:
            return lead
        table = self.to_arrow()
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return f"{lead}\n{text_table(table.column_names, rows)}"

    def _summary(self) -> str:
        if not self.answers:
            return "0 published names read"
        least = min((answer.judgement for answer in self.answers), key=lambda judgement: judgement.probability.lower)
        return f"{len(self.answers)} published names read; each true with probability {_said(least, ' or more')}"

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per answer: its group, what was published, and how likely it is true.

        Probabilities are rounded down, `answer_probability_upper` up; those of the posterior to the nearest.
        """
        return [
            {
                **({"group": dict(zip(self.by, answer.key, strict=True))} if self.by else {}),
                "published": answer.published,
                "reading": answer.reading,
                "answer_probability": float_below(answer.probability.lower),
                "answer_probability_upper": -float_below(-answer.probability.upper),
                "basis": answer.judgement.basis,
                "right_at_worst": float_below(answer.judgement.right_at_worst),
                "posterior": _posterior(answer.judgement),
                **({} if answer.judgement.note is None else {"note": answer.judgement.note}),
            }
            for answer in self.answers
        ]


def read_choices(published: ReleaseFile, release: Any, value: Any, known: ReaderKnowledge) -> ChoiceInterpretation:
    """Read a published name, a frame of them, or all that were published.

    Raises
    ------
    BadInput
        For a mechanism without a rule, and for what cannot have been published.
    """
    if published.read_as is ReadAs.VALUES:
        said = "publishes sums or means, to which interpret adds nothing"
        raise BadInput("release", said, "use the interval next to each, answer_low and answer_high")
    if published.read_as is None or published.read_as not in RULES:
        raise BadInput(
            "release",
            "publishes neither counts, nor a yes or no, a winner or a band",
            "such answers are read as they are",
        )
    known.only_names()
    rule = RULES[published.read_as](published, known)
    by: tuple[str, ...] = ()
    keys: Sequence[tuple[Any, ...]] = [()]
    values: list[Any] = [value]
    if value is None or isinstance(value, Answers):
        table = released_table(release, lambda answer: rule.released(answer, "answer"), value)
        by, keys, values = table.by, table.keys, table.values
    elif (frame := frame_of_answers(value, lambda answer: rule.released(answer, "answer"))) is not None:
        by, keys, values = frame.by, frame.keys, frame.values
    judged: dict[Hashable, NameProbability] = {}
    answers = []
    for key, one in zip(keys, values, strict=True):
        name = rule.released(one)
        if name not in judged:
            judged[name] = rule.judge(name)
        answers.append(InterpretedName(key=key, published=name, judgement=judged[name]))
    return ChoiceInterpretation(by=by, answers=tuple(answers))


def float_below(value: Fraction) -> float:
    """Return the largest float that is at most a number."""
    near = float(value)
    return math.nextafter(near, -math.inf) if Fraction(near) > value else near


def _posterior(judged: NameProbability) -> list[list[Any]] | None:
    if judged.posterior is None:
        return None
    return [[name, float(chance)] for name, chance in judged.posterior.items()]


def _said(judged: NameProbability, more: str = "") -> str:
    note = "" if judged.note is None else f" ({judged.note})"
    return f"{math.floor(float_below(judged.probability.lower) * 1000) / 1000}{more}, {BASES[judged.basis]}{note}"
