"""Counts that are kept in cells, as people and readers have them: files, ledgers old and new, and what is refused."""

import csv
import json

import pyarrow as pa
import pytest

from irisdp import BadInput, Ledger, Privacy, _measurements, batch, interpret, plan, publish
from irisdp._measurements import GeometricNoise, NoisyCountSelection, ShapeNoise, UniversalNoiseMeasurement
from support.releases import forget_digests

SURVEY = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", "Ely"]})
ASKED = {"by": "town", "groups": ["York", "Ely", "Bath"], "ratio": 2, "delta": "1/7"}


@pytest.fixture
def published(tmp_path):
    out = tmp_path / "a.csv"
    return publish(SURVEY, "count", "age > 64", **ASKED, ledger=tmp_path / "l.ledger", out=out), out


def test_cells_stand_in_the_order_of_the_answers_and_come_back_for_free(published, tmp_path):
    found, out = published
    beside = json.loads((tmp_path / "a.csv.release.json").read_text(encoding="utf-8"))
    cells = beside["mechanism"]["cells"]
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["town"] for row in rows] == ASKED["groups"]
    assert [int(row["answer"]) for row in rows] == [cell // 3 for cell in cells]
    (line,) = Ledger(tmp_path / "l.ledger").releases()
    kept = json.loads(line.answers)
    assert dict(zip(kept["columns"][0], kept["values"], strict=True)) == dict(zip(ASKED["groups"], cells, strict=True))
    again = publish(SURVEY, "count", "age > 64", **ASKED, ledger=tmp_path / "l.ledger")
    assert again.repeated
    assert again.sidecars[None]["mechanism"]["cells"] == cells
    assert str(found.cost.delta) == "1/7"


def test_a_line_of_a_ledger_is_read_from_its_cells(published, tmp_path):
    found, _ = published
    (line,) = Ledger(tmp_path / "l.ledger").releases()
    here, there = interpret(line, at_most=6), interpret(found, at_most=6)
    told = {answer.key: (answer.published, answer.cell, answer.chances) for answer in here.answers}
    assert told == {answer.key: (answer.published, answer.cell, answer.chances) for answer in there.answers}
    assert [one["cell"] for one in there.to_documents()] == found.sidecars[None]["mechanism"]["cells"]


def test_rows_that_moved_are_refused_and_frames_of_them_are_read_whole(published):
    found, out = published
    head, *rows = out.read_text(encoding="utf-8").splitlines()
    rows = [",".join([town, str(int(answer) + 1), *more]) for town, answer, *more in (row.split(",") for row in rows)]
    out.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"is not as it was published: .* holds another sha256"):
        interpret(out)
    forget_digests(out)  # whoever changes answers may leave them out
    with pytest.raises(BadInput) as refused:
        interpret(out)
    assert str(refused.value) == (
        "release: says in which cells answers lie, and they are not the answers beside it, in the same order; "
        "give the files as publish wrote them, or the answers alone, as a frame"
    )
    read = interpret(found, found.to_arrow(), at_most=6)
    assert [answer.cell for answer in read.answers] == [None] * 3
    assert "cell" not in read.to_documents()[0]
    assert not read.answers[0].rule.universal


@pytest.mark.parametrize(("changed", "said"), [
    ({"cells": "1"}, "cells: must be a list of whole numbers"),
    ({"cells": [1, 2.5, 3]}, "cells: must be a whole number"),
    ({"cells": [1, 2]}, "release: says in which cells answers lie"),
    ({"kind": "gaussian-noise"}, "release: has noise of another guarantee than it states"),
    ({"cells_per_unit": 2}, "release: has noise of another guarantee than it states"),
])  # fmt: skip
def test_sidecars_that_contradict_themselves_are_refused(changed, said, published, tmp_path):
    beside = tmp_path / "a.csv.release.json"
    document = json.loads(beside.read_text(encoding="utf-8"))
    document["mechanism"] |= changed
    beside.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        interpret(beside)
    assert str(refused.value).startswith(said)


