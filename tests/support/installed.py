"""Iris as somebody has it who installed the wheel into an empty environment: nothing of this repository is in reach."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = "plots,explorer"
"""That the README's commands and blocks need, beside pandas."""


def build(kind, folder):
    """Build a wheel or a source distribution from the repository as it stands, and return its path."""
    code = "import sys, hatchling.build as b; print(getattr(b, f'build_{sys.argv[1]}')(sys.argv[2]))"
    built = subprocess.run(
        [sys.executable, "-c", code, kind, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return folder / built.stdout.splitlines()[-1]


def install(wheel, folder):
    """Install a wheel into a new environment in that folder and return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", str(folder)]
    locked = ["--constraint", str(ROOT / "requirements" / "runtime.txt")]
    subprocess.run(
        [*pip, "install", "--no-compile", *locked, f"{wheel}[{EXTRAS}]", "pandas"],
        check=True,
        env=environment(),
        cwd=folder,
    )
    return Path(sysconfig.get_path("scripts", vars={"base": str(folder)}))


def environment(programs=None):
    """Return the variables of a shell from which this repository cannot be found, with those programs first."""
    told = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return told if programs is None else told | {"PATH": f"{programs}{os.pathsep}{told['PATH']}"}
