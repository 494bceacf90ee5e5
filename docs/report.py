"""Write the example of a report, docs/report/votes.html, from a release that is kept beside it.

    python docs/report.py

Answers are drawn from the operating system's randomness and never twice the same, so the release was made once, by

    irisdp publish examples/anes96.csv count "vote = 1" --by educ --groups 1,2,3,4,5,6,7 --epsilon 1 \\
        --out docs/report/votes.csv

and is kept; the page is a function of its files, and comes out the same each time. Needs the `plots` extra.
"""

from __future__ import annotations

from pathlib import Path

import irisdp

HERE = Path(__file__).parent / "report"


def main() -> None:
    """Write the page, and the picture of the README."""
    irisdp.report(HERE / "votes.csv", out=HERE / "votes.html", force=True)
    irisdp.interpret(HERE / "votes.csv").plot().save(HERE / "votes.svg", force=True)


if __name__ == "__main__":
    main()
