"""The proof by exhaustion for tables with two partitions: joint laws of answers about each of them and about the whole.

A history is what two partitions, January and February, hold in one version or in two. Questions about January, about
February and about the whole table are drawn independently, so their joint law is the product of the laws of
`support/exhaustion.py`. It is compared between neighbouring histories at what `irisdp._ledger.partitions` makes of the
charges: one record lies in one partition, one person in both.
"""

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product

import pyarrow as pa
import pytest

from irisdp import BadInput, plan
from irisdp._exact import exp_below
from irisdp._ledger.partitions import composed
from irisdp._release.pipeline import read_statistics
from support import exhaustion
from support.closeness import over_one_denominator
from support.exhaustion import ASKED, CHOSEN, DELTA, LOTS, MODES, RATIO, RECORDS, canonical, engine_once, forget, tables
from support.sweeps import tried

__all__ = ["engine_once", "forget"]

pytestmark = pytest.mark.usefixtures("engine_once")

JANUARY, FEBRUARY = 0, 1
WHOLE = None
RATIOS = {JANUARY: Fraction(2), FEBRUARY: Fraction(3), WHOLE: Fraction(3, 2)}
ALL = ((JANUARY, 0), (FEBRUARY, 0), (WHOLE, 0))
"""One question about each partition and one about the whole, in the only version."""
SMALL = RECORDS[1:5]
PERSONAL = [(1, "a", 1), (1, "b", 0), (2, "a", 1), (None, "a", 1)]


class Laws:
    """The laws of one question asked of partitions: each table is read once for each ratio."""

    def __init__(self, query, options, domain=RECORDS, asked=ALL):
        self.query, self.options, self.domain, self.asked = query, options, domain, asked
        self.plans = {of: exhaustion.planned_for((), query, {**options, "ratio": RATIOS[of]}) for of in RATIOS}
        self.known, self.read, self.worst = {}, {}, {}

    def costs(self):
        """What each question is charged, in order, with the partition that it is about."""
        return [(of, self.plans[of].cost) for of, _ in self.asked]

    def total(self, *, parallel):
        """What the ledger makes of the charges."""
        nothing = self.plans[WHOLE].cost * 0
        whole = sum((cost for of, cost in self.costs() if of is WHOLE), nothing)
        parts = [sum((cost for of, cost in self.costs() if of == part), nothing) for part in (JANUARY, FEBRUARY)]
        return composed(whole, parts, parallel=parallel)

    def table_of(self, version, of):
        """The records that a question about a partition reads: those in it, and no others."""
        return version[of] if of is not WHOLE else canonical((*version[JANUARY], *version[FEBRUARY]), self.domain)

    def law(self, table, of):
        if (table, of) not in self.known:
            planned = self.plans[of]
            opened = replace(exhaustion.opened(table).deriving(planned.table.derived), persons=planned.table.persons)
            cells = read_statistics(replace(planned, table=opened), LOTS[0])
            read = exhaustion.cells_read(cells), of
            if read not in self.read:
                self.read[read] = exhaustion.joint_law(planned, cells)
            self.known[table, of] = self.read[read]
        return self.known[table, of]

    def of(self, history):
        """The laws of all answers, which are drawn independently."""
        return [self.law(self.table_of(history[version], of), of) for of, version in self.asked]

    def distance(self, pair, total):
        """How far beyond a total the joint laws of two histories are apart.

        An answer of the same law in both adds nothing: Σ_xy max(0, P(x)R(y) − r·Q(x)R(y)) is Σ_x max(0, P(x) − r·Q(x)).
        """
        moved = [laws for laws in zip(*map(self.of, pair), strict=True) if laws[0] is not laws[1]]
        key = tuple((id(one), id(other)) for one, other in moved)
        if key not in self.worst:
            joint = [jointly([laws[side] for laws in moved]) for side in (0, 1)]
            near = exhaustion.NEAR if self.query in exhaustion.ENCLOSED else 0
            self.worst[key] = exhaustion.worst_delta(*joint, exp_below(total.epsilon)) - total.delta - near
        return self.worst[key]

    def told_apart(self, pairs, total):
        """Say which pairs are farther apart than a total allows."""
        self.worst = {}
        return [pair for pair in pairs if self.distance(pair, total) > 0]


def jointly(laws):
    """The joint law of independent answers, as integers over one denominator."""
    joint, whole = {(): 1}, 1
    for law in laws:
        shares, denominator = over_one_denominator(law)
        joint = {(*seen, answer): p * q for seen, p in joint.items() for answer, q in shares.items() if q}
        whole *= denominator
    return joint, whole


