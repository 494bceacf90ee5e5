"""Several questions as one charge: what a plan may say, how its budget is shared, and what the ledger does with it."""

import json
import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, Ledger, Privacy, ScopeRefused, plan_batch
from irisdp._cli import run
from irisdp._release import batching, pipeline
from irisdp._release.batch_noise import GaussianCounts, OwnNoise, compose_questions
from irisdp.accounting import total
from irisdp.privacy import Gaussian

pytestmark = pytest.mark.usefixtures("one_engine")

VISITS = pa.table(
    {"age": [70, 30, 81, 20], "town": ["Ely", "Ely", "York", "York"], "who": [1, 2, 3, 3], "vote": [1, 0, 1, None]}
)
BUDGET = {"epsilon": 1, "delta": "1e-6"}
OLD, ALL = {"query": "count", "expression": "age > 64"}, {"query": "count"}


def counts(number, **more):
    return [{"query": "count", "expression": f"age > {age}", **more} for age in range(number)]


def asked(*questions, budget=BUDGET, **more):
    return {"budget": budget, "questions": list(questions), **more}


def planned(*questions, **more):
    return plan_batch(asked(*questions, **more), data=VISITS)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "v.ledger"


# How the budget is shared.


def mean_error(batch, place=0):
    return batch.plans[place].audiences[0].mechanism.expected_error()["mean_absolute"]


@pytest.mark.parametrize(("number", "most", "by_sums"), [(50, 23.84, 50), (20, 15.08, 20), (12, 11.68, 12)])
def test_many_counts_have_less_noise_than_by_sums(number, most, by_sums):
    batch = planned(*counts(number))
    assert batch.composition.exact
    assert batch.composition.noise == ["gaussian"]
    assert batch.composition.sums is None
    assert batch.cost == Cost(1, "1e-6")
    assert mean_error(batch) <= most
    # 2α/(1−α²) at ε = 1/number, all but 1/(6·number)
    assert by_sums - 0.02 < 1 / math.sinh(1 / number) < by_sums


@pytest.mark.parametrize("query", ["count-distinct who", "band 1, 5", "at-least 2", "count"])
def test_a_condition_stands_beside_what_a_query_names_besides(query):
    (found,) = planned({"query": query, "expression": "age > 64"}).plans
    assert found.condition.text == "age > 64"


@pytest.mark.parametrize("number", [1, 2, 5, 10])
def test_few_counts_have_no_more_noise_than_by_sums_and_leave_delta_unspent(number):
    batch = planned(*counts(number))
    assert not batch.composition.exact
    assert batch.composition.scale == Fraction(1, number)
    assert batch.cost == Cost(1)
    assert mean_error(batch) == pytest.approx(1 / math.sinh(1 / number))


@pytest.mark.parametrize("number", [20, 100])
def test_what_is_charged_fits_and_hardly_more_would(number):
    weights = [1 + place % 3 for place in range(number)]
    plans = planned(*counts(number), budget={"epsilon": 1}).plans
    found = compose_questions(plans, weights, Cost(1, "1e-6"), [own_noise(number)])
    shares = [weight * found.scale for weight in weights]
    assert [one.cost.epsilon for one in found.plans] == shares
    lower, upper = total([Privacy(epsilon=share) for share in shares], delta="1e-6")
    assert (lower, upper) == (found.lower, found.upper)
    assert upper <= 1
    assert found.sums == Cost(sum(shares))
    more = Fraction(10_002, 10_000)
    assert total([Privacy(epsilon=share * more) for share in shares], delta="1e-6")[0] > 1


def test_gaussian_counts_fit_hardly_more_would_and_weights_halve_their_noise():
    weights = [1, 2, 1, 2] * 5
    batch = planned(*({**each, "weight": weight} for each, weight in zip(counts(20), weights, strict=True)))
    found = batch.composition
    assert found.noise == ["gaussian"]
    means = [Fraction(4, 5) * weight * found.scale for weight in weights]
    assert [one.audiences[0].mechanism.privacy for one in batch.plans] == [Gaussian(mean) for mean in means]
    assert (found.lower, found.upper) == total([Gaussian(mean) for mean in means], delta="1e-6")
    assert found.upper <= 1
    assert total([Gaussian(mean * Fraction(10_002, 10_000)) for mean in means], delta="1e-6")[0] > 1
    assert mean_error(batch, 0) == pytest.approx(2 * mean_error(batch, 1), rel=0.01)
    assert dict(batch.describe_cost())["shares"].startswith("μ = weight × 0.0334744 ")


