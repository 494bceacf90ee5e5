"""`mean` and `variance`: what noise makes of them, in this library's mechanisms and in others.

A value x lies between −1 and 1: in halves of the distance between the bounds, from the middle. Of N records with mean t
and variance v, a noisy mean is off by a weighted sum of noises over N, and a noisy variance too, to first order in the
noise. The weights depend on t and v. What is compared is the root mean square of that sum: N times the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._exact import Enclosure, ball
from .._measurements import (
    Grid,
    MeanFromCentre,
    MeanFromEnds,
    MeanOfAll,
    StaircaseNoise,
    VarianceFromEnds,
    VarianceOfAll,
)
from ..errors import BadInput
from ..noise import NoiseDistribution
from ..privacy import Privacy
from ._comparison import Comparison, ComparisonParameters, Objective
from ._rates import enclose_closely

_SPAN = 100
"""Steps between the bounds: of finer ones the errors are the same to four digits, and of coarser ones no larger."""

_UNIT = Grid(0, _SPAN, Fraction(1))

_WHERE = {
    "at-bound": ("all values are at one bound", Fraction(1), Fraction(0)),
    "middle": ("all values are half-way between the bounds", Fraction(0), Fraction(0)),
    "evenly": ("values spread evenly between the bounds", Fraction(0), Fraction(1, 3)),
}
"""Where errors are compared: in words, and mean and variance there."""

_FIRST_ORDER = (
    "errors are N times that of the answer, where N records have a value, to first order in the noise: an estimate for"
    " large N; exact where the number of records is public"
)

Weights = Callable[[Fraction, Fraction], Sequence[Fraction]]
"""From mean and variance to how much each noise weighs."""


@dataclass(frozen=True, slots=True)
class LinearError:
    """A sum of independent noises, each weighted as mean and variance say.

    Parameters
    ----------
    squares : sequence of Enclosure
        The mean square of each noise.
    weights : callable
    """

    squares: Sequence[Enclosure]
    weights: Weights

    def root_mean_square(self, mean: Fraction, variance: Fraction) -> Enclosure:
        """Return the root mean square of the sum."""
        low = high = Fraction(0)
        for weight, square in zip(self.weights(mean, variance), self.squares, strict=True):
            low, high = low + weight**2 * square.lower, high + weight**2 * square.upper
        ends = [enclose_closely(lambda end=end: ball(end).sqrt()) for end in (low, high)]  # type: ignore[misc]
        return Enclosure(ends[0].lower, ends[1].upper)


def laplace_square(privacy: Privacy, *, sensitivity: Fraction | int, parts: int) -> Enclosure:
    """Return the mean square of Laplace noise for a sensitivity, at so many equal parts of ε."""
    scale = Fraction(sensitivity) * parts
    return enclose_closely(lambda: 2 * (ball(scale) / ball(privacy.ratio).log()) ** 2)


def _scaled(noise: NoiseDistribution, factor: Fraction) -> Enclosure:
    """Return the mean square of a multiple of a noise on whole numbers."""
    square = noise.expected("squared")
    return Enclosure(square.lower * factor**2, square.upper * factor**2)


_ALL_COUNT = "every record has a value, or a record without one counts as a stated value"


def _means(asked: ComparisonParameters) -> list[tuple[dict[str, Any], LinearError]]:
    privacy, exchange = Privacy(ratio=asked.privacy.ratio), asked.relation == "exchange"
    ours: dict[str, Any] = {"ours": True}
    if not exchange:
        made = MeanFromEnds(privacy, _UNIT)
        squares = [_scaled(noise, Fraction(1, _SPAN)) for noise in made.noises]
        ends = LinearError(squares, lambda t, v: (1 - t, -1 - t))
        why = "one record moves the sums of the distances from both bounds by the distance between the bounds, in all"
        words = {"name": "sums of the distances from both bounds", "runs_at": "ε on both together", "why": why}
        halves = [laplace_square(privacy, sensitivity=1, parts=2)] * 2
        return [
            (ours | words, ends),
            (
                {
                    "name": "Laplace noise on sum and number",
                    "known_as": "a sum around the middle of the bounds, over a count",
                    "runs_at": "ε/2 on each",
                    "why": "one record moves the sum around the middle by half of the distance, and the number by 1",
                },
                LinearError(halves, lambda t, v: (Fraction(1), -t)),
            ),
        ]
    known = MeanOfAll(StaircaseNoise(privacy, _SPAN), _UNIT)
    made_of_two = MeanFromCentre(privacy, _UNIT)
    two = [
        _scaled(noise, part) for noise, part in zip(made_of_two.noises, (Fraction(1, _SPAN), Fraction(1)), strict=True)
    ]
    both = [laplace_square(privacy, sensitivity=size, parts=2) for size in (2, 1)]
    return [
        (
            ours
            | {
                "name": "staircase noise on the sum",
                "runs_at": "ε on the sum",
                "why": f"{_ALL_COUNT}; an exchange moves the sum by the distance between the bounds",
            },
            LinearError([_scaled(known.noise.noise, Fraction(2, _SPAN))], lambda t, v: (Fraction(1),)),
        ),
        (
            ours
            | {
                "name": "sum around the middle, and number",
                "runs_at": "ε/2 on each",
                "why": "a record may lose its value; an exchange that moves the number moves the sum by half as much",
            },
            LinearError(two, lambda t, v: (Fraction(1), -t)),
        ),
        (
            {
                "name": "Laplace noise on the mean of all",
                "known_as": "the mean of a public number of records",
                "runs_at": "ε on the mean",
                "why": f"{_ALL_COUNT}; an exchange moves the sum by the distance between the bounds",
            },
            LinearError([laplace_square(privacy, sensitivity=2, parts=1)], lambda t, v: (Fraction(1),)),
        ),
        (
            {
                "name": "Laplace noise on sum and number",
                "known_as": "a sum around the middle of the bounds, over a count",
                "runs_at": "ε/2 on each",
                "why": "an exchange moves the sum by the distance between the bounds, and the number by 1",
            },
            LinearError(both, lambda t, v: (Fraction(1), -t)),
        ),
    ]


def _of_three_sums(t: Fraction, v: Fraction) -> tuple[Fraction, ...]:
    return (1 - t) ** 2 - v, -(1 - t * t + v), (1 + t) ** 2 - v


def _of_number_sum_squares(t: Fraction, v: Fraction) -> tuple[Fraction, ...]:
    return t * t - v, -2 * t, Fraction(1)


def _variances(asked: ComparisonParameters) -> list[tuple[dict[str, Any], LinearError]]:
    privacy, exchange = Privacy(ratio=asked.privacy.ratio), asked.relation == "exchange"
    square = Fraction(1, _SPAN**2)
    three = VarianceFromEnds(privacy, _UNIT, exchanged=exchange)
    moved = "twice the square" if exchange else "the square"
    result: list[tuple[dict[str, Any], LinearError]] = [
        (
            {
                "ours": True,
                "name": "three sums of products of the distances",
                "runs_at": "ε on all three together",
                "why": f"a step moves them by {moved} of the distance between the bounds, in all",
            },
            LinearError([_scaled(three.noise, square)] * 3, _of_three_sums),
        ),
        (
            {
                "name": "Laplace noise on number, sum and squares",
                "known_as": "moments around the middle of the bounds, composed",
                "runs_at": "ε/3 on each",
                "why": "each noise is for what a step moves its number by",
            },
            LinearError(
                [laplace_square(privacy, sensitivity=size, parts=3) for size in (1, 2 if exchange else 1, 1)],
                _of_number_sum_squares,
            ),
        ),
    ]
    if not exchange:
        sizes = (Fraction(1), Fraction(1), Fraction(1, 2))
        halved = [laplace_square(privacy, sensitivity=size, parts=3) for size in sizes]
        words = {
            "name": "the same, squares less their middle",
            "known_as": "bounded variance from normalised sums",
            "runs_at": "ε/3 on each",
            "why": "squares less half of the largest move by half as much, and the number weighs otherwise",
        }
        return [
            *result,
            (words, LinearError(halved, lambda t, v: (t * t - v + Fraction(1, 2), -2 * t, Fraction(1)))),
        ]
    all_of_them = VarianceOfAll(StaircaseNoise(privacy, _SPAN**2), _UNIT)
    alone: Weights = lambda t, v: (Fraction(1),)  # noqa: E731
    ours = (
        {
            "ours": True,
            "name": "staircase noise on the squares around the mean",
            "runs_at": "ε on their sum",
            "why": f"{_ALL_COUNT}; an exchange moves the sum by less than the square of the distance",
        },
        LinearError([_scaled(all_of_them.noise.noise, 4 * square)], alone),
    )
    peer = (
        {
            "name": "Laplace noise on the variance",
            "known_as": "the variance of a public number of records, before it is cut off at its ends",
            "runs_at": "ε on the variance",
            "why": f"{_ALL_COUNT}; an exchange moves the variance by less than the squared distance over N",
        },
        LinearError([laplace_square(privacy, sensitivity=4, parts=1)], alone),
    )
    return [ours, *result, peer]


def _compare(
    query: str,
    asked: ComparisonParameters,
    contenders: list[tuple[dict[str, Any], LinearError]],
    places: Sequence[str],
    unit: str,
) -> Comparison:
    columns: Mapping[Objective, list[Enclosure]] = {
        Objective(name, f"root mean square of N times the error, where {_WHERE[name][0]}", unit): [
            error.root_mean_square(*_WHERE[name][1:]) for _, error in contenders
        ]
        for name in places
    }
    scope = "no optimality is claimed"
    described = [{**words, "scope": scope} if words.get("ours") else words for words, _ in contenders]
    notes = [_FIRST_ORDER, f"values are told in {_SPAN} steps between the bounds"]
    if asked.privacy.delta:
        notes.append("δ is not used: all of these mechanisms keep ε alone")
    return Comparison.of(query, {}, asked, described, columns, notes)


def compare_mean(asked: ComparisonParameters) -> Comparison:
    """Compare by how much noisy means are off."""
    if asked.words:
        raise BadInput("query", "mean takes no column here", "leave it out: no data is read")
    return _compare("mean", asked, _means(asked), ("at-bound", "middle"), "half of the distance between the bounds")


def compare_variance(asked: ComparisonParameters) -> Comparison:
    """Compare by how much noisy variances are off."""
    if asked.words:
        raise BadInput("query", "variance takes no column here", "leave it out: no data is read")
    unit = "squares of half of the distance between the bounds"
    return _compare("variance", asked, _variances(asked), tuple(_WHERE), unit)
