"""Sidecars from strangers: whatever JSON stands in one is read, or refused in a line."""

import copy
import json
import time

import pandas
import pytest

import irisdp
from irisdp import BadInput, IrisError
from support.malformed import places, put
from support.sweeps import tried

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
            if number % tried(4, 1) != len(str(path)) % tried(4, 1):
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": {}}, "release: holds mechanism.kind, which must be text; give the file that publish wrote"),
        ({"kind": ["sorted-sizes"]}, "release: holds mechanism.kind, which must be text; "),
        ({"within_95_percent": "1e4000"}, "within_95_percent: must be at least 0 and at most 1099511627776; "),
        ({"head": 10**400}, "head: must be at least 1 and at most 4611686018427387904; "),
        ({"records": "1e4000"}, "records: must be at least 0 and at most 4611686018427387904; "),
    ],
)
def test_what_is_of_a_wrong_kind_is_named(change, message, folder, tmp_path):
    document = sidecar(folder, "sizes")
    document["mechanism"] |= change
    (tmp_path / "o.csv").write_text((folder / "sizes.csv").read_text())
    (tmp_path / "o.csv.release.json").write_text(json.dumps(document))
    for release in (tmp_path / "o.csv", tmp_path / "o.csv.release.json"):
        with pytest.raises(BadInput) as refusal:
            irisdp.interpret(release)
        assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.json", '[{"answer": 1}, {}]'),
        ("o.json", '[{"answer": 1}, {"other": 2}]'),
        ("o.json", '[{"g": "a", "answer": {}}]'),
        ("o.csv", "answer\n1,2\n"),
        ("o.csv", "answer\n" + "9" * 5000 + "\n"),
        ("o.csv", ""),
    ],
)
def test_answers_beside_a_sidecar_are_read_or_refused_in_a_line(name, text, folder, tmp_path):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.release.json").write_text(json.dumps(sidecar(folder, "exchanged")))
    with pytest.raises(BadInput):
        irisdp.interpret(tmp_path / name)


def test_a_frame_with_two_answers_is_refused(folder):
    frame = pandas.DataFrame([[1, 2]], columns=["answer", "answer"])
    with pytest.raises(BadInput, match=r"^value: has two columns of one name, 'answer'; "):
        irisdp.interpret(folder / "exchanged.csv", frame)
