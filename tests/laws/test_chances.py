"""How surely answers stay within a distance: what cells say of it, against the exact law of every cell there is."""

import io
import itertools
import os
import zipfile
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy, design, noise
from irisdp._exact import Enclosure
from irisdp._measurements import (
    CategoryNodes,
    CountNodes,
    DecisionDistances,
    DecisionMeasurement,
    DesignedAnswers,
    EachRecord,
    GapNodes,
    GaussianNoise,
    GeometricNoise,
    LargestCategories,
    LargestCategory,
    NoisyBands,
    QuantileBin,
    ShapeNoise,
    SizeNodes,
    SizesShape,
    SortedSizes,
    SpreadNoise,
    StaircaseNoise,
    least_distance,
    surely_within,
)
from irisdp._measurements.rankings import named_together
from irisdp._sampling.bits import law_of
from irisdp.design import UNIT, _rankings, order_table
from irisdp.design._plurality import least_proved_ratio
from irisdp.design._pull import Pulled, private_on_every_edge
from irisdp.design._rankings import all_rankings, all_tops, right_rankings, right_tops
from irisdp.design._table_cache import CACHE
from irisdp.graphs import NeighbouringRelation, order_graph
from irisdp.mechanisms import PermuteAndFlip, Pull, balanced_line
from irisdp.privacy import Gaussian
from support.seeds import fresh_generator

NARROW = F(1, 10**25)
TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
ENDED = Privacy(ratio=2, delta=noise.bounded_delta(Privacy(ratio=2), 3))
COUNTS = {
    "geometric": GeometricNoise(Privacy(ratio=2)),
    "geometric, long": GeometricNoise(Privacy(epsilon="0.7")),
    "shape": ShapeNoise(Privacy(ratio=2)),
    "two pairs": ShapeNoise(TWO),
    "unaligned": ShapeNoise(Privacy(ratio=2, delta="1/7")),
    "bounded": ShapeNoise(ENDED),
    "staircase": StaircaseNoise(Privacy(ratio=2), 5),
    "spread": SpreadNoise(Privacy(ratio=2), 2),
    "gaussian": GaussianNoise(Gaussian("1/2")),
}


@pytest.fixture(autouse=True)
def kept(tmp_path_factory, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path_factory.getbasetemp() / "tables"))


def ends(chance):
    return (chance.lower, chance.upper) if isinstance(chance, Enclosure) else (chance, chance)


def agrees(chance, least, most=None):
    """What is said holds what was added up, which is itself enclosed, and is hardly wider."""
    most = least if most is None else most
    return chance.lower <= most and least <= chance.upper and chance.width < NARROW


@pytest.mark.parametrize("name", COUNTS)
def test_counts_stay_within_as_their_law_says(name):
    mechanism, value = COUNTS[name], 12
    law = mechanism.law(CountNodes(np.array([value]), np.array([-50]), None), 0, 2 * value)
    for distance in range(9):
        near = [ends(chance) for answer, chance in law.items() if abs(answer - value) <= distance]
        assert agrees(mechanism.chance_within(distance), sum(low for low, _ in near), sum(high for _, high in near))


def test_bounded_noise_never_ends_further_out():
    bounded = COUNTS["bounded"]
    assert bounded.chance_within(2).upper < 1 == bounded.chance_within(3).lower
    assert least_distance(bounded, F(1)) == 3
    assert least_distance(COUNTS["geometric"], F(1)) is None


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("ratio", [F(9, 8), 2, 20])
def test_a_staircase_stays_within_as_its_probabilities_say(sensitivity, ratio):
    law = noise.law("staircase", Privacy(ratio=ratio), sensitivity)
    total = law.probability(0)
    for distance in range(17):
        assert agrees(law.within(distance), total)
        total += 2 * law.probability(distance + 1)


@pytest.mark.parametrize("resolution", [1, "1/4"])
def test_gaussians_stay_within_at_any_resolution(resolution):
    law = noise.gaussian_law("1/2", resolution=resolution)
    for distance in range(5):
        atoms = range(-distance * law.atoms_per_unit, distance * law.atoms_per_unit + 1)
        parts = [law.enclose(atom) for atom in atoms]
        assert agrees(law.within(distance), sum(p.lower for p in parts), sum(p.upper for p in parts))


