"""Reports: a release as one page to hand over, made of what was published and nothing else."""

from .writing import report

__all__ = ["report"]
