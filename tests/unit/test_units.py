"""One record per person: even-handed, the same for every question, known to the reader; any and all of a person's."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, plan
from irisdp._cli import run
from irisdp._ledger.fingerprints import unit_key
from irisdp._queries import PerUnitRule, PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

pytestmark = pytest.mark.usefixtures("one_engine")

PEOPLE = 3000
KEYS = [bytes([number]) * 32 for number in range(4)]
VISITS = ["a", "b", "b", "c", None]
"""What each person's records hold, two of them alike."""


@pytest.fixture(scope="module")
def table():
    people = np.repeat(np.arange(PEOPLE), len(VISITS))
    return open_table(pa.table({"who": people, "ward": VISITS * PEOPLE, "age": [40, 60, 60, 80, 20] * PEOPLE}))


def count(table, expression=None, *, key, by=None, per_unit=None, groups=("a", "b", "c")):
    return count_records(
        table,
        condition=None if expression is None else read_condition(expression, table.columns),
        groups=None if by is None else read_groups(table, by, list(groups)),
        unit=PrivacyUnit("who", key, per_unit),
    )


@pytest.mark.parametrize("key", KEYS)
def test_every_record_stays_equally_often(table, key):
    """Shares 1/5, 2/5, 1/5 and, in no ward, 1/5, within 6 standard errors; the keys are fixed."""
    totals = count(table, key=key, by="ward").total
    shares = np.array([1, 2, 1]) / 5
    assert np.all(np.abs(totals - PEOPLE * shares) < 6 * np.sqrt(PEOPLE * shares * (1 - shares)))
    assert PEOPLE / 5 * 0.8 < PEOPLE - totals.sum() < PEOPLE / 5 * 1.2


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("one", "other"),
    [("age > 50", "age <= 50"), ("ward = 'b'", "ward <> 'b' OR ward IS NULL"), ("age > 70", "age <= 70")],
)
def test_a_question_and_its_opposite_are_asked_of_the_same_records(table, key, one, other):
    yes, no = (count(table, expression, key=key) for expression in (one, other))
    assert yes.yes.sum() + no.yes.sum() == PEOPLE
    assert yes.yes.tolist() == no.no.tolist()
    assert not (2 * yes.yes[0] > PEOPLE and 2 * no.yes[0] > PEOPLE)


def test_the_same_record_stays_for_every_question(table):
    by_ward = count(table, key=KEYS[0], by="ward").total.tolist()
    for text in ("age > 50", "who IS NULL", "age / 0 = 1"):
        assert count(table, text, key=KEYS[0], by="ward").total.tolist() == by_ward
    assert [count(table, f"ward = '{ward}'", key=KEYS[0]).yes[0] for ward in "abc"] == by_ward
    assert count(table, "age = 60", key=KEYS[0]).yes[0] == by_ward[1]
    assert enumerate_keys(table, "ward", unit=PrivacyUnit("who", KEYS[0])).counts.tolist() == by_ward


def test_keys_choose_differently():
    rows = pa.table({"who": [1] * 8, "x": range(8)})
    groups = read_groups(open_table(rows), "x", range(8))
    units = [PrivacyUnit("who", unit_key(bytes([n]) * 32)) for n in range(60)]
    kept = {count_records(open_table(rows), groups=groups, unit=unit).total.argmax() for unit in units}
    assert kept == set(range(8))


def test_the_order_of_records_and_other_people_change_nothing():
    rows = [(person, group, x) for person in range(20) for group in "abc" for x in range(3)]
    results = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        mixed = [rows[place] for place in order] + [(100 + seed, "z", 1)] * seed
        who, ward, x = zip(*mixed, strict=True)
        table = open_table(pa.table({"who": who, "ward": ward, "x": x}))
        found = count(table, "x = 1", key=KEYS[0], by="ward")
        results.add((tuple(found.total), tuple(found.yes), tuple(found.no)))
    assert len(results) == 1


def test_records_are_told_apart_whatever_they_hold():
    """Null, empty text and text that looks like the serialisation of others are different records."""
    texts = [None, "", "-", "0:", "1:-", "-1:-", "x" * 99, "x" * 100, "x" * 101, "\0", "1:x1:y"]
    pairs = [(a, b) for a in texts for b in texts]
    table = open_table(pa.table({"who": [1] * len(pairs), "a": [a for a, _ in pairs], "b": [b for _, b in pairs]}))
    from irisdp._queries.privacy_units import columns_read, records_statement

    unit = PrivacyUnit("who", KEYS[0])
    statement = records_statement(table, None, [table.column("a", "by")], unit)
    found = table.run(
        f"{statement} SELECT COUNT(DISTINCT hashed) AS n FROM hashed_records",
        columns_read(table, None, [table.column("a", "by")], unit),
    )
    assert found.column("n").to_pylist() == [len(pairs)]


ANSWERS = {1: [True, True], 2: [True, False], 3: [False, False], 4: [None, True], 5: [None, False], 6: [None, None]}