@pytest.mark.parametrize("guarantee", [Privacy(ratio=2), TWO, Gaussian(1)], ids=str)
@pytest.mark.parametrize("thresholds", [(4,), (2, 3), (1, 6, 12), (5, 9, 16)], ids=str)
def test_bands_are_right_as_often_as_said(guarantee, thresholds):
    noisy = (GaussianNoise if isinstance(guarantee, Gaussian) else ShapeNoise)(guarantee)
    mechanism, most = NoisyBands(thresholds, noisy), thresholds[-1] + 9
    bands = np.searchsorted(thresholds, range(most + 1), side="right")
    for distance in range(9):
        right = []
        for count in range(most + 1):
            others = [abs(other - count) - 1 for other in range(most + 1) if bands[other] != bands[count]]
            if min(others) >= distance:
                law = mechanism.law(CountNodes(np.array([count]), np.array([0]), None), 0, most)
                right.append(ends(law[mechanism.names[bands[count]]]))
        assert agrees(mechanism.chance_within(distance), min(low for low, _ in right), min(high for _, high in right))


@pytest.mark.parametrize("privacy", [Privacy(ratio=2), Privacy(ratio=2, delta="1/20"), TWO], ids=str)
def test_classes_are_right_as_often_as_said(privacy):
    mechanism = DecisionMeasurement(balanced_line(privacy), privacy)
    for depth in range(8):
        nodes = DecisionDistances(("yes", "no"), np.array([0, 1]), np.array([depth, depth]))
        right = min(mechanism.law(nodes, cell, 9)[name] for cell, name in enumerate(nodes.classes))
        assert agrees(mechanism.chance_within(depth), right)


@pytest.mark.parametrize("ratio", [F(3, 2), 4])
@pytest.mark.parametrize("rule", ["pull", *NeighbouringRelation])
@pytest.mark.parametrize("q", [2, 3, 4])
def test_winners_are_named_as_often_as_said(q, rule, ratio):
    privacy, most = Privacy(ratio=ratio), 6
    made = Pull(q, privacy) if rule == "pull" else PermuteAndFlip(q, privacy, NeighbouringRelation(rule))
    mechanism, places = LargestCategory(made, privacy), tuple(range(q))
    right = {}
    for others in itertools.combinations_with_replacement(range(most + 1), q - 1):
        gaps = np.array([(0, *others)])
        law = mechanism.law(GapNodes(places, gaps), 0, most)
        chance = sum(law[place] for place in places if gaps[0][place] == 0)
        right[others[0]] = min(chance, right.get(others[0], F(1)))
    for lead in range(most + 1):
        said, least = mechanism.chance_within(lead), min(chance for ahead, chance in right.items() if ahead >= lead)
        bounded = rule == "pull" and lead > 1 and q > 2  # the lower end is a bound
        assert said.lower <= least <= said.upper if bounded else agrees(said, least)


ADD_REMOVE, EXCHANGE = NeighbouringRelation


