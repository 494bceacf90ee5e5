"""Lists and tables of numbers: one parser for each shape, wherever they are given."""

from fractions import Fraction

import numpy as np
import pytest

import irisdp
from irisdp import BadInput, interpret
from irisdp._exact import counts, json_list, numbers, table


def test_lists_and_arrays_are_read_exactly():
    assert numbers(["1/3", 0.1, 2], "x") == (Fraction(1, 3), Fraction(1, 10), Fraction(2))
    assert numbers(np.array([1, 2]), "x", 2) == (1, 2)
    assert table([[1, 2], (3, "1/2")], "x", rows=2) == ((1, 2), (3, Fraction(1, 2)))
    assert counts(np.array([3, 1]), "x", at_most=3) == (3, 1)
    assert json_list([1], "x", 1) == [1]


NO_LISTS = ["12", b"12", {1: 2}, {1, 2}, frozenset({1}), 5, None, np.array(1)]


@pytest.mark.parametrize("read", [numbers, counts, json_list, lambda value, field: table(value, field, rows=1)])
@pytest.mark.parametrize("value", NO_LISTS, ids=repr)
def test_what_is_no_list_is_refused_by_name(read, value):
    with pytest.raises(BadInput, match=r"^x: must be a (list|table)"):
        read(value, "x")


def test_shapes_are_refused_by_name():
    with pytest.raises(BadInput, match="x: must be a list of 2 numbers"):
        numbers([1], "x", 2)
    with pytest.raises(BadInput, match="x: must have rows of one length"):
        table([[1], [1, 2]], "x", rows=2)
    with pytest.raises(BadInput, match="x: must be a list of counts"):
        counts(np.array([[0, 1]]), "x")
    with pytest.raises(BadInput, match="x: must be a list of 1 entries"):
        json_list([], "x", 1)


@pytest.mark.parametrize("prior", [{Fraction(1, 4), Fraction(3, 4)}, np.array(0.5)], ids=["set", "number"])
def test_a_prior_without_an_order_is_refused(tmp_path, prior):
    (tmp_path / "data.csv").write_text("x\n1\n")
    irisdp.publish(tmp_path / "data.csv", "count", epsilon=1, ledger=tmp_path / "ledger.db", out=tmp_path / "out.csv")
    with pytest.raises(BadInput, match="prior: must be a list of numbers"):
        interpret(tmp_path / "out.csv.release.json", 1, prior=prior)
    with pytest.raises(BadInput, match="prior: must be a list of 2 numbers"):
        irisdp.design.consumer(1, "absolute", irisdp.Privacy(epsilon=1), prior=prior)
