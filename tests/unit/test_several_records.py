"""Several records of each person: even-handed, the same for every question, equal ones one by one, and what is said."""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, plan
from irisdp._cli import run
from irisdp._measurements import HasAuxiliaryOutput, SpreadNoise, StaircaseNoise
from irisdp._queries import ContributionBounds, PrivacyUnit, read_groups
from irisdp._queries.privacy_units import columns_read, records_statement
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

PEOPLE = 2000
KEYS = [bytes([number]) * 32 for number in range(2)]
VISITS = ["a", "b", "b", "c", None]
"""What each person's records hold, two of them alike."""
GROUPS = ("a", "b", "c")


def visits(people, wards=VISITS):
    return open_table(
        pa.table(
            {
                "who": np.repeat(np.arange(people), len(wards)),
                "ward": wards * people,
                "age": [40, 60, 60, 80, 20][: len(wards)] * people,
            }
        )
    )


@pytest.fixture(scope="module")
def table():
    return visits(PEOPLE)


def count(table, records, expression=None, *, key=KEYS[0], by="ward", groups=None):
    grouped = by is not None
    limit = ContributionBounds(records, min(records, groups or records) if grouped else 1, grouped)
    return count_records(
        table,
        condition=None if expression is None else read_condition(expression, table.columns),
        groups=read_groups(table, by, list(GROUPS)) if grouped else None,
        unit=PrivacyUnit("who", key, contribution=limit),
    )


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("records", [2, 3, 4])
def test_every_record_stays_equally_often(table, records, key):
    """Of five records each stays with chance M/5, within 6 standard errors of a sample without replacement."""
    totals = count(table, records, key=key).total
    means = PEOPLE * records / 5 * np.array([1, 2, 1])
    assert np.all(np.abs(totals - means) < 6 * np.sqrt(PEOPLE * np.array([1, 2, 1]) * records / 5 * (1 - records / 5)))
    assert count(table, records, key=key, by=None).total.sum() == PEOPLE * records


def test_every_pair_of_records_stays_equally_often():
    """Of six records, two of them equal, of each of many people: 15 pairs of copies, all as likely."""
    people, held = 3000, ["a", "b", "c", "d", "e", "e"]
    table = open_table(pa.table({"who": np.repeat(np.arange(people), len(held)), "x": held * people}))
    keys = [table.column(name, "by") for name in ("who", "x")]
    unit = PrivacyUnit("who", KEYS[0], contribution=ContributionBounds(2, 2, True))
    statement = f"{records_statement(table, None, keys, unit)} SELECT k0, k1 FROM records"
    kept = defaultdict(list)
    for person, letter in zip(
        *table.run(statement, columns_read(table, None, keys, unit)).to_pydict().values(), strict=True
    ):
        kept[person].append(letter)
    seen = Counter("".join(sorted(pair)) for pair in kept.values())
    assert sum(seen.values()) == people
    expected = {"ee": 1} | {one + "e": 2 for one in "abcd"} | {a + b: 1 for a in "abcd" for b in "abcd" if a < b}
    for pair, weight in expected.items():
        mean = people * weight / 15
        assert abs(seen[pair] - mean) < 5 * np.sqrt(mean), pair


def test_whoever_has_fewer_records_keeps_all(table):
    for records in (5, 6, 10**6):
        assert count(table, records).total.tolist() == [PEOPLE, 2 * PEOPLE, PEOPLE]


def test_the_same_records_stay_for_every_question(table):
    by_ward = count(table, 2).total.tolist()
    for text in ("age > 50", "who IS NULL", "age / 0 = 1"):
        assert count(table, 2, text).total.tolist() == by_ward
    assert [count(table, 2, f"ward = '{ward}'", by=None).yes[0] for ward in GROUPS] == by_ward
    yes, no = (count(table, 2, text, by=None) for text in ("age > 50", "age <= 50"))
    assert yes.yes[0] + no.yes[0] == 2 * PEOPLE
    assert yes.yes.tolist() == no.no.tolist()


