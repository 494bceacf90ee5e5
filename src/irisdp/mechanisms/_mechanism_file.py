"""The mechanism file, format irisdp/mechanism/1: as audit and sample read it.

Reading happens in two steps, because an audit must be able to examine a wrong file. `MechanismDocument` holds the
numbers exactly as written, and `mechanism` insists that they are a mechanism.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, entry_reader, integer, json_list, rational, read_json
from ..errors import BadInput
from ..graphs import DatasetGraph, NodeNames, graph_from_document, named_nodes
from ..privacy import Privacy
from ._factored import FactoredMechanism, Reading
from ._file_format import FORMAT, StatedObjective, pairs_from_document
from ._mechanism import Mechanism, Row

_RELEASE_FORMAT = "irisdp/release/1"
LARGEST_FACTORED = 10**18
"""Largest n of a factored mechanism that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismDocument:
    """A mechanism file as written: exact numbers, right shapes, nothing believed about them."""

    privacy: Privacy | None
    graph: DatasetGraph | None
    inputs: NodeNames
    outputs: Sequence[Hashable]
    rows: tuple[Row, ...]
    row_of: NDArray[np.int64]
    objective: StatedObjective | None = None
    certificate: Mapping[str, Any] | None = None
    factored: FactoredMechanism | None = None
    source: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def mechanism(self) -> Mechanism | FactoredMechanism:
        """Return the mechanism, or refuse numbers that are none."""
        if self.factored is not None:
            return self.factored
        if self.privacy is None:
            raise BadInput("privacy", "is missing", 'write {"epsilon": …} or {"ratio": …}')
        return Mechanism(
            privacy=self.privacy,
            inputs=self.inputs,
            outputs=tuple(self.outputs),
            rows=self.rows,
            row_of=self.row_of,
            graph=self.graph,
            objective=self.objective,
            certificate=self.certificate,
        )


@checked
def load(path: str | Path) -> Mechanism | FactoredMechanism:
    """Read a mechanism file.

    Parameters
    ----------
    path : path
        A file as `irisdp design` writes it.

    Returns
    -------
    Mechanism or FactoredMechanism
        Rows sum to exactly 1. The privacy it states is a claim; `irisdp.audit` checks it.

    Raises
    ------
    BadInput
        For a file that cannot be read, or is no mechanism file.
    """
    return read_document(read_json(path, "mechanism")).mechanism()


@checked
def read_document(document: Any) -> MechanismDocument:
    """Read the JSON document of a mechanism file.

    Raises
    ------
    BadInput
        For a document that is no mechanism, each fault by its field.
    """
    if not isinstance(document, dict):
        raise BadInput("mechanism", "must be a JSON object", f'write {{"format": "{FORMAT}", …}}')
    if document.get("format") == _RELEASE_FORMAT:
        rule = "is a release, which says how answers were made, and no mechanism"
        raise BadInput("mechanism", rule, "give it to interpret, or to report")
    if document.get("format", FORMAT) != FORMAT:
        raise BadInput("format", "is not one this version reads", f'write "{FORMAT}"')
    forms = [name for name in ("matrix", "rows", "factors") if name in document]
    if "kind" in document and not forms:
        rule = "is a spec, which says what to design"
        raise BadInput("mechanism", rule, "design it first, with irisdp.design.from_spec")
    privacy = pairs_from_document(document["privacy"]) if document.get("privacy") is not None else None
    graph = graph_from_document(document["graph"]) if document.get("graph") is not None else None
    if len(forms) != 1:
        raise BadInput("matrix", "must be given in one form", 'write "matrix", or "rows" and "row_of", or "factors"')
    objective = _objective(document.get("objective"))
    if forms == ["factors"]:
        return _factored(document, privacy, graph, objective)
    lines = json_list(document[forms[0]], forms[0])
    distinct: dict[Row, int] = {}
    read = entry_reader(forms[0])
    numbers = [distinct.setdefault(tuple(map(read, json_list(line, forms[0]))), len(distinct)) for line in lines]
    if forms == ["rows"]:
        choice = [integer(k, "row_of", at_least=0) for k in json_list(document.get("row_of"), "row_of")]
        if max(choice, default=-1) >= len(numbers):
            raise BadInput("row_of", "names a row that is not there", f"use numbers from 0 to {len(numbers) - 1}")
        numbers = [numbers[k] for k in choice]
    rows = tuple(distinct)
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise BadInput(forms[0], "must be a table with rows of one length", "give one row of probabilities per input")
    inputs = _nodes(document.get("inputs"), "inputs", graph.nodes if graph is not None else range(len(numbers)))
    outputs = _nodes(document.get("outputs"), "outputs", range(len(rows[0])))
    for name, names, length in (("inputs", inputs, len(numbers)), ("outputs", outputs, len(rows[0]))):
        if len(names) != length:
            raise BadInput(name, f"must be {length} names, as the table has", "name each once")
    return MechanismDocument(
        privacy=privacy,
        graph=graph,
        inputs=inputs,
        outputs=tuple(outputs),
        rows=rows,
        row_of=np.array(numbers, dtype=np.int64),
        objective=objective,
        certificate=document.get("certificate"),
        source=document,
    )


