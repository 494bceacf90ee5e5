"""Questions about partitions of a growing table, chosen by earlier answers, as fractions: no more than the limit.

A record lies in one partition. Randomised responses about its partition, or about the whole table, know it, and those
about another partition do not. An analyst picks partition, ε and δ by what was answered so far, and the ledger's own
rule of composition stops it at the limit. ε is in units of log 2, so that every probability is a fraction.
"""

from fractions import Fraction

import pytest

from irisdp import BudgetRefused, Cost
from irisdp._ledger.limits import check_budget
from irisdp._ledger.partitions import Spending
from support.closeness import hockey_stick
from support.seeds import fresh_random
from support.sweeps import tried

PARTS = ("january", "february", "march")
DEEPEST = 5


def response(cost, *, knows, has):
    """The law of an answer that is (ε, δ)-private for the record, and no better; one law if it knows nothing."""
    if not knows:
        return {"0": Fraction(1, 2), "1": Fraction(1, 2)}
    ratio = Fraction(2) ** int(cost.epsilon)
    law = {str(int(has)): ratio / (1 + ratio), str(int(not has)): 1 / (1 + ratio)}
    return {answer: p * (1 - cost.delta) for answer, p in law.items()} | {f"surely {has}": cost.delta}


class Analyst:
    """Picks what to ask by all earlier answers, at random but once for all: the same for both histories."""

    def __init__(self, name, deltas=(0, Fraction(1, 50), Fraction(1, 20))):
        self.random, self.known, self.deltas = fresh_random(name), {}, deltas

    def ask(self, seen):
        if seen not in self.known:
            of = self.random.choice([*PARTS, None])
            cost = Cost(self.random.choice([1, 1, 2, 3]), self.random.choice(self.deltas))
            self.known[seen] = of, cost
        return self.known[seen]


def transcripts(analyst, limit, *, homes, has, parallel):
    """The joint law of everything that is answered until the limit refuses.

    `homes` are the partitions in which what is protected may lie; where it is absent, `has` is false.
    """
    done, waiting = {}, [((), Fraction(1), ())]
    while waiting:
        seen, probability, charged = waiting.pop()
        of, cost = analyst.ask(seen)
        spending = Spending(Cost(), parallel=parallel)
        for part, each in charged:
            spending = spending.after(part, each)
        try:
            check_budget(limit, spending, cost, of)
        except BudgetRefused:
            done[seen] = probability
            continue
        if len(seen) == DEEPEST:
            done[seen] = probability
            continue
        law = response(cost, knows=of is None or of in homes, has=has)
        waiting += [((*seen, (of, answer)), probability * p, (*charged, (of, cost))) for answer, p in law.items() if p]
    return done


def excess(analyst, limit, *, homes, parallel):
    laws = [transcripts(analyst, limit, homes=homes, has=has, parallel=parallel) for has in (True, False)]
    assert all(sum(law.values()) == 1 for law in laws)
    ratio = Fraction(2) ** int(limit.epsilon)
    return max(hockey_stick(*laws, ratio), hockey_stick(*reversed(laws), ratio)) - limit.delta


LIMITS = [Cost(2), Cost(3), Cost(3, Fraction(1, 20)), Cost(5, Fraction(1, 10))]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_no_choice_of_questions_exceeds_the_limit(limit):
    for number in range(tried(10, 60)):
        for home in PARTS:
            assert excess(Analyst(f"records {number}"), limit, homes=[home], parallel=True) <= 0
        assert excess(Analyst(f"persons {number}"), limit, homes=PARTS, parallel=False) <= 0


def test_the_limit_is_reached():
    """Where only one partition and the whole are asked, the bound is tight: no smaller total would do."""
    limit = Cost(3)

    class Two(Analyst):
        def ask(self, seen):
            return [("january", Cost(1)), (None, Cost(2)), (None, Cost(1))][min(len(seen), 2)]

    found = [transcripts(Two(""), limit, homes=["january"], has=has, parallel=True) for has in (True, False)]
    assert hockey_stick(*found, Fraction(8)) == 0
    assert hockey_stick(*found, Fraction(79, 10)) > 0


@pytest.mark.parametrize("homes", [PARTS, PARTS[:2]], ids=["a person in every month", "a record that was moved"])
def test_parallel_composition_of_what_lies_in_several_partitions_is_caught(homes):
    analysts = [Analyst(f"planted {number}", deltas=[0]) for number in range(20)]
    assert any(excess(analyst, Cost(3), homes=homes, parallel=True) > 0 for analyst in analysts)
