"""The options of a query, each named, typed and explained once, for `plan`, `publish` and the methods of a session.

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
    """Options of every query.

    Attributes
    ----------
    where : str
        The condition. The same as writing it after the query.
    by : text or sequence of text
        Group columns and named expressions, as in ``"ward, band = CASE WHEN age < 18 THEN 'child' ELSE 'adult' END"``.
        Text is split at commas outside parentheses and quotes. There is one answer for each group.
    groups : text, path, sequence, mapping or frame
        The groups, which `by` needs, unless `select_groups` discovers them. One of: text, ``"north,east"``; a CSV file;
        a list of values or tuples; a mapping from each column to its values, one per group; a frame. For several
        columns also one text for each, ``["ward=north,east", "sex=f,m"]``, for all combinations. In text, put a value
        with a comma in double quotes. The header of a CSV file names the group columns; the file of a `lookup` lists
        the groups by its columns. In a column without a type, values match by spelling: 1 is not 01 or 1.0. Iris never
        takes groups from the data, because they would reveal who is in it.
    select_groups : bool
        Instead of `groups`: discover the groups privately. For a count this costs nothing more, and it shows each group
        as often as optimal partition selection would. Other queries, and counts for audiences, pay for the selection.
    selection_epsilon, selection_delta : number or text
        Privacy of the selection of groups, if it is charged apart from the answers. By default ε is that of the answers
        and δ is all of `delta`. If you give either for a count, its groups are selected separately as well.
    epsilon, ratio : number or text
        Privacy parameter of each answer: ε, or r = e^ε. Smaller is more private. Give one of `epsilon`, `ratio`, `mu`
        and `privacy`; ε must be above 0. Numbers are exact: ``0.1`` and ``"1/10"`` are one tenth. The cost of the
        release follows from it and from `relation`.
    mu : number or text
        Instead: μ of Gaussian differential privacy. Counts satisfy it exactly, with Gaussian noise of standard
        deviation 1/μ.
    privacy : Privacy, accounting.Gaussian, mapping, or JSON text
        Instead: any guarantee, such as several pairs at once: ``{"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta":
        "1e-3"}]}``, ``{"gaussian": 1}`` or ``{"zcdp": "1/2"}``. Several pairs get noise of a distribution of their own.
    delta : number or text, in [0, 1)
        Probability with which the bound e^ε may fail. [default: 0] A count with a δ has the noise that is best for
        every reader under (ε,δ). It costs δ, which saves little below 1e-4. `select_groups` needs a δ. So does `mu`,
        unless the ledger counts in μ or ρ: δ then selects the point (ε(δ), δ) of the privacy curve that is charged, as
        for several pairs.
    within : int
        Accuracy K, instead of `epsilon`. Iris finds the least ε for which each answer, with probability `confidence`,
        is off by at most K, or is right if the lead or distance is K records or more. `plan` shows which of the two,
        and that ε. With `epsilon`: noise bounded by K, at the least δ that any such noise needs. This δ is charged and
        may be large: with up to this probability an answer gives one person away. If you also give `delta`, Iris
        refuses a larger δ.
    records : int
        With `within` of a mean: an assumption for planning, that at least this many records have a value, in each
        group. The data are not asked, and the assumption is no part of the question. If fewer have one, the error may
        be larger, and the privacy is the same.
    confidence : number or text
        Confidence level for `within` and for `answer_low` and `answer_high`. [default: 0.95] It holds for each answer
        by itself; among many answers, some miss.
    public_membership : bool
        With replace-one neighbours: who is in which group is public, so the exact sizes of the groups may be shown.
    per_unit : {"any", "all"}
        With `unit`: evaluate the condition for any, or for all, of a person's records for which it is true or false. A
        person without such a record does not count. With `by`, a person counts in the group of the one record that is
        kept, whatever the groups of the others are.
    at_most : int
        Max contributions (also `max_contributions`). With `unit`: keep at most this many records of each person, chosen
        at random, the same for all queries. A larger number leaves out fewer records and needs more noise.
    groups_per_unit : int
        Max partitions (also `max_partitions`). With `at_most`: keep each person's records in at most this many groups,
        and leave out those in further groups. [default: no limit below `at_most`] A small number may reduce the noise.
    person : str
        With `unit`: derive one row for each person from all of that person's records: ``"visits = COUNT(*), spent =
        SUM(amount), last = MAX(CAST(date AS DATE))"``. The query, its condition and its groups then name columns of
        these rows, and every query counts persons. Aggregates are COUNT(*), COUNT(value), COUNT(DISTINCT value),
        COUNT_IF(condition), SUM, AVG, MIN, MAX, BOOL_OR and BOOL_AND. Each may be followed by FILTER (WHERE condition).
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
    records: int | None
    confidence: Rational | None
    public_membership: bool
    per_unit: Literal["any", "all"] | None
    at_most: int | None
    groups_per_unit: int | None
    person: str | None


