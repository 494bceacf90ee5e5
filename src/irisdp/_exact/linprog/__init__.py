"""Exact linear programming: a float solver proposes a basis, rationals decide.

Nothing here knows of privacy. `certify` never imports it, since it checks what is found with it.
"""

from typing import TYPE_CHECKING

from ..._lazy import exports

if TYPE_CHECKING:
    from .exact_simplex import MOST_REFINEMENTS, Optimum, exact_optimum, optimum_near
    from .highs import FloatSolver, GrowingProgram, SparseColumns
    from .program import Basis, LinearProgram, as_floats, as_fmpq, as_fraction
    from .sparse_solve import SparseRow

exports(__name__)
