"""Which version of the library this is: what `irisdp --version` says, and what the ledger keeps with every answer."""

__all__ = ["VERSION"]

VERSION = "0.2.0.dev0"
