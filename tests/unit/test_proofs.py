"""Every guarantee names its proof, every proof has its parts, and whatever prose names is there."""

import ast
import importlib
import inspect
import keyword
import re
from functools import cache
from pathlib import Path

import pytest

from irisdp import consumers, design

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"proofs/[a-z0-9-]+\.md")
SOURCES = [
    *ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.py"), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("proofs/*.md"),
]  # fmt: skip
PAGES = sorted(set(ROOT.glob("proofs/*.md")) - {ROOT / "proofs" / "README.md"})
INDEX = (ROOT / "proofs" / "README.md").read_text(encoding="utf-8")
WITHOUT_A_SPEC = {"continuous", "oblivious", "optimal_mechanism", "quantile"}
DESIGNS = sorted({kind.replace("-", "_") for kind in design.KINDS} | WITHOUT_A_SPEC)

ROOMS = ("src", "tests", "docs", "benchmarks", "examples", "proofs", "formal")
FILE = re.compile(r"(?<![\w./@-])(?:[A-Za-z_][\w-]*/)*[\w-]+\.(?:py|md|svg|toml)\b(?!/)")
FOLDER = re.compile(r"`((?:src|tests|docs|proofs|benchmarks|examples|irisdp|requirements)/[\w/-]*)`")
DOTTED = re.compile(r"\birisdp(?:\.[A-Za-z_]\w*)+")
QUOTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`(?!`)")
TEST = re.compile(r"\btest_[a-z0-9_]+\b")
MARKDOWN_LINK = re.compile(r"\]\(([^)#:]+)\)")

COQ_NAME = re.compile(r"\b(?:Theorem|Lemma|Corollary|Definition|Record|Ltac)\s+(\w+)")

ELSEWHERE = {
    "OUT.release.json": "a pattern for file names",
    "PLAN.toml": "a pattern for file names",
    "get_delta_for_epsilon": "dp_accounting",
    "get_epsilon_for_delta": "dp_accounting",
    "plots": "an extra in pyproject.toml",
    "pmf": "SciPy",
    "reading_": "how names of files began in an early version",
}
"""What prose names and this repository does not define."""


def failures(paths, faults):
    """Return what is wrong with each file that has something wrong, by name."""
    found = {str(path.relative_to(ROOT)): set(faults(path, path.read_text(encoding="utf-8"))) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def missing_files(text, folder):
    """Yield files and folders that are named and not there; a bare name may be anywhere in the repository."""
    for name in {*FILE.findall(text), *FOLDER.findall(text)} - set(ELSEWHERE):
        places = [base / name for base in (ROOT, ROOT / "src", ROOT / "src" / "irisdp", folder)]
        if not any(place.exists() for place in places) and name not in bare_names():
            yield name


def missing_names(text):
    """Yield names with dots that cannot be imported, and quoted names that no code has."""
    for name in set(DOTTED.findall(text)):
        if not name.endswith((".md", ".py")) and not resolves(name):
            yield name
    for name in set(QUOTED.findall(text)) - set(ELSEWHERE):
        if name not in bare_names() and not all(part in known() or keyword.iskeyword(part) for part in name.split(".")):
            yield name
    yield from {name for name in TEST.findall(text) if name not in known()}


def resolves(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@cache
def bare_names():
    return {path.name for folder in ROOMS for path in files(folder)} | {path.name for path in ROOT.iterdir()}


def files(folder):
    return [path for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]


@cache
def known():
    """Return every word that code has: names, attributes, parameters, modules, and the words of its own strings."""
    words = set()
    for folder in ("src", "tests", "docs", "benchmarks", "examples"):
        for path in files(folder):
            words.add(path.stem)
            if path.suffix == ".py" and path != Path(__file__):
                words |= words_of(ast.parse(path.read_text(encoding="utf-8")))
    for path in (ROOT / "formal").glob("*.v"):
        words |= {path.stem, *COQ_NAME.findall(path.read_text(encoding="utf-8"))}
    return words


def words_of(tree):
    words, prose = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.add(id(node.value))
        for field in ("id", "attr", "arg", "name", "asname", "module"):
            if isinstance(text := getattr(node, field, None), str):
                words |= set(text.split("."))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            words |= set(re.findall(r"\w+", node.value))
    return words


def test_links_to_proofs_resolve():
    assert (
        failures(SOURCES, lambda path, text: (link for link in LINK.findall(text) if not (ROOT / link).is_file())) == {}
    )


def test_whatever_prose_names_is_there():
    """Files, modules, functions and tests, in pages and in docstrings."""

    def missing(path, text):
        yield from (*missing_files(text, path.parent), *missing_names(text))
        if path.suffix == ".md":
            yield from (link for link in MARKDOWN_LINK.findall(text) if not (path.parent / link).exists())

    assert failures(SOURCES, missing) == {}


@pytest.mark.parametrize("prose", [
    "see `tests/oracles/test_nothing.py`",
    "see [it](docs/nowhere.md)",
    "`irisdp.design.dual`",
    "`irisdp.design.distance_path`",
    "`reading_minimax`",
    "`design.no_such_thing`",
    "test_that_nobody_wrote",
    "`src/irisdp/nothing/`",
])  # fmt: skip
def test_what_is_not_there_is_noticed(prose):
    """Negative controls; the third stood in a proof."""
    assert {*missing_files(prose, ROOT), *missing_names(prose)}


@pytest.mark.parametrize(
    "function",
    [*(getattr(design, name) for name in DESIGNS), consumers.optimal_reading],
    ids=lambda found: found.__name__,
)
def test_every_design_links_to_its_proof(function):
    assert LINK.search(inspect.getdoc(function) or ""), "names no proof"


def parts_lacking(text):
    """Yield what a page of a theorem does not say: statement, scope, proof, tests, and what is machine-checked."""
    yield from (part for part in ("**Claim.**", "**Proof.**", "**Tests.**", "**Machine-checked") if part not in text)
    if not re.search(r"\*\*(Scope|Assumptions|Not claimed)\.\*\*", text):
        yield "**Scope.**"
    if ("**Machine-checked.** Nothing on this page." in text) == ("../formal/" in text):
        yield "whether Coq checked anything of it"


def test_a_proof_has_its_parts():
    def lacking(path, text):
        yield from parts_lacking(text)
        if "**Code.**" not in text and "**Where it is used.**" not in text:
            yield "where it is used"
        if not re.search(r"tests/\w+/test_\w+\.py", text):
            yield "the name of a test"
        if f"]({path.name})" not in INDEX:
            yield "its row in proofs/README.md"

    assert failures(PAGES, lacking) == {}


@pytest.mark.parametrize("part", ["**Claim.**", "**Scope.**", "**Proof.**", "**Tests.**", "**Machine-checked.**"])
def test_a_proof_without_a_part_is_noticed(part):
    """Negative control."""
    page = "**Claim.** A. **Scope.** B. **Proof.** C. **Machine-checked.** Nothing on this page. **Tests.** D."
    assert list(parts_lacking(page)) == []
    assert part.rstrip("*").rstrip(".") in " ".join(parts_lacking(page.replace(part, "")))
