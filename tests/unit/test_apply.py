"""Mechanism files that answer about tables: every designed kind, one question in all spellings, and files that lie."""

import json
import os
import unicodedata
from fractions import Fraction as F
from pathlib import Path

import pyarrow as pa
import pytest

from irisdp import BadInput, Privacy, Session, audit, design, interpret, plan, plan_batch, publish
from irisdp._cli import run
from irisdp._queries import apply
from irisdp._release.pipeline import read_statistics

PURE = {"ratio": 2}
PATH = {"family": "path", "n": 4}
HISTOGRAMS = {"family": "histograms", "total": 5, "types": 3}
SORTED = {**HISTOGRAMS, "family": "sorted_histograms"}
TABLE = pa.table({"v": [1, 1, 1, 0, 0], "party": ["x", "y", "x", None, "z"]})
"""Three of five have v = 1; two are x, one is y, two are neither."""

COLOURS = {"0": "none", "1": "some", "2": "some", "3": "many"}
RANKINGS = {
    "0": ["none", "some", "many"],
    "1": ["some", "none", "many"],
    "2": ["some", "many", "none"],
    "3": ["many", "some", "none"],
}
EVEN = {"none": "1/3", "some": "1/3", "many": "1/3"}
TO_A_COUNT = {
    "geometric": {"kind": "geometric", "n": 3},
    "consumer": {"kind": "consumer", "n": 3, "loss": "squared"},
    "bayesian consumer": {"kind": "consumer", "n": 3, "loss": "zero-one", "prior": ["1/2", "1/4", "1/8", "1/8"]},
    "binary": {
        "kind": "binary",
        "graph": PATH,
        "colors": {"0": "a", "1": "a", "2": "b", "3": "b"},
        "boundary": "balanced",
    },
    "rainbow": {"kind": "rainbow", "graph": PATH, "rankings": RANKINGS, "boundary": dict.fromkeys("0123", EVEN)},
    "distance": {"kind": "distance", "graph": PATH},
    "exponential": {"kind": "exponential", "graph": PATH},
}
TO_CATEGORIES = {
    "distance": ({"kind": "distance", "graph": HISTOGRAMS}, (2, 1, 2)),
    "exponential": ({"kind": "exponential", "graph": HISTOGRAMS}, (2, 1, 2)),
    "sorted distance": ({"kind": "distance", "graph": SORTED}, (2, 2, 1)),
    "sorted exponential": ({"kind": "exponential", "graph": SORTED}, (2, 2, 1)),
    "plurality over gaps": ({"kind": "plurality", "categories": 2, "largest": 4, "relation": "exchange"}, (0, 1)),
    "plurality over histograms": (
        {"kind": "plurality", "categories": 3, "total": 5, "relation": "exchange"},
        (2, 1, 2),
    ),
}


@pytest.fixture
def file(tmp_path):
    def written(document, name="m.json"):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    return written


def from_spec(spec):
    return design.from_spec({"privacy": PURE, **spec})


def law_at(path, about, **options):
    planned = plan(TABLE, "apply", path, about, **options)
    cells = read_statistics(planned, bytes(32))
    return planned.audiences[0].mechanism.law(cells.nodes, 0, 5)


@pytest.mark.parametrize("kind", TO_A_COUNT)
def test_every_kind_over_a_path_answers_about_a_count(kind, file, tmp_path):
    made = from_spec(TO_A_COUNT[kind])
    path = file(made.to_document())
    assert list(law_at(path, "v = 1").values()) == list(made.row(3))
    assert list(law_at(path, "v > 5").values()) == list(made.row(0))
    assert list(law_at(path, "v < 5").values()) == list(made.row(3))  # five, and no count goes beyond three
    found = publish(TABLE, "apply", path, "v = 1", ledger=tmp_path / "l.ledger", out=tmp_path / "o.csv")
    assert found.answers.values[0] in made.outputs
    assert found.cost.epsilon == made.privacy.epsilon
    sidecar = json.loads((tmp_path / "o.csv.release.json").read_text())
    assert sidecar["mechanism"]["kind"] == "designed"
    assert sidecar["mechanism"]["graph"] == PATH
    assert len(sidecar["mechanism"]["sha256"]) == 64
    assert (sidecar["mechanism"]["optimality"] is None) == (made.certificate is None)
    assert publish(TABLE, "apply", path, "v = 1", ledger=tmp_path / "l.ledger").repeated
    with pytest.raises(BadInput, match="was drawn from a mechanism file"):
        interpret(tmp_path / "o.csv.release.json", value=1)


