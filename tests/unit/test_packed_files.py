"""Compressed files: the table that they hold, under its own name and budget; faults of the container are one line."""

import cProfile
import gzip
import io
import pstats
import subprocess
import sys
import time
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._queries import enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables import compressed
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.csv_records import BLOCK, read_blocks
from irisdp._tables.expressions import read_condition, read_value_of_record
from irisdp._tables.table import open_table
from support.sweeps import tried

BODY = b'g,v\na,1\n"b\n""x""",2\n\xff,3\na,\n'


def zstd(content):
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return out.getvalue().to_pybytes()


PACK = {".gz": gzip.compress, ".zst": zstd}


@pytest.mark.parametrize("packing", PACK)
def test_packed_or_not_it_is_one_table_with_one_budget(tmp_path, packing):
    plain, other = tmp_path / "t.csv", tmp_path / f"t.csv{packing}"
    plain.write_bytes(BODY)
    other.write_bytes(PACK[packing](BODY))
    opened = [open_table(path) for path in (plain, other)]
    assert len({table.digest() for table in opened}) == 1
    assert len({table.location.name for table in opened}) == 1
    found = [table.run("SELECT g, v FROM data", table.columns).to_pylist() for table in opened]
    assert found[0] == found[1]
    assert len(found[0]) == 4
    first = irisdp.publish(plain, "count", "v > 1", epsilon=1)
    again = irisdp.publish(other, "count", "v > 1", epsilon=1)
    assert again.repeated
    assert again.answers.values == first.answers.values
    assert again.plan.question() == first.plan.question()
    assert irisdp.Ledger(tmp_path / "t.ledger").spent.epsilon == 1
    assert sorted(path.name for path in tmp_path.glob("*.ledger")) == ["t.ledger"]


def test_a_packed_table_finds_its_project(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"g\tv\na\t1\n"))
    assert run(["init", str(tmp_path / "t.tsv.gz")]) == 0
    (tmp_path / "t.iris.toml").write_text('relation = "exchange"\n')
    planned = irisdp.plan(tmp_path / "t.tsv.gz", "count", "v > 1", epsilon=1)
    assert planned.asked.promise.relation == "exchange"
    assert planned.asked.promise.table == "t.tsv"


