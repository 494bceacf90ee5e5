"""What a goal is, in words that come from the goal itself and never from the name a file gives it.

A bound is worth what its goal is: one that is the same for all mechanisms, or that a constant answer reaches, is true
and says next to nothing. So beside the words stand two values anyone can compare with: what the goal would be if
privacy were no concern, and what always giving the same answer reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from .._exact import (
    Number,
    Numbers,
    as_fraction,
    flint_rational,
    integer,
    json_list,
    rational,
    rational_text,
    short_text,
)
from ..errors import BadInput
from ..graphs import UNREACHABLE, json_node
from ..mechanisms import MechanismDocument
from ._audited_mechanism import AuditedMechanism
from ._constraints import StatedConstraints

# Read the goal that a certificate states: losses, weights and side information. Nothing in it is trusted.


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedGoal:
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


def read_goal(subject: AuditedMechanism, document: Mapping[str, Any]) -> StatedGoal:
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
    return StatedGoal(
        aggregate=aggregate,
        name=name,
        loss_row=loss_row,
        weights=tuple(map(flint_rational, weights)),
        considered=considered,
    )


def _loss(given: Any, subject: AuditedMechanism) -> tuple[str, Callable[[int], Numbers]]:
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


# Compute the dual bound: no private mechanism does better, by weak duality (proofs/weak-duality.md).


def dual_bound(
    subject: AuditedMechanism, certificate: Mapping[str, Any], goal: StatedGoal, constraints: StatedConstraints
) -> Number:
    """Recompute the bound that the multipliers of a certificate prove.

    Parameters
    ----------
    subject : Subject
        On whose graph the multipliers lie.
    certificate : mapping
        Holds "multipliers": [[i, j, v, λ], …], λ ≥ 0 on the directed edge (i, j) and output v. [i, j, v, λ, k] is for
        pair number k of the privacy instead of the first, number 0.
    goal : StatedGoal
        Its weights enter the bound.
    constraints : StatedConstraints
        Every mechanism compared meets them; they may have multipliers too.

    Returns
    -------
    number
        Without constraints:
        Σ_i min_v [ w_i·loss(i,v) + Σ_j (λ_ij,v − r·λ_ji,v) ] − δ·Σ_(i,j) max_v λ_ij,v, where there are several pairs
        with both inner sums and the last one over all of them. Every private mechanism has a goal at least as large,
        whatever the multipliers: bad ones only make it weak. With constraints Σ μ (Σ a x_iv − b) joins what is bounded,
        and given entries count with their probability (proofs/constraints.md).

    Raises
    ------
    BadInput
        For a multiplier that is negative, listed twice, of a pair that is not there, or on no edge.
    """
    pairs = [(flint_rational(pair.ratio), flint_rational(pair.delta)) for pair in subject.privacy.pairs]
    changes, largest = _read(certificate, len(subject.inputs), len(subject.outputs), [ratio for ratio, _ in pairs])
    _check_edges([(i, j) for i, j, _ in largest], subject)
    bound = -constraints.priced(certificate, lambda i: changes.setdefault(i, {}))
    for i, weight in enumerate(goal.weights):
        here = changes.get(i)
        if i in constraints.given:
            scores = [weight * loss + (here or {}).get(v, 0) for v, loss in enumerate(goal.loss_row(i))]
            bound += constraints.least(i, scores)
        elif here is None:
            bound += weight * min(goal.loss_row(i)) if weight else 0
        else:
            bound += min(weight * loss + here.get(v, 0) for v, loss in enumerate(goal.loss_row(i)))
    return bound - sum((pairs[k][1] * size for (_, _, k), size in largest.items()), start=flint.fmpq(0))


def _read(
    certificate: Mapping[str, Any], inputs: int, outputs: int, ratios: Sequence[Number]
) -> tuple[dict[int, dict[int, Number]], dict[tuple[int, int, int], Number]]:
    """Return Σ_j (λ_ij,v − r·λ_ji,v) where it is not 0, and max_v λ_ij,v by directed edge and pair."""
    changes: dict[int, dict[int, Number]] = {}
    largest: dict[tuple[int, int, int], Number] = {}
    seen = set()
    for i, j, v, k, size in multipliers(certificate, inputs, outputs, len(ratios)):
        if size < 0 or (i, j, v, k) in seen:
            raise BadInput("multipliers", "must not be negative or listed twice", "give each once, from 0 up")
        seen.add((i, j, v, k))
        largest[i, j, k] = max(size, largest.get((i, j, k), size))
        for node, change in ((i, size), (j, -ratios[k] * size)):
            table = changes.setdefault(node, {})
            table[v] = table.get(v, 0) + change
    return changes, largest


def multipliers(
    facts: Mapping[str, Any], nodes: int, outputs: int, pairs: int
) -> Iterator[tuple[int, int, int, int, Number]]:
    """Yield i, j, v, the number of the pair (0 where none is given) and λ, for every entry of "multipliers"."""
    for entry in json_list(facts.get("multipliers"), "multipliers"):
        listed = json_list(entry, "multipliers")
        if len(listed) not in (4, 5):
            raise BadInput("multipliers", "must hold [i, j, v, λ], or [i, j, v, λ, k] of pair k", "correct them")
        first, second, output, size, pair = listed if len(listed) == 5 else (*listed, 0)
        i, j = (integer(node, "multipliers", at_least=0, at_most=nodes - 1) for node in (first, second))
        v = integer(output, "multipliers", at_least=0, at_most=outputs - 1)
        k = integer(pair, "multipliers", at_least=0, at_most=pairs - 1)
        yield i, j, v, k, flint_rational(rational(size, "multipliers"))


def _check_edges(pairs: list[tuple[int, int]], subject: AuditedMechanism) -> None:
    if pairs:
        tails, heads = subject.places[np.array(pairs, dtype=np.int64)].T
        if not subject.graph.adjacent(tails, heads).all():
            raise BadInput("multipliers", "must lie on edges of the graph", "leave out pairs that are no neighbours")


PULLBACK = "pullback"
"""The theorem that rests on the certificate of another mechanism."""

_FIRST_CHOICES = "at every input, and for every k, the first k choices together are as probable as in any of"

_FIRST_CHOICES_BELOW = (
    "averaged over the inputs of any one value of the query, and for every k, the first k choices together are as"
    " probable as in any of"
)

_WITHOUT_A_GOAL = {
    "geometric": (
        "whoever reads it well, for a loss that never falls as the answer moves away from the count, has an expected"
        " and a worst expected loss no larger than with any of",
        "whoever reads it well, for a loss that never falls as the answer moves away from the value of the query, has a"
        " worst expected loss no larger, and for a prior alike on inputs of one value an expected loss no larger, than"
        " with any of",
    ),
    "randomized-response": (
        "the mean probability of the true answer, over all inputs alike, is as large as in any of",
        "the mean probability of the true value of the query, over its values alike, is as large as in any of",
    ),
    "balanced-line": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
    "homogeneous-rainbow": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
    "rainbow": (_FIRST_CHOICES, _FIRST_CHOICES_BELOW),
}
"""What each theorem proves of rows where no goal is stated; and of their pullback, whose proof is an average over the
inputs of one value (proofs/pullback.md)."""


def wrong_row_of(document: MechanismDocument) -> tuple[Any, Fraction] | None:
    """Return the first input whose row does not sum to exactly 1, and what it sums to beyond 1; None if all rows do."""
    beyond = [sum(row, Fraction(0)) - 1 for row in document.rows]
    return next(((document.inputs[i], beyond[row]) for i, row in enumerate(document.row_of) if beyond[row]), None)


def said_of_sums(wrong: tuple[Any, Fraction] | None) -> str:
    """Say whether rows sum to 1, and of the first that does not by how much."""
    if wrong is None:
        return "sum to exactly 1"
    name, beyond = wrong
    by = f"{short_text(abs(beyond), 3)} too {'little' if beyond < 0 else 'much'}"
    return f"do NOT sum to exactly 1: that of input {name} is the first, {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalInWords:
    """A goal that was read from a certificate.

    Parameters
    ----------
    words : str
        What is made small.
    without_privacy, at_most : Fraction
        The smallest and the largest value that any mechanism at all has, private or not.
    constant, constant_answer : Fraction and a name
        The smallest value of a mechanism that always gives one answer, and that answer.
    """

    words: str
    without_privacy: Fraction
    at_most: Fraction
    constant: Fraction
    constant_answer: Hashable

    @property
    def compares_nothing(self) -> bool:
        """Whether all mechanisms have the same value."""
        return self.without_privacy == self.at_most

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data."""
        return {
            "words": self.words,
            "without_privacy": rational_text(self.without_privacy),
            "constant_answer": json_node(self.constant_answer),
            "constant": rational_text(self.constant),
            "compares_nothing": self.compares_nothing,
        }


