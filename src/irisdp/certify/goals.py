"""What a certificate says was minimised: losses, weights and side information, read from JSON and nothing believed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flint

from ..errors import BadInput
from ..exact import integer, json_list, rational
from ..graphs import UNREACHABLE
from .arithmetic import Number, Numbers, flint_rational
from .subject import Subject

__all__ = ["Goal", "read_goal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Minimise Σ_i w_i·L_i ("average"), or max L_i over the side information ("worst"), L_i = Σ_v loss(i, v)·x_iv.

    Parameters
    ----------
    aggregate : str
        "average" or "worst".
    name : str
        Name of the loss, "table" when it is written out.
    loss_row : callable
        Input index → its losses, one per output.
    weights : tuple of numbers
        One per input, at least 0. For "worst" a prior on the side information; it belongs to the proof, not the goal.
    considered : tuple of int
        The side information, as input indices.
    """

    aggregate: str
    name: str
    loss_row: Callable[[int], Numbers]
    weights: Numbers
    considered: tuple[int, ...]

    def value(self, row_at: Callable[[int], Sequence[Number]]) -> Number:
        """Return the goal of a mechanism given by its rows, one per input index."""
        return self.aggregated(lambda i: sum(map(_times, self.loss_row(i), row_at(i))))

    def aggregated(self, expected: Callable[[int], Number]) -> Number:
        """Return the goal from the expected loss of every input."""
        if self.aggregate == "worst":
            return max(expected(i) for i in self.considered)
        return sum((w * expected(i) for i, w in enumerate(self.weights) if w), start=flint.fmpq(0))


def read_goal(subject: Subject, document: Mapping[str, Any]) -> Goal:
    """Read "aggregate", "loss", "weights" and "side_information" of a certificate.

    Raises
    ------
    BadInput
        When one is missing, has the wrong shape, or weights are negative or no prior on the side information.
    """
    inputs = subject.inputs
    aggregate = document.get("aggregate")
    if aggregate not in ("average", "worst"):
        raise BadInput("aggregate", "must be average or worst", "write one of them")
    name, loss_row = _loss(document.get("loss"), subject)
    weights = [rational(weight, "weights") for weight in json_list(document.get("weights"), "weights", len(inputs))]
    considered = tuple(range(len(inputs)))
    if aggregate == "worst" and "side_information" in document:
        numbers = json_list(document["side_information"], "side_information")
        named = {integer(k, "side_information", at_least=0, at_most=len(inputs) - 1) for k in numbers}
        considered = tuple(sorted(named))
    if min(weights, default=0) < 0:
        raise BadInput("weights", "must not be negative", "give numbers from 0 up")
    if aggregate == "worst":
        allowed = set(considered)
        if not considered or sum(weights) != 1 or any(w and i not in allowed for i, w in enumerate(weights)):
            raise BadInput("weights", "must be a prior on the side information", "spread probability 1 over it")
    return Goal(
        aggregate=aggregate,
        name=name,
        loss_row=loss_row,
        weights=tuple(map(flint_rational, weights)),
        considered=considered,
    )


def _loss(given: Any, subject: Subject) -> tuple[str, Callable[[int], Numbers]]:
    inputs, outputs = subject.inputs, subject.outputs
    if isinstance(given, list):
        lines = [json_list(line, "loss", len(outputs)) for line in json_list(given, "loss", len(inputs))]
        table = [tuple(flint_rational(rational(entry, "loss")) for entry in line) for line in lines]
        return "table", table.__getitem__
    name = given.get("name") if isinstance(given, Mapping) else None
    if name == "zero-one":
        return name, lambda i: tuple(flint.fmpq(int(output != inputs[i])) for output in outputs)
    if name in ("absolute", "squared"):
        here, there = _whole_numbers(inputs), _whole_numbers(outputs)
        power = 1 if name == "absolute" else 2
        return name, lambda i: tuple(flint.fmpq(abs(here[i] - value) ** power) for value in there)
    if name == "graph-distance":
        if list(inputs) != list(outputs):
            raise BadInput("loss", "graph-distance needs outputs that are the inputs", "list the nodes in one order")
        places = subject.places

        def distances(i: int) -> Numbers:
            found = subject.graph.distances_from(int(places[i]))[places].tolist()
            if UNREACHABLE in found:
                raise BadInput("loss", "graph-distance needs a connected graph", "write the loss as a table")
            return tuple(map(flint.fmpq, found))

        return name, distances
    raise BadInput("loss", "must be a table or a known name", 'write [[…]] or {"name": "absolute"}')


def _whole_numbers(names: Sequence[Hashable]) -> list[int]:
    whole = [name for name in names if isinstance(name, int)]
    if len(whole) != len(names):
        raise BadInput("loss", "by name needs inputs and outputs that are integers", "write the loss as a table")
    return whole


def _times(loss: Number, probability: Number) -> Number:
    return loss * probability
