"""What a published count says to one consumer: the best reading, what it costs, and what the truth may be.

Everything comes from public facts: the release file, and the consumer's knowledge and loss. A minimax consumer may have
to toss a coin, and then it is tossed here, exactly; nobody is charged for reading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .._exact import checked, integer, percent_below, rational_text, read_json, shown_above
from .._frames import Tabular, printable, text_table
from .._hooks import Drawable
from .._lazy import renamed_method
from .._measurements import USUAL_CONFIDENCE
from .._release import Answers, ReleaseFile, read_confidence
from .._sampling import draw
from ..consumers import Loss
from ..errors import BadInput
from ._estimates import Estimates, read_list
from ._intervals import Interval, interval_of
from ._joint import JointInterpretation
from ._joint_request import ShownCounts, Together, shown_counts
from ._knowledge import ReaderKnowledge
from ._names import ChoiceInterpretation, ReadOne, read_choices
from ._population import PopulationEstimates, read_population
from ._published_counts import Ends, OtherNoisyCount
from ._released import frame_of_answers, read_release
from ._remap import Posterior
from ._remap_other_noise import Rule

if TYPE_CHECKING:
    import pyarrow


_MOST_PRINTED = 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterpretedAnswer(ReadOne):
    """One published answer, read.

    Parameters
    ----------
    chances : tuple
        What the best reading makes of it: answers with their exact probabilities.
    reading : hashable
        The answer drawn from them; the only one, as a rule.
    rule : Rule
        The whole reading, with its loss.
    cell : int or None
        The published cell, which is more precise than the number shown; None if the mechanism has no cells.
    interval : Interval
        Between which counts the truth lies, with the confidence of the interpretation, and what that rests on.
    """

    chances: tuple[tuple[int, Fraction], ...]
    reading: int
    rule: Rule
    cell: int | None = None
    interval: Interval

    def _summary(self) -> str:
        drawn = f", drawn from {len(self.chances)} answers" if len(self.chances) > 1 else ""
        return f"{self._published()}, read as {self.reading}{drawn}; {self.rule._summary()}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Interpretation(Tabular, Drawable):
    """One or many published answers, read by one consumer.

    Parameters
    ----------
    loss : Loss
    bayesian : bool
        Whether the expected loss under a prior is minimised, or the worst expected loss.
    by : tuple of str
        The group columns.
    answers : tuple of InterpretedAnswer
    named : bool
        Whether these counts named the groups. Statements about losses are then about groups chosen beforehand, and a
        group that is not named costs nothing.
    shared : bool
        Whether noise was made for one record's share of what a person may reveal: then no reading is said to be as good
        as any mechanism's.
    confidence : Fraction
        How surely each truth lies between the ends of its interval.
    """

    loss: Loss
    bayesian: bool
    by: tuple[str, ...]
    answers: tuple[InterpretedAnswer, ...]
    named: bool = False
    shared: bool = False
    confidence: Fraction = USUAL_CONFIDENCE

    @property
    def loss_kind(self) -> str:
        """What the losses are."""
        return "expected_loss" if self.bayesian else "worst_loss"

    @checked
    def posterior(self, number: int = 0) -> Posterior:
        """Return the probabilities of the true count, given one of the answers."""
        answer = self.answers[integer(number, "number", at_least=0, at_most=len(self.answers) - 1)]
        return answer.rule.posterior(answer.published if answer.cell is None else answer.cell)

    def describe(self) -> str:
        """Return one sentence for readers: what was published, and between which counts the truth probably lies."""
        sure = percent_below(self.confidence)
        if self.by or len(self.answers) != 1:
            return f"Published {len(self.answers)} counts; each truth is probably between low and high ({sure} %)"
        (only,) = self.answers
        low, high = only.interval.low, only.interval.high
        between = f"{low}" if low == high else f"{low} to {high}"
        return f"Published {only.published}; the truth is probably {between} ({sure} %)"

    def __str__(self) -> str:
        """Show the sentence for readers; of several answers, a table below it."""
        lead = printable(self.describe())
        if not self.by and len(self.answers) == 1:
            return lead
        table = self.to_arrow()
        rows = list(zip(*(column.to_pylist() for column in table.slice(0, _MOST_PRINTED).columns), strict=True))
        more = len(self.answers) - len(rows)
        lines = [lead, text_table(table.column_names, rows)]
        return "\n".join([*lines, *([f"({more:,} more; to_pandas() and to_arrow() have all)"] if more else [])])

    def to_arrow(self) -> pyarrow.Table:
        """Return the group columns, `published`, `reading`, `low` and `high` as an Arrow table."""
        import pyarrow

        own = ("published", "reading", "low", "high")
        names = [*self.by, *(name if name not in self.by else f"{name} answer" for name in own)]
        rows = [
            (*answer.key, answer.published, answer.reading, answer.interval.low, answer.interval.high)
            for answer in self.answers
        ]
        return pyarrow.table(list(map(list, zip(*rows, strict=True))) or [[]] * len(names), names=names)

    def _summary(self) -> str:
        told = {(answer.rule.value, answer.rule.lower_bound) for answer in self.answers}
        kind = "expected" if self.bayesian else "worst expected"
        losses = f"; {kind} loss {shown_above(max(value for value, _ in told))}" if told else ""
        return f"{len(self.answers)} published counts read for {self.loss.name} loss{losses}"

    documents = renamed_method("documents", "to_documents")

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per answer: its group, what was published, and how it is read."""
        return [
            {
                **({"group": dict(zip(self.by, answer.key, strict=True))} if self.by else {}),
                "published": answer.published,
                **({} if answer.cell is None else {"cell": answer.cell}),
                "reading": answer.reading,
                "low": answer.interval.low,
                "high": answer.interval.high,
                "confidence": rational_text(self.confidence),
                "basis": answer.interval.basis,
                "chances": [[value, rational_text(p)] for value, p in answer.chances],
                self.loss_kind: float(answer.rule.value),
                "lower_bound": float(answer.rule.lower_bound),
                "universal": answer.rule.universal and not self.shared,
                **_improvement(answer.rule),
            }
            for answer in self.answers
        ]