def test_more_records_of_each_only_add_to_those_that_stay():
    one = visits(1)
    for number in range(8):
        kept = [count(one, records, key=bytes([number]) * 32).total for records in range(2, 6)]
        assert all((fewer <= more).all() for fewer, more in pairwise(kept))


def test_the_order_of_records_and_other_people_change_nothing():
    rows = [(person, group, x) for person in range(20) for group in "abc" for x in (0, 1, 1)]
    results = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        mixed = [rows[place] for place in order] + [(100 + seed, "z", 1)] * seed
        who, ward, x = zip(*mixed, strict=True)
        found = count(open_table(pa.table({"who": who, "ward": ward, "x": x})), 4, "x = 1", groups=2)
        results.add((tuple(found.total), tuple(found.yes), tuple(found.no)))
    assert len(results) == 1


@pytest.mark.parametrize("groups", [1, 2])
def test_nobody_is_in_more_groups_than_allowed(groups):
    one = visits(1, ["a", "b", "b", "c"])
    for number in range(12):
        key = bytes([number]) * 32
        all_kept, kept = count(one, 3, key=key).total, count(one, 3, key=key, groups=groups).total
        assert np.count_nonzero(kept) == min(groups, np.count_nonzero(all_kept))
        # Whole groups are left out, and of those that stay nothing is.
        assert ((kept == all_kept) | (kept == 0)).all()


def test_a_record_without_a_person_belongs_to_nobody():
    table = open_table(pa.table({"who": pa.array([None, None, 1], pa.int64()), "ward": ["a", "a", "b"]}))
    assert count(table, 2).total.tolist() == [0, 1, 0]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("pid,ward,age\n" + "".join(f"{n},{'abb'[k]},{30 + 20 * k}\n" for n in range(40) for k in range(3)))
    return path


def test_several_records_are_counted_told_and_charged_once(file, capsys):
    ledger = file.with_name("book.ledger")
    command = [
        "publish",
        str(file),
        "count",
        "--unit",
        "PID",
        "--at-most",
        "2",
        "--epsilon",
        "40",
        "--ledger",
        str(ledger),
    ]
    out = file.with_name("out.csv")
    assert run([*command, "--dry-run"]) == 0
    assert "staircase noise, as one pid moves one answer by at most 2" in capsys.readouterr().out
    assert run([*command, "--out", str(out)]) == 0
    assert out.read_text().split() == ["answer,answer_low,answer_high", "80,80,80"]
    assert "counts at most 2 records of each pid" in capsys.readouterr().out
    sidecar = json.loads(out.with_name("out.csv.release.json").read_text())
    assert sidecar["at_most"] == 2
    assert sidecar["mechanism"] == {"kind": "staircase-noise", "sensitivity": 2, "step": 1}
    assert sidecar["cost"] == {"epsilon": "40", "delta": "0"}
    assert irisdp.Ledger(ledger).spent.epsilon == 40
    # One record each is another question; all keep one promise.
    assert run([part for part in command if part not in ("--at-most", "2")]) == 0
    assert "cost      ε = 40" in capsys.readouterr().out


def test_groups_are_compared_in_the_plan(file):
    options = {"unit": "pid", "by": "ward", "groups": "a,b,c", "epsilon": 1}
    spread, one = (plan(file, "count", **options, at_most=4, groups_per_unit=groups) for groups in (2, 1))
    assert "geometric noise at ε/4, as one pid can change the answers" in spread.describe_error()[0]
    assert "(staircase noise at ε/2 for each answer would be off by" in spread.describe_error()[0]
    assert "staircase noise, as one pid moves one answer" in one.describe_error()[0]
    assert spread.asked.unit_rule.endswith("of these, those in the first 2 groups")
    assert one.question() != spread.question()
    assert spread.cost.epsilon == one.cost.epsilon == 1


