"""Totals, readings that fit together, and the interval that every row has."""

import json

import pyarrow as pa
import pytest

from irisdp import BadInput, Privacy, Session, design, interpret, publish
from irisdp._cli import run
from support.commands import answered

TABLE = pa.table({"v": [1] * 6 + [0] * 14, "g": ["a", "b", "c+", "a"] * 5, "h": [1, 2] * 10})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def counts(here):
    return Session(TABLE, ledger="l").count("v = 1", ratio=4, by="g", groups=["a", "b", "c+"], out="o.csv")


def column(found, name):
    return found.to_arrow().column(name).to_pylist()


@pytest.mark.parametrize("confidence", [None, "0.8"])
@pytest.mark.parametrize(("question", "options"), [
    ("count", {"ratio": 4, "by": "g", "groups": ["a", "b"]}),
    ("count", {"epsilon": 1, "delta": "1e-3", "by": "g", "groups": ["a", "b"]}),
    ("count", {"epsilon": 2, "delta": "1/4", "by": "g", "select_groups": True}),
    ("histogram", {"epsilon": 1, "bins": [0, 1, 2]}),
])  # fmt: skip
def test_ends_of_a_file_are_those_that_were_published(question, options, confidence, here):
    words = ("v",) if question == "histogram" else ()
    found = getattr(Session(TABLE, ledger="l"), question)(*words, **options, confidence=confidence, out="o.csv")
    for release in (found, "o.csv"):
        read = interpret(release, confidence=confidence)
        assert column(read, "low") == column(found, "answer_low")
        assert column(read, "high") == column(found, "answer_high")
        assert {row["basis"] for row in read.to_documents()} <= {"noise"}
        assert {row["confidence"] for row in read.to_documents()} <= {confidence or "0.95"}


def test_ends_that_were_clamped_are_too(here):
    session = Session(TABLE, relation="exchange", ledger="l")
    found = session.count("v = 1", ratio=4, by="g", groups=["a", "b"], public_membership=True)
    assert column(interpret(found), "low") == column(found, "answer_low")
    assert column(interpret(found), "high") == column(found, "answer_high")


def test_gaussian_counts_have_ends_within_what_is_known(here):
    found = Session(TABLE, ledger="l").count("v = 1", mu=1, delta="1e-6", by="g", groups=["a", "b"])
    read = interpret(found, at_most=50)
    assert column(read, "low") == column(found, "answer_low")
    assert column(read, "high") == [min(high, 50) for high in column(found, "answer_high")]
    answers = found.to_arrow().drop_columns("answer").append_column("answer", pa.array([20, 20]))
    far_from_0 = interpret(found, answers, total="all=*", consistent=True).rows
    *parts, total = (row.interval.high - row.interval.low for row in far_from_0)
    assert total < sum(parts)


def test_what_an_interval_rests_on_is_said(counts):
    row = interpret(counts, 3).to_documents()[0]
    assert (row["basis"], row["low"], row["high"]) == ("noise", 1, 5)
    row = interpret(counts, 3, prior=["1/4"] * 4).to_documents()[0]
    assert row["basis"] == "prior" and row["high"] == 3
    assert interpret(design.geometric(3, Privacy(ratio=4)), 0).to_documents()[0]["basis"] == "uniform"
    wide, narrow = (interpret(counts, 3, confidence=sure).answers[0].interval for sure in ("0.999", "0.5"))
    assert wide.low <= narrow.low and narrow.high < wide.high


def test_totals_are_rows_of_their_own(counts, capsys):
    published = column(counts, "answer")
    found = interpret(counts, total={"ab": "a + b", "all": "*", "last": "'c+'"})
    rows = found.to_arrow().to_pylist()
    assert [row["total"] for row in rows] == [None, None, None, "ab", "all", "last"]
    assert [row["published"] for row in rows[3:]] == [sum(published[:2]), sum(published), published[2]]
    assert rows[5]["low"] == rows[2]["low"] and rows[5]["high"] == rows[2]["high"]
    assert run(["interpret", "o.csv", "--total", "ab=a+b", "--total", "all=*", "--total", 'last="c+"', "--json"]) == 0
    shown = answered(capsys.readouterr().out)
    assert shown == {"readings": json.loads(json.dumps(found.to_documents())), "consistent": False}
    assert run(["interpret", "o.csv", "--total", "all=*"]) == 0
    assert "all" in capsys.readouterr().out
    assert "3 totals" in repr(found)
    assert interpret(counts, counts.to_arrow(), total="all=*").rows[-1].published == sum(published)


def test_consistent_readings_add_up_in_every_output(counts, capsys):
    for known in (0, 7, 1000):
        found = interpret(counts, total={"all": known, "ab": "a+b", "c": "'c+'"}, consistent=True)
        readings = [row.reading for row in found.rows]
        assert sum(readings[:3]) == known == readings[3] and readings[4] == sum(readings[:2])
        assert found.rows[3].interval.basis == "known"
        assert column(found, "reading") == readings == [row["reading"] for row in found.to_documents()]
        assert run(["interpret", "o.csv", "--consistent", "--total", f"all=*={known}", "--out", f"r{known}.json"]) == 0
        assert "add up" in capsys.readouterr().out
        with open(f"r{known}.json", encoding="utf-8") as file:
            assert [row["reading"] for row in json.load(file)["readings"]] == readings[:4]
    alone = interpret(counts, consistent=True, at_most=1)
    assert all(0 <= row.reading <= 1 and row.interval.high <= 1 for row in alone.rows)