class CategoryOptions(TypedDict, total=False):
    """Options of queries about the categories of a column.

    Attributes
    ----------
    categories : as `groups`
        The possible answers of a query about a column, such as the parties of ``plurality``. A record with another
        value, or none, counts for no category. Iris never takes categories from the data, because they would reveal who
        is in it.
    """

    categories: Any


class BinOptions(TypedDict, total=False):
    """Options of queries about the bins of a column of numbers or dates.

    Attributes
    ----------
    bins : text or sequence of numbers or dates
        For ``histogram``, ``median``, ``quantile`` and ``quantiles``: the edges between bins, ``"0,18,65"``. A bin
        includes its left edge. The first and the last bin are open, so every value is in a bin.
    """

    bins: Any


class ValueOptions(TypedDict, total=False):
    """Bounds of the values that a query adds up.

    Attributes
    ----------
    lower, upper : number or text
        For ``sum``, ``mean``, ``variance`` and ``deviation``: bounds of the values. A value beyond a bound counts as
        the bound. Iris never takes bounds from the data, because they would reveal who is in it.
    step : number or text
        For the same queries: round each value to the nearest multiple of this number. The bounds must be multiples.
        Required, unless the column is known or declared to hold whole numbers; then the default is 1.
    missing : number or text
        For the same queries: the value of a record without a number. [default: such records are left out]
    """

    lower: Rational | None
    upper: Rational | None
    step: Rational | None
    missing: Rational | None


class WeightOptions(TypedDict, total=False):
    """Weights of the values that a query adds up.

    Attributes
    ----------
    weight : str
        For ``sum``: multiply each value by this column, whose values count as 0 to `weight_upper`. A record without a
        weight adds nothing. Products are rounded to the step, so the bounds need not be multiples of it. For ``mean``:
        a value counts in proportion to its weight, which is rounded to one of 1024 parts of `weight_upper`; weights of
        a column of whole numbers are exact if `weight_upper` is at most 1024. For ``count``: add up this column,
        instead of 1 for each record.
    weight_upper : number or text
        With `weight`: upper bound for weights. A larger weight counts as this. A larger bound needs more noise.
    """

    weight: str | None
    weight_upper: Rational | None


class PersonTotalOptions(TypedDict, total=False):
    """Bound of the total of one person.

    Attributes
    ----------
    per_person_upper : number or text
        For ``sum``, with `unit`: count each person's total as 0 to this number, however many records it comes from. If
        `lower` and `upper` are given, each value is bounded before it is added. The condition decides which records are
        added.
    """

    per_person_upper: Rational | None


class AudienceOptions(TypedDict, total=False):
    """Audiences of an answer.

    Attributes
    ----------
    audience : mapping, text, or sequence of "NAME=E"
        Publish to these audiences alone. Instead of `epsilon`: an ε for each, ``{"board": 2, "press": 0.5}``. Or names
        without an ε, ``"board"``, which all get the answer at the one `epsilon`. Counts, and other answers with
        geometric noise, are made from each other: the release costs the largest ε, and no coalition of audiences learns
        more than its member with the largest ε. Other answers are drawn for each ε independently, and the release costs
        the sum, as `plan` says.
    """

    audience: Mapping[str, Rational] | Sequence[str] | str | None


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
    """All options of a query."""


