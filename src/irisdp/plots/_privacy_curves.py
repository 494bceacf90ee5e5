"""Pictures of privacy: how often a test between neighbours errs, and δ over ε, beside noise that people know."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from .._exact import checked, entries, exp_below, log_above, short_text
from ..baselines import BaselineNoise, GeometricCount, RoundedLaplace, RoundedStaircase
from ..certify import PrivacyProfile, privacy_profile
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ..privacy import (
    Gaussian,
    Guarantee,
    Privacy,
    gaussian_delta,
    gaussian_errors,
    gaussian_mean,
    gaussian_mean_for,
    right_guess,
)
from ._layout import COLOURS, INK, altair, apart, finished, heading
from ._picture import Picture, brief

# Tests between neighbours: trade-off curves and profiles of guarantees, mechanisms and noise distributions.
#
# A test for one of two neighbours has two errors: it accepts wrongly (type I), or rejects wrongly (type II). Everything
# here is exact, or rounded toward less privacy: errors down, δ up.

Point = tuple[Fraction, Fraction]
"""Type I error, and the least type II error that goes with it."""

_ZERO, _ONE = Fraction(0), Fraction(1)
_TRADE_OFF_STEPS = 48
"""Thresholds of a Gaussian that are drawn, on either side of the middle."""
_DEVIATIONS = 5
"""How far out: beyond, an error is below 3e-7."""


class Tests(Protocol):
    """The best tests between two laws."""

    def points(self) -> tuple[Point, ...]:
        """Return tests by rising type I error; the first and the last ignore the answer."""

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return δ at an ε, rounded up."""

    def kinks(self) -> tuple[Fraction, ...]:
        """Return the ε, rounded up, where the profile turns."""


@dataclass(frozen=True, slots=True)
class Corners:
    """A trade-off curve that is straight between its corners.

    Parameters
    ----------
    corners : tuple of points
        By rising type I error.
    """

    corners: tuple[Point, ...]

    def points(self) -> tuple[Point, ...]:
        """Return the corners."""
        return self.corners

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the most that any test's power exceeds e^ε times its type I error by."""
        ratio = exp_below(epsilon)
        return max(_ZERO, *(1 - missed - ratio * alarm for alarm, missed in self.corners))

    def kinks(self) -> tuple[Fraction, ...]:
        """Return the logarithms of the slopes from 1 up."""
        slopes = [(above - below) / (right - left) for (left, above), (right, below) in pairwise(self.corners)]
        return tuple(log_above(slope) for slope in reversed(slopes) if slope > 1)


