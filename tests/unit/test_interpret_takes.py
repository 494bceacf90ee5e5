"""What `interpret` takes for a release, and what it makes of a reader who contradicts himself."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, Session, design, interpret
from irisdp._cli import run

TABLE = pa.table({"v": [1] * 6 + [0] * 14, "g": ["a", "b"] * 10})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def readings(found):
    """Return what was read, but for coins."""
    return [(answer.key, answer.published, answer.chances, answer.rule.possible) for answer in found.answers]


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("grouped", [{}, {"by": "g", "groups": ["b", "a"]}])
@pytest.mark.parametrize("membership", [False, True])
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_publication_and_the_file_of_its_answers_are_read_alike(relation, grouped, membership, ending, here):
    session = Session(TABLE, relation=relation, ledger="l")
    membership = membership and bool(grouped) and relation == "exchange"
    found = session.count("v = 1", ratio=4, **grouped, public_membership=membership, out=f"o.{ending}")
    expected = readings(interpret(found.out[1]))
    assert (
        readings(interpret(found))
        == readings(interpret(found.out[0]))
        == readings(interpret(f"o.{ending}"))
        == readings(interpret(f"o.{ending}.datapackage.json"))
        == expected
    )
    assert readings(interpret(found, loss="squared")) == readings(interpret(found.out[1], loss="squared"))
    if relation == "add-remove" or (grouped and not membership):
        assert sorted(readings(interpret(session.releases()[0]))) == sorted(expected)
    else:
        assert expected[0][3] == ((0, 10) if grouped else (0, 20))
        with pytest.raises(
            BadInput, match=r"^release: was shown clamped to ends that its ledger does not keep; give the "
        ):
            interpret(session.releases()[0])
    if len(expected) == 1:
        assert interpret(found, 3).answers[0].chances == interpret(found.out[1], 3).answers[0].chances


def test_of_several_audiences_the_most_accurate_is_read(here):
    session = Session(TABLE, ledger="l")
    found = session.count("v = 1", audience={"press": "0.5", "board": 2}, out="o.csv")
    assert readings(interpret(found)) == readings(interpret("o.board.csv"))
    board, press = session.releases()
    assert readings(interpret(board)) == readings(interpret(found))
    assert readings(interpret(press)) == readings(interpret("o.press.csv"))


def test_sidecars_stand_in_the_publication_as_in_the_files(here):
    found = Session(TABLE, ledger="l").count("v = 1", epsilon=1, by="g", groups="b,a", out="o.csv")
    assert json.loads(found.out[1].read_text()) == json.loads(json.dumps(found.sidecars[None]))
    again = Session(TABLE, ledger="l").count("v = 1", epsilon=1, by="g", groups="b,a")
    assert again.repeated
    answers = {"answers": found.sidecars[None]["answers"]}  # whose file that is; this was written to none
    assert again.sidecars[None] | answers == found.sidecars[None]


def test_other_answers_are_read_as_they_are(here):
    found = Session(TABLE, ledger="l").ranking("v", categories=[0, 1, 2], epsilon=1)
    for release in (found, Session(TABLE, ledger="l").releases()[0]):
        with pytest.raises(BadInput, match=r"^release: publishes neither counts, nor a yes or no, a winner or a band"):
            interpret(release)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_answers_without_a_sidecar_are_not_read(ending, here, capsys):
    Path(f"o.{ending}").write_text("answer\n3\n")
    said = f"o.{ending} holds answers, and not how they were made; put o.{ending}.release.json beside it"
    with pytest.raises(BadInput, match=f"^release: {said}"):
        interpret(f"o.{ending}")
    assert run(["interpret", f"o.{ending}"]) == 2
    assert capsys.readouterr().err.startswith(f"irisdp: o.{ending}: {said.removeprefix(f'o.{ending} ')}")


def test_the_readings_do_not_replace_what_is_read(here, capsys):
    Session(TABLE, ledger="l").count(epsilon=1, out="o.json")
    before = {path: path.read_bytes() for path in here.iterdir()}
    for read in ("o.json", "o.json.datapackage.json"):
        for target in ("o.json", "o.json.release.json", read):
            assert run(["interpret", read, "--out", target, "--force"]) == 2
            assert "--out" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("knows", "message"),
    [
        (
            {"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 10},
            "loss: ends at the count 4, and at_most=10 allows more; go on to 10, or give at_most=4",
        ),
        (
            {"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 100},
            "loss: ends at the count 4, and at_most=20 allows more; go on to 20, or give at_most=4",
        ),
        (
            {"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_least": 7},
            "loss: ends at the count 4, and at_least=7 is beyond; go on beyond 7",
        ),
        (
            {"prior": ["1/2", "1/2"], "at_most": 10},
            "prior: ends at the count 1, and at_most=10 allows more; go on to 10, or give at_most=1",
        ),
        (
            {"prior": ["1/2", "1/2"], "at_least": 2},
            "prior: ends at the count 1, and at_least=2 is beyond; go on beyond 2",
        ),
        (
            {"prior": ["1/2", "1/2"], "at_least": 1},
            "prior: gives probability to counts outside the side information; set it to 0 there",
        ),
        (
            {"prior": ["1/2", "1/4", "1/4"], "at_most": 1},
            "prior: gives probability to counts above 1; set it to 0 there",
        ),
    ],
)
def test_lists_and_bounds_that_contradict_each_other_are_refused(knows, message, here):
    found = Session(TABLE, relation="exchange", ledger="l").count("v = 1", ratio=4)
    with pytest.raises(BadInput) as refusal:
        interpret(found, 1, **knows)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("knows", "possible"),
    [
        ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 3}, (0, 3)),
        ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 4, "at_least": 2}, (2, 4)),
        ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)]}, (0, 4)),
        ({"prior": ["1/2", "1/2"]}, (0, 1)),
        ({"prior": ["1/2", "1/2", 0, 0], "at_most": 2}, (0, 1)),
        ({"prior": [0, "1/2", "1/2"], "at_least": 1, "at_most": 2}, (1, 2)),
    ],
)
def test_lists_and_bounds_that_agree_are_read_together(knows, possible, here):
    found = Session(TABLE, relation="exchange", ledger="l").count("v = 1", ratio=4)
    assert interpret(found, 1, **knows).answers[0].rule.possible == possible


def test_a_matrix_bounds_what_lists_must_reach(here):
    noise = design.geometric(3, Privacy(ratio=4))
    loss = [[abs(i - v) for v in range(4)] for i in range(4)]
    assert irisdp.interpret(noise, 0, loss=loss, at_most=9).answers[0].rule.possible == (0, 3)
    with pytest.raises(BadInput, match=r"^prior: ends at the count 1, and at_most=3 allows more"):
        interpret(noise, 0, prior=["1/2", "1/2"], at_most=3)


@pytest.mark.parametrize("level", [1, 2, -0.5, "x", None, float("nan"), True])
def test_an_interval_needs_a_probability(level):
    found = interpret(design.geometric(3, Privacy(ratio=4)), 0).posterior()
    with pytest.raises(BadInput, match=r"^level: must "):
        found.interval(level)
    assert found.interval("0.9") == found.interval(0.9)


@pytest.mark.parametrize("form", ["to_pandas", "to_polars", "to_arrow"])
def test_frames_of_answers_are_read_with_what_made_them(form, here):
    session = Session(TABLE, ledger="l")
    found = session.count("v = 1", ratio=4, by="g", groups=["b", "a"])
    frame = getattr(found, form)()
    assert readings(interpret(found, frame)) == readings(interpret(found))
    assert readings(interpret(found, frame[:1])) == readings(interpret(found))[:1]
    assert interpret(found, frame).by == ("g",)
    alone = session.count("v = 1", ratio=4)
    assert readings(interpret(alone, getattr(alone, form)())) == readings(interpret(alone))
    with pytest.raises(BadInput, match=r"^release: is a frame, which does not say how its answers were made; give the"):
        interpret(frame)
    with pytest.raises(
        BadInput, match=r"^value: is a frame without a column `answer`; give the frame of a publication"
    ):
        interpret(found, pa.table({"x": [1]}))
    with pytest.raises(BadInput, match=r"^answer: must be"):
        interpret(found, pa.table({"answer": [1.5]}))


def test_a_frame_may_be_in_another_order_than_the_ends(here):
    session = Session(TABLE.append_column("h", pa.array(["c", "c", "c", "d"] * 5)), relation="exchange", ledger="l")
    found = session.count("v = 1", ratio=4, by="h", groups=["c", "d"], public_membership=True)
    assert [answer.rule.possible for answer in interpret(found).answers] == [(0, 15), (0, 5)]
    with pytest.raises(BadInput, match=r"^value: cannot be read alone: answers differ in their ends; leave value= out"):
        interpret(found, found.to_arrow())
