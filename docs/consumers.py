"""Work out what reading a published count well saves, for five readers, and write docs/consumers.md.

    python docs/consumers.py

Needs SciPy, for one reader's prior. Takes a few seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from scipy.stats import binom

from irisdp import Privacy
from irisdp.consumers import Consumer, loss_of_reading, optimal_reading
from irisdp.mechanisms import FactoredMechanism

PAGE = Path(__file__).with_suffix(".md")
LARGEST = 300
EPSILONS = ("0.1", "0.5", "1", "2")
MOST_GAP = Fraction(1, 10**6)
"""Of the loss at face value; three digits are shown, and where hardly anything is lost the gap is one of rounding."""

SMALLEST = 1e-7
"""Losses below it are not shown."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A consumer, and who that is in plain words."""

    name: str
    knows: str
    hurts: str
    unit: str
    consumer: Consumer


READERS = (
    Reader(
        "school planner",
        "that at least 200 of the 300 pupils take the bus: so many have signed up",
        "every seat too many or too few, all alike, in the worst case",
        "seats",
        Consumer(LARGEST, "absolute", side_information={"at_least": 200}),
    ),
    Reader(
        "clinic",
        "nothing but that 300 people were asked",
        "a missing dose, four times as much as one left over, in the worst case",
        "doses",
        Consumer(LARGEST, {"name": "pinball", "too_low": 4, "too_high": 1}),
    ),
    Reader(
        "local newspaper",
        "that the count is between 20 and 60, from last year's report",
        "being wrong by more than 5, no matter how far, in the worst case",
        "probability of that",
        Consumer(LARGEST, {"name": "threshold", "beyond": 5}, side_information={"at_least": 20, "at_most": 60}),
    ),
    Reader(
        "epidemiologist",
        "that each of the 300 has the disease with probability 2 %, independently",
        "the squared error, on average over what is likely",
        "squared cases",
        Consumer(LARGEST, "squared", prior=binom(LARGEST, 0.02)),
    ),
    Reader(
        "bus company",
        "that whole classes of 25 go, so that the count is a multiple of 25",
        "sending any other number of buses than there are classes, in the worst case",
        "probability of that",
        Consumer(LARGEST, "zero-one", side_information=list(range(0, LARGEST + 1, 25))),
    ),
)

ADVICE = """\
A published count is the true one plus noise, and the noise does not know what you know. So do not print it unread.
Say what you know for certain and what a wrong number costs you, and read it for that. If you know bounds, answers
outside them are pulled back inside, and answers near them move inward. If being too low hurts more, answers move up.
If you have a prior, you believe a surprising value only as far as the noise allows. The smaller ε, the
larger the noise and the more there is to gain; where the noise is small against what you know, reading changes
little. A best reading is sometimes a draw between two neighbouring answers: that is what protects the worst case,
so draw once and keep the answer. Reading needs nothing secret and costs no privacy. The losses of the five readers
here never fall as the answer moves away from the truth. For such a loss, no mechanism made for you alone, at the same
ε and without δ, would serve you better (proofs/universality.md). For other losses one might, by
a factor of at most 2 (proofs/other-losses.md).
"""


def main() -> None:
    """Work out the table and write the page."""
    lines = [
        "# What reading a published count well saves",
        "",
        "Written by `docs/consumers.py`; do not edit by hand.",
        "",
        f"One count of 0..{LARGEST}, published once with geometric noise, and five people who read it:",
        "",
        *(f"- The **{reader.name}** knows {reader.knows}. What hurts is {reader.hurts}." for reader in READERS),
        "",
        "*At face value* is the loss of a reader who takes the published number without a change. *Read well* is the",
        "loss of the best reading: the worst or expected loss that the reader minimises. Both are certified to a",
        "millionth of the former and rounded to three digits.",
        "",
        "| reader | loss in | ε | at face value | read well | saved | saved, % |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for reader in READERS:
        for epsilon in EPSILONS:
            face, best = losses(reader.consumer, epsilon)
            share = 100 * (face - best) / face
            lines.append(
                f"| {reader.name} | {reader.unit} | {epsilon} | {text_of(face)} | {text_of(best)} "
                f"| {text_of(face - best)} | {float(share):.1f} |"
            )
    PAGE.write_text("\n".join([*lines, "", "## How to read", "", ADVICE]), encoding="utf-8")


def losses(consumer: Consumer, epsilon: str) -> tuple[Fraction, Fraction]:
    """Return what a published count costs at face value, and read as well as can be."""
    published = FactoredMechanism(privacy=Privacy(epsilon=epsilon), n=LARGEST)
    found = optimal_reading(published, consumer)
    face = loss_of_reading(published, consumer)
    assert found.value - found.lower_bound <= MOST_GAP * face
    return face, found.value


def text_of(number: Fraction) -> str:
    """Write a number to three significant digits, without an exponent."""
    value = float(f"{float(number):.3g}")
    if 0 < value < SMALLEST:
        return "below 0.0000001"
    return f"{value:.0f}" if value >= 100 else f"{value:.9f}".rstrip("0").rstrip(".")


if __name__ == "__main__":
    main()
