"""apply MECH.json [COLUMN] [EXPR]: the answer of a designed mechanism about each cell."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._exact import file_path, parse_json, plain_text, rational_text, short_above, short_below
from .._files import NoRegularFile, open_regular
from .._measurements import DesignedAnswers, Measurement, PlacedNodes
from .._tables import Column, Condition, Table
from ..certify import Optimality, audit, check_optimality, is_the_path
from ..errors import BadInput
from ..graphs import DatasetGraph, Gaps, Histograms, NeighbouringRelation, Path, SortedHistograms, json_node
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument, privacy_to_document, read_document
from ..privacy import Guarantee, Privacy
from .categories import CategoryCounts, count_categories, read_categories, read_column
from .derived_columns import Bins, read_bins
from .groups import Groups
from .privacy_units import ColumnChoices, PrivacyUnit
from .query import as_asked, check_expression, check_one_condition
from .statistics import CountsByGroup, Statistics, count_records

# Check a mechanism file before it may answer about a table: read once, converted to one form, audited on every edge.
#
# Iris does not trust the author of the file. Its bytes are read once, so a file that is replaced meanwhile changes
# nothing. It must hold a mechanism over a family of counts. The rows used for drawing, in the order of that family's
# own nodes, are audited as rationals on every edge of the family's own graph. Its answers must be names that are safe
# in files and on terminals. Only these rows, their digest and the verified claims of the certificate are kept.

CountFamily = Path | Histograms | SortedHistograms | Gaps
"""Graphs that tables are mapped to, so that neighbours become neighbours or equals."""

_MOST_BYTES = 1 << 26
_MOST_CHARACTERS = 100
_INT64 = range(-(2**63), 2**63)
_NOT_PRIVATE = "is not as private as it states, on every edge of its graph"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A mechanism over a family of counts that keeps the privacy it states, exactly, on every edge.

    Attributes
    ----------
    mechanism : Mechanism or FactoredMechanism
        Inputs are the family's nodes, in their order.
    family : Path, Histograms, SortedHistograms or Gaps
    names : tuple of int or text, or None
        What its answers are called; None for the counts 0..n of a factored mechanism.
    digest : str
        Of family, privacy, rows and names, in one form: equal for all spellings of a matrix.
    optimality : Optimality or None
        What the file's certificate proves, if it has one.
    """

    mechanism: Mechanism | FactoredMechanism
    family: CountFamily
    names: tuple[int | str, ...] | None
    digest: str
    optimality: Optimality | None = field(repr=False)

    @property
    def privacy(self) -> Privacy:
        """What the file states, and its rows keep."""
        return self.mechanism.privacy

    def description(self) -> dict[str, Any]:
        """Describe the mechanism for release files; only the names of answers are in the file's own words."""
        optimality = self.optimality
        names = {} if self.names is None else {"outputs": [self.names[place] for place in _by_name(self.names)]}
        return {
            "sha256": self.digest,
            "graph": self.family.to_document(),
            **names,
            "optimality": None
            if optimality is None
            else {
                "kind": optimality.kind,
                "among": optimality.scope(),
                "goal": None if optimality.goal is None else optimality.goal.words,
                "says": optimality.says() if optimality.value is None else None,
                "value": None if optimality.value is None else rational_text(optimality.value),
                "lower_bound": None if optimality.lower_bound is None else rational_text(optimality.lower_bound),
            },
        }

    def proven(self) -> dict[str, Any]:
        """Return what the certificate proves, for people: a goal, its value and its bound, or a sentence."""
        optimality = self.optimality
        if optimality is None:
            return {}
        if optimality.goal is None or optimality.value is None or optimality.lower_bound is None:
            return {"says": optimality.says()}
        return {
            "goal": optimality.goal.words,
            "value": short_above(optimality.value),
            "lower_bound": short_below(optimality.lower_bound),
            "among": optimality.scope(),
        }


