"""A mechanism file before it may answer about a table: read once, brought into one form, checked on every edge.

Iris does not trust the author of the file. Its bytes are read once, so a file that is replaced meanwhile changes
nothing. It must hold a mechanism over a family of counts. The rows used for drawing, in the order of that family's own
nodes, are audited as rationals on every edge of the family's own graph. Its answers must be names that are safe in
files and on terminals. What remains of the file is these rows, their digest, and what its certificate was found to
prove.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..certify import Optimality, audit, check_optimality
from ..certify.subject import is_the_path
from ..errors import BadInput
from ..exact import (
    NoRegularFile,
    file_path,
    open_regular,
    parse_json,
    plain_text,
    rational_text,
    short_above,
    short_below,
)
from ..graphs import DatasetGraph, Gaps, Histograms, Path, SortedHistograms
from ..graphs.names import json_node
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument, privacy_to_document, read_document
from ..privacy import Privacy

__all__ = ["CheckedFile", "check_private", "read_checked"]

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
        found = self.optimality
        names = {} if self.names is None else {"outputs": [self.names[place] for place in _by_name(self.names)]}
        return {
            "sha256": self.digest,
            "graph": self.family.to_document(),
            **names,
            "optimality": None
            if found is None
            else {
                "kind": found.kind,
                "among": found.scope(),
                "goal": None if found.goal is None else found.goal.words,
                "says": found.says() if found.value is None else None,
                "value": None if found.value is None else rational_text(found.value),
                "lower_bound": None if found.lower_bound is None else rational_text(found.lower_bound),
            },
        }

    def proven(self) -> dict[str, Any]:
        """Return what the certificate proves, for people: a goal, its value and its bound, or a sentence."""
        found = self.optimality
        if found is None:
            return {}
        if found.goal is None or found.value is None or found.lower_bound is None:
            return {"says": found.says()}
        return {
            "goal": found.goal.words,
            "value": short_above(found.value),
            "lower_bound": short_below(found.lower_bound),
            "among": found.scope(),
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
    found = audit(mechanism, graph=graph)
    if not (found.private and found.rows_sum_to_one):
        raise BadInput("mechanism", _NOT_PRIVATE, "audit it to see where, and repair it")


def _read_once(path: Any) -> str:
    """Return the text of a regular file; whatever comes to stand under its name later is not looked at."""
    place = file_path(path, "mechanism")
    try:
        with open_regular(place) as file:
            found = file.read(_MOST_BYTES + 1)
    except NoRegularFile:
        raise BadInput("mechanism", f"{place} is no regular file", "give a JSON file") from None
    except FileNotFoundError:
        raise BadInput("mechanism", f"there is no file {place}", "check the path") from None
    except OSError:
        raise BadInput("mechanism", f"cannot read {place}", "give a JSON file that can be read") from None
    if len(found) > _MOST_BYTES:
        raise BadInput("mechanism", f"{place} has more than {_MOST_BYTES >> 20} MiB", "design a smaller mechanism")
    try:
        return found.decode()
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
        found = document.factored
        if family.number_of_nodes != found.n + 1 or not isinstance(family, Path):
            raise BadInput("graph", "of a factored mechanism must be the path 0..n", "leave it out")
        if found.privacy.ratio == 1:
            raise BadInput("privacy", "of factors must have an epsilon above 0", "write the matrix")
        return FactoredMechanism(privacy=found.privacy, n=found.n, reading=found.reading)
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
