"""Names of OpenDP's functions: the one file to change when OpenDP renames one.

Tried with OpenDP 0.12.1, 0.13.0, 0.14.2, 0.15.1 and 0.16.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from .._lazy import needed
from ..errors import BadInput

Space = tuple[Any, Any]
"""A domain and a metric of OpenDP."""

Kind = Literal["i64", "String", "ExtrinsicObject"]
"""What a measurement returns: whole numbers, text, or any object of Python."""

FEATURES = '"contrib", "honest-but-curious"'


def whole_numbers(lowest: int, highest: int) -> Space:
    """Return the whole numbers from lowest to highest, with the distance |x − y|."""
    dp = _library()
    return dp.atom_domain(bounds=(lowest, highest), T="i64"), dp.absolute_distance(T="i64")


def graph_space(identifier: str, member: Callable[[Any], bool], *, complete: bool) -> Space:
    """Return names of nodes with their distance in a graph; in a complete graph it is OpenDP's discrete distance.

    Parameters
    ----------
    identifier : str
        Tells this graph from every other, since OpenDP takes two domains of one identifier for the same.
    member : callable
        Whether an object is the name of a node.
    complete : bool
        Whether any two nodes are neighbours.
    """
    dp = _library()
    try:
        domain = dp.user_domain(identifier, member)
        return domain, dp.discrete_distance() if complete else dp.user_distance(f"distance in {identifier}")
    except dp.OpenDPException as error:
        raise _features_are_off(error) from None


def measurement(
    space: Space,
    draw: Callable[[Any], Any],
    bound: Callable[[int], Any],
    *,
    measure: Literal["pure", "approximate", "zero-concentrated"],
    returns: Kind,
) -> Any:
    """Return a measurement that draws by a function and is as private at a distance as another says."""
    dp = _library()
    measures = {
        "pure": dp.max_divergence,
        "approximate": dp.fixed_smoothed_max_divergence,
        "zero-concentrated": dp.zero_concentrated_divergence,
    }
    try:
        return dp.m.make_user_measurement(*space, measures[measure](), draw, bound, returns)
    except dp.OpenDPException as error:
        raise _features_are_off(error) from None


def parameters(given: Any) -> tuple[str, Mapping[str, Any]]:
    """Return by which function of OpenDP a measurement was made, and with what."""
    dp = _library()
    if not isinstance(given, dp.Measurement):
        raise BadInput("measurement", "must be a measurement of OpenDP", "make one, such as opendp's make_laplace")
    made = getattr(given, "__opendp_dict__", None) or {}
    return str(made.get("__function__", "")), made.get("__kwargs__", {})


def claimed(given: Any) -> float:
    """Return the ε that a measurement's own privacy map claims of neighbours."""
    if str(given.output_measure) != "MaxDivergence":
        rule = "claims no pure ε"
        raise BadInput("measurement", rule, "give one whose output measure is MaxDivergence")
    return float(given.map(1))


def _library() -> Any:
    return needed("opendp.prelude", "opendp")


def _features_are_off(error: Exception) -> BadInput:
    if "enable_features" not in str(error) and "feature" not in str(error):
        return BadInput("opendp", f"does not take it: {str(error)[:200]}", "see irisdp.interop._opendp_names")
    remedy = f"call opendp.prelude.enable_features({FEATURES}) first, if you agree to what they mean"
    return BadInput("opendp", "has features off without which nobody may bring a measurement", remedy)
