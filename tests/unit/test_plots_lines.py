"""Rainbow curves and errors over ε: the numbers are those of the mechanism and of the comparison, exactly rounded."""

import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy, compare
from irisdp.plots import rainbow_curves
from irisdp.plots._comparisons import error_against_epsilon
from irisdp.plots._layout import rendered
from irisdp.privacy import steps

ROW = tuple(map(Fraction, ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")))


def layers(spec, mark):
    """Return the layers of a picture that hold a kind of mark."""
    inner = [layer for part in spec.get("vconcat", [spec]) for layer in part.get("layer", [part])]
    return [layer for layer in inner if layer["mark"]["type"] == mark]


@pytest.mark.parametrize(
    "privacy",
    [Privacy(ratio="6/5", delta="1/100"), Privacy.all([Privacy(ratio=2), Privacy(ratio="6/5", delta="1/10")])],
)
def test_points_are_the_steps_of_the_boundary_row(privacy):
    picture = rainbow_curves(ROW, privacy, farthest=12)
    found = {(name, depth): p for name, depth, p in picture.rows}
    before = [Fraction(0)] * 13
    for k in range(len(ROW)):
        exact = [steps(sum(ROW[: k + 1]), depth, privacy) for depth in range(13)]
        for depth in range(13):
            assert found[str(k + 1), depth] == pytest.approx(float(exact[depth] - before[depth]), abs=1e-12)
        before = exact


def test_turns_are_marked_where_they_are_defined():
    one = rainbow_curves(ROW, Privacy(ratio="1.2"), farthest=40)
    assert [d["τ"] for d in one.spec["datasets"][layers(one.spec, "text")[0]["data"]["name"]]] == [7, 1]
    assert "38, 22, 7, 1, 0." in one.description
    several = rainbow_curves(ROW, Privacy.all([Privacy(ratio=2), Privacy(ratio="6/5", delta="1/10")]), farthest=9)
    assert "no τ is defined" in several.description
    assert not layers(several.spec, "text")


def test_many_answers_share_a_curve():
    picture = rainbow_curves(["1/20"] * 20, Privacy(ratio=2))
    assert {row[0] for row in picture.rows} == {*map(str, range(1, 12)), "the other 9 answers"}
    for depth in range(3):
        assert sum(row[2] for row in picture.rows if row[1] == depth) == pytest.approx(1)


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (["1/2"], {}, "matrix"),
        (["1/2", "1/2"], {"answers": ["a"]}, "answers: must be as many"),
        (["1/2", "1/2"], {"farthest": 201}, "farthest: "),
        (["1/2", "nan"], {}, "row: "),
    ],
)
def test_rows_that_are_none_are_refused(row, options, message):
    with pytest.raises(BadInput, match=message.replace("matrix", "sum to exactly 1")):
        rainbow_curves(row, Privacy(ratio=2), **options)


def test_errors_are_those_of_the_comparison():
    picture = error_against_epsilon("majority", epsilons=["1/2", 1, 2], objective="lead-5")
    expected = [
        (one.name, float(epsilon), float(one.errors["lead-5"]))
        for epsilon in (0.5, 1, 2)
        for one in compare("majority", epsilon=epsilon).mechanisms
    ]
    assert list(picture.rows) == expected
    (line,) = layers(picture.spec, "line")
    drawn = picture.spec["datasets"][picture.spec.get("data", line.get("data"))["name"]]
    assert [tuple(one.values()) for one in drawn] == expected
    svg = picture.to_svg()
    for name in ("best for each distance", "exponential mechanism", "ε (log scale)"):
        assert name in svg


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilons": [1]}, "epsilons: must be 2 to 60"),
        ({"epsilon": 1}, "epsilon: is drawn along"),
        ({"objective": "no"}, "objective: is not one"),
        ({"epsilons": 3}, "epsilons: must be a sequence"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(BadInput, match=message):
        error_against_epsilon("count", **options)


def test_bytes_do_not_depend_on_the_process():
    drawn = "error_against_epsilon('count').to_svg()+rainbow_curves(['1/4','3/4'],Privacy(ratio=2)).to_svg()"
    names = "import sys;from irisdp import Privacy;from irisdp.plots import *;"
    code = f"{names}sys.stdout.buffer.write(({drawn}).encode())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, check=True
        ).stdout
        for seed in "12"
    }
    assert len(seen) == 1


def test_a_legend_has_room_in_wider_fonts():
    """Of DejaVu Sans, which many machines have instead of Arial, a letter is wider by 0.84 points at most."""
    picture = error_against_epsilon("majority", epsilons=["1/2", 1])
    longest = max(len(row[0]) for row in picture.rows)
    assert picture.spec["config"]["padding"]["right"] >= 5 + 0.84 * longest
    width = float(re.search(r'<svg[^>]*?width="([\d.]+)"', picture.to_svg()).group(1))
    bare = dict(picture.spec, config={**picture.spec["config"], "padding": 5})
    assert width >= float(re.search(r'width="([\d.]+)"', rendered("vegalite_to_svg", bare)).group(1)) + 0.84 * longest
