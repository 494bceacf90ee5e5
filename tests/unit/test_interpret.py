"""`irisdp interpret` at the command line: a steward publishes, a reader reads."""

import json

import pytest

from irisdp._cli import run
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
    return json.loads(capsys.readouterr().out)


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


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
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
    ],
)
def test_bad_input_is_one_line_and_status_2(release, capsys, arguments, field):
    assert run(["interpret", str(release), *arguments]) == 2
    complaint = capsys.readouterr().err.strip()
    assert complaint.startswith(f"irisdp: {field}") and "\n" not in complaint


@pytest.mark.parametrize(
    ("text", "rule"),
    [
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
    ],
)
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
