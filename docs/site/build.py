"""Make the manual: `make site` runs this, and build/site/index.html is the first page.

    python docs/site/build.py

Warnings are errors, every link of the pages made must lead somewhere, and every formula must be readable. Needs the
extra `site`, and no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

import commands
from formulas import faults
from links import broken
from tree import ROOT, assemble, mathematical, pages

HERE = Path(__file__).parent
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"


def main() -> int:
    """Check the formulas, put the pages together, make the site and follow its links; return a status."""
    from sphinx.cmd.build import main as sphinx

    wrong = 0
    for source in pages():
        for fault in faults((ROOT / source).read_text(encoding="utf-8"), mathematical=mathematical(source)):
            print(f"{source}:{fault.line}: {fault.message}", file=sys.stderr)
            wrong += 1
    if wrong:
        return 1
    commands.main([str(ROOT / "build" / "man")])
    assemble(SOURCE)
    if status := sphinx(["-W", "--keep-going", "-q", "-E", "-b", "html", "-c", str(HERE), str(SOURCE), str(SITE)]):
        return status
    lost = sorted(broken(SITE))
    for page, target in lost:
        print(f"{page}: leads to {target}, which is not there", file=sys.stderr)
    made = len(list(SITE.rglob("*.html")))
    print(f"{SITE.relative_to(ROOT)}: {made} pages, {len(lost)} broken links")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