@pytest.mark.parametrize("kind", TO_CATEGORIES)
def test_every_kind_over_categories_answers_about_a_column(kind, file, tmp_path):
    spec, node = TO_CATEGORIES[kind]
    made = from_spec(spec)
    path, options = file(made.to_document()), {"categories": "x,y", "relation": "exchange"}
    law = law_at(path, "party", **options)
    assert list(law.values()) == list(made.row(node))
    found = publish(TABLE, "apply", path, "party", ledger=tmp_path / "l.ledger", out=tmp_path / "o.csv", **options)
    assert found.answers.values[0] in law
    if "gaps" in kind:
        assert list(law) == ["x", "y"]
        assert law_at(path, "party", **{**options, "categories": "y,x"}) == dict(
            zip("yx", made.row((1, 0)), strict=True)
        )
    else:
        written = (tmp_path / "o.csv").read_text().splitlines()[1]
        assert written == (f'"{found.answers.values[0]}"' if "plurality" not in kind else str(found.answers.values[0]))


def test_a_formula_over_many_counts_is_drawn_factor_by_factor(file, tmp_path):
    document = {"privacy": PURE, "factors": [{"kind": "geometric", "n": 10**12}]}
    found = publish(TABLE, "apply", file(document), "v = 1", ledger=tmp_path / "l.ledger")
    assert 0 <= found.answers.values[0] <= 10**12


def test_a_formula_is_read_as_it_says(file):
    document = {"privacy": PURE, "factors": [{"kind": "geometric", "n": 3}]}
    reading = [[0, 1, 1], [1, 1, 1], [2, 1, "1/2"], [2, 2, "1/2"], [3, 3, 1]]
    law = law_at(file({**document, "factors": [*document["factors"], {"reading": reading}]}), "v = 1")
    below, one, two, three = design.geometric(3, Privacy(ratio=2)).row(3)
    assert law == {0: 0, 1: below + one + two / 2, 2: two / 2, 3: three}


def test_one_mechanism_is_one_question_however_it_is_written(file, tmp_path):
    made = from_spec(TO_A_COUNT["binary"]).to_document()
    graph = {"nodes": [3, 1, 0, 2], "edges": [[0, 1], [1, 2], [3, 2]]}
    rows = dict(zip(made["inputs"], made["matrix"], strict=True))
    flipped = [[format(F(p)) for p in reversed(rows[node])] for node in graph["nodes"]]
    other = {"privacy": {"ratio": "4/2"}, "graph": graph, "inputs": graph["nodes"], "outputs": made["outputs"][::-1]}
    bare = {key: value for key, value in made.items() if key not in ("certificate", "objective")}
    ledger = tmp_path / "l.ledger"
    first = publish(TABLE, "apply", file(bare), "v = 1", ledger=ledger)
    again = publish(TABLE, "apply", file({**other, "matrix": flipped}, "other name.json"), "v=1", ledger=ledger)
    assert again.repeated
    assert again.answers.values == first.answers.values
    third = publish(TABLE, "apply", file({**bare, "privacy": {"ratio": 3}}, "c.json"), "v = 1", ledger=ledger)
    assert not third.repeated


def test_a_session_and_one_text_ask_the_same(file, tmp_path):
    path = file(from_spec(TO_A_COUNT["consumer"]).to_document())
    session = Session(TABLE, ledger=tmp_path / "l.ledger")
    assert not session.apply(path, "v = 1").repeated
    assert session.publish(f"apply {path} v = 1").repeated
    assert session.publish("apply", path, "v=1").repeated


@pytest.mark.parametrize(
    "option", [{"epsilon": 1}, {"ratio": 2}, {"mu": 1}, {"delta": "0.1"}, {"privacy": PURE}, {"audience": {"a": 1}}]
)
def test_the_file_says_how_private_it_is(option, file):
    path = file(from_spec(TO_A_COUNT["consumer"]).to_document())
    with pytest.raises(BadInput, match="is said by the mechanism file already"):
        plan(TABLE, "apply", path, "v = 1", **option)


