"""How likely published names are true: the same from every face, and one line where it cannot be said."""

import json

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Session, interpret
from irisdp._cli import run
from irisdp.interpretation._winner_rule import _too_many_classes, gap_classes, most_weighed
from irisdp.privacy import Gaussian

TABLE = pa.table({"v": [1] * 6 + [0] * 14, "g": ["a", "b"] * 10, "party": ["=x", "y", None, "=x"] * 5})
QUESTIONS = [
    ("majority", ("v = 1",), {}),
    ("at_least", (5, "v = 1"), {}),
    ("at_most", (5, "v = 1"), {"by": "g", "groups": "b,a"}),
    ("band", ("3,12", "v = 1"), {}),
    ("plurality", ("party",), {"categories": ["=x", "y", "z"]}),
    ("plurality", ("v",), {"categories": [0, 1, 2], "by": "g", "groups": "b,a"}),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("query", "words", "options"), QUESTIONS)
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_every_face_says_the_same(query, words, options, relation, ending, here, capsys):
    session = Session(TABLE, relation=relation, ledger="l")
    found = getattr(session, query)(*words, epsilon=1, **options, out=f"o.{ending}")
    for known in ({}, {"at_most": 9}, {"at_least": 3, "at_most": 9}):
        expected = interpret(found, **known)
        documents = json.loads(json.dumps(expected.to_documents()))
        for release in (found.out[0], found.out[1], f"o.{ending}"):
            assert [one | {"group": None} for one in interpret(release, **known).to_documents()] == [
                one | {"group": None} for one in expected.to_documents()
            ]
        frame = interpret(f"o.{ending}.release.json", found.answers.to_arrow(), **known)
        assert frame.to_documents() == expected.to_documents()
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in known.items()]
        assert run(["interpret", f"o.{ending}", *arguments, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        left_out = found.plan.leaves_out()
        assert document == {"readings": documents} | ({"left_out": left_out} if left_out else {})
        assert run(["interpret", f"o.{ending}", *arguments]) == 0
        assert "right with" in capsys.readouterr().out
        assert all(0 <= one["answer_probability"] <= 1 for one in documents)
        own = ["published", "reading", "answer_probability", "answer_probability_upper"]
        assert expected.to_arrow().column_names == [*expected.by, *own]
        assert "true with probability" in repr(expected) and "true with probability" in repr(expected.answers[0])
    assert len(session.releases()) == 1


def test_one_value_is_read_and_written(here, capsys):
    Session(TABLE, ledger="l").plurality("party", categories=["=x", "y", "z"], epsilon=1, out="o.csv")
    assert run(["interpret", "o.csv.release.json", "--value", "=x", "--lead", "5", "--out", "r.json", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((here / "r.json").read_text())
    assert document["published"] == document["reading"] == "=x" and document["basis"] == "worst"
    assert document["answer_probability"] == document["right_at_worst"] > 0.99 and document["posterior"] is None


def test_a_line_of_a_ledger_says_how_a_yes_was_made_and_not_what_categories_are_called(here):
    session = Session(TABLE, relation="exchange", ledger="l")
    found = session.majority("v = 1", epsilon=1)
    assert interpret(session.releases()[0]).to_documents() == interpret(found).to_documents()
    session = Session(TABLE, ledger="k")
    session.plurality("party", categories=["=x", "y"], epsilon=1)
    with pytest.raises(BadInput, match=r"^release: does not say which categories there are; give the publication"):
        interpret(session.releases()[0])


def test_gaussian_answers_are_read_with_the_pairs_they_were_drawn_by(here):
    found = Session(TABLE, ledger="l").majority("v = 1", privacy=Gaussian(1), delta="1e-6", out="o.csv")
    told = interpret(found)
    (answer,) = told.answers
    assert told.to_documents() == interpret("o.csv").to_documents()
    assert 0.68 < answer.probability.lower < 0.70
    assert interpret(found, at_most=40).answers[0].probability.lower > answer.probability.lower
    found = Session(TABLE, ledger="k").band("3,12", "v = 1", privacy=Gaussian(1), delta="1e-6")
    assert interpret(found).answers[0].probability.lower == pytest.approx(answer.probability.lower, abs=1e-4)


@pytest.mark.parametrize(
    ("query", "words", "known", "said"),
    [
        ("majority", ("v = 1",), {"prior": [1]}, "prior: is about one count, and majority compares several"),
        ("majority", ("v = 1",), {"lead": 5, "at_most": 4}, "lead: leaves no table possible"),
        ("majority", ("v = 1",), {"lead": "2.5"}, "lead: must be a"),
        ("majority", ("v = 1",), {"loss": "squared"}, "loss: is about counts; a name is right or wrong"),
        ("majority", ("v = 1",), {"loss": [[0, 1], [1, 0]]}, "loss: is about counts; a name is right or wrong"),
        ("majority", ("v = 1",), {"loss": "nothing"}, "loss: "),
        ("majority", ("v = 1",), {"value": "maybe"}, "value: is no answer of this release; its answers are yes, no"),
        ("plurality", ("v",), {"side_information": [1]}, "side_information: is about one count, and plurality"),
        ("plurality", ("v",), {"at_least": 4, "at_most": 3}, "at_most: leaves no count possible"),
        ("plurality", ("v",), {"lead": 4, "at_most": 3}, "lead: leaves no table possible"),
        ("plurality", ("v",), {"lead": 3, "at_least": 3, "at_most": 4, "value": 7}, "value: is no answer"),
        ("at_least", (5, "v = 1"), {"lead": 1}, "lead: is about majorities and the largest of several"),
        ("at_least", (5, "v = 1"), {"at_most": -1}, "at_most: "),
        ("at_least", (5, "v = 1"), {"prior": ["1/2"]}, "prior: must be probabilities that sum to 1"),
        ("at_least", (5, "v = 1"), {"prior": [1], "at_most": 10**8}, "prior: ends at the count 0"),
        ("count", (), {"lead": 1}, "lead: is about majorities and the largest of several"),
    ],
)
def test_bad_input_is_one_line(query, words, known, said, here):
    options = {"categories": [0, 1]} if query == "plurality" else {}
    found = getattr(Session(TABLE, ledger="l"), query)(*words, epsilon=1, **options)
    with pytest.raises(BadInput) as caught:
        interpret(found, **known)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"relation": "friends"},
        {"query": []},
        {"query": {"query": "weather"}},
        {"query": {"query": "at-least", "threshold": "many"}},
        {"privacy": {}},
        {"privacy": {"gaussian": 1}},
        {"mechanism": {"kind": []}},
        {"mechanism": {"kind": "stepped"}},
        {"mechanism": {"kind": "stepped", "rankings": [[[], []], 1], "boundary": [[], []]}},
        {"mechanism": {"kind": "stepped", "rankings": [["yes", "no"], ["yes", "no"]], "boundary": [[1, 0], [0, 1]]}},
        {"mechanism": {"kind": "stepped", "rankings": [["yes", "no"], ["no", "yes"]], "boundary": [[1, 0], [1, 0]]}},
        {"mechanism": {"kind": "banded-noise", "thresholds": [1, 2]}},
        {"mechanism": {"kind": "banded-noise", "thresholds": [2, 1], "noise": {"kind": "shape-noise"}}},
        {"mechanism": {"kind": "banded-noise", "thresholds": 3, "noise": {"kind": "shape-noise"}}},
        {"mechanism": {"kind": "permute-and-flip", "categories": 2, "outputs": ["a", "a"]}},
        {"mechanism": {"kind": "permute-and-flip", "categories": 3, "outputs": ["a", "b"]}},
        {"mechanism": {"kind": "permute-and-flip", "categories": 2, "outputs": [["a"], None]}},
        {"mechanism": {"kind": "permute-and-flip", "categories": 1, "outputs": ["a"]}},
        {"mechanism": {"kind": "pull-from-the-top", "categories": 13, "outputs": list(range(13))}},
        {"mechanism": {"kind": "pull-from-the-top", "categories": 2, "outputs": "ab"}},
    ],
    ids=str,
)
def test_a_broken_sidecar_is_one_line(changes, here, capsys):
    Session(TABLE, ledger="l").majority("v = 1", epsilon=1, out="o.csv")
    path = here / "o.csv.release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    assert run(["interpret", str(path)]) == 2
    complaint = capsys.readouterr().err.strip()
    assert complaint.startswith("irisdp: ") and "\n" not in complaint


def test_too_many_tables_are_read_in_the_worst_of_them(here):
    found = Session(TABLE, ledger="l").plurality("v", categories=[0, 1, 2], epsilon=1)
    few, many = interpret(found, at_most=100), interpret(found, at_most=10**15)
    assert few.answers[0].judgement.basis == "uniform" and many.answers[0].judgement.basis == "worst"
    assert many.answers[0].probability.lower < few.answers[0].probability.lower
    assert few.answers[0].judgement.note is None and "note" not in few.to_documents()[0]
    assert irisdp.interpret(found, lead=10**17).answers[0].probability.lower > 0.999


def test_where_tables_are_too_many_to_weigh_it_is_said_from_where_on(here, capsys):
    Session(TABLE, ledger="l").plurality("party", categories=["=x", "y", "z", "w"], epsilon=1, out="w.csv")
    note = "too many tables to weigh above 234 records; the worst case is shown"
    for most, basis in ((234, "uniform"), (235, "worst"), (400, "worst")):
        assert run(["interpret", "w.csv", "--at-most", str(most)]) == 0
        assert (note in capsys.readouterr().out) == (basis == "worst")
        found = interpret("w.csv", at_most=most)
        assert found.answers[0].judgement.basis == basis
        assert (found.to_documents()[0].get("note") == note) == (note in repr(found)) == (basis == "worst")
    assert "note" not in interpret("w.csv").to_documents()[0]  # nothing was said that could be weighed


@pytest.mark.parametrize("categories", [2, 3, 5, 40])
def test_the_most_that_is_weighed_is_where_listing_ends(categories):
    most = most_weighed(categories)
    assert gap_classes(categories, most + 1, most + 1, 0) is None
    assert not _too_many_classes(categories, most)


def test_what_cannot_be_read_is_named_as_it_was_given(here, capsys):
    Session(TABLE, ledger="l").sum("v", lower=0, upper=1, epsilon=1, out="l.csv")
    for options in ([], ["--value", "1"]):
        (here / "l.csv.release.json").write_text((here / "l.csv.release.json").read_text().replace("noisy-sum", "odd"))
        assert run(["interpret", "l.csv", *options]) == 2
        assert capsys.readouterr().err.startswith("irisdp: l.csv: ")


def test_groups_that_are_one_number_are_not_called_what_python_calls_them(here):
    with pytest.raises(BadInput, match=r"^groups: cannot be read from a number; "):
        irisdp.plan(TABLE, "count", by="g", groups=1, epsilon=1)
