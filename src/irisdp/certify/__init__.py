"""Exact checks: privacy, optimality, composition. Shares no code with design and knows no solver."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._audit import Audit, DepthMechanismVerdict, PairAudit, TightEdge, audit, certify_depth_mechanism
    from ._audited_mechanism import AuditedMechanism, bare_subject, distinct_row_pairs, is_the_path
    from ._composition import compose
    from ._dominating_pairs import MOST_DRAWS, DominatingPair, dominating_pair
    from ._loss_distributions import (
        FiniteLaw,
        LossAtom,
        LossDistribution,
        PrivacyLossDistribution,
        TwoPointLaw,
        accountant_of,
        finite_law,
        largest_loss,
        loss_distribution,
        smallest_loss,
    )
    from ._loss_grids import RoundedLosses, product_on_grid
    from ._matrix_files import Auditable, matrix_document, read_mechanism
    from ._objectives import said_of_sums
    from ._optimality import Optimality, add_digest, check_optimality, digest, is_sealed
    from ._privacy_profile import (
        Line,
        PrivacyProfile,
        lines_of_pair,
        privacy_profile,
        profile_of,
        profile_of_lines,
        renyi_divergence,
        worst_profile,
    )

__all__ = [
    "Audit",
    "DepthMechanismVerdict",
    "DominatingPair",
    "FiniteLaw",
    "LossAtom",
    "Optimality",
    "PairAudit",
    "PrivacyLossDistribution",
    "PrivacyProfile",
    "TightEdge",
    "TwoPointLaw",
    "add_digest",
    "audit",
    "certify_depth_mechanism",
    "check_optimality",
    "compose",
    "digest",
    "dominating_pair",
    "is_sealed",
    "matrix_document",
    "privacy_profile",
    "read_mechanism",
    "renyi_divergence",
    "worst_profile",
]

exports(__name__)
