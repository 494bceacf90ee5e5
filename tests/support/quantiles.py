"""Quantiles over ordered bins as their definitions read: histograms one by one, without a line of the library's."""

import itertools
from fractions import Fraction


def histograms(records, bins):
    """Yield the counts of so many records in so many bins."""
    for cuts in itertools.combinations(range(records + bins - 1), bins - 1):
        ends = (-1, *cuts, records + bins - 1)
        yield tuple(high - low - 1 for low, high in itertools.pairwise(ends))


def truth(counts, share):
    """Return the first bin up to whose end there are p·n records or more."""
    total = 0
    for place, count in enumerate(counts):
        total += count
        if total >= share * sum(counts):
            return place
    raise AssertionError("the last bin reaches all")


def exchanges(counts):
    """Yield the counts after one record went to another bin."""
    for gains, loses in itertools.permutations(range(len(counts)), 2):
        if counts[loses]:
            yield tuple(count + (place == gains) - (place == loses) for place, count in enumerate(counts))


def additions(counts):
    """Yield the counts after one record joined."""
    for gains in range(len(counts)):
        yield tuple(count + (place == gains) for place, count in enumerate(counts))


def score(counts, share, span, place):
    """Return how many steps of `span` records the quantile's rank is from a bin; 0 if it is there."""
    rank, before, upto = share * sum(counts), sum(counts[:place]), sum(counts[: place + 1])
    if upto < rank:
        return -((upto - rank) / Fraction(span) // 1)
    if place and before >= rank:
        return (before - rank) / Fraction(span) // 1 + 1
    return 0
