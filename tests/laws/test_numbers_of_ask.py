"""Every number that the room Ask shows, against one worked out here from the definitions, with eighty digits.

Errors, costs and odds are rounded up, chances of being right down, both to what is shown and no further.
"""

import math
import random
import re
from decimal import Decimal as D
from decimal import localcontext
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy, design
from irisdp._explorer.ask import ask as work
from irisdp._explorer.ask_form import FIELDS
from irisdp._explorer.forms import read_values

HAIR = F(1, 10**12)
"""e^ε is rounded down to a rational where noise is made, which moves what follows by less."""
NUMBER = r"(-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?)"


def ask(**values):
    return work(read_values(FIELDS, values), lambda words: None)


def fact(found, name):
    return next(one for one in found.facts if one.name == name)


def numbers(pattern, text):
    found = re.search(pattern.replace("#", NUMBER), text)
    assert found, (pattern, text)
    return [F(number.replace(",", "")) for number in found.groups()]


def power(epsilon):
    """Return e^ε to eighty digits."""
    with localcontext() as context:
        context.prec = 80
        return F((D(epsilon.numerator) / D(epsilon.denominator)).exp())


def unit(value, digits=3):
    return F(10) ** (math.floor(math.log10(abs(value))) - digits + 1) if value else F(0)


def is_above(shown, true, digits=3):
    assert true * (1 - HAIR) <= shown <= true + unit(true, digits), (float(shown), float(true))


def is_below(shown, true, digits=3):
    assert shown <= true * (1 + HAIR), (float(shown), float(true))
    assert shown >= true - unit(true, digits), (float(shown), float(true))


def chance_of(text):
    """Return what is said of a chance: as much, or more."""
    return numbers(r"#", text)[0]


class Geometric:
    """Two-sided geometric noise."""

    def __init__(self, epsilon):
        self.r = power(epsilon)

    def mass(self, z):
        return (self.r - 1) / (self.r + 1) / self.r ** abs(z)

    def within(self, k):
        return 1 - 2 / (self.r ** (k + 1)) * self.r / (self.r + 1)

    def mean(self):
        return 2 * self.r / (self.r**2 - 1)


def least(within, share):
    high = 1
    while within(high) < share:
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) >= share else (middle, high)
    return high


def check_price(found, epsilon, times, *, given):
    """The headline's ε is what the cost line says is charged, exactly or rounded up, and so are the odds."""
    charged = times * epsilon
    sign, cost = re.match(r"ε (=|≤) ([\d./]+),", fact(found, "Cost").value).groups()
    assert charged == F(cost) if sign == "=" else charged < F(cost) <= charged + unit(charged, 6)
    (said,) = numbers(r"^(?:At )?ε = #[ ,]", found.headline.replace(", 0", " , 0"))
    assert charged <= said <= charged + 2 * unit(charged, 4)
    assert given or "rounded up to" in found.headline
    r = power(charged)
    is_above(numbers(r"at most # to 1", fact(found, "Risk").remark)[0], r, 4)
    for before, down, up in found.tables[0].rows:
        p, low, high = (F(text.removesuffix(" %")) / 100 for text in (before, down, up))
        lowest, highest = p / (p + (1 - p) * r), p * r / (1 - p + p * r)
        assert lowest - F(1, 10**4) <= low <= lowest and highest <= high <= highest + F(1, 10**4)
    sure = F(numbers(r"ends at most # %", fact(found, "Risk").value)[0]) / 100
    assert r / (1 + r) <= sure <= r / (1 + r) + F(1, 10**4)


def check_count(found, asked, epsilon):
    noise, size, times = Geometric(epsilon), int(asked["size"]), 1
    likely = least(noise.within, F(19, 20))
    grouped, exchanged = asked["query"] == "histogram", asked["relation"] == "exchange"
    times = 2 if grouped and exchanged else 1
    check_price(found, epsilon, times, given=asked["by"] == "epsilon")
    mean, within = numbers(r"ff by # on average, by at most # in 95 %", fact(found, "Error expected").value)
    is_above(mean, noise.mean())
    assert within == likely
    cut = exchanged and not grouped
    group = fact(found, "In this group")
    low, high = numbers(r"with # to # in 95 %", group.value) if likely else (size, size)
    assert (low, high) == (max(0, size - likely) if cut else size - likely, size + likely)
    if likely:
        is_above(numbers(r"at most # %", group.remark)[0], F(100 * likely, size), 2)
    bars, curve = found.pictures
    rows = dict(bars.rows)
    for answer, chance in rows.items():
        exact = (1 - noise.within(size - 1)) / 2 if cut and answer == 0 else noise.mass(answer - size)
        assert abs(F(chance) - exact) <= exact * F(1, 10**9)
    first, last, top = numbers(r"answer from # to #, highest .* probability #\.?(?= Dark)", bars.description)
    assert (first, last) == (min(rows), max(rows))
    is_below(top, noise.mass(0))
    dark, share = numbers(r"Dark ones, at most # from the truth, have (?:more than )?# together", bars.description)
    assert size + dark <= last, "all that are called dark are drawn"
    held = noise.within(int(dark))
    if cut and dark >= size:  # then 0 is dark, too, and all that is shown as 0
        held = 1 - (1 - held) / 2
    assert share <= held * (1 + HAIR) and share >= held - max(F(1, 100) * (1 - held), unit(held))
    if asked["by"] == "within":
        k, share = int(asked["within"]), F(asked["confidence"])
        (enough,) = numbers(r"(?:all, |^ε = )#[ ,]", found.headline)
        assert Geometric(enough).within(k) >= share, "what is shown is enough"
        assert Geometric(epsilon * (1 - F(1, 10**9))).within(k) < share
    elif likely:
        assert numbers(r"off by at most # in 95 %", found.headline) == [likely]
    told = re.findall(rf"at ε = {NUMBER} it is {NUMBER}", curve.description)
    for part, (at, error) in zip((F(1, 4), F(1, 2), F(1), F(2), F(4)), told, strict=True):
        assert times * part * epsilon <= F(at) <= times * part * epsilon * (1 + F(1, 1000))
        is_above(F(error.replace(",", "")), Geometric(part * epsilon).mean())


