"""Pictures of sweeps: the numbers of their frames, a line for each combination, and refusals."""

import pytest

from irisdp import BadInput, Privacy, design, plot, plots

PRIVACIES = [Privacy(ratio=ratio) for ratio in (4, 2, 3)]
OVER = {"n": [2, 3], "loss": ["absolute", "squared"], "privacy": PRIVACIES}


@pytest.fixture(scope="module")
def found():
    return design.sweep(design.consumer, OVER)


def test_the_numbers_drawn_are_those_of_the_frame(found):
    picture = plots.sweep_curves(found)
    frame = found.to_pandas()
    assert picture.columns == ("n, loss", "ε", "value", "lower bound")
    wanted = {
        (f"n = {row.n}, {row.loss}", row.epsilon, row.value, row.lower_bound) for row in frame.itertuples(index=False)
    }
    assert set(picture.rows) == wanted and len(picture.rows) == len(frame)
    for line in {row[0] for row in picture.rows}:
        along = [row[1] for row in picture.rows if row[0] == line]
        assert along == sorted(along)


def test_lines_differ_in_hue_dash_and_shape_and_the_legend_names_them(found):
    drawn = plots.sweep_curves(found).to_svg()
    for line in ("n = 2, absolute", "n = 2, squared", "n = 3, absolute", "n = 3, squared"):
        assert f">{line}</text>" in drawn
    spec = plots.sweep_curves(found).spec
    line, points = spec["layer"]
    for mark, ways in ((line, ("color", "strokeDash")), (points, ("color", "shape"))):
        for way in ways:
            used = mark["encoding"][way]["scale"]["range"]
            assert len({str(x) for x in used}) == 4


def test_one_goal_is_the_title_of_the_axis_and_several_are_a_value(found):
    one = design.sweep(design.consumer, {"privacy": PRIVACIES}, n=2, loss="absolute").plot()
    assert one.title == "Worst expected absolute loss against ε"
    assert one.columns == ("design", "ε", "worst expected absolute loss", "lower bound")
    assert {row[0] for row in one.rows} == {"consumer"}
    assert plot(found).title == "Value against ε"
    assert "proven optimal at every point" in one.description


def test_several_sweeps_have_the_names_that_are_given():
    weak, strong = (
        design.sweep(design.consumer, {"n": [3, 2]}, loss="absolute", privacy=privacy) for privacy in PRIVACIES[:2]
    )
    picture = plots.sweep_curves({"r = 4": weak, "r = 2": strong})
    assert picture.columns[:2] == ("design", "n")
    assert [row[:2] for row in picture.rows] == [("r = 4", 2), ("r = 4", 3), ("r = 2", 2), ("r = 2", 3)]


def test_any_column_of_numbers_may_lie_from_left_to_right(found):
    picture = plots.sweep_curves(found, along="n")
    assert picture.columns[0] == "loss, ε" and picture.columns[1] == "n"
    assert "absolute, ε = 0.6931" in {row[0][: len("absolute, ε = 0.6931")] for row in picture.rows}


@pytest.mark.parametrize(
    ("along", "message"),
    [
        ("loss", "along: is no column of numbers of every sweep; choose from n, epsilon"),
        ("delta", "along: does not vary; choose from n, epsilon"),
    ],
)
def test_other_columns_are_refused(found, along, message):
    with pytest.raises(BadInput) as refusal:
        plots.sweep_curves(found, along=along)
    assert str(refusal.value) == message


def test_what_is_no_curve_is_refused(found):
    with pytest.raises(BadInput, match=r"^sweeps: holds none"):
        plots.sweep_curves({})
    with pytest.raises(BadInput, match=r"^sweeps: have no number that varies"):
        design.sweep(design.consumer, {"loss": ["absolute"]}, n=2, privacy=PRIVACIES[0]).plot()
    with pytest.raises(BadInput, match=r"^sweeps: make 36 lines"):
        design.sweep(
            design.consumer, {"loss": {str(k): "absolute" for k in range(36)}, "n": [1, 2]}, privacy=PRIVACIES[0]
        ).plot()
    noise = design.sweep(design.geometric, {"privacy": PRIVACIES}, n=2)
    with pytest.raises(BadInput, match=r"^sweeps: hold designs without an objective"):
        noise.plot()