@dataclass(frozen=True, slots=True)
class Normal:
    """N(0, 1) and N(μ, 1): Gaussian privacy itself.

    Parameters
    ----------
    mu : Fraction
    """

    mu: Fraction

    def points(self) -> tuple[Point, ...]:
        """Return tests with thresholds at even distances around the one that errs as often either way."""
        places = [
            self.mu / 2 - Fraction(k * _DEVIATIONS, _TRADE_OFF_STEPS)
            for k in range(-_TRADE_OFF_STEPS, _TRADE_OFF_STEPS + 1)
        ]
        return ((_ZERO, _ONE), *(gaussian_errors(self.mu, place) for place in places), (_ONE, _ZERO))

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return δ."""
        return gaussian_delta(self.mu, epsilon)

    def kinks(self) -> tuple[Fraction, ...]:
        """Return nothing: the profile is smooth."""
        return ()


def of_privacy(privacy: Privacy) -> Corners:
    """Return the curve that no release with a guarantee lies below: 1 − u, exactly."""
    starts = privacy.shape.starts
    return Corners(_cleaned([*((start, 1 - privacy.shape.step(start)) for start in starts), (_ONE, _ZERO)]))


def of_profile(profile: PrivacyProfile) -> Corners:
    """Return the trade-off curve of a profile, exactly: each of its lines C − r·S is a test with errors S and 1 − C."""
    segments = zip(pairwise(profile.ratios), pairwise(profile.deltas), strict=True)
    slopes = [((left, above), (above - below) / (right - left)) for (left, right), (above, below) in segments]
    tests = [(slope, 1 - (delta + ratio * slope)) for (ratio, delta), slope in slopes]
    return Corners(_cleaned([(_ZERO, 1 - profile.unbounded), *reversed(tests), (_ONE, _ZERO)]))


def of_noise(law: GeometricCount | RoundedLaplace | RoundedStaircase) -> Corners:
    """Return the curve of noise on a count that one record moves by 1, of errors rounded down.

    A test takes for the greater count what is at least k. Beyond 1 and −1 such noise falls evenly, so that the curve
    turns at k = 2, 1 and 0 alone.
    """
    tests = ((_at_least(law, k), _at_least(law, 2 - k)) for k in (2, 1, 0))
    return Corners(_cleaned([(_ZERO, _ONE), *tests, (_ONE, _ZERO)]))


def _at_least(law: BaselineNoise, least: int) -> Fraction:
    probability = law.tail(least).lower if least >= 1 else 1 - law.tail(1 - least).upper
    return max(_ZERO, probability)


def _cleaned(points: Iterable[Point]) -> tuple[Point, ...]:
    """Keep of points with one type I error the lowest, and none that is on the line between its neighbours."""
    kept: list[Point] = []
    for point in points:
        if kept and point[0] == kept[-1][0]:
            kept[-1] = min(kept[-1], point)
            continue
        while len(kept) > 1 and _on_line(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _on_line(first: Point, middle: Point, last: Point) -> bool:
    return (middle[1] - first[1]) * (last[0] - first[0]) == (last[1] - first[1]) * (middle[0] - first[0])


PEERS = ("geometric", "laplace", "staircase", "gaussian")
"""Noise on a count for comparison in a picture of privacy."""

_BESIDE = ("geometric", "laplace", "gaussian")
_LEAST = Fraction(1, 10**6)
"""Where a profile's picture ends below, unless the subject's own δ is not much more, or less."""
_PROFILE_STEPS = 100
_NEARER = 10
_SURE = Fraction(1, 10**12)
"""Below this error probability of a guess, no baselines are searched for."""
_FARTHEST = Fraction(1000)
"""No ε is larger."""
_MOST_ENTRIES = 300_000
"""Of counts 0 to 500 about ten seconds; it grows a little faster than the number of probabilities."""

Subject = Mechanism | FactoredMechanism | PrivacyProfile | Guarantee


@checked
def trade_off_curves(subject: Subject, *, beside: Sequence[str] = _BESIDE) -> Picture:
    """Draw the least type II error of a test between neighbours over its type I error, beside noise on a count.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism, Privacy, Gaussian or PrivacyProfile
        For a mechanism its exact curve is drawn, over all neighbours both ways, and also its stated guarantee, if that
        is less. For what an exact profile costs see `irisdp.certify.privacy_profile`.
    beside : sequence of "geometric", "laplace", "staircase" and "gaussian"
        Noise at the same ε; where the subject has no single one, at the ε of geometric noise that a guess between
        two neighbours, 50:50 before, sees through as often. "gaussian" has the least deviation that keeps the
        subject's ε and δ, and without a δ the one that such a guess sees through as often.

    Returns
    -------
    Picture
        Its table holds the tests that are drawn. Type I and type II errors are exact or rounded down, so that no
        point says more for privacy than holds; straight lines join them.

    Raises
    ------
    BadInput
        For a mechanism that has no graph or is too large, and baselines of another name.

    Examples
    --------
    >>> picture = trade_off_curves(Privacy(ratio=2), beside=[])
    >>> picture.rows[1][1:]
    (0.3333333333333333, 0.3333333333333333)

    References
    ----------
    [Dong2022], Definition 2; docs/theory.md#shapes.
    """
    drawn = _Drawn.of(subject, beside)
    rows = [
        (curve.name, _below(alarm), _below(missed)) for curve in drawn.curves for alarm, missed in curve.tests.points()
    ]
    title = f"Trade-off curve: {drawn.curves[0].title}"
    return Picture(
        title=title,
        description=(
            f"Curves of {drawn.told}: the least type II error (a miss) of any test between neighbours, over its type I"
            " error (a false alarm). The higher a curve, the more private; the thin line is that of a test that"
            " sees nothing."
            f" {drawn.guesses()} Errors are exact or rounded down, toward less privacy.{drawn.said}"
        ),
        columns=("curve", "type I error (probability)", "type II error (probability)"),
        rows=tuple(rows),
        spec=finished(_trade_off_chart(rows, drawn, title), legend=[curve.name for curve in drawn.curves]),
    )


@checked
def privacy_profiles(subject: Subject, *, beside: Sequence[str] = _BESIDE) -> Picture:
    """Draw δ over ε: by how much an event may be likelier for a neighbour than e^ε times as likely.

    Parameters
    ----------
    subject, beside
        As for `trade_off_curves`.

    Returns
    -------
    Picture
        Its table holds δ at every ε that is drawn, exact or rounded up; 0 has no place on its scale.

    Raises
    ------
    BadInput
        As for `trade_off_curves`.

    Examples
    --------
    >>> privacy_profiles(Privacy(ratio=2), beside=[]).rows[0][1:]
    (0.0, 0.33333333333333337)

    References
    ----------
    docs/theory.md#closeness.
    """
    drawn = _Drawn.of(subject, beside)
    first = drawn.curves[0].tests
    end = drawn.reach()
    least = min(_LEAST, first.delta_at(end) / 10 or _LEAST) if not isinstance(first, Normal) else _LEAST
    rows: list[tuple[str, float, float]] = []
    for curve in drawn.curves:
        places = {Fraction(k, _PROFILE_STEPS) * end for k in range(_PROFILE_STEPS + 1)} | _turns(curve.tests, end)
        rows += [(curve.name, float(place), _above(curve.tests.delta_at(place))) for place in sorted(places)]
    title = f"Privacy profile: {drawn.curves[0].title}"
    return Picture(
        title=title,
        description=(
            f"Curves of {drawn.told}: the least δ at every ε from 0 to {short_text(end)}, on a logarithmic"
            f" scale; a curve that ends below falls under {short_text(least)}. The lower a curve, the more private."
            f" {drawn.guesses()} δ is exact or rounded up, toward less privacy.{drawn.said}"
        ),
        columns=("curve", "ε", "δ (probability)"),
        rows=tuple(rows),
        spec=finished(_profile_chart(rows, drawn, title, float(least)), legend=[curve.name for curve in drawn.curves]),
    )


@dataclass(frozen=True, slots=True)
class _Curve:
    """One curve: its name in the legend, in the title, and its tests."""

    name: str
    tests: Tests
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The curves of a picture, the subject's first, and how the baselines were chosen."""

    curves: tuple[_Curve, ...]
    ratio: Fraction
    said: str

    @classmethod
    def of(cls, subject: Subject, beside: Any) -> _Drawn:
        wanted = entries(beside)
        if wanted is None or any(name not in PEERS for name in wanted) or len(set(wanted)) < len(wanted):
            raise BadInput(
                "beside", "must be a list of different mechanisms to compare with", f"choose from {', '.join(PEERS)}"
            )
        own, promised = _own(subject)
        apart_by = own[0].tests.delta_at(Fraction(0))
        if isinstance(promised, Privacy) and promised.single:
            ratio, delta, same = promised.ratio, promised.delta, True
        elif apart_by < 1 - _SURE:
            ratio, delta, same = (1 + apart_by) / (1 - apart_by), Fraction(0), False
        else:
            return cls(tuple(own), Fraction(1), "")
        if ratio == 1:
            return cls(tuple(own), ratio, "")
        if isinstance(promised, Gaussian):
            wanted = [name for name in wanted if name != "gaussian"]
        peers = [_peer(name, ratio, delta) for name in wanted]
        epsilon = short_text(Privacy(ratio=ratio).epsilon)
        why = "" if same else ", at which geometric noise is seen through as often by a guess that was 50:50 before"
        said = f" Noise beside it is that of a count at ε = {epsilon}{why}" if peers else ""
        if "gaussian" in wanted:
            of_it = (
                "the least deviation that keeps this δ as well"
                if delta
                else "that deviation for which this guess is as good"
            )
            said += f"; Gaussian noise has {of_it}"
        said += "." if peers else ""
        return cls((*own, *peers), ratio, said)

    @property
    def told(self) -> str:
        return "; ".join(curve.name for curve in self.curves)

    def guesses(self) -> str:
        """Say of every curve how often a guess is right."""
        right = (f"{right_guess(curve.tests.delta_at(Fraction(0)))} ({curve.name})" for curve in self.curves)
        return f"A guess between two neighbours, 50:50 before, is right with probability at most {'; '.join(right)}."

    def reach(self) -> Fraction:
        """Return the ε where a profile ends: beyond the subject's last kink, and twice the baselines' ε."""
        tests = self.curves[0].tests
        last = max(tests.kinks(), default=Fraction(0))
        while isinstance(tests, Normal) and tests.delta_at(last) > _LEAST:
            last = last * Fraction(9, 8) or Fraction(1, 64)
        end = max(2 * float(log_above(self.ratio)), 1.1 * float(last), 0.01)
        return min(Fraction(f"{end:.2g}"), _FARTHEST)