def check_names(found, asked, epsilon, right):
    """`right` is the chance of the right answer by distance, at worst."""
    check_price(found, epsilon, 1, given=asked["by"] == "epsilon")
    (line,) = found.pictures
    for distance, chance in line.rows:
        exact = right(distance)
        assert F(chance) <= exact * (1 + HAIR) and F(chance) >= exact * (1 - F(1, 10**9))
    first, low, last, high = numbers(
        r"At # it is (?:more than )?#, at # (?:more than )?#\.?(?: Marked|$)", line.description
    )
    for distance, said in ((first, low), (last, high)):
        assert said < 1 and said <= right(int(distance)) * (1 + HAIR)
        assert said >= right(int(distance)) - max(unit(right(int(distance))), F(1, 10**9))
    distance = int(asked["lead"]) if "lead" in asked else None
    if distance is not None:
        said = numbers(r"probability (?:at least|more than) #", fact(found, "In this group").value)[0]
        is_below(said, right(distance))
        marked = numbers(r"Marked: [\d,]+, where it is (?:more than )?#", line.description)[0]
        assert marked == said
    if asked["by"] == "within":
        assert right(int(asked["within"])) >= F(asked["confidence"])


def inputs(seed, query, relation, *, by):
    draw = random.Random(f"{seed} {query} {relation} {by}")
    asked = {"query": query, "relation": relation, "by": by, "size": str(draw.choice([1, 3, 10, 200, 5_000]))}
    asked["epsilon"] = str(draw.choice(["1/3", "0.046", "0.1", "0.7", "2", "5.123456789"]))
    asked |= {"within": str(draw.choice([1, 5, 12])), "confidence": draw.choice(["0.9", "0.95", "0.999999"])}
    return asked


def epsilon_of(found, asked):
    if asked["by"] == "epsilon":
        return F(asked["epsilon"])
    return numbers(r"to 12 digits, is #", fact(found, "Error asked for").value)[0]


BOTH = pytest.mark.parametrize("relation", ["add-remove", "exchange"])


@BOTH
@pytest.mark.parametrize("query", ["count", "histogram"])
@pytest.mark.parametrize("seed", range(4))
def test_counts(seed, query, relation):
    for by in ("epsilon", "within"):
        asked = inputs(seed, query, relation, by=by)
        found = ask(**asked)
        check_count(found, asked, epsilon_of(found, asked))


