"""Linear constraints that a mechanism has to meet besides privacy, such as the rules of a statistics office.

Each is one of these; inputs and outputs stand by their names:

    "unbiased"                              Σ_v v x_iv = i at every input
    "monotone"                              no answer is likelier than the next one on the way to the truth
    {"error_at_most": K}                    x_iv = 0 where v is farther than K from i
    {"zero": [[input, output], …]}          x_iv = 0
    {"fixed": [[input, output, p], …]}      x_iv = p
    {"keep": [input, …]}                    x_ii = 1
    {"terms": [[input, output, a], …], "at_most" | "at_least" | "equals": b}      Σ a x_iv compared with b

"Farther" is |i − v|, or the distance in the graph where "of" says "graph-distance".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from .._aliases import did_you_mean
from .._exact import entries, rational, rational_text
from .._frames import printable
from ..errors import BadInput
from ..graphs import UNREACHABLE, DatasetGraph, NodeNames, named_nodes, node_among

Place = tuple[int, int]
"""Input and output by their numbers."""

_NAMED = ("error_at_most", "zero", "fixed", "keep", "terms")
_FORMS = 'use "unbiased", "monotone", {"error_at_most": K}, {"zero": …}, {"fixed": …}, {"keep": …} or {"terms": …}'

_COMPARED = {"at_most": 1, "at_least": -1, "equals": 1}

_FARTHER = ("absolute", "graph-distance")


@dataclass(frozen=True, slots=True)
class LinearRow:
    """Σ a x_iv is at most `bound`, or equal to it.

    Parameters
    ----------
    number : int
        Of the row within its constraint, as certificates count them.
    terms : tuple of (int, int, Fraction)
        i, v and a.
    bound : Fraction
    equal : bool
    """

    number: int
    terms: tuple[tuple[int, int, Fraction], ...]
    bound: Fraction
    equal: bool

    def excess(self, rows: Sequence[Sequence[Fraction]]) -> Fraction:
        """Return Σ a x_iv − bound."""
        return sum((a * rows[i][v] for i, v, a in self.terms), start=-self.bound)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint: entries that are given, or rows of the program.

    Parameters
    ----------
    document : text or mapping
        As certificates write it, inputs and outputs by their numbers.
    given : mapping
        (i, v) → the probability of the entry.
    rows : tuple of LinearRow
    """

    document: Any
    given: Mapping[Place, Fraction]
    rows: tuple[LinearRow, ...] = ()


@dataclass(frozen=True)
class Constraints:
    """All constraints of a design, in the order in which they were given."""

    each: tuple[Constraint, ...]

    def __post_init__(self) -> None:
        """Refuse an entry that is given two probabilities."""
        given: dict[Place, Fraction] = {}
        for constraint in self.each:
            for place, p in constraint.given.items():
                if given.setdefault(place, p) != p:
                    rule = "give one entry two different probabilities"
                    raise BadInput("constraints", rule, "leave out one of the two constraints")

    @cached_property
    def given(self) -> dict[Place, Fraction]:
        """The entries whose probability is given."""
        return {place: p for constraint in self.each for place, p in constraint.given.items()}

    def rows(self) -> Iterator[tuple[Place, LinearRow]]:
        """Yield every row, with the number of its constraint and its own number."""
        for number, constraint in enumerate(self.each):
            for row in constraint.rows:
                yield (number, row.number), row

    def name(self, number: int) -> str:
        """Return what messages call a constraint: its form, and its number where several have it."""
        forms = [form if isinstance(form, str) else next(iter(form)) for form in self.to_document()]
        return f'"{forms[number]}"' + (f" (number {number + 1})" if forms.count(forms[number]) > 1 else "")

    @property
    def leaves_one_answer(self) -> bool:
        """Whether being unbiased leaves some input one answer, because none lies beyond it."""
        terms = (
            (row.bound, [a for *_, a in row.terms])
            for constraint in self.each
            if constraint.document == "unbiased"
            for row in constraint.rows
        )
        return any(not min(answers) < truth < max(answers) for truth, answers in terms)

    def without(self, number: int) -> Constraints:
        """Return all but one."""
        return Constraints((*self.each[:number], *self.each[number + 1 :]))

    def are_met(self, table: Sequence[Sequence[Fraction]]) -> bool:
        """Tell whether a matrix meets all of them, exactly."""
        if any(table[i][v] != p for (i, v), p in self.given.items()):
            return False
        excesses = ((row.equal, row.excess(table)) for _, row in self.rows())
        return all(excess == 0 if equal else excess <= 0 for equal, excess in excesses)

    def to_document(self) -> list[Any]:
        """Write them as certificates do."""
        return [constraint.document for constraint in self.each]


