"""Published values of binary mechanisms, as fractions ([DOliveira2021], Examples and Theorem 4)."""

from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp.mechanisms import DepthMechanism, balanced_line, balanced_truth, line_mechanism
from irisdp.privacy import are_close


def test_the_four_three_line():
    """[DOliveira2021], the (4,3)-line at ε = log 1.3, δ = 0.1 and R_4 = 0.8."""
    privacy = Privacy(ratio="1.3", delta="0.1")
    blue, red = Fraction(1, 5), Fraction(12, 13)
    mechanism = DepthMechanism(
        privacy=privacy,
        rankings=(("blue", "red"), ("red", "blue")),
        boundary=((blue, 1 - blue), (red, 1 - red)),
    )
    line = line_mechanism(4, 3, mechanism)
    red_at = [row[1] for row in line.matrix()]
    assert red_at[:4] == [Fraction("0.332") / Fraction("1.3"), Fraction("0.432"), Fraction("0.64"), Fraction("0.8")]
    assert [1 - p for p in red_at[4:]] == [Fraction(1, 13), 0, 0]
    assert all(are_close(a, b, privacy) for a, b in zip(line.matrix(), line.matrix()[1:], strict=False))


def test_majority_of_three_balanced():
    """[DOliveira2021], introduction: ε = log 2, δ = 0.1 errs with 0.3 at depth 0 and 0.1 at depth 1."""
    mechanism = balanced_line(Privacy(ratio=2, delta="0.1"))
    assert 1 - mechanism.row(0, 0)[0] == Fraction(3, 10)
    assert 1 - mechanism.row(1, 1)[0] == Fraction(1, 10)


@pytest.mark.parametrize("ratio", ["2", "1.3", "5", "101/100"])
@pytest.mark.parametrize("delta", ["0", "0.01", "0.1"])
def test_balanced_error_in_closed_form(ratio, delta):
    """max{0, (r − 1 − δ(r^(t+1) + r^t − 2)) / (r^t (r+1)(r−1))}, docs/theory.md#colourings."""
    privacy = Privacy(ratio=ratio, delta=delta)
    r, d = privacy.ratio, privacy.delta
    mechanism = balanced_line(privacy)
    for t in range(12):
        error = (r - 1 - d * (r ** (t + 1) + r**t - 2)) / (r**t * (r + 1) * (r - 1))
        assert 1 - mechanism.row(0, t)[0] == max(Fraction(0), error)


def test_balanced_truth_for_more_answers():
    """(r + δ(q−1)) / (r + q − 1), docs/theory.md#colourings."""
    assert balanced_truth(3, Privacy(ratio=4)) == Fraction(4, 6)
    assert balanced_truth(2, Privacy(ratio=2, delta="0.1")) == Fraction(21, 30)
