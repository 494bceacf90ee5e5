"""Error by name: the ε that is found is the least, exactly; the small table, the risk, and what is refused."""

import json
import math
from fractions import Fraction as F
from pathlib import Path

import pyarrow as pa
import pytest

from irisdp import BadInput, Cost, NeighbouringRelation, Privacy, Session, plan, publish
from irisdp._cli import run
from irisdp._measurements import StaircaseNoise, surely_within
from irisdp._queries import FORMS, read_query
from irisdp._queries.reading import QUERIES
from irisdp._release import risk_of
from irisdp._release.accuracy import DIGITS, in_columns, least_epsilon
from irisdp._views.reports import odds_of
from irisdp.accounting import ConcentratedCost
from irisdp.noise import StaircaseLaw, bounded_delta, stretches_within
from irisdp.noise._staircase import best_step

PEOPLE = pa.table(
    {
        "person": list(range(12)), "home": [1, 2, 3] * 4, "town": ["Ely", "York", "Ely"] * 4,
        "age": [10, 20, 30, 40, 50, 60] * 2, "vote": [1, 0, 0] * 4,
    }
)  # fmt: skip
TOWNS = {"by": "town", "groups": ["Ely", "York"]}
PARTIES = {"categories": [0, 1, 2]}
ASKED = {
    "count": (("count", "vote = 1"), {"within": 5}),
    "count, surely": (("count",), {"within": 3, "confidence": "0.999"}),
    "count, exactly": (("count",), {"within": 0, "confidence": "1/2"}),
    "count, far": (("count",), {"within": 10**9}),
    "by town": (("count",), {"within": 5, **TOWNS}),
    "exchange": (("count", "vote = 1"), {"within": 5, "relation": "exchange"}),
    "persons": (("count",), {"within": 5, "unit": "person", "at_most": 1, **TOWNS}),
    "many records": (("count",), {"within": 5, "unit": "home", "at_most": 3}),
    "many records, spread": (("count",), {"within": 5, "unit": "home", "at_most": 5, "groups_per_unit": 2, **TOWNS}),
    "many records, few groups": (
        ("count",),
        {"within": 2, "confidence": "0.979", "unit": "home", "at_most": 10, "groups_per_unit": 2, **TOWNS},
    ),
    "with a delta": (("count",), {"within": 5, "delta": "1e-3"}),
    "histogram": (("histogram", "age"), {"within": 4, "bins": [20, 40]}),
    "at least": (("at-least", 3, "vote = 1"), {"within": 20}),
    "at most": (("at-most", 3, "vote = 1"), {"within": 0, "confidence": "0.9"}),
    "majority": (("majority", "vote = 1"), {"within": 10, "relation": "exchange"}),
    "band": (("band", "4, 8", "vote = 1"), {"within": 1}),
    "band, wide": (("band", "100", "vote = 1"), {"within": 30}),
    "sum": (("sum", "age"), {"within": 500, "lower": 0, "upper": 100}),
    "sum, where more may be too little": (
        ("sum", "age"),
        {"within": 25, "confidence": "0.979", "lower": 0, "upper": 100},
    ),
    "sum in steps": (("sum", "age"), {"within": "12.5", "lower": -10, "upper": 100, "step": "0.5", **TOWNS}),
    "sum, exchange": (("sum", "age"), {"within": 500, "lower": 18, "upper": 100, "relation": "exchange"}),
    "plurality": (("plurality", "vote"), {"within": 20, **PARTIES}),
    "plurality, exchange": (("plurality", "vote"), {"within": 20, "relation": "exchange", **PARTIES}),
    "plurality of many": (("plurality", "age"), {"within": 9, "categories": list(range(9)), "relation": "exchange"}),
    "sizes": (("sizes", 3, "town"), {"within": 6}),
    "selected": (("count",), {"within": 5, "by": "town", "select_groups": True, "delta": "1e-3"}),
}
SURE = F(19, 20)


def unit_of(epsilon):
    """One in the last of twelve significant digits."""
    power = math.floor(math.log10(epsilon))
    assert F(10) ** power <= epsilon < F(10) ** (power + 1)
    return F(10) ** (power - DIGITS + 1)


