"""median and quantile as they are asked: words, refusals, what is said before and after, and tables kept on disk."""

import json
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, design, plan, publish
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.categories import count_categories, read_categories
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from irisdp.design import UNIT, _quantiles
from irisdp.design._table_cache import CACHE

PEOPLE = pa.table({"age": [3, 30, None, 70, 71, 40], "ward": ["a", "a", "b", "b", "a", None]})
BINS = "18,65"


def asked(*query, **options):
    return irisdp.publish(PEOPLE, *query, **({"bins": BINS, "epsilon": 100} | options))


@pytest.mark.parametrize(("query", "answer"), [
    (("median", "age"), "18 to under 65"),
    (("median age",), "18 to under 65"),
    (("quantile", "0.2", "age"), "below 18"),
    (("quantile", 0.2, "age"), "below 18"),
    (("quantile 1/5 age",), "below 18"),
    (("quantile 1 age",), "65 and over"),
    (("quantile", "0.6", "AGE"), "18 to under 65"),
    (("quantile", "0.61", "age"), "65 and over"),
])  # fmt: skip
def test_the_bin_of_the_quantile_is_named_when_epsilon_is_large(query, answer, tmp_path):
    published = asked(*query, ledger=tmp_path / "x.ledger")
    (row,) = json.loads(published.answers.to_pandas().to_json(orient="records"))
    assert row["answer"] == answer


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_each_group_has_its_own(relation, tmp_path):
    options = {"by": "ward", "groups": "a,b,c", "relation": relation, "ledger": tmp_path / "x.ledger"}
    found = asked("median", "age", **options).answers.to_pandas()
    assert found["answer"].tolist() == ["18 to under 65", "65 and over", "below 18"]  # nobody: the first


@pytest.mark.parametrize(("query", "options", "message"), [
    (("median",), {}, "query: median needs one column"),
    (("median", "age", "ward > 1", "age > 1"), {}, "query: median needs one column, and after it at most a condition"),
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
])  # fmt: skip
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


# Counts by category: each cell's records, whatever the table is, and nothing of what is not declared.

PARTIES = ["red", "green", "blue", "a,b", 'quo"ted', "", None, "other", "Red"]
DECLARED = ["green", "red", "a,b", 'quo"ted']


def people(number, wide):
    generator = random.Random(number)
    return pa.table(
        {
            "who": pa.array([generator.choice([1, 2, 3, 4, 5, None]) for _ in range(200)], pa.int64()),
            "ward": pa.array([generator.choice([1, 2, 3, 10**9 if wide else 4, None]) for _ in range(200)], pa.int64()),
            "town": pa.array([generator.choice(["x", "y", "z", None]) for _ in range(200)], pa.string()),
            "age": pa.array([generator.choice([10, 50, None]) for _ in range(200)], pa.int64()),
            "party": pa.array([generator.choice(PARTIES) for _ in range(200)], pa.string()),
        }
    )


def plainly(table, groups, condition=lambda row: True):
    rows = [row for row in table.to_pylist() if condition(row)]
    names = sorted(DECLARED)
    return [[sum(row["party"] == name and cell(row) for row in rows) for name in names] for cell in groups]


CELLS = {
    "all": (None, None, [lambda row: True]),
    "in a box": ("ward", [1, 2, 3], [lambda row, ward=ward: row["ward"] == ward for ward in (1, 2, 3)]),
    "far apart": ("ward", [1, 10**9], [lambda row, ward=ward: row["ward"] == ward for ward in (1, 10**9)]),
    "of text": ("town", ["x", "z"], [lambda row, town=town: row["town"] == town for town in "xz"]),
    "of two columns": (
        ["ward", "town"],
        [(1, "y"), (2, "x")],
        [lambda row, key=key: (row["ward"], row["town"]) == key for key in ((1, "y"), (2, "x"))],
    ),
}


