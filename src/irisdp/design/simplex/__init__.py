"""Exact linear programming: a float solver proposes a basis, rationals decide."""