@pytest.mark.parametrize(("per_unit", "yes", "no"), [("any", {1, 2, 4}, {3, 5}), ("all", {1, 4}, {2, 3, 5})])
@pytest.mark.parametrize("by", [None, "who"])
def test_any_and_all_pass_over_records_without_an_answer(per_unit, yes, no, by):
    rows = [(who, said) for who, answers in ANSWERS.items() for said in [*answers, answers[0]]]
    who, said = zip(*[*rows, (None, True)], strict=True)
    table = open_table(pa.table({"who": who, "said": said}))
    found = count(table, "said", key=KEYS[0], by=by, per_unit=PerUnitRule(per_unit), groups=ANSWERS)
    assert found.total.sum() == len(ANSWERS)
    assert (found.yes.sum(), found.no.sum()) == (len(yes), len(no))
    if by:
        assert {n for n, said in zip(ANSWERS, found.yes, strict=True) if said} == yes


def test_a_persons_answer_comes_from_all_records_and_counts_in_one_group(table):
    found = count(table, "age > 70", key=KEYS[0], by="ward", per_unit=PerUnitRule.ANY)
    assert found.yes.tolist() == found.total.tolist() == count(table, key=KEYS[0], by="ward").total.tolist()


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("pid,ward,age\n" + "".join(f"{n},{'ab'[k]},{30 + 40 * k}\n" for n in range(50) for k in range(2)))
    return path


@pytest.mark.parametrize("by", [[], ["--by", "ward", "--groups", "a,b"]])
@pytest.mark.parametrize(
    ("per_unit", "says"), [(["--at-most", "1"], "one record kept per pid"), (["--per-unit", "any"], "any of")]
)
def test_the_rule_is_in_the_question_the_sidecar_and_what_is_printed(visits, by, per_unit, says, capsys):
    out = visits.with_name("out.csv")
    command = ["publish", str(visits), "count", "age > 50", "--unit", "PID", *per_unit, *by, "--epsilon", "1"]
    assert run([*command, "--dry-run"]) == 0
    assert says in capsys.readouterr().out
    assert run([*command, "--dry-run", "--json"]) == 0
    assert says in json.loads(capsys.readouterr().out)["unit_rule"]
    assert run([*command, "--out", str(out), "--verbose"]) == 0
    assert says in capsys.readouterr().out
    sidecar = json.loads(out.with_name("out.csv.release.json").read_text())
    assert says in sidecar["unit_rule"]
    assert sidecar["unit"] == "pid"
    assert sidecar["per_unit"] == ("any" if "any" in per_unit else None)


def test_any_all_and_one_are_three_questions(visits):
    options = {"unit": "pid", "epsilon": 30}
    rules = [{"per_unit": "any"}, {"per_unit": "all"}, {"at_most": 1}]
    found = [irisdp.publish(visits, "count", "age > 50", **options, **rule) for rule in rules]
    values = [published.answers.values[0] for published in found]
    assert values[:2] == [50, 0]
    assert 5 < values[2] < 45
    assert not any(published.repeated for published in found)
    assert irisdp.publish(visits, "count", "age > 50", **options, per_unit="any").repeated


@pytest.mark.parametrize("options", [
    {"per_unit": "any"},
    {"per_unit": "some", "unit": "pid"},
    {"per_unit": 1, "unit": "pid"},
    {"per_unit": ["any"], "unit": "pid"},
])  # fmt: skip
def test_any_and_all_need_a_unit_and_one_of_two_words(visits, options):
    with pytest.raises(BadInput, match=r"per.unit"):
        plan(visits, "count", "age > 50", epsilon=1, **options)


def test_any_and_all_of_values_need_a_condition(visits):
    with pytest.raises(BadInput, match=r"per.unit"):
        plan(visits, "sum", "age", lower=0, upper=9, step=1, unit="pid", per_unit="any", epsilon=1)


ASKS = [
    (("count", "age > 50"), {}, ("at_most=M", "at_most=1", "per_unit=any", "per_unit=all")),
    (("majority", "age > 50"), {}, ("at_most=1", "per_unit=any", "per_unit=all")),
    (("count-distinct", "age"), {}, ("at_most=M", "at_most=1")),
    (("count-distinct", "pid"), {"by": "ward", "groups": "a,b"}, ("at_most=M", "at_most=1")),
    (("sum", "age"), {"lower": 0, "upper": 99, "step": 1}, ("at_most=M", "at_most=1")),
    (("histogram", "age"), {"bins": "50"}, ("at_most=M", "at_most=1")),
    (("median", "age"), {"bins": "50"}, ("at_most=M", "at_most=1")),
    (("plurality", "ward"), {"categories": "a,b"}, ("at_most=M", "at_most=1")),
    (("sizes", "ward"), {}, ("at_most=1",)),
]


