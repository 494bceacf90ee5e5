"""Recompute what the works behind Iris print, and write docs/reproduced.md: every item, its verdict, every misprint.

    python docs/reproduced.py

`irisdp reproduce --out DIR` writes the same as JSON, and as a page with pictures. Takes about ten seconds.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from irisdp.reproduction import WORKS, Reproduction, reproduce
from irisdp.reproduction.verdicts import VERDICTS

HERE = Path(__file__).parent


def text_of(words: str) -> str:
    """Write words that stand in a cell of a table as they are."""
    for sign in ("\\", "|", "*", "<"):
        words = words.replace(sign, f"\\{sign}")
    return words


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Write a table."""
    lines = [head, ["---"] * len(head), *([text_of(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def page(found: Reproduction) -> str:
    """Write the page."""
    counted = Counter((result.item.work, result.verdict) for result in found.results)
    verdicts = [verdict for verdict in VERDICTS if found.counts.get(verdict)]
    lines = [
        "# What is printed, recomputed",
        "",
        "Written by `docs/reproduced.py`, which runs `irisdp reproduce`; do not edit by hand.",
        "",
        "Worked numbers, examples, tables, figures and theorems of the five works that Iris stands on, each computed",
        "by this library and set beside what is printed. *agrees*: equal, exactly. *rounded*: ours rounds to the",
        "printed digits. *misprint*: they differ; why, and two numbers that show it, of which the first may not be",
        "above the second. What holds instead is in [theory.md](theory.md#corrections). `irisdp reproduce --out DIR`",
        "writes a page with our own pictures of the figures, and JSON with the command that recomputes each alone.",
        "",
        *table(
            ["work", *verdicts, "all"],
            [
                [
                    f"[{work}]",
                    *(str(counted[work, one]) for one in verdicts),
                    str(sum(counted[work, one] for one in verdicts)),
                ]
                for work in WORKS
            ],
        ),
        "",
        "## What does not hold as printed",
    ]
    for work in WORKS:
        lines += ["", f"### In {work}", ""]
        lines += table(
            ["where", "printed", "why it does not hold", "what shows it"],
            [
                [result.item.name, result.item.printed, result.note, result.control]
                for result in found.results
                if result.item.work == work and result.verdict == "misprint"
            ],
        )
    lines += ["", "## All items"]
    for work, title in WORKS.items():
        lines += ["", f"### {title}", ""]
        lines += table(
            ["item", "printed", "computed here", "verdict"],
            [
                [result.item.name, result.item.printed, result.ours, result.verdict]
                for result in found.results
                if result.item.work == work
            ],
        )
    lines += ["", *(f"[{work}]: references.md#{work.lower()}" for work in WORKS), ""]
    return "\n".join(lines)


def main() -> None:
    """Recompute and write."""
    (HERE / "reproduced.md").write_text(page(reproduce()), encoding="utf-8")


if __name__ == "__main__":
    main()