def without_a_goal(theorem: str, *, pulled_back: bool) -> str:
    """Say what a theorem proves where no goal is stated, up to the words that name the mechanisms compared."""
    return _WITHOUT_A_GOAL[theorem][pulled_back]


def in_words(goal: StatedGoal, inputs: int, outputs: Sequence[Hashable]) -> GoalInWords:
    """Describe a goal, and compute what bounds it for every mechanism and for constant ones."""
    worst = goal.aggregate == "worst"
    considered = goal.considered if worst else [i for i, weight in enumerate(goal.weights) if weight]
    least, most = [], []
    constant: list[Number] = [flint.fmpq(0)] * len(outputs)
    for index, i in enumerate(considered):
        losses = goal.loss_row(i)
        weight = flint.fmpq(1) if worst else goal.weights[i]
        least.append(weight * min(losses))
        most.append(weight * max(losses))
        if worst:
            constant = list(losses) if index == 0 else [max(x, y) for x, y in zip(constant, losses, strict=True)]
        else:
            constant = [x + weight * y for x, y in zip(constant, losses, strict=True)]
    together = max if worst else _total
    answer = min(range(len(outputs)), key=constant.__getitem__)
    return GoalInWords(
        words=_words(goal, inputs, len(considered)),
        without_privacy=as_fraction(together(least)),
        at_most=as_fraction(together(most)),
        constant=as_fraction(constant[answer]),
        constant_answer=outputs[answer],
    )


def _words(goal: StatedGoal, inputs: int, counted: int) -> str:
    loss = "loss by the table in the file" if goal.name == "table" else f"{goal.name} loss"
    if goal.aggregate == "worst":
        return f"largest expected {loss} over {counted} of {inputs} inputs"
    total = as_fraction(_total(goal.weights))
    if len(set(goal.weights)) == 1 and total == 1:
        return f"mean expected {loss} over all {inputs} inputs"
    silent = f"; {inputs - counted} of {inputs} inputs weigh nothing" if counted < inputs else ""
    return f"expected {loss}, weighted and added up over {counted} inputs (weights sum to {short_text(total)}{silent})"


def _total(numbers: Sequence[Number]) -> Number:
    return sum(numbers, start=flint.fmpq(0))
