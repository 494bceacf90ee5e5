"""Other libraries: mechanisms handed to them as what they take, and theirs read as what `audit` judges."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._dp_accounting import dp_event, privacy_loss_distribution
    from ._matrices import matrix_from_array, matrix_from_frame, to_frame
    from ._networkx import to_networkx, to_sparse
    from ._opendp import matrix_from_opendp, to_opendp
    from ._randomiser import Randomiser, randomiser

__all__ = [
    "Randomiser",
    "dp_event",
    "matrix_from_array",
    "matrix_from_frame",
    "matrix_from_opendp",
    "privacy_loss_distribution",
    "randomiser",
    "to_frame",
    "to_networkx",
    "to_opendp",
    "to_sparse",
]

exports(__name__)
