"""Accuracy of published answers: the auxiliary columns, from public facts and the answers alone.

Numbers get ends: the true number lies between `answer_low` and `answer_high` with the confidence asked for, whatever
the data. They come from the noise distribution, each rounded outward, and the answer as shown. Clamping an answer to
public ends takes it no further from the truth, and the interval is clamped to them too. Means alone have theirs from
the two noisy numbers that were drawn, which are as private as what is shown.

Names get `answer_probability`: the probability of the right answer on the data on which it is least. It is the
mechanism's, and no statement about one answer; of that, and of what a reader knows already, `irisdp.interpret` speaks.
It is rounded down to six significant digits, and published with every name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..exact import rational_text

__all__ = ["ANSWER_COLUMNS", "ASSURED", "HIGH", "LOW", "PROBABILITY", "USUAL_CONFIDENCE", "Assurance"]

LOW, HIGH, PROBABILITY = "answer_low", "answer_high", "answer_probability"

ASSURED = (LOW, HIGH, PROBABILITY)
"""Names of the columns that may stand after `answer`."""

ANSWER_COLUMNS = ("answer", *ASSURED)
"""What no group column may be called."""

USUAL_CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class Assurance:
    """Columns that say how sure answers are.

    Parameters
    ----------
    columns : mapping
        By name, in the order in which they stand, an entry for each answer; lists, where answers are lists.
    promise : str
        Their guarantee, in one line; empty if nothing is guaranteed.
    confidence : Fraction or None
        The least probability of what the ends say; None where there are none.
    """

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    promise: str = ""
    confidence: Fraction | None = None

    def to_document(self) -> dict[str, Any]:
        """Return what is promised, and how surely, JSON-ready; empty where nothing is."""
        sure = {} if self.confidence is None else {"confidence": rational_text(self.confidence)}
        return {"assurance": {"columns": list(self.columns), "promise": self.promise, **sure}} if self.columns else {}
