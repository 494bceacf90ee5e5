"""Groups of several columns as one list of values for each column: all combinations of them."""

import itertools
import json

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, plan
from irisdp._cli import run

TABLE = pa.table({"ward": ["north", "east", "north, old"], "sex": ["f", "m", "f"], "age": [1, 2, 3]})
PAIRS = [("north", "f"), ("north", "m"), ("east", "f"), ("east", "m")]


def asked(by, groups):
    return plan(TABLE, "count", by=by, groups=groups, epsilon=1)


@pytest.mark.parametrize("groups", [
    ["ward=north,east", "sex=f,m"],
    ["sex=m,f", "WARD = east,north"],
    ("ward=north", "sex=f,m", "ward=east"),
])  # fmt: skip
def test_lists_for_columns_are_all_combinations(groups):
    assert asked("ward,sex", groups).question() == asked("ward,sex", PAIRS).question()


def test_values_are_those_of_lists_of_text():
    planned = asked("ward, ten = FLOOR(age / 10)", ['ward="north, old",east', "ten=0,1"])
    assert sorted(planned.groups.labels) == sorted(itertools.product(["north, old", "east"], ["0", "1"]))
    assert planned.question() == asked("ward, ten = FLOOR(age / 10)", [
        ("north, old", 0), ("north, old", 1), ("east", 0), ("east", 1)]).question()  # fmt: skip


def test_one_column_has_values_with_a_sign_as_before():
    assert asked("ward", ["ward=north", "east"]).groups.names == ("ward=north", "east")[::-1]


@pytest.mark.parametrize(("groups", "rule"), [
    (["ward=north,east", "town=f,m"], "lists values of 'town', which is no group column"),
    (["ward=north,east", "ward=west"], "lists no values of sex"),
    (["ward=north,north", "sex=f,m"], "lists a value of ward twice"),
    (["ward=north", "sex="], "declares no group"),
    (["ward=north", "sex=f,,m"], "empty value for sex"),
    ([f"{name}={','.join(map(str, range(1001)))}" for name in ("ward", "sex")], "more than 1,000,000 groups"),
    (["ward=north,east", "f"], "needs 2 values in each group"),
    ("ward=north,east", "lists values, but there are several group columns"),
])  # fmt: skip
def test_what_is_no_product_is_refused(groups, rule):
    with pytest.raises(BadInput, match=rule) as refused:
        asked("ward,sex", groups)
    assert refused.value.field == "groups"


def test_the_command_line_and_plans_take_the_same_lists(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("ward,sex\nnorth,f\neast,m\n")
    groups = ["--groups", "ward=north,east", "--groups", "sex=f,m"]
    assert run(["publish", "people.csv", "count", "--by", "ward,sex", *groups, "--epsilon", "40", "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [(row["ward"], row["sex"], row["answer"]) for row in answers] == [
        (*pair, int(pair in [("north", "f"), ("east", "m")])) for pair in PAIRS
    ]
    question = {"query": "count", "by": "ward,sex", "groups": ["ward=north,east", "sex=f,m"]}
    found = irisdp.batch({"data": "people.csv", "budget": {"epsilon": 40}, "questions": [question]})
    assert found.publications[0].answers.keys == PAIRS
