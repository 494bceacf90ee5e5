"""How far apart two laws are, written out for all oracles alike: no code of the library."""

import itertools
from fractions import Fraction
from math import lcm


def over_one_denominator(law):
    """Return a law as integers over one denominator, and that: whoever compares a law with many prepares it once."""
    denominator = lcm(*(share.denominator for share in law.values()))
    return {x: share.numerator * (denominator // share.denominator) for x, share in law.items()}, denominator


def hockey_stick(p, q, ratio):
    """Return Σ max(0, p − ratio·q) over the outputs, exactly.

    Laws are sequences, or map outputs to probabilities, or are pairs of `over_one_denominator`.
    """
    (p, p_whole), (q, q_whole) = _prepared(p, len(q)), _prepared(q, len(p))
    # Over one denominator: sums of integers are fast.
    a, b = ratio.as_integer_ratio()
    denominator = lcm(p_whole, q_whole)
    p_times, q_times = denominator // p_whole * b, denominator // q_whole * a
    whole = sum(max(0, x * p_times - q.get(output, 0) * q_times) for output, x in p.items())
    return Fraction(whole, denominator * b)


def _prepared(law, other):
    if isinstance(law, dict):
        return over_one_denominator(law)
    if isinstance(law[0], dict):
        return law
    assert len(law) == other, "lists have as many outputs"
    return over_one_denominator(dict(enumerate(law)))


def private(rows, ratio):
    return all(
        x <= ratio * y and y <= ratio * x
        for here, after in itertools.pairwise(rows)
        for x, y in zip(here, after, strict=True)
    )
