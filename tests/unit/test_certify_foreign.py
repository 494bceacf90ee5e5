"""Foreign matrices are read exactly as given and repaired in nothing."""

import json
from fractions import Fraction

import numpy as np
import pytest

from irisdp.certify import audit, matrix_document, read_mechanism
from irisdp.errors import BadInput
from irisdp.graphs import Path, graph_from_edges
from irisdp.mechanisms import randomized_response
from irisdp.privacy import Privacy

PRIVACY = Privacy(ratio=4)


def test_a_float_array_is_read_as_the_dyadics_it_holds(tmp_path):
    third = Fraction(0.1)
    assert third != Fraction(1, 10)
    file = tmp_path / "m.npy"
    np.save(file, np.array([[0.1, 0.9], [0.5, 0.5]]))
    document = read_mechanism(file, graph=Path(2), privacy=PRIVACY)
    assert document.rows[0] == (third, Fraction(0.9))
    verdict = audit(document)
    # 0.1 and 0.9 as doubles do not add up to 1 exactly.
    assert third + Fraction(0.9) != 1 and not verdict.rows_sum_to_one and not verdict.holds


def test_rows_that_miss_one_by_a_rounding_are_named_so():
    row = [0.5, 0.5 - 2.0**-53]
    assert sum(map(Fraction, row)) == 1 - Fraction(1, 1 << 53)
    verdict = audit(matrix_document(np.array([row, row]), graph=Path(2), privacy=PRIVACY))
    assert verdict.private and not verdict.rows_sum_to_one and not verdict.holds
    assert verdict.to_document()["rows_sum_to_one"] is False


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_every_float_type_is_exact(dtype):
    document = matrix_document(np.array([[dtype(1) / dtype(3)]]))
    assert document.rows[0][0] == Fraction(*(dtype(1) / dtype(3)).as_integer_ratio())


def test_integer_arrays_are_fine():
    assert audit(matrix_document(np.eye(2, dtype=np.int64), graph=Path(2), privacy=PRIVACY)).ratio_at_delta is None


def test_text_is_read_as_written(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("\ufeff0.1, 9/10\n1e-1,0.9\n\n", encoding="utf-8")
    document = read_mechanism(file, graph=Path(2), privacy=PRIVACY)
    assert document.rows == ((Fraction(1, 10), Fraction(9, 10)),) and document.row_of.tolist() == [0, 0]
    assert audit(document).holds


def test_a_bare_list_and_a_whole_document_are_both_json(tmp_path):
    bare, whole = tmp_path / "bare.json", tmp_path / "whole.json"
    bare.write_text("[[0.1, 0.9], [0.2, 0.8]]")
    whole.write_text(json.dumps(randomized_response(2, PRIVACY).to_document()))
    assert audit(read_mechanism(bare, graph=Path(2), privacy=PRIVACY)).ratio_at_delta == 2
    assert audit(read_mechanism(whole)).ratio_at_delta == 4


def test_nodes_of_the_graph_name_the_rows():
    document = matrix_document([["1/2", "1/2"], ["1/4", "3/4"]], graph=Path(2), privacy=PRIVACY)
    assert list(document.inputs) == [0, 1] and document.outputs == (0, 1)
    with pytest.raises(BadInput, match="graph: must have one node for every row"):
        matrix_document([["1"]], graph=Path(2))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("m.npy", b"nothing", "is not a NumPy array"),
        ("m.csv", b"a,b\n", "must be a finite number"),
        ("m.csv", b"", "rows of one length"),
        ("m.csv", b"1\n1,0\n", "rows of one length: line 2 has 2 numbers, and line 1 has 1 number"),
        ("m.csv", b"0.5,0.5\n0.5,O.5\n", "line 2, number 2: 'O.5' must be a finite number"),
        ("m.csv", b",0,1\n0,0.5,0.5\n", "line 1, number 1: there is nothing"),
        ("m.csv", b"0,5;0,5\n0,5;0,5\n", "line 1, number 1: '0,5' has a comma; write decimals with a point"),
        ("m.csv", b"a,b,c\n1/2,1/2\n", "does not name each of 2 answers once"),
        ("m.csv", b"a,a\n1/2,1/2\n", "does not name each of 2 answers once"),
        ("m.csv", b"\xff\xfe", "cannot read"),
        ("m.csv", b"nan\n", "must be a finite number"),
        ("m.json", b"[[NaN]]", "holds NaN"),
        ("m.json", b"[1, 2]", "must be a list of rows"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=says):
        read_mechanism(tmp_path / name)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2), dtype=complex), np.array([["1"]])])
def test_arrays_of_another_kind_are_refused(tmp_path, array):
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(BadInput, match="two-dimensional array of real numbers"):
        read_mechanism(tmp_path / "m.npy")


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_an_array_with_nan_or_infinity_is_refused(entry):
    with pytest.raises(BadInput, match="NaN or infinity"):
        matrix_document(np.array([[entry]]))


@pytest.mark.parametrize("name", ["m.npy", "m.csv", "m.json"])
def test_a_missing_file_is_named(tmp_path, name):
    with pytest.raises(BadInput, match="there is no file"):
        read_mechanism(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "3/4,1/4\n1/4,3/4\n",
        "3/4, 1/4\r\n1/4, 3/4\r\n",
        "3/4;1/4\n1/4;3/4",
        "3/4\t1/4\n1/4\t3/4\n",
        "  3/4   1/4\n 1/4 3/4\n",
        '"3/4","1/4"\n\n"1/4","3/4"\n',
        "# by some tool\n3/4,1/4\n1/4,3/4\n",
        "yes,no\n3/4,1/4\n1/4,3/4\n",
        "yes no\n3/4 1/4\n1/4 3/4\n",
    ],
)
def test_a_matrix_is_read_however_its_numbers_are_set_apart(text, tmp_path):
    (tmp_path / "m.csv").write_bytes(text.encode())
    found = read_mechanism(tmp_path / "m.csv")
    assert found.rows == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    assert found.outputs == (("yes", "no") if "yes" in text else (0, 1))


def test_a_bare_matrix_has_the_inputs_of_the_graph_in_order_however_it_is_named(tmp_path):
    """Rows for 1, 0 and 2: the same read first, or by its path, or on the command line; 0 and 2 are neighbours."""
    star = graph_from_edges([[1, 0], [0, 2]], nodes=[1, 0, 2])
    file = tmp_path / "matrix.csv"
    file.write_text("8/9,1/9\n2/3,1/3\n1/3,2/3\n")
    claim = Privacy(ratio=3)
    assert audit(file, graph=star, privacy=claim).private
    assert audit(read_mechanism(file, graph=star, privacy=claim)).private
    assert not audit(file, graph=graph_from_edges([[0, 1], [0, 2]]), privacy=claim).private
    named = graph_from_edges([["b", "a"], ["a", "c"]])
    assert audit(file, graph=named, privacy=claim).tightest.edge == ("a", "b")
