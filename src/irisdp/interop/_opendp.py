"""To OpenDP and back: mechanisms and noise as measurements, and its measurements as exact tables that `audit` judges.

What OpenDP calls things stands in `_opendp_names.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from .._exact import ball, checked, enclosure_of, exp_below, float_above, integer, json_bytes
from ..certify import audit, matrix_document
from ..errors import BadInput
from ..graphs import Complete, DatasetGraph, Path, as_node, graph_from_edges
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument, geometric_row
from ..noise import GaussianLaw, StaircaseLaw, UniversalDistribution
from ..privacy import Privacy
from . import _opendp_names as opendp
from ._randomiser import LARGEST, randomiser

# Group privacy: the guarantee for inputs further apart than neighbours, in floats that are never too small.

_HOPELESS = 1_000
"""Where log r^d is beyond this, δ is 1: no δ above 0 that anybody writes is smaller than e^-1000."""


def group_above(privacy: Privacy, distance: int) -> tuple[float, float]:
    """Return (ε, δ) of a single pair at a distance d: d·ε and δ·(1 + r + … + r^(d−1)), each rounded up to a float.

    P₀ ≤ r·P₁ + δ ≤ … ≤ r^d·P_d + δ(1 + r + … + r^(d−1)) for every event, and r^d ≤ e^(dε).
    """
    epsilon, delta = float_above(distance * privacy.epsilon), privacy.delta
    if distance == 0 or delta == 0:
        return epsilon, 0.0
    if distance == 1:
        return epsilon, float_above(delta)
    ratio = privacy.ratio
    if ratio == 1:
        return epsilon, min(1.0, float_above(distance * delta))
    if distance * privacy.epsilon > _HOPELESS:
        return epsilon, 1.0

    enclosure = enclosure_of(
        lambda: ball(delta) * (ball(ratio) ** distance - 1) / (ball(ratio) - 1), width=delta * Fraction(1, 1 << 70)
    )
    return epsilon, min(1.0, float_above(enclosure.upper))


_LARGEST_WORD = 1 << 63
_MOST_COUNTS = 2_000
_MOST_CATEGORIES = 500


@checked
def to_opendp(
    mechanism: Mechanism | FactoredMechanism | UniversalDistribution | StaircaseLaw | GaussianLaw,
    *,
    privacy: Privacy | None = None,
) -> Any:
    """Return a mechanism, or noise, as an OpenDP `Measurement`, to be chained and composed with OpenDP's own.

    It draws with Iris's exact sampler. OpenDP takes measurements from outside only when its features "contrib" and
    "honest-but-curious" are on: whether they are is for the caller to say, with `opendp.prelude.enable_features`.

    Parameters
    ----------
    mechanism : Mechanism, FactoredMechanism, or a law of `irisdp.noise`
        A mechanism has a graph and keeps what is claimed: it is audited first, exactly.
    privacy : Privacy, optional
        The claimed guarantee for neighbours, one pair; the mechanism's own guarantee if left out. Not for noise.

    Returns
    -------
    opendp.mod.Measurement
        *On a path*: whole numbers 0..n under |x − y|. *On a complete graph*: its nodes under the discrete distance. *On
        any other graph*: its nodes under the distance in the graph. *Noise*: 64-bit integers under |x − y|; answers are
        in atoms, of which a unit has `atoms_per_unit`.

        Its privacy map at a distance d is the guarantee's, rounded up to floats, never below. For a pure pair (max
        divergence) it is d·ε. For δ > 0 (its approximate form) it is (d·ε, δ(1 + r + … + r^(d−1))). For sensitivity m
        it is d·ε/m for geometric and ⌈d/m⌉·ε for staircase noise. For Gaussian noise (zero-concentrated divergence) it
        is (d·μ/m)²/2. An input outside the domain is an error.

    Raises
    ------
    BadInput
        When OpenDP is not installed, or has its features off; for a mechanism without a graph, one that does not keep
        what is claimed, and several pairs at once.

    References
    ----------
    [Dong2022] for noise that is Gaussian; proofs/grouped-releases.md for δ at a distance.

    Examples
    --------
    >>> import irisdp, opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> count = to_opendp(irisdp.design.geometric(100, irisdp.Privacy(epsilon="1/2")))
    >>> count.map(1), count.map(3), 0 <= count(42) <= 100
    (0.5, 1.5, True)
    """
    if isinstance(mechanism, UniversalDistribution | StaircaseLaw | GaussianLaw):
        if privacy is not None:
            raise BadInput("privacy", "cannot be given for noise, which has its own", "leave it out")
        return _noise(mechanism)
    claim = mechanism.privacy if privacy is None else privacy
    claim.ratio  # one pair, or it says so  # noqa: B018
    if not audit(mechanism, privacy=claim).private:
        raise BadInput("privacy", "is not what this mechanism keeps", "ask irisdp.audit for the edge that breaks it")
    pure = claim.delta == 0

    def bound(distance: Any) -> float | tuple[float, float]:
        epsilon, delta = group_above(claim, integer(distance, "d_in", at_least=0))
        return epsilon if pure else (epsilon, delta)

    return opendp.measurement(
        _space(mechanism),
        randomiser(mechanism).randomise,
        bound,
        measure="pure" if pure else "approximate",
        returns=_kind(mechanism.outputs),
    )


@checked
def matrix_from_opendp(measurement: Any, *, n: int | None = None) -> MechanismDocument:
    """Return the exact table of a measurement that OpenDP made, with the ε that its privacy map claims, for an audit.

    A measurement has no table: this is the law that OpenDP states for the parameters it was made with. What its
    sampler really does is not looked at.

    Parameters
    ----------
    measurement : opendp.mod.Measurement
        Of `make_laplace` or `make_geometric` over whole numbers without bounds: discrete Laplace noise. Of
        `make_randomized_response_bool` or `make_randomized_response`.
    n : int, optional
        For noise, which is clamped to the counts 0..n: from 1 to 2,000.

    Returns
    -------
    MechanismDocument
        Inputs are the counts as a path, or the categories, of which any two are neighbours ("False" and "True" of a
        boolean). Probabilities of randomised response are exactly those of its float. The noise distribution has powers
        of e^(−1/scale), which is no fraction. The file holds e^(1/scale) rounded down to 128 bits, as `Privacy` rounds
        the claim. So the audit says yes if the claim is at least 1/scale, and no if it is less.

    Raises
    ------
    BadInput
        For any other measurement, and n where it does not belong or is missing.

    References
    ----------
    [Canonne2020] for the noise distribution.

    Examples
    --------
    >>> import irisdp, opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> noise = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)
    >>> irisdp.audit(matrix_from_opendp(noise, n=10)).holds
    True
    """
    function, given = opendp.parameters(measurement)
    if function in ("make_laplace", "make_geometric"):
        return _laplace(measurement, given, n)
    if n is not None:
        raise BadInput("n", "belongs to noise on counts", "leave it out")
    if function == "make_randomized_response_bool":
        return _response(measurement, ["False", "True"], given["prob"])
    if function == "make_randomized_response":
        return _response(measurement, list(given["categories"]), given["prob"])
    rule = "was made in no way whose table is known here"
    raise BadInput("measurement", rule, "give discrete Laplace noise or randomised response")


def _noise(law: UniversalDistribution | StaircaseLaw | GaussianLaw) -> Any:
    def rho(distance: Any) -> float:
        steps = integer(distance, "d_in", at_least=0)
        assert isinstance(law, GaussianLaw)
        return float_above((law.mu * steps / law.sensitivity) ** 2 / 2)

    def epsilon(distance: Any) -> float:
        steps = integer(distance, "d_in", at_least=0)
        if isinstance(law, UniversalDistribution):
            return float_above(steps * law.cells.privacy.epsilon)
        assert isinstance(law, StaircaseLaw)
        return float_above(-(-steps // law.sensitivity) * law.privacy.epsilon)

    def pair(distance: Any) -> tuple[float, float]:
        assert isinstance(law, UniversalDistribution)
        return group_above(law.privacy, integer(distance, "d_in", at_least=0))

    most = LARGEST // law.atoms_per_unit
    space, draw = opendp.whole_numbers(-most, most), randomiser(law).randomise
    if isinstance(law, GaussianLaw):
        return opendp.measurement(space, draw, rho, measure="zero-concentrated", returns="i64")
    if law.privacy.delta == 0:
        return opendp.measurement(space, draw, epsilon, measure="pure", returns="i64")
    return opendp.measurement(space, draw, pair, measure="approximate", returns="i64")


def _space(mechanism: Mechanism | FactoredMechanism) -> opendp.Space:
    if isinstance(mechanism, FactoredMechanism) or isinstance(mechanism.graph, Path):
        return opendp.whole_numbers(0, len(mechanism.inputs) - 1)
    graph = mechanism.graph
    assert graph is not None  # or there was no audit
    said = hashlib.sha256(json_bytes(graph.to_document())).hexdigest()

    def member(value: Any) -> bool:
        try:
            return graph.nodes.position(as_node(value)) is not None
        except BadInput:
            return False

    name = f"the graph {said[:32]} of irisdp"
    return opendp.graph_space(name, member, complete=isinstance(graph, Complete))


def _kind(outputs: Sequence[Any]) -> opendp.Kind:
    if isinstance(outputs, range) or all(type(output) is int and abs(output) < _LARGEST_WORD for output in outputs):
        return "i64"
    return "String" if all(isinstance(output, str) for output in outputs) else "ExtrinsicObject"


def _laplace(measurement: Any, given: Any, n: int | None) -> MechanismDocument:
    whole = str(given.get("input_domain")).startswith("AtomDomain(") and "T=f" not in str(given["input_domain"])
    if not whole or given.get("k") is not None or given.get("bounds") is not None:
        rule = "draws other noise than the discrete Laplace on single whole numbers"
        raise BadInput("measurement", rule, "give one over atom_domain(T=int), without bounds and k")
    if n is None:
        raise BadInput("n", "is missing: noise is clamped to the counts 0..n", "give n=10")
    largest = integer(n, "n", at_least=1, at_most=_MOST_COUNTS)
    scale = Fraction(given["scale"])
    if scale <= 0:
        raise BadInput("measurement", "adds no noise", "give a scale above 0")
    ratio = exp_below(1 / scale)
    rows = [geometric_row(count, largest, ratio) for count in range(largest + 1)]
    return matrix_document(rows, graph=Path(largest + 1), privacy=_claim(measurement))


def _response(measurement: Any, categories: list[Any], probability: float) -> MechanismDocument:
    names = [as_node(one, "measurement") for one in categories]
    if not 2 <= len(names) <= _MOST_CATEGORIES:
        raise BadInput("measurement", f"must have from 2 to {_MOST_CATEGORIES} categories", "give fewer")
    truth = Fraction(probability)
    lie = (1 - truth) / (len(names) - 1)
    rows = [[truth if one == other else lie for other in range(len(names))] for one in range(len(names))]
    graph: DatasetGraph = graph_from_edges(list(combinations(names, 2)), nodes=names)
    return replace(matrix_document(rows, graph=graph, privacy=_claim(measurement)), outputs=tuple(names))


def _claim(measurement: Any) -> Privacy:
    return Privacy(epsilon=Fraction(opendp.claimed(measurement)))
