"""Cells that name the K largest categories, or rank them: what is drawn has the law that is stated, from either way."""

import io
import itertools
import os
import zipfile
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy
from irisdp._measurements import CategoryNodes, LargestCategories
from irisdp._measurements.rankings import named_together
from irisdp._sampling.bits import law_of
from irisdp.design import UNIT, _rankings, order_table
from irisdp.design._pull import Pulled, private_on_every_edge
from irisdp.design._table_cache import CACHE
from irisdp.graphs import order_graph
from support.seeds import fresh_generator

NAMES = ("a", "b", "c", "d")


@pytest.fixture(autouse=True)
def kept(tmp_path_factory, monkeypatch):
    monkeypatch.setenv(CACHE, str(tmp_path_factory.getbasetemp() / "tables"))


def made(k, categories, ratio, exchange=False):
    return LargestCategories(k, categories, Privacy(ratio=ratio), exchange)


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
    for noise in itertools.product(window, repeat=len(counts)):
        order = sorted(range(len(counts)), key=lambda place: (-counts[place] - noise[place], place))
        chosen = order if k is None else sorted(order[:k])
        chance = 1.0
        for z in noise:
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
        noise = made(2, 4, ratio, True).noise.ratio
        assert noise**2 <= ratio < noise**2 * (1 + F(1, 1 << 100))
        assert made(2, 4, ratio, False).noise.ratio == ratio


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
