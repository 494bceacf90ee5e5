"""Which version of the library this is: what `irisdp --version` says, and what the ledger keeps with every answer."""

from __future__ import annotations

VERSION = "0.2.0.dev0"
