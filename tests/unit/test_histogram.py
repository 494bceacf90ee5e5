"""A histogram is the count by its groups and the bin: the same question, cells and noise, answers in order."""

import json

import pyarrow as pa
import pytest

from irisdp import BadInput, Session, batch, interpret, plan, publish
from irisdp._cli import run
from irisdp._queries import read_groups
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

AGES = [5, 17, 18, 40, 64, 65, 99, None, -1, 18]
TABLE = pa.table(
    {"age": AGES, "ward": [*"ababababa", None], "party": ["x", "y", "x", None, "z", "x", "y", "y", "x", "w"]}
)
BINS = ["below 0", "0 to under 18", "18 to under 65", "65 and over"]
SURE = {"epsilon": 40}  # noise is drawn with probability below 1e-16 a cell


def counted(options, *words):
    planned = plan(TABLE, *words, **{"epsilon": 1, **options})
    counts = read_statistics(planned, b"k" * 32).nodes.values
    return dict(zip(planned.groups.labels, counts.tolist(), strict=True))


def test_every_bin_is_counted_in_order(tmp_path):
    found = publish(TABLE, "histogram", "age", bins="0,18,65", ledger=tmp_path / "l.ledger", **SURE)
    assert found.answers.to_documents() == [
        {"age_bin": name, "answer": count, "answer_low": count, "answer_high": count}
        for name, count in zip(BINS, [1, 2, 4, 2], strict=True)
    ]


def test_every_group_has_every_bin_in_order(tmp_path):
    asked = {"by": "ward", "groups": ["b", "a"], "bins": [0, 18, 65]}
    found = publish(TABLE, "histogram", "age", **asked, **SURE, ledger=tmp_path / "l.ledger")
    assert found.answers.keys == [(ward, name) for ward in "ba" for name in BINS]
    assert found.answers.values == [0, 1, 1, 1, 1, 1, 2, 1]


def test_categories_are_counted_as_declared():
    assert counted({"categories": "z,x"}, "histogram", "party") == {("x",): 4, ("z",): 1}
    by = {"categories": ["x", "nobody"], "by": "ward", "groups": "a,b"}
    labels = {("a", "x"): 3, ("b", "x"): 1, ("a", "nobody"): 0, ("b", "nobody"): 0}
    assert counted(by, "histogram", "party") == labels


def test_a_histogram_by_expressions():
    by = {"by": "old = age >= 65, ward", "groups": [(True, "a"), (True, "b")], "bins": "70"}
    cells = counted(by, "histogram", "age")
    assert cells == {(True, ward, name): int((ward, name) in (("b", "below 70"), ("a", "70 and over")))
                     for ward in "ab" for name in ("below 70", "70 and over")}  # fmt: skip


SAME = [
    ({"bins": "0,18,65"}, {"by": "age_bin = BINS(age, 0, 18, 65)", "groups": BINS[::-1]}),
    ({"categories": "x,y"}, {"by": "party", "groups": "y,x"}),
    (
        {"bins": "18", "by": "ward", "groups": "b,a"},
        {"by": "ward, age_bin = bins(age, 18.0)",
         "groups": [(ward, name) for name in ("18 and over", "below 18") for ward in "ab"]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("histogram", "count"), SAME)
@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 1},
        {"mu": 1, "delta": "1e-6"},
        {"epsilon": 1, "relation": "exchange"},
        {"epsilon": 1, "unit": "ward", "at_most": 1},
        {"audience": {"board": 2, "press": 1}},
    ],
    ids=str,
)
def test_a_histogram_is_the_count_by_its_bins(histogram, count, options):
    about = "party" if "categories" in histogram else "age"
    asked = plan(TABLE, "histogram", about, **histogram, **options)
    same = plan(TABLE, "count", **count, **options)
    assert asked.question() == same.question()
    assert (asked.chain, asked.cost, asked.line) == (same.chain, same.cost, same.line)


def test_a_histogram_is_refined_and_given_again(tmp_path):
    kept = {"bins": "0,18,65", "ledger": tmp_path / "l.ledger"}
    first = publish(TABLE, "histogram", "age", epsilon=1, **kept)
    again = publish(TABLE, "histogram", "AGE", epsilon=1, **{**kept, "bins": [0, 18.0, "65"]})
    assert (again.repeated, again.answers.values) == (True, first.answers.values)
    finer = publish(TABLE, "histogram", "age", epsilon=3, **kept)
    assert str(finer.cost.epsilon) == "2"