@pytest.mark.parametrize("rule", [None, {"error_at_most": "2.5"}])
def test_a_plan_says_among_which_mechanisms_a_bound_holds(rule, file):
    rules = {} if rule is None else {"constraints": [rule]}
    made = design.consumer(4, "absolute", Privacy(ratio="3/2", delta="29/100"), **rules)
    path = file(made.to_document())
    scope = audit(made).optimality.scope()
    assert "2.5" in scope or rule is None
    planned = plan(TABLE, f"apply {path} v = 1")
    (error,) = planned.describe_error()
    assert error.endswith(f" among {scope})")
    assert f"among {scope}" in " ".join(str(planned).split())


def test_a_selection_needs_a_delta_of_its_own(file):
    path = file(from_spec(TO_A_COUNT["consumer"]).to_document())
    with pytest.raises(BadInput, match="selection_delta: is missing"):
        plan(TABLE, "apply", path, "v = 1", by="party", select_groups=True)
    planned = plan(TABLE, "apply", path, "v = 1", by="party", select_groups=True, selection_delta="0.1")
    assert planned.cost.delta == F(1, 10)


@pytest.mark.parametrize(("graph", "said"), [
    ({"family": "cycle", "n": 4}, "of the family cycle"),
    ({"family": "complete", "n": 4}, "of the family complete"),
    ({"family": "hamming", "length": 2, "symbols": 2}, "of the family hamming"),
    ({"edges": [[0, 1], [1, 2], [1, 3]]}, "a list of edges"),
    ({"edges": [["0", "1"], ["1", "2"], ["2", "3"]]}, "a list of edges"),
    ({"edges": [[0, 1], [2, 3]]}, "a list of edges"),
])  # fmt: skip
def test_other_graphs_are_refused_by_name(graph, said, file):
    with pytest.raises(BadInput, match=said):
        plan(TABLE, "apply", file({"privacy": PURE, "graph": graph, "matrix": [["1/2", "1/2"]] * 4}), "v = 1")


@pytest.mark.parametrize(("spec", "words", "options", "said"), [
    ({"kind": "distance", "graph": HISTOGRAMS}, ("party",), {"categories": "x,y"}, "public number of records"),
    (
        {"kind": "distance", "graph": HISTOGRAMS},
        ("party",),
        {"categories": "x,y,z", "relation": "exchange"},
        "must be 2 for this",
    ),
    ({"kind": "distance", "graph": HISTOGRAMS}, ("party",), {"relation": "exchange"}, "categories: is missing"),
    ({"kind": "distance", "graph": HISTOGRAMS}, (), {"categories": "x,y"}, "needs one column"),
    ({"kind": "distance", "graph": PATH}, ("v = 1",), {"categories": "x,y"}, "is not for apply to a count"),
    ({"kind": "distance", "graph": PATH}, ("v", "= 1"), {}, "several words"),
    (
        {"kind": "plurality", "categories": 2, "largest": 3, "relation": "exchange"},
        ("party",),
        {"categories": "x,y"},
        "is for neighbours by exchange",
    ),
    (
        {"kind": "plurality", "categories": 2, "largest": 3, "relation": "add-remove"},
        ("party",),
        {"categories": "x,y", "relation": "exchange"},
        "is for neighbours by add-remove",
    ),
])  # fmt: skip
def test_a_map_that_is_no_morphism_is_refused(spec, words, options, said, file):
    with pytest.raises(BadInput, match=said):
        plan(TABLE, "apply", file(from_spec(spec).to_document()), *words, **options)


def test_histograms_of_another_number_of_records_are_refused(file, tmp_path):
    """The number is public where records are exchanged."""
    path = file(from_spec({"kind": "distance", "graph": {**HISTOGRAMS, "total": 4}}).to_document())
    with pytest.raises(BadInput, match="is for 4 records"):
        publish(TABLE, "apply", path, "party", categories="x,y", relation="exchange", ledger=tmp_path / "l.ledger")
    assert not (tmp_path / "l.ledger").exists()


def test_bins_are_categories(file):
    made = from_spec({"kind": "plurality", "categories": 2, "largest": 4, "relation": "exchange"})
    law = law_at(file(made.to_document()), "v", bins="1", relation="exchange")
    assert law == {"below 1": made.row((1, 0))[0], "1 and over": made.row((1, 0))[1]}


