"""Counts: the best mechanism for a reader, and what geometric noise can be read as."""