class OutputOptions(TypedDict, total=False):
    """Where the answers of a query are written.

    Attributes
    ----------
    out : path
        Write the answers to this file (.csv, .parquet or .json). Iris also writes `OUT.release.json`, which
        `irisdp.interpret` reads, and `OUT.datapackage.json`, which describes the file to catalogues and table tools.
        In the name, ``{date}``, ``{month}`` and ``{year}`` stand for the day of the release in UTC. A second run on
        that day leaves its files as they are if the answers are free, and is refused if they would be charged.
    report : path
        Write an .html page for readers: the answers, what they cost, how to interpret and how to check them. Each
        audience gets its own page, with its name in the file name, as for `out`.
    title : str
        The heading of the report.
    labels : path or mapping
        Words to show in the report instead of names: a TOML file with a table ``[labels]``, or that table, ``{"title":
        …, "columns": {"educ": "Education"}, "groups": {"educ": {1: "Grade 8 or less"}}, "queries": {…}}``. Labels of
        the project file apply where these have none. Labels change no answer.
    licence : str
        Licence of the answers, for the data package: a name such as ``"CC-BY-4.0"``, or the address of a text.
    max_charge : number, text or sequence, optional
        The most that may be charged, written as a limit: ``1``, ``"1,1e-6"`` or ``"rho=1/2"``; 0 for what is free
        alone. Iris refuses a larger charge before it reads records.
    force : bool
        Overwrite existing output files. Files that Iris reads or keeps, such as ledgers, are never overwritten.
    """

    out: str | os.PathLike[str] | None
    report: str | os.PathLike[str] | None
    title: str | None
    labels: str | os.PathLike[str] | Mapping[str, Any] | None
    licence: str | None
    max_charge: Any
    force: bool


