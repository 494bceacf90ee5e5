"""`irisdp interpret` at the command line: a steward publishes, a reader reads."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, Session, design, interpret
from irisdp._cli import run
from irisdp.interpretation._winner_rule import _too_many_classes, gap_classes, most_weighed
from irisdp.privacy import Gaussian
from support.commands import answered
from support.releases import forget_digests


@pytest.fixture
def release(tmp_path, capsys):
    """Publish a count of twenty records at e^ε = 4 under exchange, so that it lies in 0..20."""
    data = tmp_path / "t.csv"
    data.write_text("v\n" + "1\n" * 6 + "0\n" * 14)
    arguments = ["publish", str(data), "count", "v = 1", "--ratio", "4", "--relation", "exchange"]
    assert run([*arguments, "--out", str(tmp_path / "o.csv")]) == 0
    capsys.readouterr()
    return tmp_path / "o.csv.release.json"


def read(capsys, *arguments):
    assert run(["interpret", *map(str, arguments), "--json"]) == 0
    return answered(capsys.readouterr().out)


def test_the_sidecar_says_between_which_ends_answers_lie(release):
    assert json.loads(release.read_text())["mechanism"] == {"kind": "geometric-noise", "lower": 0, "upper": 20}


def test_a_value_is_read_with_what_the_reader_knows(release, capsys):
    found = read(capsys, release, "--value", "9", "--at-most", "3")
    assert found["published"] == 9
    assert found["chances"] == [[2, "15/83"], [3, "68/83"]]
    assert found["reading"] in (2, 3)
    assert found["worst_loss"] == found["lower_bound"] == 168 / 415
    assert found["saved"] == pytest.approx(found["face_value_loss"] - 168 / 415)
    assert sum(p for _, p in found["posterior"]["probabilities"]) == pytest.approx(1)


def test_a_whole_file_is_read(release, capsys, tmp_path):
    found = read(capsys, release, "--loss", "squared", "--out", tmp_path / "r.json")
    assert [set(row) >= {"published", "reading", "worst_loss"} for row in found["readings"]] == [True]
    assert json.loads((tmp_path / "r.json").read_text()) == found


def test_readings_that_were_drawn_at_random_are_said_to_be(release, capsys, tmp_path):
    """What a file holds is published here; at ratio 4 and knowing that it is at most 3, nines are read as 2 or 3."""
    answers = release.with_name("o.csv")
    row = answers.read_text().splitlines()[0]
    answers.write_text(f"{row}\n9{',0' * row.count(',')}\n")
    forget_digests(answers)
    note = "best guesses are drawn at random, again with each call"
    assert run(["interpret", str(answers), "--at-most", "3"]) == 0
    assert note in capsys.readouterr().out
    (tmp_path / "p.json").write_text('["1/2", "1/4", 0.25]')
    assert run(["interpret", str(answers), "--prior", str(tmp_path / "p.json")]) == 0
    assert note not in capsys.readouterr().out, "who has a prior has a best reading"


def test_a_prior_makes_the_mean_loss_least(release, capsys, tmp_path):
    (tmp_path / "p.json").write_text('["1/2", "1/4", 0.25]')
    found = read(capsys, release, "--value", "1", "--loss", "zero-one", "--prior", tmp_path / "p.json")
    # Pr[0 | 1] : Pr[1 | 1] : Pr[2 | 1] = 1/2·1/4 : 1/4 : 1/4·1/4
    assert found["reading"] == 1
    assert found["posterior"]["probabilities"] == [
        [0, pytest.approx(2 / 7)],
        [1, pytest.approx(4 / 7)],
        [2, pytest.approx(1 / 7)],
    ]
    # Every value is read as it is, and each of the three is right with 1/2·4/5, 1/4·3/5 and 1/4·4/5.
    assert found["expected_loss"] == pytest.approx(1 / 4)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "pinball:1:3", "threshold:2", "excess:1"])
def test_every_loss_is_shown_to_people(release, capsys, loss):
    assert run(["interpret", str(release), "--value", "4", "--loss", loss, "--at-least", "3"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("guess", "loss", "saved", "truth", "95 %"))
    assert run(["interpret", str(release), "--loss", loss]) == 0
    assert "published" in capsys.readouterr().out


def test_a_table_of_losses_is_read(release, capsys, tmp_path):
    (tmp_path / "l.json").write_text(json.dumps([[abs(i - v) for v in range(4)] for i in range(4)]))
    found = read(capsys, release, "--value", "0", "--loss", tmp_path / "l.json")
    assert found["worst_loss"] == 168 / 415 and found["universal"]
    (tmp_path / "l.json").write_text("[[1, 0, 1, 1], [0, 3, 0, 3], [1, 0, 2, 2], [3, 0, 0, 3]]")
    assert not read(capsys, release, "--value", "0", "--loss", tmp_path / "l.json")["universal"]
    assert run(["interpret", str(release), "--value", "0", "--loss", str(tmp_path / "l.json")]) == 0
    assert "universality is not guaranteed" in capsys.readouterr().out


def test_a_mechanism_file_is_read(capsys, tmp_path):
    (tmp_path / "s.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 4}}')
    assert run(["design", str(tmp_path / "s.json"), "-o", str(tmp_path / "m.json")]) == 0
    capsys.readouterr()
    assert read(capsys, tmp_path / "m.json", "--value", "0")["worst_loss"] == 168 / 415


@pytest.mark.parametrize(("arguments", "field"), [
    (["--value", "x"], "--value"),
    (["--value", "1.5"], "--value"),
    (["--value", "21"], "--value"),
    (["--value", "-1"], "--value"),
    (["--value", "3", "--loss", "huge"], "--loss"),
    (["--value", "3", "--loss", "threshold"], "--loss"),
    (["--value", "3", "--loss", "absolute:1"], "--loss"),
    (["--value", "3", "--loss", "pinball:0:1"], "too_low"),
    (["--value", "3", "--loss", "threshold:-1"], "beyond"),
    (["--value", "3", "--loss", "missing.json"], "--loss"),
    (["--value", "3", "--at-least", "5", "--at-most", "2"], "--at-most"),
    (["--value", "3", "--at-least", "30"], "--at-most"),
    (["--value", "3", "--at-least", "-1"], "--at-least"),
    (["--value", "3", "--at-most", "many"], "--at-most"),
    (["--value", "3", "--prior", "missing.json"], "--prior"),
    (["--out", "/nowhere/at/all.json"], "--out"),
])  # fmt: skip
def test_bad_input_is_one_line_and_status_2(release, capsys, arguments, field):
    assert run(["interpret", str(release), *arguments]) == 2
    complaint = capsys.readouterr().err.strip()
    assert complaint.startswith(f"irisdp: {field}") and "\n" not in complaint


@pytest.mark.parametrize(("text", "rule"), [
    ("[]", "JSON object"),
    ("{}", "no release"),
    ("not json", "not valid JSON"),
    ('{"format": "irisdp/release/1", "mechanism": {"kind": "stepped"}}', "does not say how"),
    ('{"format": "irisdp/release/1", "mechanism": {"kind": "geometric-noise"}}', "privacy"),
    (
        '{"format": "irisdp/release/1", "privacy": {"epsilon": 1}, '
        '"mechanism": {"kind": "geometric-noise", "lower": 5, "upper": 2}}',
        "below lower",
    ),
    ('{"format": "irisdp/release/1", "privacy": {"ratio": 1}, "mechanism": {"kind": "geometric-noise"}}', "is 0"),
])  # fmt: skip
def test_what_is_no_release_is_refused(tmp_path, capsys, text, rule):
    (tmp_path / "x.json").write_text(text)
    assert run(["interpret", str(tmp_path / "x.json"), "--value", "1"]) == 2
    assert rule in capsys.readouterr().err


@pytest.mark.parametrize("prior", ["null", '"1"', '{"1": 1}', "1", "[]"])
def test_a_prior_that_is_no_list_is_refused(release, capsys, tmp_path, prior):
    (tmp_path / "p.json").write_text(prior)
    assert run(["interpret", str(release), "--value", "3", "--at-most", "3", "--prior", str(tmp_path / "p.json")]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --prior: must be a list of numbers")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_answer_file_that_cannot_be_read_is_refused(tmp_path, capsys, ending):
    sidecar = {"format": "irisdp/release/1", "privacy": {"epsilon": 1}, "mechanism": {"kind": "geometric-noise"}}
    (tmp_path / f"z.{ending}.release.json").write_text(json.dumps(sidecar))
    (tmp_path / f"z.{ending}").write_bytes(b"\xff\xfe,answer\n1,2\n")
    assert run(["interpret", str(tmp_path / f"z.{ending}.release.json")]) == 2
    assert capsys.readouterr().err.startswith(f"irisdp: z.{ending}.release.json: cannot read z.{ending}")


def test_noughts_beyond_the_largest_count_may_be_written_as_text(release, capsys, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(["1/2", "1/2", *["0"] * 40]))
    assert read(capsys, release, "--value", "3", "--prior", tmp_path / "p.json")["reading"] in (0, 1)


def test_counts_and_losses_beyond_all_measure_are_read_or_refused(tmp_path, capsys):
    sidecar = {"format": "irisdp/release/1", "privacy": {"epsilon": 1}, "mechanism": {"kind": "geometric-noise"}}
    (tmp_path / "x.json").write_text(json.dumps(sidecar))
    found = read(capsys, tmp_path / "x.json", "--value", "3", "--loss", "threshold:100000000000")
    assert found["worst_loss"] < 1e-300
    assert found["lower_bound"] == 0
    assert run(["interpret", str(tmp_path / "x.json"), "--value", "3", "--at-least", "1" + "0" * 23]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --at-least")


def test_an_answer_file_that_is_missing_or_foreign_is_refused(release, capsys):
    beside = release.with_name("o.csv")
    forget_digests(beside)
    for content, rule in (("a,b\n1,2\n", "no column"), ("answer\nfive\n", "answer"), ("answer\n1,2\n", "lengths")):
        beside.write_text(content)
        assert run(["interpret", str(release)]) == 2
        assert rule in capsys.readouterr().err
    beside.unlink()
    assert run(["interpret", str(release)]) == 2
    assert "there is no o.csv" in capsys.readouterr().err


# What `interpret` takes for a release, and what it makes of a reader who contradicts himself.

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


@pytest.mark.parametrize(("knows", "message"), [
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
    ({"prior": ["1/2", "1/2"], "at_least": 2}, "prior: ends at the count 1, and at_least=2 is beyond; go on beyond 2"),
    (
        {"prior": ["1/2", "1/2"], "at_least": 1},
        "prior: gives probability to counts outside the side information; set it to 0 there",
    ),
    ({"prior": ["1/2", "1/4", "1/4"], "at_most": 1}, "prior: gives probability to counts above 1; set it to 0 there"),
])  # fmt: skip
def test_lists_and_bounds_that_contradict_each_other_are_refused(knows, message, here):
    found = Session(TABLE, relation="exchange", ledger="l").count("v = 1", ratio=4)
    with pytest.raises(BadInput) as refusal:
        interpret(found, 1, **knows)
    assert str(refusal.value) == message


@pytest.mark.parametrize(("knows", "possible"), [
    ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 3}, (0, 3)),
    ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)], "at_most": 4, "at_least": 2}, (2, 4)),
    ({"loss": [[abs(i - v) for v in range(5)] for i in range(5)]}, (0, 4)),
    ({"prior": ["1/2", "1/2"]}, (0, 1)),
    ({"prior": ["1/2", "1/2", 0, 0], "at_most": 2}, (0, 1)),
    ({"prior": [0, "1/2", "1/2"], "at_least": 1, "at_most": 2}, (1, 2)),
])  # fmt: skip
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


# How likely published names are true: the same from every face, and one line where it cannot be said.

TABLE_OF_NAMES = pa.table({"v": [1] * 6 + [0] * 14, "g": ["a", "b"] * 10, "party": ["=x", "y", None, "=x"] * 5})
QUESTIONS = [
    ("majority", ("v = 1",), {}),
    ("at_least", (5, "v = 1"), {}),
    ("at_most", (5, "v = 1"), {"by": "g", "groups": "b,a"}),
    ("band", ("3,12", "v = 1"), {}),
    ("plurality", ("party",), {"categories": ["=x", "y", "z"]}),
    ("plurality", ("v",), {"categories": [0, 1, 2], "by": "g", "groups": "b,a"}),
]


@pytest.mark.parametrize(("query", "words", "options"), QUESTIONS)
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_every_face_says_the_same(query, words, options, relation, ending, here, capsys):
    session = Session(TABLE_OF_NAMES, relation=relation, ledger="l")
    found = getattr(session, query)(*words, epsilon=1, **options, out=f"o.{ending}")
    for known in ({}, {"at_most": 9}, {"at_least": 3, "at_most": 9}):
        expected = interpret(found, **known)
        documents = json.loads(json.dumps(expected.to_documents()))
        for release in (found.out[0], found.out[1], f"o.{ending}"):
            assert [one | {"group": None} for one in interpret(release, **known).to_documents()] == [
                one | {"group": None} for one in expected.to_documents()
            ]
        frame = interpret(f"o.{ending}.release.json", found.answers.to_arrow(), **known)
        assert frame.to_documents() == expected.to_documents()
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in known.items()]
        assert run(["interpret", f"o.{ending}", *arguments, "--json"]) == 0
        document = answered(capsys.readouterr().out)
        left_out = found.plan.leaves_out()
        assert document == {"readings": documents} | ({"left_out": left_out} if left_out else {})
        assert run(["interpret", f"o.{ending}", *arguments]) == 0
        assert "right with" in capsys.readouterr().out
        assert all(0 <= one["answer_probability"] <= 1 for one in documents)
        own = ["published", "reading", "answer_probability", "answer_probability_upper"]
        assert expected.to_arrow().column_names == [*expected.by, *own]
        assert "true with probability" in repr(expected) and "true with probability" in repr(expected.answers[0])
    assert len(session.releases()) == 1


def test_one_value_is_read_and_written(here, capsys):
    Session(TABLE_OF_NAMES, ledger="l").plurality("party", categories=["=x", "y", "z"], epsilon=1, out="o.csv")
    assert run(["interpret", "o.csv.release.json", "--value", "=x", "--lead", "5", "--out", "r.json", "--json"]) == 0
    document = answered(capsys.readouterr().out)
    assert document == json.loads((here / "r.json").read_text())
    assert document["published"] == document["reading"] == "=x" and document["basis"] == "worst"
    assert document["answer_probability"] == document["right_at_worst"] > 0.99 and document["posterior"] is None


def test_a_line_of_a_ledger_says_how_a_yes_was_made_and_not_what_categories_are_called(here):
    session = Session(TABLE_OF_NAMES, relation="exchange", ledger="l")
    found = session.majority("v = 1", epsilon=1)
    assert interpret(session.releases()[0]).to_documents() == interpret(found).to_documents()
    session = Session(TABLE_OF_NAMES, ledger="k")
    session.plurality("party", categories=["=x", "y"], epsilon=1)
    with pytest.raises(BadInput, match=r"^release: does not say which categories there are; give the publication"):
        interpret(session.releases()[0])


def test_gaussian_answers_are_read_with_the_pairs_they_were_drawn_by(here):
    found = Session(TABLE_OF_NAMES, ledger="l").majority("v = 1", privacy=Gaussian(1), delta="1e-6", out="o.csv")
    told = interpret(found)
    (answer,) = told.answers
    assert told.to_documents() == interpret("o.csv").to_documents()
    assert 0.68 < answer.probability.lower < 0.70
    assert interpret(found, at_most=40).answers[0].probability.lower > answer.probability.lower
    found = Session(TABLE_OF_NAMES, ledger="k").band("3,12", "v = 1", privacy=Gaussian(1), delta="1e-6")
    assert interpret(found).answers[0].probability.lower == pytest.approx(answer.probability.lower, abs=1e-4)


@pytest.mark.parametrize(("query", "words", "known", "said"), [
    ("majority", ("v = 1",), {"prior": [1]}, "prior: is about one count, and majority compares several"),
    ("majority", ("v = 1",), {"lead": 5, "at_most": 4}, "lead: leaves no table possible"),
    ("majority", ("v = 1",), {"lead": "2.5"}, "lead: must be a"),
    ("majority", ("v = 1",), {"loss": "squared"}, "loss: is about counts; a name is right or wrong"),
    ("majority", ("v = 1",), {"loss": [[0, 1], [1, 0]]}, "loss: is about counts; a name is right or wrong"),
    ("majority", ("v = 1",), {"loss": "nothing"}, "loss: "),
    ("majority", ("v = 1",), {"value": "maybe"}, "value: is no answer of this release; its answers are yes, no"),
    ("plurality", ("v",), {"side_information": [1]}, "side_information: is about one count, and plurality"),
    ("plurality", ("v",), {"at_least": 4, "at_most": 3}, "at_most: leaves no count possible"),
    ("plurality", ("v",), {"lead": 4, "at_most": 3}, "lead: leaves no table possible"),
    ("plurality", ("v",), {"lead": 3, "at_least": 3, "at_most": 4, "value": 7}, "value: is no answer"),
    ("at_least", (5, "v = 1"), {"lead": 1}, "lead: is about majorities and the largest of several"),
    ("at_least", (5, "v = 1"), {"at_most": -1}, "at_most: "),
    ("at_least", (5, "v = 1"), {"prior": ["1/2"]}, "prior: must be probabilities that sum to 1"),
    ("at_least", (5, "v = 1"), {"prior": [1], "at_most": 10**8}, "prior: ends at the count 0"),
    ("count", (), {"lead": 1}, "lead: is about majorities and the largest of several"),
])  # fmt: skip
def test_bad_input_is_one_line(query, words, known, said, here):
    options = {"categories": [0, 1]} if query == "plurality" else {}
    found = getattr(Session(TABLE_OF_NAMES, ledger="l"), query)(*words, epsilon=1, **options)
    with pytest.raises(BadInput) as caught:
        interpret(found, **known)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


@pytest.mark.parametrize("changes", [
    {"relation": "friends"},
    {"query": []},
    {"query": {"query": "weather"}},
    {"query": {"query": "at-least", "threshold": "many"}},
    {"privacy": {}},
    {"privacy": {"gaussian": 1}},
    {"mechanism": {"kind": []}},
    {"mechanism": {"kind": "stepped"}},
    {"mechanism": {"kind": "stepped", "rankings": [[[], []], 1], "boundary": [[], []]}},
    {"mechanism": {"kind": "stepped", "rankings": [["yes", "no"], ["yes", "no"]], "boundary": [[1, 0], [0, 1]]}},
    {"mechanism": {"kind": "stepped", "rankings": [["yes", "no"], ["no", "yes"]], "boundary": [[1, 0], [1, 0]]}},
    {"mechanism": {"kind": "banded-noise", "thresholds": [1, 2]}},
    {"mechanism": {"kind": "banded-noise", "thresholds": [2, 1], "noise": {"kind": "shape-noise"}}},
    {"mechanism": {"kind": "banded-noise", "thresholds": 3, "noise": {"kind": "shape-noise"}}},
    {"mechanism": {"kind": "permute-and-flip", "categories": 2, "outputs": ["a", "a"]}},
    {"mechanism": {"kind": "permute-and-flip", "categories": 3, "outputs": ["a", "b"]}},
    {"mechanism": {"kind": "permute-and-flip", "categories": 2, "outputs": [["a"], None]}},
    {"mechanism": {"kind": "permute-and-flip", "categories": 1, "outputs": ["a"]}},
    {"mechanism": {"kind": "pull-from-the-top", "categories": 13, "outputs": list(range(13))}},
    {"mechanism": {"kind": "pull-from-the-top", "categories": 2, "outputs": "ab"}},
], ids=str)  # fmt: skip
def test_a_broken_sidecar_is_one_line(changes, here, capsys):
    Session(TABLE_OF_NAMES, ledger="l").majority("v = 1", epsilon=1, out="o.csv")
    path = here / "o.csv.release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    assert run(["interpret", str(path)]) == 2
    complaint = capsys.readouterr().err.strip()
    assert complaint.startswith("irisdp: ") and "\n" not in complaint


def test_too_many_tables_are_read_in_the_worst_of_them(here):
    found = Session(TABLE_OF_NAMES, ledger="l").plurality("v", categories=[0, 1, 2], epsilon=1)
    few, many = interpret(found, at_most=100), interpret(found, at_most=10**15)
    assert few.answers[0].judgement.basis == "uniform" and many.answers[0].judgement.basis == "worst"
    assert many.answers[0].probability.lower < few.answers[0].probability.lower
    assert few.answers[0].judgement.note is None and "note" not in few.to_documents()[0]
    assert irisdp.interpret(found, lead=10**17).answers[0].probability.lower > 0.999


def test_where_tables_are_too_many_to_weigh_it_is_said_from_where_on(here, capsys):
    Session(TABLE_OF_NAMES, ledger="l").plurality("party", categories=["=x", "y", "z", "w"], epsilon=1, out="w.csv")
    note = "too many tables to weigh above 234 records; the worst case is shown"
    for most, basis in ((234, "uniform"), (235, "worst"), (400, "worst")):
        assert run(["interpret", "w.csv", "--at-most", str(most)]) == 0
        assert (note in capsys.readouterr().out) == (basis == "worst")
        found = interpret("w.csv", at_most=most)
        assert found.answers[0].judgement.basis == basis
        assert (found.to_documents()[0].get("note") == note) == (note in repr(found)) == (basis == "worst")
    assert "note" not in interpret("w.csv").to_documents()[0]  # nothing was said that could be weighed


@pytest.mark.parametrize("categories", [2, 3, 5, 40])
def test_the_most_that_is_weighed_is_where_listing_ends(categories):
    most = most_weighed(categories)
    assert gap_classes(categories, most + 1, most + 1, 0) is None
    assert not _too_many_classes(categories, most)


def test_what_cannot_be_read_is_named_as_it_was_given(here, capsys):
    Session(TABLE_OF_NAMES, ledger="l").sum("v", lower=0, upper=1, epsilon=1, out="l.csv")
    for options in ([], ["--value", "1"]):
        (here / "l.csv.release.json").write_text((here / "l.csv.release.json").read_text().replace("noisy-sum", "odd"))
        assert run(["interpret", "l.csv", *options]) == 2
        assert capsys.readouterr().err.startswith("irisdp: l.csv: ")


def test_groups_that_are_one_number_are_not_called_what_python_calls_them(here):
    with pytest.raises(BadInput, match=r"^groups: cannot be read from a number; "):
        irisdp.plan(TABLE_OF_NAMES, "count", by="g", groups=1, epsilon=1)
