"""Compressed files: the table that they hold, under its own name and budget; faults of the container are one line."""

import gzip
import io
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp._cli import run
from irisdp._tables import compressed
from irisdp._tables.csv_records import BLOCK, read_blocks
from irisdp._tables.table import open_table

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
    ("data", "out"),
    [("t.csv.gz", "t.csv"), ("t.csv.zst", "t.csv"), ("t.csv", "t.csv.gz"), ("k.csv.gz", "t.csv")],
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