NO_CONSTRAINTS = Constraints(())


def read_constraints(
    given: Any,
    graph: DatasetGraph,
    outputs: Sequence[Hashable],
    *,
    of: str = "absolute",
    truth: Sequence[int] | None = None,
) -> Constraints:
    """Read constraints as Python or a spec has them.

    Parameters
    ----------
    given : list, optional
        See the top of this file; none when left out.
    graph : DatasetGraph
        Its nodes are the inputs.
    outputs : sequence
        Names of the answers.
    of : "absolute" or "graph-distance"
        What "error_at_most" means unless it says so.
    truth : sequence of int, optional
        The number of the right answer at every input; the answer of the same name when left out.

    Raises
    ------
    BadInput
        For another form, an unknown name, numbers that are no probabilities, or names that are no whole numbers where
        these are needed.
    """
    if given is None:
        return NO_CONSTRAINTS
    listed = [given] if isinstance(given, str | Mapping) else entries(given)
    if listed is None:
        raise BadInput("constraints", "must be a list", _FORMS)
    reader = _ConstraintReader(graph, named_nodes(outputs, "outputs"), of, truth)
    return Constraints(tuple(map(reader.read, listed)))


class _ConstraintReader:
    """Reads constraints on the mechanisms with given inputs and outputs."""

    def __init__(self, graph: DatasetGraph, outputs: NodeNames, of: str, truth: Sequence[int] | None) -> None:
        self._graph, self._of, self._truth = graph, of, truth
        self._inputs, self._outputs = graph.nodes, outputs

    def read(self, constraint: Any) -> Constraint:
        if isinstance(constraint, str) and constraint in ("unbiased", "monotone"):
            return Constraint(constraint, {}, tuple(self._unbiased() if constraint == "unbiased" else self._monotone()))
        if isinstance(constraint, str):
            words = printable(constraint)
            rule = f"hold '{words if len(words) <= 40 else words[:39] + '…'}', which is no constraint"
            near = did_you_mean(constraint[:40], ("unbiased", "monotone", *_NAMED))
            raise BadInput("constraints", rule, near or _FORMS)
        if not isinstance(constraint, Mapping):
            raise BadInput("constraints", "must hold constraints", _FORMS)
        kinds = [kind for kind in _NAMED if kind in constraint]
        beside = {"error_at_most": {"of"}, "terms": set(_COMPARED)}
        if len(kinds) != 1 or set(constraint) - {kinds[0]} - beside.get(kinds[0], set()):
            raise BadInput("constraints", "must hold constraints, each with one name", _FORMS)
        if kinds[0] == "error_at_most":
            return self._close(constraint)
        if kinds[0] == "terms":
            return self._linear(constraint)
        return self._given(kinds[0], constraint[kinds[0]])

    def _unbiased(self) -> Iterator[LinearRow]:
        here, there = _whole(self._inputs, "unbiased"), _whole(self._outputs, "unbiased")
        for i, truth in enumerate(here):
            terms = tuple((i, v, Fraction(answer)) for v, answer in enumerate(there))
            yield LinearRow(i, terms, Fraction(truth), equal=True)

    def _monotone(self) -> Iterator[LinearRow]:
        here, there = _whole(self._inputs, "monotone"), _whole(self._outputs, "monotone")
        order = sorted(range(len(there)), key=there.__getitem__)
        for i, truth in enumerate(here):
            for low, high in pairwise(order):
                # From the answer that is farther to the one that is nearer, where both are on one side of the truth.
                pairs = [(low, high)] * (there[high] <= truth) + [(high, low)] * (there[low] >= truth)
                for far, near in pairs:
                    terms = ((i, far, Fraction(1)), (i, near, Fraction(-1)))
                    yield LinearRow(i * len(there) + far, terms, Fraction(0), equal=False)

    def _close(self, constraint: Mapping[str, Any]) -> Constraint:
        most, of = rational(constraint["error_at_most"], "error_at_most"), constraint.get("of", self._of)
        if most < 0:
            raise BadInput("error_at_most", "must not be negative", "give a number from 0 up")
        if not isinstance(of, str) or of not in _FARTHER:
            raise BadInput("of", "is no distance", f"write {' or '.join(_FARTHER)}")
        errors = self._absolute() if of == "absolute" else self._distances()
        given = {(i, v): Fraction(0) for i, row in enumerate(errors) for v, far in enumerate(row) if far > most}
        return Constraint({"error_at_most": rational_text(most), "of": of}, given)

    def _absolute(self) -> Iterator[list[float]]:
        here, there = _whole(self._inputs, "error_at_most"), _whole(self._outputs, "error_at_most")
        return ([abs(truth - answer) for answer in there] for truth in here)

    def _distances(self) -> Iterator[list[float]]:
        if tuple(self._inputs) != tuple(self._outputs):
            raise BadInput(
                "error_at_most", "by graph-distance needs outputs that are the inputs", 'add "of": "absolute"'
            )
        for node in range(len(self._inputs)):
            row = self._graph.distances_from(node).tolist()
            yield [math.inf if far == UNREACHABLE else far for far in row]

    def _linear(self, constraint: Mapping[str, Any]) -> Constraint:
        compared = [word for word in _COMPARED if word in constraint]
        if len(compared) != 1:
            raise BadInput("terms", "must be compared with one number", 'add "at_most", "at_least" or "equals"')
        sums: dict[Place, Fraction] = {}
        for i, v, a in self._entries(constraint["terms"], "terms", with_number=True):
            sums[i, v] = sums.get((i, v), Fraction(0)) + a
        sign, bound = _COMPARED[compared[0]], rational(constraint[compared[0]], compared[0])
        terms = tuple((i, v, sign * a) for (i, v), a in sorted(sums.items()))
        row = LinearRow(0, terms, sign * bound, equal=compared[0] == "equals")
        written = [[i, v, rational_text(a)] for i, v, a in terms]
        comparison = "equals" if row.equal else "at_most"
        return Constraint({"terms": written, comparison: rational_text(row.bound)}, {}, (row,))

    def _given(self, kind: str, value: Any) -> Constraint:
        if kind == "keep":
            return self._keep(value)
        fixed: dict[Place, Fraction] = {}
        for i, v, p in self._entries(value, kind, with_number=kind == "fixed"):
            if not 0 <= p <= 1 or fixed.setdefault((i, v), p) != p:
                raise BadInput(kind, "must give every entry one probability", "give numbers from 0 to 1, once each")
        if kind == "zero":
            return Constraint({"zero": [list(place) for place in fixed]}, fixed)
        return Constraint({"fixed": [[*place, rational_text(p)] for place, p in fixed.items()]}, fixed)

    def _keep(self, value: Any) -> Constraint:
        listed = entries(value)
        if listed is None:
            raise BadInput("keep", "must list inputs", 'write {"keep": [0]}')
        inputs = sorted({self._input(name, "keep") for name in listed})
        if self._truth is None:
            certain = [(i, self._output(self._inputs.at(i), "keep")) for i in inputs]
            document: dict[str, Any] = {"keep": inputs}
        else:
            certain = [(i, self._truth[i]) for i in inputs]
            document = {"fixed": [[i, v, "1"] for i, v in certain]}
        return Constraint(document, {(i, u): Fraction(u == v) for i, v in certain for u in range(len(self._outputs))})

    def _entries(self, value: Any, kind: str, *, with_number: bool) -> Iterator[tuple[int, int, Fraction]]:
        parts = ["input", "output", *(["number"] if with_number else [])]
        for entry in entries(value) or [None]:
            listed = entries(entry)
            if listed is None or len(listed) != len(parts):
                raise BadInput(kind, "must be a list of entries", f"write {{{kind!r}: [[{', '.join(parts)}], …]}}")
            number = rational(listed[2], kind) if with_number else Fraction(0)
            yield self._input(listed[0], kind), self._output(listed[1], kind), number

    def _input(self, name: Any, kind: str) -> int:
        return _position(self._inputs, name, kind, "an input")

    def _output(self, name: Any, kind: str) -> int:
        return _position(self._outputs, name, kind, "an output")


def _position(names: NodeNames, name: Any, kind: str, what: str) -> int:
    """Find the place of a name; JSON has lists for tuples, and digits may stand for integers."""
    try:
        position = names.position(node_among(names, name, kind))
    except BadInput:
        position = None
    if position is None:
        raise BadInput(kind, f"names what is not {what}", f"choose among {names!r}")
    return position


def _whole(names: NodeNames, kind: str) -> list[int]:
    """Return names that are whole numbers as such."""
    whole = [name for name in names if isinstance(name, int)]
    if len(whole) != len(names):
        raise BadInput("constraints", f"{kind} needs inputs and outputs that are whole numbers", "leave it out")
    return whole