def test_groups_by_several_columns_are_named_by_their_parts(here):
    found = Session(TABLE, ledger="l").count(ratio=4, by="g,h", groups=[("a", 1), ("a", 2), ("b", 2)])
    first, second, third = column(found, "answer")
    read = interpret(found, total={"a": "a, *", "two": "*,2", "one": "a,1"})
    assert [row.published for row in read.rows[3:]] == [first + second, second + third, first]
    with pytest.raises(BadInput, match=r"^total: names a cell 'a', and groups here have 2 parts"):
        interpret(found, total="x=a")


@pytest.mark.parametrize(("options", "said"), [
    ({"total": "all"}, "total: is 'all', which has no ="),
    ({"total": "x=d"}, "total: names 'd', which is no cell; its cells are a; b; c+"),
    ({"total": "x=a+a"}, "total: counts a cell of 'x' twice"),
    ({"total": "x=a+*"}, "total: counts a cell of 'x' twice"),
    ({"total": "x=a+"}, "total: lacks the name of a cell"),
    ({"total": "x='a"}, "total: has a quote in 'x' that is not closed"),
    ({"total": "=a"}, "total: must have a name"),
    ({"total": ["x=a", "x=b"]}, "total: gives one name to two totals"),
    ({"total": [3]}, "total: must name totals"),
    ({"total": {"x": 1.5}}, "total: must say as text"),
    ({"total": "x=*=1=2", "consistent": True}, "total: has more than one number"),
    ({"total": "x=*=many", "consistent": True}, "total: must be a whole number"),
    ({"total": "x=*=-1", "consistent": True}, "total: must be"),
    ({"total": "x=7"}, "total: says what x is known to be"),
    ({"total": ["x=a+b=3", "y=b+'c+'=3"], "consistent": True}, "total: has y and x, of which neither is a part"),
    ({"total": ["x=a=3", "y=*=2"], "consistent": True}, "total: says 2 of y, which contradicts x"),
    ({"total": "x=*=9", "consistent": True, "at_most": 2}, "total: says 9 of cells that sum to 0 to 6"),
    ({"total": "x=*", "value": 3}, "value: is one answer"),
    ({"total": "x=*", "prior": [1]}, "prior: is about one count, and total reads several together"),
    ({"consistent": True, "side_information": [1]}, "side_information: is about one count"),
    ({"consistent": True, "loss": "zero-one"}, "loss: must be absolute or squared"),
    ({"confidence": 1}, "confidence: must be above 0 and below 1"),
    ({"confidence": "much"}, "confidence: must be"),
])  # fmt: skip
def test_bad_input_is_one_line(options, said, counts):
    with pytest.raises(BadInput) as caught:
        interpret(counts, **options)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_what_cannot_be_added_up_is_refused_by_name(here, capsys):
    session = Session(TABLE, ledger="l")
    session.count(epsilon=2, delta="1/4", by="g", select_groups=True, out="named.csv")
    session.count(ratio=4, out="one.csv")
    session.at_least(3, "v = 1", epsilon=1, out="yes.csv")
    session.sizes("g", epsilon=1, out="sizes.csv")
    for file, said in (
        ("named.csv", "--consistent: is for declared groups: here counts named their own groups"),
        ("yes.csv", "--total: is for counts, and these answers are names"),
        ("sizes.csv", "--total: is for counts, and these answers are a list"),
        ("one.csv", "--total: is a sum of cells, and these answers are not by groups"),
    ):
        assert run(["interpret", file, "--total", "x=*", "--consistent"]) == 2
        assert capsys.readouterr().err.startswith(f"irisdp: {said}")
    with pytest.raises(BadInput, match=r"^release: is a mechanism"):
        interpret(design.geometric(3, Privacy(ratio=4)), pa.table({"answer": [1]}), consistent=True)


PEOPLE = pa.table({"p": [n // 3 for n in range(30)], "v": [1] * 30, "g": ["a", "b", None] * 10})
LEAVES_OUT = [
    (("count", "v = 1"), {"unit": "p", "at_most": 1}, "at most 1 record of each p"),
    (
        ("count", "v = 1"),
        {"unit": "p", "per_unit": "any", "by": "g", "groups": ["a", "b"]},
        "in the group of one record",
    ),
    (("histogram", "v"), {"bins": [0, 1]}, "records without v"),
    (("plurality", "g"), {"categories": ["a", "b"]}, "g is not declared"),
    (("majority", "v = 1"), {"unit": "p", "at_most": 1}, "at most 1 record of each p"),
    (("sizes", "g"), {"categories": ["a", "b"]}, "g is not declared"),
]


@pytest.mark.parametrize(("question", "options", "left_out"), LEAVES_OUT)
def test_what_a_release_leaves_out_is_said_beside_what_is_read_from_it(question, options, left_out, here, capsys):
    query, *words = question
    publish(PEOPLE, query, *words, **options, epsilon=1, ledger="l", out="o.csv")
    for more in ((), ("--value", "3"), ("--consistent",)):
        if run(["interpret", "o.csv", *more]) == 0:
            said = " ".join(capsys.readouterr().out.split())
            assert "the release " in said
            assert left_out in said.partition("the release ")[2]
            assert run(["interpret", "o.csv", *more, "--json"]) == 0
            assert left_out in "; ".join(json.loads(capsys.readouterr().out)["left_out"])
        elif not more:
            raise AssertionError(capsys.readouterr().err)
        capsys.readouterr()


def test_what_leaves_nothing_out_says_so_by_saying_nothing(counts, capsys):
    assert run(["interpret", "o.csv", "--json"]) == 0
    assert "left_out" not in json.loads(capsys.readouterr().out)
