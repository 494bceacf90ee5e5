"""Goals as linear programs over all mechanisms, their solutions in short exact numbers, and the seal on them."""

from .repair import repair
from .sealing import add_digest

__all__ = ["add_digest", "repair"]
