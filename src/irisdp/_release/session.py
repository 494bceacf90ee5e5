"""A table, its people and its budget named once, and then one question after another."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, Unpack, cast

from .._aliases import own_names
from .._exact import Rational, checked, told_below
from .._frames import html_table
from .._hooks import Drawable, call_hook
from .._ledger import Ledger, Release, choose_ledger, lines_as_html, named_limit
from .._queries import FORMS, QueryEntry
from .._tables import HOW_TO_OPEN, TableCheck, explaining_index, open_table
from ..accounting import Charge
from ..errors import BadInput
from .batching import batch
from .options import (
    BinArguments,
    CategoryArguments,
    CountArguments,
    FileOptions,
    HistogramArguments,
    MeanArguments,
    MomentArguments,
    PlanArguments,
    QuestionOptions,
    RecordArguments,
    SumArguments,
    left_out,
    with_options,
)
from .pipeline import publish
from .planning import plan
from .plans import Plan
from .project import Project, apply_project, find_project
from .publication import BatchPublication, Publication
from .table_check import check_data

Method = TypeVar("Method", bound=Callable[..., Any])


def asks(options: Any) -> Callable[[Method], Method]:
    """Let a method of a session take the options of a question, and refuse what the session names for all of them.

    The method shows the options that its query has. What another query has is refused as `irisdp.publish` does it, with
    the queries that take it.
    """

    def decorate(method: Method) -> Method:
        signature, doc = inspect.signature(method), method.__doc__
        inner = checked(with_options(options if options is QuestionOptions else PlanArguments)(method))

        @functools.wraps(inner)
        def asked(session: Session, /, *arguments: Any, **given: Any) -> Any:
            given = own_names(given)
            session._check_apart(given)
            return inner(session, *arguments, **given)

        shown: Any = asked
        shown.__signature__, shown.__doc__ = signature, doc
        return cast(Method, with_options(options)(shown))

    return decorate


_NOT_READING = ("relation", "partition", "engine", "master")
"""What a session asks with, and a check of its table does not take."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Session(Drawable):
    """Questions about one table, charged to one budget.

    It holds no state but the names it was given: what was spent is in the ledger, on disk, and two sessions on one
    table share it.

    Parameters
    ----------
    data : path or frame
        As for `irisdp.publish`.
    unit : str, optional
        The column that says whose record it is.
    relation : {"add-remove", "exchange"}
        Neighbouring tables. [default: add-remove]
    ledger : path, address or Ledger, optional
        As for `irisdp.publish`.
    another_ledger : bool
        As for `irisdp.publish`.
    limit : Charge, number, (number, number), or text, optional
        Set the most that may ever be spent: ε, or ε and δ; "mu=1" or "rho=1/2" make a ledger that counts in μ or ρ. A
        limit that the ledger has already is replaced.
    lookup, on, partition, secret, table, engine, master, project : optional
        As for `irisdp.publish`. A project beside the data is found for every question.

    Raises
    ------
    BadInput
        For data that cannot be read, or a frame without a ledger. Nothing is spent.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow
    >>> survey = pyarrow.table({"age": [70, 30, 81], "town": ["Ely", "Ely", "York"]})
    >>> session = Session(survey, ledger=pathlib.Path(tempfile.mkdtemp(), "survey.ledger"), limit=2)
    >>> found = session.count("age > 64", by="town", groups=["Ely", "York"], epsilon="0.5")
    >>> session.remaining
    Cost(epsilon=Fraction(3, 2), delta=Fraction(0, 1))
    """

    data: Any = field(repr=False)
    ledger: Ledger
    _asked: Mapping[str, Any]
    _kept: Mapping[str, Any]

    @checked
    @with_options(FileOptions)
    def __init__(
        self,
        data: Any,
        *,
        unit: str | None = None,
        relation: Literal["add-remove", "exchange"] | None = None,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        another_ledger: bool = False,
        limit: Charge | Rational | tuple[Rational, Rational] | None = None,
        secret: str | os.PathLike[str] | None = None,
        table: str | None = None,
        lookup: Any = None,
        on: str | Sequence[str] | None = None,
        partition: str | Mapping[str, str] | None = None,
        engine: Literal["duckdb", "spark"] | None = None,
        master: str | None = None,
        project: str | os.PathLike[str] | Project | None = None,
        **written: Unpack[FileOptions],
    ) -> None:
        asked = {"unit": unit, "relation": relation, **left_out(FileOptions), **written}
        asked |= {"lookup": lookup, "on": on, "partition": partition, "engine": engine, "master": master}
        told = apply_project(find_project(data, project), None, asked)
        with told.blamed(), explaining_index(data):
            opened = open_table(data, **{name: told.options[name] for name in HOW_TO_OPEN})
            if told.options["unit"] is not None:
                opened.column(told.options["unit"], "unit")
        object.__setattr__(self, "data", data)
        declared = None if told.project is None else told.project.declared_ledger
        choice = choose_ledger(opened, ledger, secret, declared=declared, another=another_ledger)
        choice.check(choice.book)
        object.__setattr__(self, "ledger", choice.book)
        object.__setattr__(self, "_asked", {**asked, "project": told.project})
        kept = {"ledger": ledger, "another_ledger": another_ledger, "secret": secret, "table": table}
        # Where the ledger was not named, the one that knows the data under another name is found for each question.
        object.__setattr__(self, "_kept", kept)
        if limit is not None:
            wanted = named_limit(limit)
            if told.project is not None:
                told.project.keeps_limit(wanted)
            self.ledger.restrict(wanted)

    def __repr__(self) -> str:
        """Say what is asked about, and what is left."""
        left = self.remaining
        budget = "no limit is set" if left is None else f"left {left.told(told_below)}"
        return f"<Session: {self.ledger.store.name}; {budget}>"

    def _repr_html_(self) -> str:
        """Show in a notebook what was released, the newest first, what is left, and what can be asked."""
        asked = [(form.answer, _example(form)) for form in FORMS]
        queries = html_table("What can be asked", ["answer", "example"], asked)
        return lines_as_html(repr(self)[1:-1], self.releases()) + queries

    @property
    def spent(self) -> Charge:
        """What the ledger's releases cost in all."""
        return self.ledger.spent

    @property
    def limit(self) -> Charge | None:
        """The limit of the ledger or project; None if neither sets one."""
        project = self._asked["project"]
        return self.ledger.limit or (project and project.limit)

    @property
    def remaining(self) -> Charge | None:
        """What may still be spent, which is nothing once the ledger was moved; None where no limit was set."""
        limit = self.limit
        if limit is None:
            return None
        spent = limit if self.ledger.closed else self.spent
        return limit.left_after(spent) if type(spent) is type(limit) else limit

    def releases(self) -> list[Release]:
        """List what was released, oldest first."""
        return self.ledger.releases()

    def check(self) -> TableCheck:
        """Look for faults in the table, for its owner's eyes; the result is private, and nothing is spent or written.

        Returns
        -------
        TableCheck
            Records and values that Iris cannot read, and the options that help. It depends on single records.
        """
        known = {name: value for name, value in self._asked.items() if name not in _NOT_READING}
        return check_data(self.data, **known)

    @checked
    def explore(self, *, port: int = 8715, browser: bool = True) -> None:
        """Open this table in the explorer, as `irisdp explore DATA` does, and serve it until it is stopped.

        There you write a plan, see its cost, publish it and read the results. Records are read only when you press a
        button that says so. Stop it with Ctrl-C, or by interrupting the notebook's cell.

        Parameters
        ----------
        port : int
            On 127.0.0.1; 0 takes any that is free.
        browser : bool
            Whether to open the browser. The address is printed in any case, and works once, for one browser.

        Raises
        ------
        BadInput
            If the data is a frame, if types were given as a mapping instead of a file, or if the extra `explorer` is
            not installed.
        """
        project, beside = self._asked["project"], find_project(self.data)
        is_found = project is None or (beside is not None and beside.path == project.path)
        named = None if is_found else str(project.path)
        call_hook("explorer", self.data, self._asked, self._kept, project=named, port=port, browser=browser)

    @asks(QuestionOptions)
    def plan(self, query: str, *arguments: str | int, **options: Unpack[QuestionOptions]) -> Plan:
        """Say what a question would cost and how far off its answers would be; see `irisdp.plan`."""
        return plan(self.data, query, *arguments, **self._asked, **options)

    @asks(PlanArguments)
    def publish(self, query: str, *arguments: str | int, **options: Unpack[PlanArguments]) -> Publication:
        """Ask any question by its name; see `irisdp.publish`."""
        return publish(self.data, query, *arguments, **self._asked, **self._kept, **options)

    @checked
    def batch(
        self,
        questions: Sequence[Mapping[str, Any]],
        *,
        budget: Mapping[str, Any],
        out: str | os.PathLike[str] | None = None,
        report: str | os.PathLike[str] | None = None,
        title: str | None = None,
        labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        force: bool = False,
        max_charge: Any = None,
    ) -> BatchPublication:
        """Publish several questions as one charge; see `irisdp.batch`.

        Parameters
        ----------
        questions : sequence of mappings
            The plan's "questions", such as ``[{"query": "count", "expression": "age > 64", "weight": 2}]``.
        budget : mapping
            The plan's "budget", such as ``{"epsilon": 1, "delta": "1e-6"}``.
        out : path, optional
            Where to write the answers, a file for each question, as the plan's "out".
        report : path, optional
            Where to write one page of the whole batch, as the plan's "report".
        title, labels : optional
            As for `irisdp.publish`.
        force : bool
            Whether files that are there already may be replaced.
        max_charge : number, text or sequence, optional
            As for `irisdp.publish`, for the whole batch.

        Raises
        ------
        BadInput, ScopeRefused, BudgetRefused
            As `irisdp.batch`; nothing is spent.
        """
        about = {name: value for name, value in {**self._asked, **self._kept}.items() if value is not None}
        told = {"budget": budget, "questions": questions, **about, **({} if out is None else {"out": out})}
        ledger = told.pop("ledger", None)
        return batch(
            told,
            data=self.data,
            ledger=ledger,
            report=report,
            title=title,
            labels=labels,
            force=force,
            max_charge=max_charge,
        )

    def _check_apart(self, options: Mapping[str, Any]) -> None:
        """Refuse to ask one question of another table, or at another budget, than the session names."""
        for name in options:
            if name in self._asked or name in self._kept:
                raise BadInput(name, "is named by the session, for all its questions", "make another session")

    @asks(CountArguments)
    def count(self, condition: str | None = None, **options: Unpack[CountArguments]) -> Publication:
        """Publish how many records there are for which a condition is true; see `irisdp.publish`."""
        return self.publish("count", *_given(condition), **options)

    @asks(RecordArguments)
    def at_least(self, k: int, condition: str | None = None, **options: Unpack[RecordArguments]) -> Publication:
        """Publish whether a condition is true for k records or more; see `irisdp.publish`."""
        return self.publish("at-least", k, *_given(condition), **options)

    @asks(RecordArguments)
    def at_most(self, k: int, condition: str | None = None, **options: Unpack[RecordArguments]) -> Publication:
        """Publish whether a condition is true for k records or fewer; see `irisdp.publish`."""
        return self.publish("at-most", k, *_given(condition), **options)

    @asks(RecordArguments)
    def band(self, thresholds: str, condition: str | None = None, **options: Unpack[RecordArguments]) -> Publication:
        """Publish between which thresholds, such as "10,100", the number of records is; see `irisdp.publish`."""
        return self.publish("band", thresholds, *_given(condition), **options)

    @asks(RecordArguments)
    def majority(self, condition: str | None = None, **options: Unpack[RecordArguments]) -> Publication:
        """Publish whether a condition is true for more records than it is false for; see `irisdp.publish`."""
        return self.publish("majority", *_given(condition), **options)

    @asks(HistogramArguments)
    def histogram(
        self, column: str, condition: str | None = None, **options: Unpack[HistogramArguments]
    ) -> Publication:
        """Publish how many records are in each bin of a column, or of each category; see `irisdp.publish`."""
        return self.publish("histogram", column, *_given(condition), **options)

    @asks(RecordArguments)
    def count_distinct(
        self, column: str, condition: str | None = None, **options: Unpack[RecordArguments]
    ) -> Publication:
        """Publish how many different values a column has, such as people; see `irisdp.publish`."""
        return self.publish("count-distinct", column, *_given(condition), **options)

    @asks(CategoryArguments)
    def plurality(self, column: str, condition: str | None = None, **options: Unpack[CategoryArguments]) -> Publication:
        """Publish which of the declared categories most records have; see `irisdp.publish`."""
        return self.publish("plurality", column, *_given(condition), **options)

    @asks(RecordArguments)
    def bounds(self, column: str, **options: Unpack[RecordArguments]) -> Publication:
        """Publish powers of two between which a column's values lie; see `irisdp.publish`."""
        return self.publish("bounds", column, **options)

    @asks(BinArguments)
    def median(self, column: str, condition: str | None = None, **options: Unpack[BinArguments]) -> Publication:
        """Publish which of the declared bins holds the median; see `irisdp.publish`."""
        return self.publish("median", column, *_given(condition), **options)

    @asks(BinArguments)
    def quantile(
        self, share: Rational, column: str, condition: str | None = None, **options: Unpack[BinArguments]
    ) -> Publication:
        """Publish which of the declared bins holds a quantile, such as 0.9; see `irisdp.publish`."""
        return self.publish("quantile", str(share), column, *_given(condition), **options)

    @asks(BinArguments)
    def quantiles(
        self,
        shares: Sequence[Rational] | str,
        column: str,
        condition: str | None = None,
        **options: Unpack[BinArguments],
    ) -> Publication:
        """Publish which bins hold several quantiles, such as 0.25 and 0.75, at one charge; see `irisdp.publish`."""
        listed = shares if isinstance(shares, str) else ",".join(map(str, shares))
        return self.publish("quantiles", listed, column, *_given(condition), **options)

    @asks(SumArguments)
    def sum(self, column: str, condition: str | None = None, **options: Unpack[SumArguments]) -> Publication:
        """Publish the sum of a column's values between `lower` and `upper`; see `irisdp.publish`."""
        return self.publish("sum", column, *_given(condition), **options)

    @asks(MeanArguments)
    def mean(self, column: str, condition: str | None = None, **options: Unpack[MeanArguments]) -> Publication:
        """Publish the mean of a column's values between `lower` and `upper`; see `irisdp.publish`."""
        return self.publish("mean", column, *_given(condition), **options)

    @asks(MomentArguments)
    def variance(self, column: str, condition: str | None = None, **options: Unpack[MomentArguments]) -> Publication:
        """Publish the population variance of a column's values between `lower` and `upper`; see `irisdp.publish`."""
        return self.publish("variance", column, *_given(condition), **options)

    @asks(MomentArguments)
    def deviation(self, column: str, condition: str | None = None, **options: Unpack[MomentArguments]) -> Publication:
        """Publish the population standard deviation of a column's values; see `irisdp.publish`."""
        return self.publish("deviation", column, *_given(condition), **options)

    @asks(CategoryArguments)
    def top(
        self, k: int, column: str, condition: str | None = None, **options: Unpack[CategoryArguments]
    ) -> Publication:
        """Publish the K declared categories that most records have; see `irisdp.publish`."""
        return self.publish("top", k, column, *_given(condition), **options)

    @asks(CategoryArguments)
    def ranking(self, column: str, condition: str | None = None, **options: Unpack[CategoryArguments]) -> Publication:
        """Publish all declared categories, that with most records first; see `irisdp.publish`."""
        return self.publish("ranking", column, *_given(condition), **options)

    @asks(CategoryArguments)
    def apply(
        self,
        mechanism: str,
        about: str | None = None,
        condition: str | None = None,
        **options: Unpack[CategoryArguments],
    ) -> Publication:
        """Publish what a mechanism file answers about a condition, or about a column; see `irisdp.publish`."""
        return self.publish("apply", mechanism, *_given(about), *_given(condition), **options)

    @asks(CategoryArguments)
    def sizes(
        self,
        column: str,
        largest: int | None = None,
        condition: str | None = None,
        **options: Unpack[CategoryArguments],
    ) -> Publication:
        """Publish how large the categories of a column are, largest first, without names; see `irisdp.publish`."""
        return self.publish("sizes", *(() if largest is None else (largest,)), column, *_given(condition), **options)

    @asks(CategoryArguments)
    def column(self, column: str, condition: str | None = None, **options: Unpack[CategoryArguments]) -> Publication:
        """Publish each record's category by randomised response; see `irisdp.publish`."""
        return self.publish("column", column, *_given(condition), **options)


def _example(form: QueryEntry) -> str:
    """Return the example of a query as a method of a session is called.

    Examples
    --------
    >>> _example(next(form for form in FORMS if form.name == "histogram"))
    'session.histogram("age", bins="18,65", epsilon=1)'
    """
    name, *words = shlex.split(form.example)
    first = next((index for index, word in enumerate(words) if word.startswith("--")), len(words))
    given = [_quoted(word) for word in words[:first]]
    if name == "sizes":  # whose method takes the column first
        given.reverse()
    options = dict(zip(words[first::2], words[first + 1 :: 2], strict=True))
    given += [f"{option[2:].replace('-', '_')}={_quoted(value)}" for option, value in options.items()]
    private = [] if name == "apply" else ["epsilon=1"]
    return f"session.{name.replace('-', '_')}({', '.join([*given, *private])})"


def _quoted(word: str) -> str:
    return word if word.replace(".", "", 1).isdecimal() else f'"{word}"'


def _given(condition: str | None) -> tuple[str, ...]:
    return () if condition is None else (condition,)
