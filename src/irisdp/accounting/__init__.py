"""Accounting: what releases cost, exactly, and how costs add up."""

from .cost import Cost

__all__ = ["Cost"]