@checked
def interpret(
    release: Any,
    value: Any = None,
    *,
    loss: Any = "absolute",
    at_least: Any = None,
    at_most: Any = None,
    side_information: Sequence[int] | None = None,
    prior: Any = None,
    lead: Any = None,
    total: Mapping[str, str | int] | Sequence[str] | str | None = None,
    consistent: bool = False,
    confidence: Any = None,
    population: Any = None,
    sample: Any = None,
) -> Interpretation | ChoiceInterpretation | Estimates | JointInterpretation | PopulationEstimates:
    """Read a published count, yes or no, winner or band, or a whole file of them, as one consumer best does.

    Parameters
    ----------
    release : path, Publication, Release, dict, Mechanism or FactoredMechanism
        The release. A `Publication` (of several audiences, the answers of the most accurate one), a line of a ledger,
        `FILE.release.json` as `publish` wrote it, or its file of answers; or a mechanism whose inputs are the counts
        0..n.
    value : optional
        The published answer to read, or a frame of them with a column `answer`; all that were published when left out.
        The `answers` of a publication stand for all of its release, too.
    loss : text, Loss, mapping, table, or path of a .json file
        What an error costs: "absolute", "squared", "zero-one", "pinball:LOW:HIGH", "threshold:K", "excess:K", or
        what else `irisdp.consumers.Consumer` reads; a file holds any of these, as a rule a table.
    at_least, at_most : int, optional
        What the consumer knows about the true count. Counts are at least 0, and at most the bound in the release file.
        Of a majority or a winner: about the number of records that say yes or no, or are in one of the categories.
    side_information : sequence of int, optional
        Instead of bounds: all counts that the consumer deems possible.
    prior : sequence, array or frozen SciPy distribution, optional
        Probabilities of the counts 0, 1, …; then the expected loss is minimised. A distribution needs `at_most`, unless
        the release file bounds the count. A list says that no larger count is possible than its last, as a table of
        losses does; either must reach to `at_most` where that is given.
    lead : int, optional
        Of a majority or a winner: the largest is known to be this many records ahead of all others.
    total : mapping, or sequence of text, optional
        Sums of cells that get a row each, by name: ``{"coast": "north + south", "all": "*"}``, or ``"all = *"``. With
        `consistent` one may be known: ``{"all": "* = 1200"}``, or ``{"all": 1200}``.
    consistent : bool
        Whether all cells are read together, as the whole numbers nearest to what was published that are possible and
        sum to what is known. It is for absolute and squared loss, which the same table has least of.
    confidence : number, optional
        Confidence level of the intervals. [default: 0.95]
    population : int, optional
        The number of members of the population that the records are a simple random sample of. The result is then an
        interval for the population, which covers sampling and noise; also of means.
    sample : int, optional
        With `population`: the number of records in the sample, if that is public; of a mean, those with a value.

    Returns
    -------
    Interpretation, ChoiceInterpretation, Estimates, JointInterpretation or PopulationEstimates
        Of counts, with a certified loss of the reading, and a bound that no reading of this release is below. For
        names, with the probability that each is true. It follows from Bayes' rule under the prior, or with all tables
        that fit the knowledge equally likely. If the tables are unbounded or too many to list, it is the probability in
        the worst of them. Of lists of sizes, and of answers about each record, ends for every size, or every category's
        count. With `total` or `consistent` cells, and totals, as they are read together; that no reader errs less is
        then not claimed. Beside every count stand ends, and whether they hold for any truth, over the noise, or under a
        prior.

    Raises
    ------
    BadInput
        For anything that does not fit together.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> found = interpret(design.geometric(3, Privacy.from_ratio(4)), 0)
    >>> found.answers[0].rule.value, found.answers[0].chances
    (Fraction(168, 415), ((0, Fraction(68, 83)), (1, Fraction(15, 83))))

    References
    ----------
    [Gupte2010], §2.4; docs/theory.md#counts; proofs/reading-certificate.md, proofs/unbounded-counts.md,
    proofs/population.md.
    """
    if population is not None:
        known = {"at_least": at_least, "at_most": at_most, "side_information": side_information, "prior": prior}
        beyond = "population= asks about more than these"
        _refuse_readers(None, beyond, **known, lead=lead, total=total, consistent=consistent or None)
        return read_population(release, value, population=population, sample=sample, confidence=confidence)
    if sample is not None:
        raise BadInput("sample", "says how large a sample of a population is", "give population= as well")
    everything = value if isinstance(value, Answers) else None
    listed = read_list(release, confidence, everything)
    if listed is not None:
        known = {"at_least": at_least, "at_most": at_most, "side_information": side_information, "prior": prior}
        kind = "these answers are a list"
        _refuse_readers(
            None if everything is not None else value,
            kind,
            **known,
            lead=lead,
            total=total,
            consistent=consistent or None,
        )
        return listed
    deployed = read_release(release)
    if isinstance(deployed, ReleaseFile):
        for name, given in (("confidence", confidence), ("total", total), ("consistent", consistent or None)):
            if given is not None:
                raise BadInput(name, "is for counts, and these answers are names", "leave it out")
        told = ReaderKnowledge(loss, at_least, at_most, side_information, prior, lead)
        return read_choices(deployed, release, value, told)
    if isinstance(loss, os.PathLike) or (isinstance(loss, str) and loss.lower().endswith(".json")):
        loss = read_json(os.fspath(loss), "loss")
    sure = read_confidence(confidence, alone=True)
    reader = ReaderKnowledge(loss, at_least, at_most, side_information, prior, lead)
    together = None
    if total is not None or consistent:
        together = Together(reader, total, sure, consistent=consistent)
        if value is not None and everything is None and frame_of_answers(value) is None:
            raise BadInput(
                "value", "is one answer, but total= and consistent= need all answers of the release", "leave value= out"
            )
    shown = shown_counts(deployed, release, value)
    if together is not None and together.consistent:
        return together.read(shown, None)
    answers = _read_each(shown, reader, sure)
    if together is not None:
        return together.read(shown, [(answer.reading, answer.interval, answer.rule.possible) for answer in answers])
    other = shown.deployed if isinstance(shown.deployed, OtherNoisyCount) else None
    return Interpretation(
        loss=reader.name,
        bayesian=prior is not None,
        by=shown.by,
        answers=answers,
        named=other is not None and other.named,
        shared=other is not None and other.shared,
        confidence=sure,
    )