@pytest.mark.parametrize(("asked", "options", "choices"), ASKS)
def test_a_question_says_which_records_of_a_person_count(visits, asked, options, choices):
    with pytest.raises(BadInput, match=r"^unit: says that one pid may have several records, and ") as refused:
        plan(visits, *asked, unit="pid", epsilon=1, **options)
    assert tuple(re.findall(r"(?:at_most|per_unit)=\w+", refused.value.remedy)) == choices
    assert plan(visits, *asked, unit="pid", at_most=1, epsilon=1, **options).unit == "pid"


def test_sessions_batches_and_the_command_line_ask_the_same_in_their_own_words(visits, capsys):
    session = irisdp.Session(visits, unit="pid")
    with pytest.raises(BadInput, match=r"^unit: says that one pid"):
        session.count("age > 50", epsilon=1)
    question = {"query": "count", "expression": "age > 50"}
    with pytest.raises(BadInput, match=r"unit: says that one pid"):
        irisdp.batch({"data": str(visits), "unit": "pid", "budget": {"epsilon": 1}, "questions": [question]})
    assert run(["publish", str(visits), "count", "age > 50", "--unit", "pid", "--epsilon", "1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("irisdp: --unit: says that one pid")
    assert not re.search(r"\w=", said)
    assert all(option in said for option in ("--at-most 1 ", "--at-most M ", "--per-unit any ", "--per-unit all "))
    assert not visits.with_suffix(".ledger").exists()


ONE, NOBODY = "counts at most 1 record of each pid", "leaves out records without pid"
LEFT_OUT = [
    (("count-distinct", "pid"), {}, 50, []),
    (("count-distinct", "pid", "age > 50"), {}, 50, []),
    (("count-distinct", "pid", "age > 50"), {"per_unit": "all"}, 0, []),
    (("count-distinct", "age", "age > 50"), {"per_unit": "any"}, None, [ONE]),
    (("count",), {}, 50, []),
    (("count",), {"per_unit": "any"}, 50, []),
    (("count",), {"at_most": 1}, 50, []),
    (("count", "age > 50"), {"per_unit": "any"}, 50, []),
    (("count", "age > 50"), {"at_most": 2}, 50, ["counts at most 2 records of each pid"]),
    (("count", "age > 50"), {"at_most": 1}, None, [ONE]),
    (("sum", "age"), {"lower": 0, "upper": 99, "step": 1, "at_most": 1}, None, [ONE]),
    (("histogram", "age"), {"bins": "50", "at_most": 1}, None, [ONE]),
    (("count",), {"at_most": 2, "groups_per_unit": 1, "by": "ward", "groups": "a,b"}, None,
     ["counts at most 2 records of each pid, in at most 1 group"]),
    (("count", "age > 50"), {"per_unit": "any", "by": "ward", "groups": "a,b"}, None,
     ["counts each pid in the group of one record"]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "options", "truth", "kept"), LEFT_OUT)
def test_what_is_left_out_of_a_person_stands_next_to_the_interval(visits, asked, options, truth, kept):
    found = irisdp.publish(visits, *asked, unit="pid", epsilon=60, **options)
    assert truth is None or found.answers.values == [truth]
    assert found.plan.leaves_out()[: len(kept) + 1] == [*kept, NOBODY]
    sidecar = found.sidecars[None]
    assert sidecar["assurance"]["promise"].split("; ")[1:] == sidecar["left_out"]
    assert all(line in irisdp.report(found) for line in kept)


def test_records_in_no_bin_or_category_are_named_as_left_out(visits):
    for options, said in (
        ({"bins": "50"}, "leaves out records without age"),
        ({"categories": "30"}, "leaves out records whose age is not declared"),
    ):
        found = irisdp.publish(visits, "histogram", "age", epsilon=9, **options)
        assert found.sidecars[None]["left_out"] == [said]


@pytest.mark.parametrize(("asked", "options", "records"), [
    (("count",), {}, 2),
    (("count",), {"at_most": 1}, 1),
    (("count", "age > 1"), {"per_unit": "any"}, 1),
    (("count-distinct", "PID", "age > 1"), {}, 1),
])  # fmt: skip
def test_at_most_of_a_project_fills_in_where_records_are_chosen(visits, asked, options, records):
    visits.with_suffix(".iris.toml").write_text('unit = "pid"\nat_most = 2\n')
    assert plan(visits, *asked, epsilon=1, **options).contribution.records == records


def test_at_most_of_a_project_chooses_no_several_records_where_one_is_kept(visits):
    visits.with_suffix(".iris.toml").write_text('unit = "pid"\nat_most = 2\n')
    with pytest.raises(BadInput, match=r"unit.* says that one pid may have several records, and majority"):
        plan(visits, "majority", "age > 50", epsilon=1)


def test_the_key_is_shown_nowhere():
    key = unit_key(b"s" * 32)
    assert key != b"s" * 32
    assert key.hex()[:8] not in repr(PrivacyUnit("who", key))
    assert str(key)[2:10] not in repr(PrivacyUnit("who", key))
