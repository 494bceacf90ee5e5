"""JSON lines: every line is read as it is alone, whatever stands around it; one that is no object is unknown."""

import gzip
import json
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irisdp._tables import json_lines
from irisdp._tables.table import open_table
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

TYPES = {"v": "integer", "g": "text", "b": "boolean", "x": "number", "d": "timestamp"}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["1", "2024-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from([*TYPES, "other", "V"]), VALUES, max_size=6).map(
    lambda record: json.dumps(record, ensure_ascii=bool(len(record) % 2)).encode("utf-8", "surrogatepass")
)
HOSTILE = st.sampled_from(
    [
        b"", b" \t", b"\r", b"{", b"}", b"[]", b"[1]", b"null", b"1", b'"x"', b'{"v": 1', b'{"v": 1}}', b"\x00",
        b'{"v": 1} {"v": 2}', b'{"v": NaN}', b'{"v": Infinity}', b'{"v": 01}', b"{'v': 1}", b'{"v": 1,}',
        b'{"v": "\xff"}', b'{"g": "\\ud800"}', b'{"g": "\\ud83d\\ude00"}', b'{"g": "a\\u0000b"}', b'{"v": 1, "v": 2}',
        b'{"v": 1e400, "x": 1e400}', b'{"v": ' + b"9" * 5000 + b', "g": "y"}', b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00",
        b'{"g": "tab\there"}', b'{"d": "20240-01-01"}', b'{"d": 1e18}', b'{"g": {"v": 1}}', b'{"\\u0076": 7}',
        b'{"g": "' + b"x" * 40 + b'"}', b"[" * 5000, b'{"g":' * 3000, b'{"v": 3, "g": "' + b"[" * 300 + b'"}',
        b'{"g": ' + b"[" * 101 + b"]" * 101 + b', "v": 1}',
        b"\xef\xbb\xbf", b'\xef\xbb\xbf{"v": 1}', b'\xef\xbb\xbf\xef\xbb\xbf{"v": 1}',
    ]
)  # fmt: skip
LINES = st.lists(OBJECTS | HOSTILE, max_size=8)


def rows(folder, content, packing=""):
    path = folder / f"t.jsonl{packing}"
    path.write_bytes(gzip.compress(content) if packing else content)
    table = open_table(path, types=TYPES)
    read = ", ".join(f"{column.reference.sql('duckdb')} AS {column.name}" for column in table.columns)
    held = table.run(f"SELECT {read} FROM data", table.columns)
    return [tuple(record[name] for name in TYPES) for record in held.to_pylist()]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=tried(40, 100))
@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_a_line_is_read_as_it_is_alone(tmp_path_factory, lines, end, ended):
    folder = tmp_path_factory.mktemp("lines")
    whole = end.join([*lines, b""] if ended else lines)
    alone = [row for line in lines for row in rows(folder, line)]
    assert rows(folder, whole) == alone
    assert rows(folder, whole, ".gz") == alone


@given(LINES, st.integers(10, 60), st.integers(2, 30))
def test_lines_are_those_of_an_obvious_machine_wherever_blocks_end(tmp_path_factory, lines, longest, more):
    path = tmp_path_factory.mktemp("lines") / "t.jsonl"
    path.write_bytes(b"\n".join(lines))
    source = json_lines.JsonLinesSource(path, ("v",))
    found = [line for some in json_lines._lines(source, longest=longest, size=longest + more) for line in some]
    assert found == [
        line
        for line in (line.removeprefix(b"\xef\xbb\xbf") for line in path.read_bytes().split(b"\n"))
        if line.strip(b" \t\r") and len(line.removesuffix(b"\r")) <= longest
    ]


@given(OBJECTS)
def test_a_record_is_what_another_reader_of_json_reads(line):
    try:
        expected = json.loads(line, parse_constant=lambda _: 1 / 0)
    except ZeroDivisionError:  # NaN and infinities are no JSON
        expected = {}
    found = json_lines.read_record(line)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        text = json_lines._text(found[name])
        if isinstance(value, bool | str):
            assert text == (str(value).lower() if isinstance(value, bool) else value)
        elif value is None or isinstance(value, list | dict):
            assert text is None
        else:
            assert type(value)(text) == value


def test_a_reader_that_guesses_types_is_found_out(tmp_path):
    """Negative control: Arrow's own reader ends in an error where one record has text for a number."""
    import pyarrow as pa
    import pyarrow.json

    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"v": 1}\n{"v": "x"}\n')
    with pytest.raises(pa.ArrowInvalid):
        pyarrow.json.read_json(path)
    assert [row[0] for row in rows(tmp_path, path.read_bytes())] == [1, None]


@pytest.mark.parametrize("depth", [100, 101])
def test_how_deep_a_record_may_be_is_public(depth):
    """The same wherever it is read from, be Python's own limit nearly reached."""
    line = b'{"v": 1, "g": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    def within(levels, action):
        return action() if not levels else within(levels - 1, action)

    read = partial(json_lines.read_record, line)
    assert bool(read()) is (depth == 100)
    assert within(500, read) == read()
