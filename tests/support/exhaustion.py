"""All tables of a few records, their neighbours, and the exact law of what `publish` would print about each.

Each table goes the whole way, through the engine, to the nodes that `publish` draws from; the joint law of all that
would be shown (which groups are named, every answer, and the ends that the sidecar states) is multiplied out.
"""

import pickle
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

from irisdp import _tables, plan
from irisdp._exact import Enclosure, exp_below
from irisdp._measurements import HasAuxiliaryOutput, SizesShape
from irisdp._queries import (
    apply,
    categories,
    category_sizes,
    count_distinct,
    plurality,
    quantile,
    ranking,
    statistics,
    sum_and_mean,
)
from irisdp._queries import query as queries_query
from irisdp._release import group_selection, pipeline
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support.closeness import hockey_stick, over_one_denominator
from support.engine import use_one_engine
from support.sweeps import tried

MOST = tried(3, 4)
"""Records of the largest tables. With three, `test_end_to_end_planted.py` still catches every planted bug."""
GROUPS = ("a", "b")
RECORDS = [(None, 1), ("a", None), ("a", 0), ("a", 1), ("b", 0), ("b", 1)]
PERSONAL = [(None, "a", 1), *product((1, 2), GROUPS, (0, 1))]
RATIO, DELTA = Fraction(2), Fraction(1, 10)
NEAR = Fraction(1, 10**25)
"""What laws of no fractions are compared to: they are enclosed to 10^-30."""
LOTS = [bytes([number]) * 32 for number in range(3)]
"""Keys by which a person's record is chosen: privacy holds for each."""

ASKED = {
    "count": ("count",),
    "count-where": ("count", "v = 1"),
    "at-least-0": ("at-least", 0, "v = 1"),
    "at-least-1": ("at-least", 1, "v = 1"),
    "at-least-2-all": ("at-least", 2),
    "at-least-3": ("at-least", 3, "v = 1"),
    "at-most-0": ("at-most", 0, "v = 1"),
    "at-most-1": ("at-most", 1, "v = 1"),
    "at-most-2-all": ("at-most", 2),
    "band-1-3": ("band", "1,3", "v = 1"),
    "band-2-3-9-all": ("band", "2,3,9"),
    "majority": ("majority", "v = 1"),
    "plurality": ("plurality", "v"),
    "median": ("median", "v"),
    "median-of-many": ("median", "v"),
    "quantile": ("quantile", "2/3", "v"),
    "largest": ("quantile", 1, "v"),
    "quantiles": ("quantiles", "1/2,1", "v"),
    "top-2": ("top", 2, "v"),
    "top-1-of-4": ("top", 1, "v"),
    "ranking": ("ranking", "v"),
    "count-values": ("count-distinct", "v"),
    "count-people": ("count-distinct", "u", "v = 1"),
    "histogram": ("histogram", "v"),
    "histogram-of-names": ("histogram", "g"),
    "sizes-1": ("sizes", 1, "v"),
    "sizes-2-declared": ("sizes", 2, "v"),
}
CHOSEN = {
    "plurality": {"categories": ["0", "1", "2"]},
    "median": {"bins": "1"},
    "median-of-many": {"bins": "-3,-2,-1,0,1,2,3"},
    "quantile": {"bins": "1,2"},
    "largest": {"bins": "0,1"},
    "quantiles": {"bins": "1"},
    "top-2": {"categories": ["0", "1", "2"]},
    "top-1-of-4": {"categories": ["0", "1", "2", "3"]},
    "ranking": {"categories": ["0", "1", "2"]},
    "histogram": {"bins": "1"},
    "histogram-of-names": {"categories": ["b", "a"]},
    "sizes-2-declared": {"categories": ["0", "2"]},
}
"""The public choices that belong to a question; nobody is in some of the categories and bins, and some are in none."""
ENCLOSED = {"ranking"}
"""Answered from sorted noisy counts where records are exchanged; their laws are enclosed, and all others fractions."""
ELSEWHERE = {"apply", "bounds", "column", "sum", "mean", "variance", "deviation"}
"""Queries with a proof of their own."""
MODES = {
    "whole": {},
    "declared": {"by": "g", "groups": ["a", "b"]},
    "one-declared": {"by": "g", "groups": ["b"]},
    "expression": {"by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": ["low", "a"]},
    "selected": {"by": "g", "select_groups": True, "selection_delta": DELTA},
    "public": {"by": "g", "groups": ["a", "b"], "public_membership": True},
}


