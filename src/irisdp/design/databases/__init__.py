"""Databases as graphs: the smallest distance from the truth, and when the exponential mechanism attains it."""
