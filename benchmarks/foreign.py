"""What others' matrices claim, and what they are, judged exactly and beside this project's own design.

qif designs Bayesian optima by floating-point linear programs: its matrix is read as the doubles it holds. Needs the
package qif (LGPL; it is called here and nowhere else).
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from qif import mechanism as qif_mechanism

from irisdp import Privacy, audit
from irisdp.certify import matrix_document
from irisdp.design import consumer, repair
from irisdp.graphs import Path


def main() -> None:
    """Design a Bayesian consumer's mechanism with both, audit both, repair the foreign one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20, help="counts 0..n")
    n = parser.parse_args().n
    privacy, graph = Privacy(epsilon="0.5"), Path(n + 1)
    start = time.perf_counter()
    theirs = np.array(
        qif_mechanism.d_privacy.min_loss_given_d(
            np.full(n + 1, 1 / (n + 1)), n + 1, lambda i, j: 0.5 * abs(i - j), lambda i, r: abs(float(i) - float(r))
        )
    )
    their_seconds = time.perf_counter() - start
    start = time.perf_counter()
    ours = consumer(n, "absolute", privacy, prior=[f"1/{n + 1}"] * (n + 1))
    our_seconds = time.perf_counter() - start
    loss = float(sum(theirs[i, r] * abs(i - r) for i in range(n + 1) for r in range(n + 1)) / (n + 1))
    verdict = audit(matrix_document(theirs, graph=graph, privacy=privacy))
    fixed = repair(theirs, graph, privacy)
    print(f"counts 0..{n}, uniform prior, absolute loss, ε = 0.5")
    print(f"  qif   loss {loss:.12f} in {their_seconds:.2f} s; exactly private: {verdict.private},")
    print(f"        rows sum to 1: {verdict.rows_sum_to_one}, δ needed {float(verdict.delta_at_epsilon):.2g},")
    print(f"        ε needed {float(verdict.epsilon_at_delta or 'inf')}, repaired: {audit(fixed).private}")
    gap = float(ours.objective.value - ours.objective.lower_bound)
    value, private = float(ours.objective.value), audit(ours).private
    print(f"  Iris  loss {value:.12f} in {our_seconds:.2f} s; exactly private: {private},")
    print(f"        proved optimal up to {gap:.2g}")


if __name__ == "__main__":
    main()
