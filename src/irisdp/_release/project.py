"""The settings of a project file, and how they are applied to the options of a question.

Relation, unit with its type, limit and ledger are fixed: a question that differs is refused. All else is said where a
question leaves it out.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from .._aliases import RELATIONS, near_matches, own_names
from .._exact import INTEGER_BITS, TomlFile, file_path, kind_of, told_below
from .._files import is_there
from .._ledger import DeclaredLedger, Ledger, address_of, data_location, named_limit
from .._options import WRITTEN
from .._queries import FORM_OF, Query
from .._tables import Table, load_types
from ..accounting import CURRENCIES, Charge, Currency
from ..errors import BadInput, ScopeRefused
from .labels import Labels, labels_in
from .partition_options import Division, read_division

# Parse a project file as strictly as options: TOML with few keys, from any author.
#
# Every mistake is one line that names the file and the place. What is hostile (huge, deep, numbers of a million
# digits, keys of a million parts) is refused before it is worked on.

KEYS = (
    *("relation", "unit", "at_most", "limit", "ledger", "partition", *WRITTEN),
    *("types", "lookup", "on", "categories", "groups", "labels"),
)
"""What a project may say; `types`, `categories` and `groups` are tables by column."""

_TEXTS = ("relation", "unit", "ledger", "encoding", "delimiter", "decimal", "thousands", "date_format", "comment")
_LISTS = ("categories", "groups")
_PAIRED = ("lookup", "on")


def read_document(path: Any, *, content: bytes | None = None) -> tuple[Path, dict[str, Any]]:
    """Read a project file, or check what shall be written into one.

    Returns
    -------
    tuple of (Path, dict)
        The file, and what it says: text, a limit as it was written, types by column, lists of values by column. Whether
        the table has such columns is found out when it is opened.

    Raises
    ------
    BadInput
        For a file that cannot be read, is no TOML, or has unknown keys or values of another kind.
    """
    file = TomlFile.at(
        path,
        "project",
        found="check the path, or write one with irisdp init",
        shorter="declare long lists with categories= or groups= instead",
    )
    document = _under_own_names(file, content)
    file.check_keys(document, KEYS)
    for name in _TEXTS:
        if name in document and not (isinstance(document[name], str) and document[name]):
            file.refuse(f"gives {name} {kind_of(document[name])}", f'write for example {name} = "{_SAID[name]}"')
    at_most = document.get("at_most", 1)
    if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1:
        file.refuse(f"gives at_most {kind_of(at_most)}", "write for example at_most = 1")
    if "relation" in document:
        document["relation"] = RELATIONS.get(document["relation"], document["relation"])
    if document.get("relation", "exchange") not in ("add-remove", "exchange"):
        file.refuse("gives a relation that there is not", "write add-remove or exchange")
    for name in ("types", *_LISTS):
        _check_table(document.get(name, {}), name, file)
    for name in _PAIRED:
        listed = document.get(name, [""])
        listed = [listed] if isinstance(listed, str) else listed
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            file.refuse(f"gives {name} {kind_of(document[name])}", f'write for example {name} = "{_SAID[name]}"')
    if "partition" in document:
        document["partition"] = _division(file, document["partition"])
    if "labels" in document:
        document["labels"] = labels_in(file, document["labels"])
    return file.path, document


def _under_own_names(file: TomlFile, content: bytes | None) -> dict[str, Any]:
    """Return what a file says by the names of options, which may have hyphens or be synonyms."""
    read = file.read() if content is None else file.parse(content)
    try:
        own = own_names(read)
    except BadInput as error:
        file.refuse(f"has {error.field}, which {error.rule}", error.remedy)
    document: dict[str, Any] = {}
    for key, value in own.items():
        name = key.replace("-", "_")
        if name in document:
            file.refuse(f"has {name} twice, with a hyphen and without", "keep one of them")
        document[name if name in KEYS else key] = value
    return document


def _division(file: TomlFile, value: Any) -> Division:
    """Read what divides the table into partitions."""
    try:
        found = read_division(value)
    except BadInput as error:
        file.refuse(f"has a partition that {error.rule}", error.remedy)
    if not isinstance(found, Division):
        file.refuse("gives partition a value, which each question names", f'write partition = "{found.column}"')
    return found


_SAID = {
    **{"relation": "exchange", "unit": "person", "encoding": "latin-1", "delimiter": ";"},
    **{"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y", "comment": "#"},
    **{"lookup": "wards.csv", "on": "ward", "ledger": "postgresql://db.example/iris?schema=survey"},
}


def _check_table(found: Any, section: str, file: TomlFile) -> None:
    """Check a table from columns to types, or to lists of values."""
    example = f'write [{section}], and below it "party" = ' + ('"text"' if section == "types" else '["A", "B"]')
    if not isinstance(found, Mapping):
        file.refuse(f"gives {section} {kind_of(found)}", example)
    columns: set[str] = set()
    for column, value in found.items():
        if column.casefold() in columns:
            file.refuse(f"names {column[:60]!r} twice in {section} (case does not count)", "name each column once")
        columns.add(column.casefold())
        if section == "types":
            if not isinstance(value, str | Mapping):
                file.refuse(f"gives {column[:60]!r} in types {kind_of(value)}", example)
            continue
        if not isinstance(value, list) or not value:
            said = "an empty list" if value == [] else kind_of(value)
            file.refuse(f"gives {column[:60]!r} in {section} {said}", example)
        for each in value:
            if not isinstance(each, str | int | Decimal | date):
                file.refuse(f"has {kind_of(each)} among the {section} of {column[:60]!r}", example)
            if isinstance(each, int) and each.bit_length() > INTEGER_BITS:
                file.refuse(f"has a number beyond 64 bits among the {section} of {column[:60]!r}", example)


# Groups and categories that a question names and its project does not: perhaps misspelt, and charged all the same.

_MOST_NAMED = 5


def say_unlisted(values: Iterable[Any], known: Sequence[Any], *, what: str, column: str, file: str) -> str | None:
    """Say in a line for people which values a project does not list, and what may have been meant; None if it has all.

    Parameters
    ----------
    values, known : iterable, sequence
        Declared with the question, and in the project. A number is the same however it is written.
    what, column, file : str
        Groups or categories, of which column, and the project's name.

    Examples
    --------
    >>> say_unlisted(["Ely", "Yrok"], ["Ely", "York"], what="groups", column="town", file="survey.iris.toml")
    '"Yrok" is not among the groups by town in survey.iris.toml; did you mean "York"?'
    >>> say_unlisted(["1", "2.0"], [1, 2, 3], what="groups", column="ward", file="survey.iris.toml") is None
    True
    """
    listed = {_value(value): value for value in known}
    strange = [value for value in dict.fromkeys(values) if _value(value) not in listed]
    if not strange:
        return None
    shown = " and ".join(filter(None, [", ".join(map(_shown, strange[:_MOST_NAMED])), _more(strange)]))
    be = "is" if len(strange) == 1 else "are"
    of = "by" if what == "groups" else "of"
    return f"{shown} {be} not among the {what} {of} {column} in {file}{_meant(strange, known)}"


def _meant(strange: Sequence[Any], known: Sequence[Any]) -> str:
    texts, names = [str(value) for value in strange], [value for value in known if isinstance(value, str)]
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(texts):
            return f"; the one name {_shown(name)} is written in double quotes, as is each with a comma"
    near = {name: None for text in texts for name in near_matches(text, names)}
    if not near:
        return "; what is listed there is known to be spelt right"
    return f"; did you mean {', '.join(map(_shown, list(near)[:_MOST_NAMED]))}?"


def _more(strange: Sequence[Any]) -> str:
    return f"{len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _value(value: Any) -> Hashable:
    """Return what two spellings of one value share."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text


