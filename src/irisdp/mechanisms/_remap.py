"""How answers are remapped: stochastic matrices in the forms in which people have them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .._exact import entries, numbers, rational
from ..errors import BadInput

Line = tuple[tuple[int, Fraction], ...]
"""What one answer becomes: positions of new answers, with their probabilities, which sum to 1."""


def read_remap(
    remap: Any, answers: Sequence[Hashable], outputs: Sequence[Hashable] | None
) -> tuple[tuple[Hashable, ...], list[Line]]:
    """Read a remap of the answers of a mechanism.

    Parameters
    ----------
    remap : matrix, mapping, mechanism or OptimalReading
        As `Mechanism.post_process` takes it.
    answers : sequence
        Names of the answers that are remapped.
    outputs : sequence, optional
        Names of the new answers.

    Returns
    -------
    names, lines
        Names of the new answers, and one line for every old one.

    Raises
    ------
    BadInput
        For anything that is no stochastic matrix.
    """
    given = None if outputs is None else _listed(outputs)
    if callable(getattr(remap, "matrix", None)):  # an optimal reading, or a mechanism that reads the answers
        given = tuple(remap.outputs) if given is None and hasattr(remap, "outputs") else given
        inputs, remap = getattr(remap, "inputs", answers), remap.matrix()
        row_of = dict(zip(inputs, remap, strict=False))
        if len(remap) != len(answers) or any(answer not in row_of for answer in answers):
            raise BadInput(
                "reading", "must have the answers as its inputs", "give a mechanism that reads these answers"
            )
        remap = [row_of[answer] for answer in answers]
    if isinstance(remap, Mapping):
        return _by_name(remap, answers, given)
    table = entries(remap, len(answers))
    if not table or len(table) != len(answers):
        raise BadInput("reading", "must have one row for every output", f"give {len(answers)} rows")
    rows = [numbers(line, "reading") for line in table]
    names = tuple(range(len(rows[0]))) if given is None else given
    for row in rows:
        if len(row) != len(names):
            raise BadInput("reading", f"has a row of {len(row)} entries", f"give {len(names)} in every row")
        _check(row)
    return names, [tuple((v, p) for v, p in enumerate(row) if p) for row in rows]


def _by_name(
    remap: Mapping[Any, Any], answers: Sequence[Hashable], given: tuple[Hashable, ...] | None
) -> tuple[tuple[Hashable, ...], list[Line]]:
    """Read {answer: new answer}, {answer: {new answer: probability}} or {answer: [(new answer, probability), …]}."""
    missing = next((answer for answer in answers if answer not in remap), None)
    if missing is not None:
        raise BadInput("reading", f"leaves out the answer {missing!r}", "say what every answer becomes")
    if len(remap) > len(answers):
        stranger = next(answer for answer in remap if answer not in set(answers))
        raise BadInput("reading", f"names {stranger!r}, which is no answer", "drop it")
    lines = [_pairs(remap[answer]) for answer in answers]
    occurring = dict.fromkeys(name for line in lines for name, _ in line)
    whole = all(isinstance(name, int) for name in occurring)
    names = given if given is not None else tuple(sorted(occurring) if whole else occurring)  # type: ignore[type-var]
    place = {name: position for position, name in enumerate(names)}
    result: list[Line] = []
    for line in lines:
        row: dict[int, Fraction] = {}
        for name, p in line:
            if name not in place:
                raise BadInput("outputs", f"leave out {name!r}, which answers become", "name every new answer")
            row[place[name]] = row.get(place[name], Fraction(0)) + p
        _check(list(row.values()))
        result.append(tuple((v, p) for v, p in row.items() if p))
    return names, result


def _pairs(line: Any) -> list[tuple[Hashable, Fraction]]:
    """Read what one answer becomes."""
    if isinstance(line, Mapping):
        pairs = list(line.items())
    elif (
        isinstance(line, list | tuple)
        and line
        and all(isinstance(part, list | tuple) and len(part) == 2 for part in line)
    ):
        pairs = list(line)
    else:
        pairs = [(line, 1)]
    if not all(isinstance(name, Hashable) for name, _ in pairs):
        raise BadInput("reading", "must name answers by text, numbers or tuples", "write {answer: new answer}")
    return [(name, rational(p, "reading")) for name, p in pairs]


def _check(row: Sequence[Fraction]) -> None:
    if not row or min(row) < 0 or sum(row) != 1:
        raise BadInput("reading", "has a row that is no distribution", "give probabilities that sum to exactly 1")


def _listed(outputs: Any) -> tuple[Hashable, ...]:
    listed = list(outputs) if isinstance(outputs, str) else entries(outputs)
    names = [name.item() if isinstance(name, np.generic) else name for name in listed or ()]
    if not names or not all(isinstance(name, Hashable) for name in names) or len(set(names)) < len(names):
        raise BadInput("outputs", "must be different names, at least one", "name every new answer once")
    return tuple(names)