def test_no_number_of_records_is_taken_as_public(file):
    planned = plan(file, "count", unit="pid", at_most=3, epsilon=1, relation="exchange")
    assert planned.public is None
    published = irisdp.publish(file, "count", unit="pid", at_most=3, epsilon="1/100", relation="exchange")
    assert not {"lower", "upper"} & published.sidecars[None]["mechanism"].keys()


def test_one_record_asked_for_is_the_question_as_it_was(file):
    asked = {"unit": "pid", "epsilon": 1}
    assert plan(file, "count", **asked, at_most=1).question() == plan(file, "count", **asked).question()


TWO = '{"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}'
ENDED = '{"all": [{"epsilon": 1, "delta": "1e-6"}, {"epsilon": "1/2", "delta": "1e-3"}]}'
WRONG = [
    (("count",), {"at_most": 2}, r"^at_most: is about people who have several records; say whose they are with unit=$"),
    (("count",), {"at_most": 0, "unit": "pid"}, r"^at_most: must be at least 1"),
    (("count",), {"at_most": 10**7, "unit": "pid"}, r"^at_most: must be at least 1 and at most 1000000;"),
    (("count", "age > 1"), {"at_most": 2, "unit": "pid", "per_unit": "any"}, r"^at_most: keeps several records, and"),
    (("count",), {"groups_per_unit": 2, "unit": "pid"}, r"^groups_per_unit: is about people who keep several records"),
    (("count",), {"at_most": 2, "groups_per_unit": 2, "unit": "pid"}, r"^groups_per_unit: is about groups, and there"),
    (("majority", "age > 1"), {"at_most": 2, "unit": "pid"}, r"^at_most: is not for majority, but for count"),
    (("sizes", "ward"), {"at_most": 2, "unit": "pid"}, r"^at_most: is not for sizes"),
    (
        ("count",),
        {"at_most": 2, "unit": "pid", "by": "ward", "select_groups": True, "epsilon": None, "privacy": ENDED},
        r"^at_most: is above 1, and several pairs",
    ),
    (
        ("count",),
        {"at_most": 2, "unit": "pid", "epsilon": None, "privacy": TWO},
        r"^at_most: is above 1, and several pairs",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "options", "message"), WRONG)
def test_what_makes_no_sense_is_refused_in_one_line(file, asked, options, message):
    with pytest.raises(BadInput, match=message):
        plan(file, *asked, **{"epsilon": 1, **options})


def test_a_batch_takes_several_records_of_each(file):
    questions = [{"query": "count", "at_most": 2}, {"query": "count", "expression": "age > 40", "at_most": 3}]
    planned = irisdp.plan_batch({"budget": {"epsilon": 1}, "unit": "pid", "questions": questions}, data=file)
    assert [each.contribution.records for each in planned.plans] == [2, 3]
    assert planned.cost.epsilon == 1
    errors = [each.audiences[0].mechanism.expected_error()["mean_absolute"] for each in planned.plans]
    assert errors[0] < errors[1]


@pytest.mark.parametrize("noise", [StaircaseNoise, SpreadNoise])
def test_nothing_of_such_noise_passes_for_what_the_sidecar_tells(noise):
    """A field called as that method is was called, when the ledger was charged already."""
    assert not isinstance(noise(Privacy(epsilon=1), 2), HasAuxiliaryOutput)


def test_people_are_counted_and_not_rows(file):
    asked = {"unit": "pid", "epsilon": 40}
    assert irisdp.publish(file, "count-distinct", "pid", **asked).answers.values == [40]
    found = irisdp.publish(file, "count-distinct", "pid", "age > 60", **asked, at_most=3)
    assert found.answers.values == [40]
    by_ward = {**asked, "at_most": 3, "by": "ward", "groups": "a,b,c"}
    assert irisdp.publish(file, "count-distinct", "pid", **by_ward).answers.values == [40, 40, 0]
    one = irisdp.publish(file, "count-distinct", "pid", **by_ward, groups_per_unit=1).answers.values
    assert sum(one) == 40
    assert irisdp.publish(file, "count-distinct", "ward", **asked, at_most=3).answers.values == [2]


