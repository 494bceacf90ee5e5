"""Sizes of categories without names: how far off each way of telling them is, on lists of several shapes.

    python benchmarks/sizes.py --repeats 11 --epsilon 1 --total 10000

Errors are Σ|released − true| over the whole list and over its ten largest sizes, as means; every way has the same ε
under the same relation. "fit" is what `irisdp publish DATA sizes COLUMN` draws: numbers with noise, and the list
nearest to them; "K largest" is `sizes K COLUMN` for as many sizes as there are records; "partitions" is the exponential
mechanism over all sorted lists; "named" is noise on every category, put in order again, and must be told which
categories there are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from irisdp import Privacy
from irisdp._measurements import GeometricNoise, SizeNodes, SizesShape, SortedSizes
from irisdp.mechanisms import PartitionMechanism, release_largest
from irisdp.privacy import halved

Sizes = NDArray[np.int64]
Way = Callable[[Sizes], Sizes]

WHOLE = SizesShape(head=100, below=100_000)
"""As the query asks for it (`tests/oracles/test_end_to_end_sizes.py`)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--epsilon", nargs="+", default=["0.1", "0.5", "1", "2"])
    parser.add_argument("--total", type=int, default=10_000)
    parser.add_argument("--relation", choices=("add-remove", "exchange"), default="add-remove")
    arguments = parser.parse_args()
    total = arguments.total
    print(f"{total:,} records, {arguments.relation}; Σ|released − true| over the whole list / the ten largest")
    print(f"{'list':<12}{'sizes':>8}{'ε':>6}", end="")
    for name in ("fit", "K largest", "partitions", "named"):
        print(f"{name:>18}", end="")
    print()
    for shape, sizes in lists(total).items():
        for epsilon in arguments.epsilon:
            ways = all_ways(total, Privacy(epsilon=epsilon), arguments.relation)
            print(f"{shape:<12}{len(sizes):>8}{epsilon:>6}", end="")
            for way in ways:
                errors = np.mean([distances(sizes, way(sizes)) for _ in range(arguments.repeats)], axis=0)
                print(f"{errors[0]:>10,.0f} / {errors[1]:<5.1f}", end="", flush=True)
            print()


def all_ways(total: int, privacy: Privacy, relation: str) -> list[Way]:
    """Return every way of releasing a list, the same ε for all."""
    each = privacy if relation == "add-remove" else halved(privacy)
    partitions = PartitionMechanism(total=total, privacy=privacy, relation=relation)

    def fitted(shape: SizesShape) -> Way:
        mechanism = SortedSizes(GeometricNoise(each), privacy, shape)

        def release(sizes: Sizes) -> Sizes:
            nodes = SizeNodes(shape.tell(sizes)[None], None)
            return np.array(mechanism.show(mechanism.draw(nodes).tolist(), nodes)[0], dtype=np.int64)

        return release

    return [
        fitted(WHOLE),
        fitted(SizesShape(head=total, first=total)),
        partitions.draw,
        lambda sizes: release_largest(sizes, len(sizes), privacy, relation=relation),
    ]


def lists(total: int) -> dict[str, Sizes]:
    """Return lists of at most `total` records: ⌊c/i^s⌋, equal sizes, a random partition's, and chosen at random."""
    i = np.arange(1, total + 1)
    chosen = np.bincount(np.random.default_rng(3).integers(0, max(total // 20, 1), total))
    scale = np.pi / np.sqrt(6 * total)
    typical = np.floor(-np.log(-np.expm1(-scale * i)) / scale).astype(np.int64)  # the limit shape of partitions
    found = {
        "Zipf": falling_powers(total, 1.0),
        "Zipf, s=1/2": falling_powers(total, 0.5),
        "Zipf, s=2": falling_powers(total, 2.0),
        "all 1": np.ones(total, dtype=np.int64),
        "all 10": np.full(total // 10, 10),
        "10 equal": np.full(10, total // 10),
        "typical": typical,
        "at random": np.sort(chosen)[::-1],
    }
    return {name: sizes[sizes > 0] for name, sizes in found.items()}


def falling_powers(total: int, exponent: float) -> Sizes:
    """Return ⌊c/1^s⌋, ⌊c/2^s⌋, … for the largest c found whose sum is at most a total."""
    powers = np.arange(1, total + 1) ** exponent
    low, high = 0.0, float(total)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.floor(middle / powers).sum() <= total else (low, middle)
    return np.floor(low / powers).astype(np.int64)


def distances(sizes: Sizes, released: Sizes) -> tuple[float, float]:
    """Return Σ|released − true| of the whole lists and of their ten largest."""
    length = max(len(sizes), len(released), 10)
    one, other = np.pad(sizes, (0, length - len(sizes))), np.pad(released, (0, length - len(released)))
    off = np.abs(one - other)
    return float(off.sum()), float(off[:10].sum())


if __name__ == "__main__":
    main()