def read_checked(path: Any) -> CheckedFile:
    """Read a mechanism file, once, and check all that an answer about a table rests on.

    Raises
    ------
    BadInput
        For a file that is no mechanism, or none over a family of counts. Also for one that is not as private as it
        states on every edge, as rationals; whose certificate does not hold; or whose answers have names that cannot be
        shown.
    """
    text = _read_once(path)
    try:
        document = read_document(parse_json(text, "mechanism"))
        family = _family(document)
        mechanism = _in_order(document, family)
        names = None if isinstance(mechanism, FactoredMechanism) else _names(mechanism.outputs)
        if mechanism.privacy.single and mechanism.privacy.ratio == 1 and mechanism.privacy.delta == 0:
            raise BadInput("privacy", "must be above epsilon 0, at which answers say nothing", "design one for more")
        check_private(mechanism, family)
        optimality = check_optimality(document)
    except BadInput as error:
        if error.field == "mechanism":
            raise
        # Options of publish are called like parts of the file.
        raise BadInput("mechanism", f"its {error.field} {error.rule}", error.remedy) from None
    if optimality is not None and not optimality.holds:
        raise BadInput("mechanism", "has a certificate that does not hold", "leave the certificate out, or mend it")
    return CheckedFile(mechanism, family, names, _digest(mechanism, family, names), optimality)


def check_private(mechanism: Mechanism | FactoredMechanism, graph: DatasetGraph) -> None:
    """Refuse rows that are not as private as stated on every edge of a graph, as rationals."""
    audited = audit(mechanism, graph=graph)
    if not (audited.private and audited.rows_sum_to_one):
        raise BadInput("mechanism", _NOT_PRIVATE, "audit it to see where, and repair it")


def _read_once(path: Any) -> str:
    """Return the text of a regular file; whatever comes to stand under its name later is not looked at."""
    place = file_path(path, "mechanism")
    try:
        with open_regular(place) as file:
            content = file.read(_MOST_BYTES + 1)
    except NoRegularFile:
        raise BadInput("mechanism", f"{place} is no regular file", "give a JSON file") from None
    except FileNotFoundError:
        raise BadInput("mechanism", f"there is no file {place}", "check the path") from None
    except OSError:
        raise BadInput("mechanism", f"cannot read {place}", "give a JSON file that can be read") from None
    if len(content) > _MOST_BYTES:
        raise BadInput("mechanism", f"{place} has more than {_MOST_BYTES >> 20} MiB", "design a smaller mechanism")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BadInput("mechanism", f"cannot read {place} as UTF-8 text", "give a JSON file") from None


def _family(document: MechanismDocument) -> CountFamily:
    """Return the family that a file's graph is, as the library builds it; refuse any other by name."""
    graph = document.graph
    if document.factored is not None and graph is None:
        return Path(document.factored.n + 1)
    if graph is None:
        raise BadInput("graph", "is missing", 'write for example {"family": "path", "n": 11} for counts up to 10')
    if isinstance(graph, Path | Histograms | SortedHistograms | Gaps):
        return graph
    if is_the_path(graph, graph.number_of_nodes):
        return Path(graph.number_of_nodes)
    told = graph.to_document().get("family", "edges")
    called = "a list of edges that are not those of the path 0, 1, …" if told == "edges" else f"of the family {told}"
    remedy = "design for a path (a count), histograms, sorted_histograms or gaps"
    raise BadInput("graph", f"is {called}, to which no table is mapped", remedy)


