"""Arguments of the wrong type: every public function, every argument, and never an error but the library's own."""

import contextlib
import inspect
import re

import numpy as np
import pandas as pd
import pytest

import irisdp
from irisdp import BadInput, Cost, IrisError, Ledger, Privacy, audit, certify, consumers, design, graphs, noise, publish
from irisdp._exact import checked

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


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: audit(np.eye(2)), "subject: must be a Mechanism"),
        (
            lambda: audit(MECHANISM, graph="path", privacy=1),
            "graph: must be a DatasetGraph, not str",
        ),
        (lambda: audit(MECHANISM, privacy=1), "privacy: must be a Privacy, not int; write Privacy(epsilon=1)"),
        (lambda: noise.geometric([1, 2], 1), "privacy: must be a Privacy, not int; write Privacy(epsilon=1)"),
        (lambda: noise.geometric([1, 2], Privacy), "privacy: must be a Privacy, not the class Privacy"),
        (lambda: design.geometric(3, 1), "privacy: must be a Privacy"),
        (lambda: certify.compose([MECHANISM, None]), "mechanisms: must be"),
        (lambda: irisdp.load(None), "path: must be a path, not None"),
        (lambda: Ledger(1), "path: must be a path"),
    ],
)
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
    own = {"ledger", "secret", "table", "out", "report", "title", "labels", "licence", "force"}
    assert set(published) - set(asked) == own
    assert all(part.annotation is not part.empty for part in published.values())


def test_the_help_of_publish_names_every_option():
    told = inspect.getdoc(irisdp.publish)  # without its indentation, which newer Pythons do not keep
    for name in inspect.signature(irisdp.publish).parameters:
        assert re.search(rf"^.*\b{name}\b.* : |^\*{name}$", told, re.MULTILINE), name
