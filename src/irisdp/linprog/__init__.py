"""Exact linear programming: a float solver proposes a basis, rationals decide.

Nothing here knows of privacy. `certify` never imports it, since it checks what is found with it.
"""
