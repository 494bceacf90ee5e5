"""Examples, figures and formulas of [Gu2023], the first version of [Gu2024], where they are not the same there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from ..design import turning_points
from ..privacy import Privacy
from ._gu2024 import (
    CAPTION_ROW,
    boundary_items,
    ceiling_tau,
    chain,
    closed_form,
    example_1_items,
    figure_privacy,
    prefix_sums,
    printed_step,
    two_rows,
    worse_than_claimed,
)
from ._items import Fault, Holds, Item

OPERATOR = "proofs/operator.md"

PRINTED = {"0": (6, 3, 1, 0, 0), "0.001": (5, 3, 1, 0, 0), "0.1": (2, 2, 1, 0, 0)}
"""δ → τ_1, …, τ_5 as printed under Figures 3 to 5."""

_FAR = 60


def _taus(delta: str) -> list[int | None]:
    """Return τ_1, …, τ_5 of the figures, with the corrected operator."""
    return turning_points(CAPTION_ROW, figure_privacy(delta))


def _tau_0(delta: str) -> int | None:
    """Return τ of the empty event, which has probability 0 at the boundary."""
    return turning_points([0, 1], figure_privacy(delta))[0]


def _switched_early(delta: str) -> Fault:
    """Follow the printed closed form with the printed τ."""
    privacy = figure_privacy(delta)
    rows = chain(CAPTION_ROW, PRINTED[delta], privacy, _FAR)
    return worse_than_claimed(rows, privacy, f"δ that the printed closed form needs with these τ, at δ = {delta}")


def _ceilings(privacy: Privacy, sums: Sequence[Fraction]) -> list[int | None]:
    return [ceiling_tau(s, privacy) for s in sums]


def _rounded_up(delta: str) -> Holds:
    printed, ours = _ceilings(figure_privacy(delta), prefix_sums(CAPTION_ROW)), _taus(delta)
    return Holds(printed == ours, f"τ = {ours} for the figures' row at δ = {delta}; rounded up it would be {printed}")


def _beyond_the_turn(delta: str) -> Fault:
    """Return s_1 one step before the τ_1 that is rounded up: it is said not to be beyond the turn."""
    privacy, s = figure_privacy(delta), CAPTION_ROW[0]
    tau = ceiling_tau(s, privacy) or 0
    turn = (1 - privacy.delta) / (privacy.ratio + 1)
    return Fault(f"s_1 at t = τ_1 − 1 = {tau - 1}", closed_form(s, tau - 1, tau, privacy), turn)


def _grows_too_long(delta: str) -> Fault:
    """Follow the printed closed form with τ rounded up."""
    privacy = figure_privacy(delta)
    rows = chain(CAPTION_ROW, _ceilings(privacy, prefix_sums(CAPTION_ROW)), privacy, _FAR)
    return worse_than_claimed(rows, privacy, f"δ that the closed form needs with τ rounded up, at δ = {delta}")


def _one_step(delta: str) -> Fault:
    privacy, half = figure_privacy(delta), Fraction(1, 2)
    after = printed_step(half, privacy)
    return worse_than_claimed([(half, half), (after, 1 - after)], privacy, f"δ that one step needs at δ = {delta}")


def _equal_turns() -> Holds:
    first, second, *_ = _taus("0.1")
    return Holds(first == second, f"both are {first}")


def _cusp() -> list[int | None]:
    return _taus("0.1")[:1]


def _length_of_first_phase() -> Fault:
    return Fault("length of the first phase for k = 4, τ_4, in Figure 3", Fraction(_taus("0")[3] or 0), Fraction(0))


_item = partial(Item, work="Gu2023", proof=OPERATOR)

FIRST_RAINBOWS = (
    *example_1_items("Gu2023"),
    _item(
        name="Theorem 4, eq. (9)",
        printed="s' = min{1, min{e^ε s, 1 − e^−ε(1 − s)} + δ}",
        compute=lambda: Holds(False, "s' = min{1, e^ε s + δ, 1 − e^−ε(1 − s − δ)}"),
        misprint="The second branch must be 1 − e^−ε(1 − s − δ); as printed the mechanism is only (ε, e^ε δ)-DP.",
        fault=lambda: worse_than_claimed(*two_rows(), "δ that (.5, .5) and its printed neighbour (.85, .15) need"),
    ),
    _item(
        name="Section 5.1, eq. (17)",
        printed="τ_k = ⌈max{−log(s_k(e^ε + 1))/ε + 1, 0}⌉",
        compute=partial(_rounded_up, "0"),
        misprint="It is to be rounded down, as in the second version; rounded up, s_k grows beyond the turn.",
        fault=partial(_beyond_the_turn, "0"),
    ),
    _item(
        name="Section 5.1, eq. (18)",
        printed="s_k^t before and after this τ_k",
        compute=lambda: Holds(False, "with τ_k rounded down"),
        misprint="With τ_k of eq. (17), rounded up, the chain takes a step too many by the first branch.",
        fault=partial(_grows_too_long, "0"),
    ),
    _item(
        name="Section 5.2, eq. (20)",
        printed="τ_k = ⌈max{log((1/(e^ε + 1) + ρ)/(s_k + ρ))/ε + 1, 0}⌉",
        compute=partial(_rounded_up, "0.001"),
        misprint="It is to be rounded down, and the turn is at (1 − δ)/(e^ε + 1).",
        fault=partial(_beyond_the_turn, "0.001"),
    ),
    _item(
        name="Section 5.2, eq. (21)",
        printed="1 + e^ε ρ − e^(−ε(t − τ_k))(1 − s_k^τ_k + e^ε ρ)",
        compute=lambda: Holds(False, "1 + ρ − e^(−ε(t − τ_k))(1 − s_k^τ_k + ρ)"),
        misprint="ρ stands there without e^ε, since the second branch must be 1 − e^−ε(1 − s − δ).",
        fault=partial(_one_step, "0.1"),
    ),
    *boundary_items("Gu2023"),
    *(
        _item(name=f"Figure {number}, τ_0", printed=printed, compute=partial(_tau_0, delta))
        for number, delta, printed in ((3, "0", "∞"), (4, "0.001", "25"), (5, "0.1", "4"))
    ),
    *(
        _item(
            name=f"Figure {number}, τ_1 to τ_5",
            printed=", ".join(map(str, PRINTED[delta])),
            compute=partial(_taus, delta),
            misprint="They are not the first t at which s_k is beyond the turn, which the closed form needs.",
            fault=partial(_switched_early, delta),
            note="Of the row with last entry .5823, since the printed one adds up to .9999.",
        )
        for number, delta in ((3, "0"), (4, "0.001"), (5, "0.1"))
    ),
    _item(
        name="Section 5.3, Figure 3, degenerate phases",
        printed="for k = 5 the first and second, for k = 4 the first, for k = 1 the third",
        compute=lambda: Holds(False, "for k = 5 the first, for k = 1 the third"),
        misprint="τ_4 is 1, not 0: the first phase for k = 4 and the second for k = 5 have a step each.",
        fault=_length_of_first_phase,
    ),
    _item(name="Section 5.3, Figure 5, τ_1 and τ_2", printed="τ_1 = τ_2", compute=_equal_turns),
    _item(
        name="Section 5.3, Figure 5, cusp",
        printed="2",
        compute=_cusp,
        misprint="The line for k = 2 has its cusp at t = 4, where both τ_1 and τ_2 are.",
        fault=partial(_switched_early, "0.1"),
    ),
)
