"""Works are cited by keys that docs/references.md spells out, and docs/theory.md by sections that are there."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "references.md"
THEORY = ROOT / "docs" / "theory.md"
# An article cites as its journal wants it; tests/unit/test_paper.py holds those citations to the references.
FILES = sorted(
    path
    for folder in ("src", "tests", "docs", "proofs", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md"} and path != Path(__file__) and path.stem not in {"paper", "test_paper"}
) + sorted(ROOT.glob("*.md"))

KEY = re.compile(r"\[([A-Z][A-Za-z]+\d{4})\]")
ENTRY = re.compile(r"^### (\w+)\n(.+?) \((\d{4})\)\. \*[^*]+\*\.", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
LINK = re.compile(r"\[([A-Z][A-Za-z]+\d{4})\](?:: |\()([\w./]+)#(\w+)")
SECTION = re.compile(r"theory\.md#([\w-]*)")

LOCATOR = re.compile(
    r"\b(?:Theorems?|Lemmas?|Corollar(?:y|ies)|Definitions?|Algorithms?|Table|Appendix) (?:\d+|[A-Z]\b)|\beq\. \(\d+\)"
)
UNKEYED = [
    re.compile(r"\btheory §", re.IGNORECASE),
    re.compile(r"(?<![-\"])\bpapers?\b", re.IGNORECASE),  # but for an option and a key of JSON
    re.compile(r"\bet al\b"),
    re.compile(r"(?<!\w)\((?:1[89]|20)\d\d[a-z]?\)"),
    re.compile(r"\b(?!ISO|Study|IEEE|RFC)[A-Z][a-zà-ž]+,? (?:1[89]|20)\d\d\b(?!-)"),
]
"""Forms of citation that name no key; RFC is caught as a name below."""

COMMON = {"Gu", "Li", "Mason", "Oh", "Russell", "Simon", "Smith", "Stein", "Su", "Voss", "Wang", "Zhou", "Zhu"}
"""Surnames too short or too common to be looked for; whoever they wrote with is looked for."""


@cache
def entries():
    """Return key → surnames of the authors."""
    found = {}
    for key, authors, _ in ENTRY.findall(PAGE.read_text(encoding="utf-8")):
        found[key] = {name.split(" ", 1)[1].split()[-1] for name in re.split(r",\s", authors)}
    return found


def citations(path):
    return set(KEY.findall(path.read_text(encoding="utf-8")))


@cache
def surnames():
    """Return surname → the keys of the author's works, and the pattern that finds any of them."""
    found = {}
    for key, names in entries().items():
        for name in names - COMMON:
            found.setdefault(name, set()).add(key)
    return found, re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(found, key=len, reverse=True)))})\b")


def without_key(text):
    """Yield what looks like a citation and has no key: in its paragraph, or, for numbered statements, in its file."""
    keys, (authors, an_author) = set(KEY.findall(text)), surnames()
    for block in re.split(r"\n\s*\n", re.sub(r"https?://\S+", "", text)):
        cited = set(KEY.findall(block))
        if not cited:
            yield from (found[0] for form in UNKEYED for found in form.finditer(block))
        yield from (name for name in set(an_author.findall(block)) if not cited & authors[name])
        if re.search(r"\bRFC ?\d", re.sub(KEY, "", block)):
            yield "RFC"
        if not keys:
            yield from (found[0] for found in LOCATOR.finditer(block))


def anchors(path):
    """Return the anchors of a page's headings, as they are made from one-word headings."""
    return {title.lower() for title in re.findall(r"^#{2,3} (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)}


def failures(paths, faults):
    """Return what is wrong with each file that has something wrong, by name."""
    found = {str(path.relative_to(ROOT)): set(faults(path, path.read_text(encoding="utf-8"))) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_every_entry_has_authors_year_title_and_a_key_made_of_them():
    text = PAGE.read_text(encoding="utf-8")
    assert HEADING.findall(text) == list(entries()) == sorted(entries(), key=str.lower)
    for key, authors, year in ENTRY.findall(text):
        first = re.split(r",\s", authors)[0].split(" ", 1)[1]
        plain = first.translate(str.maketrans("àá", "aa")).replace("'", "").split(". ")[-1].replace(" ", "")
        assert key in {plain + year, "RFC4180"}, key


def test_every_entry_is_cited():
    cited = set().union(*(citations(path) for path in FILES if path != PAGE))
    assert not set(entries()) - cited


def test_every_citation_resolves():
    sections = anchors(THEORY)
    assert failures(FILES, lambda path, text: citations(path) - set(entries())) == {}
    assert failures(FILES, lambda path, text: set(SECTION.findall(text)) - sections) == {}


def test_no_citation_is_without_a_key():
    assert failures(FILES, lambda path, text: () if path == PAGE else without_key(text)) == {}


def test_keys_in_pages_are_links_to_their_entry():
    def broken(path, text):
        links = LINK.findall(text)
        yield from {key for key, _, _ in links} ^ citations(path)
        for key, target, anchor in links:
            if (path.parent / target).resolve() != PAGE or anchor != key.lower():
                yield f"{key} links to {target}#{anchor}"

    assert failures((path for path in FILES if path.suffix == ".md" and path != PAGE), broken) == {}


def test_the_theory_page_leads_to_every_proof():
    proofs = {path.name for path in (ROOT / "proofs").glob("*.md") if path.stem != "README"}
    assert proofs - set(re.findall(r"\]\(\.\./proofs/([\w-]+\.md)\)", THEORY.read_text(encoding="utf-8"))) == set()


@pytest.mark.parametrize("prose", [
    "Minimax-agents paper, Theorem 1.",
    "as theory §9.1 says",
    "a closed form (2020)",
    "Steffy and Wolter 2016",
    "Someone, Other 1999",
    "Gupte et al. prove it",
    "this is Blackwell's theorem",
    "the grammar is that of RFC 4180",
    "Lemma 5 gives the structure",
    "prints it in eq. (9)",
    "Desfontaines' rule, as in [Gupte2010]",
])  # fmt: skip
def test_a_citation_without_a_key_is_noticed(prose):
    """Negative controls."""
    assert set(without_key(prose))


@pytest.mark.parametrize(
    "prose",
    ["[Gupte2010], Theorem 1", "Blackwell's theorem [Blackwell1953]", "ISO 8601", "in 2026", "the Study 1996 [Gu2024]"],
)
def test_a_citation_with_its_key_is_let_through(prose):
    assert not set(without_key(prose))


def test_a_key_that_nobody_wrote_and_a_section_that_is_not_there_are_noticed():
    """Negative controls."""
    assert KEY.findall("see [Nobody1999]") == ["Nobody1999"]
    assert "Nobody1999" not in entries()
    assert SECTION.findall("docs/theory.md#nowhere") == ["nowhere"]
    assert "nowhere" not in anchors(THEORY)