def test_a_batch_has_no_share_of_its_privacy(file):
    path = file(from_spec(TO_A_COUNT["consumer"]).to_document())
    asked = {"budget": {"epsilon": 1}, "questions": [{"query": f"apply {path}", "expression": "v = 1"}]}
    with pytest.raises(BadInput, match="apply has a privacy of its own"):
        plan_batch(asked, data=TABLE)


# Files that lie.

STEP = [["2/3", "1/3"], ["1/3", "2/3"]]
TINY = F(1, 10**9)


def step(**changes):
    return {"privacy": PURE, "graph": {"family": "path", "n": 2}, "matrix": STEP, **changes}


def off_by(much):
    return step(matrix=[[str(F(2, 3) + much), str(F(1, 3) - much)], STEP[1]])


def digits(count):
    return '{"privacy": {"ratio": 2}, "graph": {"family": "path", "n": 2}, "matrix": [[1%s, 0], [0, 1]]}' % (
        "0" * count
    )


HOSTILE = {
    "not private by 1e-9": off_by(TINY),
    "not private by 1e-60": off_by(TINY**6 / 10**6),
    "no row sums to one": step(matrix=[["2/3", "1/4"], ["1/3", "2/3"]]),
    "a sum off by 1e-9": step(matrix=[["2/3", str(F(1, 3) - TINY)], ["1/3", "2/3"]]),
    "negative": step(matrix=[["4/3", "-1/3"], ["1/3", "2/3"]]),
    "a float that is not exact": step(
        matrix=[[0.6666666666666666, 0.3333333333333333], [0.3333333333333333, 0.6666666666666666]]
    ),
    "a delta it does not keep": step(privacy={"ratio": 1, "delta": "1/4"}),
    "two pairs, one broken": step(privacy={"all": [{"ratio": 2}, {"ratio": "3/2", "delta": "1/1000"}]}),
    "no privacy": step(privacy=None),
    "no ratio below 1": step(privacy={"ratio": "1/2"}),
    "both epsilon and ratio": step(privacy={"epsilon": 1, "ratio": 9}),
    "a curve": step(privacy={"gaussian": 1}),
    "infinite": json.dumps(step(privacy={"epsilon": float("inf")})),
    "nothing said at all": step(privacy={"ratio": 1}, matrix=[["1/2", "1/2"], ["1/2", "1/2"]]),
    "no graph": step(graph=None),
    "an edge left out": step(graph={"nodes": [0, 1], "edges": []}, matrix=[[1, 0], [0, 1]]),
    "a graph of more nodes": step(graph={"family": "path", "n": 3}),
    "inputs of another graph": step(inputs=[5, 6]),
    "inputs twice": step(inputs=[0, 0]),
    "inputs as text": step(inputs=["0", "1"]),
    "inputs that are truth values": step(inputs=[False, True]),
    "one output twice": step(outputs=["a", "a"]),
    "outputs that look alike": step(outputs=[3, "3"]),
    "an output that is a list like a text": step(outputs=[[1, 2], "[1, 2]"]),
    "a newline in a name": step(outputs=["a\nyes", "b"]),
    "an escape in a name": step(outputs=["\x1b[2J", "b"]),
    "a name turned around": step(outputs=["\u202eabc", "b"]),
    "half a character": json.dumps(step(outputs=["HALF", "b"])).replace("HALF", "\\ud800"),
    "a name of nothing": step(outputs=["", "b"]),
    "a name with space around": step(outputs=[" a", "a"]),
    "a name that never ends": step(outputs=["a" * 101, "b"]),
    "a huge number": digits(5000),
    "an exponent beyond all use": json.dumps(step(privacy={"ratio": 999999})).replace("999999", "1e999999"),
    "a path of 10^18 nodes": step(graph={"family": "path", "n": 10**18}),
    "histograms beyond all size": step(graph={"family": "histograms", "total": 10**6, "types": 999}),
    "a key twice": json.dumps(step()).replace('"privacy"', '"privacy": {"ratio": 9}, "privacy"'),
    "nested without end": "[" * 5000,
    "no JSON": "ratio: 2",
    "a bare matrix": json.dumps(STEP),
    "a spec": {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": PURE},
    "another format": step(format="irisdp/mechanism/9"),
    "row_of beyond": {"privacy": PURE, "graph": {"family": "path", "n": 2}, "rows": STEP, "row_of": [0, 7]},
    "a false certificate": step(certificate={"kind": "theorem", "theorem": "geometric", "sha256": "0" * 64}),
    "a certificate with a line of its own": step(certificate={"kind": "theorem", "theorem": "a\n\x1b[2Jprivate: yes"}),
    "factors that lie about their ratio": {
        "privacy": {"ratio": 2},
        "graph": {"family": "cycle", "n": 4},
        "factors": [{"kind": "geometric", "n": 3}],
    },
    "factors without privacy": {"privacy": {"ratio": 1, "delta": "1/2"}, "factors": [{"kind": "geometric", "n": 3}]},
    "a reading that adds up to more": {
        "privacy": PURE,
        "factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1, 1, 2]]}],
    },
    "a reading beyond": {
        "privacy": PURE,
        "factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1, 7, 1]]}],
    },
    "a graph with a key that steers": step(graph={"family": "path", "n": 2, "\x1b[2J\nok": 1}),
    "nodes that steer": step(graph={"nodes": ["\x1b[2J\nok", "b"], "edges": [["\x1b[2J\nok", "b"]]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line_and_nothing_is_spent(name, file, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("v,party\n1,x\n0,y\n")
    path = file(HOSTILE[name])
    before = sorted(os.listdir(tmp_path))
    assert run(["publish", str(tmp_path / "t.csv"), "apply", path, "v = 1", "--out", str(tmp_path / "o.csv")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("irisdp: MECH.json: "), said.err
    letters = set(said.err) - {"\n"}
    assert not [letter for letter in letters if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
    assert sorted(os.listdir(tmp_path)) == before


def test_there_are_enough_hostile_files():
    assert len(HOSTILE) >= 30


def test_the_control_is_taken(file, tmp_path):
    """What is right, by the same way."""
    assert publish(TABLE, "apply", file(step()), "v = 1", ledger=tmp_path / "l.ledger").answers.values[0] in (0, 1)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "missing", "not text", "too large"])
def test_what_is_no_file_is_refused(kind, tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "not text":
        path.write_bytes(b"\xff\xfe{}")
    elif kind == "too large":
        monkeypatch.setattr(apply, "_MOST_BYTES", 10)
        path.write_text(json.dumps(step()))
    with pytest.raises(BadInput, match="mechanism"):
        plan(TABLE, "apply", str(path), "v = 1")


def test_a_file_that_is_exchanged_after_it_was_checked_changes_nothing(file, tmp_path, monkeypatch):
    """The name leads through a link, which somebody turns to another file as soon as it was read."""
    good, bad = file(step(), "good.json"), file(step(matrix=[[1, 0], [0, 1]]), "bad.json")
    link = tmp_path / "m.json"
    link.symlink_to(good)
    real = apply.read_checked

    def read_and_turn(path):
        found = real(path)
        link.unlink()
        link.symlink_to(bad)
        return found

    monkeypatch.setattr(apply, "read_checked", read_and_turn)
    found = publish(TABLE, "apply", str(link), "v = 1", ledger=tmp_path / "l.ledger")
    assert found.sidecars[None]["mechanism"]["sha256"] == real(good).digest
    monkeypatch.undo()
    with pytest.raises(BadInput, match="not as private"):
        plan(TABLE, "apply", str(link), "v = 1")


def test_the_file_is_never_written_over(file, tmp_path):
    path = file(step())
    for out in (path, str(tmp_path / "link.json")):
        if not Path(out).exists():
            os.link(path, out)
        with pytest.raises(BadInput, match="is the mechanism"):
            publish(TABLE, "apply", path, "v = 1", ledger=tmp_path / "l.ledger", out=out, force=True)
    with pytest.raises(BadInput, match="is the mechanism"):
        publish(TABLE, "apply", path, "v = 1", ledger=path)


def test_no_name_of_an_answer_is_a_formula_or_breaks_a_line_of_a_file(file, tmp_path):
    path = file(step(outputs=['=cmd|"x",1', 'a,"b"']))
    out = tmp_path / "o.csv"
    found = publish(TABLE, "apply", path, "v = 1", ledger=tmp_path / "l.ledger", out=out)
    written = {'=cmd|"x",1': '"\'=cmd|""x"",1"', 'a,"b"': '"a,""b"""'}[found.answers.values[0]]
    assert out.read_text() == f"answer\n{written}\n"
