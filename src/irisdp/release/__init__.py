"""Spend, draw, write down: the ledger, plans, and publishing."""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(
    __name__,
    otherwise=renamed_names(
        __name__,
        {
            "Cost": "irisdp.accounting.Cost",
            "Interpretation": "irisdp.reading.Interpretation",
            "NoisyCount": "irisdp.reading.NoisyCount",
            "Selector": "irisdp.cells.PartitionSelection",
            "interpret": "irisdp.reading.interpret",
            "read_release": "irisdp.reading.read_release",
        },
        gone={"ClassRespondent": "irisdp.cells.DepthClasses", "CountRespondent": "irisdp.cells.GeometricNoise"},
    ),
):
    from .answers import Answers
    from .audiences import Audience
    from .batches import BatchPlan, BatchPublication, batch, plan_batch
    from .fingerprint import fingerprint, secret_beside
    from .ledger import Entry, Ledger, Release, Settlement
    from .planning import plan
    from .plans import Plan
    from .projects import Project, init_project
    from .promise import Promise
    from .publication import Publication
    from .publishing import PrivateCells, publish, read_cells
    from .runs import RunOutlook, RunPublication, foresee_run, run
    from .session import Session

__all__ = [
    "Answers",
    "Audience",
    "BatchPlan",
    "BatchPublication",
    "Entry",
    "Ledger",
    "Plan",
    "PrivateCells",
    "Project",
    "Promise",
    "Publication",
    "Release",
    "RunOutlook",
    "RunPublication",
    "Session",
    "Settlement",
    "batch",
    "fingerprint",
    "foresee_run",
    "init_project",
    "plan",
    "plan_batch",
    "publish",
    "read_cells",
    "run",
    "secret_beside",
]