@pytest.mark.parametrize("name", ASKED)
def test_the_epsilon_found_is_the_least(name):
    words, options = ASKED[name]
    rest = {key: value for key, value in options.items() if key not in ("within", "confidence")}
    confidence = F(options.get("confidence", SURE))
    planned = plan(PEOPLE, *words, **options)
    found = planned.within.privacy.epsilon
    assert (found / unit_of(found)).denominator == 1

    def chance(epsilon):
        return plan(PEOPLE, *words, epsilon=epsilon, **rest).audiences[0].mechanism.chance_within(distance)

    distance = int(F(options["within"]) / F(options.get("step", 1)))
    assert planned.within.distance == distance
    assert planned.audiences[0].mechanism.chance_within(distance).lower >= confidence
    assert chance(found).lower >= confidence
    assert chance(found - unit_of(found)).lower < confidence
    assert planned.question() == plan(PEOPLE, *words, epsilon=found, **rest).question()


@pytest.mark.parametrize("step", ["0.01", "0.5", "1", "2", "20"])
def test_a_sum_in_steps_keeps_the_promise_in_the_unit_of_its_column(step):
    """The steps were counted twice: what was to stay within 20 strayed to 40 where they are halves."""
    bounds = {"lower": 0, "upper": 20, "step": step}
    planned = plan(PEOPLE, "sum", "age", within=40, **bounds)
    error = planned.audiences[0].mechanism.expected_error()
    assert F(error["within_95_percent"]) <= 40
    less = plan(PEOPLE, "sum", "age", epsilon=planned.within.privacy.epsilon * F(9, 10), **bounds)
    assert F(less.audiences[0].mechanism.expected_error()["within_95_percent"]) > 40
    assert planned.within.distance == 40 / F(step)
    asked = next(row for row in planned.errors_around() if row.cost.epsilon == planned.within.privacy.epsilon)
    assert 0.949 <= asked.chance < 0.99


def test_a_count_by_formula():
    found = plan(PEOPLE, "count", within=5).within.privacy.epsilon
    assert float(found) == pytest.approx(0.538174003452, abs=1e-12)
    alpha = math.exp(-float(found))
    assert 2 * alpha**6 / (1 + alpha) == pytest.approx(0.05, rel=1e-9)


def test_an_epsilon_reached_exactly_is_found():
    """At r = 3 a count is right half of the time: log 3, rounded up to twelve digits."""
    found = plan(PEOPLE, "count", within=0, confidence="1/2").within.privacy.epsilon
    assert found == F("1.09861228867")


def test_the_least_is_found_wherever_it_is_and_also_below_a_gap():
    for wanted in (F("0.00123456789012"), F(7), F(10), F("999.123456789"), F(1), F(1, 10**12)):
        assert least_epsilon(lambda epsilon, wanted=wanted: epsilon >= wanted) == wanted
    assert least_epsilon(lambda epsilon: epsilon >= F(1, 3)) == F("0.333333333334")
    # More is not always better: enough from 0.4 to 0.5, and from 0.6 on.
    assert least_epsilon(lambda epsilon: F("0.4") <= epsilon < F("0.5") or epsilon >= F("0.6")) == F("0.4")


def test_an_answer_found_by_its_error_is_the_answer_at_its_epsilon(tmp_path):
    ledger = tmp_path / "a.ledger"
    first = publish(PEOPLE, "count", "vote = 1", within=5, ledger=ledger)
    again = publish(PEOPLE, "count", "vote = 1", epsilon=first.cost.epsilon, ledger=ledger)
    assert again.repeated and again.answers.values == first.answers.values
    assert first.sidecars[None]["privacy"] == again.sidecars[None]["privacy"]


def test_exchange_between_groups_is_charged_twice_what_is_found():
    planned = plan(PEOPLE, "count", within=5, relation="exchange", **TOWNS)
    assert planned.cost.epsilon == 2 * planned.within.privacy.epsilon


def test_a_selection_has_the_epsilon_found():
    planned = plan(PEOPLE, "at-least", 3, within=9, by="town", select_groups=True, delta="1e-3")
    assert planned.selector.privacy.epsilon == planned.within.privacy.epsilon
    assert planned.within.privacy.epsilon == plan(PEOPLE, "at-least", 3, within=9).within.privacy.epsilon
    assert planned.cost.epsilon == 2 * planned.within.privacy.epsilon
    own = plan(
        PEOPLE, "count", within=5, by="town", select_groups=True, selection_epsilon="0.1", selection_delta="1e-3"
    )
    assert own.cost.epsilon == own.within.privacy.epsilon + F(1, 10)