EXPRESSIVE = ("count-where", "at-least-1", "majority", "plurality")
"""What is also asked by an expression: of the others only the nodes differ."""


def modes_of(query):
    """Return the modes in which a question is asked: a histogram's groups are declared, and its bins are not public.

    By two groups a histogram is asked in `test_end_to_end_derived.py`.
    """
    if ASKED[query][0] == "count-distinct":
        return ["whole", "declared", "selected"] if query == "count-values" else ["whole"]
    parted = ASKED[query][0] == "histogram"
    without = {"declared", "selected", "public"} if parted else set()
    without |= set() if query in EXPRESSIVE else {"expression"}
    return [mode for mode in MODES if mode not in without and (not parted or MODES[mode].get("by") != ASKED[query][1])]


def tables(records, most=MOST):
    """Every multiset of at most `most` records, smallest first."""
    return [table for size in range(most + 1) for table in combinations_with_replacement(records, size)]


def canonical(records, domain):
    return tuple(sorted(records, key=domain.index))


def neighbours(relation, mode):
    """Pairs of tables that one record tells apart."""
    found = set()
    for table in tables(RECORDS, MOST):
        if relation == "add-remove":
            if len(table) < MOST:
                found |= {(table, canonical((*table, record), RECORDS)) for record in RECORDS}
            continue
        for place, old in enumerate(table):
            rest = table[:place] + table[place + 1 :]
            for new in RECORDS:
                if new != old and (mode != "public" or new[0] == old[0]):
                    found.add((table, canonical((*rest, new), RECORDS)))
    return found


def personal_neighbours(relation):
    """Pairs of tables that one person tells apart, whatever that person's records."""
    without = defaultdict(list)
    for table in tables(PERSONAL, 3):
        for person in (1, 2):
            rest = tuple(record for record in table if record[0] != person)
            without[person, rest].append(table)
    found = set()
    for (_, rest), group in without.items():
        full = [table for table in group if table != rest]
        found |= {(rest, table) for table in full} if relation == "add-remove" else set(product(full, full))
    return found


def frame(table):
    if table and len(table[0]) == 3:
        people, groups, values = zip(*table, strict=True)
    else:
        groups, values = zip(*table, strict=True) if table else ((), ())
        people = [None] * len(table)
    return pa.table(
        {"u": pa.array(people, pa.int64()), "g": pa.array(groups, pa.string()), "v": pa.array(values, pa.int64())}
    )


@cache
def opened(table):
    """Open a table, once: nobody changes it."""
    return open_table(frame(table))


_forms = {}
"""Sources that are no Arrow tables, each with the name of its form and its records; kept, so that each is one."""


def in_form(patch, name, form):
    """Let all tables be of a form; `form` makes one of an Arrow table."""
    arrow = frame

    @cache
    def formed(table):
        found = open_table(form(arrow(table)))
        _forms[id(found._source)] = found._source, name, table
        return found

    empty = form(arrow(()))
    patch.setattr(f"{__name__}.frame", lambda table: form(arrow(table)) if table else empty)
    patch.setattr(f"{__name__}.opened", formed)


_counted = {}
_told = {}
"""What was told of objects that nobody changes, and the objects, so that no others are taken for them."""


