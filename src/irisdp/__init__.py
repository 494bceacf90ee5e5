"""Iris: differentially private answers. A design that is said to be optimal says among what, and carries its proof.

data —query→ small graph —mechanism→ answer; privacy comes down the arrow for free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import exports
from ._version import CITATION, VERSION

if TYPE_CHECKING:
    from . import (
        accounting,
        baselines,
        certify,
        consumers,
        design,
        errors,
        graphs,
        interop,
        interpretation,
        mechanisms,
        noise,
        plots,
        privacy,
        reproduction,
    )
    from ._ledger import ChargedAnswer, Ledger, LedgerEntry, LedgerScope, Release
    from ._release import (
        Answers,
        Audience,
        BatchPlan,
        BatchPublication,
        Plan,
        Project,
        Publication,
        RunOutlook,
        RunPublication,
        Session,
        batch,
        init_project,
        plan,
        plan_batch,
        publish,
        run,
    )
    from ._views.reports import report
    from .accounting import Cost
    from .baselines import compare
    from .certify import audit
    from .errors import (
        BadInput,
        BudgetRefused,
        CertificateRejected,
        Infeasible,
        IrisError,
        Refusal,
        ScopeRefused,
        Unavailable,
    )
    from .graphs import NeighbouringRelation
    from .interpretation import interpret
    from .mechanisms import Mechanism, load
    from .plots import Picture, plot
    from .privacy import Privacy
    from .reproduction import reproduce

__version__ = VERSION
__citation__ = CITATION

__all__ = [
    "Answers",
    "Audience",
    "BadInput",
    "BatchPlan",
    "BatchPublication",
    "BudgetRefused",
    "CertificateRejected",
    "ChargedAnswer",
    "Cost",
    "Infeasible",
    "IrisError",
    "Ledger",
    "LedgerEntry",
    "LedgerScope",
    "Mechanism",
    "NeighbouringRelation",
    "Picture",
    "Plan",
    "Privacy",
    "Project",
    "Publication",
    "Refusal",
    "Release",
    "RunOutlook",
    "RunPublication",
    "ScopeRefused",
    "Session",
    "Unavailable",
    "accounting",
    "audit",
    "baselines",
    "batch",
    "certify",
    "compare",
    "consumers",
    "design",
    "errors",
    "graphs",
    "init_project",
    "interop",
    "interpret",
    "interpretation",
    "load",
    "mechanisms",
    "noise",
    "plan",
    "plan_batch",
    "plot",
    "plots",
    "privacy",
    "publish",
    "report",
    "reproduce",
    "reproduction",
    "run",
]

exports(__name__)