@pytest.mark.parametrize(
    "asked", [(2, 3, 4, ADD_REMOVE), (None, 3, 4, EXCHANGE), (1, 2, 2, EXCHANGE), (1, 3, F(8, 7), ADD_REMOVE)]
)
def test_orders_are_right_at_least_as_often_as_said(asked):
    k, q, ratio, relation = asked
    mechanism, most = LargestCategories(k, q, Privacy(ratio=ratio), relation), 5
    answers = all_rankings(q) if k is None else all_tops(k, q)
    counts = np.array(list(itertools.product(range(most + 1), repeat=q)))
    right = right_rankings(counts, answers) if k is None else right_tops(counts, answers)
    falling = -np.sort(-counts, axis=1)
    steps = falling[:, :-1] - falling[:, 1:]
    apart = steps.min(axis=1) if k is None else steps[:, k - 1]
    nodes = CategoryNodes(tuple("abc"[:q]), counts)
    names = [mechanism.named(answer, nodes) for answer in answers]
    found = {}
    for cell, step in enumerate(apart.tolist()):
        law = mechanism.law(nodes, cell, most)
        chance = sum(ends(law[name])[1] for name, good in zip(names, right[cell], strict=True) if good)
        found[step] = min(chance, found.get(step, F(1)))
    for step in range(3):
        least = min(chance for ahead, chance in found.items() if ahead >= step)
        said = mechanism.chance_within(step)
        assert 0 < said.lower <= least or (said.lower == 0 and mechanism.table is None)
        if mechanism.table is not None:
            assert least - said.lower < F(1, 10**12)


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("bins", [3, 9])
def test_quantiles_are_near_their_rank_at_least_as_often_as_said(bins, relation):
    made = design.quantile(bins, Privacy(ratio=2), F(1, 2), relation)
    names = tuple("abcdefghi"[:bins])
    mechanism = QuantileBin(made, names)
    generator = fresh_generator((83, bins))
    counts = generator.integers(0, 7, (300, bins)) * generator.integers(0, 2, (300, bins))
    found = {}
    for cell in counts.tolist():
        sums, half = np.cumsum(cell), F(sum(cell), 2)
        right = next((place for place in range(bins) if sums[place] >= half), bins - 1)
        # The rank p·n is in bin j if C_{j−1} < p·n ≤ C_j; another holds it after so many records.
        off = [
            -((int(sums[place]) - half) // 1) if place < right else int(((sums[place - 1]) - half) // 1) + 1
            for place in range(bins)
        ]
        off[right] = 0
        for distance in range(12):
            near = sum(chance for chance, away in zip(made.row(cell), off, strict=True) if away <= distance)
            found[distance] = min(near, found.get(distance, F(1)))
    for distance, least in found.items():
        said = mechanism.chance_within(distance)
        assert said.lower <= least
        assert said.upper == 1 or said.width == 0
    assert mechanism.chance_within(0).lower > found[0] - F(1, 10)


def test_sizes_all_stay_within_as_their_law_says():
    for each in (GeometricNoise(Privacy(ratio=2)), ShapeNoise(TWO), GaussianNoise(Gaussian(1))):
        mechanism, value = SortedSizes(each, each.privacy, SizesShape(head=2)), 5
        law = mechanism.law(SizeNodes(np.array([[value, value]]), None), 0, 10)
        for distance in range(4):
            near = [ends(p) for told, p in law.items() if all(abs(one - value) <= distance for one in told)]
            said = mechanism.chance_within(distance)
            assert agrees(said, sum(low for low, _ in near), sum(high for _, high in near))


def test_designed_counts_stay_near_as_their_rows_say():
    made = noise.law("geometric", Privacy(ratio=2)).mechanism(4)
    shown = tuple(range(-3, len(made.outputs) - 3))
    mechanism = DesignedAnswers(made, shown, None, {}, {})
    for distance in range(6):
        chances = [
            sum(p for p, name in zip(made.row(count), shown, strict=True) if abs(name - count) <= distance)
            for count in range(5)
        ]
        assert mechanism.chance_within(distance) == Enclosure.exactly(min(chances))
    names = tuple(str(name) for name in shown)
    assert DesignedAnswers(made, names, None, {}, {}).chance_within(1) is None


def test_cells_that_cannot_say_have_no_least_distance():
    each = EachRecord(3, Privacy(ratio=2))
    assert each.chance_within(3) is None
    assert least_distance(each, F(1, 2)) is None
    assert not surely_within(each, 10, F(0))


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("confidence", [F(1, 100), F(1, 2), F(19, 20), F(99999, 100000)])
def test_the_least_distance_is_the_first(name, confidence):
    mechanism = COUNTS[name]
    found = least_distance(mechanism, confidence)
    assert found == next(d for d in itertools.count() if mechanism.chance_within(d).lower >= confidence)


def test_a_chance_that_is_reached_exactly_counts():
    # P(|Z| ≤ 0) = (1 − α)/(1 + α) = 1/2 at r = 3.
    assert least_distance(GeometricNoise(Privacy(ratio=3)), F(1, 2)) == 0
    assert least_distance(GeometricNoise(Privacy(ratio=3)), F(1, 2) + F(1, 10**40)) == 1


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-5", "0.001", "50"])
def test_distances_are_found_at_any_epsilon(epsilon):
    mechanism = GeometricNoise(Privacy(epsilon=epsilon))
    found = least_distance(mechanism, F(19, 20))
    assert surely_within(mechanism, found, F(19, 20))
    assert found == 0 or not surely_within(mechanism, found - 1, F(19, 20))
    assert mechanism.expected_error()["within_95_percent"] == found


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("q", [5, 7, 12])
def test_a_lead_over_all_is_the_worst_for_many_categories(q, relation):
    generator = fresh_generator((89, q))
    privacy = Privacy(ratio=max(F(3, 2), least_proved_ratio(q)))  # under exchange, pull from the top
    mechanism = LargestCategory(design.plurality(q, privacy, relation).form, privacy)
    assert isinstance(mechanism.rule, Pull) is (relation == "exchange")
    for lead in (1, 2, 3, 6):
        said = mechanism.chance_within(lead)
        for others in (lead + generator.choice([0, 0, 1, 5], (15, q - 1))).tolist():
            assert mechanism.rule.enclose((0, *others))[0].upper >= said.lower


@pytest.mark.parametrize("q", [2, 3, 7, 12])
def test_the_bound_for_a_lead_is_hardly_above_the_error_known(q):
    rule = Pull(q, Privacy(ratio=max(F(3, 2), least_proved_ratio(q))))
    for lead in (40, 41, 10**12):
        said = rule.right_from(lead)
        assert 1 - said.lower <= (1 - said.upper) * F(101, 100) + F(1, 1 << 60)


# Cells that name the K largest categories, or rank them: what is drawn has the law that is stated, from either way.

NAMES = ("a", "b", "c", "d")


def made(k, categories, ratio, relation=NeighbouringRelation.ADD_REMOVE):
    return LargestCategories(k, categories, Privacy(ratio=ratio), relation)


def middle(chance):
    return chance if isinstance(chance, F) else (chance.lower + chance.upper) / 2


TABLES = [(2, 3, 4, False), (2, 3, 4, True), (None, 3, 4, False), (1, 2, 2, True), (2, 4, 2, False)]
SORTED = [(2, 4, F(8, 7), False), (None, 4, 3, True), (1, 4, F(8, 7), False)]


def test_which_way_is_chosen():
    assert all(made(*one).table is not None for one in TABLES)
    assert all(made(*one).table is None for one in SORTED)


@pytest.mark.parametrize("asked", [*TABLES, *SORTED])
@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (3, 1, 1, 4), (0, 9, 2, 2)])
def test_many_cells_are_drawn_as_the_law_says(asked, counts):
    mechanism, cells = made(*asked), 40_000
    categories = asked[1]
    nodes = CategoryNodes(NAMES[:categories], np.tile(counts[:categories], (cells, 1)))
    law = mechanism.law(nodes, 0, 9)
    assert abs(sum(map(middle, law.values())) - 1) < F(1, 10**27)
    drawn = Counter(mechanism.show(mechanism.draw(nodes).tolist(), nodes))
    assert set(drawn) <= set(law)
    for answer, chance in law.items():
        mean = cells * float(middle(chance))
        assert abs(drawn[answer] - mean) < 6 * (mean * (1 - mean / cells)) ** 0.5 + 1


