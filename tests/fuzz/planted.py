"""Planted mistakes that `run.py --planted` feeds beside the targets, to show that they are found, kept and replayed."""

from fuzz.changes import changed_text
from fuzz.target import Target, given


def behind_conditions(text: str, _: object) -> None:
    """Break behind three conditions, none of which says anything, and each of which is met by chance alone."""
    if text[:1] == "q":  # noqa: SIM102 — each a branch of its own
        if text[1:2] == "7":  # noqa: SIM102
            if text[2:3] == "#":
                raise KeyError(text)


TARGETS = {
    "behind conditions": Target(
        60_000, given("banana"), lambda one, other, chance: changed_text(one, other, ("an",), chance), behind_conditions
    )
}
