"""Bad input at the command line: status 2, one clear line, nothing spent, and no private value anywhere."""

import contextlib
import inspect
import json
import re
import sqlite3

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import irisdp
from irisdp import BadInput, Cost, IrisError, Ledger, Privacy, audit, certify, consumers, design, graphs, noise, publish
from irisdp._cli import run
from irisdp._exact import checked

CANARY = "Zweig-4711"
"""Stands in a record; it must not be seen in any message, file or ledger."""

PUBLISH = "publish t.csv"
BY = "--by g --groups a,b"

CASES = {
    # the data
    "no data": "publish",
    "missing file": "publish none.csv count --epsilon 1",
    "folder as data": "publish folder count --epsilon 1",
    "unknown ending": "publish t.xlsx count --epsilon 1",
    "no ending": "publish t count --epsilon 1",
    "file without columns": "publish nothing.csv count --epsilon 1",
    "not really Parquet": "publish fake.parquet count --epsilon 1",
    "two columns of one name": "publish twice.csv count --epsilon 1",
    "header that is no text": "publish binary.csv count --epsilon 1",
    # the query
    "no query": "publish t.csv --epsilon 1",
    "unknown query": f"{PUBLISH} sum v --epsilon 1",
    "at-least without K": f"{PUBLISH} at-least --epsilon 1",
    "K is no number": f"{PUBLISH} at-least many --epsilon 1",
    "K is negative": ["publish", "t.csv", "--epsilon", "1", "--", "at-least", "-1"],
    "K is a fraction": f"{PUBLISH} at-least 1.5 --epsilon 1",
    "K is huge": f"{PUBLISH} at-least 99999999999999999999 --epsilon 1",
    "majority of nothing": f"{PUBLISH} majority --epsilon 1",
    "too many arguments": [*PUBLISH.split(), "count", "v = 1", "v = 2", "--epsilon", "1"],
    # the condition
    "syntax error": [*PUBLISH.split(), "count", "v = = 1", "--epsilon", "1"],
    "unbalanced": [*PUBLISH.split(), "count", "(v = 1", "--epsilon", "1"],
    "empty condition": [*PUBLISH.split(), "count", " ", "--epsilon", "1"],
    "unknown column": [*PUBLISH.split(), "count", "w = 1", "--epsilon", "1"],
    "file-reading function": [*PUBLISH.split(), "count", "read_text('/etc/passwd') = 'x'", "--epsilon", "1"],
    "subquery": [*PUBLISH.split(), "count", "v = (SELECT 1)", "--epsilon", "1"],
    "subquery over a file": [*PUBLISH.split(), "count", "v IN (SELECT * FROM 't.csv')", "--epsilon", "1"],
    "two statements": [*PUBLISH.split(), "count", "v = 1; DROP TABLE data", "--epsilon", "1"],
    "comment": [*PUBLISH.split(), "count", "v = 1 -- and more", "--epsilon", "1"],
    "aggregate": [*PUBLISH.split(), "count", "sum(v) > 1", "--epsilon", "1"],
    "window": [*PUBLISH.split(), "count", "row_number() OVER () = 1", "--epsilon", "1"],
    "random": [*PUBLISH.split(), "count", "random() < 0.5", "--epsilon", "1"],
    "environment": [*PUBLISH.split(), "count", "getenv('HOME') = 'x'", "--epsilon", "1"],
    "parameter": [*PUBLISH.split(), "count", "v = ?", "--epsilon", "1"],
    "no condition but a value": [*PUBLISH.split(), "count", "v + 1", "--epsilon", "1"],
    "two readings of a column": [*PUBLISH.split(), "count", "v = 1 AND v = 'a'", "--epsilon", "1"],
    "wrong type": ["publish", "t.parquet", "count", "g > 5", "--epsilon", "1"],
    # privacy
    "no epsilon": f"{PUBLISH} count",
    "epsilon and ratio": f"{PUBLISH} count --epsilon 1 --ratio 2",
    "NaN epsilon": f"{PUBLISH} count --epsilon nan",
    "infinite epsilon": f"{PUBLISH} count --epsilon inf",
    "negative epsilon": f"{PUBLISH} count --epsilon=-1",
    "zero epsilon": f"{PUBLISH} count --epsilon 0",
    "zero epsilon for a majority": [*PUBLISH.split(), "majority", "v = 1", "--epsilon", "0"],
    "zero epsilon for an audience": f"{PUBLISH} count --audience press=0",
    "epsilon in words": f"{PUBLISH} count --epsilon one",
    "empty epsilon": ["publish", "t.csv", "count", "--epsilon", ""],
    "enormous epsilon": f"{PUBLISH} count --epsilon 1e9",
    "epsilon divides by zero": f"{PUBLISH} count --epsilon 1/0",
    "ratio below one": f"{PUBLISH} count --ratio 9/10",
    "ratio of zero": f"{PUBLISH} count --ratio 0",
    "delta of one": f"{PUBLISH} count --epsilon 1 --delta 1",
    "negative delta": f"{PUBLISH} count --epsilon 1 --delta=-0.1",
    "NaN delta": f"{PUBLISH} count --epsilon 1 --delta nan",
    "zero mu": f"{PUBLISH} count --mu 0 --delta 1e-6",
    "enormous mu": f"{PUBLISH} count --mu 1e9 --delta 1e-6",
    "mu in words": f"{PUBLISH} count --mu one --delta 1e-6",
    "mu without delta": f"{PUBLISH} count --mu 1",
    "mu and a delta of one": f"{PUBLISH} count --mu 1 --delta 1",
    "mu and epsilon": f"{PUBLISH} count --mu 1 --epsilon 1 --delta 1e-6",
    "mu and audiences": f"{PUBLISH} count --mu 1 --delta 1e-6 --audience press=1",
    "mu and privately selected groups": f"{PUBLISH} count --by g --select-groups --mu 1 --delta 1e-6",
    "mu too small for noise": f"{PUBLISH} count --mu 1e-5 --delta 1e-6",
    "mu too large for a majority": [*PUBLISH.split(), "majority", "v = 1", "--mu", "6", "--delta", "1e-6"],
    "privacy and ratio": [*PUBLISH.split(), "count", "--privacy", '{"epsilon": 1}', "--ratio", "2"],
    "privacy and mu": [*PUBLISH.split(), "count", "--privacy", '{"epsilon": 1}', "--mu", "1"],
    "privacy that is no JSON": f"{PUBLISH} count --privacy epsilon=1",
    "privacy that is a number": f"{PUBLISH} count --privacy 1",
    "privacy of nothing": [*PUBLISH.split(), "count", "--privacy", "{}"],
    "privacy that reveals nothing": [*PUBLISH.split(), "count", "--privacy", '{"epsilon": 0}'],
    "privacy with unknown keys": [*PUBLISH.split(), "count", "--privacy", '{"gaussian": 1, "sigma": 2}'],
    "delta said twice": [*PUBLISH.split(), "count", "--privacy", '{"epsilon": 1}', "--delta", "0.1"],
    "unsorted pairs": [
        *PUBLISH.split(),
        "count",
        "--privacy",
        '{"all": [{"epsilon": 1}, {"epsilon": 2, "delta": 0.1}]}',
    ],
    "a pair that follows": [
        *[*PUBLISH.split(), "count", "--privacy"],
        '{"all": [{"epsilon": 1}, {"epsilon": 0.99, "delta": 0.9}]}',
    ],
    "a delta below all pairs": [
        *[*PUBLISH.split(), "count", "--delta", "1e-9", "--privacy"],
        '{"all": [{"epsilon": 2, "delta": 0.001}, {"epsilon": 1, "delta": 0.01}]}',
    ],
    "a selection's delta missing": [
        *[*PUBLISH.split(), "count", "--by", "g", "--select-groups", "--selection-epsilon", "1"],
        *["--mu", "1", "--delta", "0.1"],
    ],
    # groups
    "by without groups": f"{PUBLISH} count --by g --epsilon 1",
    "groups without by": f"{PUBLISH} count --groups a,b --epsilon 1",
    "selection without by": f"{PUBLISH} count --select-groups --epsilon 1 --delta 0.1",
    "selection without delta": f"{PUBLISH} count --by g --select-groups --epsilon 1",
    "groups and selection": f"{PUBLISH} count {BY} --select-groups --epsilon 1 --delta 0.1",
    "selection options alone": f"{PUBLISH} count {BY} --selection-epsilon 1 --epsilon 1",
    "unknown group column": f"{PUBLISH} count --by w --groups a --epsilon 1",
    "column twice": f"{PUBLISH} count --by g,g --groups a --epsilon 1",
    "duplicate groups": f"{PUBLISH} count --by g --groups a,b,a --epsilon 1",
    "null group": f"{PUBLISH} count --by g --groups a,,b --epsilon 1",
    "no groups": ["publish", "t.csv", "count", "--by", "g", "--groups", "", "--epsilon", "1"],
    "list for two columns": f"{PUBLISH} count --by g,v --groups a,b --epsilon 1",
    "missing groups file": f"{PUBLISH} count --by g --groups none.csv --epsilon 1",
    "groups file of other columns": f"{PUBLISH} count --by g --groups wrong.csv --epsilon 1",
    "groups file with null keys": f"{PUBLISH} count --by g,v --groups nulls.csv --epsilon 1",
    "groups file with duplicates": f"{PUBLISH} count --by g --groups double.csv --epsilon 1",
    "group of the wrong type": "publish t.parquet count --by v --groups one,two --epsilon 1",
    # relation and unit
    "unknown relation": f"{PUBLISH} count --relation swap --epsilon 1",
    "public membership without exchange": f"{PUBLISH} count {BY} --public-membership --epsilon 1",
    "public membership with selection": f"{PUBLISH} count --by g --select-groups --relation exchange"
    " --public-membership --epsilon 1 --delta 0.1",
    "public membership with unit": f"{PUBLISH} count {BY} --relation exchange --public-membership --unit u --epsilon 1",
    "unknown unit": f"{PUBLISH} count --unit w --epsilon 1",
    # output and ledger
    "unknown output": f"{PUBLISH} count --epsilon 1 --out a.xlsx",
    "output in no folder": f"{PUBLISH} count --epsilon 1 --out nowhere/a.csv",
    "output is a folder": f"{PUBLISH} count --epsilon 1 --out folder.csv",
    "ledger is no ledger": f"{PUBLISH} count --epsilon 1 --ledger t.csv",
    "ledger is corrupt": f"{PUBLISH} count --epsilon 1 --ledger corrupt.ledger",
    "ledger is another database": f"{PUBLISH} count --epsilon 1 --ledger other.ledger",
    "ledger is a folder": f"{PUBLISH} count --epsilon 1 --ledger folder",
    "ledger in no folder": f"{PUBLISH} count --epsilon 1 --ledger nowhere/l.ledger",
    # the command line
    "unknown option": f"{PUBLISH} count --epsilon 1 --frobnicate",
    "unknown command": "frobnicate",
    "option without value": f"{PUBLISH} count --epsilon",
    # other commands
    "no such ledger": "ledger none.ledger",
    "limit in words": "ledger new.ledger --limit much",
    "negative limit": "ledger new.ledger --limit=-1",
    "limit of three": "ledger new.ledger --limit 1,2,3",
    "NaN limit": "ledger new.ledger --limit nan",
    "missing mechanism": "sample none.json --input 0",
    "mechanism is no JSON": "sample t.csv --input 0",
    "unknown input": "sample mechanism.json --input 7",
    "no input": "sample mechanism.json",
    "zero draws": "sample mechanism.json --input 0 -n 0",
    "draws in words": "sample mechanism.json --input 0 -n many",
    "rows do not sum to one": "sample leaky.json --input 0",
    "NaN in a mechanism": "sample nan.json --input 0",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("a", 1, 1), (CANARY, 0, 2), ("b", 1, 3)]
    (tmp_path / "t.csv").write_text("g,v,u\n" + "".join(f"{g},{v},{u}\n" for g, v, u in rows))
    pyarrow.parquet.write_table(
        pa.table({"g": [g for g, _, _ in rows], "v": [v for _, v, _ in rows]}), tmp_path / "t.parquet"
    )
    for name, text in {
        "t.xlsx": "x", "t": "x", "nothing.csv": "", "fake.parquet": CANARY, "twice.csv": "a,a\n1,2\n",
        "wrong.csv": "h\na\n", "nulls.csv": "g,v\na,\n", "double.csv": "g\na\na\n", "corrupt.ledger": "SQLite format 3",
        "mechanism.json": json.dumps({"privacy": {"ratio": 2}, "matrix": [["2/3", "1/3"], ["1/3", "2/3"]]}),
        "leaky.json": json.dumps({"privacy": {"ratio": 2}, "matrix": [[0.3, 0.3], [1, 0]]}),
        "nan.json": '{"privacy": {"ratio": 2}, "matrix": [[NaN, 1]]}',
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00,\x01\n1,2\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "other.ledger")) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    return tmp_path


