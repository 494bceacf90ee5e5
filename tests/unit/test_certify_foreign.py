"""Foreign matrices are read exactly as given and repaired in nothing."""

import json
import pathlib as files
import resource
import time
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Privacy, audit
from irisdp.certify import matrix_document, read_mechanism
from irisdp.certify._matrix_files import check_cells
from irisdp.graphs import Path, graph_from_edges
from irisdp.mechanisms import randomized_response

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


@pytest.mark.parametrize(("name", "content", "says"), [
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
])  # fmt: skip
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


@pytest.mark.parametrize("text", [
    "3/4,1/4\n1/4,3/4\n",
    "3/4, 1/4\r\n1/4, 3/4\r\n",
    "3/4;1/4\n1/4;3/4",
    "3/4\t1/4\n1/4\t3/4\n",
    "  3/4   1/4\n 1/4 3/4\n",
    '"3/4","1/4"\n\n"1/4","3/4"\n',
    "# by some tool\n3/4,1/4\n1/4,3/4\n",
    "yes,no\n3/4,1/4\n1/4,3/4\n",
    "yes no\n3/4 1/4\n1/4 3/4\n",
])  # fmt: skip
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


def header(text, version=1, length=None):
    """Return how a NumPy file of a version begins, with what a dictionary says and nothing behind it."""
    text = text.encode() + b"\n"
    width = 2 if version == 1 else 4
    return (
        b"\x93NUMPY" + bytes([version, 0]) + (len(text) if length is None else length).to_bytes(width, "little") + text
    )


def plain(shape, descr="'<f8'", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


LYING = {
    "no columns": header(plain("(1000000000000, 0)")),
    "no rows": header(plain("(0, 1000000000000)")),
    "nothing": header(plain("(0, 0)")),
    "more than there is": header(plain("(1000000, 1000000)")) + bytes(64),
    "a little more than there is": header(plain("(3, 3)")) + bytes(8 * 9 - 1),
    "beyond 64 bits": header(plain("(18446744073709551616, 18446744073709551616)")),
    "overflowing": header(plain("(4294967296, 4294967296)")),
    "overflowing to something": header(plain("(4294967296, 4294967297)")) + bytes(64),
    "huge and empty": header(plain(f"({10**40}, 0)")),
    "negative": header(plain("(-1, 2)")) + bytes(16),
    "twice negative": header(plain("(-1, -2)")) + bytes(16),
    "one dimension": header(plain("(2,)")) + bytes(16),
    "three dimensions": header(plain("(1, 1, 2)")) + bytes(16),
    "hundreds of dimensions": header(plain(str((1,) * 400))) + bytes(16),
    "no dimension": header(plain("()")) + bytes(8),
    "shape of text": header(plain("('a', 'b')")) + bytes(16),
    "shape of floats": header(plain("(1.0, 2.0)")) + bytes(16),
    "pickled objects": header(plain("(1, 1)", "'|O'")) + b"cos\nsystem\n(S'true'\ntR.",
    "fields": header(plain("(1, 2)", "[('a', '<f8'), ('b', '<f8')]")) + bytes(32),
    "parts": header(plain("(1, 2)", "('<f8', (1000000,))")) + bytes(64),
    "text": header(plain("(1, 2)", "'<U4'")) + bytes(64),
    "no letters": header(plain("(1000000000000, 1)", "'<U0'")),
    "nothing wide": header(plain("(1000000000000, 1)", "'|V0'")),
    "complex": header(plain("(1, 2)", "'<c16'")) + bytes(64),
    "yes and no": header(plain("(1, 2)", "'|b1'")) + bytes(2),
    "dates": header(plain("(1, 2)", "'<M8[s]'")) + bytes(16),
    "no type": header(plain("(1, 2)", "'x'")) + bytes(16),
    "deep": header("(" * 4000),
    "deep in unary": header("-" * 4000 + "1"),
    "odd escapes": header(plain("(1, 2)", r"'\d'")),
    "no dictionary": header("[1, 2]"),
    "a call": header("__import__('os').system('true')"),
    "a long header": header(plain("(1, 2)"), version=2, length=2**32 - 1),
    "a longer header": header(plain("(1, 2)") + " " * 20_000) + bytes(16),
    "no text": header(plain("(1, 2)"), version=3).replace(b"descr", b"d\xff\xfecr") + bytes(16),
    "another version": header(plain("(1, 2)"), version=4) + bytes(16),
    "no version": b"\x93NUMPY",
    "empty": b"",
    "a zip": b"PK\x03\x04" + bytes(40),
    "a pickle": b"\x80\x04K\x01.",
}


@pytest.mark.parametrize("name", LYING)
def test_what_a_header_declares_is_held_to_the_file(name, tmp_path):
    """In a moment, and a quarter of a gigabyte more than there was: 128 bytes may declare 10^12 rows."""
    file = tmp_path / "matrix.npy"
    file.write_bytes(LYING[name])
    before, usual = time.process_time(), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use() + 2**28, usual[1]))
    try:
        with pytest.raises(BadInput) as refusal:
            read_mechanism(file, graph=Path(2), privacy=PRIVACY)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, usual)
    assert str(refusal.value).startswith("mechanism: ") and "\n" not in str(refusal.value)
    assert time.process_time() - before < 2


