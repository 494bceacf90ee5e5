"""median and quantile as they are asked: words, refusals, what is said before and after, and tables kept on disk."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, design
from irisdp.design import UNIT, _quantiles
from irisdp.design._table_cache import CACHE

PEOPLE = pa.table({"age": [3, 30, None, 70, 71, 40], "ward": ["a", "a", "b", "b", "a", None]})
BINS = "18,65"


def asked(*query, **options):
    return irisdp.publish(PEOPLE, *query, **({"bins": BINS, "epsilon": 100} | options))


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (("median", "age"), "18 to under 65"),
        (("median age",), "18 to under 65"),
        (("quantile", "0.2", "age"), "below 18"),
        (("quantile", 0.2, "age"), "below 18"),
        (("quantile 1/5 age",), "below 18"),
        (("quantile 1 age",), "65 and over"),
        (("quantile", "0.6", "AGE"), "18 to under 65"),
        (("quantile", "0.61", "age"), "65 and over"),
    ],
)
def test_the_bin_of_the_quantile_is_named_when_epsilon_is_large(query, answer, tmp_path):
    published = asked(*query, ledger=tmp_path / "x.ledger")
    (row,) = json.loads(published.answers.to_pandas().to_json(orient="records"))
    assert row["answer"] == answer


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_each_group_has_its_own(relation, tmp_path):
    options = {"by": "ward", "groups": "a,b,c", "relation": relation, "ledger": tmp_path / "x.ledger"}
    found = asked("median", "age", **options).answers.to_pandas()
    assert found["answer"].tolist() == ["18 to under 65", "65 and over", "below 18"]  # nobody: the first


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (("median",), {}, "query: median needs one column; "),
        (("median", "age", "ward"), {}, "query: median takes one column, and nothing else; "),
        (("quantile",), {}, "query: quantile needs a number P and a column; "),
        (("quantile age",), {}, "query: quantile needs a number P and a column; "),
        (("quantile", "age", "0.5"), {}, "quantile: "),
        (("quantile", 0, "age"), {}, "quantile: must be above 0 and at most 1; "),
        (("quantile", "1.5", "age"), {}, "quantile: must be above 0 and at most 1; "),
        (("quantile", "0.1234567", "age"), {}, "quantile: must be a fraction of whole numbers up to 1,000,000; "),
        (("median", "age"), {"bins": None}, "bins: is missing; "),
        (("median", "age"), {"bins": "3,2"}, "bins: must increase"),
        (("median", "age"), {"bins": list(range(100))}, "bins: make 101 bins, and at most 100 are possible; "),
        (("median", "ward"), {}, "bins: are edges of numbers or dates, and ward is text; "),
        (("median", "age"), {"categories": "a,b"}, "categories: is not for median, but for "),
        (("median", "age"), {"epsilon": None, "mu": 1, "delta": "1e-6"}, "privacy: is not for median, "),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(query, options, message, tmp_path):
    with pytest.raises(BadInput) as refused:
        asked(*query, **options, ledger=tmp_path / "x.ledger")
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_how_far_off_stands_in_the_plan_and_in_the_sidecar(tmp_path):
    planned = irisdp.plan(PEOPLE, "median", "age", bins=BINS, epsilon=1)
    error = planned.audiences[0].mechanism.expected_error()
    assert error["within_95_percent"] == 2
    assert 0 < error["records_off"] < 1
    out = tmp_path / "out.csv"
    asked("median", "age", epsilon=1, out=out, ledger=tmp_path / "x.ledger")
    sidecar = json.loads((tmp_path / "out.csv.release.json").read_text("utf-8"))
    assert sidecar["mechanism"]["records_off"] == error
    assert sidecar["mechanism"]["bins"] == sidecar["bins"] == ["below 18", "18 to under 65", "65 and over"]


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("epsilon", [42, 600, 999])
def test_no_epsilon_is_beyond_floats(epsilon, relation):
    """Chances are whole numbers of 2^-60, and a wrong one is a few of them, or the hair that rounding needs."""
    made = design.quantile(4, Privacy(epsilon=epsilon), relation=relation)
    row = made.row([5, 1, 1, 0])
    assert sum(row) == 1 and row[0] > 1 - Fraction(1, 10**6)
    assert made.error.within_95_percent == 0


@pytest.mark.parametrize("bins", [65, 100])
def test_many_bins_and_a_large_epsilon_have_weights_by_score(bins):
    """With so many, offsets are not told apart in 64 bits: that ended in an error."""
    assert design.quantile(bins, Privacy(epsilon=14)).rule.startswith("weights by score")


def test_bins_are_part_of_the_question(tmp_path):
    ledger = irisdp.Ledger(tmp_path / "x.ledger")
    for bins, spent in (("18,65", 1), ("18.0,65", 1), ([18, 65], 1), ("18,66", 2)):
        asked("median", "age", bins=bins, epsilon=1, ledger=ledger)
        assert ledger.spent.epsilon == spent


def test_a_session_and_a_batch_ask_them(tmp_path):
    session = irisdp.Session(PEOPLE, ledger=tmp_path / "x.ledger")
    assert len(session.median("age", bins=BINS, epsilon=1).answers.to_pandas()) == 1
    assert len(session.quantile(0.9, "age", bins=BINS, epsilon=1).answers.to_pandas()) == 1
    plan = {
        "budget": {"epsilon": 1},
        "questions": [{"query": "median age", "bins": [18, 65]}, {"query": "quantile 0.9 age", "bins": BINS}],
    }
    assert len(irisdp.batch(plan, data=PEOPLE, ledger=tmp_path / "y.ledger").publications) == 2


def test_a_kept_table_is_read_and_one_that_is_not_private_is_found_anew(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path))
    privacy = Privacy(epsilon="0.77")
    _quantiles._form.cache_clear()
    first = design.quantile(3, privacy).row([1, 2, 4])
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(_quantiles, "pulled", None)  # not to be called
    _quantiles._form.cache_clear()
    assert design.quantile(3, privacy).row([1, 2, 4]) == first
    monkeypatch.undo()
    monkeypatch.setenv(CACHE, str(tmp_path))
    with np.load(file) as kept:
        sure = np.ones_like(kept["weights"])
        sure[:, 0] = UNIT - 2
        sure[0, :2] = 1, UNIT - 2
    np.savez(file, weights=sure, rule=np.array("pull"))
    _quantiles._form.cache_clear()
    assert design.quantile(3, privacy).row([1, 2, 4]) == first


def planted(rows, bins):
    """Private tables, since all rows are alike or almost: that answers are any good is another matter."""
    even = np.full((rows, bins), UNIT // bins, np.int64)
    even[:, 0] += UNIT - even.sum(axis=1)
    last = np.ones((rows, bins), np.int64)
    last[:, -1] = UNIT - bins + 1
    return {"even": even, "the last bin": last, "mostly the first": np.roll((even + last) // 2, 1, axis=1)}


@pytest.mark.parametrize("table", ["even", "the last bin", "mostly the first"])
@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_of_a_planted_table_no_accuracy_is_stated_that_it_has_not(table, relation, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path))
    privacy = Privacy(epsilon="0.79")
    _quantiles._form.cache_clear()
    design.quantile(3, privacy, relation=relation)
    (file,) = tmp_path.iterdir()
    with np.load(file) as kept:
        weights = planted(len(kept["weights"]), 3)[table]
    weights[:, 0] += UNIT - weights.sum(axis=1)
    np.savez(file, weights=weights, rule=np.array("pull"), within_95_percent=np.array(1))
    _quantiles._form.cache_clear()
    made = design.quantile(3, privacy, relation=relation)
    assert made.row([1500, 0, 0])[2] > Fraction(1, 20), "control: the table is used, and 1,500 records off"
    assert (made.error.within_95_percent, made.error.margin_for_99_percent) == (None, None)
    planned = irisdp.plan(PEOPLE, "median", "age", bins=BINS, epsilon="0.79", relation=relation)
    said = planned.describe_error()[0]
    assert ("no distance" in said, "at most" in said) == (True, False)
    _quantiles._form.cache_clear()


@pytest.mark.parametrize(("epsilon", "bins"), [("1e-8", 2), ("1e-8", 100), ("1e-6", 2), ("1e-3", 7)])
def test_weights_by_score_state_a_distance_only_where_answers_keep_it(epsilon, bins):
    """With least ε weights hardly fall, and no distance that they tell apart is kept."""
    made = design.quantile(bins, Privacy(epsilon=epsilon), share="1/2")
    for far in (1, 1000, 10**6, 10**9):
        chances = made.row([far * 2, *[0] * (bins - 1)])
        wrong = 1 - chances[0]
        within = made.error.within_95_percent
        assert within is None or within >= far or wrong <= Fraction(1, 20)
    if epsilon == "1e-8":
        assert within is None
