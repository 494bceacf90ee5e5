"""What `top K COLUMN` and `ranking COLUMN` are asked with, refuse, and write down."""

import json

import pyarrow as pa
import pytest

from irisdp import BadInput, plan, publish

RECORDS = pa.table({"g": ["a", "a", "b", "b"], "v": ["x", "y", "x, z", None]})
NAMES = ["x", "y", "x, z"]


@pytest.fixture
def asked(tmp_path):
    def ask(*words, **options):
        return publish(RECORDS, *words, **{"categories": NAMES, "epsilon": 2, "ledger": tmp_path / "l", **options})

    return ask


@pytest.mark.parametrize("words", [("top 2 v",), ("top", 2, "v"), ("top", "2", "v"), ("ranking v",), ("ranking", "v")])
def test_answers_name_declared_categories(asked, words):
    answer = asked(*words).answers.values[0]
    between = " > " if "ranking" in words[0] else ", "
    parts = answer.replace('"x, z"', "Q").split(between)
    assert len(parts) == len(set(parts)) == (3 if "ranking" in words[0] else 2)
    assert set(parts) <= {"x", "y", "Q"}


def test_the_order_of_declared_categories_is_no_part_of_the_question(asked):
    first = asked("ranking", "v", by="g", groups=["a", "b"])
    again = asked("ranking", "v", by="g", groups=["a", "b"], categories=NAMES[::-1])
    assert (first.repeated, again.repeated) == (False, True)
    assert again.answers.values == first.answers.values


@pytest.mark.parametrize(
    ("categories", "mechanism"),
    [
        (NAMES, {"kind": "order-table", "categories": 3, "named": 2, "largest_steps": [5, 5], "found_by": "pull"}),
        ([*NAMES, *"abc"], {"kind": "noisy-counts-sorted", "categories": 6, "named": 2}),
    ],
)
def test_the_sidecar_says_which_mechanism_answered(asked, categories, mechanism, tmp_path):
    found = asked("top", 2, "v", categories=categories, out=tmp_path / "o.csv")
    sidecar = json.loads((tmp_path / "o.csv.release.json").read_text(encoding="utf-8"))
    assert sidecar["mechanism"] == {**mechanism, "names": sorted(categories)}
    assert sidecar["query"] == {"query": "top", "k": "2", "column": "v"}
    assert found.answers.values[0] in (tmp_path / "o.csv").read_text(encoding="utf-8").replace('""', '"')


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("top", 3, "v"), {}, "K: must be fewer than the 3 categories, not 3; ask for fewer, or for their ranking"),
        (("top", 0, "v"), {}, "K: must be at least 1"),
        (("top",), {}, "query: top needs a number K and a column"),
        (("top", 2), {}, "query: top needs a number K and a column"),
        (("top", 2, "v", "g"), {}, "query: top 2 takes one column, and nothing else"),
        (("ranking",), {}, "query: ranking needs one column"),
        (("ranking", "v"), {"categories": None}, "categories: is missing"),
        (("ranking", "v"), {"categories": ["x"]}, "categories: must be from 2 to 100, not 1"),
        (("ranking", "v"), {"bins": "1,2"}, "bins: "),
        (("top", 2, "v"), {"epsilon": None, "mu": 1}, "privacy: is not for top"),
        (("top", 2, "w"), {}, "query: "),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_spent(asked, words, options, message, tmp_path):
    with pytest.raises(BadInput) as refused:
        asked(*words, **options)
    assert str(refused.value).startswith(message)
    assert not (tmp_path / "l").exists()


def test_a_plan_says_how_far_apart_categories_must_be():
    shown = plan(RECORDS, "top", 2, "v", categories=NAMES, epsilon=1, relation="exchange")
    error = shown.audiences[0].mechanism.expected_error()
    assert error["apart_for_95_percent"] <= error["apart_for_99_percent"] == 9
    assert error["wrong_far_apart"] <= 1e-4 < error["wrong_at_worst"] < 0.5
    assert "right in 99 % where the last category named and the first that is not are 9 records apart" in str(shown)


@pytest.mark.parametrize("query", [("top", 2, "v"), ("ranking", "v")])
def test_no_epsilon_is_beyond_floats(query, tmp_path):
    planned = plan(pa.table({"v": ["a"]}), *query, categories="a,b,c", epsilon=999)
    assert planned.describe_error()[0].startswith("right in 99 %")
