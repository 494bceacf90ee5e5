"""How far apart two laws are, written out for all oracles alike: no code of the library."""

from fractions import Fraction
from math import lcm

__all__ = ["hockey_stick"]


def hockey_stick(p, q, ratio):
    """Return Σ max(0, p − ratio·q) over the outputs, exactly; laws are lists, or map outputs to probabilities."""
    found = [(x, q.get(output, 0)) for output, x in p.items()] if isinstance(p, dict) else list(zip(p, q, strict=True))
    # Over one denominator: sums of integers are fast.
    denominator = lcm(*(share.denominator for pair in found for share in pair))
    (a, b), whole = ratio.as_integer_ratio(), 0
    for x, y in found:
        over = x.numerator * (denominator // x.denominator) * b - y.numerator * (denominator // y.denominator) * a
        whole += max(0, over)
    return Fraction(whole, denominator * b)
