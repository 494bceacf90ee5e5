"""Consumers of counts, and the best readings of what was released to them."""
