"""Answers in a file of Parquet are written a group of rows after the other, and are the same for whoever reads them."""

import datetime
import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import Answers
from irisdp._measurements import ConfidenceStatement
from irisdp._release import answers as module
from irisdp._release import answers_bytes

ROWS = 10
TABLES = {
    "whole numbers": Answers(("g",), [(n,) for n in range(ROWS)], list(range(ROWS))),
    "text, dates": Answers(("g", "d"), [(f"é{n}", datetime.date(2000, 1, 1 + n)) for n in range(ROWS)], ["yes"] * ROWS),
    "late text": Answers(("g",), [("a" * n,) for n in range(ROWS)], [2**62] * (ROWS - 1) + [2**70]),
    "decimals": Answers(("g",), [(Decimal(10**n) / 100,) for n in range(ROWS)], [0.5] * ROWS),
    "missing": Answers(
        ("g",),
        [(n,) for n in range(ROWS)],
        [1] * ROWS,
        ConfidenceStatement(columns={"answer_low": [None] * (ROWS - 1) + [3]}),
    ),
    "one answer": Answers((), [()], [7]),
    "no group": Answers(("g",), [], []),
}


@pytest.mark.parametrize("together", [1, 3, ROWS, 100])
@pytest.mark.parametrize("name", TABLES)
def test_the_file_holds_the_whole_table(name, together, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_TOGETHER", together)
    answers = TABLES[name]
    file = pq.ParquetFile(io.BytesIO(answers_bytes(answers, tmp_path / "o.parquet")))
    assert file.read() == answers.to_arrow()
    assert file.metadata.num_row_groups == max(1, -(-len(answers.values) // together))


def test_few_rows_are_written_as_one_table_is(tmp_path):
    answers, whole = TABLES["text, dates"], io.BytesIO()
    pq.write_table(answers.to_arrow(), whole)
    assert answers_bytes(answers, tmp_path / "o.parquet") == whole.getvalue()


def test_four_times_as_many_answers_take_no_more_memory_of_arrow(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_TOGETHER", 1 << 12)
    peaks = []
    for rows in (1 << 14, 1 << 16):
        answers = Answers(("g",), [(n,) for n in range(rows)], [n % 97 for n in range(rows)])
        usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
        pa.set_memory_pool(pool)
        try:
            answers_bytes(answers, tmp_path / "o.parquet")
        finally:
            pa.set_memory_pool(usual)
        peaks.append(pool.max_memory())
    assert peaks[1] < 1.5 * peaks[0]
