"""Draw the charts of the gallery, and write docs/pictures.md around them: each with its code and description.

    python docs/pictures.py

Needs the `plots` extra. Every figure stands in docs/figures/ as a vector picture, the same bytes each time.
"""

from __future__ import annotations

import json
from pathlib import Path

import irisdp
from irisdp import Privacy, design
from irisdp.plots import heat_map, rainbow_curves
from irisdp.plots._comparisons import error_against_epsilon
from irisdp.privacy import Gaussian

HERE = Path(__file__).parent
VOTES = HERE / "report" / "votes.csv"
LABELS = {
    "columns": {"educ": "Education", "answer": "voters"},
    "groups": {"educ": {1: "Grade 8 or less", 3: "High school", 6: "Bachelor"}},
}
ROW = ["0.0005", "0.0081", "0.1364", "0.2727", "0.5823"]


def _sweep() -> irisdp.Picture:
    privacies = [Privacy(epsilon=k / 5) for k in range(1, 11)]
    return design.sweep(design.consumer, {"n": [5, 10, 20], "privacy": privacies}, loss="absolute").plot()


PICTURES = {
    "published": (
        'irisdp.plot("docs/report/votes.csv")',
        lambda: irisdp.plot(VOTES),
    ),
    "published-labels": (
        """labels = {
    "columns": {"educ": "Education", "answer": "voters"},
    "groups": {"educ": {1: "Grade 8 or less", 3: "High school", 6: "Bachelor"}},
}
irisdp.plot("docs/report/votes.csv", title="Voters", labels=labels)""",
        lambda: irisdp.plot(VOTES, title="Voters", labels=LABELS),
    ),
    "readings": (
        'irisdp.interpret("docs/report/votes.csv").plot()',
        lambda: irisdp.interpret(VOTES).plot(),
    ),
    "heat-map": (
        "plots.heat_map(design.geometric(8, Privacy(ratio=2)))",
        lambda: heat_map(design.geometric(8, Privacy(ratio=2))),
    ),
    "rainbow-curves": (
        f"""row = {json.dumps(ROW)}
plots.rainbow_curves(row, Privacy(ratio="1.2", delta="0.01"))""",
        lambda: rainbow_curves(ROW, Privacy(ratio="1.2", delta="0.01")),
    ),
    "sweep": (
        """privacies = [Privacy(epsilon=k / 5) for k in range(1, 11)]
over = {"n": [5, 10, 20], "privacy": privacies}
design.sweep(design.consumer, over, loss="absolute").plot()""",
        _sweep,
    ),
    "trade-off": (
        "Privacy(epsilon=1).plot()",
        lambda: Privacy(epsilon=1).plot(),
    ),
    "trade-off-mechanism": (
        """mechanism = design.randomized_response(3, Privacy(ratio=3))
mechanism.plot(form="trade-off")""",
        lambda: design.randomized_response(3, Privacy(ratio=3)).plot(form="trade-off"),
    ),
    "profile": (
        'Privacy(epsilon=1, delta="1e-5").plot(form="profile")',
        lambda: Privacy(epsilon=1, delta="1e-5").plot(form="profile"),
    ),
    "profile-gaussian": (
        'Gaussian(1).plot(form="profile")',
        lambda: Gaussian(1).plot(form="profile"),
    ),
    "error-count": (
        'plots.error_against_epsilon("count")',
        lambda: error_against_epsilon("count"),
    ),
    "error-majority": (
        'plots.error_against_epsilon("majority", objective="lead-5")',
        lambda: error_against_epsilon("majority", objective="lead-5"),
    ),
}
"""Name of the figure → the Python that makes it, and the picture."""


def main() -> None:
    """Write the figures and the page."""
    parts = [
        "# Charts and their code",
        "Every chart with the code that makes it and its description in words; it holds its numbers as a table."
        " `python docs/pictures.py` writes this page.",
        "```python\nimport irisdp\nfrom irisdp import Privacy, design, plots\nfrom irisdp.privacy import Gaussian\n```",
    ]
    for name, (code, draw) in PICTURES.items():
        picture = draw()
        picture.save(HERE / "figures" / f"picture-{name}.svg", force=True)
        parts += [f"## {picture.title}", f"```python\n{code}\n```", f"![{picture.title}](figures/picture-{name}.svg)"]
        parts.append(picture.description)
    (HERE / "pictures.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
