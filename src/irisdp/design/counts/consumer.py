"""The best mechanism for one reader of a count: minimax over what the reader deems possible, or under a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...errors import BadInput
from ...exact import integer
from ...graphs import Path
from ...mechanisms import Mechanism
from ...privacy import Privacy
from ..programs.goals import Goal, read_loss
from ..programs.tables import numbers
from ..programs.tailored import insist_on_size, tailored

__all__ = ["consumer"]

_PRIOR_SUM = Fraction(1, 10**9)
"""A prior normalised in floats may miss 1 by this much; it is then divided by its exact sum."""


def consumer(
    n: int,
    loss: Any,
    privacy: Privacy,
    *,
    side_information: Sequence[int] | Mapping[str, int] | None = None,
    prior: Sequence[Any] | None = None,
) -> Mechanism:
    """Design the best mechanism for a reader of a count in 0..n whose loss is known.

    Parameters
    ----------
    n : int
        Largest count, from 0 to about 110; neighbouring counts differ by one. The linear program is solved whole: in
        half a second for n = 32, a minute for n = 100.
    loss : "absolute", "squared", "zero-one" or table
        A table holds in row i and column v the loss of reading v where i is true, for i, v in 0..n; any numbers.
    privacy : Privacy
        Any ratio and δ.
    side_information : sequence or mapping, optional
        The counts the reader deems possible, as a list or as {"at_least": a, "at_most": b}; all when left out.
    prior : sequence, optional
        Probabilities of 0..n. The reader then minimises the expected loss, not the worst over the side information.

    Returns
    -------
    Mechanism
        Inputs and outputs 0..n, with its exact loss, an exact lower bound and the certificate of it.

    Raises
    ------
    BadInput
        For a loss of another shape, side information outside 0..n, or a prior that is none.

    Examples
    --------
    >>> consumer(3, "absolute", Privacy.from_ratio(4)).objective.value
    Fraction(168, 415)

    References
    ----------
    Minimax-agents paper, §2.3 and §2.4; theory §5; proofs/weak-duality.md.
    """
    n = integer(n, "n", at_least=0)
    insist_on_size("n", n, n + 1)
    losses, loss_name = read_loss(loss, n + 1)
    possible = _possible(side_information, n)
    name = f"expected {loss_name or 'given'} loss"
    if prior is None:
        goal = Goal(name=f"worst {name}", loss=losses, loss_name=loss_name, side_information=possible)
    else:
        goal = Goal(name=name, loss=losses, loss_name=loss_name, weights=_weights(prior, possible, n))
    return tailored(goal, Path(n + 1), privacy)


def _possible(side_information: Any, n: int) -> tuple[int, ...]:
    if side_information is None:
        return tuple(range(n + 1))
    if isinstance(side_information, Mapping):
        if set(side_information) - {"at_least", "at_most"}:
            raise BadInput("side_information", "may hold at_least and at_most only", 'write {"at_least": 2}')
        first = integer(side_information.get("at_least", 0), "side_information", at_least=0, at_most=n)
        last = integer(side_information.get("at_most", n), "side_information", at_least=0, at_most=n)
        counts = set(range(first, last + 1))
    elif isinstance(side_information, Sequence) and not isinstance(side_information, str):
        counts = {integer(count, "side_information", at_least=0, at_most=n) for count in side_information}
    else:
        raise BadInput("side_information", "must be a list of counts or bounds", 'write [0, 1] or {"at_least": 2}')
    if not counts:
        raise BadInput("side_information", "leaves no count possible", "name at least one")
    return tuple(sorted(counts))


def _weights(prior: Any, possible: tuple[int, ...], n: int) -> tuple[Fraction, ...]:
    weights = numbers(prior, "prior", n + 1)
    total = sum(weights, start=Fraction(0))
    if min(weights) < 0 or abs(total - 1) > _PRIOR_SUM:
        raise BadInput("prior", "must be probabilities that sum to 1", 'write exact ones, such as "1/3"')
    if any(weights[i] for i in set(range(n + 1)) - set(possible)):
        raise BadInput("prior", "gives probability to counts outside the side information", "set it to 0 there")
    return tuple(w / total for w in weights)
