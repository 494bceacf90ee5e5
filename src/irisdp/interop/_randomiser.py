"""Any mechanism or noise as an object with `randomise`, one value in and one answer out, as diffprivlib has them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._exact import checked, float_above
from .._sampling import BitSource
from ..errors import BadInput
from ..graphs import as_node
from ..mechanisms import FactoredMechanism, Mechanism
from ..noise import GaussianLaw, StaircaseLaw, UniversalDistribution
from ..privacy import Gaussian, Privacy

LARGEST = 1 << 62
"""Of whole numbers, in atoms, to which noise is added."""


@dataclass(frozen=True, slots=True, repr=False)
class Randomiser:
    """One value in, one answer out; made by `randomiser`.

    Attributes
    ----------
    mechanism : Mechanism, FactoredMechanism, UniversalDistribution, StaircaseLaw or GaussianLaw
        What draws.
    source : BitSource or None
        The operating system's bits, unless a test gives others.
    """

    mechanism: Mechanism | FactoredMechanism | UniversalDistribution | StaircaseLaw | GaussianLaw
    source: BitSource | None = None

    @property
    def privacy(self) -> Privacy | Gaussian:
        """The mechanism's guarantee for one answer; `irisdp.audit` checks a mechanism from elsewhere."""
        return self.mechanism.privacy

    @property
    def epsilon(self) -> float:
        """ε of a single pair, rounded up to a float."""
        return float_above(self._pairs().epsilon)

    @property
    def delta(self) -> float:
        """δ of a single pair, rounded up to a float."""
        return float_above(self._pairs().delta)

    @checked
    def randomise(self, value: Any) -> Any:
        """Draw an answer to one value, exactly and independently of all others.

        Parameters
        ----------
        value : name of an input, or int
            Of a mechanism one of its inputs; of noise a whole number up to 2^62 in magnitude. Scalars of NumPy count as
            what they hold.

        Returns
        -------
        name of an output, or int
            Of noise the noisy number in atoms, of which a unit has `mechanism.atoms_per_unit`.

        Raises
        ------
        BadInput
            For any other value. The message does not repeat it.
        """
        given = value.item() if isinstance(value, np.generic) else value
        mechanism = self.mechanism
        if isinstance(mechanism, Mechanism | FactoredMechanism):
            try:
                mechanism.position(as_node(given))
            except BadInput:
                rule = "is not an input of this mechanism"
                raise BadInput("value", rule, f"choose one of {mechanism.inputs!r}") from None
            answer: Hashable = mechanism.outputs[
                int(mechanism.draw_positions(as_node(given), 1, source=self.source)[0])
            ]
            return answer
        most = LARGEST // mechanism.atoms_per_unit
        if not isinstance(given, int) or isinstance(given, bool) or not -most <= given <= most:
            raise BadInput("value", f"must be a whole number from -{most} to {most}", "round it or clamp it first")
        return int(mechanism.draw(np.array([given], dtype=np.int64), self.source)[0])

    def __repr__(self) -> str:
        """Say what draws."""
        return f"<Randomiser: {type(self.mechanism).__name__}, {self.privacy}>"

    def _pairs(self) -> Privacy:
        if isinstance(self.privacy, Gaussian):
            raise BadInput("epsilon", "is no part of a Gaussian guarantee", "read privacy")
        return self.privacy


@checked
def randomiser(
    mechanism: Mechanism | FactoredMechanism | UniversalDistribution | StaircaseLaw | GaussianLaw,
    *,
    source: BitSource | None = None,
) -> Randomiser:
    """Return an object with `randomise(value)` that draws from a mechanism or adds noise, exactly.

    Parameters
    ----------
    mechanism : Mechanism, FactoredMechanism, or a law of `irisdp.noise`
        What draws; each draw costs `privacy` once more, and nobody counts them here.
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    Randomiser
        With `randomise`, `privacy`, and `epsilon` and `delta` as floats that are nowhere too small.

    Examples
    --------
    >>> from irisdp import Privacy, mechanisms
    >>> coin = randomiser(mechanisms.binary_randomized_response(Privacy(epsilon=1)))
    >>> coin.randomise(1) in (0, 1), coin.epsilon
    (True, 1.0)
    """
    return Randomiser(mechanism, source)