def _own(subject: Subject) -> tuple[list[_Curve], Guarantee | None]:
    """Return the subject's curves, and its guarantee."""
    if isinstance(subject, Privacy):
        return [_Curve(_promise(subject), of_privacy(subject), _promise(subject))], subject
    if isinstance(subject, Gaussian):
        return [_Curve(_promise(subject), Normal(subject.mu), _promise(subject))], subject
    if isinstance(subject, PrivacyProfile):
        return [_Curve("this profile", of_profile(subject), "of a mechanism")], None
    if isinstance(subject, Mechanism) and subject.graph is None:
        rule = "has no graph that says which inputs are neighbours"
        raise BadInput("subject", rule, "add one where it is made, or draw the privacy that it states")
    size = f"{len(subject.inputs):,} inputs and {len(subject.outputs):,} answers"
    if len(subject.inputs) * len(subject.outputs) > _MOST_ENTRIES:
        rule = f"has {size}, and pictures of privacy look at up to {_MOST_ENTRIES:,} probabilities"
        raise BadInput("subject", rule, "draw the privacy that it states, or a profile of it")
    curves, stated = of_profile(privacy_profile(subject)), of_privacy(subject.privacy)
    own = [_Curve("this mechanism", curves, f"a mechanism with {size}")]
    if stated != curves:
        own.append(_Curve(f"promised: {_promise(subject.privacy)}", stated))
    return own, subject.privacy