def test_a_heavy_count_may_keep_its_geometric_noise():
    weights = [10] + [1] * 49
    batch = planned(*({**each, "weight": weight} for each, weight in zip(counts(50), weights, strict=True)))
    found = batch.composition
    assert [kind.name for kind in found.kinds] == ["geometric"] + ["gaussian"] * 49
    assert mean_error(batch, 0) < 3.2
    assert mean_error(batch, 1) < 32.4
    light = Fraction(4, 5) * found.scale
    assert found.upper <= 1
    assert found.upper == total([Privacy(epsilon=10 * found.scale), (Gaussian(light), 49)], delta="1e-6")[1]
    assert batch.plans[0].cost == Cost(10 * found.scale)
    assert batch.plans[1].cost.delta == Fraction("1e-6")
    shares = dict(batch.describe_cost())["shares"]
    assert "ε = weight × 0.03086 " in shares
    assert "μ = weight × 0.024688 " in shares


@pytest.mark.parametrize("kind", [OwnNoise(), GaussianCounts()])
def test_a_share_is_rounded_up(kind):
    for scale in (Fraction(1, 3), Fraction(5, 12), Fraction(10**7 + 1, 10**7)):
        said = Fraction(re.search(r"weight × (\S+)", kind.describe(scale))[1])
        exact = scale if kind.adds_up else Fraction(4, 5) * scale
        assert exact <= said < exact * Fraction(100_001, 100_000)


def test_yes_or_no_and_selections_stay_as_they_are_beside_gaussian_counts():
    selected = {**ALL, "by": "town", "select_groups": True, "delta": "5e-7"}
    batch = planned(selected, {"query": "at-least 2"}, *counts(30))
    found = batch.composition
    assert [kind.name for kind in found.kinds] == ["gaussian", "geometric"] + ["gaussian"] * 30
    assert batch.plans[0].selector.privacy == Privacy(epsilon=found.scale, delta="5e-7")
    assert batch.plans[1].audiences[0].mechanism.privacy == Privacy(epsilon=found.scale)
    mean = Gaussian(Fraction(4, 5) * found.scale)
    parts = [(mean, 31), Privacy(epsilon=found.scale, delta="5e-7"), Privacy(epsilon=found.scale)]
    assert found.upper == total(parts, delta="1e-6")[1] <= 1


def test_where_a_selection_takes_all_of_delta_there_is_none_for_gaussian_noise():
    selected = {**ALL, "by": "town", "select_groups": True, "delta": "1e-6"}
    assert planned(selected, *counts(20)).composition.noise == ["geometric"]


def test_without_delta_costs_are_added_up():
    batch = planned(*counts(50), budget={"epsilon": "1/2"})
    assert (batch.cost, batch.composition.scale) == (Cost("1/2"), Fraction(1, 100))


def test_weights_share_and_only_their_proportions_matter():
    batch = planned({**OLD, "weight": 3}, {**ALL, "weight": "1/2"})
    assert [one.cost.epsilon for one in batch.plans] == [Fraction(6, 7), Fraction(1, 7)]
    again = planned({**OLD, "weight": Decimal("0.6")}, {**ALL, "weight": "1/10"})
    assert again.question() == batch.question()


def test_the_same_proportions_are_the_same_batch_by_the_exact_total_too(ledger):
    asks = [asked(*({**each, "weight": 1 + place % 2 / 2} for place, each in enumerate(counts(14))))]
    asks += [asked(*({**each, "weight": 7 * (2 + place % 2)} for place, each in enumerate(counts(14))))]
    first, second = (plan_batch(each, data=VISITS) for each in asks)
    assert first.composition.exact
    assert first.question() == second.question()
    assert first.composition.scale == 14 * second.composition.scale
    irisdp.batch(asks[0], data=VISITS, ledger=ledger)
    assert irisdp.batch(asks[1], data=VISITS, ledger=ledger).repeated


