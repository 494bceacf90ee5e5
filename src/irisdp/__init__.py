"""Iris: private answers to questions with finitely many answers, proved optimal where Iris says so.

data —query→ small graph —mechanism→ answer; privacy comes down the arrow for free.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:  # for type checkers and editors; at run time names are loaded on first use
    from . import (
        accounting,
        cells,
        certify,
        comparison,
        consumers,
        design,
        errors,
        exact,
        families,
        graphs,
        interop,
        mechanisms,
        noise,
        peers,
        plots,
        privacy,
        queries,
        reading,
        release,
        reports,
        reproduction,
        sampling,
    )
    from .accounting import Cost
    from .certify import audit
    from .comparison import compare
    from .errors import BadInput, BudgetRefused, CertificateRejected, Infeasible, IrisError, PromiseRefused, Refusal
    from .mechanisms import Mechanism, load
    from .plots import plot
    from .privacy import Privacy
    from .reading import interpret
    from .release import Ledger, Session, batch, plan, plan_batch, publish, run
    from .reports import report
    from .reproduction import reproduce

__version__ = VERSION

__all__ = [
    "BadInput",
    "BudgetRefused",
    "CertificateRejected",
    "Cost",
    "Infeasible",
    "IrisError",
    "Ledger",
    "Mechanism",
    "Privacy",
    "PromiseRefused",
    "Refusal",
    "Session",
    "accounting",
    "audit",
    "batch",
    "cells",
    "certify",
    "compare",
    "comparison",
    "consumers",
    "design",
    "errors",
    "exact",
    "families",
    "graphs",
    "interop",
    "interpret",
    "load",
    "mechanisms",
    "noise",
    "peers",
    "plan",
    "plan_batch",
    "plot",
    "plots",
    "privacy",
    "publish",
    "queries",
    "reading",
    "release",
    "report",
    "reports",
    "reproduce",
    "reproduction",
    "run",
    "sampling",
]

_HOMES = {
    "BadInput": "errors",
    "BudgetRefused": "errors",
    "CertificateRejected": "errors",
    "Cost": "accounting",
    "Infeasible": "errors",
    "IrisError": "errors",
    "Ledger": "release",
    "Mechanism": "mechanisms",
    "Privacy": "privacy",
    "PromiseRefused": "errors",
    "Refusal": "errors",
    "Session": "release",
    "audit": "certify",
    "batch": "release",
    "compare": "comparison",
    "interpret": "reading",
    "load": "mechanisms",
    "plan": "release",
    "plan_batch": "release",
    "plot": "plots",
    "publish": "release",
    "report": "reports",
    "reproduce": "reproduction",
    "run": "release",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, so that `import irisdp` stays light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name)
    found = (
        getattr(importlib.import_module(f".{home}", __name__), name)
        if home
        else importlib.import_module(f".{name}", __name__)
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