@pytest.mark.parametrize("command", CASES.values(), ids=CASES)
def test_bad_input_ends_with_status_2_and_one_line(command, here, capsys):
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert run(command.split() if isinstance(command, str) else command) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("irisdp: ")
    assert "internal error" not in printed.err
    assert CANARY not in printed.err
    for path in here.rglob("*.ledger"):
        if path not in before and path.is_file():
            assert Ledger(path).releases() == []
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_refusal_of_the_ledger_is_status_1_and_says_why(here, capsys):
    assert run(["ledger", "t.ledger", "--limit", "1"]) == 0
    assert run(["publish", "t.csv", "count", "--epsilon", "2", "--json"]) == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out.splitlines()[-1])
    assert document["limit"] == {"epsilon": "1", "delta": "0"}
    assert printed.err.count("\n") == 1
    assert Ledger(here / "t.ledger").releases() == []


def test_no_true_answer_is_left_behind(here, capsys):
    """A canary among the undeclared groups leaves no trace: not in what is printed, written or kept."""
    assert run([*PUBLISH.split(), "count", "--by", "g", "--groups", "a,b", "--epsilon", "1", "--out", "o.csv"]) == 0
    printed = capsys.readouterr()
    made = [
        path for path in here.rglob("*") if path.is_file() and path.name not in ("t.csv", "t.parquet", "fake.parquet")
    ]
    assert CANARY not in printed.out + printed.err
    assert not [path for path in made if CANARY.encode() in path.read_bytes()]


