"""The winner as its definitions read, step by step: slow, exact, and without a line of the library's.

Numbers are `flint.fmpq`. Counts stand by how far each is behind the largest.
"""

import functools
import itertools

import flint


def number(value):
    """Return an exact rational."""
    return flint.fmpq(*value.as_integer_ratio())


def normal(counts):
    """Return gaps to the largest."""
    most = max(counts)
    return tuple(most - count for count in counts)


def ascending(categories, largest):
    """List gaps in ascending order, none above `largest`."""
    return [(0, *rest) for rest in itertools.combinations_with_replacement(range(largest + 1), categories - 1)]


def exchanges(gaps):
    """Yield the gaps after every exchange of one record; the places stay what they are."""
    for gains, loses in itertools.permutations(range(len(gaps)), 2):
        yield normal([-gap + (place == gains) - (place == loses) for place, gap in enumerate(gaps)])


class Pulled:
    """p_l(h) = p_l(h + e_l − e_top)/r for whoever is behind, one record at a time; the tops share what is left."""

    def __init__(self, ratio):
        self.ratio = number(ratio)
        self.top = functools.cache(self._top)
        self.chance = functools.cache(self._chance)

    def row(self, gaps):
        """Return the chances, in the order of the gaps."""
        state = tuple(sorted(gaps))
        return [self.chance(state, gap) for gap in gaps]

    def _chance(self, state, gap):
        if gap == 0:
            return self.top(state)
        if gap == 1:  # an exchange with a top swaps the two
            return self.top(state) / self.ratio
        counts = [-other for other in state]
        place = state.index(gap)
        counts[place] += 1
        counts[0] -= 1
        moved = normal(counts)
        return self.chance(tuple(sorted(moved)), moved[place]) / self.ratio

    def _top(self, state):
        behind = sum((self.chance(state, gap) for gap in state if gap > 1), start=flint.fmpq(0))
        return (1 - behind) / (state.count(0) + state.count(1) / self.ratio)

    def broken(self, states):
        """Return an edge from one of these states that is not private, or that has a chance that is none; or None."""
        for state in states:
            here = self.row(state)
            for moved in exchanges(state):
                for p, q in zip(here, self.row(moved), strict=True):
                    if p <= 0 or p > self.ratio * q or q > self.ratio * p:
                        return state, moved
        return None


def by_all_orders(accepted):
    """Return what permute-and-flip gives, by going through every order of the categories."""
    found = [flint.fmpq(0)] * len(accepted)
    orders = list(itertools.permutations(range(len(accepted))))
    for order in orders:
        left = flint.fmpq(1)
        for place in order:
            found[place] += left * accepted[place]
            left *= 1 - accepted[place]
    return [one / len(orders) for one in found]