def test_what_is_free_says_what_its_line_was_charged(ledger):
    irisdp.batch(asked(OLD, ALL, budget={"epsilon": 1}), data=VISITS, ledger=ledger)
    again = irisdp.batch(asked(OLD, ALL, budget={"epsilon": 1, "delta": "1e-9"}), data=VISITS, ledger=ledger)
    assert (again.repeated, again.cost, again.charged) == (True, Cost(), Cost(1))
    assert again.to_document()["charged"] == {"epsilon": "1", "delta": "0"}
    assert again[0].sidecars[None]["batch"]["cost"] == {"epsilon": "1", "delta": "0"}


@pytest.mark.parametrize(
    ("budget", "said"),
    [({"epsilon": "1e-9", "delta": "1e-12"}, "ε ≤ 0.00000000"), ({"epsilon": 1, "delta": "1e-6"}, "ε ≤ 0.99999")],
)
def test_the_exact_total_is_one_number_unless_its_bounds_differ(budget, said):
    assert dict(planned(*counts(2), budget=budget).describe_cost())["exactly"].startswith(said)


def test_without_delta_it_is_said_that_some_may_leave_less_noise():
    lines = dict(planned(*counts(2), budget={"epsilon": 1}).describe_cost())
    assert "exactly" not in lines
    assert "a budget with a delta such as 1e-6 may leave less noise" in lines["shares"]
    assert planned(OLD).describe_cost()[0] == ("cost", "ε = 1, δ = 0 for adding or removing one record")


def test_questions_enter_by_what_a_neighbour_moves():
    grouped = {**OLD, "by": "town", "groups": "Ely,York"}
    assert planned(grouped).plans[0].cost == Cost(1)
    moved = planned(grouped, relation="exchange")  # a record leaves one group and enters another
    assert moved.composition.scale == Fraction(1, 2)
    assert moved.plans[0].cost == Cost(1)
    many = [{**each, "by": "town", "groups": "Ely,York"} for each in counts(25)]
    assert planned(*many, relation="exchange").composition.scale == planned(*counts(50)).composition.scale
    kept = [{**each, "public_membership": True} for each in many]
    assert planned(*kept, relation="exchange").composition.scale == planned(*counts(25)).composition.scale


def test_the_questions_own_delta_is_part_of_the_budget():
    told = {"query": "at-least 2", "expression": "age > 64", "delta": "4e-7"}
    selected = {**ALL, "by": "town", "select_groups": True, "delta": "5e-7"}
    batch = planned(told, selected, *counts(40))
    assert batch.cost == Cost(1, "1e-6")
    assert batch.composition.upper <= 1
    assert batch.plans[1].selector.privacy.delta == Fraction("5e-7")
    few = planned(told, selected)
    assert few.cost == few.composition.sums == Cost(1, "9e-7")
    with pytest.raises(BadInput, match=r"budget: delta: is 0.0000005, and the questions' own add up to 0.0000009"):
        planned(told, selected, budget={"epsilon": 1, "delta": "5e-7"})
    exactly = planned(told, selected, budget={"epsilon": 1, "delta": "9e-7"})
    assert exactly.cost == Cost(1, "9e-7")


def test_large_budgets_end():
    assert planned(*counts(3), budget={"epsilon": 1000, "delta": "1/2"}).cost.epsilon == 1000
    assert planned(OLD, budget={"epsilon": 1, "delta": "999999/1000000"}).composition.scale > 10
    assert planned({**OLD, "weight": 10**6}, {**ALL, "weight": "1e-6"}, budget={"epsilon": 900}).cost == Cost(900)


@dataclass(frozen=True)
class Louder:
    """Noise whose privacy is known only as part of a total: three times the share, as what is charged for one share."""

    name: str = "louder"
    adds_up: bool = False
    times: int = 3

    def allows(self, share):
        return True

    def describe(self, scale):
        return "three times the share"

    def at(self, planned, share):
        return OwnNoise().at(planned, share * self.times)

    def items(self, planned):
        return [(Privacy(epsilon=planned.cost.epsilon / self.times), 1)]


def own_noise(number):
    return (OwnNoise(),) * number


def test_the_kind_of_noise_with_the_least_stated_error_is_taken():
    plans = planned(*counts(30), budget={"epsilon": 1}).plans
    weights, budget = [Fraction(1)] * 30, Cost(1, "1e-6")
    own = compose_questions(plans, weights, budget, [own_noise(30)])
    louder = compose_questions(plans, weights, budget, [own_noise(30), (Louder(),) * 30])
    assert louder.kinds == (Louder(),) * 30
    assert louder.scale == own.scale
    assert louder.sums is None
    assert louder.cost == budget
    equal = (Louder(times=1),) * 30
    assert compose_questions(plans, weights, budget, [equal, own_noise(30)]).kinds == equal
    steep = (replace(Louder(), times=Fraction(1, 5)),) * 30
    assert compose_questions(plans, weights, budget, [steep, own_noise(30)]).kinds == own_noise(30)