PLAN = """
[datasets.t]
data = "{data}"

[[questions]]
dataset = "t"
query = "count"
epsilon = 1
out = "{out}"
"""
BATCH = """{{"data": "{data}", "budget": {{"epsilon": 1}}, "questions": [{{"query": "count", "out": "{out}"}}]}}"""
WRITERS = {
    "answers": "publish {data} count --epsilon 1 --out {out} --force",
    "the ledger": "publish {data} count --epsilon 1 --ledger {out}",
    "a batch": "batch batch.json --force",
    "a plan": "run plan.toml --force",
    "a project": "init {data} --out {out} --force",
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("there", [True, False], ids=["there", "not there"])
@pytest.mark.parametrize(
    ("data", "out"), [("t.csv.gz", "t.csv"), ("t.csv.zst", "t.csv"), ("t.csv", "t.csv.gz"), ("k.csv.gz", "t.csv")]
)
def test_nothing_is_written_to_what_would_be_the_same_table(tmp_path, monkeypatch, data, out, there, writer, capsys):
    """The packed table's raw file may stand beside it; an answer of that name would be taken for the table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(BODY))
    (tmp_path / "t.csv.zst").write_bytes(zstd(BODY))
    (tmp_path / "t.csv").write_bytes(BODY)
    (tmp_path / "k.csv.gz").symlink_to("t.csv.gz")
    if not there:
        (tmp_path / out).unlink(missing_ok=True)
    (tmp_path / "plan.toml").write_text(PLAN.format(data=data, out=out))
    (tmp_path / "batch.json").write_text(BATCH.format(data=data, out=out))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.exists()}
    if data not in before:
        pytest.skip("that is the data itself")
    assert run(WRITERS[writer].format(data=data, out=out).split()) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "another name" in printed.err or out.endswith(".gz")  # an ending that no answer has may be refused first
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.exists()} == before


FAULTS = {
    "cut off": lambda whole: whole[:-3],
    "cut short": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "empty of all but a magic number": lambda whole: whole[:4],
    "changed within": lambda whole: whole[:20] + bytes([whole[20] ^ 255]) + whole[21:],
    "followed by something": lambda whole: whole + b"xx",
    "not compressed": lambda whole: BODY,
}


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_container_is_one_line_and_costs_nothing(tmp_path, packing, fault, capsys):
    path = tmp_path / f"t.csv{packing}"
    if (packing, fault) == (".zst", "changed within"):
        pytest.skip("Zstandard files need not hold a checksum")
    path.write_bytes(FAULTS[fault](PACK[packing](BODY * 50)))
    for question in (["count"], ["count", "v > 1"], ["majority", "g = 'a'"]):
        assert run(["publish", str(path), *question, "--epsilon", "1"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1
        name = {".gz": "a gzip file", ".zst": "a Zstandard file"}[packing]
        rule, remedy = f"is not {name} that can be unpacked to its end", "compress it again, or take that ending off"
        assert said.err == f"irisdp: DATA: {rule}; {remedy}\n"
    assert not (tmp_path / "t.ledger").exists()


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("part", [b"0" * 1_000_000, b'"\n' * 500_000], ids=["one value", "quotes that never close"])
def test_what_unpacks_to_much_is_read_in_little_memory(tmp_path, packing, part):
    """60 MB in some kB; what is held is a few blocks, as of any file."""
    path = tmp_path / f"t.csv{packing}"
    path.write_bytes(PACK[packing](b"a,b\n") + PACK[packing](part) * 60)
    table = open_table(path)
    tracemalloc.start()
    table.digest()
    _, digesting = tracemalloc.get_traced_memory()
    with compressed.opened(path, packing) as file:
        longest = max((len(block.data) for block in read_blocks(file, 4, ord(","))), default=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size < 600_000
    assert digesting < 4_000_000
    assert longest <= BLOCK
    assert peak < 45_000_000 + 100 * BLOCK * part.startswith(b'"')  # to split a block takes numbers for each quote


@given(st.binary(max_size=300), st.lists(st.tuples(st.integers(0, 320), st.integers(0, 80)), max_size=12))
def test_any_place_can_be_read_at_any_time(tmp_path_factory, content, reads):
    path = tmp_path_factory.mktemp("packed") / "t"
    path.write_bytes(gzip.compress(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressed, "_WINDOW", 16)
        patch.setattr(compressed, "_STEP", 7)
        with compressed.opened(path, ".gz") as file:
            for place, size in reads:
                file.seek(place)
                assert file.read(size) == content[place : place + size]


@given(
    st.lists(st.sampled_from([b"a", b",", b'"', b'""', b"\n", b"\r\n"]), max_size=60).map(b"".join),
    st.integers(0, 9),
    st.integers(2, 20),
)
def test_records_are_those_of_the_bytes_that_it_unpacks_to(tmp_path_factory, content, longest, more):
    path = tmp_path_factory.mktemp("packed") / "t"
    path.write_bytes(gzip.compress(content))

    def records(file):
        blocks = read_blocks(file, 0, ord(","), longest=longest, size=longest + more)
        return [(block.data, block.kept.tolist(), block.fields.starts.tolist()) for block in blocks]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressed, "_WINDOW", 4)
        patch.setattr(compressed, "_STEP", 3)
        with compressed.opened(path, ".gz") as file:
            assert records(file) == records(io.BytesIO(content))


# Decimals in a Parquet file whose bytes are of any number: no record decides whether a question ends in an error.

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
        bytes(width - 1) + b"\x02", b"\xff" * width, b"\x80" + bytes(width - 1), b"\x7f" + b"\xff" * (width - 1), None,
    ]  # fmt: skip
    path = as_decimals(tmp_path / "t.parquet", pa.binary(width), values, digits)
    found = irisdp.publish(path, "count", "x > 1", epsilon=1, ledger=tmp_path / "l")
    assert len(found.answers.values) == 1


def test_what_is_refused_could_fail_on_one_record(tmp_path):
    for kind, value in ((pa.binary(), b""), (pa.binary(), bytes(17)), (pa.binary(17), bytes(17))):
        path = as_decimals(tmp_path / "t.parquet", kind, [value])
        with pytest.raises(pa.ArrowInvalid):
            pq.read_table(path)
        assert pq.read_table(as_decimals(path, kind, [None])).column(0).to_pylist() == [None]


# What a Parquet file unpacks to decides nothing: a text that it holds once may stand in it any number of times.

LONG = "x" * 10**6
COPIES = 2_300
"""Of a text of 10^6 bytes: more than an array of Arrow's holds."""


TEXT = pa.string()


def repeated(copies, *, kind=TEXT):
    listed = pa.array([LONG.encode(), b"a"], pa.binary()).cast(kind)
    return pa.DictionaryArray.from_arrays(pa.array([1, 1] + [0] * copies, pa.int32()), listed)


def listing(copies, kind=TEXT):
    ends = pa.array([0, 1, None, 2, 2 + copies], pa.int32())
    return pa.ListArray.from_arrays(ends, repeated(copies, kind=kind))


def mapped(copies):
    ends = pa.array([0, 1, None, 2, 2 + copies], pa.int32())
    return pa.MapArray.from_arrays(ends, repeated(copies), pa.array(range(2 + copies)))


NESTED = {
    "a list": listing,
    "a list of bytes": lambda copies: listing(copies, pa.binary()),
    "a list of lists": lambda copies: pa.ListArray.from_arrays(pa.array([0, 1, None, 3, 4]), listing(copies)),
    "a structure of a list": lambda copies: pa.StructArray.from_arrays(
        [listing(copies)], names=["a"], mask=pa.array([False, True, False, False])
    ),
    "a structure with a number": lambda copies: pa.StructArray.from_arrays(
        [listing(copies), pa.array(range(4))], names=["a", "b"], mask=pa.array([False, True, False, False])
    ),
    "a map": mapped,
}


@pytest.mark.parametrize("place", ["a file", "a folder"])
@pytest.mark.parametrize("name", NESTED)
def test_no_list_ends_a_question(name, place, tmp_path):
    values = NESTED[name](COPIES)
    (tmp_path / "t").mkdir()
    path = tmp_path / "t" / "t.parquet"
    pq.write_table(pa.table({"age": pa.array(range(len(values))), "l": values}), path, store_schema=False)
    table = open_table(path if place == "a file" else path.parent)
    assert [column.kind for column in table.columns] == [ColumnType.INTEGER, ColumnType.NESTED]
    for text, yes in (("l IS NULL", values.null_count), ("age > 0 AND l IS NOT NULL", 2)):
        assert count_records(table, condition=read_condition(text, table.columns)).yes.tolist() == [yes]


def test_names_with_points_are_columns_of_their_own(tmp_path):
    held = {
        "a.b": ["x", "y", None],
        "a": [{"b": "q"}, None, {"b": None}],
        "a.b.c": [{"d": 1}, {"d": None}, None],
        "l": [[{"k": ["x"]}], [], None],
    }
    pq.write_table(pa.table(held), tmp_path / "t.parquet", store_schema=False)
    table = open_table(tmp_path / "t.parquet")
    for name in held:
        found = count_records(table, condition=read_condition(f'"{name}" IS NULL', table.columns))
        assert found.yes.tolist() == [1], name
    assert count_records(table, groups=read_groups(table, "a.b", ["x", "y", "q"])).total.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"row_group_size": 7}, {"dictionary_pagesize_limit": 9}]
)
@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_texts_are_read_alike_however_they_are_stored(kind, options, tmp_path):
    values = pa.array([b"a", b"b", None, b"ccc", LONG.encode(), b"\xff", LONG.encode() + b"x"] * 9, pa.binary())
    values = pa.Array.from_buffers(pa.string(), len(values), values.buffers()) if kind != pa.binary() else values
    plain = pa.table({"s": values, "n": pa.array(range(len(values)))})
    pq.write_table(plain, tmp_path / "t.parquet", store_schema=False, **options)
    answers = []
    for data in (plain, tmp_path / "t.parquet"):
        table = open_table(data)
        found = count_records(table, condition=read_condition("s IS NULL AND n > 3", table.columns))
        keys = None
        if kind != pa.binary():
            cells = enumerate_keys(table, "s")
            keys = sorted(cells.counts.tolist())
        answers.append((found.yes.tolist(), found.no.tolist(), keys))
    assert answers[0] == answers[1]