def test_a_name_of_several_words_is_one_column():
    table = pa.table({"home town": ["a", "b"], "rate (in %)": [1, 2], "age": [1, 2]})
    for asked, expression in (
        (("home town",), None),
        (("rate (in %)",), None),
        (("home town", "age > 1"), "age > 1"),
        (("age age > 1",), "age > 1"),
    ):
        found = plan(table, "count-distinct", *asked, epsilon=1).query
        assert (found.about, found.expression) == (asked[0] if expression is None or asked[1:] else "age", expression)


def test_people_cost_no_more_for_more_records(file):
    asked = {"unit": "PID", "epsilon": 1}
    plans = [plan(file, "count-distinct", "pid", **asked, at_most=records) for records in (1, 100)]
    assert plans[0].describe_error() == plans[1].describe_error() == plan(file, "count", **asked).describe_error()
    other = plan(file, "count-distinct", "ward", **asked, at_most=100)
    assert other.describe_error() == plan(file, "count", **asked, at_most=100).describe_error()


def test_no_more_answers_are_paid_for_than_there_are_groups(file):
    asked = {"unit": "pid", "epsilon": 1, "at_most": 50, "by": "ward"}
    one, two = (plan(file, "count-distinct", "pid", **asked, groups=groups) for groups in ("a", "a,b"))
    assert one.describe_error() == plan(file, "count", unit="pid", epsilon=1).describe_error()
    assert "geometric noise at ε/2" in two.describe_error()[0]


@pytest.mark.parametrize(("asked", "message"), [
    (("count-distinct",), r"^query: count-distinct needs one column"),
    (("count-distinct", "pid", "age > 1", "age > 2"), r"^query: count-distinct needs one column"),
    (("count-distinct", "pdi"), r"^query: names the column 'pdi'"),
    (("count-distinct", "pid", ""), r"^expression: must be a SQL condition"),
])  # fmt: skip
def test_one_column_is_needed(file, asked, message):
    with pytest.raises(BadInput, match=message):
        plan(file, *asked, epsilon=1)


def test_a_reader_is_told_what_can_be_read(file, tmp_path):
    options = {"unit": "pid", "at_most": 2, "ledger": tmp_path / "book.ledger"}
    with pytest.raises(BadInput, match=r"counts of several records of each person.*answer_low and answer_high"):
        irisdp.interpret(irisdp.publish(file, "count", **options, epsilon=1), loss="absolute", at_most=90)
    published = irisdp.publish(file, "count", **options, mu=4, delta="1e-6")
    alone = irisdp.publish(file, "count", **{**options, "at_most": 1}, mu=2, delta="1e-6")
    said = [repr(irisdp.interpret(one, loss="absolute", at_least=70, at_most=90)) for one in (published, alone)]
    # Noise of deviation 2/4 is that of one record at mu = 2.
    assert said[0] == said[1]


@pytest.mark.parametrize(("words", "said"), [
    (("count", "--at-most", "x"), "--at-most: must be"),
    (("count", "--at-most", "2.5"), "--at-most: must be a whole number; write 2 or 3"),
    (("count", "--at-most", "2", "--groups-per-unit", "1.5"), "--groups-per-unit: must be a whole number"),
    (
        ("sum", "age", "--lower", "0", "--upper", "1000000000", "--step", "1", "--at-most", "9"),
        "or a smaller --at-most",
    ),
    (("sum", "age", "--lower", "100", "--upper", "0", "--step", "1"), "--lower: must be below --upper;"),
    (("sum",), 'sum "income", with --lower and --upper'),
    (("count", "--within", "0"), "give 1, or leave --epsilon out"),
])  # fmt: skip
def test_a_shell_is_answered_in_its_own_words(words, said, file, capsys):
    assert run(["publish", str(file), *words, "--unit", "pid", "--epsilon", "1", "--dry-run"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