@pytest.mark.parametrize("values", [{"size": "10", "epsilon": "0.1"}, {"size": "200", "epsilon": "0.046"}], ids=str)
@BOTH
@pytest.mark.parametrize("query", ["count", "histogram"])
def test_counts_below_nobody_and_far_away(query, relation, values):
    asked = {"query": query, "relation": relation, "by": "epsilon", **values}
    check_count(ask(**asked), asked, F(values["epsilon"]))


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_yes_and_no(seed, relation):
    for by in ("epsilon", "within"):
        asked = inputs(seed, "majority", relation, by=by) | {"lead": str(3 * seed)}
        found = ask(**asked)
        epsilon = epsilon_of(found, asked)
        r = power(epsilon)
        check_names(found, asked, epsilon, lambda distance, r=r: 1 - 1 / (r**distance * (1 + r)))


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_winners(seed, relation):
    asked = inputs(seed, "plurality", relation, by="epsilon") | {"lead": str(2 + 3 * seed), "categories": str(2 + seed)}
    q, r = 2 + seed, power(F(asked["epsilon"]))
    made = design.plurality(q, Privacy(epsilon=asked["epsilon"]), relation)

    def right(lead):
        lead = max(1, lead)
        if not made.rule.startswith("permute"):
            return made.enclose([0, *[lead] * (q - 1)], width=F(1, 10**40))[0].lower
        accepted = 1 / r**lead
        if relation == "exchange":
            accepted = 1 / r ** (lead // 2) * (2 / (1 + r) if lead % 2 else 1)
        return (1 - (1 - accepted) ** q) / (q * accepted)

    if made.rule.startswith("permute"):
        check_names(ask(**asked), asked, F(asked["epsilon"]), right)
        return
    # Of pull from the top a bound is stated from a lead of 2 on (proofs/plurality.md, T6).
    (line,) = ask(**asked).pictures
    for lead, chance in line.rows:
        half, odd = divmod(max(1, lead), 2)
        bound = 1 - (q - 1) / r**half * (1 / (r + 1) if odd else F(1, 2))
        assert min(bound, right(lead)) * (1 - F(1, 10**9)) <= F(chance) <= right(lead) * (1 + HAIR)


@BOTH
@pytest.mark.parametrize(("bins", "epsilon"), [(6, "0.5"), (3, "1"), (4, "0.3")])
def test_medians(bins, epsilon, relation):
    """No table that has the margin is answered rightly less often than any number of the page says."""
    found = ask(query="median", categories=str(bins), epsilon=epsilon, relation=relation, lead="11")
    check_price(found, F(epsilon), 1, given=True)
    made = design.quantile(bins, Privacy(epsilon=epsilon), relation=relation)
    name = fact(found, "Mechanism").value.lower()
    assert name == made.rule.partition(":")[0].lower()
    (line,) = found.pictures
    said = numbers(r"probability (?:at least|more than) #", found.headline)[0]
    assert said == numbers(r"probability (?:at least|more than) #", fact(found, "In this group").value)[0]
    assert said == numbers(r"Marked: 11, where it is (?:more than )?#", line.description)[0]
    draw, known = random.Random(bins), dict(line.rows)
    for _ in range(200):
        counts = [draw.choice([0, 0, 1, 2, 5]) for _ in range(bins)]
        counts[draw.randrange(bins)] += draw.randrange(30)
        rank, ends = F(sum(counts), 2), np.cumsum(counts).tolist()
        right = next(place for place, end in enumerate(ends) if end >= rank)
        off = [math.ceil(rank - end) for end in ends[:right]]
        off += [math.floor(end - rank) + 1 for end in ends[right:-1]]
        margin = max(place for place in known if place <= min(off))
        assert made.row(counts)[right] >= F(known[margin]), (counts, margin)


def staircase(m, epsilon):
    """Return the masses of the best staircase for steps of m, from 0 on, until nothing is left."""
    r = power(epsilon)
    best = None
    for step in range(1, m + 1):
        heights = [r ** -((z - step) // m + 1) if z >= step else F(1) for z in range(int(m * (30 / epsilon + 3)))]
        floats = np.array([float(height) for height in heights])
        z = np.arange(len(floats))
        total = floats[0] + 2 * floats[1:].sum()
        mean = 2 * (z * floats).sum() / total
        if best is None or mean < best[0] - 1e-12:
            best = mean, np.concatenate([[floats[0]], 2 * floats[1:]]) / total
    return best


@BOTH
@pytest.mark.parametrize(("lower", "upper", "epsilon"), [(0, 5, "0.5"), (-2, 3, "1.3"), (0, 1, "2/3")])
def test_sums(lower, upper, epsilon, relation):
    asked = dict(query="sum", lower=str(lower), upper=str(upper), by="epsilon", epsilon=epsilon, size="30")
    found = ask(**asked, relation=relation)
    check_price(found, F(epsilon), 1, given=True)
    moved = upper - lower if relation == "exchange" else max(upper, -lower)
    mean, masses = staircase(moved, F(epsilon))
    likely = int(np.argmax(np.cumsum(masses) >= 0.95))
    said, within = numbers(r"ff by # on average, by at most # in 95 %", fact(found, "Error expected").value)
    is_above(float(said) * (1 + 1e-9), mean, 6)
    assert within == likely and numbers(r"at most # in 95 %", found.headline) == [likely]
    is_above(numbers(r"off by at most # for", fact(found, "In this group").value)[0], F(likely, 30))


@BOTH
def test_means(relation):
    """At a bound the two noises weigh 0 and 1, or each one half of the distance between the bounds."""
    span, epsilon, size = 4, 0.5, 50
    asked = dict(query="mean", lower="0", upper=str(span), epsilon=str(epsilon), size=str(size))
    found = ask(**asked, relation=relation)
    check_price(found, F(epsilon), 1, given=True)
    (off,) = numbers(r"off by at most about # in 95 %", found.headline)
    reach = 2_000
    z = np.arange(-reach, reach + 1)

    def law(rate):
        masses = np.exp(-rate * abs(z))
        return masses / masses.sum()

    if relation == "add-remove":
        assert "both bounds" in fact(found, "Mechanism").value
        tail = law(epsilon / span)[abs(z) > float(off) * size].sum()
    else:
        assert "middle" in fact(found, "Mechanism").value
        first, second = law(epsilon / (2 * span)), law(epsilon / 2)
        together = sum(
            mass * first[abs(z / 2 - span / 2 * other) > float(off) * size].sum()
            for other, mass in zip(z, second, strict=True)
            if mass > 1e-14
        )
        tail = together
    assert 0.03 < tail <= 0.05
