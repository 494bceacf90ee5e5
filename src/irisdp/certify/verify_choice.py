"""Check how well the boundary rows of a mechanism file were chosen, without trusting its author.

    python verify_choice.py MECHANISM.json

To lie beside verify_mechanism.py, whose checks are made first. A design that takes its boundary rows as given is best
among the mechanisms with these rows. If it chose them as well, one row for each ranking, its certificate holds a
"choice", and this file recomputes the bound that follows. It bounds the goal of every private mechanism whose boundary
rows depend on the ranking alone (proofs/choice-of-boundary.md).

Why the bound holds. Give row m to the boundary inputs of a ranking. At depth t the first k + 1 choices together have at
most u^t(s), where s is what m gives them. So the goal is at least what it would cost to be wrong everywhere, less
Σ gain·u^t(s). A tangent of the concave function u^t lies above it, and what is left is linear in the rows m: weak
duality between the rankings that touch bounds it.

Exit status: that of verify_mechanism.py, or 1 where the choice is not proven.
"""

from __future__ import annotations

import importlib
import sys
from fractions import Fraction
from typing import Any

try:
    from . import verify_mechanism as verifier
except ImportError:  # run as a file
    verifier = importlib.import_module("verify_mechanism")

RANKED = ("balanced-line", "homogeneous-rainbow", "rainbow")
"""The theorems whose rankings a choice speaks of. A pullback's value is of another goal: the inner mechanism's."""

DEEPEST = 1000
"""A tangent is followed through every depth up to the deepest, with exact numbers that grow longer each time."""


def choice(mechanism: verifier.Mechanism, certificate: Any) -> Fraction:
    """Return the bound on the goal, of a mechanism that verify_mechanism.py has accepted."""
    insist, part, whole = verifier.insist, verifier.part, verifier.whole_number
    answers, size = len(mechanism.outputs), len(mechanism.inputs)
    goal = verifier.read_goal(mechanism, certificate)
    insist(not goal.worst_case, "a choice of boundary needs an average")
    rankings = verifier.read_rankings(certificate, answers)
    first = [rankings.index(line) for line in rankings]  # a ranking that is listed twice is one ranking
    ranking_of = [first[k] for k in verifier.read_ranking_of(certificate, rankings, size)]
    touching = {
        (ranking_of[i], ranking_of[j])
        for i, near in enumerate(mechanism.neighbours)
        for j in near
        if ranking_of[i] != ranking_of[j]
    }
    boundary = [i for i, near in enumerate(mechanism.neighbours) if any(ranking_of[j] != ranking_of[i] for j in near)]
    # The depth of an input that no boundary reaches is `size`: its first choice costs no privacy.
    depth = verifier.smallest_reaching(mechanism, dict.fromkeys(boundary, 0), lambda t: t + 1, size)
    insist(max((t for t in depth if t < size), default=0) <= DEEPEST, f"a choice is not checked deeper than {DEEPEST}")

    bound = Fraction(0)
    gains: dict[
        tuple[int, int], dict[int, Fraction]
    ] = {}  # by ranking and place: what u^t of the prefix saves, by depth t
    for i, t in enumerate(depth):
        costs = [goal.weights[i] * goal.losses[i][v] for v in rankings[ranking_of[i]]]
        bound += costs[-1 if t < size else 0]
        for place in range(answers - 1 if t < size else 0):
            gained = gains.setdefault((ranking_of[i], place), {})
            gained[t] = gained.get(t, Fraction(0)) + costs[place + 1] - costs[place]

    lines = verifier.lines_of_u(mechanism.pairs)
    scores = [[Fraction(0)] * answers for _ in rankings]  # of the rows m, one for each ranking
    shares: dict[tuple[int, int], Fraction] = {}
    for entry in verifier.list_of(part(certificate["choice"], "tangents", "choice"), "tangents"):
        which, where, at, weight = verifier.list_of(entry, "an entry of tangents", 4)
        ranking = first[whole(which, "tangents", 0, len(first) - 1)]
        place = whole(where, "tangents", 0, answers - 2)
        point, share = verifier.number(at, "tangents"), verifier.number(weight, "tangents")
        insist((ranking, place) in gains and 0 <= point <= 1 and share >= 0, "a tangent touches nothing")
        shares[ranking, place] = shares.get((ranking, place), Fraction(0)) + share
        value, slope = point, Fraction(1)
        for t in range(1 + max(gains[ranking, place])):
            gain = share * gains[ranking, place].get(t, Fraction(0))
            bound -= gain * (value - slope * point)
            for v in rankings[ranking][: place + 1]:
                scores[ranking][v] -= gain * slope
            value, steeper = verifier.u(lines, value)
            slope *= steeper
    insist(set(shares.values()) <= {1}, "the weights of the tangents do not sum to 1")
    # Where no tangent is drawn, a prefix is at most certain.
    bound -= sum((sum(saved.values()) for key, saved in gains.items() if key not in shares), start=Fraction(0))

    entries = verifier.list_of(part(certificate["choice"], "multipliers", "choice"), "multipliers")
    multipliers = [
        [*(first[whole(k, "multipliers", 0, len(first) - 1)] for k in entry[:2]), *entry[2:]]
        for entry in map(of_five, entries)
    ]
    return bound + verifier.lower_bound(mechanism, scores, multipliers, lambda a, b: (a, b) in touching)


def of_five(entry: Any) -> list[Any]:
    """Read an entry of multipliers; without a fifth part it speaks of pair 0."""
    listed = verifier.list_of(entry, "an entry of multipliers")
    verifier.insist(len(listed) in (4, 5), "an entry of multipliers must have 4 parts, or 5 with the number of a pair")
    return [*listed, 0][:5]


def check(path: str = "") -> int:
    """Check one file, print the verdict and return the exit status."""
    status = verifier.main(path)
    if status:
        return status
    verifier.work[0] = 0
    try:
        document = verifier.read_file(path)
        if document.get("certificate") is None or "choice" not in document["certificate"]:
            print("  choice: nothing is claimed of the boundary rows")
            return 0
        mechanism = verifier.read_mechanism(document)
        value = verifier.conclude(mechanism).value
        stated = document["certificate"]
        ranked = stated["kind"] == "theorem" and stated.get("theorem") in RANKED
        verifier.insist(ranked, "a choice says something only of rainbows with a goal")
        if value is None:
            raise ValueError("the certificate states no loss")
        bound = choice(mechanism, stated)
    except verifier.TooLarge as problem:
        verifier.say(f"not checked: {verifier.reason_of(problem)}")
        return 2
    except Exception as problem:
        verifier.say(f"no: {verifier.reason_of(problem)}")
        return 1
    print(
        f"  choice: at most {verifier.shown(value - bound)} above the best among mechanisms whose boundary rows depend"
        f" on the ranking alone (bound {verifier.shown(bound)})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(check(*sys.argv[1:]))