# Arguments of the wrong type: every public function, every argument, and never an error but the library's own.

PRIVACY, PATH = Privacy(ratio=2), graphs.Path(3)
MECHANISM = design.geometric(2, PRIVACY)
GOOD = {
    "privacy": PRIVACY,
    "graph": PATH,
    "mechanism": MECHANISM,
    "mechanisms": MECHANISM,
    "subject": MECHANISM,
    "release": MECHANISM,
    "source": MECHANISM,
    "target": MECHANISM,
    "deployed": MECHANISM,
    "consumer": consumers.Consumer(2, "absolute"),
    "profile": certify.privacy_profile(MECHANISM),
    "n": 3,
    "nodes": 3,
    "loss": "absolute",
    "values": [1, 2],
    "colors": ["red", "blue", "blue"],
    "colours": ["red", "blue", "blue"],
    "rankings": ["ab", "ba", "ba"],
    "coloured": graphs.colour(PATH, ["red", "blue", "blue"]),
    "query": "count",
    "value": 1,
    "row": ["1/2", "1/2"],
}
WRONG = [
    *[None, "x", "", b"x", True, 1, -1, 0, 1.5, float("nan"), float("inf"), 10**400, np.float64("nan")],
    *[np.zeros(3), np.zeros((2, 2)), np.array(1), object(), [], [None], ["a", "a"], {}, {"a": None}, (1, 2), {1, 2}],
    *[int, PRIVACY, PATH, MECHANISM, [MECHANISM, 1], [MECHANISM, MECHANISM], [[1]], [[[]]], [[1], [1, 2]]],
    *[np.array([1, None], dtype=object), np.array(["a"]), np.zeros((1, 1, 1), dtype=np.int64), pd.Series([1.5, 2])],
]


