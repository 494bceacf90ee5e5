"""Linear programs for oracles, in floats and solved by SciPy: they share no code with the library.

An oracle builds its program row by row, as its theorem reads; rows map columns to coefficients.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

FEASIBLE = 1e-10
"""The tightest that HiGHS takes, for primal and dual: optima of small programs with short numbers agree to 1e-9."""


@dataclass(frozen=True, slots=True)
class Solved:
    """An optimum: its value, where it is, and the multipliers of the rows of `at_most`, in the order they came."""

    value: float
    point: np.ndarray
    multipliers: np.ndarray


@dataclass(slots=True)
class Program:
    """Minimise a cost over variables that are at least 0, unless they are free."""

    cost: dict[int, float] = field(default_factory=dict)
    limits: list = field(default_factory=list)
    above: list = field(default_factory=list)
    same: list = field(default_factory=list)

    def variables(self, number, *, free=False):
        """Add variables; return the column of the first."""
        self.limits += [(None if free else 0, None)] * number
        return len(self.limits) - number

    def at_most(self, row, limit=0):
        """Demand row · x ≤ limit."""
        self.above.append((row, float(limit)))

    def equal(self, row, value):
        """Demand row · x = value."""
        self.same.append((row, float(value)))

    def table(self, rows, columns):
        """Add a table of probabilities, each row summing to 1; return the column of the first entry."""
        first = self.variables(rows * columns)
        for i in range(rows):
            self.equal(dict.fromkeys(range(first + i * columns, first + (i + 1) * columns), 1), 1)
        return first

    def private(self, first, columns, edges, ratio, delta=0):
        """Demand of a table that rows joined by an edge be close, in both directions."""
        for one, other in [pair for a, b in edges for pair in ((a, b), (b, a))]:
            excess = self.variables(columns) if delta else None
            for v in range(columns):
                row = {first + one * columns + v: 1, first + other * columns + v: -ratio}
                self.at_most(row | ({excess + v: -1} if delta else {}))
            if delta:
                self.at_most(dict.fromkeys(range(excess, excess + columns), 1), delta)

    def charge(self, first, costs):
        """Let the columns from here on cost this much."""
        self.cost |= {first + place: float(x) for place, x in enumerate(costs)}

    def worst(self, rows):
        """Make the largest of these rows the cost."""
        largest = self.variables(1, free=True)
        self.cost[largest] = 1
        for row in rows:
            self.at_most(row | {largest: -1})

    def solve(self):
        """Return the optimum, or None where nothing satisfies all rows."""
        cost = np.zeros(len(self.limits))
        for column, x in self.cost.items():
            cost[column] = x
        found = linprog(
            cost, *self._matrix(self.above), *self._matrix(self.same), self.limits, method="highs",
            options={"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE},
        )  # fmt: skip
        if found.status == 2:
            return None
        assert found.status == 0, found.message
        return Solved(found.fun, found.x, -found.ineqlin.marginals)

    def minimum(self):
        """Return the least cost."""
        solved = self.solve()
        assert solved is not None
        return solved.value

    def _matrix(self, rows):
        if not rows:
            return None, None
        entries = [(number, column, float(x)) for number, (row, _) in enumerate(rows) for column, x in row.items()]
        where, columns, values = zip(*entries, strict=True)
        shape = (len(rows), len(self.limits))
        return coo_array((values, (where, columns)), shape=shape).tocsr(), [limit for _, limit in rows]


def restricted(n, ratio):
    """G_{n,α} as [Gupte2010] defines it."""
    a = 1 / ratio
    return [
        [a**k / (1 + a), *((1 - a) / (1 + a) * a ** abs(z - k) for z in range(1, n)), a ** (n - k) / (1 + a)]
        for k in range(n + 1)
    ]
