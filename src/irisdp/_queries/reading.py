"""Read a query as people write it; `irisdp._queries.registry` lists all queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, cast

from .._aliases import did_you_mean
from .._tables import Table
from ..errors import BadInput
from .derived_columns import read_about
from .groups import Groups
from .privacy_units import ContributionBounds
from .query import AnswersByRecord, Query, steps_of_person
from .registry import FORM_OF, FORMS, QueryEntry

if TYPE_CHECKING:
    from .apply import Apply
    from .histogram import Histogram

_LONGEST_SHOWN = 60


class _Queries(Mapping[str, type[Query[Any]]]):
    """The class of each query, by its name; its file is loaded when it is asked for."""

    def __getitem__(self, name: str) -> type[Query[Any]]:
        return _load(FORM_OF[name])

    def __iter__(self) -> Iterator[str]:
        return iter(FORM_OF)

    def __len__(self) -> int:
        return len(FORM_OF)


def _load(form: QueryEntry) -> type[Query[Any]]:
    file, _, name = form.home.partition(".")
    kind: type[Query[Any]] = getattr(import_module(f".{file}", __package__), name)
    return kind


QUERIES = _Queries()
"""The class of each query, by its name."""


def read_query(query: Any, arguments: Sequence[Any], where: str | None = None) -> Query[Any]:
    """Read a query such as ``at-least K [EXPR]``, in separate words or in one text; `where` is its condition."""
    name, _, rest = query.strip().partition(" ") if isinstance(query, str) else ("", "", "")
    if name not in QUERIES:
        _refuse_unknown(name)
    words = [*([rest.strip()] if rest.strip() else []), *arguments]
    return QUERIES[name].read(words if where is None else _with_condition(name, words, where))


def _refuse_unknown(name: str) -> NoReturn:
    rule = f"{name[:_LONGEST_SHOWN]!r} is no query of Iris" if name else "is empty"
    plain = name.casefold().replace("_", "-")
    for form in FORMS:
        if plain in form.elsewhere:
            raise BadInput("query", rule, f"write {form.name}")
    *others, last = (form.usage for form in FORMS)
    raise BadInput("query", rule, did_you_mean(plain, QUERIES) or f"write {', '.join(others)} or {last}")


def _with_condition(name: str, words: list[Any], where: str) -> list[Any]:
    """Return the words of a query with the condition that `where` names after them."""
    is_optional = "[EXPR" in FORM_OF[name].usage  # then the other words are a whole question
    if QUERIES[name].read(words).expression is not None if is_optional else words:
        raise BadInput("where", "is given, and the question has a condition after the query", "keep one of them")
    return [*words, where]


def applies_a_file(question: Query[Any]) -> TypeGuard[Apply]:
    """Tell whether a mechanism file answers; by the name, for the class would load all that checks such files."""
    return question.name == "apply"


def is_in_parts(question: Query[Any]) -> TypeGuard[Histogram]:
    """Tell whether a question parts the groups by a column of its own."""
    return question.name == "histogram"


def find_subject(question: Query[Any], table: Table, weight: str | None) -> tuple[Query[Any], Table]:
    """Find the column that a question is about, which may be a named expression.

    A column that is not there is refused before anything is asked for that a question about it needs. Else a misspelt
    name finds nothing that a project says of the column, and that is asked for which stands there.

    Returns
    -------
    tuple of (Query, Table)
        The question about a column of the table, and the table with that column if it is derived.
    """
    about = getattr(question, "about", None)
    if about is None:
        return question, table
    whole = f"{about} {question.expression}"  # what looks like a column and a condition may be one name
    if whole in {column.name for column in table.named}:
        question = replace(cast(Any, question), about=whole, expression=None)
    else:
        table, name = read_about(table, about)
        question = replace(cast(Any, question), about=table.column(name, "query").name)
    if weight is not None and hasattr(question, "stepped"):
        table.column(weight, "weight")
    return question, table


def keep_contribution(question: Query[Any], contribution: ContributionBounds, groups: Groups | None) -> Query[Any]:
    """Let a question know in how many groups a person's records can lie; refuse several records where it keeps one.

    Parameters
    ----------
    question : Query
        Bound by `over` to what one person may contribute, if it has a field for that.
    contribution : ContributionBounds
    groups : Groups or None
        Those that were declared.
    """
    if not contribution.several:
        return question
    if getattr(question, "contribution", None) != contribution:
        *others, last = (name for name, kind in QUERIES.items() if hasattr(kind, "contribution"))
        rule = f"is not for {question.name}, but for {', '.join(others)} and {last}"
        raise BadInput("at_most", rule, "give at_most=1, which keeps one record of each person")
    if isinstance(question, AnswersByRecord) and contribution.limits_groups:
        rule = f"is not for {question.name}, whose error depends on the number of records alone"
        raise BadInput("groups_per_unit", rule, "leave it out")
    declared = None if groups is None else len(groups)
    kept: Query[Any] = replace(cast(Any, question), contribution=replace(contribution, declared=declared))
    return kept


def check_several(question: Query[Any], **options: Any) -> Query[Any]:
    """Return a question, unless options were given that group privacy for several records does not cover."""
    for name, given in options.items():
        if given is not None and steps_of_person(question) > 1:
            rule = f"is not for {question.name} with several records of each person"
            raise BadInput(name, rule, "leave it out, or count one record of each with at_most=1")
    return question


def counts_every_person(question: Query[Any], *, grouped: bool) -> bool:
    """Tell whether a question under a unit counts persons, all of them, so that no record has to be chosen."""
    if grouped:
        return False
    return getattr(question, "of_people", False) or (question.column is None and question.expression is None)


def check_records_chosen(question: Query[Any], *, unit: str, grouped: bool) -> None:
    """Refuse a question that counts some of a person's records and does not say which.

    A default would leave out records that the data owner did not ask to leave out.

    Parameters
    ----------
    question : Query
        Bound to its table.
    unit : str
        Column that identifies a person.
    grouped : bool
        Whether there are groups, bins among them.

    Raises
    ------
    BadInput
        Names the options, and what each would count.
    """
    if counts_every_person(question, grouped=grouped):
        return
    ways = ["at_most=1 to count one record of each, chosen at random (all, if each has only one)"]
    if hasattr(question, "contribution"):
        ways.insert(0, "at_most=M to count up to M records of each, with more noise")
    if question.expression is not None and question.column is None:
        ways.append("per_unit=any to count each once, if the condition holds for any record, or per_unit=all for all")
    ways.append("person=… to count persons by a row derived from all records of each, such as their number")
    rule = f"says that one {unit} may have several records, and {question.name} must know which of them count"
    raise BadInput("unit", rule, f"add {'; '.join(ways)}")
