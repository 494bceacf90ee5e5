"""Exact two-sided geometric noise on arrays of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import checked
from ..privacy import Privacy
from ..sampling import BitSource, add_geometric

__all__ = ["geometric"]


@checked
def geometric(values: Any, privacy: Privacy, *, source: BitSource | None = None) -> NDArray[np.int64]:
    """Add independent two-sided geometric noise to every integer of an array.

    Parameters
    ----------
    values : array of int
        Any shape, magnitudes up to 2^62.
    privacy : Privacy
        The noise is P(Z = z) = (1−α)/(1+α)·α^|z| with α = 1/r exactly, for the rational r = `privacy.ratio`.
        ε must be at least 1e-15; δ is not used.
    source : BitSource, optional
        The operating system's bits unless given; tests script it.

    Returns
    -------
    array of int64, the shape of `values`
        Where one record changes one value by at most 1 and no other, the result is (ε, 0)-differentially private.
        For sensitivity s, pass a privacy whose ratio is the s-th root. Sums beyond 64 bits saturate, which is
        post-processing.

    Raises
    ------
    BadInput
        For floats, booleans, masked entries or magnitudes above 2^62 (the message shows no value), and for an ε of 0.

    Notes ----- No float is involved and no tail is cut. Each draw takes one 64-bit word for ε ≥ 0.044, two down to
    2.2e-5, three down to 1.1e-8 and four down to 5.2e-12. In arrays of 2^14 values or more it takes half as many, if
    that is more than one. Each of them and each run of 2^15 values also takes sixteen words, to read on with. It is the
    same for every value and outcome, but for ties of probability below 2^-50.

    References
    ----------
    docs/theory.md#counts; `tests/laws/test_sampling_exhaustion.py` proves the law and
    `tests/statistics/test_sampling_laws.py` tests it on the operating system's bits.

    Examples
    --------
    >>> noisy = geometric([[3, 5], [0, 944]], Privacy(epsilon=1))
    >>> noisy.shape, noisy.dtype.name
    ((2, 2), 'int64')
    """
    return add_geometric(values, privacy, source=source)
