"""Recompute what the works behind Iris print, and write docs/reproduced.md: every item, its verdict, every misprint.

    python docs/reproduced.py

`irisdp reproduce --out DIR` writes the same as JSON, and as a page with pictures. Takes about ten seconds.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from irisdp import reproduce
from irisdp.reproduction import WORKS, Reproduction
from irisdp.reproduction._verdicts import VERDICTS

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


MISSING = (
    "Figure 1 of [Gu2023] and [Gu2024], a graph of some thirteen data sets with three colours and its boundary "
    "graph, is known by its picture alone. Its caption gives the ranking of one node, the two nodes over one end "
    "of a line, and one edge. It does not give how many nodes there are, their rankings, or their edges. A graph "
    "with these "
    "facts would be ours, and would agree with whatever was put into it (Figure 2 of [DOliveira2021] is "
    "different: the colours, depths and probabilities that its text states of every node fix what is computed). "
    "What the figure is there for, that the best mechanism is found on the boundary graph and pulled back, is "
    "Theorems 1 to 3 of [Gu2024] above.",
)
"""What the works draw or state that no item stands for, and why."""


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
    lines += ["", "## What is not reproduced", "", *(f"- {what}" for what in MISSING)]
    lines += ["", *(f"[{work}]: references.md#{work.lower()}" for work in WORKS), ""]
    return "\n".join(lines)


def main() -> None:
    """Recompute and write."""
    (HERE / "reproduced.md").write_text(page(reproduce()), encoding="utf-8")


if __name__ == "__main__":
    main()
