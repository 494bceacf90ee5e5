"""The options of a question, each named, typed and explained once: `plan`, `publish` and a session's methods take them.

To add an option, add it here with its explanation; signatures and docstrings follow. Synonyms are in `_aliases.py`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from .._exact import Rational
from .._ledger import Ledger
from ..privacy import Guarantee
from .project import Project

Function = TypeVar("Function", bound=Callable[..., Any])


class CommonOptions(TypedDict, total=False):
    """What any question may say besides its query.

    Attributes
    ----------
    where : str
        The condition, by name instead of after the query.
    by : text or sequence of text
        Group columns, and named expressions, as in ``"ward, band = CASE WHEN age < 18 THEN 'child' ELSE 'adult' END"``;
        text is split at commas outside parentheses and quotes. Then there is one answer for each group.
    groups : text, path, sequence, mapping or frame
        The groups, which `by` needs unless `select_groups` is given: ``"north,east"``, a CSV file, a list of values or
        tuples, a mapping from column to values, one for each group, or a frame. Of several columns also one text for
        each, ``["ward=north,east", "sex=f,m"]``, for all combinations. In text, put a value with a comma in double
        quotes. The header of a CSV file names the group columns. In a column without a type a value counts the records
        that spell it so: 1 is not 01 or 1.0. Read off the data they would reveal who is in it, so they never are.
    select_groups : bool
        Instead of `groups`: name those groups that privacy allows. A count does so by itself, at no cost beyond its
        own, as often as the optimal partition selection would; other queries, and counts for audiences, pay for that.
    selection_epsilon, selection_delta : number or text
        Privacy of a selection apart from the answers; ε as above and all of `delta` unless given. Where either is
        given a count is selected apart as well.
    epsilon, ratio : number or text
        How private each answer is, the smaller the more: ε, or r = e^ε. One of them is needed, above ε = 0, or one of
        the next two. Exact: ``0.1`` and ``"1/10"`` are one tenth. What a release costs follows, and from `relation`.
    mu : number or text
        Instead: μ of Gaussian privacy, which counts keep exactly by Gaussian noise of deviation 1/μ.
    privacy : Privacy, accounting.Gaussian, mapping, or JSON text
        Instead: any guarantee, such as several pairs at once: ``{"all": [{"epsilon": 1}, {"epsilon": "1/2",
        "delta": "1e-3"}]}``, ``{"gaussian": 1}`` or ``{"zcdp": "1/2"}``. Several pairs get the noise of their own law.
    delta : number or text, in [0, 1)
        Probability with which the bound e^ε may fail; 0 unless given. A count then has the noise that serves every
        reader best under (ε,δ), and is charged δ, which buys little below 1e-4. Needed by `select_groups`, and beside
        `mu` unless the ledger counts in μ or ρ: the point of the curve that is charged, (ε(δ), δ), as of several pairs.
    within : int
        Accuracy K instead of `epsilon`. Iris finds the least ε with which, with probability `confidence`, each answer
        is off by at most K, or is right from a lead or a distance of K records on. `plan` shows which of the two, and
        that ε. With `epsilon`: noise bounded by K, at the least δ that any such noise needs. This δ is charged and may
        be large: with up to this probability an answer gives one person away. `delta` beside both refuses a larger one.
    confidence : number or text
        That probability, and that with which the ends beside a number hold, `answer_low` and `answer_high`: 0.95 unless
        given. Each answer has it by itself; of many, some are further off.
    public_membership : bool
        Under exchange: it is public who is in which group, and the groups' exact sizes may be shown.
    per_unit : {"any", "all"}
        With `unit`: ask the condition of any, or of all, of a person's records that have an answer. A person without
        any has none; with `by` it counts in the group of the one record kept, whatever group the records are in.
    at_most : int
        Also `max_contributions`. With `unit`: how many records are kept of each person, where a question counts
        several; 1 unless given. Noise grows with it, and what is left out shrinks.
    groups_per_unit : int
        Also `max_partitions`. With `at_most`: in how many groups they may lie; in as many as they are, unless given.
        Where few groups are allowed, noise may be smaller; records in further groups are left out.
    person : str
        With `unit`: one row for each person, derived from all of the person's records, which stands for them:
        ``"visits = COUNT(*), spent = SUM(amount), last = MAX(CAST(date AS DATE))"``. The question, its condition and
        its groups name the columns of these rows, and every query counts persons. Aggregates are COUNT(*),
        COUNT(value), COUNT(DISTINCT value), COUNT_IF(condition), SUM, AVG, MIN, MAX, BOOL_OR and BOOL_AND; each may be
        followed by FILTER (WHERE condition).
    """

    where: str | None
    by: str | Sequence[str] | None
    groups: Any
    select_groups: bool
    selection_epsilon: Rational | None
    selection_delta: Rational | None
    epsilon: Rational | None
    ratio: Rational | None
    mu: Rational | None
    privacy: Guarantee | Mapping[str, Any] | str | None
    delta: Rational
    within: Rational | None
    confidence: Rational | None
    public_membership: bool
    per_unit: Literal["any", "all"] | None
    at_most: int | None
    groups_per_unit: int | None
    person: str | None


class CategoryOptions(TypedDict, total=False):
    """The categories of a question about a column.

    Attributes
    ----------
    categories : as `groups`
        The values that a question about a column may be answered with, such as the parties of ``plurality``. Declared,
        as read off the data they would reveal who is in it; a record with any other value, or none, counts for none.
    """

    categories: Any


class BinOptions(TypedDict, total=False):
    """The bins of a question about a column of numbers or dates.

    Attributes
    ----------
    bins : text or sequence of numbers or dates
        For ``histogram``, ``median``, ``quantile`` and ``quantiles``: the edges between bins, ``"0,18,65"``. A bin
        holds its left edge; the first and the last bin are open, so that every value is in one.
    """

    bins: Any


class ValueOptions(TypedDict, total=False):
    """The bounds of values that are added up.

    Attributes
    ----------
    lower, upper : number or text
        For ``sum``, ``mean``, ``variance`` and ``deviation``: between what values count; one beyond counts as the
        bound. Declared, as read off the data they would reveal who is in it.
    step : number or text
        For the same queries: each value is rounded to the nearest multiple; the bounds are multiples. Required unless
        the column is known or declared to hold whole numbers, where it is 1.
    missing : number or text
        For the same queries: what a record without a number counts as; as nothing unless given.
    """

    lower: Rational | None
    upper: Rational | None
    step: Rational | None
    missing: Rational | None


class WeightOptions(TypedDict, total=False):
    """The weights of values that are added up.

    Attributes
    ----------
    weight : str
        For ``sum``: a column of numbers by which values are multiplied, each from 0 to `weight_upper`; a record without
        a weight adds nothing. Products are rounded to the step, of which the bounds need be no multiples then. For
        ``mean``: each value counts as often as its weight has parts, of 1024 parts of the largest weight. For
        ``count``: a column that is added up, instead of 1 for each record.
    weight_upper : number or text
        With `weight`: the largest weight that counts; a larger one counts as this. Noise grows with it.
    """

    weight: str | None
    weight_upper: Rational | None


class PersonTotalOptions(TypedDict, total=False):
    """The bound of what one person adds in all.

    Attributes
    ----------
    per_person_upper : number or text
        For ``sum``, with `unit`: each person's total counts as 0 to U, whatever number of records it comes from. Values
        are added as they are, or between `lower` and `upper` if these are given; the condition says which records add.
    """

    per_person_upper: Rational | None


class AudienceOptions(TypedDict, total=False):
    """The readers of a count.

    Attributes
    ----------
    audience : mapping, or sequence of "NAME=E"
        Instead of `epsilon`, an ε for each audience of a count: ``{"board": 2, "press": 0.5}``. No coalition learns
        more than its most accurate member, and the charge is that of the largest ε.
    """

    audience: Mapping[str, Rational] | Sequence[str] | None


class QuestionOptions(
    CommonOptions,
    CategoryOptions,
    BinOptions,
    ValueOptions,
    WeightOptions,
    PersonTotalOptions,
    AudienceOptions,
    total=False,
):
    """What one question may say besides its query."""


class OutputOptions(TypedDict, total=False):
    """Where the answers of a question go.

    Attributes
    ----------
    out : path
        Where to write the answers (.csv, .parquet or .json). Beside it are written `OUT.release.json`, which
        `irisdp.interpret` reads, and `OUT.datapackage.json`, which describes the file to catalogues and table tools.
    report : path
        Where to write the answers as one page to hand over (.html): what it cost, how to read and how to check them.
        Several audiences have a page each, with its name in the file's, as their answers have.
    title : str
        The heading of the report.
    labels : path or mapping
        Words that readers of the report see instead of names: a TOML file with a table ``[labels]``, or that table,
        ``{"title": …, "columns": {"educ": "Education"}, "groups": {"educ": {1: "Grade 8 or less"}}, "queries": {…}}``.
        Those of the project file hold where these say nothing. They change no answer.
    licence : str
        On which terms the answers may be used, for the data package: ``"CC-BY-4.0"``, or the address of a text.
    force : bool
        Whether files that are there already may be replaced. No file that is read or kept ever is.
    """

    out: str | os.PathLike[str] | None
    report: str | os.PathLike[str] | None
    title: str | None
    labels: str | os.PathLike[str] | Mapping[str, Any] | None
    licence: str | None
    force: bool


class FileOptions(TypedDict, total=False):
    """How a text file is written.

    Attributes
    ----------
    encoding, delimiter : str
        How a text file is written: UTF-8, and a comma (.csv) or tab (.tsv), unless given.
    decimal, thousands : str
        How a text file writes numbers: the decimal mark, ``"."`` or ``","``, and what stands between thousands, such as
        ``"."``, ``","``, ``"'"`` or ``" "``. A number that is not written so is null.
    date_format : str
        How a text file writes dates, such as ``"%d.%m.%Y"`` or ``"%m/%d/%y %I:%M %p"``; ISO 8601 unless given. Names of
        months are English, and years of two digits are 1969 to 2068. A date that is not written so is null.
    missing_codes : text or sequence
        Codes for a missing value, in every column: ``"-9,99"``. Columns of numbers compare numbers, so 99
        is also 99.0; others compare the text.
    skip_rows : int
        How many lines stand above the header. They may hold any text.
    header_rows : int
        How many rows the header has, of which the first names the columns; 1 unless given.
    footer_rows : int
        How many rows at the end are no records, such as totals and notes; blank lines do not count. These rows are
        never read, so declare none that hold records.
    no_header : bool
        Whether the first line is a record.
    columns : text or sequence of text
        With `no_header`: the names of the columns, ``"age,town"``.
    row_names : bool
        Whether each record begins with a name that is no column, as R writes it.
    comment : str
        What a record begins with that is a comment, such as ``"#"``; so do lines above the header.
    codes : bool
        Whether to keep the codes of a .dta or .sav file, and not their value labels.
    types : mapping or path
        What columns of a text file are read as, ``{"age": "integer", "born": "date"}`` or a JSON file that says so:
        integer, number, text, boolean, date or timestamp. A value that cannot be read so is null. A column without a
        type is read as what a question takes it for. JSON lines have the columns that are named here, and no others.
        For one column the formats above are ``{"amount": {"type": "number", "decimal": ",", "thousands": "."}, "born":
        {"type": "date", "format": "%d.%m.%Y"}, "q1": {"type": "integer", "missing": [77, 88, 99]}}``.
    """

    encoding: str | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None
    date_format: str | None
    missing_codes: str | Sequence[str | int | float] | None
    skip_rows: int | None
    header_rows: int | None
    footer_rows: int | None
    no_header: bool
    columns: str | Sequence[str] | None
    row_names: bool
    comment: str | None
    codes: bool
    types: Mapping[str, str | Mapping[str, Any]] | str | os.PathLike[str] | None


class TableOptions(FileOptions, total=False):
    """Settings of the table, for all questions about it.

    Attributes
    ----------
    relation : {"add-remove", "exchange"}
        Which tables must be hard to tell apart: those with one record more or less (unless given), or those with one
        record changed. Synonyms: ``unbounded`` for the first, ``replace-one`` and ``bounded`` for the second.
    unit : str
        Also `privacy_unit`. The column that says whose record it is, where a person can have several: then persons are
        protected. Each keeps one record, chosen at random, the same for all questions.
    engine : {"duckdb", "spark"}
        What reads a .parquet file or a folder of them: DuckDB on this machine, unless given, or Spark. The table, its
        ledger and its digest are the same; as engines may cast differently, the question is another.
    master : str
        With Spark: the address of a cluster whose machines see the file under the same path, such as
        ``"spark://host:7077"``, ``"yarn"``, or ``"sc://host"`` of Spark Connect. It is written down nowhere.
    project : path
        A project file, which `irisdp init` writes; the one beside the data, ``NAME.iris.toml``, unless given. Its
        relation, unit and limit are enforced; its other settings fill in options that are left out.
    """

    relation: Literal["add-remove", "exchange"] | None
    unit: str | None
    engine: Literal["duckdb", "spark"] | None
    master: str | None
    project: str | os.PathLike[str] | Project | None


class LedgerOptions(TypedDict, total=False):
    """Where the budget and the secret are kept.

    Attributes
    ----------
    ledger : path, address or Ledger
        The budget's file; beside the data unless given. Frames need one.
    secret : path
        Keep the secret that fingerprints are keyed with beside this file instead of beside the data; beside a folder,
        not in it.
    table : str
        What the ledger calls the table; the name of its file unless given. A frame has none unless given.
    """

    ledger: str | os.PathLike[str] | Ledger | None
    secret: str | os.PathLike[str] | None
    table: str | None


class PlanArguments(QuestionOptions, OutputOptions, total=False):
    """A question, and where its answers are written."""


class RecordArguments(CommonOptions, OutputOptions, total=False):
    """A question about records that meet a condition."""


class CountArguments(RecordArguments, AudienceOptions, WeightOptions, total=False):
    """A count of records."""


class CategoryArguments(RecordArguments, CategoryOptions, total=False):
    """A question about the categories of a column."""


class BinArguments(RecordArguments, BinOptions, total=False):
    """A question about the bins of a column."""


class HistogramArguments(CategoryArguments, BinOptions, total=False):
    """A count in each bin or category of a column."""


class MomentArguments(RecordArguments, ValueOptions, total=False):
    """A variance of the values of a column."""


class MeanArguments(MomentArguments, WeightOptions, total=False):
    """A mean of the values of a column."""


class SumArguments(MeanArguments, PersonTotalOptions, total=False):
    """A sum of the values of a column."""


class PlanOptions(QuestionOptions, TableOptions, total=False):
    """A question about a table."""


class PublishOptions(PlanOptions, LedgerOptions, OutputOptions, total=False):
    """A question about a table, the budget, and where its answers are written."""


_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("select_groups", "public_membership", "no_header", "row_names", "codes", "force"), False),
    "delta": 0,
}
"""What an option is that was left out, where it is not None."""

_EXPLAINED = re.compile(r"^    (\*?\w[\w, ]*?) : .*\n(?:        .*\n)*", re.MULTILINE)
"""What a docstring says of one parameter, or of several."""
_PARTS = (
    *(CommonOptions, CategoryOptions, BinOptions, ValueOptions, WeightOptions, PersonTotalOptions, AudienceOptions),
    *(FileOptions, TableOptions, LedgerOptions, OutputOptions),
)


def with_options(options: Any) -> Callable[[Function], Function]:
    """Let a function show, explain and check the options that it takes as ``**options`` one by one.

    Parameters
    ----------
    options : TypedDict
        One of the classes of this file.

    Returns
    -------
    decorator
        The function's signature gains every option by name, and its docstring what each means, at the end of its
        parameters; `checked` then refuses what does not fit.
    """

    def decorate(function: Function) -> Function:
        whole = inspect.signature(function)
        own = [part for part in whole.parameters.values() if part.kind is not part.VAR_KEYWORD]
        shown: Any = function
        shown.__signature__ = whole.replace(parameters=[*own, *_parameters(options)])
        shown.__doc__ = _documented(function.__doc__ or "", _explanations(options))
        return function

    return decorate


def left_out(options: Any) -> dict[str, Any]:
    """Return what each option of a TypedDict is if it is left out."""
    return {name: _DEFAULTS.get(name) for name in options.__annotations__}


def options_of(options: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options given that a TypedDict names."""
    return {name: value for name, value in given.items() if name in options.__annotations__}


def _parameters(options: Any) -> Iterable[inspect.Parameter]:
    hints = {name: annotation for part in _PARTS for name, annotation in get_type_hints(part).items()}
    for name, annotation in hints.items():
        if name in options.__annotations__:
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_DEFAULTS.get(name),
                annotation=annotation,
            )


def _explanations(options: Any) -> str:
    names = options.__annotations__.keys()
    docs = (inspect.cleandoc(part.__doc__ or "") for part in _PARTS)
    indented = ("\n".join(f"    {line}" if line else "" for line in doc.splitlines()) + "\n" for doc in docs)
    return "".join(
        match[0] for doc in indented for match in _EXPLAINED.finditer(doc) if names & set(match[1].split(", "))
    )


def _documented(doc: str, explained: str) -> str:
    """Put explanations after those of a docstring's own parameters, or under a heading of their own."""
    heading = "    Parameters\n    ----------\n"
    if heading not in doc:
        return f"{doc.rstrip()}\n\n{heading}{explained}    "
    before, after = doc.split(heading, 1)
    own, separator, rest = after.partition("\n\n")
    return f"{before}{heading}{own}\n{explained}{separator[1:]}{rest}"
