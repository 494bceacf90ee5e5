"""Many designs at once: every combination of some parameters, with values, bounds and times in one frame."""

from __future__ import annotations

import dataclasses
import inspect
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .._aliases import did_you_mean
from .._exact import checked, entries, nearest_float
from .._frames import Tabular
from .._hooks import Drawable
from ..consumers import Consumer, Loss
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..mechanisms import FactoredMechanism, Mechanism
from ..privacy import Privacy
from ._optimal_mechanism import neighbouring_designs

if TYPE_CHECKING:
    import pyarrow

Designed = Mechanism | FactoredMechanism

MOST_DESIGNS = 10_000
"""Designs in one sweep."""


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Tabular, Drawable):
    """Mechanisms for every combination of some parameters, in the order of the rows of its frame.

    Attributes
    ----------
    design : str
        The name of the designer.
    points : tuple of dict
        For every design what each parameter was, as the frame shows it; of a guarantee `epsilon` and `delta`.
    mechanisms : tuple
        What the designer returns, with exact values, bounds and certificates.
    seconds : tuple of float
        How long each design took in this sweep; next to nothing where it was known.
    """

    design: str
    points: tuple[dict[str, Any], ...]
    mechanisms: tuple[Designed, ...]
    seconds: tuple[float, ...] = field(compare=False)

    def __len__(self) -> int:
        """Return how many designs there are."""
        return len(self.mechanisms)

    @property
    def values(self) -> tuple[Fraction | None, ...]:
        """The exact value of every design; None where it has no objective."""
        return tuple(None if m.objective is None else m.objective.value for m in self.mechanisms)

    @property
    def lower_bounds(self) -> tuple[Fraction | None, ...]:
        """The exact lower bound of every design; None where it has none."""
        return tuple(None if m.objective is None else m.objective.lower_bound for m in self.mechanisms)

    def to_arrow(self) -> pyarrow.Table:
        """Return a row for every design: its parameters, value and lower bound as nearest floats, and seconds."""
        import pyarrow as pa

        columns = {name: [point[name] for point in self.points] for name in self.points[0]}
        columns["value"] = [None if x is None else nearest_float(x) for x in self.values]
        columns["lower_bound"] = [None if x is None else nearest_float(x) for x in self.lower_bounds]
        columns["seconds"] = list(self.seconds)
        return pa.table(columns)

    def _summary(self) -> str:
        return f"{len(self)} designs by {self.design} in {sum(self.seconds):.3g} s"


@checked
def sweep(design: Callable[..., Any], over: Mapping[str, Any], **fixed: Any) -> Sweep:
    """Design a mechanism for every combination of some parameters.

    A design of a linear program begins at the optimal basis of the one before, which saves most of the time where ε
    changes little from one to the next. Designs are kept within the process: a repeated one takes no time.

    Parameters
    ----------
    design : callable
        A designer that returns one mechanism, such as `design.consumer` or `design.optimal_mechanism`.
    over : mapping
        The name of a parameter → the values it takes, as a sequence, or as a mapping from the names that the frame
        shows. The first changes slowest; all combinations are designed, at most 10,000.
    **fixed
        The other arguments of the designer.

    Returns
    -------
    Sweep
        With `mechanisms`, and their values, bounds and times as a frame: `to_pandas`, `to_polars`, `to_arrow`. Each
        mechanism has the guarantees and the certificate of a single design. Value and bound are those of a single
        design: exactly where the ratio is short, and else to within the stated gap, about 1e-18 of the value.

    Raises
    ------
    BadInput
        For a parameter that the designer does not have, one without values, too many combinations, and whatever the
        designer refuses.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> found = design.sweep(
    ...     design.consumer, {"n": [2, 3], "privacy": [Privacy(ratio=2), Privacy(ratio=4)]}, loss="absolute"
    ... )
    >>> [str(value) for value in found.values]
    ['4/7', '8/23', '28/39', '168/415']
    >>> found.to_arrow().column_names
    ['n', 'epsilon', 'delta', 'value', 'lower_bound', 'seconds']

    References
    ----------
    proofs/weak-duality.md, proofs/universality.md.
    """
    name = getattr(design, "__name__", type(design).__name__)
    known = _parameters(design)
    for key in over:
        if key in fixed:
            raise BadInput(str(key), "is given twice, fixed and in over", "give it once")
        if known is not None and key not in known:
            remedy = did_you_mean(str(key), known) or f"choose from {', '.join(known)}"
            raise BadInput("over", f"names {key!r}, which {name} does not have", remedy)
    axes = {key: _axis(key, values) for key, values in over.items()}
    if not 1 <= prod(map(len, axes.values())) <= MOST_DESIGNS or not axes:
        rule = f"makes {prod(map(len, axes.values())) if axes else 0} designs"
        raise BadInput("over", rule, f"name parameters and values that make 1 to {MOST_DESIGNS:,}")
    points, mechanisms, seconds = [], [], []
    with neighbouring_designs():
        for chosen in product(*axes.values()):
            begun = time.perf_counter()
            arguments = {**fixed, **{key: value for key, (_, value) in zip(axes, chosen, strict=True)}}
            made = _known_or_made(design, arguments)
            if not isinstance(made, Mechanism | FactoredMechanism):
                raise BadInput("design", f"returns {type(made).__name__}, no mechanism", "name another designer")
            seconds.append(time.perf_counter() - begun)
            points.append({column: x for shown, _ in chosen for column, x in shown.items()})
            mechanisms.append(made)
    return Sweep(name, tuple(points), tuple(mechanisms), tuple(seconds))


