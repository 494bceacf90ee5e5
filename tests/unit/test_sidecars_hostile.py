"""Sidecars from strangers: whatever JSON stands in one is read, or refused in a line."""

import copy
import datetime
import io
import json
import time
from decimal import Decimal
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import Answers, BadInput, IrisError
from irisdp._measurements import ConfidenceStatement
from irisdp._release import answers as module
from irisdp._release import answers_bytes, rows_of
from support.commands import irisdp as command
from support.malformed import places, put
from support.sweeps import by_turns, tried

WRONG = [
    None, True, False, 0, 1, -1, 3, 10**6, 10**18, 10**400, 0.5, -0.0, 1e300, "", "x", "1", "-1", "0", "1/0", "1e4000",
    "1e-4000", "nan", "inf", "9" * 5000, "\ud800", "\x00", [], {}, [[]], [None], [1, 2], [{}], ["yes"], {"a": 1},
    [[["x"]]], [10**400] * 2, {"kind": {}}, "add-remove", "exchange", "count", "stepped", "geometric-noise",
    "sorted-sizes", "pull-from-the-top",
]  # fmt: skip
"""What may stand where something else should."""

QUESTIONS = {
    "count": (["count", "v = 1"], {"by": "g", "groups": ["a", "b"]}),
    "exchanged": (["count", "v = 1"], {"relation": "exchange"}),
    "cells": (["count", "v = 1"], {"delta": "1e-3"}),
    "gaussian": (["count", "v = 1"], {"epsilon": None, "mu": 1, "delta": "1e-6"}),
    "several": (
        ["count", "v = 1"],
        {"epsilon": None, "privacy": {"all": [{"epsilon": 1}, {"epsilon": "0.5", "delta": "0.01"}]}},
    ),
    "at-least": (["at-least 3", "v = 1"], {}),
    "at-most": (["at-most 3", "v = 1"], {"delta": "1e-3"}),
    "majority": (["majority", "v = 1"], {"relation": "exchange"}),
    "plurality": (["plurality", "g"], {"categories": ["a", "b"]}),
    "flipped": (["plurality", "g"], {"categories": ["a", "b", "c"]}),
    "band": (["band 5,20", "v = 1"], {}),
    "sizes": (["sizes 2", "g"], {}),
    "records": (["column", "g"], {"relation": "exchange", "categories": ["a", "b"]}),
    "sum": (["sum", "v"], {"lower": 0, "upper": 6, "step": 1}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Publish one file of each kind."""
    here = tmp_path_factory.mktemp("sidecars")
    rows = "".join(f"{k % 7},{'ab'[k % 2]}\n" for k in range(60))
    (here / "t.csv").write_text("v,g\n" + rows)
    for name, ((query, *words), options) in QUESTIONS.items():
        asked = {"epsilon": 1, **options, "ledger": here / f"{name}.ledger", "out": here / f"{name}.csv"}
        asked["another_ledger"] = True
        irisdp.publish(here / "t.csv", *query.split(), *words, **asked)
    return here


def sidecar(folder, name):
    return json.loads((folder / f"{name}.csv.release.json").read_text())


READ = ("format", "mechanism", "query", "relation", "by", "public_membership", "privacy")
"""Members that decide how answers are read; the others are passed over."""


@pytest.mark.parametrize("name", QUESTIONS)
def test_whatever_stands_in_a_sidecar_is_read_or_refused_in_a_line(name, folder, tmp_path):
    sound = sidecar(folder, name)
    answers = (folder / f"{name}.csv").read_text()
    (tmp_path / "o.csv").write_text(answers)
    escaped = []
    for path in places(sound):
        if path and path[0] not in READ:
            continue
        for number, wrong in enumerate(WRONG):
            if number % tried(8, 1) != len(str(path)) % tried(8, 1):
                continue
            document = put(copy.deepcopy(sound), path, copy.deepcopy(wrong))
            (tmp_path / "o.csv.release.json").write_text(json.dumps(document))
            try:
                irisdp.interpret(tmp_path / "o.csv", at_most=20)
            except IrisError as refusal:
                assert "\n" not in str(refusal) and len(str(refusal)) < 500
            except Exception as error:
                escaped.append((path, str(wrong)[:30], repr(error)[:100]))
    assert not escaped, "\n".join(map(str, escaped))


@pytest.mark.parametrize("epsilon", [0, "0", -0.0, "1e-9", "1e-300"])
@pytest.mark.parametrize("name", ["plurality", "flipped"])
def test_a_guarantee_that_says_nothing_is_read_soon(name, epsilon, folder, tmp_path):
    """Powers of a ratio of 1, or hardly more, become negligible never, or after more steps than anybody waits for."""
    document = sidecar(folder, name)
    document["privacy"]["epsilon"] = epsilon
    (tmp_path / "o.csv").write_text((folder / f"{name}.csv").read_text())
    (tmp_path / "o.csv.release.json").write_text(json.dumps(document))
    since = time.process_time()
    irisdp.interpret(tmp_path / "o.csv", at_most=20)
    assert time.process_time() - since < 2


@pytest.mark.parametrize(("change", "message"), [
    ({"kind": {}}, "release: holds mechanism.kind, which must be text; give the file that publish wrote"),
    ({"kind": ["sorted-sizes"]}, "release: holds mechanism.kind, which must be text; "),
    ({"within_95_percent": "1e4000"}, "within_95_percent: must be at least 0 and at most 1099511627776; "),
    ({"head": 10**400}, "head: must be at least 1 and at most 4611686018427387904; "),
    ({"records": "1e4000"}, "records: must be at least 0 and at most 4611686018427387904; "),
])  # fmt: skip
def test_what_is_of_a_wrong_kind_is_named(change, message, folder, tmp_path):
    document = sidecar(folder, "sizes")
    document["mechanism"] |= change
    (tmp_path / "o.csv").write_text((folder / "sizes.csv").read_text())
    (tmp_path / "o.csv.release.json").write_text(json.dumps(document))
    for release in (tmp_path / "o.csv", tmp_path / "o.csv.release.json"):
        with pytest.raises(BadInput) as refusal:
            irisdp.interpret(release)
        assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(("name", "text"), [
    ("o.json", '[{"answer": 1}, {}]'),
    ("o.json", '[{"answer": 1}, {"other": 2}]'),
    ("o.json", '[{"g": "a", "answer": {}}]'),
    ("o.csv", "answer\n1,2\n"),
    ("o.csv", "answer\n" + "9" * 5000 + "\n"),
    ("o.csv", ""),
])  # fmt: skip
def test_answers_beside_a_sidecar_are_read_or_refused_in_a_line(name, text, folder, tmp_path):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.release.json").write_text(json.dumps(sidecar(folder, "exchanged")))
    with pytest.raises(BadInput):
        irisdp.interpret(tmp_path / name)


def test_a_frame_with_two_answers_is_refused(folder):
    frame = pandas.DataFrame([[1, 2]], columns=["answer", "answer"])
    with pytest.raises(BadInput, match=r"^value: has two columns of one name, 'answer'; "):
        irisdp.interpret(folder / "exchanged.csv", frame)


# Sidecars that contradict themselves, and answers that are not those they were: refused, and repeated by nothing.

ASKED = {
    "count by town": "count --by town --groups Ely,York --epsilon 1",
    "count of persons": "count --unit who --at-most 1 --epsilon 1/3",
    "of persons, several": "count --by town --groups Ely,York --unit who --at-most 2 --epsilon 1",
    "under exchange": "count --by town --groups Ely,York --relation exchange --ratio 3/2",
    "public": "count --by town --groups Ely,York --relation exchange --public-membership --epsilon 1",
    "named": "count --by town --select-groups --epsilon 1 --delta 1e-6",
    "named apart": "majority age>40 --by town --select-groups --epsilon 1 --delta 1e-6",
    "in mu": "count --mu 1/2 --delta 1e-6",
    "several pairs": [
        "count",
        "--privacy",
        '{"all":[{"epsilon":1},{"epsilon":"1/2","delta":"1e-3"}]}',
        "--delta",
        "1e-3",
    ],
    "within": "count --within 3",
    "ending": "count --within 3 --epsilon 1",
    "confident": "count --epsilon 1 --confidence 0.99",
    "in bins": "histogram age --bins 0,40,80 --by town --groups Ely,York --epsilon 1",
    "a sum": "sum age --lower 0 --upper 100 --step 1 --epsilon 1",
    "a mean": "mean age --lower 0 --upper 100 --step 1 --by town --groups Ely,York --epsilon 1",
    "a median": "median age --bins 0,40,80 --epsilon 1",
    "a winner": "plurality town --categories Ely,York --epsilon 1",
    "a ranking": "ranking town --categories Ely,York --epsilon 1",
    "the top": "top 1 town --categories Ely,York --epsilon 1",
    "sizes": "sizes town --categories Ely,York --epsilon 1",
    "column": "column town --categories Ely,York --epsilon 1 --relation exchange",
    "distinct": "count-distinct town --epsilon 1",
    "a threshold": "at-least 2 --epsilon 1",
    "audiences": "count --audience board=2 --audience press=1/2",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,age,who\nEly,70,a\nYork,30,b\nYork,50,b\n")
    return tmp_path


def readers(release):
    return (f"report {release} -o page.html --force", f"plot {release} -o picture.svg --force", f"interpret {release}")


@pytest.mark.parametrize(("name", "ending"), by_turns(ASKED, ["csv", "json", "parquet"]))
def test_what_publish_wrote_agrees(here, name, ending):
    asked = ASKED[name]
    words = asked.split() if isinstance(asked, str) else asked
    ended = command(["publish", "t.csv", *words, "--out", f"o.{ending}"])
    assert ended.status == 0, ended.err
    for sidecar in Path().glob("*.release.json"):
        made = command(f"report {sidecar} -o page.html --force")
        assert made.status == 0, made.err


def published(more=""):
    assert command(f"publish t.csv count --by town --groups Ely,York --epsilon 1 --out o.csv{more}").status == 0
    return json.loads(Path("o.csv.release.json").read_text())


CHANGED = {
    "its cost is ε = 0.1, δ = 0, and each of its answers keeps ε = 1": {"cost": {"epsilon": "0.1", "delta": "0"}},
    "its expected error is 0.8509, and its noise at ε = 0.5 is off by 1.919": {"privacy": {"epsilon": "0.5"}},
    "its expected error is 0.1, and its noise at ε = 1 is off by 0.8509": {"expected_error": {"mean_absolute": 0.1}},
    "its question is 'majority age by town', and its query 'count'": {"question": "majority age by town"},
    "its unit is 'who', and its question 'count by town' does not say so": {"unit": "who"},
    "its columns do not begin with the groups, by ward": {"by": ["ward"]},
    "its confidence is 0.5, and its promise speaks of 95 %": {
        "assurance": {"columns": ["answer_low", "answer_high"], "promise": "95 % or more", "confidence": "0.5"}
    },
    "its columns are not those of which it says how sure they are": {
        "assurance": {"columns": ["answer_low"], "promise": "95 % or more", "confidence": "0.95"}
    },
}


@pytest.mark.parametrize("told", CHANGED)
def test_a_sidecar_that_contradicts_itself_is_repeated_by_nothing(here, told):
    sidecar = published()
    Path("o.csv.release.json").write_text(json.dumps(sidecar | CHANGED[told]))
    for words in readers("o.csv"):
        ended = command(words)
        assert ended.status == 2
        said = f"o.csv.release.json contradicts itself: {told}; give the file that publish wrote, or publish the same"
        assert said in ended.line
    assert not list(Path().glob("p*.*"))
    Path("o.csv.release.json").write_text(
        json.dumps(sidecar | {"by": ["ward"], "columns": ["ward", *sidecar["columns"][1:]]})
    )
    assert (
        "o.csv.release.json: is of answers with the columns ward, answer, answer_low, answer_high, and here are town, "
        "answer, answer_low, answer_high; give the file that publish wrote" in command("report o.csv.release.json").line
    )
    Path("o.csv.release.json").write_text(json.dumps(sidecar))
    assert [command(words).status for words in readers("o.csv")] == [0, 0, 0]


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_answers_are_compared_with_their_sidecar_where_no_data_package_is(here, ending):
    assert command(f"publish t.csv count --epsilon 1 --out o.{ending}").status == 0
    assert command(f"publish t.csv count --epsilon 2 --out other.{ending}").status == 0
    Path(f"o.{ending}.datapackage.json").unlink()
    assert [command(words).status for words in readers(f"o.{ending}")] == [0, 0, 0]
    Path(f"other.{ending}").replace(f"o.{ending}")
    for words in readers(f"o.{ending}.release.json"):
        line = command(words).line
        assert f"is not as it was published: o.{ending}.release.json holds another sha256; ask the publisher" in line
        assert line.endswith("publishing the same again with --force costs nothing")
    with pytest.raises(BadInput, match="is not as it was published"):
        irisdp.interpret(f"o.{ending}")


def test_batches_and_plans_note_the_answers_of_each_question(here):
    asked = [{"query": "count", "out": "a.csv"}, {"query": "count", "expression": "age > 40", "out": "b.csv"}]
    Path("b.json").write_text(json.dumps({"data": "t.csv", "budget": {"epsilon": 1}, "questions": asked}))
    assert command("batch b.json --report page.html").status == 0
    Path("p.toml").write_text(
        '[datasets.t]\ndata = "t.csv"\n[[questions]]\nquery = "count"\nepsilon = 2\nout = "c.csv"\nreport = "c.html"\n'
    )
    assert command("run p.toml").status == command("run p.toml").status == 0
    for name in ("a", "b", "c"):
        Path(f"{name}.csv.datapackage.json").unlink()
        Path(f"{name}.csv").write_text("answer,answer_low,answer_high\n4321,0,9999\n")
        assert "is not as it was published" in command(f"report {name}.csv -o {name}.page.html").line
    assert "answers" not in irisdp.publish("t.csv", "count", epsilon=1).sidecars[None]


# Answers in a file of Parquet are written a group of rows after the other, and are the same for whoever reads them.

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


# A published file of answers is read within bounds, whoever wrote it.


def test_one_value_that_stands_in_a_billion_places_is_refused(tmp_path):
    path, rows = tmp_path / "t.parquet", 7 * 10**6
    column = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), ["x"])
    pq.write_table(pa.table({"g": column, "answer": column, "end": column}), path, store_schema=False)
    assert path.stat().st_size < 10**5
    with pytest.raises(BadInput, match="more rows \\(7000000\\) than are read from a file of its size") as caught:
        rows_of(path)
    assert caught.value.field == "release"


def test_a_long_text_that_stands_in_many_places_is_held_once(tmp_path):
    path, rows = tmp_path / "t.parquet", 20_000
    column = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), ["x" * 10**6])
    pq.write_table(pa.table({"answer": column}), path, store_schema=False)
    names, found = rows_of(path)
    assert (names, len(found)) == (["answer"], rows)
    assert len({id(answer) for (answer,) in found}) <= 20  # 20 GB otherwise


def test_lists_are_refused(tmp_path):
    pq.write_table(pa.table({"answer": [[1, 2]]}), tmp_path / "t.parquet")
    with pytest.raises(BadInput, match="holds lists"):
        rows_of(tmp_path / "t.parquet")


def test_nothing_is_lost(tmp_path):
    columns = {"g": ["a", None, "é", "a"], "n": [1, 2, None, 2**60], "x": [0.5, None, float("inf"), -0.0]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    names, found = rows_of(tmp_path / "t.parquet")
    assert names == ["g", "n", "x"]
    assert found == list(map(list, zip(*columns.values(), strict=True)))
    pq.write_table(pa.table(columns).slice(0, 0), tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet") == (["g", "n", "x"], [])
