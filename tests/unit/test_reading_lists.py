"""What is read from lists: ends of sizes and of categories' counts, which hold as often as they say."""

import json
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from irisdp import BadInput, interpret, publish
from irisdp._measurements import SizesShape, sizes_between
from irisdp.interpretation import Estimates
from irisdp.interpretation._estimates import count_between, estimated

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
RATES = [(HALF, QUARTER), (Fraction(3, 5), Fraction(1, 10))]


def falling(longest, largest):
    every = product(range(largest + 1), repeat=longest)
    return [sizes for sizes in every if all(a >= b for a, b in pairwise(sizes))]


@pytest.mark.parametrize(("head", "below"), [(1, 0), (2, 0), (1, 2), (2, 2), (1, 3), (2, 1)])
def test_sizes_are_within_their_ends_wherever_noise_is(head, below):
    shape = SizesShape(head=head, below=below)
    for sizes in falling(4, 4):
        told = shape.tell(np.array(sizes))
        for within in (1, 2):
            for noise in product((-within, 0, within), repeat=head + below):
                for records in (None, sum(sizes)):
                    shown = shape.fit((told + np.array(noise)).tolist(), records)
                    ends = sizes_between(shown, head=head, within=within, records=records)
                    truths = [*sizes, *[0] * len(shown)]
                    assert all(low <= x <= high for x, (low, high) in zip(truths, ends, strict=False))


def test_ends_that_forget_how_far_numbers_are_off_would_be_seen():
    shape = SizesShape(head=2)
    shown = shape.fit([7, 2])
    assert sizes_between(shown, head=2, within=1) == [(6, 8), (1, 3)]
    assert not all(low <= 4 <= high for low, high in sizes_between(shown, head=2, within=1))


@pytest.mark.parametrize(("truth", "lie"), RATES)
@pytest.mark.parametrize("records", [1, 4, 9, 16])
def test_counts_of_categories_hold_as_often_as_they_say(records, truth, lie):
    ends = [count_between(answers, records, truth, lie) for answers in range(records + 1)]
    for inside in range(records + 1):
        right = stats.binom.pmf(np.arange(inside + 1), inside, float(truth))
        wrong = stats.binom.pmf(np.arange(records - inside + 1), records - inside, float(lie))
        law = np.convolve(right, wrong)
        assert sum(p for p, (low, high) in zip(law, ends, strict=True) if low <= inside <= high) >= 0.95
        mean = sum(p * float(estimated(o, records, truth, lie)) for o, p in enumerate(law))
        assert mean == pytest.approx(inside, abs=1e-9)


def test_ends_of_many_records_are_those_of_exact_tails():
    low, high = count_between(300, 1000, HALF, QUARTER)

    def tail(inside, at_least):
        right = np.arange(inside + 1)
        beyond = stats.binom.sf(at_least - right - 1, 1000 - inside, 0.25)
        return float(stats.binom.pmf(right, inside, 0.5) @ beyond)

    assert tail(low, 300) > 0.025 >= tail(low - 1, 300)
    assert 1 - tail(high, 301) > 0.025 >= 1 - tail(high + 1, 301)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table():
    return pa.table({"v": ["x"] * 500 + ["y"] * 200 + ["z"] * 3 + [None] * 7, "g": ["a", "b"] * 355})


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_published_sizes_are_read(folder, ending):
    found = publish(table(), "sizes", "v", by="g", groups=["a", "b"], epsilon=20, ledger="b.ledger", out=f"s.{ending}")
    for release in (found, folder / f"s.{ending}.release.json", folder / f"s.{ending}"):
        read = interpret(release)
        assert isinstance(read, Estimates)
        assert read.columns == ("g", "rank", "published", "low", "high")
        assert [row[1:3] for row in read.rows][:2] == [(1, 250), (2, 100)]
        assert all(low <= size <= high for *_, size, low, high in read.rows)
    assert read.to_arrow().num_rows == len(read.rows)
    assert read.to_documents()[0]["rank"] == 1


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_published_columns_are_read(folder, ending):
    options = {"categories": ["x", "y"], "relation": "exchange", "epsilon": 40, "ledger": "b.ledger"}
    found = publish(table(), "column", "v", **options, out=f"c.{ending}")
    assert found.answers.values == ["x"] * 500 + ["y"] * 200 + ["other"] * 10
    assert found.answers.columns == ("record", "answer", "answer_probability")
    for release in (found, folder / f"c.{ending}.release.json"):
        read = interpret(release)
        assert isinstance(read, Estimates)
        assert read.columns == ("category", "published", "estimate", "low", "high")
        assert [(row[0], row[1], round(row[2])) for row in read.rows] == [
            ("x", 500, 500),
            ("y", 200, 200),
            ("other", 10, 10),
        ]
        assert all(low <= count <= high for (_, _, _, low, high), count in zip(read.rows, (500, 200, 10), strict=True))
    json.dumps(read.to_documents())
    assert "95 %" in repr(read)


def test_numbers_and_other_are_of_one_kind(folder):
    data = pa.table({"v": [1, 2, 3, None]})
    found = publish(data, "column", "v", categories=[1, 2], relation="exchange", epsilon=60, ledger="b.ledger")
    assert found.answers.values == ["1", "2", "other", "other"]


def test_a_declared_category_called_other_holds_the_rest(folder):
    data = pa.table({"v": ["x", "other", "z", None]})
    options = {"categories": ["other", "x"], "relation": "exchange", "epsilon": 60, "ledger": "b.ledger"}
    found = publish(data, "column", "v", **options)
    assert found.answers.values == ["x", "other", "other", "other"]
    assert found.plan.audiences[0].mechanism.categories == 2


@pytest.mark.parametrize("what", [{"value": 3}, {"at_least": 1}, {"at_most": 1}, {"prior": [1]}])
def test_lists_are_not_read_as_counts(folder, what):
    found = publish(table(), "sizes", 2, "v", epsilon=1, ledger="b.ledger")
    with pytest.raises(BadInput) as refused:
        interpret(found, **what)
    assert refused.value.field == next(iter(what))


def test_a_repeated_question_gives_the_same_list(folder):
    first = publish(table(), "sizes", "v", epsilon=1, ledger="b.ledger")
    second = publish(table(), "sizes", "v", epsilon=1, ledger="b.ledger")
    assert second.repeated
    assert second.answers.values == first.answers.values


@pytest.mark.parametrize("epsilon", [30, 36, 37, 40, 200, 700, 800])
def test_columns_are_read_however_improbable_a_lie_is(folder, epsilon):
    data = pa.table({"v": ["x", "x", "y", None]})
    options = {"categories": ["x", "y"], "relation": "exchange", "epsilon": epsilon, "ledger": "b.ledger"}
    rows = interpret(publish(data, "column", "v", **options)).rows
    assert [(row[0], *row[-2:]) for row in rows] == [("x", 2, 2), ("y", 1, 1), ("other", 1, 1)]


def test_sizes_that_the_number_of_records_forbids_are_refused(folder):
    """A release that says of three records that the largest category has 40 was read as "from 36 to 3"."""
    out = folder / "sizes.csv"
    publish(pa.table({"g": ["a"] * 40 + ["b"] * 9}), "sizes", 2, "g", epsilon=1, out=out, ledger=folder / "l")
    beside = folder / "sizes.csv.release.json"
    document = json.loads(beside.read_text())
    document["mechanism"]["records"] = 3
    beside.write_text(json.dumps(document))
    with pytest.raises(BadInput, match="sizes that so few records cannot have"):
        interpret(beside)
