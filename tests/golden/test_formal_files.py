"""A few mechanism files that Coq proves: they are what the library writes, and the terms are what the files say.

`formal/Golden.v` proves of each that it is private, or that it is not; `make proofs` compiles that.
"""

import importlib.util
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import Privacy, audit, design
from irisdp._exact import parse_json
from irisdp.certify import verify_mechanism
from irisdp.graphs import Path as PathGraph
from irisdp.graphs import graph_from_edges
from irisdp.mechanisms import read_document

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "golden" / "mechanisms"
SPEC = importlib.util.spec_from_file_location("golden", ROOT / "formal" / "golden.py")
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)

DESIGNS = {
    "distance": lambda: design.distance(
        graph_from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]), Privacy(ratio=2, delta="1/20")
    ),
    "geometric": lambda: design.geometric(5, Privacy(ratio=2)),
    "rainbow": lambda: design.rainbow(
        PathGraph(5), [tuple("abc")] * 3 + [tuple("cba")] * 2, Privacy(ratio=2, delta="1/20")
    ),
    "response": lambda: design.randomized_response(3, Privacy(ratio=2, delta="1/10")),
    "two_pairs": lambda: design.binary(
        PathGraph(4), ["no", "no", "yes", "yes"], Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/10")])
    ),
}
PRINTED = {
    "format": "irisdp/mechanism/1", "privacy": {"ratio": "2", "delta": "0.1"}, "graph": {"family": "path", "n": 2},
    "inputs": [0, 1], "outputs": ["first", "second"], "matrix": [["0.5", "0.5"], ["0.85", "0.15"]],
}  # fmt: skip
"""A row and the next as [Gu2024], eq. (9), prints the operator: they are not private."""

FILES = sorted(path.stem for path in FOLDER.glob("*.json"))


def text_of(name):
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_the_terms_say_what_the_files_say():
    assert (ROOT / "formal" / "GoldenTerms.v").read_text(encoding="utf-8") == golden.terms(FOLDER)


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_what_the_library_writes(name):
    made = PRINTED if name == "printed" else DESIGNS[name]().to_document()
    assert json.loads(text_of(name)) == json.loads(json.dumps(made))


@pytest.mark.parametrize("name", FILES)
def test_the_script_reads_a_file_as_the_library_does(name):
    mechanism = read_document(parse_json(text_of(name), "mechanism")).mechanism()
    document = json.loads(text_of(name))
    assert [tuple(row) for row in golden.rows(document)] == [
        tuple(mechanism.row(i)) for i in range(len(mechanism.inputs))
    ]
    assert golden.pairs(document) == [(pair.ratio, pair.delta) for pair in mechanism.privacy.pairs]
    ours = {tuple(sorted((int(a), int(b)))) for chunk in mechanism.graph.edges() for a, b in zip(*chunk, strict=True)}
    assert {tuple(sorted(edge)) for edge in golden.edges(document)} == ours


@pytest.mark.parametrize("name", FILES)
def test_both_other_checkers_say_what_is_proved(name):
    """Golden.v has a theorem for every file; only the rows as printed are refused."""
    proved = (ROOT / "formal" / "Golden.v").read_text(encoding="utf-8")
    assert re.search(rf"^Theorem {name}_{'refused' if name == 'printed' else 'kept'} :.*\b{name}\b", proved, re.M)
    assert audit(read_document(parse_json(text_of(name), "mechanism"))).holds == (name != "printed")
    mechanism = verify_mechanism.read_mechanism(json.loads(text_of(name)))
    if name == "printed":
        with pytest.raises(ValueError, match=r"0 .* 1"):
            verify_mechanism.check_privacy(mechanism)
    else:
        verify_mechanism.check_privacy(mechanism)


def test_terms_of_a_changed_file_are_others(tmp_path):
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    document = json.loads(text_of("geometric"))
    row = document["matrix"][0]
    row[0] = str(Fraction(row[0]) + Fraction(1, 10**30))
    (tmp_path / "geometric.json").write_text(json.dumps(document))
    assert golden.terms(tmp_path) != golden.terms(FOLDER)
