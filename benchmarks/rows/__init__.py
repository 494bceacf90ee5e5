"""The rows of the page, by file. `registry` lists them in the order of the page."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from side_by_side.rows import Row

FILES = (
    "noise", "draws", "publishing", "counts", "distance", "graphs", "checking", "databases", "starting", "showing",
)  # fmt: skip

NO_TIMES = (
    "check_table.py", "check_tables.py", "clock.py", "design_limits.py", "design_times.py", "foreign.py",
    "gaussian_noise.py", "large_designs.py", "metric_privacy.py", "named_counts.py", "peers.py", "person_rows.py",
    "plans.py", "public_tables.py", "publishing_page.py", "pull_over_flips.py", "questions.py", "reading_gaps.py",
    "sizes.py", "spark_cluster.py", "sums.py", "sweeps.py",
)  # fmt: skip
"""Programs that measure errors, laws, what a clock reveals, random designs or whether engines agree: each runs once."""


@cache
def registry() -> tuple[tuple[Row, str], ...]:
    """Return all rows, each with the file that holds its sides' work."""
    return tuple(
        (row, str(Path(__file__).with_name(f"{name}.py")))
        for name in FILES
        for row in importlib.import_module(f"rows.{name}").ROWS
    )
