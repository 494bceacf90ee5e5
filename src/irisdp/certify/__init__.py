"""Exact checks: privacy, optimality, composition. Shares no code with design and knows no solver."""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(
    __name__,
    otherwise=renamed_names(
        __name__,
        {
            "SteppedVerdict": "irisdp.certify.DepthMechanismVerdict",
            "certify_stepped": "irisdp.certify.certify_depth_mechanism",
            "seal": "irisdp.certify.add_digest",
        },
    ),
):
    from .audit import Audit, TightEdge, audit
    from .composition import compose
    from .depth_mechanism import DepthMechanismVerdict, certify_depth_mechanism
    from .divergences import renyi_divergence
    from .dominating import DominatingPair, dominating_pair
    from .loss_laws import FiniteLaw, LossAtom, LossLaw, TwoPointLaw
    from .matrix_files import matrix_document, read_mechanism
    from .optimality import Optimality, check_optimality
    from .pair_audit import PairAudit
    from .profile import PrivacyProfile, privacy_profile
    from .sealing import add_digest, digest, is_sealed
    from .worst_profile import worst_profile

__all__ = [
    "Audit",
    "DepthMechanismVerdict",
    "DominatingPair",
    "FiniteLaw",
    "LossAtom",
    "LossLaw",
    "Optimality",
    "PairAudit",
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
