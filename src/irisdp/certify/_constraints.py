"""Linear constraints that a certificate states: read again, compared with the rows, and taken into its bound.

A certificate with constraints compares only mechanisms that meet them. Nothing here is shared with `irisdp.design`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flint

from .._exact import Number, Numbers, flint_rational, integer, json_list, rational
from ..errors import BadInput
from ..graphs import UNREACHABLE
from ._audited_mechanism import AuditedMechanism

_ONE, _ZERO = flint.fmpq(1), flint.fmpq(0)

_MOST_TERMS = 1 << 20
"""Entries that all constraints together may name; the stand-alone verifier has the same limit."""

_LONGEST_NUMBER = 40
"""Characters of a number that people are shown."""


@dataclass(frozen=True, slots=True)
class Inequality:
    """Σ a x_iv is at most `bound`, or equal to it; the terms are (i, v, a)."""

    terms: tuple[tuple[int, int, Number], ...]
    bound: Number
    equal: bool = False


@dataclass(frozen=True, slots=True)
class StatedConstraints:
    """What the constraints of a certificate say.

    Parameters
    ----------
    given : mapping
        Input → output → the probability that the entry must have, by numbers.
    rows : mapping
        (number of the constraint, number of the row in it) → the row.
    words : list of str
        Every constraint for people.
    """

    given: dict[int, dict[int, Number]] = field(default_factory=dict)
    rows: dict[tuple[int, int], Inequality] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def give(self, i: int, v: int, p: Number) -> None:
        """Note that an entry must have a probability."""
        if self.given.setdefault(i, {}).setdefault(v, p) != p:
            raise BadInput("constraints", "give one entry two different probabilities", "leave out one of them")

    def insist(self, row_at: Callable[[int], Numbers], inputs: int) -> None:
        """Refuse rows that do not meet the constraints exactly."""
        table = [row_at(i) for i in range(inputs)]
        for i, entries in self.given.items():
            if any(table[i][v] != p for v, p in entries.items()):
                raise BadInput("constraints", "give entries that are others in the matrix", "correct the rows")
        for row in self.rows.values():
            reached = sum((a * table[i][v] for i, v, a in row.terms), start=_ZERO)
            if reached > row.bound or (row.equal and reached != row.bound):
                raise BadInput("constraints", "are not met by the rows", "correct the rows")

    def priced(self, certificate: Mapping[str, Any], scores: Callable[[int], dict[int, Number]]) -> Number:
        """Add the multipliers of the constraints to the scores, and return what they take from the bound.

        Parameters
        ----------
        certificate : mapping
            Holds "constraint_multipliers": [[k, row, μ], …], μ ≥ 0 unless the row is an equation.
        scores : callable
            Input → what is added to its scores, by output.
        """
        seen, taken = set(), _ZERO
        for entry in json_list(certificate.get("constraint_multipliers", []), "constraint_multipliers"):
            constraint, number, size = json_list(entry, "constraint_multipliers", 3)
            key = tuple(integer(place, "constraint_multipliers", at_least=0) for place in (constraint, number))
            row, multiplier = self.rows.get((key[0], key[1])), flint_rational(rational(size, "constraint_multipliers"))
            if row is None or key in seen or (multiplier < 0 and not row.equal):
                rule = "must each be for one row of a constraint, and not negative unless it is an equation"
                raise BadInput("constraint_multipliers", rule, "correct them")
            seen.add(key)
            taken += multiplier * row.bound
            for i, v, a in row.terms:
                added = scores(i)
                added[v] = added.get(v, _ZERO) + multiplier * a
        return taken

    def least(self, i: int, scores: Sequence[Number]) -> Number:
        """Return the smallest Σ_v score_v x_iv of an input's distributions that have the given entries."""
        known = self.given.get(i)
        if not known:
            return min(scores)
        part = sum((scores[v] * p for v, p in known.items()), start=_ZERO)
        rest = 1 - sum(known.values(), start=_ZERO)
        if rest < 0 or (rest and len(known) == len(scores)):
            raise BadInput("constraints", "give entries that sum to no distribution", "correct them")
        return part + rest * min((x for v, x in enumerate(scores) if v not in known), default=_ZERO)


def read_constraints(subject: AuditedMechanism, certificate: Mapping[str, Any]) -> StatedConstraints:
    """Read "constraints" of a certificate; none where there are none.

    Raises
    ------
    BadInput
        For an unknown form, names that are no numbers where a constraint needs them, or places outside the matrix.
    """
    constraints = StatedConstraints()
    listed = json_list(certificate.get("constraints", []), "constraints")
    if len(listed) * len(subject.inputs) * len(subject.outputs) > _MOST_TERMS:
        raise BadInput("constraints", "are too many for a matrix of this size", "put several into one")
    for number, constraint in enumerate(listed):
        _read(constraints, number, constraint, subject)
    return constraints


def _read(constraints: StatedConstraints, number: int, constraint: Any, subject: AuditedMechanism) -> None:
    if constraint in ("unbiased", "monotone"):
        rows = _unbiased(subject) if constraint == "unbiased" else _monotone(subject)
        constraints.rows.update({(number, row): inequality for row, inequality in rows})
        constraints.words.append(
            "unbiased" if constraint == "unbiased" else "no answer likelier than the next one towards the truth"
        )
    elif isinstance(constraint, Mapping) and set(constraint) in ({"terms", "at_most"}, {"terms", "equals"}):
        equal = "equals" in constraint
        terms = tuple(_entries(constraint["terms"], "terms", subject, parts=3))
        bound = flint_rational(rational(constraint["equals" if equal else "at_most"], "terms"))
        constraints.rows[number, 0] = Inequality(terms, bound, equal)
        constraints.words.append("a linear constraint that the file writes out")
    else:
        given, words = _given_entries(constraint, subject)
        for i, v, p in given:
            if not 0 <= p <= 1:
                raise BadInput("constraints", "must give probabilities", "give numbers from 0 to 1")
            constraints.give(i, v, p)
        constraints.words.append(words)