MEASURED = """
import re, sys
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
table = open_table(sys.argv[1])
found = count_records(table, condition=read_condition("s = 'a'", table.columns))
print(found.yes.tolist(), found.no.tolist(), *re.findall(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()))
"""
"""The peak of the memory of this program alone: what is noted of a process may begin with that of its parent."""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read where Linux tells it")
def test_memory_is_bounded_by_what_a_file_holds(tmp_path):
    pq.write_table(pa.table({"s": repeated(COPIES)}), tmp_path / "t.parquet", store_schema=False)
    assert (tmp_path / "t.parquet").stat().st_size < 10**6
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path / "t.parquet"], capture_output=True, text=True, check=True
    )
    yes, no, kilobytes = done.stdout.split()
    assert (yes, no) == ("[2]", f"[{COPIES}]")
    assert int(kilobytes) < 1_500_000  # all of them at once are 2.3 GB, and several times that where they are copied


# What an expression comes to in a statement is bounded by a public rule, and found in no more time than it is long.

TABLE = pa.table({"x": [1.0, None, 3.0], "s": ["a", None, "b"], "d": pa.array([0, 1, 2], pa.timestamp("us"))})
SECONDS = 20
"""Of the processor, for what takes less than three; without the rule it takes minutes, and twice as long a level."""