@pytest.mark.parametrize("counts", [(0, 0, 0), (2, 0, 1), (0, 5, 5)])
@pytest.mark.parametrize("asked", TABLES[:3])
def test_what_is_drawn_from_all_first_words_has_the_exact_law(asked, counts):
    mechanism, nodes = made(*asked), CategoryNodes(NAMES[:3], np.array([counts]))
    found = law_of(
        lambda bits: mechanism.show(mechanism.draw(nodes, source=bits).tolist(), nodes)[0], word_bits=8, words=2
    )
    for answer, chance in mechanism.law(nodes, 0, 9).items():
        drawn = found.outcomes.get(answer, F(0))
        assert drawn <= chance <= drawn + found.undecided
    assert found.undecided < F(1, 10)


def by_brute_force(counts, ratio, k, names):
    """Answers of sorted noisy counts in floats, over a wide window."""
    inverse = 1 / ratio
    window = range(-30, 31)
    once = {z: (1 - inverse) / (1 + inverse) * inverse ** abs(z) for z in window}
    found = Counter()
    for noises in itertools.product(window, repeat=len(counts)):
        order = sorted(range(len(counts)), key=lambda place: (-counts[place] - noises[place], place))
        chosen = order if k is None else sorted(order[:k])
        chance = 1.0
        for z in noises:
            chance *= once[z]
        found[named_together([names[place] for place in chosen], " > " if k is None else ", ")] += chance
    return found


