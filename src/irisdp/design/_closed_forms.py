"""Designs whose optimum is a theorem: geometric noise, the balanced line, randomised response; in short numbers.

Each carries the theorem's name and the facts it needs. Long entries (powers of a 128-bit ratio) are rounded to
multiples of 2^-128 and made exactly private again. `within` then bounds the distance of an entry from the theorem's
own, and the checker recomputes that bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from .._exact import Table, checked, decimal_above, integer, is_short, rational_text
from ..errors import BadInput
from ..graphs import Complete, DatasetGraph, Path, graph_from_edges, line, named_nodes
from ..mechanisms import ALL_PRIVATE, SAME_ROWS, FactoredMechanism, Mechanism, StatedObjective, balanced_truth, too_deep
from ..mechanisms import geometric as geometric_mechanism
from ..mechanisms import randomized_response as randomized_response_mechanism
from ..privacy import Privacy, enclose_steps, step
from ._optimal_mechanism import sealed
from ._privacy_program import Goal
from ._repair import shortened

LARGEST_MATRIX = 1000
"""Counts above which the geometric mechanism is handed out by its formula, not as a matrix."""

_LONGEST_LINE = 100_000

_GUARD = 1 << 256
"""Long closed forms are computed to multiples of 2^-256, in steps that lose at most one unit each."""

_GUARD_ERROR = Fraction(1, 1 << 200)
"""More than all these losses together."""

_PLACES = 45
"""Decimals of `within`."""


@checked
def geometric(n: int, privacy: Privacy) -> Mechanism | FactoredMechanism:
    """Design the range-restricted geometric mechanism for a count in 0..n, in short numbers.

    Every minimax or Bayesian reader whose loss does not fall with the distance reaches, by reading this one mechanism
    well, what a mechanism tailored to that reader would give.

    Parameters
    ----------
    n : int
        Largest count, at least 0; neighbouring counts differ by one.
    privacy : Privacy
        The ratio. The mechanism does not use δ and satisfies δ = 0.

    Returns
    -------
    Mechanism or FactoredMechanism
        Up to 1,000 counts a matrix: exact, or within about 2^-128·n/(r − 1) of it where powers of the ratio are
        long; exactly private either way. Above, the formula itself, whose rows are computed when asked for.

    Raises
    ------
    BadInput
        For a count below 0, and for privacy of several pairs.

    Examples
    --------
    >>> geometric(2, Privacy.from_ratio(2)).matrix()[0]
    (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))

    References
    ----------
    [Gupte2010], Theorem 1 and §2.3; docs/theory.md#counts; proofs/universality.md.
    """
    n = integer(n, "n", at_least=0)
    if not privacy.single:
        rule = f"holds {len(privacy.pairs)} pairs, and geometric noise is best for one epsilon"
        raise BadInput("privacy", rule, 'of several pairs noise in cells is: noise.law("universal", privacy)')
    privacy = privacy.pure
    if n + 1 > LARGEST_MATRIX:
        return FactoredMechanism(privacy=privacy, n=n)
    a, b = privacy.ratio.numerator, privacy.ratio.denominator
    if n * a.bit_length() < 340:  # beyond, a^n alone has more than 100 digits
        exact = tuple(geometric_mechanism(n, privacy).matrix())
        if is_short(exact):
            return _by_theorem("geometric", exact, Path(n + 1), privacy)
    powers = [_GUARD]
    for _ in range(n):
        powers.append(powers[-1] * b // a)
    ends = [Fraction(power * a // (a + b), _GUARD) for power in powers]
    inner = [Fraction(power * (a - b) // (a + b), _GUARD) for power in powers]
    rows = tuple((ends[k], *(inner[abs(z - k)] for z in range(1, n)), ends[n - k]) for k in range(n + 1))
    return _by_theorem("geometric", rows, Path(n + 1), privacy, error=_GUARD_ERROR)


@checked
def balanced_line(
    n_blue: int, n_red: int, privacy: Privacy, *, outputs: tuple[Hashable, Hashable] = ("blue", "red")
) -> Mechanism:
    """Design the best balanced mechanism for a yes/no question on the (n_B, n_R)-line, in short numbers.

    Parameters
    ----------
    n_blue, n_red : int
        How many inputs have the first answer true, and the second: nodes 1..n_B and the n_R after them. Node n_B and
        its right neighbour are the boundary.
    privacy : Privacy
        Any ratio and δ.
    outputs : pair
        The two answers.

    Returns
    -------
    Mechanism
        The truth has probability u^t((r + δ)/(r + 1)) at depth t, up to `certificate["within"]`; exactly private. No
        private mechanism with these boundary rows tells the truth with more probability, at any input; the lower bound
        of the objective is one for those mechanisms.

    References
    ----------
    [DOliveira2021], Theorem 4 and Corollary 2; docs/theory.md#colourings; proofs/rainbow-optimality.md.
    """
    n_blue = integer(n_blue, "n_blue", at_least=1, at_most=_LONGEST_LINE)
    n_red = integer(n_red, "n_red", at_least=1, at_most=_LONGEST_LINE)
    deepest = max(n_blue, n_red)
    exact = _exact_truths(deepest, privacy)
    boundary = balanced_truth(2, privacy)
    truths = exact or [enclose_steps(boundary, depth, privacy, width=_GUARD_ERROR).lower for depth in range(deepest)]
    blue = [(truth, 1 - truth) for truth in truths[:n_blue]]
    red = [(1 - truth, truth) for truth in truths[:n_red]]
    right, wrong = Fraction(0), Fraction(1)
    made = _by_theorem(
        "balanced-line",
        (*reversed(blue), *red),
        line(n_blue, n_red).graph,
        privacy,
        error=Fraction(0) if exact else _GUARD_ERROR,
        goal=_mean_error(((right, wrong),) * n_blue + ((wrong, right),) * n_red, among=f", among {SAME_ROWS}"),
        outputs=outputs,
        facts={"rankings": [[0, 1], [1, 0]], "ranking_of": [0] * n_blue + [1] * n_red},
        among=SAME_ROWS,
    )
    return replace(made, certificate=None) if too_deep(deepest - 1, privacy) else made


@checked
def randomized_response(choices: int | Sequence[Hashable], privacy: Privacy) -> Mechanism:
    """Design the best mechanism about one record that may be anything: randomised response, in short numbers.

    Parameters
    ----------
    choices : int or sequence
        The answers, or how many (then 0..q−1), at least 2. Any two inputs are neighbours.
    privacy : Privacy
        Any ratio and δ.

    Returns
    -------
    Mechanism
        The truth has probability (r + δ(q−1))/(r + q − 1), and no private mechanism has a smaller mean probability of a
        wrong answer.

    Raises
    ------
    BadInput
        For text in place of a list, fewer than two answers, or one that occurs twice.

    References
    ----------
    docs/theory.md#colourings; proofs/randomized-response.md.
    """
    if isinstance(choices, str):
        raise BadInput("choices", "must be a number or a list, not text", 'write 3 or ["red", "green", "blue"]')
    if isinstance(choices, Sequence):
        listed = named_nodes(choices, "choices")
        integer(len(listed), "choices", at_least=2, at_most=LARGEST_MATRIX)
        names = tuple(listed)
        graph: DatasetGraph = graph_from_edges(combinations(names, 2), nodes=names)
    else:
        names = tuple(range(integer(choices, "choices", at_least=2, at_most=LARGEST_MATRIX)))
        graph = Complete(len(names))
    form, q = randomized_response_mechanism(names, privacy), len(names)
    loss = tuple(tuple(Fraction(i != v) for v in range(q)) for i in range(q))
    return _by_theorem(
        "randomized-response",
        tuple(form.matrix()),
        graph,
        privacy,
        goal=_mean_error(loss, "zero-one"),
        outputs=names,
    )


def _exact_truths(count: int, privacy: Privacy) -> list[Fraction] | None:
    """Return the truth at depths 0..count−1 while it is short, or None."""
    truths = [balanced_truth(2, privacy)]
    while len(truths) < count:
        if not is_short(((truths[-1],),)):
            return None
        truths.append(step(truths[-1], privacy))
    return truths if is_short(((truths[-1],),)) else None


def _mean_error(loss: Table, loss_name: str | None = None, *, among: str = "") -> Goal:
    weights = (Fraction(1, len(loss)),) * len(loss)
    return Goal(name=f"mean probability of a wrong answer{among}", loss=loss, loss_name=loss_name, weights=weights)


def _by_theorem(
    theorem: str,
    form: Table,
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    error: Fraction = Fraction(0),
    goal: Goal | None = None,
    outputs: Sequence[Hashable] | None = None,
    facts: dict[str, Any] | None = None,
    among: str = ALL_PRIVATE,
) -> Mechanism:
    """Write down a closed form, known up to `error` per entry, in short numbers and with its certificate."""
    rows = form if error == 0 and is_short(form) else shortened(form, graph, privacy)
    certificate: dict[str, Any] = {"kind": "theorem", "theorem": theorem, **(facts or {})}
    farthest = max(abs(x - y) for row, true in zip(rows, form, strict=True) for x, y in zip(row, true, strict=True))
    # Twice, because a checker may start from the boundary rows as rounded and compare the rest with what follows.
    within = decimal_above(2 * (farthest + error), _PLACES)
    if within:
        certificate["within"] = rational_text(within)
    objective = None
    if goal is not None:
        certificate |= goal.to_document(goal.weights or ())
        value = goal.value(rows)
        objective = StatedObjective(goal.name, value, max(Fraction(0), value - within))
    return sealed(
        Mechanism.from_matrix(
            rows, privacy=privacy, graph=graph, outputs=outputs, objective=objective, certificate=certificate
        ),
        among=among,
    )
