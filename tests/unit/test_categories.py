"""Counts by category: each cell's records, whatever the table is, and nothing of what is not declared."""

import random

import numpy as np
import pyarrow as pa
import pytest

from irisdp import BadInput, publish
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.categories import count_categories, read_categories
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

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


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (["party"], {}, "categories: is missing"),
        ([], {"categories": "red,green"}, "query: plurality needs one column"),
        (["party", "town"], {"categories": "red,green"}, "query: plurality takes one column, and nothing else"),
        (["parti"], {"categories": "red,green"}, "query: names the column 'parti'"),
        (["party"], {"categories": "red"}, "categories: must be from 2 to 100, not 1"),
        (["party"], {"categories": "red,green,red"}, "categories: declares .*twice"),
        (["party"], {"categories": ["red", ""]}, "categories: has an empty value"),
        (["party"], {"categories": "parties.xlsx"}, "categories: names the file"),
        (["age"], {"categories": "1,x"}, "categories: has 'x' for age"),
        (
            ["party"],
            {"categories": "red,green", "bins": "1,2"},
            "bins: is not for plurality, but for histogram, median and quantile",
        ),
        (["party"], {"categories": "red,green", "mu": 1}, "privacy: is not for plurality"),
        (["party"], {"categories": "red,green", "audience": {"a": 1}}, "audience: is for counts"),
        (["party"], {"categories": "red,green", "per_unit": "any", "unit": "who"}, "per_unit: asks a condition"),
    ],
)
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
