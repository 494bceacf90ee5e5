"""The proven properties of a mechanism, in facts: one name for each measure, on every page, as in `irisdp audit`."""

from __future__ import annotations

from ..certify.optimality import Optimality
from ..exact import short_above, short_below, short_text
from ..graphs.names import key_of_node
from .results import Fact

__all__ = ["proved"]


def proved(found: Optimality, *, goal: str = "") -> list[Fact]:
    """Say what a certificate proves, recomputed; what a file calls its own goal is said only where that is given.

    Parameters
    ----------
    found : Optimality
    goal : str
        The name of the minimised quantity, if it comes from the design and not from a file.
    """
    facts = [Fact("Optimality", "Holds" if found.holds else "Does not hold", found.reason)]
    if found.value is None or found.lower_bound is None or found.gap is None or found.goal is None:
        return [*facts, Fact("Proved", found.says())]
    always = f"always answering {_key(found.goal.constant_answer)} reaches {short_text(found.goal.constant)}"
    free = f"without privacy it could be {short_text(found.goal.without_privacy)}; {always}"
    told = "the same for all" if found.goal.compares_nothing else free
    value = short_above(found.value, 10)  # and the bound, where they are one number
    words = f"{goal}, as small as possible" if goal else f"{found.goal.words}, as small as possible"
    return [
        *facts,
        Fact("Goal", words, f"in the certificate {found.goal.words}; {told}" if goal else told),
        Fact("Value", value),
        Fact(
            "Bound",
            short_below(found.lower_bound, 10) if found.gap else value,
            f"no mechanism has less, among {found.scope()}",
        ),
        Fact("Gap", short_above(found.gap, 3)),
    ]


def _key(node: object) -> str:
    return key_of_node(node) if isinstance(node, str | int | tuple) and not isinstance(node, bool) else str(node)