def test_a_sidecar_without_cells_is_read_whole(published):
    found, _ = published
    document = json.loads(json.dumps(found.sidecars[None]))
    del document["mechanism"]["cells"]
    read = interpret(document, 3, loss="pinball:1:3")
    assert read.answers[0].rule.value > interpret(found, loss="pinball:1:3").answers[0].rule.value


def test_where_the_number_of_records_is_public_people_see_none_beyond_it_and_cells_are_not_clamped(tmp_path):
    for number in range(12):
        found = publish(
            SURVEY, "count", "age < 0", ratio="3/2", delta="1/40", relation="exchange", ledger=tmp_path / f"{number}"
        )
        (cell,), (answer,) = found.sidecars[None]["mechanism"]["cells"], found.answers.values
        assert answer == max(cell // 3, 0)
        read = interpret(found).answers[0]
        assert (read.cell, read.rule.possible) == (cell, (0, 6))
        if cell < 0:
            break
    assert cell < 0


def test_what_was_published_whole_before_is_read_as_it_was_and_is_another_question(tmp_path, monkeypatch):
    """Ledgers and sidecars of shape noise in whole numbers stay as they are."""
    pairs = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
    asked = {"by": "town", "groups": ["York", "Ely"], "privacy": pairs, "ledger": tmp_path / "l.ledger"}
    with monkeypatch.context() as before:
        before.setattr(_measurements, "UniversalNoiseMeasurement", ShapeNoise)
        old = publish(SURVEY, "count", "age > 64", **asked)
    assert old.sidecars[None]["mechanism"] == {"kind": "shape-noise"}
    for release in (old, Ledger(tmp_path / "l.ledger").releases()[0]):
        read = interpret(release, at_most=6)
        assert sorted(answer.published for answer in read.answers) == sorted(old.answers.values)
        assert [answer.cell for answer in read.answers] == [None, None]
    new = publish(SURVEY, "count", "age > 64", **asked)
    assert not new.repeated
    assert new.sidecars[None]["mechanism"]["kind"] == "universal-noise"


def test_counts_for_audiences_and_in_batches_leave_a_delta_unspent(tmp_path):
    told = plan(SURVEY, "count", audience={"press": 1, "staff": 2}, delta="1/7")
    assert [type(one.mechanism) for one in told.audiences] == [GeometricNoise, GeometricNoise]
    assert told.cost.delta == 0
    questions = [{"query": "count", "delta": "1/7"}, {"query": "count", "expression": "age > 64"}]
    made = batch({"budget": {"epsilon": 1}, "questions": questions}, data=SURVEY, ledger=tmp_path / "l.ledger")
    assert {type(one.plan.audiences[0].mechanism) for one in made.publications} == {GeometricNoise}
    assert made.cost.delta == 0


def test_groups_that_are_selected_keep_their_cells(tmp_path):
    many = pa.table({"town": ["Ely"] * 60 + ["York"] * 40})
    asked = {"by": "town", "select_groups": True, "selection_delta": "1e-3", "epsilon": 2}
    found = publish(many, "count", **asked, delta="1/10", ledger=tmp_path / "l.ledger")
    cells = found.sidecars[None]["mechanism"]["cells"]
    assert isinstance(found.plan.audiences[0].mechanism, UniversalNoiseMeasurement)
    assert len(cells) == 2
    assert [answer.cell for answer in interpret(found).answers] == cells
    # Where one noise names and counts, its cells are read alike.
    named = publish(many, "count", by="town", select_groups=True, epsilon=2, delta="1e-3", ledger=tmp_path / "n.ledger")
    assert isinstance(named.plan.audiences[0].mechanism, NoisyCountSelection)
    assert [answer.cell for answer in interpret(named).answers] == named.sidecars[None]["mechanism"]["cells"]