def _unbiased(subject: AuditedMechanism) -> Iterator[tuple[int, Inequality]]:
    """Yield for every input that the mean answer is the input."""
    here, there = _counts(subject)
    for i, truth in enumerate(here):
        terms = tuple((i, v, flint.fmpq(answer)) for v, answer in enumerate(there))
        yield i, Inequality(terms, flint.fmpq(truth), equal=True)


def _monotone(subject: AuditedMechanism) -> Iterator[tuple[int, Inequality]]:
    """Yield for every input and output that the next output towards the input is at least as likely."""
    here, there = _counts(subject)
    for i, far, near in _towards(here, there):
        yield i * len(there) + far, Inequality(((i, far, _ONE), (i, near, -_ONE)), _ZERO)


def _given_entries(constraint: Any, subject: AuditedMechanism) -> tuple[list[tuple[int, int, Number]], str]:
    """Return the entries that a constraint gives, and what it says in words."""
    keys = set(constraint) if isinstance(constraint, Mapping) else set()
    if keys == {"error_at_most", "of"}:
        most = rational(constraint["error_at_most"], "error_at_most")
        unit = " steps in the graph" if constraint["of"] == "graph-distance" else ""
        errors = enumerate(_errors(subject, constraint["of"]))
        far = [(i, v, _ZERO) for i, row in errors for v, error in enumerate(row) if error > most]
        return far, f"errors of at most {_as_written(constraint['error_at_most'])}{unit}"
    if keys == {"keep"}:
        listed = json_list(constraint["keep"], "keep")
        kept = [integer(i, "keep", at_least=0, at_most=len(subject.inputs) - 1) for i in listed]
        if len(set(kept)) < len(kept) or any(subject.inputs[i] not in subject.outputs for i in kept):
            raise BadInput("keep", "names an input twice, or one that is no output", "leave it out")
        given = [
            (i, v, flint.fmpq(answer == subject.inputs[i])) for i in kept for v, answer in enumerate(subject.outputs)
        ]
        return given, f"the true answer is certain at some inputs ({len(kept)})"
    if keys == {"zero"}:
        given = list(_entries(constraint["zero"], "zero", subject, parts=2))
        return given, f"some entries are 0 ({len(given)})"
    if keys == {"fixed"}:
        given = list(_entries(constraint["fixed"], "fixed", subject, parts=3))
        return given, f"some entries are given ({len(given)})"
    raise BadInput("constraints", "holds one that is not known", "write them as the documentation does")


def _as_written(number: Any) -> str:
    """Return a number as the file has it: a rounded one would state another constraint."""
    text = str(number).strip()
    return text if len(text) <= _LONGEST_NUMBER else "a number that the file writes out"


def _counts(subject: AuditedMechanism) -> tuple[list[int], list[int]]:
    """Return the names of inputs and outputs, which must be whole numbers."""
    names = [[name for name in group if isinstance(name, int)] for group in (subject.inputs, subject.outputs)]
    if len(names[0]) != len(subject.inputs) or len(names[1]) != len(subject.outputs):
        raise BadInput("constraints", "needs inputs and outputs that are whole numbers", "leave it out")
    return names[0], names[1]


def _towards(inputs: list[int], outputs: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield every input with an output and the next one towards the input, unless that is beyond it."""
    place = {answer: v for v, answer in enumerate(outputs)}
    ascending = sorted(outputs)
    for i, truth in enumerate(inputs):
        for k, answer in enumerate(ascending):
            if answer < truth and k + 1 < len(ascending) and ascending[k + 1] <= truth:
                yield i, place[answer], place[ascending[k + 1]]
            elif answer > truth and k > 0 and ascending[k - 1] >= truth:
                yield i, place[answer], place[ascending[k - 1]]


def _errors(subject: AuditedMechanism, of: Any) -> Iterator[Sequence[float]]:
    """Yield how far every output is from the input, for every input; infinitely far where no path leads there."""
    if of == "absolute":
        here, there = _counts(subject)
        yield from ([abs(truth - answer) for answer in there] for truth in here)
    elif of == "graph-distance" and list(subject.inputs) == list(subject.outputs):
        places = subject.places
        for place in places.tolist():
            row = subject.graph.distances_from(place)[places].tolist()
            yield [math.inf if far == UNREACHABLE else far for far in row]
    else:
        raise BadInput("of", "must be absolute, or graph-distance where outputs are the inputs", "correct it")


def _entries(value: Any, field: str, subject: AuditedMechanism, *, parts: int) -> Iterator[tuple[int, int, Number]]:
    """Yield i, v and the number, if there is one, of a list of entries; no entry may come twice."""
    seen = set()
    for entry in json_list(value, field):
        listed = json_list(entry, field, parts)
        i = integer(listed[0], field, at_least=0, at_most=len(subject.inputs) - 1)
        v = integer(listed[1], field, at_least=0, at_most=len(subject.outputs) - 1)
        if (i, v) in seen:
            raise BadInput(field, "lists an entry twice", "list it once")
        seen.add((i, v))
        yield i, v, _ZERO if parts == 2 else flint_rational(rational(listed[2], field))