ENDING = ".iris.toml"
"""How the name of a project file ends that is found beside its data."""

_PROMISED = ("relation", "unit")
_MOST_GROUPS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Project:
    """What a project file says; all of it public.

    Attributes
    ----------
    path : Path
    relation, unit : str or None
        As for `irisdp.publish`; None where it says nothing.
    written : mapping
        How a text file is written, as for `irisdp.publish`.
    at_most : int or None
        Of a person's records, how many count where a question does not say.
    limit : Charge or None
        The most that may ever be spent.
    ledger : Path, str or None
        The ledger that holds the budget: a file, or an address.
    types : mapping
        From columns to their types.
    categories, groups : mapping
        From columns, in small letters, to the values that are declared.
    joined : mapping
        The files of public tables to join, beside the project file, and the key of each.
    labels : Labels
        What readers of reports and charts see instead of names.
    partition : Division or None
        What divides the table into partitions, of which a question names one.
    """

    path: Path
    relation: str | None = None
    unit: str | None = None
    at_most: int | None = None
    limit: Charge | None = None
    ledger: Path | str | None = None
    written: Mapping[str, Any] = field(default_factory=dict)
    types: Mapping[str, Any] = field(default_factory=dict)
    categories: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    joined: Mapping[str, Any] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)
    partition: Division | None = None

    def __repr__(self) -> str:
        """Say which file it is."""
        return f"<Project: {self.path.name}>"

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def declared_ledger(self) -> DeclaredLedger | None:
        """The ledger that it names, and its own name."""
        return None if self.ledger is None else DeclaredLedger(self.name, self.ledger)

    def describe(self, said: Sequence[str]) -> str:
        """Return a line for people that lists the options taken from the project."""
        named = [*said, *(name for name in ("limit", "ledger") if getattr(self, name) is not None)]
        return f"{self.name} says {', '.join(named)}" if named else f"{self.name} says nothing of this"

    def promises(self, options: Mapping[str, Any]) -> None:
        """Refuse options that say otherwise than what is promised.

        Raises
        ------
        ScopeRefused
            Its document holds what differs, as promised and as asked.
        """
        for name in _PROMISED:
            self._keep(name, getattr(self, name), options.get(name))
        if self.unit is not None and options.get("types") is not None:
            promised, asked = (_of(found, self.unit) for found in (self.types, load_types(options["types"])))
            if asked is not None:
                self._keep("types", f"{self.unit} as {_said(promised or 'text')}", f"{self.unit} as {_said(asked)}")

    def keeps_limit(self, limit: Charge) -> None:
        """Refuse to set another limit than the one that is promised."""
        self._keep("limit", self.limit, limit)

    def _keep(self, name: str, promised: Any, asked: Any) -> None:
        if promised is None or asked is None or str(promised).casefold() == str(asked).casefold():
            return
        raise ScopeRefused(
            f"{self.name} sets {name} {promised}; you asked for {asked}. Leave it out, or change the file",
            differs=[name],
            pinned={name: str(promised)},
            asked={name: str(asked)},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectDefaults:
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

    def with_groups(self, by: Sequence[str] | None) -> ProjectDefaults:
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

    def _saying(self, **said: Any) -> ProjectDefaults:
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


def read_project(path: Any, *, content: bytes | None = None) -> Project:
    """Read a project file, or check what shall be written into one; see `read_document`."""
    file, project = read_document(path, content=content)
    try:
        limit = None if "limit" not in project else named_limit(project["limit"])
        ledger = _ledger(file, project.get("ledger"))
    except BadInput as error:
        raise BadInput("project", f"in {file.name}, {error.field} {error.rule}", error.remedy) from None
    categories, groups = (
        {column.casefold(): tuple(map(_plain, values)) for column, values in project.get(name, {}).items()}
        for name in ("categories", "groups")
    )
    promised = {name: project.get(name) for name in _PROMISED}
    return Project(
        path=file,
        limit=limit,
        ledger=ledger,
        at_most=project.get("at_most"),
        types=project.get("types", {}),
        categories=categories,
        groups=groups,
        labels=project.get("labels", Labels()),
        partition=project.get("partition"),
        written={name: project[name] for name in WRITTEN if name in project},
        joined=_joined(file, project),
        **promised,
    )


def _ledger(file: Path, text: str | None) -> Path | str | None:
    """Return the ledger's address, or its file: a relative path counts from the project file's folder."""
    if text is None or address_of(text) is not None:
        return text
    return file.absolute().parent / file_path(text, "ledger").expanduser()


def _joined(file: Path, project: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return lookups and their keys; relative paths count from the project file's folder."""
    listed = {name: project[name] for name in _PAIRED if name in project}
    listed = {name: [value] if isinstance(value, str) else value for name, value in listed.items()}
    return {
        name: [file.absolute().parent / file_path(each, "lookup").expanduser() for each in value]
        if name == "lookup"
        else value
        for name, value in listed.items()
    }


def _plain(value: Any) -> Any:
    """Return a number as Python writes it, where that is what was written."""
    return float(value) if isinstance(value, Decimal) and Decimal(repr(float(value))) == value else value


def apply_project(project: Project | None, asked: Query[Any] | None, options: Mapping[str, Any]) -> ProjectDefaults:
    """Tell a question, or the options that a session has for all of them, what a project says.

    Raises
    ------
    ScopeRefused
        If an option differs from a setting that the project fixes.
    """
    if project is None:
        return ProjectDefaults(options=options)
    project.promises(options)
    joined = {} if any(options.get(name) is not None for name in _PAIRED) else project.joined  # a pair is said as one
    known = {**{name: getattr(project, name) for name in _PROMISED}, **project.written, **joined}
    # A switch that is off was not said.
    said = {name: value for name, value in known.items() if value is not None and options.get(name) in (None, False)}
    if project.at_most is not None and _asks_of_persons(project, asked, options):
        said["at_most"] = project.at_most
    given = load_types(options.get("types"))
    kept = {column: kind for column, kind in project.types.items() if _of(given, column) is None}
    if kept:
        said["types"] = {**kept, **given}
    categories = _categories(project, asked, options)
    if categories is not None:
        said["categories"] = list(categories)
    return ProjectDefaults(options={**options, **said}, project=project, names=tuple(said))


def _asks_of_persons(project: Project, asked: Query[Any] | None, options: Mapping[str, Any]) -> bool:
    """Tell whether a question is about persons, and does not say itself which of their records count."""
    persons = options.get("unit") or project.unit
    chosen = (options.get(name) for name in ("at_most", "per_unit", "person", "per_person_upper"))
    if asked is None or not persons or any(option is not None for option in chosen):
        return False
    about = str(getattr(asked, "about", None)).casefold()
    if asked.name == "count-distinct" and about == str(persons).casefold() and not options.get("by"):
        return False  # it counts all persons and leaves no record out
    return project.at_most == 1 or hasattr(asked, "contribution")


def limit_to_set(project: Project | None, book: Ledger) -> Charge | None:
    """Return the limit that a ledger must be given before a release; None where it has it, or none is promised.

    Raises
    ------
    ScopeRefused
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
    reason = f"has {here.told(told_below)}" if here is not None else f"counts in {book.currency.name}"
    raise ScopeRefused(
        f"{project.name} sets the limit {project.limit.told(told_below)}, and {book.store.name} {reason}. Change"
        " one of the two",
        differs=["limit"],
        pinned={"limit": project.limit.to_document()},
        asked={"limit": here and here.to_document()},
    )


def give_limit(project: Project | None, book: Ledger) -> None:
    """Give a ledger the limit that is promised and that it lacks; one that was set meanwhile stays, and must be that.

    Raises
    ------
    ScopeRefused
        Where the ledger has another limit.
    """
    limit = limit_to_set(project, book)
    if limit is not None:
        book.restrict(limit, once=True)
        limit_to_set(project, book)


def currency_with(book: Ledger, limit: Charge | None) -> Currency:
    """Return what a ledger counts in once it has been given a limit; None gives it none."""
    return book.currency if limit is None else next(currency for currency in CURRENCIES if currency.cost is type(limit))


def check_columns(told: ProjectDefaults, table: Table) -> None:
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
    if asked is None or not FORM_OF[asked.name].needs_categories:
        return None
    if any(options.get(name) is not None for name in ("categories", "bins")):
        return None
    about = getattr(asked, "about", None)
    return None if about is None else project.categories.get(about.casefold())


def _said(declared: Any) -> str:
    """Write what is declared of a column in one form."""
    return declared if isinstance(declared, str) else json.dumps(declared, sort_keys=True, default=str)


def _of(types: Mapping[str, Any], column: str) -> Any:
    return next((kind for name, kind in types.items() if str(name).casefold() == column.casefold()), None)