def test_counts_that_name_their_groups_pay_once():
    planned = plan(PEOPLE, "count", within=5, by="town", select_groups=True, delta="1e-3")
    assert planned.selector is None and planned.cost.epsilon == planned.within.privacy.epsilon
    assert "whether it is named or not" in planned.within.says


def test_a_session_takes_it(tmp_path):
    session = Session(PEOPLE, ledger=tmp_path / "s.ledger", limit=1)
    found = session.count("vote = 1", within=5, confidence="0.9")
    assert session.remaining.epsilon == 1 - found.cost.epsilon
    assert session.plan("count", within=5).within.distance == 5


ALWAYS = {
    "count": (("count", "vote = 1"), {"within": 5}),
    "count, exchange": (("count", "vote = 1"), {"within": 3, "relation": "exchange"}),
    "histogram": (("histogram", "age"), {"within": 1, "bins": [20, 40], "epsilon": "0.1"}),
    "at least": (("at-least", 3, "vote = 1"), {"within": 5}),
    "majority, exchange": (("majority", "vote = 1"), {"within": 5, "relation": "exchange"}),
    "far": (("at-most", 3), {"within": 300, "epsilon": "0.05"}),
    "selected": (("count",), {"within": 4, "by": "town", "select_groups": True}),
}


@pytest.mark.parametrize("name", ALWAYS)
def test_beside_an_epsilon_the_delta_is_the_least_at_which_it_is_always_so(name):
    words, given = ALWAYS[name]
    options = {"epsilon": 1, **given}
    planned = plan(PEOPLE, *words, **options)
    found, far = planned.within.privacy, options.pop("within")
    assert planned.audiences[0].mechanism.chance_within(far).lower == 1
    assert planned.audiences[0].mechanism.chance_within(far - 1).upper < 1
    assert 0 <= found.delta - bounded_delta(found, far) < unit_of(found.delta)
    less = plan(PEOPLE, *words, **options, delta=found.delta - unit_of(found.delta))
    assert less.audiences[0].mechanism.chance_within(far).upper < 1
    assert planned.cost.delta == found.delta and "always" in planned.within.says


def test_a_delta_that_is_next_to_nothing_is_not_looked_for_closer():
    found = plan(PEOPLE, "at-least", 3, within=8192, epsilon=1).within
    assert found.privacy.delta == F(1, 10**30)
    assert found.says.endswith("less is not looked for")


@pytest.mark.parametrize("query", ["sum", "plurality"])
def test_noise_without_an_end_is_refused_beside_an_epsilon(query):
    choices = PARTIES if query == "plurality" else {"lower": 0, "upper": 100}
    with pytest.raises(BadInput, match="within: with epsilon= is for counts of one record of a person, and yes or no"):
        plan(PEOPLE, query, "vote", within=5, epsilon=1, **choices)


NOT_FOR = [form.name for form in FORMS if form.within is form.within_records is None and form.name != "apply"]
BINS = {"bins": [20, 40]}
BOUNDS = {"lower": 0, "upper": 99}
CHOSEN = dict.fromkeys(("mean", "variance", "deviation"), BOUNDS) | {"bounds": {}}
WORDS = {"bounds": ("age",), "quantile": ("0.9", "age"), "top": (2, "vote"), "column": ("vote",)}
BETWEEN = {"median": {"bins": [20, 40]}, "quantile": {"bins": [20, 40]}, "mean": {"lower": 0, "upper": 99}}
"""What else they are told; all others categories."""


@pytest.mark.parametrize("more", [
    {}, {"relation": "exchange"}, {"relation": "exchange", "missing": 0}, {"by": "town", "groups": ["x", "y"]},
])  # fmt: skip
def test_the_error_of_a_mean_is_met_where_a_number_of_records_is_assumed(more):
    """No data is asked: the same ε for any table, less the more records are assumed, and the same question by ε."""
    asked = {**BOUNDS, "within": 2, "confidence": "0.9", **more}
    few, many = (plan(PEOPLE, "mean", "age", records=number, **asked) for number in (100, "1000"))
    epsilon = many.within.privacy.epsilon
    assert few.within.privacy.epsilon / epsilon == pytest.approx(10, rel=0.2)
    assert "if at least 1,000 of its records have a value, with probability 90 %" in many.within.says
    assert many.to_document()["within"]["assumed_records"] == 1000
    nobody = pa.table({"age": pa.array([], pa.int64()), "town": pa.array([], pa.string())})
    assert plan(nobody, "mean", "age", records=1000, **asked).within == many.within
    plain = {name: value for name, value in asked.items() if name not in ("within", "confidence")}
    assert plan(PEOPLE, "mean", "age", epsilon=epsilon, **plain).question() == many.question()