@pytest.fixture
def engine_once(monkeypatch):
    """Let each table be counted once per condition, groups and unit, and each text be read once per table or columns.

    Whatever is remembered is remembered by all that it was given; everything else runs every time. The engine optimizes
    its plans in `make reliability` alone: for tables of three records, to plan takes longer than to count.
    """
    use_one_engine(monkeypatch, optimizes=tried(False, True))

    def remember(room, name):
        real = getattr(room, name)

        def once(given, *arguments, **options):
            texts = [(key, told_once(value)) for key, value in options.items()]
            key = (name, frozen(given), *map(told_once, arguments), *texts)
            if key not in _counted:
                _counted[key] = real(given, *arguments, **options)
            return _counted[key]

        monkeypatch.setattr(room, name, once)

    def told_once(value, tell=None):
        if tell is None and not hasattr(value, "arrow"):
            return str(told(value))
        if id(value) not in _told:
            _told[id(value)] = value, str((tell or told)(value))
        return _told[id(value)][1]

    def told(value):
        if hasattr(value, "per_unit"):
            return value.column, value.key, value.per_unit, value.contribution
        if hasattr(value, "arrow"):
            return [column.name for column in value.columns], value.arrow().to_pylist()
        return getattr(value, "text", value)

    def frozen(given):
        if not hasattr(given, "_source"):
            return str(given)
        rows = str(given.derived), str(given.persons and given.persons.over("")), str(given.lookups)
        return told_once(given._source, held), *rows

    def held(source):
        """What an engine reads of: other forms of the same records are others, and are read for themselves."""
        if id(source) in _forms:
            return _forms[id(source)][1:]
        return (source.table.schema, source.table.to_pylist()) if hasattr(source, "table") else id(source)

    remember(queries_query, "count_records")
    remember(count_distinct, "count_records")
    remember(categories, "read_groups")
    for room in (apply, ranking, plurality, quantile):
        remember(room, "count_categories")
    remember(apply, "count_records")
    remember(category_sizes, "count_values")
    remember(category_sizes, "read_groups")
    remember(sum_and_mean, "total_steps")
    remember(pipeline, "enumerate_keys")
    remember(group_selection, "read_groups")
    remember(_tables, "read_condition")
    # The nearest list is a function of noisy numbers and of what is public, and there are few of them.
    fit = cache(SizesShape.fit)
    monkeypatch.setattr(SizesShape, "fit", lambda shape, noisy, records=None: fit(shape, tuple(noisy), records))


def middle(chance):
    """The probability itself, or if it is enclosed the middle, which is nearer to it than `NEAR` cares for."""
    return (chance.lower + chance.upper) / 2 if isinstance(chance, Enclosure) else chance


def all_named(keys):
    """Name every key, as if all had been selected."""
    return keys.select(np.ones(len(keys.counts), dtype=bool)).labels


def cells_read(cells):
    """All that a law depends on: nodes, and which keys there are, each in how many records."""
    found = cells.keys
    return pickle.dumps((cells.nodes, None if found is None else (all_named(found), found.counts)))


def joint_law(planned, cells, end=middle):
    """The exact law of everything printed: a mapping from what is shown, sidecar first, to probabilities.

    `end` says what stands for probabilities that are enclosed.
    """
    mechanism = planned.audiences[0].mechanism
    # A count is lumped beyond 0 and MOST, where ratios are constant; Gaussian ones twelve deviations beyond.
    laws = [mechanism.law(cells.nodes, cell, MOST) for cell in range(len(cells.nodes))]
    laws = [{answer: end(chance) for answer, chance in law.items()} for law in laws]
    if planned.naming is not None:
        named = [label[0] for label in all_named(cells.keys)]
        if planned.selector is not None:
            chances = [planned.selector.law(int(size)) for size in cells.keys.counts]
            laws = [
                {None: 1 - chance} | {answer: chance * p for answer, p in law.items()}
                for chance, law in zip(chances, laws, strict=True)
            ]
        laws = [
            {None if answer is None else (name, answer): p for answer, p in law.items()}
            for name, law in zip(named, laws, strict=True)
        ]
    # The sidecar is printed too: what it says of the ends must be the same for all neighbours.
    joint, whole = {(str(mechanism.ends(cells.nodes)),): 1}, 1
    for law in laws:  # over one denominator, as products of integers are fast
        shares, denominator = over_one_denominator(law)
        joint = {(*seen, answer): p * q for seen, p in joint.items() for answer, q in shares.items() if q}
        whole *= denominator
    shown = Counter()
    for (ends, *seen), probability in joint.items():
        parts = [part for part in seen if part is not None]
        shown[ends, *as_shown(mechanism, cells.nodes, parts, selected=planned.naming is not None)] += probability
    return Counter({answer: Fraction(share, whole) for answer, share in shown.items()})