def _in_order(document: MechanismDocument, family: CountFamily) -> Mechanism | FactoredMechanism:
    """Return the mechanism with the family's nodes as inputs, in their order, and nothing but its rows."""
    if document.factored is not None:
        factored = document.factored
        if family.number_of_nodes != factored.n + 1 or not isinstance(family, Path):
            raise BadInput("graph", "of a factored mechanism must be the path 0..n", "leave it out")
        if factored.privacy.ratio == 1:
            raise BadInput("privacy", "of factors must have an epsilon above 0", "write the matrix")
        return FactoredMechanism(privacy=factored.privacy, n=factored.n, reading=factored.reading)
    stated = document.mechanism()
    assert isinstance(stated, Mechanism)
    if len(stated.inputs) != family.number_of_nodes:
        raise BadInput("inputs", "must be exactly the nodes of the graph", "name each node once")
    places = [stated.inputs.position(node) for node in family.nodes]
    if None in places:
        raise BadInput("inputs", "must be exactly the nodes of the graph", "name each node once")
    return Mechanism(
        privacy=stated.privacy,
        inputs=family.nodes,
        outputs=stated.outputs,
        rows=stated.rows,
        row_of=stated.row_of[np.array(places, dtype=np.int64)],
        graph=family,
    )


def _names(outputs: Sequence[Hashable]) -> tuple[int | str, ...]:
    """Return how answers are shown: as numbers where all are, else as text, in which lists are JSON."""
    if all(isinstance(output, int) and output in _INT64 for output in outputs):
        return tuple(output for output in outputs if isinstance(output, int))
    shown = [output if isinstance(output, str) else json.dumps(json_node(output)) for output in outputs]
    for name in shown:
        if not name.strip() or name != name.strip() or len(name) > _MOST_CHARACTERS or not name.isprintable():
            rule = f"must be called by 1 to {_MOST_CHARACTERS} letters that can be shown, with no space around them"
            raise BadInput("outputs", rule, "rename them")
        plain_text(name, "outputs")
    if len(set(shown)) < len(shown):
        raise BadInput("outputs", "hold two that would look alike", "rename one of them")
    return tuple(shown)


def _digest(mechanism: Mechanism | FactoredMechanism, family: CountFamily, names: Sequence[int | str] | None) -> str:
    """Digest what decides the law of answers, in one form: outputs by name, rows by node, fractions in lowest terms."""
    document: dict[str, Any] = {
        "graph": family.to_document(),
        "privacy": privacy_to_document(mechanism.privacy),
    }
    if isinstance(mechanism, FactoredMechanism):
        document["reading"] = [
            [z, *sorted([r, _exactly(p)] for r, p in _added(choices).items() if p)]
            for z, choices in sorted((mechanism.reading or {}).items())
        ]
    else:
        assert names is not None
        order = _by_name(names)
        lines = [[_exactly(row[place]) for place in order] for row in mechanism.rows]
        document["outputs"] = [names[place] for place in order]
        document["rows"] = [hashlib.sha256(json.dumps(line).encode()).hexdigest() for line in lines]
        document["rows"] = [document["rows"][number] for number in mechanism.row_of.tolist()]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _by_name(names: Sequence[int | str]) -> list[int]:
    """Return the places of answers in the order of their names, which are all numbers or all text."""
    return sorted(range(len(names)), key=names.__getitem__)


def _added(choices: Sequence[tuple[int, Fraction]]) -> dict[int, Fraction]:
    total: dict[int, Fraction] = {}
    for answer, probability in choices:
        total[answer] = total.get(answer, Fraction(0)) + probability
    return total


def _exactly(value: Fraction) -> str:
    """Write a fraction in lowest terms, however long: Python writes no decimal number of many thousand digits."""
    return f"{value.numerator:x}/{value.denominator:x}"


