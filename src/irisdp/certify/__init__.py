"""Exact checks: privacy, optimality, composition. Shares no code with design and knows no solver."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._audit import Audit, DepthMechanismVerdict, PairAudit, TightEdge, audit, certify_depth_mechanism
    from ._audited_mechanism import (
        AuditedMechanism as AuditedMechanism,
    )
    from ._audited_mechanism import (
        bare_subject as bare_subject,
    )
    from ._audited_mechanism import (
        distinct_row_pairs as distinct_row_pairs,
    )
    from ._audited_mechanism import (
        is_the_path as is_the_path,
    )
    from ._composition import compose
    from ._dominating_pairs import MOST_DRAWS as MOST_DRAWS
    from ._dominating_pairs import DominatingPair, dominating_pair
    from ._loss_distributions import FiniteLaw, LossAtom, PrivacyLossDistribution, TwoPointLaw
    from ._loss_distributions import (
        LossDistribution as LossDistribution,
    )
    from ._loss_distributions import (
        accountant_of as accountant_of,
    )
    from ._loss_distributions import (
        finite_law as finite_law,
    )
    from ._loss_distributions import (
        largest_loss as largest_loss,
    )
    from ._loss_distributions import (
        loss_distribution as loss_distribution,
    )
    from ._loss_distributions import (
        smallest_loss as smallest_loss,
    )
    from ._loss_grids import RoundedLosses as RoundedLosses
    from ._loss_grids import product_on_grid as product_on_grid
    from ._matrix_files import Auditable as Auditable
    from ._matrix_files import matrix_document, read_mechanism
    from ._objectives import said_of_sums as said_of_sums
    from ._optimality import Optimality, add_digest, check_optimality, digest, is_sealed
    from ._privacy_profile import (
        Line as Line,
    )
    from ._privacy_profile import PrivacyProfile, privacy_profile, renyi_divergence, worst_profile
    from ._privacy_profile import (
        lines_of_pair as lines_of_pair,
    )
    from ._privacy_profile import (
        profile_of as profile_of,
    )
    from ._privacy_profile import (
        profile_of_lines as profile_of_lines,
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
