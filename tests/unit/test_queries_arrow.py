"""Arrow arrays built without pandas are those that pyarrow itself would make."""

import subprocess
import sys
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from irisdp._tables.arrow_values import array_of_kind, integers_of, whole_numbers
from irisdp._tables.columns import ColumnType

VALUES = {
    ColumnType.TEXT: (pa.string(), ["", "a", "é, \n", "\U0001f600" * 3, "a\x00b"]),
    ColumnType.INTEGER: (pa.int64(), [0, -1, 2**63 - 1, -(2**63)]),
    ColumnType.NUMBER: (pa.float64(), [0.0, -1.5, 1e308, 5e-324]),
    ColumnType.BOOLEAN: (pa.bool_(), [True, False, False, True, True]),
    ColumnType.DATE: (
        pa.timestamp("us"),
        [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime.max],
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_arrays_are_those_of_pyarrow(kind):
    arrow, values = VALUES[kind]
    for chosen in (values, values[:1], []):
        made = array_of_kind(chosen, kind)
        made.validate(full=True)
        assert made.equals(pa.array(chosen, arrow))


def test_whole_numbers_go_there_and_back():
    numbers = np.array([3, -(2**63), 2**63 - 1])
    column = pa.chunked_array([whole_numbers(numbers), whole_numbers(numbers[:0]), whole_numbers(numbers[::-1])])
    assert integers_of(column).tolist() == [*numbers.tolist(), *numbers[::-1].tolist()]
    assert integers_of(pa.chunked_array([], pa.int64())).tolist() == []
    missing = np.array([True, False, False])
    assert whole_numbers(numbers, missing).equals(pa.array(numbers, mask=missing))


def test_publishing_a_file_imports_no_pandas(tmp_path):
    """Importing it takes longer than counting ten million records; pyarrow does so to look at what it is given."""
    (tmp_path / "t.csv").write_text("g,v\na,1\nb,2\n")
    (tmp_path / "g.csv").write_text("g\na\nb\n")
    script = (
        "import sys, irisdp; irisdp.publish('t.csv', 'count', by='g', groups='g.csv', epsilon=1, out='o.parquet');"
        "assert 'pandas' not in sys.modules"
    )
    parquet = pa.table({"g": ["a", "b"], "v": [1, 2]})
    pa.parquet.write_table(parquet, tmp_path / "u.parquet")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    script = script.replace("'t.csv'", "'u.parquet'").replace("by='g', groups='g.csv'", "by='v', groups='1,2'")
    subprocess.run([sys.executable, "-c", script.replace("o.parquet", "p.parquet")], cwd=tmp_path, check=True)
