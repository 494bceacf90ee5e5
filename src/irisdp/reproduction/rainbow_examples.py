"""Example 1 and the figures of [Gu2024], which [Gu2023] has, too: no optimum, and five answers over depth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

from ..certify import audit
from ..design import rainbow
from ..design.rainbows import compare, compare_lexicographically, turning_points
from ..errors import Infeasible
from ..graphs import Cycle, RankedGraph, rank
from ..mechanisms import Mechanism, read_document
from ..privacy import Privacy, are_close
from .items import Fault, Holds, Item
from .printed_rainbows import CAPTION_ROW, EXAMPLE_1, FIGURE_RATIO, moved, true_row

__all__ = ["EXAMPLE_1_LEXICOGRAPHIC", "FIGURES", "boundary_items", "example_1", "example_1_items", "figure_privacy"]

NONE = "proofs/no-optimum.md"
OPERATOR = "proofs/operator.md"
DOUBLE = Privacy(ratio=2)


def figure_privacy(delta: str) -> Privacy:
    """Return what the figures are drawn for."""
    return Privacy(ratio=FIGURE_RATIO, delta=delta)


@cache
def example_1() -> RankedGraph:
    """Return the cycle of Example 1."""
    return rank(Cycle(5), [(1, 2, 3)] * 4 + [(1, 3, 2)])


def _rows(second: str, third: str) -> list[tuple[Fraction, ...]]:
    """Return the rows of a mechanism of Example 1, of which those at d_2 and d_3 are printed."""
    printed = (EXAMPLE_1["d_1"], second.split(), third.split(), EXAMPLE_1["d_4"], EXAMPLE_1["d_5"])
    return [tuple(map(Fraction, row)) for row in printed]


FIRST, SECOND = _rows("0.4 0.2 0.4", "0.4 0.2 0.4"), _rows("0.4 0.1 0.5", "0.7 0.05 0.25")
THIRD = [FIRST[0], FIRST[1], SECOND[2], *FIRST[3:]]


def _made(rows: Any) -> Mechanism:
    return Mechanism.from_matrix(rows, privacy=DOUBLE, graph=Cycle(5), outputs=(1, 2, 3))


def _valid(rows: Any) -> Holds:
    found = audit(_made(rows)).private
    return Holds(found, "private on every edge, with (.4, .05, .55) at d_5" if found else "not private")


def _third() -> Holds:
    excess = THIRD[1][1] - 2 * THIRD[2][1]
    return Holds(excess > 0 and not audit(_made(THIRD)).private, f"{THIRD[1][1]} > 2·{THIRD[2][1]}")


@cache
def _witnesses() -> tuple[Mechanism, ...]:
    given = {0: dict(enumerate(EXAMPLE_1["d_1"], 1)), 3: dict(enumerate(EXAMPLE_1["d_4"], 1))}
    try:
        rainbow(Cycle(5), [(1, 2, 3)] * 4 + [(1, 3, 2)], DOUBLE, boundary=given)
    except Infeasible as refusal:
        found = [read_document(document).mechanism() for document in refusal.document["witnesses"]]
        return tuple(one for one in found if isinstance(one, Mechanism))
    return ()


def _no_optimum() -> Holds:
    """Check that the design refuses, and that its witnesses are private and that neither dominates the other."""
    found = _witnesses()
    holds = len(found) == 2 and all(audit(one).private for one in found)
    holds = holds and compare(found[0], found[1], example_1()) == "incomparable"
    return Holds(holds, "two private witnesses, neither of which dominates the other" if holds else "an optimum")


def _no_lexicographic_optimum() -> Holds:
    """The best first choices at d_2 and d_3 leave the second choice at d_3 less than half of what d_2 needs."""
    found = compare_lexicographically(_made(FIRST), _made(SECOND), example_1())
    best = all(FIRST[1] >= row and SECOND[2] >= other for row, other in _private_pairs())
    holds = found == "incomparable" and best and not audit(_made(THIRD)).private
    return Holds(holds, "either of the two is first at one node; both together are not private")


def _private_pairs() -> Iterator[tuple[Any, Any]]:
    """Yield private rows at d_2 and d_3 from a grid of twentieths, to compare with."""
    grid = [(Fraction(a, 20), Fraction(b, 20), Fraction(20 - a - b, 20)) for a in range(21) for b in range(21 - a)]
    seconds = [row for row in grid if are_close(row, FIRST[0], DOUBLE)]
    thirds = [row for row in grid if are_close(row, FIRST[3], DOUBLE)]
    return ((one, other) for one, other in product(seconds, thirds) if are_close(one, other, DOUBLE))


def _weights_row(place: int) -> Fraction:
    return true_row()[place]


def _cut_off() -> Fault:
    return Fault(
        "distance of .0081 from .015·e^ε/(1 + e^ε)", abs(true_row()[1] - Fraction("0.0081")), Fraction(1, 20_000)
    )


def example_1_items(work: str) -> tuple[Item, ...]:
    """Return the items of Example 1, which both versions print."""
    item = partial(Item, work=work, proof=NONE)
    return (
        item(name="Example 1, M_1", printed="M_1 is valid", compute=partial(_valid, FIRST)),
        item(name="Example 1, M_2", printed="M_2 is valid", compute=partial(_valid, SECOND)),
        item(
            name="Example 1, M_3(d_2)",
            printed="0.4, 0.2, 0.4",
            compute=lambda: moved(FIRST[0], DOUBLE),
            note="The best that M(d_1) allows.",
        ),
        item(
            name="Example 1, M_3(d_3)",
            printed="0.7, 0.05, 0.25",
            compute=lambda: moved(FIRST[3], DOUBLE),
            note="The best that M(d_4) allows.",
        ),
        item(name="Example 1, M_3", printed="M_3(d_2)_2 > e^ε M_3(d_3)_2 + δ", compute=_third),
        item(name="Example 1", printed="there is no optimal mechanism", compute=_no_optimum),
    )


def boundary_items(work: str) -> tuple[Item, ...]:
    """Return the items of the figures' boundary row, of which both versions print the same."""
    _item = partial(Item, work=work, proof=OPERATOR)
    return (
        *(
            _item(name=f"Section 5.3, m_{place + 1}", printed=printed, compute=partial(_weights_row, place))
            for place, printed in ((0, "0.0005"), (2, "0.1364"), (3, "0.2727"), (4, "0.5822"))
        ),
        _item(
            name="Section 5.3, m_2",
            printed="0.0081",
            compute=partial(_weights_row, 1),
            misprint=".015·e^ε/(1 + e^ε) = .00818 rounds to .0082; with .0081 the printed row adds up to .9999.",
            fault=_cut_off,
        ),
    )