@pytest.mark.parametrize("where", [None, "age > 20"])
@pytest.mark.parametrize("cells", CELLS)
def test_counts_are_those_of_plain_python(cells, where):
    by, declared, groups = CELLS[cells]
    data = people(7, cells == "far apart")
    table = open_table(data)
    categories = read_categories(table, "party", DECLARED, "plurality")
    condition = read_condition(where, table.columns) if where else None
    keys = read_groups(table, by, declared).by_key() if by else None
    found = count_categories(table, categories, condition=condition, groups=keys)
    assert [label for (label,) in categories.labels] == sorted(DECLARED)
    expected = plainly(data, groups, (lambda row: (row["age"] or 0) > 20) if where else lambda row: True)
    assert found.counts.tolist() == expected
    assert sum(map(sum, expected)) > 5


@pytest.mark.parametrize("cells", ["all", "of text"])
def test_a_person_counts_once(cells):
    by, declared, _ = CELLS[cells]
    table = open_table(people(8, False))
    categories = read_categories(table, "party", DECLARED, "plurality")
    keys = read_groups(table, by, declared).by_key() if by else None
    found = count_categories(table, categories, groups=keys, unit=PrivacyUnit("who", bytes(32)))
    assert 1 <= found.counts.sum() <= 5


def test_a_file_is_read_alike(tmp_path):
    data = people(9, False)
    rows = ["who,ward,town,age,party"]
    for row in data.to_pylist():
        party = "" if row["party"] is None else '"' + row["party"].replace('"', '""') + '"'
        rows.append(",".join(["" if row[name] is None else str(row[name]) for name in data.column_names[:4]] + [party]))
    path = tmp_path / "people.csv"
    path.write_text("\n".join(rows) + "\n")
    for source in (data, path):
        table = open_table(source)
        found = count_categories(table, read_categories(table, "party", DECLARED, "plurality"))
        assert found.counts.tolist() == plainly(data, [lambda row: True])


def test_no_cell_has_no_counts():
    table = open_table(people(1, False))
    categories = read_categories(table, "party", DECLARED, "plurality")

    class Nobody:
        columns = (table.column("town", "by"),)

        def __len__(self):
            return 0

    assert count_categories(table, categories, groups=Nobody()).counts.shape == (0, 4)


@pytest.mark.parametrize(("arguments", "options", "said"), [
    (["party"], {}, "categories: is missing"),
    ([], {"categories": "red,green"}, "query: plurality needs one column"),
    (["party", "town"], {"categories": "red,green"}, "expression: only names the column town"),
    (["parti"], {"categories": "red,green"}, "query: names the column 'parti'"),
    (["party"], {"categories": "red"}, "categories: must be from 2 to 100, not 1"),
    (["party"], {"categories": "red,green,red"}, "categories: declares .*twice"),
    (["party"], {"categories": ["red", ""]}, "categories: has an empty value"),
    (["party"], {"categories": "parties.xlsx"}, "categories: names the file"),
    (["age"], {"categories": "1,x"}, "categories: has 'x' for age"),
    (
        ["party"],
        {"categories": "red,green", "bins": "1,2"},
        "bins: is not for plurality, but for histogram, median, quantile and quantiles",
    ),
    (["party"], {"categories": "red,green", "mu": 1}, "privacy: is not for plurality"),
    (["party"], {"categories": "red,green", "per_unit": "any", "unit": "who"}, "per_unit: asks a condition"),
])  # fmt: skip
def test_bad_input(arguments, options, said, tmp_path):
    ledger = tmp_path / "l.ledger"
    options = {"epsilon": 1, **options} if not {"mu", "audience"} & options.keys() else options
    with pytest.raises(BadInput, match=f"^{said}"):
        publish(people(1, False), "plurality", *arguments, **options, ledger=ledger)
    assert not ledger.exists()