def _parameters(design: Callable[..., Any]) -> list[str] | None:
    """List the names of a designer's parameters; None where it takes any."""
    try:
        parts = inspect.signature(design).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(part.kind is part.VAR_KEYWORD for part in parts):
        return None
    return [part.name for part in parts if part.kind in (part.POSITIONAL_OR_KEYWORD, part.KEYWORD_ONLY)]


# How the values of a parameter are shown in a frame: numbers and text as they are, guarantees by ε and δ.

Shown = tuple[dict[str, Any], Any]
"""The columns of a value, and the value."""


def _axis(key: str, given: Any) -> list[Shown]:
    """List the values of a parameter, each with what the frame shows of it."""
    if isinstance(given, Mapping):
        return [({key: str(label)}, value) for label, value in given.items()]
    values = entries(given)
    if not values:
        raise BadInput(str(key), "must be the values to design for, at least one", f"write {key}: [first, second]")
    if all(isinstance(value, Privacy) and value.single for value in values):
        prefix = "" if key == "privacy" else f"{key} "
        return [
            ({f"{prefix}epsilon": nearest_float(p.epsilon), f"{prefix}delta": nearest_float(p.delta)}, p)
            for p in values
        ]
    if all(_number(value) is not None for value in values):
        return [({key: _number(value)}, value) for value in values]
    labels = [_label(value, position) for position, value in enumerate(values, 1)]
    return [
        ({key: label if labels.count(label) == 1 else f"{label} ({position})"}, value)
        for position, (label, value) in enumerate(zip(labels, values, strict=True), 1)
    ]


def _number(value: Any) -> int | float | None:
    """Return a number as a frame has it; None for what is none."""
    if isinstance(value, bool | np.bool_ | np.timedelta64):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating | Fraction | Decimal):
        return float(value)
    return None


def _label(value: Any, position: int) -> str:
    """Return how a value that is no number is named."""
    if isinstance(value, str):
        return value
    if isinstance(value, Loss):
        return value.name
    if isinstance(value, Consumer):
        return value.goal
    if isinstance(value, DatasetGraph):
        return f"{type(value).__name__} of {value.number_of_nodes} nodes"
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value) if isinstance(value, Privacy) else f"{position}"


# Designs are kept by the designer and the values of its arguments, the longest unused forgotten first.

_MOST_ENTRIES = 500_000
"""Probabilities of all mechanisms that are kept: about 100 MB."""


class _Memory:
    """Designs by what decides them."""

    def __init__(self) -> None:
        self._designs: OrderedDict[Hashable, Designed] = OrderedDict()
        self._entries = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> Designed | None:
        with self._lock:
            if key in self._designs:
                self._designs.move_to_end(key)
            return self._designs.get(key)

    def keep(self, key: Hashable, made: Designed) -> None:
        with self._lock:
            if key not in self._designs:
                self._entries += _size(made)
            self._designs[key] = made
            while self._entries > _MOST_ENTRIES:
                self._entries -= _size(self._designs.popitem(last=False)[1])


_MEMORY = _Memory()


class _NotByValue(Exception):
    """An argument may change, or cannot be told from another."""


def _known_or_made(design: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        key = design, _by_value(arguments)
        hash(key)
    except (_NotByValue, TypeError):
        return design(**arguments)
    known = _MEMORY.get(key)
    if known is not None:
        return known
    made = design(**arguments)
    if isinstance(made, Mechanism | FactoredMechanism):
        _MEMORY.keep(key, made)
    return made


def _size(mechanism: Designed) -> int:
    return len(mechanism.inputs) * len(mechanism.outputs) if isinstance(mechanism, Mechanism) else mechanism.n + 1


def _by_value(value: Any) -> Hashable:
    """Return what is equal for equal arguments only.

    Raises
    ------
    _NotByValue
        For functions and objects of other libraries.
    """
    if value is None or isinstance(value, str | int | float | Fraction | Decimal):
        return type(value), value
    if isinstance(value, np.generic):
        return value.dtype.str, value.item()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, _by_value(value.tolist())
    if isinstance(value, Mapping):
        return type(value), tuple((_by_value(key), _by_value(part)) for key, part in value.items())
    if isinstance(value, list | tuple | range):
        return type(value), tuple(map(_by_value, value))
    if isinstance(value, DatasetGraph):
        return type(value), json.dumps(value.to_document(), default=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [part.name for part in dataclasses.fields(value) if part.compare]
        return type(value), tuple(_by_value(getattr(value, part)) for part in parts)
    raise _NotByValue