class FileOptions(TypedDict, total=False):
    """The format of a text file.

    Attributes
    ----------
    encoding, delimiter : str
        Encoding and delimiter of a text file. [default: UTF-8; a comma, or a tab for .tsv]
    decimal, thousands : str
        Decimal mark of a text file, ``"."`` or ``","``, and the mark between thousands, such as ``"."``, ``","``,
        ``"'"`` or ``" "``. [default: a full stop, and none] A number in another format is null.
    date_format : str
        Date format of a text file, such as ``"%d.%m.%Y"`` or ``"%m/%d/%y %I:%M %p"``. [default: ISO 8601] Names of
        months are English, and years of two digits are 1969 to 2068. A date in another format is null.
    missing_codes : text or sequence
        Codes for missing values, in every column: ``"-9,99"``. If a query reads a column as numbers, codes are compared
        as numbers, so 99 is also 99.0. Otherwise their spelling is compared.
    skip_rows : int
        Number of lines above the header, which may hold any text. [default: 0]
    header_rows : int
        Number of header rows, of which the first names the columns. [default: 1]
    footer_rows : int
        Number of rows at the end that are no records, such as totals and notes. [default: 0] Blank lines do not count.
        Iris never reads these rows, so they must hold no records.
    no_header : bool
        The file has no header: its first line is a record. Name the columns with `columns`.
    columns : text or sequence of text
        With `no_header`: the names of the columns, ``"age,town"``.
    row_names : bool
        Each record begins with a row name, which is no column, as in files that R writes.
    comment : str
        Skip records, and lines above the header, that begin with this mark, such as ``"#"``.
    codes : bool
        Keep the codes of a .dta or .sav file instead of their value labels.
    sheet : str
        The sheet of an .xlsx workbook that holds the table. A workbook with several sheets needs it.
    types : mapping or path
        Types of the columns of a text file, ``{"age": "integer", "born": "date"}``, or a JSON file that holds such an
        object: integer, number, text, boolean, date or timestamp. A value that cannot be read as its type is null. The
        query decides how a column without a type is read. JSON lines have only the columns that are named here. To
        declare the format of one column: ``{"amount": {"type": "number", "decimal": ",", "thousands": "."}, "born":
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
    sheet: str | None
    types: Mapping[str, str | Mapping[str, Any]] | str | os.PathLike[str] | None


class TableOptions(FileOptions, total=False):
    """Settings of a table, for all queries on it.

    Attributes
    ----------
    relation : {"add-remove", "exchange"}
        Neighbouring tables: those that differ by adding or removing one record (``"add-remove"``, also
        ``"unbounded"``), or by replacing one record (``"exchange"``, also ``"replace-one"`` and ``"bounded"``).
        [default: add-remove]
    unit : str
        The privacy unit (also `privacy_unit`): the column that identifies a person, if a person can have several
        records. Iris then protects persons. Unless the query counts every person once, also give `at_most`, `per_unit`
        or `person`.
    partition : text or mapping
        Ask about one partition of a table that grows, ``"month=2024-01"``: a folder ``month=2024-01/``, or the records
        whose column `month` says so. ``"visited by month=2024-01"`` takes a column of dates by year, quarter, month,
        week or day. ``"file:month=2024-01"`` takes all of the data for that partition. The question is charged to its
        partition, and new data elsewhere does not change its answer (proofs/partitions.md). A mapping has the names
        column, period and value. ``"whole"`` is the undivided table.
    lookup : path, frame or sequence of them
        A public table, such as one from wards to regions, as a .csv or .tsv file or a frame: its columns are joined to
        the records, for conditions, groups and the column that a question is about. A key is unique there; a record
        whose key it does not have gets nulls. Its content is part of the question. Never give a table of private data:
        its values may be shown in messages.
    on : text or sequence of text
        The key of each `lookup`: a column of both tables. Where the data is a text file without a type for it, keys are
        compared by their spelling: 1 is not 01. Declared ``{"ward": "integer"}`` they are compared as whole numbers.
    engine : {"duckdb", "spark"}
        Engine that reads a .parquet file or a folder of them: DuckDB on this machine, or Spark. [default: duckdb] The
        table, its ledger and its digest stay the same. The query does not, because engines may cast values differently.
    master : str
        With Spark: the address of a cluster whose machines see the file under the same path, such as
        ``"spark://host:7077"``, ``"yarn"``, or ``"sc://host"`` for Spark Connect. Iris does not record it.
    project : path
        A project file, which `irisdp init` writes. [default: ``NAME.iris.toml`` next to the data] Iris enforces its
        relation, unit and limit, and uses its other settings where you give no option.
    """

    relation: Literal["add-remove", "exchange"] | None
    unit: str | None
    partition: str | Mapping[str, str] | None
    lookup: Any
    on: str | Sequence[str] | None
    engine: Literal["duckdb", "spark"] | None
    master: str | None
    project: str | os.PathLike[str] | Project | None


class LedgerOptions(TypedDict, total=False):
    """Where the budget and the secret are kept.

    Attributes
    ----------
    ledger : path, address or Ledger
        The ledger, which holds the budget. [default: the one of the project file; or the one that the first release of
        the table was charged to; or next to the data] Frames need one.
    another_ledger : bool
        Allow another ledger than the default. It is a second budget over the same people: its releases and those of the
        first one add up. With the ledger of the project file, the table is bound to that from then on.
    secret : path
        Keep the secret that keys the fingerprints next to this file, instead of next to the data. For a folder of data
        it is next to the folder, not in it.
    table : str
        Name of the table in the ledger. [default: the file's name; a frame has none]
    """

    ledger: str | os.PathLike[str] | Ledger | None
    another_ledger: bool
    secret: str | os.PathLike[str] | None
    table: str | None


class PlanArguments(QuestionOptions, OutputOptions, total=False):
    """A question, and where its answers are written."""


class RecordArguments(CommonOptions, AudienceOptions, OutputOptions, total=False):
    """A question about records that meet a condition."""


class CountArguments(RecordArguments, WeightOptions, total=False):
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
    **dict.fromkeys(("select_groups", "public_membership", "no_header", "row_names", "codes"), False),
    **dict.fromkeys(("another_ledger", "force"), False),
    "delta": 0,
}
"""Defaults of options, where they are not None."""

_EXPLAINED = re.compile(r"^    (\*?\w[\w, ]*?) : .*\n(?:        .*\n)*", re.MULTILINE)
"""The part of a docstring that explains one parameter, or several."""
_PARTS = (
    *(CommonOptions, CategoryOptions, BinOptions, ValueOptions, WeightOptions, PersonTotalOptions, AudienceOptions),
    *(FileOptions, TableOptions, LedgerOptions, OutputOptions),
)


def with_options(options: Any) -> Callable[[Function], Function]:
    """Write the options that a function takes as ``**options`` into its signature and docstring.

    Parameters
    ----------
    options : TypedDict
        One of the classes of this file.

    Returns
    -------
    decorator
        Adds every option to the function's signature, and its explanation to the end of the docstring's parameters.
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
    """Return the default of each option of a TypedDict."""
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
