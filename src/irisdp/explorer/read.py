"""The page Read: what a published answer means to a reader, given their knowledge and their loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import Field
from .lanes import answer
from .loss_fields import loss_fields
from .results import Answer, Hint, Values
from .room import Room
from .shared_fields import known_field, prior_field, upload_field

if TYPE_CHECKING:
    from ..children import Phase
    from .results import Result

__all__ = ["READ", "read_work"]

_FIELDS = (
    upload_field("release", "The .release.json that lies beside published answers, or a mechanism file."),
    Field(
        name="release",
        label="What was published",
        kind="area",
        rows=6,
        example='{"format": "irisdp/release/1", …}',
        help="Or paste it here. It is public: it says how the answers were made. Links leave it out.",
        also=("*",),
        linked=False,
    ),
    Field(name="value", label="The published answer", example="7", help="A number, or a name such as yes."),
    known_field("least", low=0, high=100),
    known_field("most", low=0, high=100),
    Field(
        name="lead",
        label="Known: the lead",
        kind="number",
        whole=True,
        help="Of a majority or a winner: by how many records the largest is ahead of all others.",
    ),
    *loss_fields({}),
    prior_field(
        "May be left out: your probabilities of the counts 0, 1, … as a list. Then the mean loss is made small.",
        rows=2,
        example="[0.5, 0.3, 0.2]",
    ),
)


def read_work(values: Values, say: Phase) -> Result:
    """Compute the result of this page, in the worker process."""
    from .reading import read

    return read(values, say)


def _answer(values: Values) -> Answer:
    release, value = values["release"].strip(), values["value"].strip()
    if not release and not value:
        return Hint("Choose the file that says what was published, or paste it, and write the answer.")
    if not release or not value:  # half way there is nothing wrong yet
        return Hint("Now write the published answer." if release else "Now paste what was published.")
    return answer("read", read_work, values)


READ = Room(
    name="read",
    title="Read",
    summary="What a published number or name says to you: the best reading, what it costs, what may be true.",
    introduction=(
        "A published answer has noise in it. By what you know and what an error costs you it can often be read better"
        " than as it is."
    ),
    fields=_FIELDS,
    answer=_answer,
    submit="Read",
    live=True,
    posts=True,
)
