"""The settings of a project file, and how they are applied to the options of a question.

Relation, unit with its type, and limit are fixed: a question that differs is refused. All else is said where a question
leaves it out.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from ...accounting import CURRENCIES, Charge, Currency
from ...errors import BadInput, PromiseRefused
from ...exact import is_there, told_below
from ...queries import Query, Table, load_types
from ..labels import Labels
from ..ledger import Ledger
from ..limits import named_limit
from ..places import data_location
from .reading import read_document

__all__ = [
    "ENDING",
    "Project",
    "Told",
    "check_columns",
    "currency_with",
    "find_project",
    "give_limit",
    "limit_to_set",
    "read_project",
    "tell",
]

ENDING = ".iris.toml"
"""How the name of a project file ends that is found beside its data."""

_PROMISED = ("relation", "unit")
_FILLED = ("encoding", "delimiter")
_OF_CATEGORIES = ("plurality", "top", "ranking", "column", "histogram", "apply")
"""Queries that need categories, or bins where they take them; `sizes` may be asked without."""
_MOST_GROUPS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Project:
    """What a project file says; all of it public.

    Attributes
    ----------
    path : Path
    relation, unit, encoding, delimiter : str or None
        As for `irisdp.publish`; None where it says nothing.
    at_most : int or None
        Of a person's records, how many count where a question does not say.
    limit : Charge or None
        The most that may ever be spent.
    types : mapping
        From columns to their types.
    categories, groups : mapping
        From columns, in small letters, to the values that are declared.
    labels : Labels
        What readers of reports and charts see instead of names.
    """

    path: Path
    relation: str | None = None
    unit: str | None = None
    at_most: int | None = None
    limit: Charge | None = None
    encoding: str | None = None
    delimiter: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)

    def __repr__(self) -> str:
        """Say which file it is."""
        return f"<Project: {self.path.name}>"

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def describe(self, said: Sequence[str]) -> str:
        """Return a line for people that lists the options taken from the project."""
        named = [*said, *(["limit"] if self.limit is not None else [])]
        return f"{self.name} says {', '.join(named)}" if named else f"{self.name} says nothing of this"

    def promises(self, options: Mapping[str, Any]) -> None:
        """Refuse options that say otherwise than what is promised.

        Raises
        ------
        PromiseRefused
            Its document holds what differs, as promised and as asked.
        """
        for name in _PROMISED:
            self._keep(name, getattr(self, name), options.get(name))
        if self.unit is not None and options.get("types") is not None:
            promised, asked = (_of(found, self.unit) for found in (self.types, load_types(options["types"])))
            if asked is not None:
                self._keep("types", f"{self.unit} as {promised or 'text'}", f"{self.unit} as {asked}")

    def keeps_limit(self, limit: Charge) -> None:
        """Refuse to set another limit than the one that is promised."""
        self._keep("limit", self.limit, limit)

    def _keep(self, name: str, promised: Any, asked: Any) -> None:
        if promised is None or asked is None or str(promised).casefold() == str(asked).casefold():
            return
        raise PromiseRefused(
            f"{self.name} sets {name} {promised}; you asked for {asked}. Leave it out, or change the file",
            differs=[name],
            pinned={name: str(promised)},
            asked={name: str(asked)},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The options of a question, and what a project says where they say nothing.

    Attributes
    ----------
    options : mapping
        As for `irisdp.plan`.
    project : Project or None
    names : tuple of str
        The options that the project said.
    """

    options: Mapping[str, Any]
    project: Project | None = None
    names: tuple[str, ...] = ()

    def with_groups(self, by: Sequence[str] | None) -> Told:
        """Tell the groups of some columns, all combinations of the declared values, if no other groups are named."""
        known = {} if self.project is None else self.project.groups
        told = self.options.get("groups") is not None or self.options.get("select_groups")
        if told or not by or not all(isinstance(name, str) and name.casefold() in known for name in by):
            return self
        lists = [known[name.casefold()] for name in by]
        if math.prod(map(len, lists)) > _MOST_GROUPS:
            rule = f"declares more than {_MOST_GROUPS:,} groups by {', '.join(by)}"
            raise BadInput(
                "project", f"{self.project and self.project.name} {rule}", "declare those there are, groups=…"
            )
        groups = list(lists[0]) if len(lists) == 1 else list(itertools.product(*lists))
        return self._saying(groups=groups)

    def _saying(self, **said: Any) -> Told:
        return replace(self, options={**self.options, **said}, names=(*self.names, *said))

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Report an invalid option that came from the project under the project's name."""
        try:
            yield
        except BadInput as error:
            # Types of both may stand in one mapping; those on the line are named as they are.
            mixed = (
                error.field == "types" and self.project is not None and self.options.get("types") != self.project.types
            )
            if self.project is None or error.field not in self.names or mixed:
                raise
            raise BadInput("project", f"in {self.project.name}, {error.field} {error.rule}", error.remedy) from None


def find_project(data: Any, project: Any = None) -> Project | None:
    """Return the project that was named, or the one next to the data; None if the data has none.

    Only a missing file counts as no project. An unreadable one is an error, because its settings would be forgotten.

    Parameters
    ----------
    data : path or frame
    project : path or Project, optional

    Raises
    ------
    BadInput
        For a file that is no project, or that cannot be read.
    """
    if isinstance(project, Project):
        return project
    if project is not None:
        return read_project(project)
    location = data_location(data)
    beside = None if location is None else location.beside(ENDING)
    return read_project(beside) if beside is not None and is_there(beside) else None