def records_apart(domain=RECORDS):
    """Histories of one version that one record tells apart: it lies in January, or in February."""
    pairs = []
    for january, february in product(tables(domain, 2), tables(domain, 1)):
        for record in domain:
            more = canonical((*january, record), domain)
            pairs += [(((january, february),), ((more, february),))] if len(more) <= 2 else []
            pairs += [(((january, february),), ((january, (record,)),))] if not february else []
    return pairs


def records_exchanged(domain=SMALL):
    """Histories of one version where one record of a partition is another one, in the same partition."""
    pairs = []
    for january, february in product(tables(domain, 2), tables(domain, 1)):
        for part in (january, february):
            for place, old in enumerate(part):
                for new in domain:
                    changed = canonical((*part[:place], *part[place + 1 :], new), domain)
                    other = (changed, february) if part is january else (january, changed)
                    pairs += [(((january, february),), (other,))] if new != old else []
    return pairs


def records_moved(domain=SMALL):
    """Histories of one version where a record of January was exchanged for one of February."""
    return [
        (((canonical((*rest, old), domain), ()),), ((rest, (new,)),))
        for rest, old, new in product(tables(domain, 2), domain, domain)
    ]


def persons_apart(relation):
    """Histories of one version that one person tells apart, who may have records in both partitions."""
    found = []
    own = [(one, two) for one in tables(PERSONAL[:2], 2) for two in tables(PERSONAL[:2], 1)]
    others = [(one, two) for one in tables(PERSONAL[2:], 1) for two in tables(PERSONAL[2:], 1)]
    for (january, february), one, two in product(others, own, own):
        if one != two and (relation == "exchange") == bool(any(one) and any(two)):
            found.append(
                tuple(
                    ((canonical((*january, *mine[0]), PERSONAL), canonical((*february, *mine[1]), PERSONAL)),)
                    for mine in (one, two)
                )
            )
    return found


def corrected(domain=SMALL):
    """Histories of two versions that one record of January, or of February, tells apart.

    It may be there in the first version, in the second or in both, where it may say something else.
    """
    nothing = ((), ())
    pairs = []
    for others in product(tables(domain[:2], 1), repeat=2):
        for first, second in product([None, *domain], repeat=2):
            for part in (JANUARY, FEBRUARY):
                without, having = [], []
                for other, record in zip(others, (first, second), strict=True):
                    version = list(nothing)
                    version[part] = other
                    without.append(tuple(version))
                    version[part] = other if record is None else canonical((*other, record), domain)
                    having.append(tuple(version))
                pairs.append((tuple(without), tuple(having)))
    return pairs


def moved_later(domain=SMALL):
    """Histories of two versions that one record tells apart, which a correction moved from January to February."""
    pairs = []
    for first, second in product(domain, repeat=2):
        for other in tables(domain[:2], 1):
            without = ((other, ()), (other, ()))
            having = ((canonical((*other, first), domain), ()), (other, (second,)))
            pairs.append((without, having))
    return pairs


VERSIONS = ((JANUARY, 0), (FEBRUARY, 0), (JANUARY, 1), (FEBRUARY, 1))
MODE = {"whole": {}, "declared": MODES["declared"], "selected": MODES["selected"]}
QUERIES = [
    name
    for name in ASKED
    if name not in ("at-least-0", "at-least-2-all", "at-most-2-all", "median-of-many", "top-1-of-4")
]
CASES = [
    *((name, "whole") for name in QUERIES),
    *((name, "declared") for name in ("count-where", "majority", "plurality")),
    ("count-where", "selected"),
]


def options_of(query, mode="whole", **more):
    pure = query.startswith(("count", "histogram")) and mode != "selected"
    return {**MODE[mode], "delta": 0 if pure else DELTA / 4, **more}


@pytest.mark.parametrize(("query", "mode"), CASES)
def test_no_record_can_be_told_apart_in_parallel(query, mode):
    asked = ALL[:2] if mode == "selected" else ALL
    laws = Laws(query, options_of(query, mode, relation="add-remove"), asked=asked)
    pairs = records_apart(tried(SMALL, RECORDS))
    assert len(pairs) > 100
    assert not laws.told_apart(pairs, laws.total(parallel=True))


@pytest.mark.parametrize("query", QUERIES)
def test_no_record_can_be_told_apart_that_keeps_its_partition_when_it_is_exchanged(query):
    laws = Laws(query, options_of(query, relation="exchange"))
    assert not laws.told_apart(records_exchanged(), laws.total(parallel=True))


@pytest.mark.parametrize("query", ["count-where", "majority", "plurality", "median", "band-1-3", "top-2", "sizes-1"])
def test_no_person_can_be_told_apart_by_the_sum(query):
    mode = "declared" if query == "plurality" else "whole"
    laws = Laws(query, options_of(query, mode, relation="add-remove", unit="u", at_most=1), PERSONAL)
    pairs = persons_apart("add-remove")
    assert len(pairs) > 100
    assert not laws.told_apart(pairs, laws.total(parallel=False))


