"""Exact checks: privacy, optimality, composition. Shares no code with design and knows no solver."""

from .audit import Audit, TightEdge, audit
from .composition import compose
from .depth_mechanism import SteppedVerdict, certify_stepped
from .divergences import renyi_divergence
from .dominating import DominatingPair, dominating_pair
from .matrix_files import matrix_document, read_mechanism
from .optimality import Optimality, check_optimality
from .profile import PrivacyProfile, privacy_profile
from .sealing import digest, is_sealed, seal

__all__ = [
    "Audit",
    "DominatingPair",
    "Optimality",
    "PrivacyProfile",
    "SteppedVerdict",
    "TightEdge",
    "audit",
    "certify_stepped",
    "check_optimality",
    "compose",
    "digest",
    "dominating_pair",
    "is_sealed",
    "matrix_document",
    "privacy_profile",
    "read_mechanism",
    "renyi_divergence",
    "seal",
]
