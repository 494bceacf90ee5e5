"""A selection reads as many random bytes as its options say, whoever is in the table."""

import os

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp._measurements import CountNodes, DecisionDistances, padded_size, protocol

pytestmark = pytest.mark.usefixtures("one_engine")

QUERIES = {
    "count": ("count", "x = 1"), "all": ("count",), "at-least": ("at-least", 2), "majority": ("majority", "x = 1"),
    "audiences": ("count", "x = 1"),
}  # fmt: skip
TABLES = [[], ["a"], ["a", "a"], ["a", "b"], list("abcde"), list("abcdefgh") * 3, list("abcdefghi") * 3]


@pytest.fixture
def bytes_read(monkeypatch):
    real, read = os.urandom, []

    def counted(size):
        read.append(size)
        return real(size)

    monkeypatch.setattr(os, "urandom", counted)
    return read


def ask(keys, name, folder, read, **options):
    folder.mkdir(exist_ok=True)
    (folder / ".tables.irisdp-secret").write_bytes(b"s" * 32)
    table = pa.table(
        {
            "g": pa.array(keys, pa.string()),
            "x": pa.array([1] * len(keys), pa.int64()),
            "u": pa.array(range(len(keys)), pa.int64()),
        }
    )
    levels = {"audience": {"one": 2, "two": 1}} if name == "audiences" else {"epsilon": 2}
    del read[:]
    published = irisdp.publish(
        table, *QUERIES[name], by="g", select_groups=True, delta="1e-3", **levels, **options,
        ledger=folder / f"{len(list(folder.iterdir()))}.ledger",
    )  # fmt: skip
    return published, sum(read)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("options", [{}, {"unit": "u", "at_most": 1}, {"relation": "exchange"}], ids=str)
def test_a_new_key_does_not_show_in_the_bytes_read(tmp_path, bytes_read, monkeypatch, query, options):
    """Ties, which read more, have probability 2^-63 a draw."""
    monkeypatch.setattr(protocol, "FEWEST_DRAWS", 64)
    read = {ask(keys, query, tmp_path / "f", bytes_read, **options)[1] for keys in TABLES}
    assert len(read) == 1
    assert read.pop() >= (8 if query == "all" else 2 * 8) * 64  # one noise names and counts, two where some are counted


def test_beyond_the_padding_only_powers_of_two_show(tmp_path, bytes_read, monkeypatch):
    monkeypatch.setattr(protocol, "FEWEST_DRAWS", 4)
    read = [ask([str(k) for k in range(n)], "all", tmp_path / "f", bytes_read)[1] for n in range(1, 18)]
    assert len(set(read[:4])) == len(set(read[4:8])) == len(set(read[8:16])) == 1
    assert read[3] < read[4] < read[8] < read[16]


def test_a_million_cells_are_drawn_for_as_it_stands(tmp_path, bytes_read):
    published, one = ask(["a"] * 60 + ["b"], "all", tmp_path / "f", bytes_read)
    _, two = ask(["a"] * 60, "all", tmp_path / "f", bytes_read)
    assert one == two >= 8 * 2**20
    assert published.answers.keys[0] == ("a",)


def test_sizes_and_cells_that_nobody_is_in():
    assert [padded_size(n) for n in (0, 1, 2**20, 2**20 + 1, 2**21, 2**21 + 1)] == [2**20] * 3 + [2**21] * 2 + [2**22]
    counts = CountNodes(np.array([7]), np.array([0]), None).padded(4)
    assert counts.values.tolist() == [7, 0, 0, 0]
    assert len(counts.lower) == 4
    classes = DecisionDistances(("yes", "no"), np.array([1]), np.array([9])).padded(4)
    assert (classes.true_class.tolist(), classes.depth.tolist()) == ([1, 0, 0, 0], [9, 0, 0, 0])