@pytest.mark.parametrize("k", [1, 2, None])
def test_the_law_of_sorted_noisy_counts(k, monkeypatch):
    monkeypatch.setattr(LargestCategories, "table", None)
    counts = (2, 0, 2)
    mechanism = made(k, 3, 3)
    law = mechanism.law(CategoryNodes(NAMES[:3], np.array([counts])), 0, 9)
    found = by_brute_force(counts, 3.0, k, NAMES)
    assert set(law) == set(found)
    for answer, chance in law.items():
        assert chance.upper - chance.lower < F(1, 10**28)
        assert float(chance.lower) == pytest.approx(found[answer], abs=1e-9)


def test_the_noise_of_an_exchange_is_at_most_the_root():
    for ratio in (2, F(9, 4), Privacy(epsilon="1/10").ratio, 10**6):
        noise = made(2, 4, ratio, EXCHANGE).noise.ratio
        assert noise**2 <= ratio < noise**2 * (1 + F(1, 1 << 100))
        assert made(2, 4, ratio).noise.ratio == ratio


def test_the_stated_error_bounds_the_law():
    for asked in (*TABLES, *SORTED):
        mechanism, categories = made(*asked), asked[1]
        error = mechanism.expected_error()
        for percent in (95, 99):
            apart = error[f"apart_for_{percent}_percent"]
            nodes = CategoryNodes(NAMES[:categories], np.array([[apart * place for place in range(categories)]]))
            k = categories if asked[0] is None else asked[0]
            places = list(range(categories))[::-1][:k]
            right = mechanism.named(places if asked[0] is None else sorted(places), nodes)
            assert middle(mechanism.law(nodes, 0, 9)[right]) >= F(percent, 100)
        assert "at worst" in mechanism.describe_error() or "wrong_at_worst" not in error


def test_answers_are_texts_that_can_be_taken_apart():
    nodes = CategoryNodes(("a", "b, c", 7, 'say "x"', "x > y"), np.zeros((1, 5), np.int64))
    ranked, top = made(None, 5, 2), made(3, 5, 2)
    assert ranked.show([[4, 2, 1, 0, 3]], nodes) == ['"x > y" > 7 > "b, c" > a > "say \\"x\\""']
    assert top.show([[0, 1, 2], "a, b"], nodes) == ['a, "b, c", 7', "a, b"]


def test_nodes_show_nothing_and_padding_is_nobody():
    nodes = CategoryNodes(("a", "b"), np.array([[0, 7]]))
    assert "7" not in repr(nodes)
    assert nodes.padded(3).counts.tolist() == [[0, 7], [0, 0], [0, 0]]


# Tables on disk.


def folder():
    return os.environ[CACHE]


def test_a_table_is_kept_and_read_again(monkeypatch):
    order_table.cache_clear()
    first = order_table(2, 3, F(5), "add-remove")
    order_table.cache_clear()
    monkeypatch.setattr(_rankings, "order_rows", None)
    again = order_table(2, 3, F(5), "add-remove")
    assert (again.weights == first.weights).all()
    assert again.rule == first.rule == "pull"
    assert all(os.stat(os.path.join(folder(), name)).st_mode & 0o77 == 0 for name in os.listdir(folder()))


