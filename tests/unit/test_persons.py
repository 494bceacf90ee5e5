"""Rows of persons: what they hold, what is refused, and what a plan says of them."""

import json

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Session, plan
from irisdp._cli import run
from irisdp._tables.table import open_table
from support.persons import NAMES, PERSON, expected, log
from support.seeds import fresh_random
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")


def rows_of(table, person=PERSON, names=NAMES):
    rows = table.per_person(f"who_ = MAX(who), {person}", "who")
    listed = ", ".join(f'data."{name}" AS "{name}"' for name in ("who_", *names))
    found = rows.run(f"SELECT {listed} FROM data", []).to_pylist()
    return {row.pop("who_"): row for row in found}


def arrow(records):
    who, paid, pieces, kind = zip(*records, strict=True)
    return pa.table(
        {
            "who": pa.array(who, pa.int64()),
            "paid": pa.array(paid, pa.float64(), from_pandas=False),
            "pieces": pa.array(pieces, pa.int64()),
            "kind": pa.array(kind, pa.string()),
        }
    )


def test_every_row_holds_what_python_says():
    records = log(tried(3_000, 10**6), tried(300, 10**5))
    assert rows_of(open_table(arrow(records))) == expected(records)


def test_rows_do_not_depend_on_the_order_of_records():
    records = log(2_000, 40, "orders")
    first = rows_of(open_table(arrow(records)))
    for turn in range(5):
        fresh_random(f"order {turn}").shuffle(records)
        assert rows_of(open_table(arrow(records))) == first


def test_sums_of_decimals_are_the_doubles_that_people_write():
    table = pa.table({"who": [1, 1, 1], "paid": [0.1, 0.2, 0.3]})
    assert rows_of(open_table(table), "s = SUM(paid)", ["s"]) == {1: {"s": 0.6}}


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    lines = [f"{person},{n},{ward}" for person in range(20) for n, ward in ((person, "A"), (2, "B"))]
    path.write_text("who,paid,ward\n" + "\n".join(lines) + "\n,5,A\n")
    return path


def test_every_query_counts_persons(visits, tmp_path):
    session = Session(visits, unit="who", ledger=tmp_path / "l.ledger")
    person = {"person": "n = COUNT(*), s = SUM(paid), ward1 = MIN(CAST(ward AS TEXT))", "epsilon": 60}
    assert session.count(**person).to_pandas().answer[0] == 20
    assert session.count("s >= 10", **person).to_pandas().answer[0] == 12
    assert session.sum("s", lower=0, upper=100, step=1, **person).to_pandas().answer[0] == 190 + 40
    assert session.median("s", bins=[5, 11, 15], **person).to_pandas().answer[0] == "11 to under 15"
    assert session.plurality("n", categories=[1, 2, 3], **person).to_pandas().answer[0] == 2
    total = session.sum("paid", per_person_upper=10, step=1, epsilon=60).to_pandas()
    assert total.answer[0] == sum(min(10, n + 2) for n in range(20))
    clipped = session.sum("paid", lower=1, upper=4, per_person_upper=5, step=1, epsilon=60).to_pandas()
    assert clipped.answer[0] == sum(min(5, min(max(n, 1), 4) + 2) for n in range(20))


def test_the_same_rows_are_the_same_question(visits, tmp_path):
    options = {"unit": "who", "epsilon": 1, "ledger": tmp_path / "l.ledger"}
    first = irisdp.publish(visits, "count", "n > 1", person="n=count( * ), s = SUM(paid)", **options)
    again = irisdp.publish(visits, "count", "n > 1", person='"n" = COUNT(*)', **options)
    assert again.repeated and not first.repeated
    assert not irisdp.publish(visits, "count", "n > 1", person="n = COUNT(paid)", **options).repeated


def test_a_plan_says_how_rows_are_derived(visits):
    planned = plan(visits, "count", "n > 1 AND s < 5", unit="who", person="n = COUNT(*), s = SUM(paid)", epsilon=1)
    assert planned.line == "count n > 1 AND s < 5 per who (n = COUNT(*), s = SUM(paid))"
    assert planned.describe_cost() == "ε = 1, δ = 0 for adding or removing one who"
    said = "\n".join(text for _, text in planned.describe())
    assert "each who counts once; records without a value of who are left out" in said
    assert "values of paid are rounded to millionths" in said
    assert planned.leaves_out() == ["leaves out records without who"]