def in_use():
    """Return how many bytes of addresses this process has."""
    return int(files.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "|i1", ">u8", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_order_and_version_are_read(version, kind, order, tmp_path):
    """The control of the refusals: what is sound stays so."""
    table = np.array([[1, 0], [0, 1], [1, 0]], dtype=kind, order=order)
    with (tmp_path / "matrix.npy").open("wb") as file:
        np.lib.format.write_array(file, table, version=version)
    found = read_mechanism(tmp_path / "matrix.npy")
    assert (found.rows, found.row_of.tolist()) == (((1, 0), (0, 1)), [0, 1, 0])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("long.csv", "1e999999,0", "matrix: line 1, number 1: '1e999999' has an exponent beyond 4000; "),
        ("digits.csv", "9" * 5000 + ",0", "matrix: line 1, number 1: "),
        ("division.csv", "1/0,1", "matrix: line 1, number 1: '1/0' divides by zero; "),
        ("wide.csv", "0,0,0\n" * 33 + "1,1", "matrix: has more than 100 numbers; "),
        ("blanks.csv", "0   0 0\n" * 33 + "1  1", "matrix: has more than 100 numbers; "),
        ("wide.json", json.dumps([[0] * 50] * 3), "mechanism: has more than 100 numbers; "),
        ("room.csv", "\n".join("1e-4000,1" for _ in range(10)), "matrix: holds more than a gigabyte of numbers; "),
        ("room.json", f"[[{'1e-4000,' * 10}1]]", "matrix: holds more than a gigabyte of numbers; "),
        ("file.json", f'{{"matrix": [[{"1e-4000," * 10}1]]}}', "matrix: holds more than a gigabyte of numbers; "),
        ("long.json", "[[1e999999, 0]]", "mechanism: holds an exponent beyond 4000; "),
        ("deep.json", "[" * 100_000, "mechanism: is not valid JSON; "),
        ("deeper.json", "[" * 200 + "]" * 200, "mechanism: is nested more than 100 deep; "),
        ("kinds.json", '[[1, {}]]', "matrix: must be a number, not dict; "),
        ("folder.csv", None, "mechanism: cannot read "),
        ("folder.npy", None, "mechanism: "),
    ],
    ids=lambda part: str(part)[:20],
)  # fmt: skip
def test_what_would_fill_the_memory_is_refused_before_it_does(name, text, message, tmp_path, monkeypatch):
    monkeypatch.setattr("irisdp._exact.validation._MOST_BITS", 1 << 17)
    monkeypatch.setattr("irisdp.certify._matrix_files.MOST_CELLS", 100)
    file = tmp_path / name
    file.mkdir() if text is None else file.write_text(text)
    with pytest.raises(BadInput) as refusal:
        read_mechanism(file)
    assert str(refusal.value).startswith(message) and len(str(refusal.value)) < 300


def test_a_table_may_have_25_million_numbers():
    check_cells(25_000_000, "mechanism")
    with pytest.raises(BadInput, match=r"^mechanism: has more than 25,000,000 numbers; "):
        check_cells(25_000_001, "mechanism")


@pytest.mark.parametrize(
    "array", [np.zeros((10**12, 0)), np.array([["1/2"]]), np.array([["1/2"]], dtype=object), np.array([[1j]]),
              np.array([[True]]), np.array([[None]]), np.ma.masked_all((1, 1))],
)  # fmt: skip
def test_an_array_of_no_numbers_is_no_matrix(array):
    with pytest.raises(BadInput, match=r"^matrix: must "):
        matrix_document(array)


@pytest.mark.parametrize("text", [
    "group,answer_low,answer\na,1,2\n",
    "group,answer,answer_probability\na,b,1\n",
    "group,answer\na,b\n",
    "answer\nyes\n",
])  # fmt: skip
def test_published_answers_are_told_from_a_matrix(tmp_path, text):
    file = tmp_path / "m.csv"
    file.write_text(text)
    with pytest.raises(BadInput, match="holds published answers, and no mechanism"):
        read_mechanism(file)


def test_a_file_beside_a_release_is_its_answers(tmp_path):
    (tmp_path / "m.json").write_text("[[0.5, 0.5]]")
    assert len(read_mechanism(tmp_path / "m.json").rows) == 1, "control"
    (tmp_path / "m.json.release.json").write_text("{}")
    with pytest.raises(BadInput, match="holds published answers, and no mechanism"):
        read_mechanism(tmp_path / "m.json")


def test_a_table_that_is_neither_is_a_matrix_with_a_mistake(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("0.5,x\n0.5,0.5\n")
    with pytest.raises(BadInput, match="must be a finite number"):
        read_mechanism(file)
    file.write_text("answer,other\n0.5,0.5\n")
    assert read_mechanism(file).outputs == ("answer", "other")
