"""What a run was made on and of: the machine, the versions, the commit."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from .environments import SOURCE, Environment

OURS = ("numpy", "highspy", "python-flint", "duckdb", "pyarrow", "narwhals")


def machine() -> dict[str, Any]:
    """Return processor, cores, memory, system, Python, and the versions of what this library works with."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": [f"{name} {importlib.metadata.version(name)}" for name in OURS],
    }


def commit() -> str:
    """Return the commit that was measured, with a plus sign where files differ from it; empty without git."""
    words = ["git", "-C", str(SOURCE), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def told(environments: dict[str, Environment]) -> dict[str, dict[str, Any]]:
    """Return each environment that was asked for: its packages as pinned, or why it is missing."""
    return {
        name: {"packages": list(chosen.packages), "missing": chosen.missing}
        for name, chosen in sorted(environments.items())
    }


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        for line in listed.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
