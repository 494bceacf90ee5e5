"""What a plan states about optimality is true: held against linear programs over all private mechanisms."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import irisdp
from irisdp._release.plans import NOTHING_CLAIMED

SURVEY = str(Path(__file__).parents[2] / "examples" / "anes96.csv")


def least_worst_error(inputs, neighbours, outputs, is_wrong, epsilon):
    """Return the least worst probability of a wrong output over all ε-private mechanisms, by HiGHS."""
    number = {entry: place for place, entry in enumerate(inputs)}
    columns = len(inputs) * len(outputs) + 1
    below, equal = [], []
    for one, other in neighbours:
        for place in range(len(outputs)):
            row = np.zeros(columns)
            row[number[one] * len(outputs) + place] = 1
            row[number[other] * len(outputs) + place] = -np.exp(epsilon)
            below.append(row)
    for entry in inputs:
        row, total = np.zeros(columns), np.zeros(columns)
        for place, output in enumerate(outputs):
            row[number[entry] * len(outputs) + place] = is_wrong(entry, output)
            total[number[entry] * len(outputs) + place] = 1
        row[-1] = -1
        below.append(row)
        equal.append(total)
    solved = linprog(
        np.eye(columns)[-1],
        A_ub=np.array(below),
        b_ub=np.zeros(len(below)),
        A_eq=np.array(equal),
        b_eq=np.ones(len(equal)),
        bounds=(0, None),
    )
    assert solved.status == 0
    return solved.fun


@pytest.fixture
def plan(tmp_path):
    session = irisdp.Session(SURVEY, ledger=tmp_path / "l.ledger")
    exchange = irisdp.Session(SURVEY, ledger=tmp_path / "x.ledger", relation="exchange")
    return lambda *query, relation="add-remove", **options: (exchange if relation == "exchange" else session).plan(
        *query, **options
    )


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_no_mechanism_is_wrong_about_a_majority_less_often_at_worst(plan, epsilon, relation):
    planned = plan("majority", "vote = 1", relation=relation, epsilon=epsilon)
    assert "smallest worst probability of the wrong answer" in planned.describe_optimality()
    leads = range(-8, 9)  # of yes over no; an exchange moves it by up to 2, a record by 1
    far = 2 if relation == "exchange" else 1
    pairs = [(a, b) for a, b in product(leads, leads) if a != b and abs(a - b) <= far]
    least = least_worst_error(list(leads), pairs, "yn", lambda lead, out: (lead > 0) != (out == "y"), epsilon)
    line = planned.audiences[0].mechanism.mechanism
    worst = max(1 - line.row(0, 0)[0], 1 - line.row(1, 0)[0])
    assert float(worst) == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize(("categories", "epsilon"), [(3, 0.5), (3, 1), (4, 1)])
def test_no_mechanism_names_a_wrong_winner_less_often_at_worst_on_tables_of_every_size(plan, categories, epsilon):
    names = [str(name) for name in range(categories)]
    planned = plan("plurality", "PID", categories=names, relation="exchange", epsilon=epsilon)
    assert "on tables of every size, smallest worst probability" in planned.describe_optimality()
    # Tables with the q mutual neighbours (0, 1, …, 1): one size is enough for the worst case.
    size = categories + 1
    tables = [counts for counts in product(range(size + 1), repeat=categories) if sum(counts) == size]
    pairs = [
        (one, tuple(count + (i == a) - (i == b) for i, count in enumerate(one)))
        for one in tables
        for a, b in product(range(categories), repeat=2)
        if a != b and one[b]
    ]
    least = least_worst_error(
        tables, pairs, range(categories), lambda counts, out: counts[out] < max(counts), float(epsilon)
    )
    stated = Fraction(categories - 1) / (planned.audiences[0].mechanism.privacy.ratio + categories - 1)
    assert float(stated) == pytest.approx(least, abs=1e-8)
    assert float(planned.audiences[0].mechanism.rule.worst_error) == pytest.approx(least, abs=1e-8)


def test_a_public_even_size_lets_another_mechanism_do_better_at_worst():
    """Why a plan says "on tables of every size": with a public size, tables that decide the bound may not occur."""
    tables = [(a, 6 - a) for a in range(7)]
    pairs = [(one, other) for one, other in product(tables, tables) if abs(one[0] - other[0]) == 1]
    least = least_worst_error(tables, pairs, range(2), lambda counts, out: counts[out] < max(counts), 1)
    assert least < 1 / (np.e + 1) - 0.05


@pytest.mark.parametrize(("query", "options"), [
    (("plurality", "PID"), {"categories": "0,1,2", "epsilon": 1}),
    (("median", "age"), {"bins": "30,50", "epsilon": 1}),
    (("ranking", "PID"), {"categories": "0,1,2", "epsilon": 1}),
    (("sum", "age"), {"lower": 0, "upper": 100, "step": 1, "epsilon": 1}),
    (("count",), {"by": "vote", "groups": "0,1", "relation": "exchange", "epsilon": 1}),
    (("count",), {"by": "PID", "select_groups": True, "epsilon": 1, "delta": "1e-6"}),
    (("majority", "vote = 1"), {"by": "educ", "groups": "1,2", "relation": "exchange", "epsilon": 1}),
    (("count",), {"mu": 1, "delta": "1e-6"}),
], ids=lambda value: value[0] if isinstance(value, tuple) else "")  # fmt: skip
def test_nothing_is_stated_where_nothing_is_proven(plan, query, options):
    assert plan(*query, **options).describe_optimality() == NOTHING_CLAIMED
