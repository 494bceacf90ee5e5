"""Decimals in a Parquet file whose bytes are of any number: no record decides whether a question ends in an error."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from irisdp._tables.table import open_table

LEAF = b"\x18\x01x\x00"
"""How a footer ends the element of a column `x`: field 4, its name, and the end."""


def as_decimals(path, kind, values, digits=9):
    """Write bytes, and let the footer say that they are decimals."""
    pq.write_table(pa.table({"x": pa.array(values, kind)}), path, store_schema=False)
    found = path.read_bytes()
    size = int.from_bytes(found[-8:-4], "little")
    data, footer = found[: -8 - size], found[-8 - size : -8]
    assert footer.count(LEAF) == 1
    # Fields 6 (decimal), 7 (scale 0) and 8 (digits), each a number in zigzag.
    footer = footer.replace(LEAF, LEAF[:-1] + bytes([0x25, 10, 0x15, 0, 0x15, 2 * digits, 0]))
    path.write_bytes(data + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


@pytest.mark.parametrize("value", [b"\x03", b"", bytes(17), None])
@pytest.mark.parametrize("place", ["t.parquet", "folder/t.parquet"])
def test_bytes_of_any_number_are_refused_by_the_schema(tmp_path, value, place):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    as_decimals(path, pa.binary(), [b"\x01", value])
    with pytest.raises(BadInput, match="decimals of x in bytes of any number") as caught:
        open_table(path if path.parent == tmp_path else path.parent)
    assert caught.value.field == "data"


@pytest.mark.parametrize("value", [bytes(17), None])
def test_more_bytes_than_the_digits_have_are_refused(tmp_path, value):
    with pytest.raises(BadInput, match="decimals of x"):
        open_table(as_decimals(tmp_path / "t.parquet", pa.binary(17), [value]))


@pytest.mark.parametrize(("width", "digits"), [(1, 2), (16, 9), (16, 38), (17, 39), (32, 60)])
def test_one_length_is_read_whatever_a_record_holds(tmp_path, width, digits):
    values = [
        bytes(width - 1) + b"\x02",
        b"\xff" * width,
        b"\x80" + bytes(width - 1),
        b"\x7f" + b"\xff" * (width - 1),
        None,
    ]
    path = as_decimals(tmp_path / "t.parquet", pa.binary(width), values, digits)
    found = irisdp.publish(path, "count", "x > 1", epsilon=1, ledger=tmp_path / "l")
    assert len(found.answers.values) == 1


def test_what_is_refused_could_fail_on_one_record(tmp_path):
    for kind, value in ((pa.binary(), b""), (pa.binary(), bytes(17)), (pa.binary(17), bytes(17))):
        path = as_decimals(tmp_path / "t.parquet", kind, [value])
        with pytest.raises(pa.ArrowInvalid):
            pq.read_table(path)
        assert pq.read_table(as_decimals(path, kind, [None])).column(0).to_pylist() == [None]