@pytest.mark.parametrize("change", ["more than the ratio", "no distribution", "round 2^64", "no table", "cut off"])
def test_a_kept_table_that_is_not_private_is_found_anew(change, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path))
    order_table.cache_clear()
    first = order_table(2, 3, F(6), "any")
    (file,) = tmp_path.iterdir()
    weights = first.weights.copy()
    if change == "more than the ratio":
        weights[0] = [1, 1, UNIT - 2]
    elif change == "no distribution":
        weights[0, 0] += 1
    elif change == "round 2^64":
        weights[0] = [1 << 62, 1 << 62, 1 << 62]
    with open(file, "wb") as kept:
        np.savez(kept, weights=weights[:-1] if change == "no table" else weights, rule=np.array("pull"))
    if change == "cut off":
        file.write_bytes(file.read_bytes()[:300])
    order_table.cache_clear()
    found = order_table(2, 3, F(6), "any")
    assert (found.weights == first.weights).all()
    order_table.cache_clear()


def _planted(file, how):
    """Put something else in the place of a kept table."""
    if how == "a plain array":
        with file.open("wb") as stream:
            np.save(stream, np.zeros(3))
        return
    if how == "a pipe":
        file.unlink()
        os.mkfifo(file)
        return
    kept = io.BytesIO()
    header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 2), }"
    header = header if how == "a size of a terabyte" else header[:-14]
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(kept, "w") as archive:
        archive.writestr("weights.npy", array)
        archive.writestr("rule.npy", array)
    text = kept.getvalue()
    if how == "flagged as encrypted":
        place = text.index(b"PK\x01\x02") + 8
        text = text[:place] + bytes([text[place] | 1]) + text[place + 1 :]
    file.write_bytes(text)


@pytest.mark.parametrize(
    "how", ["a plain array", "a pipe", "a size of a terabyte", "a header cut off", "flagged as encrypted"]
)
def test_whatever_stands_in_a_tables_place_it_is_found_anew(how, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path))
    order_table.cache_clear()
    first = order_table(None, 2, F(4), "add-remove")
    (file,) = tmp_path.iterdir()
    _planted(file, how)
    order_table.cache_clear()
    assert (order_table(None, 2, F(4), "add-remove").weights == first.weights).all()
    order_table.cache_clear()


def test_weights_that_go_round_are_no_distribution():
    graph = order_graph(4, 1)
    weights = np.full((graph.number_of_nodes, 17), UNIT, np.int64)
    assert not private_on_every_edge(graph, weights, F(2))


def test_a_folder_that_cannot_be_written_is_none(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE, str(tmp_path / "file" / "inside"))
    order_table.cache_clear()
    assert order_table(1, 3, F(7), "any") is not None
    order_table.cache_clear()


def test_without_a_home_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv(CACHE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    order_table.cache_clear()
    assert order_table(1, 3, F(8), "any") is not None
    assert not any(tmp_path.iterdir())
    order_table.cache_clear()


def test_a_table_that_cannot_be_written_whole_leaves_nothing(tmp_path, monkeypatch):
    def full(file, **_):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.setattr(np, "savez", full)
    order_table.cache_clear()
    assert order_table(1, 3, F(8), "any") is not None
    assert not any(tmp_path.iterdir())
    order_table.cache_clear()


def test_the_same_cells_are_looked_up_at_any_size():
    table = order_table(2, 3, F(4), "add-remove")
    generator = fresh_generator(81)
    counts = generator.integers(0, 10**6, (200, 3))
    assert (table.at(counts).sum(axis=1) == UNIT).all()
    assert (table.at(counts + 10**15) == table.at(counts)).all()


@pytest.mark.parametrize("k", [1, 2, None])
def test_planted_tables_whose_answers_are_no_good_are_left_for_noisy_counts(k, monkeypatch):
    """Private, as all rows are alike; whoever can write kept tables could plant one at every cap."""

    def planted(asked, graph, answers, ratio, find):
        even = np.full((graph.number_of_nodes, answers), UNIT // answers, np.int64)
        even[:, 0] += UNIT - even.sum(axis=1)
        return Pulled(even), "linear program"

    monkeypatch.setattr(_rankings, "kept_table", planted)
    order_table.cache_clear()
    assert order_table(k, 3, F(6), "any") is None
    order_table.cache_clear()
