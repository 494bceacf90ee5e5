"""Solve a sparse square system exactly: sparse steps where they cost nothing, then p-adic lifting on what is left.

The tight constraints of a private mechanism are chains x = r·y with two entries a row, so that almost all of a basis
is eliminated without fill-in, and the dense core is about as large as the graph, not as the table of probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import flint

SparseRow = dict[int, flint.fmpq]
"""Column → coefficient, zeros left out."""

_LIGHT = 2
"""Rows and columns with at most this many entries are eliminated sparsely: no pivot then adds an entry."""


def solve_sparse(rows: Sequence[SparseRow], right: Sequence[flint.fmpq]) -> list[flint.fmpq] | None:
    """Solve A z = b exactly.

    Parameters
    ----------
    rows : sequence of n sparse rows
        A, with columns 0..n−1.
    right : sequence of n rationals
        b.

    Returns
    -------
    list of n rationals or None
        The solution; None when A is singular.
    """
    system = _System(rows, right)
    if not system.eliminate():
        return None
    return system.substitute_back()


class _System:
    """The rows not yet used as pivots, kept by row and, as an index, by column."""

    def __init__(self, rows: Sequence[SparseRow], right: Sequence[flint.fmpq]) -> None:
        self.rows = [dict(row) for row in rows]
        self.right = list(right)
        self.rows_with: list[set[int]] = [set() for _ in rows]
        for k, row in enumerate(self.rows):
            for column in row:
                self.rows_with[column].add(k)
        self.pivots: dict[int, int] = {}  # row → column, in order of elimination
        self.solved: set[int] = set()

    def eliminate(self) -> bool:
        """Use up every light row and column; False when one is empty, which only a singular system has."""
        light_rows = [k for k, row in enumerate(self.rows) if len(row) <= _LIGHT]
        light_columns = [c for c, having in enumerate(self.rows_with) if len(having) <= _LIGHT]
        while light_rows or light_columns:
            if light_rows:
                k = light_rows.pop()
                if k in self.pivots or len(self.rows[k]) > _LIGHT:
                    continue
                if not self.rows[k]:
                    return False
                column = min(self.rows[k], key=lambda c: len(self.rows_with[c]))
            else:
                column = light_columns.pop()
                if column in self.solved or len(self.rows_with[column]) > _LIGHT:
                    continue
                if not self.rows_with[column]:
                    return False
                k = min(self.rows_with[column], key=lambda k: len(self.rows[k]))
            changed = self._pivot(k, column)
            light_rows += [other for other in changed if len(self.rows[other]) <= _LIGHT]
            light_columns += [c for c in self.rows[k] if c != column and len(self.rows_with[c]) <= _LIGHT]
        return True

    def _pivot(self, k: int, column: int) -> set[int]:
        """Remove a column from all other rows by subtracting row k; return the rows changed."""
        pivot, right = self.rows[k], self.right[k]
        self.pivots[k] = column
        self.solved.add(column)
        for c in pivot:
            self.rows_with[c].discard(k)
        changed = self.rows_with[column]
        self.rows_with[column] = set()
        for other in changed:
            row = self.rows[other]
            factor = row.pop(column) / pivot[column]
            self.right[other] -= factor * right
            for c, coefficient in pivot.items():
                if c == column:
                    continue
                entry = row.get(c, 0) - factor * coefficient
                if entry == 0:
                    del row[c]
                    self.rows_with[c].discard(other)
                else:
                    row[c] = entry
                    self.rows_with[c].add(other)
        return changed

    def substitute_back(self) -> list[flint.fmpq] | None:
        """Solve the dense core, then every pivot row for its column, last pivot first."""
        solution = [flint.fmpq(0)] * len(self.rows)
        core = [k for k in range(len(self.rows)) if k not in self.pivots]
        columns = [c for c in range(len(self.rows)) if c not in self.solved]
        if core:
            matrix = flint.fmpq_mat(len(core), len(core), [self.rows[k].get(c, 0) for k in core for c in columns])
            try:
                solved = matrix.solve(flint.fmpq_mat(len(core), 1, [self.right[k] for k in core]), algorithm="dixon")
            except ZeroDivisionError:
                return None
            for index, column in enumerate(columns):
                solution[column] = solved[index, 0]
        for k, column in reversed(self.pivots.items()):
            rest = sum((x * solution[c] for c, x in self.rows[k].items() if c != column), flint.fmpq(0))
            solution[column] = (self.right[k] - rest) / self.rows[k][column]
        return solution