def functions():
    for room in (certify, consumers, design, graphs, noise):
        for name in room.__all__:
            found = getattr(room, name)
            if inspect.isfunction(found):
                yield f"{room.__name__}.{name}", found
    for name in ("audit", "interpret", "load", "publish", "Privacy", "Ledger"):
        yield name, getattr(irisdp, name)
    yield from (
        ("graphs.Product", graphs.Product),
        ("design.Goal", design.Goal),
        ("consumers.Consumer", consumers.Consumer),
    )
    for family in ("Path", "Cycle", "Complete", "Hamming", "Histograms"):
        yield f"graphs.{family}", getattr(graphs, family)


@pytest.mark.parametrize("function", [pytest.param(found, id=name) for name, found in functions()])
def test_wrong_types_are_refused_by_name(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": [1, 2]}).to_csv("t.csv", index=False)
    signature = inspect.signature(function)
    parts = [part for part in signature.parameters.values() if part.kind not in (part.VAR_POSITIONAL, part.VAR_KEYWORD)]
    good = {part.name: GOOD.get(part.name) for part in parts if part.default is part.empty}
    good |= {"data": "t.csv"} if "data" in good else {}
    for part in parts:
        for wrong in WRONG:
            if part.name == "field" or (wrong is int and part.name in ("colors", "colours", "rankings")):
                continue  # a function of the node, which may raise what it likes
            given = {**good, part.name: wrong}
            try:
                function(**given)
            except IrisError as refusal:
                assert "\n" not in str(refusal)
                assert " at 0x" not in str(refusal)


def test_ledgers_refuse_by_name_too(tmp_path):
    book = Ledger(tmp_path / "a.ledger")
    for wrong in WRONG:
        for name in ("query", "question", "fingerprint", "cost", "draw"):
            given = {
                "query": "count",
                "question": "{}",
                "fingerprint": "f",
                "promise": None,
                "cost": Cost(),
                "draw": lambda *_: [],
            }
            text = name in ("query", "question", "fingerprint")
            if not (isinstance(wrong, str) if text else callable(wrong)):
                with pytest.raises(BadInput):
                    book.settle(**{**given, name: wrong})
        for given in ({"epsilon": wrong}, {"epsilon": 1, "delta": wrong}):
            with contextlib.suppress(IrisError):
                book.set_limit(**given)
    assert book.spent == Cost()


@pytest.mark.parametrize(("call", "text"), [
    (lambda: audit(np.eye(2)), "subject: must be a Mechanism"),
    (lambda: audit(MECHANISM, graph="path", privacy=1), "graph: must be a DatasetGraph, not str"),
    (lambda: audit(MECHANISM, privacy=1), "privacy: must be a Privacy, not int; write Privacy(epsilon=1)"),
    (lambda: noise.geometric([1, 2], 1), "privacy: must be a Privacy, not int; write Privacy(epsilon=1)"),
    (lambda: noise.geometric([1, 2], Privacy), "privacy: must be a Privacy, not the class Privacy"),
    (lambda: design.geometric(3, 1), "privacy: must be a Privacy"),
    (lambda: certify.compose([MECHANISM, None]), "mechanisms: must be"),
    (lambda: irisdp.load(None), "path: must be a path, not None"),
    (lambda: Ledger(1), "path: must be a path"),
])  # fmt: skip
def test_the_argument_and_the_remedy_are_named(call, text):
    with pytest.raises(BadInput) as refusal:
        call()
    assert text in str(refusal.value)


def test_a_misspelt_option_is_named_with_the_one_meant(tmp_path):
    frame = pd.DataFrame({"x": [1, 2]})
    with pytest.raises(BadInput, match="epsilonn: is no option; did you mean epsilon"):
        publish(frame, "count", epsilonn=1, ledger=tmp_path / "a.ledger")
    with pytest.raises(BadInput, match="zzz: is no option; choose from data, query, where, by, groups"):
        publish(frame, "count", zzz=1, ledger=tmp_path / "a.ledger")
    with pytest.raises(BadInput, match="ledger: must be a path or a Ledger, not int"):
        publish(frame, "count", epsilon=1, ledger=1)
    assert not (tmp_path / "a.ledger").exists()


def test_a_ledger_serves_as_a_ledger(tmp_path):
    book = Ledger(tmp_path / "a.ledger")
    publish(pd.DataFrame({"x": [1, 2]}), "count", "x > 1", epsilon=1, ledger=book)
    assert book.spent.epsilon == 1


def test_what_annotations_say_is_held_to():
    @checked
    def taking(a: int, b: list[str] | None = None, *, c: tuple[int, str] = (1, "")) -> str:
        return f"{a}{b}{c}"

    assert taking(1, ["x"], c=(2, "y")) == "1['x'](2, 'y')"
    for arguments, options in (((None,), {}), ((1, 3), {}), ((1, b"x"), {}), ((1,), {"c": 5})):
        with pytest.raises(BadInput):
            taking(*arguments, **options)
    for arguments, options, text in (
        ((), {}, r"^a: is missing; give a=…$"),
        ((), {"b": ["x"]}, "^a: is missing"),
        ((1, ["x"], (1, "")), {}, "^arguments: are too many: 2 may stand without a name; name the others: c=…$"),
        ((1,), {"a": 2}, "^a: is given twice, by place and by name; give it once$"),
    ):
        with pytest.raises(BadInput, match=text):
            taking(*arguments, **options)
    with pytest.raises(BadInput, match="d: is no option; choose from a, b, c"):
        taking(1, d=2)


def test_publishing_takes_every_option_of_a_plan_by_name_and_type():
    """Two signatures, so that an editor shows each whole; this keeps them one."""
    asked, published = (inspect.signature(function).parameters for function in (irisdp.plan, irisdp.publish))
    assert [published[name] for name in asked] == list(asked.values())
    own = {"ledger", "another_ledger", "secret", "table", "out", "report", "title", "labels", "licence", "force"}
    own |= {"max_charge"}
    assert set(published) - set(asked) == own
    assert all(part.annotation is not part.empty for part in published.values())


def test_the_help_of_publish_names_every_option():
    told = inspect.getdoc(irisdp.publish)  # without its indentation, which newer Pythons do not keep
    for name in inspect.signature(irisdp.publish).parameters:
        assert re.search(rf"^.*\b{name}\b.* : |^\*{name}$", told, re.MULTILINE), name


def test_designs_and_totals_name_what_was_wrong_and_what_was_meant():
    votes, privacy = graphs.colour(graphs.Path(3), ["a", "b", "b"]), Privacy(epsilon=1)
    cases = [
        (lambda: irisdp.accounting.total([privacy], epsilon=1), r"epsilon: is no option; .* use accounting\.delta"),
        (
            lambda: design.binary(votes.graph, votes.colour_of, privacy, boundary={9: 0.2}),
            "names 9, and this is not a node",
        ),
        (lambda: design.binary(votes.graph, votes.colour_of, privacy, boundary={1: 1.2}), "not 1.2 at node 1;"),
        (lambda: design.binary(votes.graph, votes.colour_of, privacy, boundary=1.2), "probabilities, not 1.2;"),
        (
            lambda: design.consumer(3, "absolute", privacy, constraints=["unbaised"]),
            "'unbaised'.*did you mean unbiased",
        ),
        (lambda: design.consumer(3, "absolute", privacy, constraints=["x" * 99 + "\n"]), "'x{39}….*; use"),
    ]
    for call, said in cases:
        with pytest.raises(BadInput, match=said):
            call()
