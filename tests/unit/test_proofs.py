"""Every guarantee names its proof, and every proof that is named is there."""

import inspect
import re
from pathlib import Path

import pytest

from irisdp import design

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"proofs/[a-z0-9-]+\.md")
SOURCES = [*ROOT.glob("src/**/*.py"), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("proofs/*.md")]
DESIGNS = [
    "balanced_line",
    "binary",
    "consumer",
    "distance",
    "exponential",
    "geometric",
    "oblivious",
    "optimal_reading",
    "rainbow",
    "randomized_response",
    "tailored",
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_proofs_resolve(path):
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        assert (ROOT / link).is_file(), link


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_links_to_its_proof(name):
    function = getattr(design, name)
    assert LINK.search(inspect.getdoc(function) or ""), f"design.{name} names no proof"


@pytest.mark.parametrize("path", sorted(ROOT.glob("proofs/*.md")), ids=lambda path: path.name)
def test_a_proof_has_its_parts(path):
    text = path.read_text(encoding="utf-8")
    if path.name != "README.md":
        for part in ("**Claim.**", "**Proof.**", "**Code.**"):
            assert part in text or (part == "**Code.**" and "**Where it is used.**" in text), part
        assert path.name in (ROOT / "proofs" / "README.md").read_text(encoding="utf-8")
