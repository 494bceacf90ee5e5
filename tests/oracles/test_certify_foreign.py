"""What other libraries' count mechanisms claim, and what they are, as exact matrices.

Their samplers are written down here from their sources, so that nothing needs to be installed: a law computed from the
number of random inputs that lead to each output is exact, and the audit takes it as it is.
"""

import math
from fractions import Fraction

import pytest

from irisdp import Privacy, audit
from irisdp._exact import exp_below
from irisdp.certify import matrix_document, privacy_profile
from irisdp.graphs import Path
from irisdp.mechanisms import geometric_row

WORDS = 1 << 53
"""Values of a uniform double in [0, 1) as both Python's and NumPy's generators draw it: k/2^53."""


def truncated_geometric_of_diffprivlib(n, epsilon):
    """Return the exact law of `GeometricTruncated(epsilon=…, lower=0, upper=n)` for counts 0..n.

    diffprivlib 0.6.6, mechanisms/_geometric.py, `Geometric.randomise`:

        unif_rv = (rng.random() - 0.5) * (1 + np.exp(scale)); sgn = -1 if unif_rv < 0 else 1
        int(np.round(value + sgn * np.floor(np.log(sgn * unif_rv) / scale)))

    with scale = −ε, then clamped to [lower, upper]. The size of the noise falls as |unif_rv| = m/2^53·(1 + e^−ε) grows,
    so the m that give at least z are found by bisection. m = 0 (a draw of exactly 1/2) takes log 0 and raises an error;
    it is kept as one more output, with probability 2^-53 for every count.
    """
    factor, scale = 1 + math.exp(-epsilon), -epsilon

    def size(m):
        return math.floor(math.log(m / WORDS * factor) / scale)

    def reaching(z):
        """Count the m ≥ 1 with noise of size at least z."""
        low, high = 0, WORDS // 2
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if size(middle) >= z else (low, middle - 1)
        return low

    largest = size(1)
    at_least = [reaching(z) for z in range(largest + 2)]
    counts = [at_least[z] - at_least[z + 1] for z in range(largest + 1)]
    matrix = []
    for count in range(n + 1):
        row = [0] * (n + 2)
        for z, ways in enumerate(counts):
            row[max(0, count - z)] += ways  # negative noise: m = 1, …, 2^52
            row[min(n, count + z)] += ways  # positive noise: m = 1, …, 2^52 − 1
        row[min(n, count + size(WORDS // 2))] -= 1
        row[-1] = 1
        matrix.append([Fraction(ways, WORDS) for ways in row])
    return matrix, largest


def test_diffprivlib_s_truncated_geometric_loses_its_tail():
    """It claims ε = 1. Noise ends at ±36, so on 0..60 no ε suffices at all; δ = 3e-15 covers what is missing."""
    matrix, reach = truncated_geometric_of_diffprivlib(60, 1.0)
    assert reach == 36
    verdict = audit(matrix_document(matrix, graph=Path(61), privacy=Privacy(epsilon=1)))
    assert verdict.rows_sum_to_one and verdict.non_negative and not verdict.private
    assert verdict.ratio_at_delta is None
    first, second = verdict.tightest.edge
    assert abs(first - second) == 1
    assert Fraction(2, 10**15) < verdict.delta_at_epsilon < Fraction(4, 10**15)


def test_on_a_short_range_it_is_private_at_a_slightly_larger_epsilon():
    """On 0..20 no tail is cut, but doubles are a coarse grid far out: what it needs is ε = 1.0000000108."""
    matrix, _ = truncated_geometric_of_diffprivlib(20, 1.0)
    verdict = audit(matrix_document(matrix, graph=Path(21), privacy=Privacy(epsilon=1)))
    assert not verdict.private
    assert 1 + Fraction(1, 10**8) < verdict.epsilon_at_delta < 1 + Fraction(2, 10**8)
    profile = privacy_profile(matrix_document(matrix, graph=Path(21)))
    assert profile.ratio_at(verdict.delta_at_epsilon) <= verdict.privacy.ratio


@pytest.mark.parametrize("epsilon", ["1", "1/2"])
def test_opendp_s_discrete_laplace_is_what_it_claims(epsilon):
    """Its sampler is exact for e^-ε, which no rational is: two rational laws enclose it, and only one of them fails.

    OpenDP 0.16, `make_discrete_laplace` at scale 1/ε by the exact algorithm of [Canonne2020], clamped.
    """
    privacy = Privacy(epsilon=epsilon)
    below = exp_below(Fraction(epsilon))
    above = below * (1 + Fraction(1, 1 << 120))
    inner, outer = ([geometric_row(k, 12, ratio) for k in range(13)] for ratio in (below, above))
    assert audit(matrix_document(inner, graph=Path(13), privacy=privacy)).holds
    beyond = audit(matrix_document(outer, graph=Path(13), privacy=privacy))
    assert not beyond.private
    assert beyond.delta_at_epsilon < Fraction(1, 10**35)