REFUSED = [
    ({"person": "n = COUNT(*)"}, "unit"),
    ({"unit": "who", "person": ""}, "must list 1 to 100 named aggregates"),
    ({"unit": "who", "person": "COUNT(*)"}, "which has no name"),
    ({"unit": "who", "person": "n = paid"}, "which is no aggregate"),
    ({"unit": "who", "person": "n = MEDIAN(paid)"}, "the function MEDIAN"),
    ({"unit": "who", "person": "n = COUNT(*) + 1"}, "after an aggregate"),
    ({"unit": "who", "person": "n = SUM(nothing)"}, "names the column 'nothing'"),
    ({"unit": "who", "person": "n = MAX(ward)"}, "nothing says whether that holds"),
    ({"unit": "who", "person": "n = COUNT(*), N = COUNT(*)"}, "two columns 'N'"),
    ({"unit": "who", "person": "paid = SUM(paid)"}, "the name of the column 'paid'"),
    ({"unit": "who", "person": "n = COUNT((SELECT 1))"}, "SELECT"),
    ({"unit": "who", "person": "n = SUM(ward = 'A')"}, "n"),
    ({"unit": "who", "person": "n = COUNT(*", "at_most": None}, "which is no aggregate"),
    ({"unit": "who", "person": "n = COUNT(*)", "at_most": 2}, "chooses among the records"),
    ({"unit": "who", "person": "n = COUNT(*)", "per_unit": "any"}, "chooses among the records"),
    ({"unit": "who", "per_person_upper": 5}, "is not for count, but for sum"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_is_no_row_is_refused(visits, options, said):
    with pytest.raises(BadInput) as refused:
        plan(visits, "count", epsilon=1, **options)
    assert said in str(refused.value)


def test_a_total_is_refused_beside_groups_and_what_bounds_values(visits):
    for more in ({"by": "ward", "groups": "A"}, {"missing": 0}, {"lower": 0}, {"person": "n = COUNT(*)"}):
        with pytest.raises(BadInput):
            plan(visits, "sum", "paid", unit="who", per_person_upper=5, step=1, epsilon=1, **more)


def test_plans_batches_and_the_command_line_take_rows(visits, tmp_path, capsys):
    run(["publish", str(visits), "count", "n >= 2", "--unit", "who", "--person", "n = COUNT(*)", "--epsilon", "60"])
    assert "20" in capsys.readouterr().out
    batch = {
        "data": str(visits),
        "unit": "who",
        "budget": {"epsilon": 60},
        "questions": [
            {"query": "count", "expression": "n >= 2", "person": "n = COUNT(*)"},
            {"query": "sum paid", "per_person_upper": 10, "step": 1},
        ],
    }
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(batch))
    assert run(["batch", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "20" in json.dumps(found)


def test_the_name_of_a_total_is_free(visits):
    table = pa.table({"who": [1, 1], "paid": [1, 2], "Paid_per_person": [0, 0]})
    planned = plan(table, "sum", "paid", unit="who", per_person_upper=5, epsilon=1)
    assert planned.line.startswith("sum paid_per_person_ from 0 to 5")


@pytest.mark.parametrize("name", ["paid", "WHO", "ward"])
def test_an_expression_of_rows_takes_no_name_of_the_table(visits, name):
    person = {"unit": "who", "person": "a = SUM(paid)", "epsilon": 1}
    with pytest.raises(BadInput, match="gives an expression the name of the column"):
        plan(visits, "count", by=f"{name} = FLOOR(a)", groups=[1], **person)
    with pytest.raises(BadInput, match="gives an expression the name of the column"):
        plan(visits, "sum", f"{name} = a * 2", lower=0, upper=9, step=1, **person)


def test_bins_of_rows_are_named_apart_from_the_table():
    table = pa.table({"who": [1, 2], "x": [1, 2], "a_bin": ["t", "u"]})
    options = {"unit": "who", "person": "a = SUM(x)", "bins": [1], "epsilon": 1}
    assert "a_bin_" in str(plan(table, "histogram", "a", **options).by)
