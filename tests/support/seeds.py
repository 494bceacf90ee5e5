"""Random generators of the tests: the same at every run, and new ones where `make seeds` gives a seed.

A test names its generator, so that its cases do not depend on which other tests ran before it. With the environment
variable IRISDP_TEST_SEED the name and that seed together decide; a failure can be repeated by setting it again.
"""

import os
import random

import numpy as np

_RUN = os.environ.get("IRISDP_TEST_SEED")


def fresh_random(name):
    """Return a `random.Random` for this name in this run."""
    return random.Random(name if _RUN is None else f"{_RUN} {name}")


def fresh_generator(name):
    """Return a NumPy generator for this name (an integer or several) in this run."""
    parts = list(name) if isinstance(name, (list, tuple)) else [name]
    return np.random.default_rng(parts if _RUN is None else [int(_RUN), *parts])
