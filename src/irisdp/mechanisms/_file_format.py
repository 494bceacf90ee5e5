"""What both kinds of mechanism share: the document and the file they are written to, and draws by name."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, islice
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._exact import (
    LARGEST_EPSILON,
    checked,
    entries,
    integer,
    json_bytes,
    json_list,
    log_above,
    rational,
    rational_text,
    short_text,
    so_many,
)
from .._files import plan_outputs, write_outputs
from .._frames import html_table, printable
from .._hooks import Drawable
from .._sampling import BitSource, SimulatedBits, shape_of_draws
from ..errors import BadInput
from ..privacy import MOST_PAIRS, Gaussian, Guarantee, Pair, Privacy

# The classes of mechanisms among which a certificate claims an optimum; part of the file format.

ALL_PRIVATE = "all private mechanisms"
"""No private mechanism on the graph has a smaller goal."""

SAME_ROWS = "mechanisms with these boundary rows"
"""No private mechanism that gives some inputs (usually those on the boundary) the same rows has a smaller goal."""

CONSTRAINED = "private mechanisms that meet the constraints"
"""No private mechanism that meets the linear constraints in the certificate has a smaller goal."""

LONGEST_PROPAGATION = 10**8
"""Bits, about, of the exact numbers that one event is propagated with; the stand-alone verifier has the same limit."""

_FEW_EVENTS = 256
_MOST_PROPAGATED = 4 * 10**6
"""Sets of first choices that are propagated one by one, if they are not few, times the inputs that they reach."""


def too_many_events(rankings: Iterable[Sequence[int]], inputs: int) -> bool:
    """Tell whether a certificate by rankings is not checked, nor written, since so many first choices differ.

    The possible mass of the first k outputs is computed again for each set of them; the stand-alone verifier has the
    same limits.
    """
    events = {event for line in set(map(tuple, rankings)) for event in accumulate((1 << v for v in line), or_)}
    return len(events) > max(_FEW_EVENTS, _MOST_PROPAGATED // inputs)


def too_deep(deepest: int, privacy: Privacy) -> bool:
    """Tell whether a certificate whose rows follow from given ones this far away is not checked, nor written.

    Exact numbers grow with every step, by about the digits of a ratio and δ.
    """
    step = max(
        sum(number.numerator.bit_length() + number.denominator.bit_length() for number in (pair.ratio, pair.delta))
        for pair in privacy.pairs
    )
    return deepest * deepest * step > LONGEST_PROPAGATION


FORMAT = "irisdp/mechanism/1"
"""The "format" that mechanism files are written with."""

MOST_DRAWS = 10**8

_MOST_SHOWN = 20
_LONGEST_NAME = 80

_SHORT = 1 << 64

_EXAMPLE = 'write {"epsilon": 1, "delta": "1/10"}'

_SURELY_SHORT = 4_000
"""Letters up to which any number is read again."""


@checked
@dataclass(frozen=True, slots=True)
class StatedObjective:
    """What a mechanism was designed for: its name, its value, and a bound for those that its certificate compares.

    `lower_bound` and `value` are equal where the optimum is exact; otherwise their difference is the claimed gap.
    """

    name: str
    value: Fraction
    lower_bound: Fraction | None = None

    def to_document(self) -> dict[str, str]:
        """Return the objective as a mechanism file holds it."""
        document = {"name": self.name, "value": exact_text(self.value, "objective")}
        if self.lower_bound is not None:
            document["lower_bound"] = exact_text(self.lower_bound, "objective")
        return document


class Serializable(Drawable, ABC):
    """A mechanism that can be written down and drawn from; what it needs, each kind holds in its own way."""

    __slots__ = ()

    privacy: Privacy
    objective: StatedObjective | None
    certificate: Mapping[str, Any] | None

    if TYPE_CHECKING:  # one kind holds the names, the other knows them

        @property
        def inputs(self) -> Sequence[Hashable]:
            """Names of the inputs."""

        @property
        def outputs(self) -> Sequence[Hashable]:
            """Names of the outputs."""

    @abstractmethod
    def position(self, node: Hashable) -> int:
        """Return the position of an input, or say which inputs there are."""

    @abstractmethod
    def draw_positions(self, node: Hashable, count: int, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw independent answers to one input, as positions in `outputs`."""

    @abstractmethod
    def row(self, node: Hashable) -> Sequence[Fraction]:
        """Return the distribution of the answer for one input."""

    @checked
    def approximate_row(self, node: Hashable) -> NDArray[np.float64]:
        """Return the distribution of the answer for one input in floats, for looking at and not for drawing."""
        return np.array([float(p) for p in self.row(node)])

    @abstractmethod
    def _table(self) -> dict[str, Any]:
        """Return the fields of the document that hold graph, names and probabilities."""

    def describe(self) -> str:
        """Say in one line how large this is, how private, and what it is best at."""
        shape = f"{so_many(len(self.inputs), 'input')}, {so_many(len(self.outputs), 'output')}, {self.privacy}"
        if self.objective is None:
            return shape
        return f"{shape}; {_quoted(self.objective.name)} {short_text(self.objective.value)}"

    def __repr__(self) -> str:
        """Say what this is, in one line; `matrix` has the numbers."""
        return f"<{type(self).__name__}: {self.describe()}>"

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook, rounded."""
        names = [*map(str, islice(self.outputs, _MOST_SHOWN))]
        more = ["…"] * (len(self.outputs) > _MOST_SHOWN)
        nodes = islice(self.inputs, _MOST_SHOWN)
        rows: list[tuple[Any, ...]] = [
            (node, *(f"{p:.4g}" for p in self.approximate_row(node)[:_MOST_SHOWN]), *more) for node in nodes
        ]
        if len(self.inputs) > _MOST_SHOWN:
            rows.append(("…",) * (1 + len(names) + len(more)))
        said = f"{self.describe()}; each row is the law of the answer for one input"
        return html_table(said, ["input", *names, *more], rows)

    @checked
    def draw(self, node: Hashable, count: int = 1, *, source: BitSource | None = None) -> list[Hashable]:
        """Draw independent answers to one input, exactly.

        Charges nothing: the caller knows the input. `irisdp.publish` draws for data, and charges.

        Parameters
        ----------
        node : name
            The input to answer for.
        count : int
            How many draws, at most 10^8.
        source : BitSource, optional
            Source of random bits. [default: the operating system]

        Returns
        -------
        list
            Names of outputs, each with exactly the probability in the input's row.

        Examples
        --------
        >>> from irisdp import Privacy, design
        >>> design.geometric(3, Privacy(epsilon=1)).draw(2, 5) # doctest: +SKIP
        [2, 3, 2, 1, 2]
        """
        places = self.draw_positions(node, integer(count, "count", at_least=0, at_most=MOST_DRAWS), source=source)
        return [self.outputs[place] for place in places.tolist()]

    @checked
    def simulate(self, node: Hashable, size: Any = 1, *, seed: int) -> NDArray[Any]:
        """Draw answers to one input for an experiment that others can repeat. Not for release.

        Anyone who knows the seed knows the noise, so such draws protect nobody. What publishes
        takes no seed.

        Parameters
        ----------
        node : name
            The input to answer for.
        size : int or tuple of int
            How many draws, at most 10^8, or the shape of an array of draws.
        seed : int
            From 0 to 2^128 − 1. The same seed gives the same draws on every machine.

        Returns
        -------
        array
            Names of outputs, with exactly the probabilities of the input's row for a seed chosen at random.

        Examples
        --------
        >>> from irisdp import Privacy, design
        >>> design.geometric(3, Privacy(epsilon=1)).simulate(2, 8, seed=1).tolist()
        [2, 3, 2, 2, 2, 2, 2, 2]
        """
        drawn: NDArray[Any] = self.simulate_many([node], size, seed=seed)[0]
        return drawn

    @checked
    def simulate_many(self, nodes: Sequence[Hashable] | None = None, size: Any = 1, *, seed: int) -> NDArray[Any]:
        """Draw answers to many inputs at once for an experiment. Not for release, as `simulate` says.

        Parameters
        ----------
        nodes : sequence of names, optional
            The inputs to answer for; all, in their order, when left out.
        size : int or tuple of int
            How many draws for each, or their shape; at most 10^8 in all.
        seed : int
            From 0 to 2^128 − 1.

        Returns
        -------
        array of shape (len(nodes), *size)
            Names of outputs, all drawn independently.
        """
        listed = self.inputs if nodes is None else entries(nodes)
        if listed is None:
            raise BadInput("nodes", "must be a list of inputs", "leave it out for all of them")
        shape = shape_of_draws(size, len(listed))
        places = np.array([self.position(node) for node in listed], dtype=np.int64)
        bits = SimulatedBits(seed)
        drawn = self.draw_each(
            np.broadcast_to(places.reshape(-1, *(1,) * len(shape)), (len(places), *shape)), source=bits
        )
        return _named(self.outputs, drawn)

    @abstractmethod
    def draw_each(self, places: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw one answer for each position in `inputs`, independently, as positions in `outputs`."""

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document of the mechanism's file; every number is exact text.

        Raises
        ------
        BadInput
            When a number has more digits than a file that is read may hold.
        """
        document: dict[str, Any] = {"format": FORMAT, "privacy": privacy_to_document(self.privacy), **self._table()}
        if self.certificate is not None:
            document["certificate"] = self.certificate
            for key in ("loss", "weights", "multipliers", "choice"):  # nothing is believed of what a caller gave
                _check_short(self.certificate.get(key), key)
        if self.objective is not None:
            document["objective"] = self.objective.to_document()
        return document

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the mechanism's file, which `irisdp.load` reads and `irisdp audit` checks.

        Parameters
        ----------
        path : path
        force : bool
            Whether a file that is there already may be replaced.

        Raises
        ------
        BadInput
            If there is a file already, or none can be written.
        """
        (output,) = plan_outputs([path], [], field="path", force=force)
        write_outputs([(output, json_bytes(self.to_document()))])


