"""How far apart two laws are, written out for all oracles alike: no code of the library."""

from fractions import Fraction

__all__ = ["hockey_stick"]


def hockey_stick(p, q, ratio):
    """Return Σ max(0, p − ratio·q) over the outputs, exactly; laws are lists, or map outputs to probabilities."""
    if isinstance(p, dict):
        return sum((max(Fraction(0), x - ratio * q.get(output, 0)) for output, x in p.items()), Fraction(0))
    return sum((max(Fraction(0), x - ratio * y) for x, y in zip(p, q, strict=True)), Fraction(0))