def test_the_data_are_not_their_own_categories():
    data = people(1, False)
    with pytest.raises(BadInput, match=r"^categories: is the data itself"):
        publish(data, "plurality", "party", categories=data, epsilon=1, ledger="l.ledger")


def test_order_and_spelling_of_categories_are_no_part_of_the_question(tmp_path):
    data, ledger = people(2, False), tmp_path / "l.ledger"
    first = publish(data, "plurality", "ward", categories=[1, 2, 3], epsilon=1, ledger=ledger)
    again = publish(data, "plurality", "WARD", categories="3, 01,2", epsilon=1, ledger=ledger)
    assert again.repeated
    assert again.cost.epsilon == 0
    assert int(again.answers.values[0]) == first.answers.values[0]
    assert type(first.answers.values[0]) is int
    other = publish(data, "plurality", "ward", categories=[1, 2], epsilon=1, ledger=ledger)
    assert not other.repeated


def test_no_output_is_the_file_of_categories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.csv").write_text("party\nred\ngreen\n")
    data = people(3, False)
    with pytest.raises(BadInput, match=r"^out: .*c.csv is the categories"):
        publish(data, "plurality", "party", categories="c.csv", epsilon=1, ledger="l.ledger", out="c.csv", force=True)
    with pytest.raises(BadInput, match=r"^ledger: .*c.csv is the categories"):
        publish(data, "plurality", "party", categories="c.csv", epsilon=1, ledger="c.csv")
    assert publish(data, "plurality", "party", categories="c.csv", epsilon=1, ledger="l.ledger").answers.values[0] in {
        "red",
        "green",
    }


def test_counts_show_nothing():
    table = open_table(people(1, False))
    found = count_categories(table, read_categories(table, "party", DECLARED, "plurality"))
    assert not any(character.isdigit() for character in repr(found))
    assert isinstance(found.counts, np.ndarray)


# What `top K COLUMN` and `ranking COLUMN` are asked with, refuse, and write down.

RECORDS = pa.table({"g": ["a", "a", "b", "b"], "v": ["x", "y", "x, z", None]})
NAMES = ["x", "y", "x, z"]


@pytest.fixture
def asked_of_orders(tmp_path):
    def ask(*words, **options):
        return publish(RECORDS, *words, **{"categories": NAMES, "epsilon": 2, "ledger": tmp_path / "l", **options})

    return ask


@pytest.mark.parametrize("words", [("top 2 v",), ("top", 2, "v"), ("top", "2", "v"), ("ranking v",), ("ranking", "v")])
def test_answers_name_declared_categories(asked_of_orders, words):
    answer = asked_of_orders(*words).answers.values[0]
    between = " > " if "ranking" in words[0] else ", "
    parts = answer.replace('"x, z"', "Q").split(between)
    assert len(parts) == len(set(parts)) == (3 if "ranking" in words[0] else 2)
    assert set(parts) <= {"x", "y", "Q"}


def test_the_order_of_declared_categories_is_no_part_of_the_question(asked_of_orders):
    first = asked_of_orders("ranking", "v", by="g", groups=["a", "b"])
    again = asked_of_orders("ranking", "v", by="g", groups=["a", "b"], categories=NAMES[::-1])
    assert (first.repeated, again.repeated) == (False, True)
    assert again.answers.values == first.answers.values


@pytest.mark.parametrize(("categories", "mechanism"), [
    (NAMES, {"kind": "order-table", "categories": 3, "named": 2, "largest_steps": [5, 5], "found_by": "pull"}),
    ([*NAMES, *"abc"], {"kind": "noisy-counts-sorted", "categories": 6, "named": 2}),
])  # fmt: skip
def test_the_sidecar_says_which_mechanism_answered(asked_of_orders, categories, mechanism, tmp_path):
    found = asked_of_orders("top", 2, "v", categories=categories, out=tmp_path / "o.csv")
    sidecar = json.loads((tmp_path / "o.csv.release.json").read_text(encoding="utf-8"))
    assert sidecar["mechanism"] == {**mechanism, "names": sorted(categories)}
    assert sidecar["query"] == {"query": "top", "k": "2", "column": "v"}
    assert found.answers.values[0] in (tmp_path / "o.csv").read_text(encoding="utf-8").replace('""', '"')