def as_shown(mechanism, nodes, parts, *, selected):
    """Show all answers at once, as `publish` does: an answer may depend on no cell's node, not even another cell's.

    Laws are those of shown answers already, and what is shown stays as it is when it is shown again, unless ends move;
    names are drawn by their places. Where a sidecar tells what was drawn beside what is shown, laws are those of both.
    """
    names = mechanism.ends(nodes).get("outputs")
    if parts and selected:  # groups that were selected: (name, answer)
        groups, answers = zip(*parts, strict=True)
        return zip(groups, printed(mechanism, nodes, drawn(answers, names)), strict=True)
    return printed(mechanism, nodes, drawn(parts, names))


def printed(mechanism, nodes, answers):
    shown = mechanism.show(answers, nodes)
    if not isinstance(mechanism, HasAuxiliaryOutput):
        return shown
    return zip(shown, *mechanism.beside(answers).values(), strict=True)


def drawn(answers, names):
    return list(answers) if names is None else [names.index(answer) for answer in answers]


def worst_delta(first, second, ratio):
    """The larger of both hockey-stick sums; laws may be over one denominator each."""
    return max(hockey_stick(first, second, ratio), hockey_stick(second, first, ratio))


def planned_for(table, query, options):
    """Plan a question of a table."""
    asked = {"ratio": RATIO, **options} if not {"mu", "privacy"} & options.keys() else options
    return plan(frame(table), *ASKED[query], **asked, **CHOSEN.get(query, {}))


def excesses(query, options, pairs, key=LOTS[0], charged_at=()):
    """Yield, for each pair of neighbours, how far beyond the cost charged their laws are apart; at most 0 if not.

    Where a guarantee is charged at a δ of its curve, `charged_at` lists several: of them, the worst.
    """
    laws, of_cells, worst, numbers, shares = {}, {}, {}, {}, []  # tables of one law have one number
    near = NEAR if "mu" in options or query in ENCLOSED else 0
    costs = [planned_for((), query, {**options, "delta": delta}).cost for delta in charged_at]
    planned = planned_for((), query, options)  # it has read no record: the same for every table, as a test compares
    costs = [(exp_below(cost.epsilon), cost.delta) for cost in costs or [planned.cost]]
    for pair in pairs:
        for table in pair:
            if table not in laws:
                one = replace(
                    opened(table).deriving(planned.table.derived),
                    persons=planned.table.persons,
                    lookups=planned.table.lookups,
                )
                cells = read_statistics(replace(planned, table=one), key)
                # What is drawn knows of the table what was read of it, and no more: the same cells have one law.
                read = cells_read(cells)
                if read not in of_cells:
                    law = joint_law(planned, cells)
                    assert abs(sum(law.values()) - 1) <= near
                    number = numbers.setdefault(frozenset(law.items()), len(numbers))
                    if number == len(shares):
                        shares.append(over_one_denominator(law))
                    of_cells[read] = number
                laws[table] = of_cells[read]
        one, other = (laws[table] for table in pair)
        if (one, other) not in worst:
            first, second = shares[one], shares[other]
            worst[one, other] = max(worst_delta(first, second, ratio) - delta - near for ratio, delta in costs)
        yield worst[one, other]


def violations(query, options, pairs, key=LOTS[0], charged_at=()):
    """Count neighbouring tables whose laws are not close at the cost charged; also return how many were compared."""
    found = list(excesses(query, options, pairs, key, charged_at))
    return sum(excess > 0 for excess in found), len(found)


def assert_private(query, options, pairs, key=LOTS[0], charged_at=(), *, more_than):
    """Assert that no two neighbouring tables can be told apart, and that more than so many pairs were compared."""
    wrong, compared = violations(query, options, pairs, key, charged_at)
    assert compared > more_than, (query, options)
    assert wrong == 0, (query, options)


def caught(query, options, pairs, key=LOTS[0]):
    """Say whether the same comparison finds a planted bug; it ends at the first pair, beginning with small tables."""
    small_first = sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair)))
    return any(excess > 0 for excess in excesses(query, options, small_first, key))


def forget_counts():
    """Forget what the engine counted, and every table."""
    _counted.clear()
    opened.cache_clear()
    _forms.clear()


def rewritten(monkeypatch, old, new):
    """Plant a bug in the statement that reads the records."""
    real = statistics.records_statement

    def planted(*arguments):
        statement = real(*arguments)
        assert old in statement
        return statement.replace(old, new)

    monkeypatch.setattr(statistics, "records_statement", planted)
    forget_counts()


@pytest.fixture
def forget():
    yield
    forget_counts()