def _ends_of_figure_3() -> list[int | None]:
    return [turning_points(CAPTION_ROW, figure_privacy("0"))[-1], turning_points([0, 1], figure_privacy("0"))[0]]


_EARLIER = "Of the row in the caption; of the row before rounding τ_1 is 37."

EXAMPLE_1_LEXICOGRAPHIC = Item(
    work="Gu2024",
    name="Section 6.3, Example 1",
    printed="no lexicographic optimum either",
    compute=_no_lexicographic_optimum,
    proof=NONE,
)

_item = partial(Item, work="Gu2024", proof=OPERATOR)

FIGURES = (
    *(
        _item(
            name=f"Figure {number}, τ_1 to τ_5",
            printed=printed,
            compute=partial(turning_points, CAPTION_ROW, figure_privacy(delta)),
            note=_EARLIER if number == 3 else "With the corrected operator, too.",
        )
        for number, delta, printed in (
            (3, "0", "38, 22, 7, 1, 0"),
            (4, "0.001", "25, 20, 7, 1, 0"),
            (5, "0.01", "13, 12, 6, 1, 0"),
        )
    ),
    _item(
        name="Section 5.3, Figure 3, degenerate phases",
        printed="0, ∞",
        compute=_ends_of_figure_3,
        note="τ_5, and τ_0 for the third phase of k = 1.",
    ),
)
