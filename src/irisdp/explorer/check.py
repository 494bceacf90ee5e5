"""The page Check: compare a mechanism file or a bare matrix with its own claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import Field
from .lanes import answer
from .results import Answer, Hint, Values
from .room import Room
from .shared_fields import upload_field

if TYPE_CHECKING:
    from ..children import Phase
    from .results import Result

__all__ = ["CHECK", "check_work"]

_FIELDS = (
    upload_field("mechanism", "A mechanism file, or a matrix as .csv, .json or .npy; at most 1 MiB."),
    Field(
        name="mechanism",
        label="Mechanism or matrix",
        kind="area",
        example="3/4, 1/4\n1/4, 3/4",
        help="Or paste it here. A matrix has a line for each input, with the probability of each answer, set apart by"
        " commas, semicolons, tabs or blanks; a first line of words names the answers.",
        also=("*",),
    ),
    Field(
        name="on",
        label="Neighbours are",
        kind="choice",
        default="own",
        choices=(
            ("own", "as the file says"),
            ("path", "inputs next to each other"),
            ("complete", "any two inputs"),
            ("pasted", "as pasted here"),
        ),
        help="A bare matrix says nothing of its neighbours.",
        also=("graph",),
    ),
    Field(
        name="graph",
        label="Graph",
        kind="area",
        example="0 1\n1 2",
        help="An edge on each line, or JSON; nodes are the inputs, in the order of the rows.",
        also=("nodes", "edges", "family"),
        when={"on": ("pasted",)},
    ),
    Field(
        name="epsilon",
        label="ε to judge against",
        kind="number",
        help="Left empty: what the file states.",
        also=("privacy",),
        example="as the file says",
    ),
    Field(name="delta", label="δ to judge against", kind="number", help="Left empty: as with ε.", example="0"),
)


def check_work(values: Values, say: Phase) -> Result:
    """Compute the result of this page, in the worker process."""
    from .checking import check

    return check(values, say)


def _answer(values: Values) -> Answer:
    if not values["mechanism"].strip():
        return Hint("Choose a file, or paste a mechanism or a matrix; then press Check.")
    return answer("check", check_work, values)


CHECK = Room(
    name="check",
    title="Check",
    summary="Whether a mechanism is one, how private it is on every edge, and whether it is as good as it says: "
    "exactly, also of matrices that other tools wrote.",
    introduction="Upload or paste a mechanism file or a matrix. Every edge is checked in exact arithmetic, and of a "
    "certificate nothing is believed.",
    fields=_FIELDS,
    answer=_answer,
    submit="Check",
    posts=True,
)