NESTED_COPIES = {
    "ABS": ("ABS(", "x", ")"),
    "FLOOR": ("FLOOR(", "x", ")"),
    "CEIL": ("CEIL(", "x", ")"),
    "a divisor": ("(1 / ", "x", ")"),
    "a remainder": ("(7 % ", "x", ")"),
    "NULLIF": ("NULLIF(", "x", ", 0)"),
    "CAST": ("CAST(CAST(", "x", " AS VARCHAR) AS DOUBLE)"),
    "TRY_CAST": ("TRY_CAST(TRY_CAST(", "x", " AS VARCHAR) AS DECIMAL(18, 2))"),
    "LENGTH": ("LENGTH(CAST(", "x", " AS VARCHAR))"),
    "YEAR": ("YEAR(CAST(CAST(", "x", " AS VARCHAR) AS DATE))"),
    "a subject": ("CASE ", "x", " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 ELSE 5 END"),
    "COALESCE": ("COALESCE(", "x", ", 1)"),
    "BETWEEN": ("CASE WHEN ", "x", " BETWEEN 1 AND 2 THEN 1 ELSE 2 END"),
}


def nested(name, depth):
    before, inside, after = NESTED_COPIES[name]
    return before * depth + inside + after * depth


@pytest.mark.parametrize("name", NESTED_COPIES)
def test_what_is_taken_is_answered_soon(name):
    table = open_table(TABLE)
    begun = time.process_time()
    for depth in tried((3, 10, 40), (3, 6, 10, 16, 40)):
        try:
            condition = read_condition(f"{nested(name, depth)} > 0", table.columns)
        except BadInput as error:
            assert error.field == "expression"
            break
        count_records(table, condition=condition)
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize("name", ["ABS", "FLOOR", "NULLIF", "CAST", "a subject", "a divisor"])
def test_what_repeats_its_parts_is_refused(name):
    columns = [Column("x", ColumnType.UNTYPED)]
    for depth in (14, 16):
        with pytest.raises(BadInput, match="repeat its parts more than 8192 times"):
            read_condition(f"{nested(name, depth)} > 0", columns)
        with pytest.raises(BadInput, match="repeat its parts more than 8192 times"):
            read_value_of_record(f"CAST({nested(name, depth)} AS VARCHAR)", columns)


def test_a_column_that_is_computed_counts_as_what_it_is_computed_of():
    branches = " ".join(f"WHEN ABS(x) = {place} THEN {place}" for place in range(60))
    _, derivation = read_value_of_record(f"CASE {branches} END", [Column("x", ColumnType.NUMBER)])
    columns = [Column("x", ColumnType.NUMBER), Column("y", ColumnType.INTEGER, derivation)]
    read_condition("y > 1", columns)
    with pytest.raises(BadInput, match="repeat its parts"):
        read_condition(" OR ".join(f"y = {place}" for place in range(100)), columns)


def test_what_is_long_and_flat_is_taken():
    columns = open_table(TABLE).columns
    for text in (
        "+".join(["x / 2"] * 40) + " > 0",
        " AND ".join(["x BETWEEN 1 AND 2"] * 400),
        " OR ".join(f"ABS(x) = {place}" for place in range(600)),
        "CASE x " + " ".join(f"WHEN {place} THEN {place}" for place in range(400)) + " END > 1",
    ):
        assert len(text) <= 10_000
        read_condition(text, columns)


@pytest.mark.parametrize("column", ["s", "d"])
def test_a_list_takes_time_in_proportion_to_its_length(column):
    columns = open_table(TABLE).columns
    calls = []
    for many in (170, 680):
        listed = ", ".join(f"'{1000 + place}-01-01'" for place in range(many))
        profile = cProfile.Profile()
        profile.runcall(read_condition, f"{column} IN ({listed})", columns)
        calls.append(pstats.Stats(profile).total_calls)
    assert calls[1] < 5 * calls[0]  # sixteen times as many, where each is compared with all
