"""What docs/paper says of other mechanisms is what is worked out, and each work that it cites is in the references."""

import re
from pathlib import Path

from irisdp import compare

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "paper" / "paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (ROOT / "docs" / "paper" / "paper.bib").read_text(encoding="utf-8")


def test_every_work_that_is_cited_is_listed_and_in_the_references():
    cited = set(re.findall(r"@(\w+)", TEXT))
    listed = set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE))
    references = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    assert cited == listed
    assert listed <= set(re.findall(r"^### (\w+)", references, re.MULTILINE))


def test_the_errors_it_states_are_those_that_are_worked_out():
    found = {
        one.name: one.errors["worst"]
        for one in compare("plurality", categories=4, epsilon=1, relation="exchange").mechanisms
    }
    told = [f"{float(found[name]):.3f}" for name in ("exponential mechanism", "permute and flip", "pull from the top")]
    words = " ".join(TEXT.split())
    assert re.search(
        rf"with probability {told[0]} at worst, .* with {told[1]}, .* publishes with {told[2]}, which", words
    )