def _promise(guarantee: Guarantee) -> str:
    if isinstance(guarantee, Privacy) and not guarantee.single:
        return f"{len(guarantee.pairs)} pairs of ε and δ"
    return brief(guarantee)


def _peer(name: str, ratio: Fraction, delta: Fraction) -> _Curve:
    if name == "geometric":
        return _Curve("geometric noise, randomised response (yes/no)", of_noise(GeometricCount(ratio)))
    if name == "laplace":
        return _Curve(RoundedLaplace.name, of_noise(RoundedLaplace(ratio)))
    if name == "staircase":
        return _Curve(RoundedStaircase.name, of_noise(RoundedStaircase(ratio)))
    epsilon = Privacy(ratio=ratio).epsilon
    mean = gaussian_mean_for(epsilon, delta) if delta else gaussian_mean((ratio - 1) / (ratio + 1))
    return _Curve(f"Gaussian noise, μ = {short_text(mean)}", Normal(mean))


def _turns(tests: Tests, end: Fraction) -> set[Fraction]:
    """Return where a profile turns, and places ever nearer to the last of them, before which it may fall steeply."""
    kinks = [kink for kink in tests.kinks() if kink <= end]
    near = [kinks[-1] - end / _PROFILE_STEPS / 4**k for k in range(_NEARER)] if kinks else []
    return {*kinks, *(place for place in near if place > 0)}