def _read_each(shown: ShownCounts, reader: ReaderKnowledge, sure: Fraction) -> tuple[InterpretedAnswer, ...]:
    """Read each count by itself, those alike once."""
    rules: dict[Ends, Rule] = {}
    read = []
    for row, (key, published, cell) in enumerate(zip(shown.keys, shown.values, shown.cells, strict=True)):
        ends = shown.ends_of(row)
        if ends not in rules:
            rules[ends] = reader.rule(shown.deployed, ends)
        rule = rules[ends]
        read.append((key, rule.released(published) if cell is None else published, cell, rule))
    chances = [rule.at(published if cell is None else cell) for _, published, cell, rule in read]
    intervals: dict[Any, Interval] = {}
    for _, published, cell, rule in read:
        if (published, cell, id(rule)) not in intervals:
            interval = interval_of(shown.deployed, rule, published, cell, sure, bayesian=reader.prior is not None)
            intervals[published, cell, id(rule)] = interval
    return tuple(
        InterpretedAnswer(
            key=key,
            published=published,
            chances=choice,
            reading=drawn,
            rule=rule,
            cell=cell,
            interval=intervals[published, cell, id(rule)],
        )
        for (key, published, cell, rule), choice, drawn in zip(read, chances, _drawn(chances), strict=True)
    )


def _refuse_readers(value: Any, kind: str, **known: Any) -> None:
    """Refuse what only readers of counts can say."""
    if value is not None:
        raise BadInput("value", "cannot be read alone: the answers are one list", "leave value= out")
    for name, told in known.items():
        if told is not None:
            raise BadInput(name, f"is for counts, and {kind}", f"leave {name}= out")


def _drawn(chances: Sequence[tuple[tuple[int, Fraction], ...]]) -> list[int]:
    """Draw one answer from each distribution, exactly."""
    numbers: dict[tuple[tuple[int, Fraction], ...], int] = {}
    index = [numbers.setdefault(choice, len(numbers)) for choice in chances]
    if not index:
        return []
    width = max(map(len, numbers))
    rows = [[p for _, p in choice] + [Fraction(0)] * (width - len(choice)) for choice in numbers]
    places = draw(rows, index).tolist()
    return [choice[place][0] for choice, place in zip(chances, places, strict=True)]


def _improvement(rule: Rule) -> dict[str, Any]:
    """Say what reading saves over taking the number at face value, where that makes sense."""
    if rule.face_value is None:
        return {}
    saved = max(rule.face_value - rule.value, Fraction(0))
    return {
        "face_value_loss": float(rule.face_value),
        "saved": float(saved),
        "saved_share": float(saved / rule.face_value) if rule.face_value else 0.0,
    }
