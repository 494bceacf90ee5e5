"""Randomised response: the best answer about one record that may be anything."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations

from ..errors import BadInput
from ..exact import checked, integer
from ..graphs import Complete, graph_from_edges
from ..privacy import Privacy
from .mechanism import Mechanism

__all__ = ["balanced_truth", "binary_randomized_response", "randomized_response"]


@checked
def balanced_truth(choices: int, privacy: Privacy) -> Fraction:
    """Return the largest truth-probability that `choices` mutually adjacent answers can all have.

    (r + δ(q−1)) / (r + q − 1), for several pairs the least of theirs; for q = 2 it is the boundary value
    (r + δ)/(r + 1) of a balanced binary mechanism.

    Parameters
    ----------
    choices : int
        q, at least 1.
    privacy : Privacy
        One pair or several.

    References
    ----------
    docs/theory.md#colourings; proofs/randomized-response.md.
    """
    choices = integer(choices, "choices", at_least=1)
    return min((pair.ratio + pair.delta * (choices - 1)) / (pair.ratio + choices - 1) for pair in privacy.pairs)


@checked
def randomized_response(choices: int | Sequence[Hashable], privacy: Privacy) -> Mechanism:
    """Build q-ary randomised response: the truth with `balanced_truth`, every other answer equally likely.

    Parameters
    ----------
    choices : int or sequence
        The answers, or how many (then 0..q−1).
    privacy : Privacy
        Any ratio and δ; any two inputs are neighbours.

    Raises
    ------
    BadInput
        For fewer than two answers.
    """
    names = tuple(range(choices)) if isinstance(choices, int) else tuple(choices)
    if len(names) < 2:
        raise BadInput("choices", "must be at least 2", "name two or more answers")
    truth = balanced_truth(len(names), privacy)
    lie = (1 - truth) / (len(names) - 1)
    rows = [[truth if answer == fact else lie for answer in names] for fact in names]
    numbered = names == tuple(range(len(names)))
    graph = Complete(len(names)) if numbered else graph_from_edges(combinations(names, 2), nodes=names)
    return Mechanism.from_matrix(rows, privacy=privacy, graph=graph, inputs=names, outputs=names)


@checked
def binary_randomized_response(privacy: Privacy) -> Mechanism:
    """Build randomised response about one bit, inputs and outputs 0 and 1.

    Parameters
    ----------
    privacy : Privacy
        Any ratio and δ.
    """
    return randomized_response(2, privacy)