@pytest.mark.parametrize("query", ["count-where", "majority", "plurality", "at-least-1", "quantile"])
def test_no_record_can_be_told_apart_through_versions(query):
    laws = Laws(query, options_of(query, relation="add-remove"), SMALL, VERSIONS)
    assert not laws.told_apart(corrected(), laws.total(parallel=True))


@pytest.mark.parametrize("query", ["count-where", "majority"])
def test_a_record_that_a_correction_moved_is_protected_by_both_partitions_together(query):
    laws = Laws(query, options_of(query, relation="add-remove"), SMALL, VERSIONS)
    assert not laws.told_apart(moved_later(), laws.total(parallel=False))
    # The largest of both partitions would not do: January's first answer and February's second both know it.
    alone = Laws(query, options_of(query, relation="add-remove"), SMALL, ((JANUARY, 0), (FEBRUARY, 1)))
    assert alone.told_apart(moved_later(), alone.total(parallel=True))


def joint_frame(january, february):
    """Both partitions in one table, February's records first, with a column that says which is whose."""
    one = exhaustion.frame((*february, *january))
    return one.append_column("part", pa.array(["february"] * len(february) + ["january"] * len(january), pa.string()))


PERSONS = {"unit": "u", "at_most": 1}


@pytest.mark.parametrize("options", [{}, PERSONS], ids=["records", "persons"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_question_about_a_partition_reads_what_lies_in_it(query, options):
    """What the laws above take for granted: by the option, the records of one partition are read and no others."""
    domain, key = (PERSONAL, LOTS[1]) if options else (RECORDS[:4], LOTS[0])
    try:
        asked = exhaustion.planned_for((), query, {**options_of(query), **options}).query
    except BadInput:
        pytest.skip("no question about persons")
    assert asked is not None
    for january, february in product(tables(tried(domain[1:3], domain), 2), tables(domain[:2], 1)):
        given = {"ratio": RATIO, **options_of(query), **options, **CHOSEN.get(query, {})}
        joint = plan(joint_frame(january, february), *ASKED[query], **given, partition="part=january")
        alone = plan(exhaustion.frame(january), *ASKED[query], **given)
        found, right = (exhaustion.cells_read(read_statistics(planned, key)) for planned in (joint, alone))
        assert found == right
        assert joint.question() != alone.question()


class TestPlantedBugs:
    @pytest.mark.parametrize("query", ["count-where", "majority", "plurality", "median"])
    def test_a_record_counted_in_both_partitions(self, query, monkeypatch):
        real = Laws.table_of
        monkeypatch.setattr(
            Laws, "table_of", lambda self, version, of: real(self, version, WHOLE if of == FEBRUARY else of)
        )
        laws = Laws(query, options_of(query, relation="add-remove"))
        assert laws.told_apart(records_apart(SMALL), laws.total(parallel=True))

    @pytest.mark.parametrize("query", ["count-where", "majority", "plurality"])
    def test_persons_composed_in_parallel(self, query):
        laws = Laws(query, options_of(query, relation="add-remove", unit="u", at_most=1), PERSONAL)
        assert laws.told_apart(persons_apart("add-remove"), laws.total(parallel=True))

    @pytest.mark.parametrize("query", ["count-where", "majority"])
    def test_exchanged_persons(self, query):
        """A person of January may become one of February: even the sum would not do, as each part's size is public."""
        laws = Laws(query, options_of(query, relation="exchange", unit="u", at_most=1), PERSONAL)
        assert laws.told_apart(persons_apart("exchange"), laws.total(parallel=False))

    @pytest.mark.parametrize("query", ["count-where", "majority", "plurality"])
    def test_the_largest_of_all_where_the_whole_table_adds_up(self, query):
        laws = Laws(query, options_of(query, relation="add-remove"))
        largest = reduce(lambda one, other: one.at_least(other), (cost for _, cost in laws.costs()))
        assert laws.told_apart(records_apart(SMALL), largest)

    def test_corrections_that_do_not_add_up(self):
        laws = Laws("count-where", options_of("count-where", relation="add-remove"), SMALL, VERSIONS)
        largest = reduce(lambda one, other: one.at_least(other), (cost for _, cost in laws.costs()))
        assert laws.told_apart(corrected(), largest)

    @pytest.mark.parametrize("query", ["count-where", "majority"])
    def test_exchanged_records_that_change_their_partition(self, query):
        """So the partition of a record must be public: a question about it takes its number of records for public."""
        laws = Laws(query, options_of(query, relation="exchange"), SMALL, ALL[:2])
        assert laws.told_apart(records_moved(), laws.total(parallel=False))
