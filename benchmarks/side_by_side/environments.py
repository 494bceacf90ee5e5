"""Where each side lives: this library in the Python that runs this, peers in environments of their own, pinned.

They are made under a folder when they are first asked for. One that cannot be made is told as the reason why a side is
not measured, never as a failure.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BEFORE = "a61c88e"
"""The commit from which version 0.2 was written: 0.1 as it was handed over."""

ARRAYS = "numpy==2.4.6"
PACKAGES: dict[str, tuple[str, ...]] = {
    "numpy": (ARRAYS,),
    "opendp": ("opendp==0.16.0", ARRAYS),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.5.2", "scipy==1.17.1", ARRAYS),
    "qif": ("qif==1.6.0", ARRAYS),
    "highs": ("highspy==1.15.1", "scipy==1.17.1", ARRAYS),
    "networkx": ("networkx==3.6.1", ARRAYS),
    "igraph": ("igraph==1.0.0", ARRAYS),
    "dp-accounting": ("dp-accounting==0.6.0", "scipy==1.17.1", ARRAYS),
    "duckdb": ("duckdb==2.0.0", "pyarrow==26.0.1", ARRAYS),
}


@dataclass(frozen=True)
class Environment:
    """A Python and what it is told by variables; or why there is none."""

    python: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    missing: str = ""


def environment(name: str, folder: Path, *, make: bool) -> Environment:
    """Return one, made where it is not there and may be; "iris" is this library, "iris-0.1" an earlier one."""
    if name == "iris":
        return _ours(SOURCE / "src", folder / "compiled", "irisdp of this checkout")
    if name == "iris-0.1":
        return _before(folder / name)
    packages, python = PACKAGES[name], folder / name / "bin" / "python"
    told = folder / name / "packages.txt"
    if told.is_file() and told.read_text("utf-8").split() == list(packages):
        return Environment(str(python), packages=packages)
    if not make:
        return Environment(missing="not installed, and not asked to be")
    try:
        _install(folder / name, python, packages)
    except (OSError, subprocess.CalledProcessError) as failure:
        said = " ".join((getattr(failure, "stderr", "") or str(failure)).split())
        return Environment(missing=f"could not be installed: {said[:200]}")
    told.write_text("\n".join(packages) + "\n", "utf-8")
    return Environment(str(python), packages=packages)


def _install(folder: Path, python: Path, packages: tuple[str, ...]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).parent / "uv"
    commands = (
        [[str(uv), "venv", "--quiet", "--python", sys.executable, str(folder)],
         [str(uv), "pip", "install", "--quiet", "--python", str(python), *packages]]
        if uv.exists()
        else [[sys.executable, "-m", "venv", str(folder)], [str(python), "-m", "pip", "install", "--quiet", *packages]]
    )  # fmt: skip
    for command in commands:
        subprocess.run(command, check=True, capture_output=True, text=True)


def _before(folder: Path) -> Environment:
    """Take version 0.1 from git; it runs with the packages that are installed here."""
    source = folder / "src"
    if not source.is_dir():
        words = ["git", "-C", str(SOURCE), "archive", BEFORE, "src"]
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode:
            return Environment(missing=f"commit {BEFORE} is not in this checkout")
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
    return _ours(source, folder / "compiled", f"irisdp 0.1, commit {BEFORE}")


def _ours(source: Path, compiled: Path, said: str) -> Environment:
    """Run from that source; compiled modules are kept apart, so that no version reads another's."""
    told = {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": str(compiled)}
    return Environment(sys.executable, told, (said,))


def variables_of(chosen: Environment) -> dict[str, str]:
    """Return what a process of that environment is told; a peer finds nothing of this library's."""
    told = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    return told | chosen.variables
