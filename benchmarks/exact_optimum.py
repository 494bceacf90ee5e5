"""The exact optimum of a minimax reader of a count, beside the float optimum that HiGHS alone gives.

    python benchmarks/exact_optimum.py --counts 3 16 32 --ratio 4 --repeats 5

Each repeat solves both, one after another, on the same program; what counts is the ratio of their times within a
repeat. "exact" is the whole design: program, basis, exact solution, certificate, seal.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from irisdp import Privacy, design
from irisdp._exact import rational_text
from irisdp._exact.linprog import exact_optimum
from irisdp._exact.linprog.highs import FloatSolver
from irisdp._exact.linprog.program import as_floats
from irisdp.design import Goal
from irisdp.design._privacy_program import mechanism_program, read_loss
from irisdp.graphs import Path


def main() -> None:
    arguments = read_arguments()
    privacy = Privacy(ratio=arguments.ratio) if arguments.epsilon is None else Privacy(epsilon=arguments.epsilon)
    print(f"{arguments.loss} loss, every count possible, {privacy}; medians of {arguments.repeats} repeats")
    print(f"{'n':>4}{'HiGHS s':>10}{'exact s':>10}{'over':>8}{'repairs':>9}  value")
    measure(3, arguments.loss, privacy)  # loads the solver
    for n in arguments.counts:
        times = [measure(n, arguments.loss, privacy) for _ in range(arguments.repeats)]
        floats, exact = (statistics.median(column) for column in zip(*times, strict=True))
        over = statistics.median(mine / theirs for theirs, mine in times)
        objective = design.consumer(n, arguments.loss, privacy).objective
        gap = objective.value - objective.lower_bound
        text = rational_text(objective.value)
        value = text if gap == 0 and len(text) < 50 else f"{float(objective.value):.15g}"
        print(
            f"{n:>4}{floats:>10.3f}{exact:>10.3f}{over:>8.1f}{repairs(n, arguments.loss, privacy):>9}  {value}", end=""
        )
        print("" if gap == 0 else f", gap {float(gap / objective.value):.0e} of it")


def measure(n: int, loss: str, privacy: Privacy) -> tuple[float, float]:
    """Return the seconds of the float optimum and of the exact design."""
    program = count_program(n, loss, privacy)

    def in_floats() -> None:
        FloatSolver(program).solve(as_floats(program.cost), as_floats(program.right))

    return seconds(in_floats), seconds(lambda: design.consumer(n, loss, privacy))


def repairs(n: int, loss: str, privacy: Privacy) -> str:
    """Say how many refinements and pivots the float basis needs to be optimal exactly."""
    found = exact_optimum(count_program(n, loss, privacy))
    return f"{found.refinements}+{found.pivots}" if found.exact else "none"


def count_program(n: int, loss: str, privacy: Privacy):
    goal = Goal(name=loss, loss=read_loss(loss, n + 1)[0], side_information=tuple(range(n + 1)))
    return mechanism_program(goal, Path(n + 1), privacy).linear


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[3, 16, 32], metavar="N")
    parser.add_argument("--ratio", default="4")
    parser.add_argument("--epsilon", help="instead of a ratio: 128 bits of e^epsilon")
    parser.add_argument("--loss", default="absolute", choices=["absolute", "squared", "zero-one"])
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