_IN_ONE_TEXT = re.compile(r"(?P<file>.+?\.json)\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)


def apply_words(words: Sequence[str]) -> list[str]:
    """Return the file, and what it is applied to, of words that may hold both in one text."""
    match = _IN_ONE_TEXT.fullmatch(words[0].strip()) if len(words) == 1 else None
    return list(words) if match is None else [match["file"], match["rest"]]


@dataclass(frozen=True, slots=True)
class Apply:
    """What a mechanism file answers about each cell, where its graph is a family of counts.

    - A *path* 0..n: the number of records for which a condition is true (of all without one), at most n. Both relations
      move it by one step at most.
    - *Histograms* of N records: how many have each declared category and, last, how many have none of them. Only under
      exchange, where N is public; without the last one a record might be in no histogram.
    - *Sorted histograms*: the same numbers, largest first.
    - *Gaps*: how far each declared category is behind the largest, at most the cap. Under exchange a record may also
      come to be in no category, or the other way: that the file is private under such moves is checked, too.

    proofs/designed-answers.md.

    Parameters
    ----------
    checked : CheckedFile
        The mechanism, as it was read and checked.
    file : Path
        Where it was read.
    expression : str, optional
        SQL condition; of categories, a record for which it is not true has none of them.
    about : str, optional
        Name of the column, for the other families.
    categories : Groups, optional
        Bound by `over`.
    bins : Bins, optional
        Bound by `over`, where categories are bins.
    """

    checked: CheckedFile
    file: FilePath = field(compare=False)
    expression: str | None = None
    about: str | None = None
    categories: Groups | None = field(default=None, repr=False)
    bins: Bins | None = field(default=None, repr=False)

    name: ClassVar[str] = "apply"

    @property
    def exchange_steps(self) -> int:
        """Steps on a cell's add-remove graph that exchanging a record takes: of gaps two, where two counts move."""
        return 2 if isinstance(self.checked.family, Gaps) else 1

    @classmethod
    def read(cls, words: Sequence[Any]) -> Apply:
        """Read ``MECH.json [COLUMN] [EXPR]``: a mechanism over a path of counts has no column."""
        parts = list(words)
        if not parts or not isinstance(parts[0], str) or not parts[0].strip():
            raise BadInput("mechanism", "is missing for apply", f"write for example {cls._example()}")
        parts = apply_words(parts)
        checked, others = read_checked(parts[0].strip()), parts[1:]
        file = FilePath(parts[0].strip())
        if isinstance(checked.family, Path):
            check_one_condition(others, cls.name)
            expression = others[0] if others else None
            check_expression(expression, cls.name, "MECH.json", needed=False)
            return cls(checked, file, expression)
        if not others or len(others) > 2 or not isinstance(others[0], str) or not others[0].strip():
            rule = "needs one column for a mechanism about categories, and after it at most a condition"
            raise BadInput("query", f"apply {rule}", f"write for example {as_asked(cls.name, 'MECH.json', 'party')}")
        about, expression = read_column(others, cls.name)
        return cls(checked, file, expression, about)

    def over(self, table: Table, choices: ColumnChoices) -> Apply:
        """Choose the categories for a table, as many as the mechanism's graph allows."""
        if self.about is None:
            choices.refuse_all_but("apply to a count")
            return self
        binned = None
        if choices.bins is not None:
            choices.refuse_all_but("apply with bins", "bins")
            binned = read_bins(table, self.about, choices.bins)
        categories = binned.groups if binned else read_categories(table, self.about, choices.categories, self.name)
        family = self.checked.family
        assert not isinstance(family, Path)
        room = family.categories if isinstance(family, Gaps) else family.types - 1
        if len(categories) != room:
            rest = "" if isinstance(family, Gaps) else ": its last type counts the records that have none of them"
            field_name = "bins" if binned else "categories"
            raise BadInput(
                field_name, f"must be {room} for this mechanism, not {len(categories)}{rest}", "declare that many"
            )
        return replace(self, about=categories.columns[0].name, categories=categories, bins=binned)

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as; None for a count."""
        return None if self.categories is None else self.categories.columns[0]

    def describe(self) -> dict[str, str]:
        """Return the public description: the mechanism by its digest, never by a name that somebody gave it."""
        about = {} if self.about is None else {"column": self.about}
        return {"query": self.name, "mechanism": self.checked.digest[:16], **about}

    def describe_values(self) -> list[str]:
        """Return nothing: a condition says how it reads columns, and what is no declared category is in none."""
        return []

    def choices(self) -> dict[str, Any]:
        """Return which categories there are, and in which order: the mechanism tells them apart by their places."""
        if self.categories is None:
            return {}
        categories = self.categories
        binned = {} if self.bins is None else {"bins": [str(edge) for edge in self.bins.edges]}
        return {
            "categories": {
                "declared": len(categories),
                "sha256": categories.digest,
                "order": categories.shown.tolist(),
            },
            **binned,
        }

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> Statistics | _Sized:
        """Count the records of each cell, and those in each category."""
        if self.categories is None:
            return count_records(table, condition=condition, groups=groups, unit=unit)
        within = self.bins.within(table) if self.bins is not None else table
        counts = count_categories(within, self.categories, condition=condition, groups=groups, unit=unit)
        if isinstance(self.checked.family, Gaps):
            return _Sized(counts, None)
        return _Sized(counts, count_records(table, groups=groups, unit=unit).total)

    def nodes(self, statistics: Statistics | _Sized, relation: NeighbouringRelation) -> PlacedNodes:
        """Return where each cell is among the mechanism's inputs."""
        family = self.checked.family
        if isinstance(statistics, Statistics):
            assert isinstance(family, Path)
            return PlacedNodes(np.minimum(statistics.yes, family.n - 1))
        assert self.categories is not None
        assert not isinstance(family, Path)
        counts = statistics.categories.counts[:, self.categories.shown]
        if isinstance(family, Gaps):
            gaps = counts.max(axis=1, keepdims=True) - counts
            return PlacedNodes(family.ranks(np.minimum(gaps, family.largest)))
        assert statistics.total is not None
        if (statistics.total != family.total).any():
            rule = f"is for {family.total} records, and that is not how many there are, which is taken as public"
            raise BadInput("mechanism", rule, "design one for that many")
        rest = statistics.total - counts.sum(axis=1)
        counts = np.concatenate([counts, rest[:, np.newaxis]], axis=1)
        if isinstance(family, SortedHistograms):
            counts = -np.sort(-counts, axis=1)
        return PlacedNodes(family.ranks(counts))

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[PlacedNodes]:
        """Return the mechanism itself, if it is one for the cells' relation; its privacy is its own."""
        _check_relation(self.checked, relation)
        checked = self.checked
        return DesignedAnswers(
            checked.mechanism, checked.names, self._categories(), checked.description(), checked.proven()
        )

    def _categories(self) -> tuple[str, ...] | None:
        """Return the categories in the order declared, where the answers are their places."""
        checked = self.checked
        if self.categories is None or not isinstance(checked.family, Gaps) or checked.names is None:
            return None
        if set(checked.names) != set(range(checked.family.categories)):
            return None
        names = self.categories.names
        return tuple(str(names[row]) for row in self.categories.shown.tolist())

    @classmethod
    def _example(cls) -> str:
        return as_asked(cls.name, "MECH.json", "age > 64")


@dataclass(frozen=True, slots=True, eq=False)
class _Sized:
    """Records by category, and how many there are in all where that matters; private, and not shown by `repr`."""

    categories: CategoryCounts = field(repr=False)
    total: NDArray[np.int64] | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.categories)


def _check_relation(checked: CheckedFile, relation: NeighbouringRelation) -> None:
    """Refuse a mechanism for another relation than the cells'; the map to its graph would be no morphism."""
    family = checked.family
    if isinstance(family, Path):
        return
    if isinstance(family, Gaps):
        if family.relation != relation.value:
            rule = f"is for neighbours by {family.relation}, and those of each cell are by {relation.value}"
            raise BadInput("mechanism", rule, "design one for that relation, or ask with the other relation=")
        if relation == NeighbouringRelation.EXCHANGE:  # a record may come to be in no category
            check_private(checked.mechanism, Gaps(family.categories, family.largest, "add-remove"))
        return
    if relation != NeighbouringRelation.EXCHANGE:
        rule = "is for a public number of records, which neighbours by add-remove have not in common"
        raise BadInput(
            "mechanism", rule, "ask with relation='exchange', and without groups unless membership is public"
        )