def read_project(path: Any) -> Project:
    """Read a project file; see `read_document`."""
    file, found = read_document(path)
    try:
        limit = None if "limit" not in found else named_limit(found["limit"])
    except BadInput as error:
        raise BadInput("project", f"in {file.name}, {error.field} {error.rule}", error.remedy) from None
    categories, groups = (
        {column.casefold(): tuple(map(_plain, values)) for column, values in found.get(name, {}).items()}
        for name in ("categories", "groups")
    )
    texts = {name: found.get(name) for name in (*_PROMISED, *_FILLED)}
    return Project(
        path=file,
        limit=limit,
        at_most=found.get("at_most"),
        types=found.get("types", {}),
        categories=categories,
        groups=groups,
        labels=found.get("labels", Labels()),
        **texts,
    )


def _plain(value: Any) -> Any:
    """Return a number as Python writes it, where that is what was written."""
    return float(value) if isinstance(value, Decimal) and Decimal(repr(float(value))) == value else value


def tell(project: Project | None, asked: Query[Any] | None, options: Mapping[str, Any]) -> Told:
    """Tell a question, or the options that a session has for all of them, what a project says.

    Raises
    ------
    PromiseRefused
        If an option differs from a setting that the project fixes.
    """
    if project is None:
        return Told(options=options)
    project.promises(options)
    said = {
        name: getattr(project, name)
        for name in (*_PROMISED, *_FILLED)
        if getattr(project, name) is not None and options.get(name) is None
    }
    if project.at_most is not None and _asks_of_persons(project, asked, options):
        said["at_most"] = project.at_most
    given = load_types(options.get("types"))
    kept = {column: kind for column, kind in project.types.items() if _of(given, column) is None}
    if kept:
        said["types"] = {**kept, **given}
    categories = _categories(project, asked, options)
    if categories is not None:
        said["categories"] = list(categories)
    return Told(options={**options, **said}, project=project, names=tuple(said))


def _asks_of_persons(project: Project, asked: Query[Any] | None, options: Mapping[str, Any]) -> bool:
    """Tell whether a question is about persons, and does not say itself which of their records count."""
    persons = options.get("unit") or project.unit
    if asked is None or not persons or not options.get("at_most") is options.get("per_unit") is None:
        return False
    about = str(getattr(asked, "about", None)).casefold()
    if asked.name == "count-distinct" and about == str(persons).casefold() and not options.get("by"):
        return False  # it counts all persons and leaves no record out
    return project.at_most == 1 or hasattr(asked, "contribution")


def limit_to_set(project: Project | None, book: Ledger) -> Charge | None:
    """Return the limit that a ledger must be given before a release; None where it has it, or none is promised.

    Raises
    ------
    PromiseRefused
        Where the ledger has another limit.
    """
    if project is None or project.limit is None:
        return None
    here = book.limit
    if here == project.limit:
        return None
    counts = book.currency.cost
    if here is None and (counts is type(project.limit) or not book.releases()):
        return project.limit
    found = f"has {here.told(told_below)}" if here is not None else f"counts in {book.currency.name}"
    raise PromiseRefused(
        f"{project.name} sets the limit {project.limit.told(told_below)}, and {book.store.name} {found}. Change"
        " one of the two",
        differs=["limit"],
        pinned={"limit": project.limit.to_document()},
        asked={"limit": here and here.to_document()},
    )


def give_limit(project: Project | None, book: Ledger) -> None:
    """Give a ledger the limit that is promised and that it lacks; one that was set meanwhile stays, and must be that.

    Raises
    ------
    PromiseRefused
        Where the ledger has another limit.
    """
    limit = limit_to_set(project, book)
    if limit is not None:
        book.restrict(limit, once=True)
        limit_to_set(project, book)


def currency_with(book: Ledger, limit: Charge | None) -> Currency:
    """Return what a ledger counts in once it has been given a limit; None gives it none."""
    return book.currency if limit is None else next(found for found in CURRENCIES if found.cost is type(limit))


def check_columns(told: Told, table: Table) -> None:
    """Refuse columns that the table does not have, of a unit, categories or groups, before anything else is said."""
    if told.project is not None:
        if told.project.unit is not None:
            table.column(told.options["unit"], "unit")
        for section, columns in (("categories", told.project.categories), ("groups", told.project.groups)):
            for name in columns:
                try:
                    table.column(name, "project")
                except BadInput as error:
                    rule = f"in {told.project.name}, {section} {error.rule}"
                    raise BadInput("project", rule, error.remedy) from None


def _categories(project: Project, asked: Query[Any] | None, options: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the categories of the column that a question is about, where it needs them and names none."""
    if asked is None or asked.name not in _OF_CATEGORIES:
        return None
    if any(options.get(name) is not None for name in ("categories", "bins")):
        return None
    about = getattr(asked, "about", None)
    return None if about is None else project.categories.get(about.casefold())


def _of(types: Mapping[str, str], column: str) -> str | None:
    return next((kind for name, kind in types.items() if str(name).casefold() == column.casefold()), None)
