"""A plan in a file: datasets, their ledgers, and questions that are published one after the other."""

from ...facades import when_used

with when_used(__name__):
    from .outlook import Expected, LedgerOutlook, RunOutlook, foresee_run
    from .publication import Answered, RunPublication
    from .running import run

__all__ = ["Answered", "Expected", "LedgerOutlook", "RunOutlook", "RunPublication", "foresee_run", "run"]
