"""Which version of the library this is, for `irisdp --version` and the ledger, and how to cite it."""

from __future__ import annotations

VERSION = "0.2.0.dev0"

CITATION = f"""@software{{irisdp,
  author  = {{{{The Iris contributors}}}},
  title   = {{Iris: private answers to questions with finitely many
             answers, proved optimal where Iris says so}},
  version = {{{VERSION}}},
  year    = {{2026}},
  license = {{Apache-2.0}}
}}"""
"""BibTeX of what CITATION.cff says."""
