"""Where we lost to a peer or stood far from a limit: what was aimed at, and what was tried.

Figures of a run are looked up in its document; what stands here in words is what earlier versions took.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Target:
    """An aim about a row at one size, its largest unless said: seconds, or how many times ours another side takes.

    With `growth`, about the exponent with which our time grows.
    """

    what: str
    began: str
    row: str
    aim: float
    side: str = ""
    size: int | None = None
    growth: bool = False
    tried: str

    @property
    def wanted(self) -> str:
        """Say the aim."""
        if self.growth:
            return f"an exponent of at most {self.aim:g}"
        return f"at least {self.aim:g} × {self.side}" if self.side else f"at most {self.aim:g} s"

    def figure(self, rows: Iterable[dict[str, Any]]) -> float | None:
        """Return what was measured at the size that the aim is about; None where that was not measured."""
        for row in (row for row in rows if row["name"] == self.row):
            wanted = self.size or row["sizes_of_the_whole"][-1]
            sides = [side for at in row["sizes"] if at["size"] == wanted for side in at["sides"]]
            if self.growth:
                ours = row["sizes"][0]["sides"][0]["name"]
                return next((one["exponent"] for one in row["growth"] if sides and one["side"] == ours), None)
            for side in sides[:1] if not self.side else sides:
                if self.side in ("", side["name"]) and not side["missing"]:
                    figure = side["times_ours"] if self.side else side["seconds"]
                    return float(figure["processor"]["median"])
        return None

    def reached(self, figure: float) -> bool:
        """Tell whether a figure meets the aim."""
        return figure >= self.aim if self.side else figure <= self.aim


TARGETS = (
    Target(
        what="draws at ε = 10⁻⁶ beside one random word a draw",
        began="0.15 of it",
        row="noise-1e-6",
        side="one random word a draw",
        aim=0.25,
        tried="Three digits, half a word each, are found from its first bits; the highest has the fewest outcomes.",
    ),
    Target(
        what="depth on a path beside NetworkX",
        began="2 times as fast",
        row="depth-path",
        side="NetworkX",
        aim=10,
        tried="Long runs of nodes in a row are passed in one step; nodes in another order are walked one by one.",
    ),
    Target(
        what="depth on a grid beside NetworkX, at a million edges",
        began="45 times as fast",
        row="depth-grid",
        side="NetworkX",
        size=10**6,
        aim=45,
        tried=(
            "Frontiers in order are not sorted, and the boundary needs no list of edges: a third less. What is left "
            "waits for memory, half a dozen places a node. NetworkX takes gigabytes beyond a million edges."
        ),
    ),
    Target(
        what="yes or no where half of a million nodes are fixed to values of their own",
        began="28 s",
        row="binary-many",
        aim=10,
        tried=(
            "Rows are checked, and nodes found, without a look at each one's type: a fifth less. Whole numbers "
            "distinguish them since this figure: a twelfth less at 20,000 nodes. What is left: spreading labels "
            "three "
            "times, a third; reading what is given, and closeness, in fractions one by one."
        ),
    ),
    Target(
        what="smallest mean distance on a random graph of 16 nodes beside qif",
        began="a quarter as fast",
        row="distance-random",
        side="qif, in floats",
        aim=1,
        tried=(
            "HiGHS alone takes about as long as qif, which breaks privacy by 10⁻⁶. The rest is what makes it exact: "
            "solving twice in fractions, the certificate, and writing both down."
        ),
    ),
    Target(
        what="best reading at worst, squared loss, ε = 0.1, n = 10,000",
        began="45 s",
        row="minimax-squared-0.1",
        aim=5,
        tried=(
            "Near an end the best reading of half as many counts is nearly that of all, and from there inward losses "
            "are equal: HiGHS begins at that basis, without steepest edges, and with weights it can see."
        ),
    ),
    Target(
        what="exact audit of 10⁷ random edges",
        began="10.6 s",
        row="audit-random",
        aim=5,
        tried=(
            "Half a million pairs of rows meet. Floats with a bound on their error tell which of them could be the "
            "worst, and only those are judged in fractions."
        ),
    ),
    Target(
        what="the verifier on 1,200 counts, absolute loss",
        began="79 s",
        row="verifier-absolute",
        aim=5,
        tried="The goal of factors is counted in whole numbers over one denominator.",
    ),
    Target(
        what="the verifier on 1,200 counts, squared loss",
        began="79 s",
        row="verifier-squared",
        aim=5,
        tried="The same.",
    ),
    Target(
        what="best reading at worst with its certificate, absolute loss, ε = 1, n = 100,000",
        began="not tried",
        row="minimax-absolute-1",
        aim=60,
        tried="The same column generation. At ε = 0.1 it is the size that noise reaches, and its programs, that count.",
    ),
    Target(
        what="growth of checking a certificate with n",
        began="quadratic",
        row="verifier-absolute",
        growth=True,
        aim=1.2,
        tried="Two factors instead of a table above 1,000 counts; every count is still held against every answer.",
    ),
)
