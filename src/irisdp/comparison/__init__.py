"""Exact errors of this library's mechanisms beside those of others."""

from .compare import compare
from .comparisons import Comparison
from .registry import QUESTIONS, Question
from .results import Compared, Objective

__all__ = ["QUESTIONS", "Compared", "Comparison", "Objective", "Question", "compare"]
