"""Spend, draw, write down: the ledger, plans, and publishing."""

from ..renamed import renamed_names
from .answers import Answers
from .audiences import Audience
from .batches import BatchPlan, BatchPublication, batch, plan_batch
from .fingerprint import fingerprint, secret_beside
from .interpretation import Interpretation, interpret
from .ledger import Entry, Ledger, Release, Settlement
from .planning import Plan, plan
from .promise import Promise
from .publication import Publication
from .publishing import PrivateCells, publish, read_cells
from .released import NoisyCount, read_release
from .session import Session

__all__ = [
    "Answers",
    "Audience",
    "BatchPlan",
    "BatchPublication",
    "Entry",
    "Interpretation",
    "Ledger",
    "NoisyCount",
    "Plan",
    "PrivateCells",
    "Promise",
    "Publication",
    "Release",
    "Session",
    "Settlement",
    "batch",
    "fingerprint",
    "interpret",
    "plan",
    "plan_batch",
    "publish",
    "read_cells",
    "read_release",
    "secret_beside",
]

__getattr__ = renamed_names(
    __name__,
    {"Cost": "irisdp.accounting.Cost", "Selector": "irisdp.cells.PartitionSelection"},
    gone={"ClassRespondent": "irisdp.cells.DepthClasses", "CountRespondent": "irisdp.cells.GeometricNoise"},
)
