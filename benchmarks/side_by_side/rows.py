"""What a row of the page is: one piece of work, by this library, by peers, and as little as it could possibly take.

Needs the standard library only, since the files of `rows/` are read in the environments of the peers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS = ("ours", "peer", "limit", "before", "way")
"""`limit` does the least that the work takes, such as fetching its random bits; `before` is an earlier version, `way`
another way of ours."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of those who do the work.

    `work` names a function of the row's file. It is called once, in a process of its own, with a size and `options`,
    and returns what is timed: a function without arguments, which may return a dictionary of numbers worth showing.
    Its imports stand inside it. Where that is slow, `part` = 10 gives it a tenth of the size and takes its times ten
    times, and beyond the size `most` it is left out.
    """

    name: str
    work: str
    kind: str = "ours"
    environment: str = "iris"
    options: Mapping[str, Any] = field(default_factory=dict)
    part: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, f"{self.name}: {self.kind} is none of {KINDS}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One piece of work at some sizes; of its sides the first is ours, and ratios are the others' times over its.

    `promise` is the first cell of the row of docs/reliability.md that says it, `program` the one that measures it
    alone, `seconds` what ours may take at the largest of `sizes`. `quick` are sizes to try it with. Unless `warm`, no
    run comes before those that count: then what is long starts with what it needs loaded by `work`.
    """

    name: str
    group: str
    title: str
    unit: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    sides: tuple[Side, ...]
    promise: str = ""
    program: str = ""
    seconds: float | None = None
    warm: bool = True
    patience: float = 900

    def __post_init__(self) -> None:
        assert self.sides[0].kind == "ours", f"{self.name}: ours comes first"
        assert len({side.name for side in self.sides}) == len(self.sides), f"{self.name}: two sides of one name"