# What is refused, before anything is spent.

BAD = {
    "no object": ([], "plan: must be a JSON object"),
    "no data": (asked(OLD), "data: is missing from the plan"),
    "no budget": ({"data": "d", "questions": [OLD]}, "budget: is missing from the plan"),
    "no questions": ({"data": "d", "budget": BUDGET}, "questions: is missing from the plan"),
    "an empty plan": ({"data": "d", "budget": BUDGET, "questions": []}, "questions: are none: the plan is empty"),
    "questions that are no list": ({"data": "d", "budget": BUDGET, "questions": OLD}, "questions: must be a list"),
    "a misspelt key": (asked(OLD, dat="d"), "dat: is no key of a plan; did you mean data?"),
    "an unknown key": (asked(OLD, wxyz=1), "wxyz: is no key of a plan; choose from data, budget"),
    "a question that is none": (asked("count"), "question 1: question: must be a JSON object"),
    "a misspelt key of a question": (
        asked(OLD, {**ALL, "wieght": 2}),
        "question 2: wieght: is no key of a question; did you mean weight?",
    ),
    "an epsilon of its own": (asked({**OLD, "epsilon": 1}), "question 1: epsilon: belongs to the budget"),
    "a key of the budget": (
        asked(OLD, budget={"epsilon": 1, "dleta": 0}),
        "dleta: is no key of a budget; did you mean",
    ),
    "a budget that is none": (asked(OLD, budget=1), "budget: must be a JSON object"),
    "no epsilon": (asked(OLD, budget={"delta": 0}), "budget: has no epsilon"),
    "an epsilon of 0": (asked(OLD, budget={"epsilon": 0}), "budget: epsilon: must be above 0"),
    "a negative epsilon": (asked(OLD, budget={"epsilon": -1}), "budget: epsilon: must be above 0"),
    "an epsilon beyond all": (asked(OLD, budget={"epsilon": 1001}), "budget: epsilon: must lie between 0 and 1000"),
    "a delta of 1": (asked(OLD, budget={"epsilon": 1, "delta": 1}), "budget: delta: must be at least 0 and below 1"),
    "a weight of 0": (asked({**OLD, "weight": 0}), "question 1: weight: must be above 0"),
    "a negative weight": (asked(ALL, {**OLD, "weight": "-1"}), "question 2: weight: must be above 0"),
    "a weight that is none": (asked({**OLD, "weight": True}), "question 1: weight: must be a number, not true"),
    "a weight beyond all": (asked({**OLD, "weight": 1e9}), "question 1: weight: must lie between"),
    "a weight that is long": (asked({**OLD, "weight": f"1.{'1' * 99}"}), "question 1: weight: has more than 128 bits"),
    "one question twice": (asked(OLD, ALL, {**OLD, "weight": 2}), "question 3: asks what question 1 asks"),
    "one question in other words": (
        asked(OLD, {"query": "count", "expression": "64 < age"}),
        "question 2: asks what question 1 asks; leave it out, and give question 1 the weight of both",
    ),
    "an unknown query": (
        asked({"query": "cuont"}),
        "question 1: query: 'cuont' is no query of Iris; did you mean count?",
    ),
    "no query": (asked({"expression": "age > 64"}), "question 1: query: is missing"),
    "a query that is no text": (asked({"query": 1}), "question 1: query: must be text"),
    "a query without its number": (asked({"query": "at-least", "expression": "age > 64"}), "question 1: "),
    "an unknown column": (asked(OLD, {"query": "count", "expression": "agee > 64"}), "question 2: expression: "),
    "groups that are missing": (asked({**OLD, "by": "town"}), "question 1: groups: the groups must be declared"),
    "a selection without delta": (asked({**ALL, "by": "town", "select_groups": True}), "question 1: delta: must be"),
    "a selection of nothing": (
        asked({**ALL, "selection_delta": "1e-7"}),
        'question 1: selection_delta: belongs to "select_groups": true',
    ),
    "a flag that is none": (asked({**ALL, "by": "town", "select_groups": "yes"}), "question 1: select_groups: must be"),
    "a relation": (asked(OLD, relation="add"), "relation: must be"),
    "a relation that is no text": (asked(OLD, relation=1), "relation: must be text"),
    "an unknown unit": (asked(OLD, unit="whom"), "unit: "),
    "a file that is none": (asked(OLD, out="o.txt"), "out: must end in .csv, .parquet or .json"),
    "a key of the plan in a question": (
        asked(OLD, {**ALL, "unit": "who"}),
        'question 2: unit: belongs to the plan, for all questions; move it beside "questions"',
    ),
    "a ledger in a question": (asked({**OLD, "ledger": "l"}), "question 1: ledger: belongs to the plan"),
    "a wrong key of a question's": (asked(OLD, {**ALL, "relation": 3}), "question 2: relation: belongs to the plan"),
    "an epsilon at the top": (asked(OLD, epsilon=1), "epsilon: belongs to the budget; write for example"),
    "a condition at the top": (asked(OLD, expression="age > 1"), "expression: belongs to a question; move it into"),
    "a budget in μ": (asked(OLD, budget={"mu": 1}), "mu: is none that batches have: their budget is an epsilon and"),
    "a budget in ρ": (asked(OLD, budget={"epsilon": 1, "rho": 1}), "rho: is none that batches have"),
    "an audience": (asked({**OLD, "audience": ["a=1"]}), "question 1: audience: is not for batches"),
    "a number as a key": (
        asked({"query": "at-least", "expression": "age > 64", "k": 5}),
        'question 1: k: belongs into the query; write for example "query": "at-least 5000"',
    ),
    "a number that is left out": (
        asked({"query": "at-least", "expression": "age > 64"}),
        'question 1: K: is missing from the query; write for example {"query": "at-least 100", "expression": ',
    ),
    "a number left out before a condition": (asked({"query": "at-most age > 64"}), "question 1: K: is missing from"),
    "two conditions": (
        asked({"query": "count age > 64", "expression": "vote = 1"}),
        "question 1: expression: is given twice: the query holds a condition as well; leave it out of one of the two",
    ),
    "two conditions for a mean": (
        asked({"query": "mean age age < 9", "expression": "age > 20"}),
        "question 1: expression: is given twice",
    ),
    "two conditions for different values": (
        asked({"query": "count-distinct age town = 'Ely'", "expression": "vote = 1"}),
        "question 1: expression: is given twice",
    ),
    "two columns": (
        asked({"query": "plurality", "expression": "  "}),
        "question 1: query: plurality needs one column, and after it at most a condition; write for",
    ),
    "groups that are an object": (
        asked({**OLD, "by": "town", "groups": {"town": {"Ely": 1}}}),
        "question 1: groups: must be text or a list, not names with values",
    ),
    "a folder as a file": (asked(OLD, out="./"), "out: must end in .csv, .parquet or .json"),
    "the root as a file": (asked({**OLD, "out": "/"}), "question 1: out: must end in .csv, .parquet or .json"),
    "a file with NUL": (asked(OLD, out="a\0b.csv"), "out: is not a usable path"),
    "a ledger with NUL": (asked(OLD, ledger="a\0b"), "ledger: is not a usable path"),
    "a ledger of half a character": (asked(OLD, ledger="\ud800"), "ledger: is not a usable path"),
    "a secret with NUL": (asked(OLD, secret="a\0b"), "secret: is not a usable path"),
    "a condition of half a character": (
        asked({**OLD, "expression": "town = '\ud800'"}),
        "question 1: expression: holds half a character (a lone surrogate); write whole characters",
    ),
    "a path that is none": (asked({**OLD, "out": 3}), "question 1: out: must be the path of a file"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_plan_gets_one_clear_line_and_spends_nothing(name, tmp_path, capsys):
    plan, message = BAD[name]
    data = None if not isinstance(plan, dict) or "data" in plan or name == "no data" else VISITS
    own = isinstance(plan, dict) and "ledger" in plan
    with pytest.raises(BadInput, match=f"^{re.escape(message)}") as found:
        irisdp.batch(plan, data=data, ledger=None if own else tmp_path / "v.ledger")
    assert "\n" not in str(found.value)
    assert "; " in str(found.value)
    assert not (tmp_path / "v.ledger").exists()
    # And from the command line, where the plan is a file.
    if isinstance(plan, dict) and "data" not in plan and name != "no data":
        (tmp_path / "d.csv").write_text("age,town,who,vote\n70,Ely,1,1\n", encoding="utf-8")
        plan = {**plan, "data": str(tmp_path / "d.csv")}
    (tmp_path / "plan.json").write_text(json.dumps(plan, default=str), encoding="utf-8")
    for dry in ([], ["--dry-run"]):
        assert run(["batch", str(tmp_path / "plan.json"), *dry]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("irisdp: ")
        assert said.err.count("\n") == 1
    assert not (tmp_path / "d.ledger").exists()


@pytest.mark.parametrize(("question", "remedy"), [
    ({**OLD, "by": "town"}, 'give "groups": "v1,v2,…" or a CSV file, or "select_groups": true with a "delta"'),
    ({"query": "at-least"}, 'write for example {"query": "at-least 100", "expression": "age > 64"}'),
    ({**OLD, "groups": "Ely"}, 'name the group columns with "by"'),
])  # fmt: skip
def test_remedies_are_keys_of_the_plan(question, remedy):
    with pytest.raises(BadInput, match=re.escape(f"; {remedy}")):
        planned(question)


def test_a_plan_that_is_not_there(tmp_path, capsys):
    assert run(["batch", str(tmp_path / "no.json")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_data_is_named_once(ledger):
    with pytest.raises(BadInput, match=r"^data: is named by the plan already"):
        irisdp.batch({**asked(OLD), "data": "d.csv"}, data=VISITS, ledger=ledger)


# What the ledger does.


def test_a_batch_is_one_line_of_the_ledger_and_free_again(ledger):
    plan = asked(OLD, {**ALL, "by": "town", "groups": ["York", "Ely"]}, {"query": "at-least 2"})
    found = irisdp.batch(plan, data=VISITS, ledger=ledger)
    assert (found.cost, found.repeated, len(found)) == (Cost(1), False, 3)
    (line,) = Ledger(ledger).releases()
    assert line.cost == Cost(1)
    assert line.query == "batch of 3: count age > 64; count by town; at-least 2"
    assert found[1].answers.keys == [("York",), ("Ely",)]
    again = irisdp.batch(plan, data=VISITS, ledger=ledger)
    assert (again.cost, again.repeated, again.id) == (Cost(), True, found.id)
    other_order = asked(*reversed(plan["questions"]))
    turned = irisdp.batch(other_order, data=VISITS, ledger=ledger)
    assert turned.repeated
    for one, two, three in zip(found, again, reversed(list(turned)), strict=True):
        assert one.answers == two.answers == three.answers
    assert Ledger(ledger).spent == Cost(1)
    assert "charged before" in repr(again)
    assert "charged with its batch" in repr(found[0])


def test_an_answer_of_a_batch_is_no_answer_alone_and_refines_nothing(ledger):
    batch = irisdp.batch(asked(OLD, ALL), data=VISITS, ledger=ledger)
    alone = irisdp.publish(VISITS, "count", "age > 64", epsilon="1/2", ledger=ledger)
    finer = irisdp.publish(VISITS, "count", "age > 64", epsilon=1, ledger=ledger)
    assert (alone.repeated, alone.cost, finer.cost) == (False, Cost("1/2"), Cost("1/2"))
    after = irisdp.batch(asked(OLD, {"query": "at-least 1"}), data=VISITS, ledger=ledger)
    assert after.cost == Cost(1)
    assert Ledger(ledger).spent == Cost(3)
    assert batch[0].plan.subject() == alone.plan.subject()


def test_a_limit_that_is_reached_refuses_all_and_shows_nothing(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("age\n70\n12\n", encoding="utf-8")
    plan = {**asked(OLD, ALL, out=str(tmp_path / "o.csv")), "data": str(tmp_path / "d.csv")}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    Ledger(tmp_path / "d.ledger").set_limit("9/10", "1e-6")
    assert run(["batch", str(tmp_path / "plan.json"), "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["cost"] == {"epsilon": "1", "delta": "0"}
    assert "answers" not in said.out
    assert not list(tmp_path.glob("o.*"))
    assert Ledger(tmp_path / "d.ledger").releases() == []
    with pytest.raises(BudgetRefused):
        irisdp.batch(tmp_path / "plan.json")
    assert run(["batch", str(tmp_path / "plan.json"), "--dry-run", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ledger"]["refused"] is True
    assert run(["batch", str(tmp_path / "plan.json"), "--dry-run"]) == 1
    shown = capsys.readouterr().out
    assert "would be refused: " in shown and 'ask with less ("epsilon", "delta")' in shown


@pytest.mark.parametrize("place", [0, 1, 2])
def test_if_one_question_cannot_be_drawn_none_is_charged_or_shown(ledger, monkeypatch, place):
    real, calls = pipeline.draw_answers, []

    def failing(*given):
        calls.append(given)
        if len(calls) == place + 1:
            raise OSError("no randomness")
        return real(*given)

    monkeypatch.setattr(batching, "draw_answers", failing)
    plan = asked(OLD, ALL, {"query": "at-least 2"})
    with pytest.raises(OSError, match="no randomness"):
        irisdp.batch(plan, data=VISITS, ledger=ledger)
    assert Ledger(ledger).spent == Cost()
    assert Ledger(ledger).releases() == []


def test_the_ledger_keeps_its_promise_to_batches(ledger):
    grouped = {**OLD, "by": "town", "groups": "Ely,York", "public_membership": True}
    other = {**ALL, "by": "vote", "groups": "0,1", "public_membership": True}
    irisdp.batch(asked(grouped, other, relation="exchange"), data=VISITS, ledger=ledger)
    assert Ledger(ledger).to_document()["public_columns"] == ["town", "vote"]
    with pytest.raises(ScopeRefused, match="relation"):
        irisdp.batch(asked(OLD), data=VISITS, ledger=ledger)
    with pytest.raises(ScopeRefused, match="public columns"):
        third = {**ALL, "by": "who", "groups": "1,2", "public_membership": True}
        irisdp.batch(asked(grouped, third, relation="exchange"), data=VISITS, ledger=ledger)
    assert len(Ledger(ledger).releases()) == 1


def test_data_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    data = tmp_path / "d.csv"
    data.write_text("age\n70\n12\n", encoding="utf-8")
    real = pipeline.read_statistics

    def written_to(planned, key):
        found = real(planned, key)
        data.write_text("age\n70\n12\n13\n", encoding="utf-8")
        return found

    monkeypatch.setattr(pipeline, "read_statistics", written_to)
    with pytest.raises(BadInput, match=r"^data: changed while it was read"):
        irisdp.batch({**asked(OLD, ALL), "data": data})
    assert not (tmp_path / "d.ledger").exists()


# What is shown and written.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + number % 60},{'Ely' if number % 3 else 'York'}" for number in range(300)]
    (tmp_path / "d.csv").write_text("\n".join(["age,town", *lines]) + "\n", encoding="utf-8")
    grouped = {"query": "count", "by": "town", "groups": "Ely,York", "out": "towns.json", "weight": 2}
    plan = asked(OLD, grouped, {"query": "majority", "expression": "age > 50"}, data="d.csv", out="o.csv")
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return tmp_path


def test_a_dry_run_says_errors_and_totals_and_touches_nothing(folder, capsys):
    before = sorted(folder.iterdir())
    assert run(["batch", "plan.json", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(folder.iterdir()) == before
    assert told["dry_run"] is True
    assert told["cost"] == {"epsilon": "1", "delta": "0"}
    assert told["total"]["sums"] == {"epsilon": "1", "delta": "0"}
    assert Fraction("0.99") < Fraction(told["total"]["lower"]) <= Fraction(told["total"]["upper"]) < 1
    assert [each["cost"]["epsilon"] for each in told["questions"]] == ["0.25", "0.5", "0.25"]
    assert told["questions"][0]["expected_error"]["mean_absolute"] == pytest.approx(1 / math.sinh(0.25))
    assert run(["batch", "plan.json", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    for part in ("1. count age > 64", "off by 1.92", "by sums   ε = 1, δ = 0", "exactly   ε ≤ 0.99", "δ = 0.000001"):
        assert part in shown
    assert sorted(folder.iterdir()) == before


def test_each_question_has_its_file_and_all_that_reading_it_needs(folder, capsys):
    assert run(["batch", "plan.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["out"] == [
        f"{name}{end}"
        for name in ("o.1.csv", "towns.json", "o.3.csv")
        for end in ("", ".release.json", ".datapackage.json")
    ]
    assert told["answers"] == [each["answers"] for each in told["questions"]]
    assert json.loads((folder / "towns.json").read_text(encoding="utf-8")) == told["answers"][1]
    beside = json.loads((folder / "towns.json.release.json").read_text(encoding="utf-8"))
    assert beside["cost"] == {"epsilon": "0.5", "delta": "0"}
    assert beside["batch"] == {"cost": {"epsilon": "1", "delta": "0"}, "questions": 3, "question": 2}
    for name in ("towns.json", "o.1.csv"):
        assert run(["interpret", f"{name}.release.json", "--json"]) == 0
    assert Ledger("d.ledger").to_document()["releases"][0]["outputs"] == [
        str(folder / name) for name in ("o.1.csv", "towns.json", "o.3.csv")
    ]
    assert run(["batch", "plan.json"]) == 2  # the files are there
    capsys.readouterr()
    assert run(["batch", "plan.json", "--force"]) == 0
    assert "nothing: all this was answered before" in capsys.readouterr().out
    assert json.loads((folder / "towns.json").read_text(encoding="utf-8")) == told["answers"][1]


def test_no_output_is_an_input_or_another_output(folder, capsys):
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    (folder / "g.csv").write_text("town\nEly\n", encoding="utf-8")
    plan["questions"][1]["groups"] = "g.csv"
    for wrong, what in {
        "d.csv": "question 3: out: d.csv is the data",
        "g.csv": "question 3: out: g.csv is the groups",
        "plan.json": "question 3: out: plan.json is the plan",
        "o.1.csv": "question 3: out: o.1.csv is also that of question 1: they are one file",
    }.items():
        plan["questions"][2]["out"] = wrong
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        for more in ([], ["--dry-run"], ["--force"]):
            assert run(["batch", "plan.json", *more]) == 2
            assert what in capsys.readouterr().err
    del plan["questions"][2]["out"]
    (folder / "plan.json").write_text(json.dumps(plan | {"ledger": "plan.json"}), encoding="utf-8")
    assert run(["batch", "plan.json"]) == 2
    assert "is the plan; name a file of its own" in capsys.readouterr().err
    assert not (folder / "d.ledger").exists()


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_ledger_in_a_folder_that_is_not_there_is_refused_by_dry_runs_too(folder, capsys, dry):
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8")) | {"ledger": "no/l.ledger"}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    for command in (["batch", "plan.json"], ["publish", "d.csv", "count", "--epsilon", "1", "--ledger", "no/l.ledger"]):
        assert run([*command, *dry]) == 2
        assert (
            "lies in a folder that does not exist; make the folder, or name a file in another"
            in capsys.readouterr().err
        )


def test_a_dry_run_speaks_of_the_plan_and_names_questions_where_rules_differ(folder, capsys):
    each = [{**OLD, "per_unit": "any"}, {**OLD, "expression": "age > 30", "per_unit": "all"}]
    plan = asked(*each, data="d.csv", unit="town")
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert run(["batch", "plan.json", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "will be created, unless another ledger in its folder knows this data" in shown
    assert "(question 1)" in shown
    assert "(question 2)" in shown
    Ledger("d.ledger").set_limit("1/2")
    assert run(["batch", "plan.json", "--dry-run"]) == 1
    assert "raise the limit (irisdp ledger FILE --limit E,D)" in capsys.readouterr().out
    assert run(["batch", "plan.json", "--dry-run", "--json"]) == 1
    assert "set_limit" not in capsys.readouterr().out


def test_interpret_reads_each_question_and_says_what_a_line_of_the_ledger_is(ledger):
    found = irisdp.batch(asked(OLD, ALL), data=VISITS, ledger=ledger)
    assert irisdp.interpret(found[0], 1).loss == irisdp.interpret(found[0].sidecars[None], 1).loss
    (line,) = Ledger(ledger).releases()
    with pytest.raises(BadInput, match=r"^release: is a batch of several questions"):
        irisdp.interpret(line, 1)


def test_nothing_of_the_data_is_carried_along(ledger):
    found = irisdp.batch(asked(OLD, ALL), data=VISITS, ledger=ledger)
    with pytest.raises(BadInput, match="is not carried along"):
        found.plan.plans[0].table.digest()
    assert found.plan.asked.datasets[0].data is None
    assert all(question.dataset.data is None for question in found.plan.asked.questions)
    assert "70" not in repr(found.plan)
