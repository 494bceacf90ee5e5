"""What coalitions of audiences see together, against what they are charged: joint laws over all tables of two records.

The library's own code decides which audience gets which draw, what a link is made from, and what is charged. Its draws
are replaced by choices among all outcomes, each with its exact probability by a formula that stands here, and all
choices are tried. So the joint law of all answers of all audiences is multiplied out, and compared for neighbours.
"""

import json
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from itertools import combinations_with_replacement
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from irisdp import plan
from irisdp._exact import exp_below
from irisdp._ledger import hash_of
from irisdp._measurements import SpreadNoise, counts, means
from irisdp._measurements.means import NoisyMeans
from irisdp._queries import FORMS
from irisdp._release import pipeline, plans
from irisdp._release.pipeline import draw_answers, read_statistics
from irisdp.accounting import EPSILON_DELTA
from support.programs import restricted

MOST = 2
RECORDS = [("a", 0), ("a", 2), ("b", 1)]
TABLES = [table for size in range(MOST + 1) for table in combinations_with_replacement(RECORDS, size)]
NEIGHBOURS = [(table, tuple(sorted((*table, one)))) for table in TABLES if len(table) < MOST for one in RECORDS]
LEVELS = {"board": "1", "press": "1/2"}


def frame(table):
    groups, values = zip(*table, strict=True) if table else ((), ())
    people = [f"p{place}" for place in range(len(table))]
    columns = {"u": pa.array(people, pa.string()), "g": pa.array(groups, pa.string())}
    return pa.table({**columns, "v": pa.array(values, pa.int64())})


# The laws of a chain on 0..n: geometric noise cut off at the ends, and the step between two of them by elimination.
# Cutting off hides nothing of numbers from 0 to n (tests/oracles/test_audiences.py compares it with the whole chain).


def solved(left, right):
    """left⁻¹·right by elimination on fractions."""
    rows = [[*a, *b] for a, b in zip(left, right, strict=True)]
    for pivot in range(len(rows)):
        rows[pivot] = [value / rows[pivot][pivot] for value in rows[pivot]]
        for other in range(len(rows)):
            if other != pivot:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[len(left) :] for row in rows]