def _below(value: Fraction) -> float:
    """Return the largest float that is no more."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def _above(value: Fraction) -> float:
    """Return the smallest float that is no less."""
    return -_below(-value)


def _trade_off_chart(rows: Sequence[tuple[str, float, float]], drawn: _Drawn, title: str) -> Any:
    alt: Any = altair()
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(labelFlush=False)
    x = alt.X("alarm:Q", title="type I error: probability of a false alarm", scale=scale, axis=axis)
    y = alt.Y("missed:Q", title="type II error: probability of a miss", scale=scale, axis=axis)
    values = [{"line": name, "alarm": alarm, "missed": missed} for name, alarm, missed in rows]
    nothing = (
        alt.Chart(alt.InlineData(values=[{"alarm": 0, "missed": 1}, {"alarm": 1, "missed": 0}]))
        .mark_line(color=INK, strokeWidth=0.8)
        .encode(x=x, y=y)
    )
    word = (
        alt.Chart(alt.InlineData(values=[{"alarm": 0.55, "missed": 0.5, "words": "a test that sees nothing"}]))
        .mark_text(align="left", color=INK, fontSize=13)
        .encode(x=x, y=y, text="words:N")
    )
    return alt.layer(nothing, word, *_lines(alt, values, drawn, x, y)).properties(
        width=330, height=330, title=_heading(title, drawn)
    )


def _profile_chart(rows: Sequence[tuple[str, float, float]], drawn: _Drawn, title: str, least: float) -> Any:
    alt: Any = altair()
    last = max(epsilon for _, epsilon, _ in rows)
    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(domain=[0, last], nice=False), axis=alt.Axis(labelFlush=False))
    tens = [10.0**power for power in range(math.floor(math.log10(least)), 1)]
    y = alt.Y(
        "delta:Q",
        title="δ (probability, log scale)",
        scale=alt.Scale(type="log", domain=[least, 1], nice=False),
        axis=alt.Axis(values=tens, labelExpr="format(datum.value, datum.value < 0.001 ? '~e' : '~g')"),
    )
    values = [{"line": name, "epsilon": at, "delta": delta} for name, at, delta in rows if delta >= least]
    return alt.layer(*_lines(alt, values, drawn, x, y)).properties(width=340, height=280, title=_heading(title, drawn))


def _lines(alt: Any, values: Sequence[dict[str, Any]], drawn: _Drawn, x: Any, y: Any) -> list[Any]:
    """Draw the subject broad and pale, and over it every curve: those that coincide with it are seen on it."""
    ways = apart("curve", [curve.name for curve in drawn.curves], points=False)
    subject = [value for value in values if value["line"] == drawn.curves[0].name]
    broad = (
        alt.Chart(alt.InlineData(values=subject))
        .mark_line(strokeWidth=9, opacity=0.3, color=COLOURS[0])
        .encode(x=x, y=y)
    )
    lines = (
        alt.Chart(alt.InlineData(values=list(values)))
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=ways["color"], strokeDash=ways["strokeDash"])
    )
    return [broad, lines]


def _heading(title: str, drawn: _Drawn) -> Any:
    beside = f"; beside it noise on a count, ε = {short_text(Privacy(ratio=drawn.ratio).epsilon)}" if drawn.said else ""
    return altair().TitleParams(**heading(title, f"broad: {drawn.curves[0].name}{beside}", 340))
