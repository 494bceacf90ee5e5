"""The loss of any post-processing of a released count, including none, and what a value implies about the count."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from ..errors import BadInput
from ..exact import checked
from ..mechanisms import FactoredMechanism, Reading
from .consumer import Consumer
from .games import (
    Deployed,
    check_counts,
    float_rows,
    game_of,
    is_plain_noise,
    mean_between,
    possible_counts,
    prior_in_floats,
)
from .geometric_sums import Floats, GeometricKernel

__all__ = ["loss_of_reading", "posterior", "weighed"]


@checked
def loss_of_reading(deployed: Deployed, consumer: Consumer, reading: Reading | None = None) -> Fraction:
    """Bound the loss of a post-processing for a consumer from above; without one, of the released value.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
        What was released; its inputs are the counts 0..n.
    consumer : Consumer
        Whose loss, and what is possible.
    reading : mapping, optional
        As `OptimalReading.reading`: released value → answers with their probabilities.

    Returns
    -------
    Fraction
        At least the worst, or expected, loss, and above it by about 1e-13 of it.

    Raises
    ------
    BadInput
        For a mechanism over other counts, or a reading that leaves out a released value.
    """
    check_counts(deployed, consumer)
    if reading is None:
        if any(v not in range(consumer.n + 1) for v in deployed.outputs):
            raise BadInput("deployed", "releases values that are no counts", "give a reading")
        triples = [(z, v, Fraction(1)) for z, v in enumerate(deployed.outputs)]
    else:
        if set(reading) != set(range(len(deployed.outputs))):
            raise BadInput("reading", "must say how to read every released value", "give each a distribution")
        triples = [(z, v, p) for z, line in reading.items() for v, p in line]
    if isinstance(deployed, FactoredMechanism) and deployed.reading is not None:
        # Noise that is read twice is noise with one reading, and keeps the recurrences.
        then = {y: ((y, Fraction(1)),) for y in range(deployed.n + 1)} if reading is None else reading
        triples = [(z, v, p * q) for z, line in deployed.reading.items() for y, p in line for v, q in then[y]]
        deployed = FactoredMechanism(privacy=deployed.privacy, n=deployed.n)
    released, answers = (np.array([triple[k] for triple in triples], np.int64) for k in range(2))
    game, floor = game_of(deployed, consumer)
    losses, errors = game.losses(released, answers, np.array([float(p) for *_, p in triples]))
    upper = losses + errors
    if consumer.prior is None:
        return mean_between(0.0, float(upper.max(initial=0.0, where=game.possible)), 1.0)[1] + floor
    weights, total = prior_in_floats(consumer)
    return mean_between(0.0, math.fsum(upper * weights), total)[1] + floor


@checked
def posterior(deployed: Deployed, released: Hashable, consumer: Consumer) -> Floats:
    """Return the probabilities of the counts 0..n once a value was released, for people to look at.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
    released : hashable
        One of its outputs.
    consumer : Consumer
        Its prior, or without one equal weights on what is possible.

    Raises
    ------
    BadInput
        For a value that the mechanism does not release, or cannot for any possible count.
    """
    check_counts(deployed, consumer)
    if not isinstance(released, Hashable) or released not in deployed.outputs:
        raise BadInput("value", "is not an output of the mechanism", "give one of its outputs")
    z = list(deployed.outputs).index(released)
    if is_plain_noise(deployed):
        likelihood = GeometricKernel(consumer.n, deployed.privacy.ratio).column(z)
    else:
        likelihood = float_rows(deployed)[:, z]
    weights = _prior(consumer) * likelihood
    if not weights.sum() > 0:
        raise _nobody()
    probabilities: Floats = weights / weights.sum()
    return probabilities


def weighed(log_likelihood: Floats, consumer: Consumer) -> Floats:
    """Return the probabilities of the counts 0..n, from the logarithm of how likely each makes what was released.

    Raises
    ------
    BadInput
        Where no count deemed possible can have released it.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(_prior(consumer)) + log_likelihood
    largest = logs.max()
    if not largest > -np.inf:
        raise _nobody()
    weights = np.exp(logs - largest)
    probabilities: Floats = weights / weights.sum()
    return probabilities


def _prior(consumer: Consumer) -> Floats:
    """Return the prior, or equal weights on what is possible."""
    return possible_counts(consumer).astype(float) if consumer.prior is None else prior_in_floats(consumer)[0]


def _nobody() -> BadInput:
    return BadInput("value", "cannot be released by any count deemed possible", "widen the side information")