class Every:
    """Tries every choice, one after the other, and multiplies their probabilities."""

    def __init__(self):
        self.script, self.place, self.chance = [], 0, Fraction(1)

    def choose(self, law):
        outcomes = [(outcome, chance) for outcome, chance in sorted(law.items(), key=str) if chance]
        if self.place == len(self.script):
            self.script.append([0, len(outcomes)])
        outcome, chance = outcomes[self.script[self.place][0]]
        self.place += 1
        self.chance *= chance
        return outcome

    def next(self):
        """Go on to the next choices; False where all were tried."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if self.script:
            self.script[-1][0] += 1
        self.place, self.chance = 0, Fraction(1)
        return bool(self.script)


@contextmanager
def choosing(every, largest, mechanisms):
    """Let all noise be chosen by `every`, on numbers from 0 to `largest`."""
    noises, steps = {}, {}

    def noise(privacy):
        if privacy.ratio not in noises:
            noises[privacy.ratio] = restricted(largest, privacy.ratio)
        return noises[privacy.ratio]

    def step(fine, coarse):
        key = fine.ratio, coarse.ratio
        if key not in steps:
            steps[key] = solved(noise(fine), noise(coarse))
        return steps[key]

    def each(function, *arrays):
        arrays = [np.asarray(array) for array in arrays]
        drawn = [function(*map(int, values)) for values in zip(*(array.ravel() for array in arrays), strict=True)]
        return np.array(drawn, dtype=np.int64).reshape(arrays[0].shape)

    def add(values, privacy, *, source=None):
        return each(lambda value: every.choose(dict(enumerate(noise(privacy)[value]))), values)

    def coarsen(values, fine, coarse, *, source=None):
        return each(lambda value: every.choose(dict(enumerate(step(fine, coarse)[value]))), values)

    def refine(finer, coarser, target, *, finer_privacy, coarser_privacy, source=None):
        first = noise(target) if finer_privacy is None else step(finer_privacy, target)
        then = step(target, coarser_privacy)

        def link(before, after):
            law = {z: first[before][z] * then[z][after] for z in range(largest + 1)}
            return every.choose({z: chance / sum(law.values()) for z, chance in law.items()})

        return each(link, finer, coarser)

    def alone(self, nodes, links=(), *, source=None):
        """Draw what forms no chain from the law that the proof by exhaustion takes it from."""
        drawn = np.empty(len(nodes), dtype=object)
        for cell in range(len(nodes)):
            drawn[cell] = every.choose(self.law(nodes, cell, MOST))
        return drawn

    with ExitStack() as stack:
        for name, function in (("add_geometric", add), ("coarsen", coarsen), ("refine", refine)):
            stack.enter_context(patch.object(counts, name, function))
        for kind in {type(one) for one in mechanisms if one.chained is None}:
            stack.enter_context(patch.object(kind, "draw", alone))
        yield


def told(table, name, order):
    """Return the joint law of everything that is answered to some questions in order, and what is charged for all."""
    words, options, largest = QUESTIONS[name]
    planned = [plan(frame(table), *words, **each, **options) for each in ORDERS[order]]
    cells = [read_statistics(one, bytes(32)) for one in planned]
    every, law, charges = Every(), {}, set()
    with choosing(every, largest, [audience.mechanism for one in planned for audience in one.audiences]):
        while True:
            earlier, seen, charged = [], [], 0
            for one, cell in zip(planned, cells, strict=True):
                cost = one.price.after(earlier, EPSILON_DELTA)
                entries = draw_answers(one, cell, earlier, None, cost)
                assert sum((entry.cost for entry in entries), cost * 0) == cost
                charged += cost.epsilon
                seen += [(entry.audience, str(json.loads(entry.answers))) for entry in entries]
                earlier = [*earlier, *(stored(one, entry, len(earlier)) for entry in entries)]
            key, chance = tuple(seen), every.chance
            law[key] = law.get(key, 0) + chance
            charges.add(charged)
            if not every.next():
                break
    assert len(charges) == 1, "what is charged may not depend on an answer"
    assert sum(law.values()) == 1
    return law, charges.pop()


ORDERS = {
    "together": [{"audience": LEVELS}],
    "three": [{"audience": {**LEVELS, "radio": "1/2"}}],
    "coarser first": [{"audience": {"press": "1/2"}}, {"audience": {"board": "1"}}],
    "finer first": [{"audience": {"board": "1"}}, {"audience": LEVELS}, {"audience": {"radio": "1/2"}}],
}


def stored(planned, entry, number):
    return SimpleNamespace(
        id=number + 1,
        audience=entry.audience,
        details=entry.details,
        answers=entry.answers,
        question_hash=hash_of(planned.question()),
    )


def coalition_of(law, members):
    seen = {}
    for key, chance in law.items():
        part = tuple(answer for answer in key if answer[0] in members)
        seen[part] = seen.get(part, 0) + chance
    return seen


def loss(first, second):
    """The least ratio that bounds both laws by each other; None where nothing does."""
    if first.keys() != second.keys():
        return None
    return max(max(first[key] / second[key], second[key] / first[key]) for key in first)


QUESTIONS = {
    "count": (("count",), {}, 2),
    "count where": (("count", "v = 1"), {}, 2),
    "count by group": (("count",), {"by": "g", "groups": "a,b"}, 2),
    "count of several records": (("count",), {"unit": "g", "at_most": 2}, 2),
    "sum": (("sum", "v"), {"lower": 0, "upper": 2}, 4),
    "mean": (("mean", "v"), {"lower": 0, "upper": 2}, 4),
    "variance": (("variance", "v"), {"lower": 0, "upper": 1}, 2),
    "at-least": (("at-least", 1, "v = 1"), {}, 2),
    "at-most": (("at-most", 1), {}, 2),
    "band": (("band", "1,2"), {}, 2),
    "majority": (("majority", "v = 1"), {}, 2),
    "majority by group": (("majority", "v = 1"), {"by": "g", "groups": "a,b"}, 2),
    "plurality": (("plurality", "g"), {"categories": "a,b,c"}, 2),
    "median": (("median", "v"), {"bins": "0,1"}, 2),
    "top": (("top", 1, "g"), {"categories": "a,b,c"}, 2),
    "ranking": (("ranking", "g"), {"categories": "a,b,c"}, 2),
    "histogram": (("histogram", "v"), {"bins": "1"}, 2),
    "sizes": (("sizes", 1, "g"), {"categories": "a,b"}, 2),
    "count-distinct": (("count-distinct", "g"), {}, 2),
    "column": (("column", "g"), {"categories": "a,b", "relation": "exchange"}, 2),
    "quantiles": (("quantiles", "1/2,1", "v"), {"bins": "1"}, 2),
}
CHAINS = {
    *("count", "count where", "count by group", "count of several records", "sum", "mean", "variance"),
    *("histogram", "count-distinct"),
}
SLOW = {"variance", "count by group", "histogram", "mean", "majority by group"}
"""Asked together alone, about tables of one record: their laws have thousands of outcomes."""
TIGHT = {"count", "count where", "count by group", "count of several records", "mean", "at-least", "at-most", "band"}
"""Whose charge two neighbours of these tables reach."""


def neighbours(name):
    """Pairs of tables that one record, or one person with up to two records, tells apart."""
    _, options, _ = QUESTIONS[name]
    if options.get("relation") == "exchange":
        return [(one, other) for one in TABLES for other in TABLES if len(one) == len(other) == 1]
    if "unit" in options:
        people = {table: {group for group, _ in table} for table in TABLES}
        return [
            (one, other)
            for one in TABLES
            for other in TABLES
            for gone in people[other] - people[one]
            if one == tuple(record for record in other if record[0] != gone)
        ]
    return [pair for pair in NEIGHBOURS if not pair[0]] if name in SLOW else NEIGHBOURS


def worst(name, order, members=(*LEVELS, "radio")):
    """How many times likelier some answers of a coalition are on some table than on a neighbour, and the charge."""
    pairs = neighbours(name)
    laws = {table: told(table, name, order) for table in dict.fromkeys(table for pair in pairs for table in pair)}
    (charged,) = {charge for _, charge in laws.values()}
    seen = {table: coalition_of(law, members) for table, (law, _) in laws.items()}
    ratios = [loss(seen[one], seen[other]) for one, other in pairs]
    assert None not in ratios
    return max(ratios), charged


CASES = [(name, order) for name in QUESTIONS for order in ORDERS if name not in SLOW or order == "together"]
CASES.append(("mean", "coarser first"))
ROUNDED = Fraction(1, 10**9)
"""What roots and ratios that are rounded down leave, at most."""


@pytest.mark.parametrize(("name", "order"), CASES)
def test_all_audiences_together_learn_no_more_than_is_charged(name, order):
    ratio, charged = worst(name, order)
    assert charged == (1 if name in CHAINS else Fraction(3, 2))
    assert ratio <= exp_below(charged) * (1 + Fraction(1, 10**15))
    if name in TIGHT:
        assert ratio >= exp_below(charged) * (1 - ROUNDED)


@pytest.mark.parametrize("name", ["count", "sum", "majority", "plurality"])
@pytest.mark.parametrize("order", ["together", "coarser first"])
def test_each_audience_learns_what_its_own_answer_costs(name, order):
    for audience, level in LEVELS.items():
        ratio, _ = worst(name, order, [audience])
        assert ratio <= exp_below(Fraction(level)) * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(("name", "order"), [("majority", "three"), ("plurality", "finer first"), ("sum", "three")])
def test_audiences_of_one_accuracy_get_one_answer(name, order):
    words, _, _ = QUESTIONS[name]
    law, _ = told((("a", 1), ("b", 1)), name, order)
    for key in law:
        answers = {}
        for audience, answer in key:
            answers.setdefault(LEVELS.get(audience, LEVELS["press"]), set()).add(answer)
        assert all(len(of_level) == 1 for of_level in answers.values()), words


def same(values, privacy, links, *, noise=None, source=None):
    """The negative control: every answer is drawn from the table itself, whatever was drawn before."""
    return counts.add_geometric(values, privacy if noise is None else noise(privacy), source=source)


BUGS = {
    "links are drawn from the table": ("count", "together", counts, "draw_link", same),
    "the links of a mean are drawn from the table": ("mean", "together", means, "draw_link", same),
    "the noise of a mean is that of a step by one": (
        "mean", "together", NoisyMeans, "_of_one", lambda self, index, privacy: privacy
    ),
    "a sum has the noise of a step by one": ("sum", "together", SpreadNoise, "of_one", lambda self, privacy: privacy),
    "later links forget earlier ones": ("count", "coarser first", pipeline, "links_of", lambda chain, earlier: []),
    "draws are charged as a chain": ("majority", "together", plans.Price, "shares", lambda price, earlier, currency: [
        price.of_one(currency, price.privacy), *[currency.cost()] * len(price.others)
    ]),
    "a free draw is drawn again": ("majority", "finer first", pipeline, "earlier_draws", lambda *given, together: {}),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug, monkeypatch):
    name, order, place, function, wrong = BUGS[bug]
    monkeypatch.setattr(place, function, wrong)
    ratio, charged = worst(name, order)
    assert ratio > exp_below(charged) * Fraction(11, 10)


def test_every_query_is_among_them():
    """Of a query that is not, another test here says why it has no case: the noisy numbers are those of another."""
    alike = {"deviation": "variance", "quantile": "median", "bounds": "quantiles", "apply": "majority"}
    assert {form.name for form in FORMS} == {words[0] for words, _, _ in QUESTIONS.values()} | alike.keys()