def _named(outputs: Sequence[Hashable], positions: NDArray[np.int64]) -> NDArray[Any]:
    """Return names of outputs at their positions: integers and text as arrays of these, other names as objects."""
    if isinstance(outputs, range) and outputs == range(len(outputs)):
        return positions
    kinds = {type(name) for name in outputs}
    if kinds in ({int}, {str}, {bool}) and not (kinds == {int} and max(map(abs, outputs)) >= 1 << 63):  # type: ignore[arg-type]
        return np.array(list(outputs))[positions]
    names = np.empty(len(outputs), dtype=object)
    names[:] = list(outputs)
    return names[positions]


def _quoted(name: str) -> str:
    """Return what a file calls its goal, on one line and in quotes: nothing has checked these words."""
    text = printable(name).replace('"', "'")
    return f'"{text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"}"'


def exact_text(value: Fraction, field: str) -> str:
    """Write a number exactly; refuse one that would be refused when it is read."""
    text = rational_text(value)
    _check_short(text, field)
    return text


def _check_short(value: Any, field: str) -> None:
    if isinstance(value, str) and len(value) > _SURELY_SHORT:
        rational(value, field)
    elif isinstance(value, list | tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            _check_short(inner, field)


@checked
def privacy_from_document(document: Any) -> Privacy:
    """Read {"epsilon": …} or {"ratio": …}, with "delta" or not; {"all": [such pairs]}; {"gaussian": μ}; {"zcdp": ρ}.

    Parameters
    ----------
    document : dict
        As JSON has it.

    Raises
    ------
    BadInput
        For any other object.
    """
    if not isinstance(document, dict):
        raise BadInput("privacy", "must be an object", _EXAMPLE)
    for name, build in (("gaussian", Privacy.gaussian), ("zcdp", Privacy.zcdp)):
        if name in document:
            _check_numbers(document, {name, "gap"}, f"{name}, and gap or nothing")
            return build(document[name], **{key: value for key, value in document.items() if key == "gap"})
    return pairs_from_document(document)


@checked
def pairs_from_document(document: Any) -> Privacy:
    """Read what mechanism files hold: one pair or {"all": [pairs]}, never a curve; a stranger checks every pair."""
    if not isinstance(document, dict):
        raise BadInput("privacy", "must be an object", _EXAMPLE)
    for curve in ("gaussian", "zcdp"):
        if curve in document:
            rule = f"of a mechanism file must be pairs, and {curve} is a curve"
            raise BadInput("privacy", rule, 'write its pairs as {"all": [...]}, as designs are')
    if "all" not in document:
        return _pair_from_document(document)
    if set(document) != {"all"}:
        raise BadInput("privacy", "must hold nothing beside all", "put everything into the list")
    pairs = json_list(document["all"], "all")
    if len(pairs) > MOST_PAIRS:
        raise BadInput("all", f"must hold at most {MOST_PAIRS} pairs", "leave out those that matter least")
    return Privacy.all([_pair_from_document(pair) for pair in pairs])


def _pair_from_document(document: Any) -> Privacy:
    _check_numbers(document, {"epsilon", "ratio", "delta"}, "epsilon or ratio, and delta")
    return Privacy(**document)


def _check_numbers(document: Any, known: set[str], rule: str) -> None:
    if not isinstance(document, dict) or set(document) - known:
        raise BadInput("privacy", f"must hold {rule}", _EXAMPLE)
    if any(isinstance(value, (list, dict, type(None))) for value in document.values()):
        raise BadInput("privacy", "must hold numbers", _EXAMPLE)


@checked
def guarantee_from_document(document: Any) -> Guarantee:
    """Read what `privacy_to_document` wrote, or people did.

    {"gaussian": μ} is Gaussian privacy itself, {"zcdp": ρ} the Gaussian privacy that is enough for it, and neither a
    polygon below the curve, which they are with a "gap".

    Parameters
    ----------
    document : dict
        As JSON has it.

    Raises
    ------
    BadInput
        For any other object.
    """
    for name, build in (("gaussian", Gaussian), ("zcdp", Gaussian.zcdp)):
        if isinstance(document, dict) and set(document) == {name}:
            _check_numbers(document, {name}, name)
            return build(document[name])
    return privacy_from_document(document)


@checked
def privacy_to_document(privacy: Guarantee) -> dict[str, Any]:
    """Write privacy so that reading it back gives the same ratios, charges and δ; a short ratio stands as itself."""
    if isinstance(privacy, Gaussian):
        return {"gaussian": rational_text(privacy.mu)}
    pairs = [_pair_to_document(pair) for pair in privacy.pairs]
    return {"all": pairs} if len(pairs) > 1 else pairs[0]


def _pair_to_document(pair: Pair) -> dict[str, Any]:
    if (pair.ratio.denominator > _SHORT or log_above(pair.ratio) != pair.epsilon) and _is_of_its_epsilon(pair):
        document = {"epsilon": rational_text(pair.epsilon)}
    else:
        document = {"ratio": rational_text(pair.ratio)}
    return document if pair.delta == 0 else {**document, "delta": rational_text(pair.delta)}


def _is_of_its_epsilon(pair: Pair) -> bool:
    """Tell whether the ratio is the rounded e^ε; a ratio may lie beyond every valid ε."""
    return pair.epsilon <= LARGEST_EPSILON and Privacy(epsilon=pair.epsilon).ratio == pair.ratio