@pytest.mark.parametrize(("words", "options", "message"), [
    (("top", 3, "v"), {}, "K: must be fewer than the 3 categories, not 3; ask for fewer, or for their ranking"),
    (("top", 0, "v"), {}, "K: must be at least 1"),
    (("top",), {}, "query: top needs a number K and a column"),
    (("top", 2), {}, "query: top needs a number K and a column"),
    (("top", 2, "v", "g > 1", "v > 1"), {}, "query: top 2 needs one column, and after it at most a condition"),
    (("ranking",), {}, "query: ranking needs one column"),
    (("ranking", "v"), {"categories": None}, "categories: is missing"),
    (("ranking", "v"), {"categories": ["x"]}, "categories: must be from 2 to 100, not 1"),
    (("ranking", "v"), {"bins": "1,2"}, "bins: "),
    (("top", 2, "v"), {"epsilon": None, "mu": 1}, "privacy: is not for top"),
    (("top", 2, "w"), {}, "query: "),
])  # fmt: skip
def test_what_makes_no_sense_is_refused_and_nothing_spent(asked_of_orders, words, options, message, tmp_path):
    with pytest.raises(BadInput) as refused:
        asked_of_orders(*words, **options)
    assert str(refused.value).startswith(message)
    assert not (tmp_path / "l").exists()


def test_a_plan_says_how_far_apart_categories_must_be():
    shown = plan(RECORDS, "top", 2, "v", categories=NAMES, epsilon=1, relation="exchange")
    error = shown.audiences[0].mechanism.expected_error()
    assert error["apart_for_95_percent"] <= error["apart_for_99_percent"] == 9
    assert error["wrong_far_apart"] <= 1e-4 < error["wrong_at_worst"] < 0.5
    assert "right in 99 % where the last category named and the first that is not are 9 records apart" in str(shown)


@pytest.mark.parametrize("query", [("top", 2, "v"), ("ranking", "v")])
def test_no_epsilon_is_beyond_floats_of_orders(query, tmp_path):
    planned = plan(pa.table({"v": ["a"]}), *query, categories="a,b,c", epsilon=999)
    assert planned.describe_error()[0].startswith("right in 99 %")


@pytest.mark.parametrize(("query", "within"), [(("median", "age"), 3), (("quantile", "0.9", "age"), 8)])
def test_the_least_epsilon_is_found_with_which_a_bin_is_near_its_rank(query, within):
    """By the rows of all small tables, and of large ones: the named bin is so near as often as asked."""
    planned = irisdp.plan(PEOPLE, *query, bins=BINS, within=within)
    assert f"at most {within} records from the quantile's rank with probability 95 %" in str(planned)
    design_of = planned.audiences[0].mechanism.design
    generator = np.random.default_rng(1)
    for counts in [*np.ndindex(4, 4, 4), *generator.integers(0, 40, (60, 3)).tolist()]:
        sums = np.cumsum(counts)
        rank = -(-design_of.share * int(sums[-1]) // 1)
        row = design_of.row([int(count) for count in counts])
        near = 0
        for place, chance in enumerate(row):
            before = int(sums[place - 1]) if place else 0
            off = rank - int(sums[place]) if place < 2 and sums[place] < rank else 0
            off = before - rank + 1 if place and before >= rank else off
            near += chance if off <= within else 0
        assert near >= Fraction(19, 20)
    epsilon = planned.audiences[0].mechanism.privacy.epsilon
    assert epsilon < irisdp.plan(PEOPLE, *query, bins=BINS, within=within - 1).audiences[0].mechanism.privacy.epsilon