def test_a_histogram_goes_the_ways_that_counts_go(tmp_path, capsys):
    file, out = tmp_path / "t.csv", tmp_path / "o.csv"
    file.write_text("age\n" + "\n".join("" if age is None else str(age) for age in AGES) + "\n")
    assert (
        run(["publish", str(file), "histogram", "age", "--bins", "0,18,65", "--epsilon", "40", "--out", str(out)]) == 0
    )
    head, *rows = out.read_text().splitlines()
    assert head == "age_bin,answer,answer_low,answer_high"
    assert [row.split(",")[:2] for row in rows] == [[*pair] for pair in zip(BINS, "1242", strict=True)]
    sidecar = json.loads((tmp_path / "o.csv.release.json").read_text())
    assert sidecar["derived"] == {"age_bin": "BINS(age, 0, 18, 65)"}
    assert interpret(out.with_suffix(".csv.release.json")).to_pandas()["age_bin"].tolist() == BINS
    capsys.readouterr()
    assert run(["publish", str(file), "histogram", "age", "--bins", "5", "--epsilon", "1", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by"] == ["age_bin"]
    session = Session(file, ledger=tmp_path / "s.ledger")
    assert session.histogram("age", bins="18", **SURE).answers.values == [3, 6]
    asked = {"data": str(file), "budget": {"epsilon": 50}, "questions": [{"query": "histogram age", "bins": "18"}]}
    found = batch(asked, ledger=tmp_path / "b.ledger")
    assert found.publications[0].answers.values == [3, 6]


REFUSED = [
    ({}, "bins", "missing for histogram"),
    ({"bins": "0", "categories": "x,y"}, "bins", "categories="),
    ({"bins": "0", "by": "ward", "select_groups": True, "delta": "1/10"}, "select_groups", "histogram"),
    ({"bins": "0", "by": "ward"}, "groups", "declared or privately selected"),
    ({"bins": "0", "groups": "a"}, "by", "missing"),
    ({"bins": "0", "relation": "exchange", "public_membership": True}, "public_membership", "may change its bin"),
    ({"categories": "5,6", "by": "age", "groups": "5"}, "by", "which the histogram is of"),
    ({"bins": "0", "unit": "ward", "per_unit": "any"}, "per_unit", "asks a condition"),
    ({"bins": "5,1"}, "bins", "must increase"),
]


@pytest.mark.parametrize(("options", "field", "rule"), REFUSED)
def test_what_is_no_histogram_is_refused(options, field, rule):
    with pytest.raises(BadInput, match=rule) as refused:
        plan(TABLE, "histogram", "age", epsilon=1, **options)
    assert refused.value.field == field


@pytest.mark.parametrize("words", [[], ["age", "ward"], ["rank"], [5]])
def test_what_names_no_column_is_refused(words):
    with pytest.raises(BadInput, match=r"^query: "):
        plan(TABLE, "histogram", *words, bins="0", epsilon=1)


def test_other_questions_take_no_bins():
    with pytest.raises(BadInput, match=r"^bins: is not for count"):
        plan(TABLE, "count", bins="0", epsilon=1)


def test_parted_groups_are_those_declared_together():
    table = open_table(TABLE)
    groups = read_groups(table, ["ward", "age"], [("b", 5), ("a", 7), ("a", 5)]).by_key()
    parts = read_groups(table, "party", ["y", "x"]).by_key()
    together = read_groups(
        table, ["ward", "age", "party"], [(*pair, party) for pair in (("b", 5), ("a", 7), ("a", 5)) for party in "yx"]
    ).by_key()
    found = groups.parted(parts)
    assert (found.labels, found.shown.tolist()) == (together.labels, together.shown.tolist())
    assert found.digest == together.digest
    assert found.arrow().equals(together.arrow())


@pytest.mark.parametrize("option", ["lower", "upper", "step", "missing", "weight", "weight_upper"])
def test_options_of_sums_are_refused(option):
    """They would be ignored without a word."""
    table = pa.table({"age": [1, 30]})
    with pytest.raises(BadInput, match=f"^{option}: is not for histogram, but for sum"):
        plan(table, "histogram", "age", bins="18,65", epsilon=1, **{option: "age" if option == "weight" else 1})
