"""Sweeps, whose cases differ in numbers alone: `make test` tries a fixed share of them, `make reliability` all.

A class of cases never waits for `make reliability`; only more cases of it do. With the environment variable
`IRISDP_WHOLE` any command tries all.
"""

import os
from itertools import product

_WHOLE = "IRISDP_WHOLE" in os.environ


def tried(part, whole):
    """Return how many cases to try: `part` of them, or the whole sweep."""
    return whole if _WHOLE else part


def by_turns(first, second):
    """Return every pair of both; or in part each of `first` with one of `second`, which take turns."""
    first, second = list(first), list(second)
    turns = [(one, second[place % len(second)]) for place, one in enumerate(first)]
    return tried(turns, list(product(first, second)))
