"""The options of a question, one row each: the command line, plans, batches and queries take theirs from this table.

It imports nothing, because help must be shown fast. What Python knows of an option besides, its type and its whole
explanation, stands in `_release/options.py`; a test compares the two, and the schemas with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Option:
    """One option of `irisdp publish`.

    Attributes
    ----------
    name : str
        As in Python; the command line has hyphens.
    group : str
        The heading of the help page under which it is listed.
    metavar : str
        What stands for its value in help; empty for a switch.
    help : str
        What it means, in a line.
    kind : str
        How the command line reads it: as text, as a list that may be repeated, as a file, or as a switch.
    default : str, optional
        The value if the option is left out, in words.
    queries : str
        The queries that take it, in words; all of them if empty.
    batches : bool or tuple of str
        Whether a question of a batch takes it; if not, perhaps what is wrong with it there, and the remedy.
    """

    name: str
    group: str
    metavar: str
    help: str
    kind: Literal["text", "list", "file", "switch"] = "text"
    default: str | None = None
    queries: str = ""
    batches: bool | tuple[str, str] = True


_SHARED = (
    "belongs to the budget, which the questions share",
    "give this question a weight: twice the weight is half the noise",
)

OPTIONS = (
    Option(
        "by", "Question", "COL,…", "Group columns, or NAME = EXPRESSION; separate with commas, or repeat.", kind="list"
    ),
    Option(
        "groups",
        "Question",
        "FILE|V1,V2,…",
        "The groups: values separated by commas, or a CSV file. Repeat to add. Of several columns: COL=V1,V2,…, each.",
        kind="list",
    ),
    Option("select_groups", "Question", "", "Discover the groups privately instead of listing them.", kind="switch"),
    Option(
        "categories",
        "Question",
        "FILE|V1,V2,…",
        "The categories that may be answered, or a CSV file. Repeat to add.",
        kind="list",
        queries="plurality, top, ranking, histogram, sizes and column",
    ),
    Option(
        "bins",
        "Question",
        "E1,E2,…",
        "Edges between bins (histogram, median, quantiles). Repeat to add.",
        kind="list",
        queries="histogram, median, quantile and quantiles",
    ),
    Option(
        "lower",
        "Question",
        "L",
        "Lower bound for values (sum, mean, variance); smaller values count as L.",
        queries="sum, mean, variance and deviation",
    ),
    Option(
        "upper",
        "Question",
        "U",
        "Upper bound for values (sum, mean, variance); larger values count as U.",
        queries="sum, mean, variance and deviation",
    ),
    Option(
        "step",
        "Question",
        "S",
        "Round values to multiples of S (sum, mean, variance).",
        queries="sum, mean, variance and deviation",
    ),
    Option(
        "missing",
        "Question",
        "V",
        "Value of records without a number (sum, mean, variance). [default: left out]",
        queries="sum, mean, variance and deviation",
    ),
    Option(
        "weight",
        "Question",
        "COL",
        "Weigh each value by this column (sum, mean), or add it up (count).",
        queries="sum, mean and count",
        batches=False,
    ),
    Option(
        "weight_upper",
        "Question",
        "W",
        "Upper bound for weights; larger weights count as W.",
        queries="sum, mean and count",
        batches=(
            "is not for batches, whose weight is a question's share of the budget",
            "publish the weighted sum alone",
        ),
    ),
    Option("where", "Question", "EXPR", "The condition EXPR, as an option.", batches=False),
    Option("epsilon", "Privacy", "E", "Privacy parameter ε of each answer: smaller is more private.", batches=_SHARED),
    Option("delta", "Privacy", "D", "Privacy parameter δ; with --mu, the δ at which it is charged.", default="0"),
    Option("ratio", "Privacy", "R", "e^ε instead of ε, as an exact number.", batches=_SHARED),
    Option("mu", "Privacy", "M", "μ of Gaussian differential privacy instead of ε.", batches=_SHARED),
    Option("privacy", "Privacy", "JSON", "Any guarantee as JSON: several pairs, Gaussian or zCDP.", batches=_SHARED),
    Option(
        "within",
        "Privacy",
        "K",
        "Find the least ε with error at most K; with --epsilon, the least δ for noise that never exceeds K.",
        batches=(
            "is not for batches, whose questions share one budget",
            'publish this question alone, or leave "within" out',
        ),
    ),
    Option(
        "records",
        "Privacy",
        "N",
        "With --within of a mean: assume that at least N records have a value. For planning only.",
        batches=("is not for batches, whose questions share one budget", "leave it out"),
    ),
    Option("confidence", "Privacy", "C", "Confidence level for --within and for intervals. [default: 0.95]"),
    Option(
        "relation",
        "Privacy",
        "RELATION",
        "Neighbouring tables: one record more or less (add-remove, unbounded), or one record replaced "
        "(exchange, replace-one, bounded). [default: add-remove]",
    ),
    Option("public_membership", "Privacy", "", "With exchange: who is in which group is public.", kind="switch"),
    Option("selection_epsilon", "Privacy", "E", "ε for discovering groups. [default: as --epsilon]", batches=False),
    Option("selection_delta", "Privacy", "D", "δ for discovering groups. [default: all of --delta]"),
    Option(
        "audience",
        "Privacy",
        "NAME[=E]",
        "An audience and its ε (or a name alone, with --epsilon). Repeat for each audience.",
        kind="list",
        batches=("is not for batches", 'publish this question alone, or leave "audience" out'),
    ),
    Option("unit", "People", "COL", "The privacy unit (--privacy-unit): the column that identifies a person."),
    Option("at_most", "People", "M", "Max contributions (--max-contributions): keep M records of each person."),
    Option("per_unit", "People", "any|all", "Ask whether any, or all, of a person's records meet EXPR."),
    Option(
        "groups_per_unit", "People", "G", "Max partitions (--max-partitions): keep each person's records in G groups."
    ),
    Option(
        "person",
        "People",
        "NAME = AGGREGATE,…",
        "Derive one row from all records of each person, such as 'visits = COUNT(*), spent = SUM(amount)'; "
        "the query then counts persons.",
        batches=True,
    ),
    Option(
        "per_person_upper",
        "People",
        "U",
        "Count each person's total as 0 to U (sum).",
        queries="sum",
    ),
    Option(
        "partition",
        "People",
        "COL=VALUE",
        "One partition of a growing table, charged apart from the others: a hive column, a column of records, "
        "'DATE by month=2024-01', file:COL=VALUE for all of DATA, or whole.",
    ),
    Option("encoding", "Input", "NAME", "Encoding of a text file. [default: utf-8]"),
    Option("delimiter", "Input", "CHARACTER", "Delimiter of a text file. [default: comma; tab for .tsv]"),
    Option("decimal", "Input", "MARK", "Decimal mark of a text file. [default: .]"),
    Option("thousands", "Input", "MARK", "Mark between thousands in a text file. [default: none]"),
    Option("date_format", "Input", "FORMAT", "Date format of a text file, such as %d.%m.%Y. [default: ISO 8601]"),
    Option("missing_codes", "Input", "C1,C2,…", "Codes for missing values in a text file. Repeat to add.", kind="list"),
    Option("skip_rows", "Input", "N", "Lines above the header of a text file. [default: 0]"),
    Option("header_rows", "Input", "N", "Header rows of a text file; the first names the columns. [default: 1]"),
    Option("footer_rows", "Input", "N", "Rows at the end of a text file that are no records. [default: 0]"),
    Option("no_header", "Input", "", "The text file has no header; name its columns with --columns.", kind="switch"),
    Option("columns", "Input", "A,B,…", "Names of the columns of a text file without a header.", kind="list"),
    Option(
        "row_names",
        "Input",
        "",
        "Each record of a text file begins with a row name, which is no column.",
        kind="switch",
    ),
    Option("codes", "Input", "", "Keep the codes of a .dta or .sav file instead of their labels.", kind="switch"),
    Option("sheet", "Input", "NAME", "Sheet of an .xlsx workbook; needed where there are several."),
    Option("comment", "Input", "MARK", "Skip records of a text file that begin with this mark, such as #."),
    Option(
        "types",
        "Input",
        "FILE",
        "JSON file with types (integer, number, text, boolean, date, timestamp) and formats of columns.",
        kind="file",
    ),
    Option(
        "lookup",
        "Input",
        "FILE",
        "Join the columns of this public CSV file, one row for each KEY. Repeat with an --on each.",
        kind="list",
    ),
    Option("on", "Input", "KEY", "The column of DATA and of the lookup that rows are joined on.", kind="list"),
    Option("engine", "Input", "duckdb|spark", "Engine that reads Parquet files. [default: duckdb]"),
    Option("master", "Input", "URL", "Address of the Spark cluster, such as spark://host:7077."),
    Option(
        "project",
        "Input",
        "FILE",
        "Project file with settings for DATA. [default: NAME.iris.toml beside DATA]",
        kind="file",
    ),
    Option(
        "ledger",
        "Ledger",
        "FILE",
        "The ledger: a file, or postgresql://USER@HOST/DB?schema=NAME. [default: beside DATA]",
    ),
    Option(
        "another_ledger",
        "Ledger",
        "",
        "Publish from a second budget: another ledger than the one that DATA is bound to.",
        kind="switch",
        batches=("belongs to the plan, for all questions", 'move it beside "questions"'),
    ),
    Option(
        "secret", "Ledger", "FILE", "Keep the fingerprint secret beside this file instead of beside DATA.", kind="file"
    ),
    Option(
        "max_charge",
        "Ledger",
        "E[,D]",
        "Refuse a charge above this, written as a limit. 0: publish only what is free.",
        batches=("is for the whole batch", "say --max-charge of irisdp batch"),
    ),
    Option("table", "Ledger", "NAME", "Name of the table in the ledger. [default: the file's name]"),
    Option(
        "out",
        "Output",
        "FILE",
        "Write the answers to .csv, .parquet or .json. {date}, {month}, {year}: the day in UTC.",
        kind="file",
    ),
    Option("report", "Output", "FILE", "Write an .html page that explains the answers to readers.", kind="file"),
    Option("title", "Output", "TEXT", "Heading of the page or chart."),
    Option(
        "labels",
        "Output",
        "FILE",
        "TOML file with [labels]: words for columns, groups and queries. A project file or plan will do.",
        kind="file",
    ),
    Option("licence", "Output", "NAME|URL", "Licence of the answers: a name such as CC-BY-4.0, or an address."),
    Option("force", "Output", "", "Overwrite existing output files. Input files are never overwritten.", kind="switch"),
)
"""In the order in which help lists them."""

STRUCTURE = (
    "skip_rows",
    "header_rows",
    "footer_rows",
    "no_header",
    "columns",
    "row_names",
    "comment",
    "codes",
    "sheet",
)
"""Options that say which lines of a text file are records."""
SPELLED = ("decimal", "thousands", "date_format", "missing_codes")
"""Options that say how a text file writes values, whatever the column."""
WRITTEN = ("encoding", "delimiter", *SPELLED, *STRUCTURE)
"""Options that say how a text file is written."""

COLUMN_CHOICES = {option.name: option.queries for option in OPTIONS if option.queries}
"""Options that only some queries take, with these queries in words."""
