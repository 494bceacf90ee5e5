"""Write docs/dependencies.md: what Iris brings along, on which terms, and which part of Iris asks for it.

    python docs/dependencies.py

It is read from pyproject.toml and from the packages that are installed, whose own metadata say what they need and on
which terms they may be used; run it where everything is installed, as `make docs` does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).resolve().parent
PAGE = HERE / "dependencies.md"
PROJECT = HERE.parent / "pyproject.toml"

EXTRAS = ("plots", "explorer", "spark", "postgresql", "files", "notebooks", "accounting", "graphs", "opendp", "all")
"""What users install; the other extras are for whoever works on Iris."""

INTRODUCTION = """# What Iris brings along

Made by `python docs/dependencies.py`. Iris itself is Apache-2.0. In bold what it asks for; the rest comes with that. An
extra is asked for by name, `pip install "irisdp[plots]"`; `all` brings every one. Versions that are tested together
stand in `requirements/`; `make sbom` writes a bill of materials of an installation with everything (CycloneDX,
`build/sbom.json`), and `make versions` tries other Pythons and the oldest packages that are allowed.

Under the GPL, and thus in an extra alone: {free}. It finds the symmetries of graphs that are of no known family, where
they are asked for. The wheels of python-flint hold libraries under the LGPL; psycopg is under it.

| package | terms | part of Iris that brings it |
|---|---|---|
"""

SPOKEN = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "GNU General Public License (GPL)": "GPL-2.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "The Unlicense (Unlicense)": "Unlicense",
}
"""Licences that are written out, by their names in the list of SPDX."""


def terms(name: str) -> str:
    """Return on which terms a package may be used: as its metadata say, in the names of SPDX."""
    told = metadata.metadata(name)
    classified = [
        each.rsplit(" :: ", 1)[-1] for each in told.get_all("Classifier", []) if each.startswith("License ::")
    ]
    for said in (told.get("License-Expression"), *classified, told.get("License")):
        if said and said != "OSI Approved" and "\n" not in said:
            return SPOKEN.get(said, said)
    raise SystemExit(f"{name} does not say on which terms it may be used: ask its authors")


def asked_for() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return by part of Iris what it asks for: each package and the extras of it; the main part has no name."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    parts = {"": project["dependencies"], **{name: project["optional-dependencies"][name] for name in EXTRAS}}
    return {
        part: {canonicalize_name(one.name): tuple(one.extras) for one in map(Requirement, listed)}
        for part, listed in parts.items()
    }


def brought(name: str, extras: tuple[str, ...], seen: set[str]) -> Iterator[str]:
    """Yield a package and all that it needs here, each once."""
    if name in seen:
        return
    seen.add(name)
    yield name
    for line in metadata.requires(name) or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield from brought(canonicalize_name(one.name), tuple(one.extras), seen)


def parts_of() -> dict[str, list[str]]:
    """Return by package which parts of Iris bring it; the main part alone where it does."""
    found: dict[str, list[str]] = {}
    for part, listed in asked_for().items():
        seen: set[str] = set()
        for name, extras in listed.items():
            if name == "irisdp":
                continue
            for package in brought(name, extras, seen):
                if "" not in found.get(package, []):
                    found.setdefault(package, []).append(part)
    return dict(sorted(found.items()))


def page() -> str:
    """Write the page."""
    direct = {name for listed in asked_for().values() for name in listed}
    rows = [
        f"| {'**' + name + '**' if name in direct else name} | {terms(name)} | "
        f"{', '.join(f'`{part}`' if part else 'Iris itself' for part in parts)} |"
        for name, parts in parts_of().items()
    ]
    free = [name for name in parts_of() if re.search(r"(?<!L)GPL", terms(name))]
    return INTRODUCTION.format(free=", ".join(free)) + "\n".join(rows) + "\n"


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