def _nodes(value: Any, name: str, otherwise: Sequence[Hashable]) -> NodeNames:
    return named_nodes(otherwise if value is None else json_list(value, name), name)


def _objective(value: Any) -> StatedObjective | None:
    if value is None:
        return None
    if not isinstance(value, dict) or "value" not in value:
        raise BadInput("objective", "must hold name and value", 'write {"name": …, "value": …}')
    bound = value.get("lower_bound")
    return StatedObjective(
        name=str(value.get("name", "objective")),
        value=rational(value["value"], "objective"),
        lower_bound=None if bound is None else rational(bound, "objective"),
    )


def _factored(
    document: dict[str, Any], privacy: Privacy | None, graph: DatasetGraph | None, objective: StatedObjective | None
) -> MechanismDocument:
    factors = json_list(document["factors"], "factors")
    if privacy is None:
        raise BadInput("privacy", "is missing", 'write {"epsilon": …} or {"ratio": …}')
    if not privacy.single:
        rule = "of factors must be one pair: the geometric mechanism has one ratio"
        raise BadInput("privacy", rule, "state it, or write the matrix")
    if not 1 <= len(factors) <= 2 or not all(isinstance(factor, dict) for factor in factors):
        raise BadInput("factors", "must be a standard mechanism and at most one reading", "see the mechanism format")
    if factors[0].get("kind") != "geometric" or "n" not in factors[0]:
        raise BadInput("factors", "must begin with a geometric mechanism", 'write {"kind": "geometric", "n": …}')
    n = integer(factors[0]["n"], "factors", at_least=0, at_most=LARGEST_FACTORED)
    for key in ("inputs", "outputs"):
        names = document.get(key)
        if names is not None and not (
            len(json_list(names, key)) == n + 1 and all(type(name) is int and name == i for i, name in enumerate(names))
        ):
            raise BadInput(key, "of factors are 0..n", "leave them out, or write a matrix")
    reading: Reading | None = None
    if len(factors) == 2:
        collected: dict[int, list[tuple[int, Fraction]]] = {}
        for triple in json_list(factors[1].get("reading"), "reading"):
            if len(json_list(triple, "reading")) != 3:
                raise BadInput("reading", "must hold triples", "write [z, r, p]: z is read as r with probability p")
            z, r, p = triple
            source = integer(z, "reading", at_least=0, at_most=n)
            target = integer(r, "reading", at_least=0, at_most=n)
            collected.setdefault(source, []).append((target, rational(p, "reading")))
        reading = {z: tuple(choices) for z, choices in collected.items()}
    certificate = document.get("certificate")
    kept = certificate if isinstance(certificate, Mapping) else None  # an audit reports invalid entries
    factored = FactoredMechanism(privacy=privacy, n=n, reading=reading, objective=objective, certificate=kept)
    return MechanismDocument(
        privacy=privacy,
        graph=graph,
        inputs=named_nodes(factored.inputs),
        outputs=factored.outputs,
        rows=(),
        row_of=np.zeros(0, dtype=np.int64),
        objective=objective,
        certificate=certificate,
        factored=factored,
        source=document,
    )