@pytest.mark.parametrize(("query", "options", "message"), [
    ("mean", {"within": 2}, "within: of a mean depends on how many records have a value, which is not public; "),
    ("mean", {"within": 2, "records": 0}, "records: must be at least 1"),
    ("mean", {"within": 2, "records": 9, "epsilon": 1}, "within: with epsilon= is for counts"),
    ("mean", {"records": 9, "epsilon": 1}, "records: is an assumption for within=, which is missing; "),
    ("sum", {"within": 2, "records": 9}, "records: is not for sum, but for mean; leave it out"),
    ("mean", {"within": 2, "records": 9, "weight": "age", "weight_upper": 9}, "within: is not for weighted means"),
])  # fmt: skip
def test_a_number_of_records_is_assumed_for_means_alone(query, options, message):
    with pytest.raises(BadInput) as caught:
        plan(PEOPLE, query, "age", **BOUNDS, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("query", NOT_FOR)
def test_other_questions_are_refused_in_one_line(query):
    words = WORDS.get(query, ("age",))
    choices = CHOSEN.get(query, PARTIES)
    with pytest.raises(BadInput, match=f"^within: is not for {query}, but for count, .*; ask with epsilon="):
        plan(PEOPLE, query, *words, within=5, relation="exchange", **choices)


@pytest.mark.parametrize(("options", "message"), [
    ({"within": "2.5"}, "within: must be a whole number for this query"),
    ({"within": -1}, "within: must be from 0 to"),
    ({"within": "near"}, "within: must be a finite number"),
    ({"within": 5, "confidence": 1}, "confidence: must be above 0 and below 1"),
    ({"within": 5, "confidence": 0}, "confidence: must be above 0 and below 1"),
    ({"within": 5, "confidence": 95}, "confidence: must be above 0 and below 1"),
    ({"within": 5, "mu": 1}, "within: cannot be given with mu="),
    ({"within": 5, "privacy": {"epsilon": 1}}, "within: cannot be given with privacy="),
    ({"within": 5, "audience": {"press": 1}}, "within: cannot be given with audience="),
    ({"within": 5, "epsilon": 1, "ratio": 2}, "epsilon: says the same as ratio="),
    ({"within": 5, "epsilon": 1, "confidence": "0.9"}, "confidence: is 1 where epsilon= stands beside within="),
    ({"within": 5, "epsilon": 1, "delta": "1e-6"}, "within: would take δ = 0.00312504678908 at this ε"),
    (
        {"within": 5, "epsilon": 1, "delta": "1e-2", "by": "town", "select_groups": True},
        "delta: follows from epsilon= and within=",
    ),
    ({"within": 0, "epsilon": 1}, "within: must be from 1 to 8,192 with epsilon="),
    ({"within": 0, "confidence": 1 - F(1, 10**500)}, "within: is kept by no ε up to 1,000"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(options, message):
    with pytest.raises(BadInput) as caught:
        plan(PEOPLE, "count", **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_delta_that_is_found_stays_below_the_one_that_is_allowed():
    asked = plan(PEOPLE, "count", within=5, epsilon=1)
    allowed = plan(PEOPLE, "count", within=5, epsilon=1, delta=asked.cost.delta)
    assert allowed.question() == asked.question() and allowed.cost == asked.cost, "it is the same question"
    less = asked.cost.delta - unit_of(asked.cost.delta)
    with pytest.raises(BadInput, match=r"^within: would take δ = .* at this ε, and delta= allows less; give a larger"):
        plan(PEOPLE, "count", within=5, epsilon=1, delta=less)


def test_what_a_delta_means_is_said_before_it_is_spent(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    command = ["publish", "t.csv", "count", "--epsilon", "0.05", "--within"]
    said = (
        "with probability up to 32.78 % an answer gives one person away for certain, however small ε is: that is much"
    )
    for more in (["--dry-run"], []):
        assert run([*command, "1", *more]) == 0
        assert said in capsys.readouterr().out
    assert run([*command, "400", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "gives one person away" in shown and "that is much" not in shown
    assert run(["publish", "t.csv", "count", "--within", "5", "--dry-run"]) == 0
    assert "gives one person away" not in capsys.readouterr().out, "no δ was found"
    assert run([*command, "1", "--delta", "0.1"]) == 2
    assert "--delta allows less" in capsys.readouterr().err


def test_what_is_always_so_needs_no_epsilon():
    with pytest.raises(BadInput, match="within: is kept however small ε is"):
        plan(PEOPLE, "at-least", 3, within=5, confidence="0.4")


def test_batches_refuse_it_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n")
    asked = {"data": "t.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count", "within": 5}]}
    (tmp_path / "plan.json").write_text(json.dumps(asked))
    assert run(["batch", "plan.json", "--dry-run"]) == 2
    assert "is not for batches, whose questions share one budget" in capsys.readouterr().err


def test_what_it_takes_is_said_before_it_is_spent(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    said = (
        "each answer is off by at most 5 with probability 95 %: the least ε for that, to 12 digits, is 0.538174003452"
    )
    command = ["publish", "t.csv", "count", "--within", "5"]
    assert run([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert said in shown and "ends at most 63.14 % sure" in shown
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert shown.index(said) < shown.index("answer")
    assert run([*command, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["within"] == {
        "distance": 5, "confidence": "0.95", "epsilon": "0.538174003452", "delta": "0", "says": said,
    }  # fmt: skip


@pytest.mark.parametrize(("words", "options", "surely"), [
    (("count",), {}, True),
    (("majority", "age > 30"), {}, True),
    (("plurality", "vote"), {"categories": [0, 1]}, False),
    (("sum", "age"), {"lower": 0, "upper": 20}, False),
])  # fmt: skip
def test_an_epsilon_is_called_the_least_only_where_none_less_will_do(words, options, surely):
    kept = plan(PEOPLE, *words, within=40, **options).within
    assert kept.surely_least == surely
    assert f"the least ε {'' if surely else 'found '}for that, to 12 digits, is " in kept.says


def test_the_table_of_errors_is_that_of_plans_of_their_own():
    planned = plan(PEOPLE, "count", epsilon=1)
    rows = planned.errors_around()
    assert [row.level for row in rows] == [("epsilon", F(place)) for place in ("1/4", "1/2", "1", "2", "4")]
    for row in rows:
        error = plan(PEOPLE, "count", epsilon=row.level[1]).audiences[0].mechanism.expected_error()
        assert (row.mean, row.likely) == (error["mean_absolute"], error["within_95_percent"])
        assert row.cost.epsilon == row.level[1] and row.chance is None


def test_what_a_column_costs_is_rounded_up():
    rows = plan(PEOPLE, "count", epsilon="0.32101").errors_around()
    told = list(map(F, in_columns(rows)[0].split()[1:]))
    assert all(F(0) <= said - row.level[1] < F("0.001") for said, row in zip(told, rows, strict=True))


def test_no_chance_below_one_is_told_as_one():
    rows = plan(PEOPLE, "count", within=60, confidence="0.999999999").errors_around()
    assert rows[-1].chance == 1 - 2**-53
    assert in_columns(rows)[-1].split()[-1] == ">0.999"
    rows = plan(PEOPLE, "majority", "age > 30", epsilon=50).errors_around()
    assert max(row.at_worst for row in rows) == 1 - 2**-53
    assert "1" not in in_columns(rows)[1].split()
    bounded = plan(PEOPLE, "count", within=5, epsilon=1).errors_around()
    assert bounded[2].chance == 1, "which it is"


@pytest.mark.parametrize("epsilon", ["1e-9", "0.1", "0.3", "1", "2", "7", "33", "36.5"])
def test_a_risk_in_floats_is_rounded_up(epsilon):
    for cost in (Cost(F(epsilon)), Cost(F(epsilon), F("1e-7")), ConcentratedCost(F(epsilon))):
        risk = risk_of(cost, NeighbouringRelation.ADD_REMOVE, None)
        told = risk.to_document()
        assert F(told["guess_at_most"]) >= risk.guess
        assert risk.posterior is None or F(told["posterior_at_most"]) >= risk.posterior


def test_the_table_of_names_tells_the_worst_and_a_lead():
    rows = plan(PEOPLE, "plurality", "vote", within=20, **PARTIES).errors_around()
    assert [row.mean for row in rows] == [None] * 5
    assert rows[2].likely == 20
    assert [row.chance for row in rows] == sorted(row.chance for row in rows)
    assert rows[2].chance == pytest.approx(0.95)


@pytest.mark.parametrize("query", NOT_FOR)
def test_where_each_epsilon_would_take_a_search_there_is_no_table(query):
    choices = CHOSEN.get(query, PARTIES)
    planned = plan(PEOPLE, query, *WORDS.get(query, ("age",)), epsilon=2, relation="exchange", **choices)
    assert planned.errors_around() == []


def test_gaussian_noise_has_a_table_in_mu():
    rows = plan(PEOPLE, "count", mu=1).errors_around()
    assert [row.level for row in rows] == [("mu", F(place)) for place in ("1/4", "1/2", "1", "2", "4")]


@pytest.mark.parametrize(("options", "says"), [
    ({"epsilon": 1}, "that your record is in the table ends at most 73.11 % sure"),
    ({"epsilon": 1, "unit": "person"}, "that you are in the table ends at most 73.11 % sure"),
    ({"epsilon": 1, "relation": "exchange"}, "which of two records is yours ends at most 73.11 % sure"),
    (
        {"epsilon": 1, "relation": "exchange", "unit": "person"},
        "which of two persons you are ends at most 73.11 % sure",
    ),
    ({"epsilon": 1, "relation": "exchange", **TOWNS}, "which of two records is yours ends at most 88.08 % sure"),
    ({"epsilon": 10}, "ends at most 99.99547 % sure"),
    (
        {"epsilon": 1, "by": "town", "select_groups": True, "delta": "1e-6"},
        "guesses right with probability 73.11 % at most",
    ),
    ({"mu": 1}, "guesses right with probability 69.15 % at most"),
    # However a ledger counts it.
    ({"mu": 1, "delta": "1e-6"}, "guesses right with probability 69.15 % at most"),
])  # fmt: skip
def test_the_risk_is_said_in_plain_words(options, says):
    risk = plan(PEOPLE, "count", **options).risk
    assert risk.describe().startswith("an adversary who thinks it 50:50 ")
    assert risk.describe().endswith(says)
    assert risk.to_document()["says"] == risk.describe()


def test_the_risk_is_reached_and_never_passed():
    """Of randomised response at this ε the posterior is r/(1 + r); with a δ guesses are right with (r + δ)/(r + 1)."""
    r = math.e
    risk = plan(PEOPLE, "count", epsilon=1).risk
    assert 0 <= float(risk.posterior) - r / (1 + r) < 1e-15
    told = plan(PEOPLE, "count", epsilon=1, by="town", select_groups=True, delta="1e-3", selection_epsilon="1e-9").risk
    assert float(told.guess) == pytest.approx((r + 1e-3) / (r + 1), abs=1e-8)


def test_under_a_delta_single_answers_are_not_bounded():
    """A mechanism that is private and whose likeliest answer tells more than ε does, far more often than δ."""
    ratio, delta, extra = F(20137, 10**4), F(1, 100), F(1, 2)
    assert ratio < math.exp(0.7)
    cost = Cost(F(7, 10), delta)
    likely = delta / (extra / 2)
    law, other = (likely, 1 - likely), (likely / (ratio + extra), 1 - likely / (ratio + extra))
    for one, two in ((law, other), (other, law)):
        assert sum(max(p - ratio * q, 0) for p, q in zip(one, two, strict=True)) <= delta
    assert law[0] / other[0] > ratio
    assert law[0] > 3 * delta
    risk = risk_of(cost, NeighbouringRelation.ADD_REMOVE, None)
    assert risk.posterior is None
    assert sum(map(max, zip(law, other, strict=True))) / 2 <= risk.guess
    assert risk.to_document()["posterior_at_most"] is None
    assert odds_of(cost, NeighbouringRelation.ADD_REMOVE, None).moved == ()


def test_in_rho_guesses_are_bounded_by_what_gaussian_and_two_sided_laws_tell():
    """Of a Gaussian's shift by √(2ρ), and of randomised response, whose divergence of order α is at most αρ."""

    def divergence(p, q, order):
        return math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)

    def guess(rho):
        return risk_of(ConcentratedCost(F(rho)), NeighbouringRelation.ADD_REMOVE, None).guess

    for rho in (F(1, 1000), F(1, 10), F(1, 2), F(1), F(2), F(5)):
        shift = math.sqrt(2 * rho)
        told = (1 + math.erf(shift / 2 / math.sqrt(2))) / 2
        assert told <= guess(rho) < 1
        assert told > (1 + math.sqrt(rho / 8)) / 2 or rho > 1  # a bound half as large would be false
    for chance in (0.51, 0.6, 0.75, 0.9, 0.99):
        law = (chance, 1 - chance)
        rho = max(divergence(law, law[::-1], 1 + 1.05**step / 1000) / (1 + 1.05**step / 1000) for step in range(200))
        assert chance <= guess(F(rho))
    odds = odds_of(ConcentratedCost(F(1, 2)), NeighbouringRelation.ADD_REMOVE, "person")
    assert "guesses right with probability 75 % at most, averaged over what may be published" in odds.sentences[0]
    assert odds.moved == ()


def staircase(sensitivity, distance, confidence):
    """Whether an ε is enough for a whole number that one person moves by at most `sensitivity`."""

    def enough(epsilon):
        return surely_within(StaircaseNoise(Privacy(epsilon=epsilon), sensitivity), distance, confidence)

    return enough


def test_the_step_of_a_staircase_falls_where_it_is_said_to():
    """Against the mean errors of all steps."""
    for m in range(2, 9):
        for step in range(1, (m + 1) // 2):
            falls = 1 + F(m * (m - 2 * step), step**2)
            for ratio, best in ((falls, step), (falls * (1 - F(1, 10**9)), step + 1)):
                privacy = Privacy(ratio=ratio)
                errors = [StaircaseLaw(privacy, m, one).expected().upper for one in range(1, m + 1)]
                assert best_step(privacy, m, "absolute") == best == 1 + errors.index(min(errors))


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("confidence", [F(1, 2), F(9, 10), F(99, 100)])
def test_no_smaller_epsilon_is_enough_for_a_staircase(sensitivity, confidence):
    for distance in (0, sensitivity // 2, sensitivity + 1):
        enough = staircase(sensitivity, distance, confidence)
        found = least_epsilon(enough, stretches_within(sensitivity, distance, confidence))
        assert enough(found) and not enough(found - unit_of(found))
        assert not any(enough(found * place / 60) for place in range(1, 60))


def test_a_staircase_may_be_enough_where_one_with_more_epsilon_is_not():
    """Noise for 100 steps stays within 25 often enough at 6.94, and again from 7.26 on, but not between."""
    asked = (100, 25, F(979, 1000))
    enough, stretches = staircase(*asked), stretches_within(*asked)
    found = least_epsilon(enough, stretches)
    assert float(found) == pytest.approx(6.94113449724)
    assert not enough(F("7.2"))
    assert float(least_epsilon(enough)) == pytest.approx(7.26401155852)  # what looking at some smaller ones would find


# The registry of queries agrees with the queries, the help and the README.

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def written(form):
    """Return the query of a form, with a number and a condition for what it leaves open."""
    filled = {
        "P1,P2,… ": "0.25,0.75 ",
        "[K]": "3",
        "K": "3",
        "[COLUMN] ": "",
        "P ": "0.9 ",
        "T1,T2,…": "3,5",
        "[EXPR]": "x = 1",
        "EXPR": "x = 1",
    }
    found = form.usage
    for left_open, word in filled.items():
        found = found.replace(left_open, word)
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_each_row_is_a_query_that_can_be_read(form, tmp_path):
    file = tmp_path / "m.json"
    file.write_text('{"privacy": {"ratio": 2}, "graph": {"family": "path", "n": 2}, "matrix": [[1, 0], [1, 0]]}')
    query = read_query(written(form).replace("MECH.json", str(file)), ())
    assert type(query) is QUERIES[form.name]
    assert query.name == form.name
    assert query.expression == ("x = 1" if "EXPR" in form.usage else None)
    assert query.describe()["query"] == form.name
    assert "expression" not in query.describe()  # the condition is told in its one form, for all queries alike


def test_names_are_different():
    assert len(QUERIES) == len(FORMS)


def test_the_readme_lists_each_query():
    assert [form.name for form in FORMS if f"`{form.name} " not in README] == []


def test_the_docstring_names_each_query():
    listed = ", ".join(f'"{form.name}"' for form in FORMS)
    assert f"query : {{{listed}}}" in " ".join(publish.__doc__.split())


def test_help_lists_each_query(capsys):
    assert run(["publish", "-h"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert [form.name for form in FORMS if f"{form.usage} {form.answer}: {form.example}" not in shown] == []
    assert all(form.example.split()[0] == form.name for form in FORMS)
