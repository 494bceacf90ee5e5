"""Finite mechanisms: rows and a map, the standard kinds, and the file they are written to."""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(
    __name__,
    otherwise=renamed_names(
        __name__, {"Stepped": "irisdp.mechanisms.DepthMechanism"}, gone={"to_document": "Mechanism.to_document()"}
    ),
):
    from .depth_mechanism import INFINITE_DEPTH, DepthMechanism, balanced_line, line_mechanism
    from .document import MechanismDocument, load, read_document
    from .exponential import Exponential, sensitivity
    from .factored import FactoredMechanism, Reading
    from .geometric import geometric, geometric_row
    from .mechanism import Mechanism, Row, check_distribution
    from .randomized_response import balanced_truth, binary_randomized_response, randomized_response
    from .scope import ALL_PRIVATE, SAME_ROWS
    from .writing import FORMAT, Objective, guarantee_from_document, privacy_from_document, privacy_to_document

__all__ = [
    "ALL_PRIVATE",
    "FORMAT",
    "INFINITE_DEPTH",
    "SAME_ROWS",
    "DepthMechanism",
    "Exponential",
    "FactoredMechanism",
    "Mechanism",
    "MechanismDocument",
    "Objective",
    "Reading",
    "Row",
    "balanced_line",
    "balanced_truth",
    "binary_randomized_response",
    "check_distribution",
    "geometric",
    "geometric_row",
    "guarantee_from_document",
    "line_mechanism",
    "load",
    "privacy_from_document",
    "privacy_to_document",
    "randomized_response",
    "read_document",
    "sensitivity",
]
