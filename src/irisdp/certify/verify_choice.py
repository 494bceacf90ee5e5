"""Check how well the boundary of a mechanism file was chosen:  python verify_choice.py MECH.json

To lie beside verify_mechanism.py, which is run first. A design that takes its boundary rows as given is the best among
the mechanisms with these rows. If it chose them as well, one row for each ranking, its certificate has a "choice", and
this file recomputes the bound that it proves on the goal of every private mechanism whose boundary rows depend on the
ranking alone. With row m on the boundary of a class, the first k + 1 choices have at most u^t(m's first k + 1) at depth
t; so the goal is at least Σ cost − Σ gain_t·u^t(…). u^t is concave, hence below each of its tangents, and what is left
is linear: weak duality between the classes that touch bounds it.
"""

# fmt: off
# ruff: noqa: I001 -- one page of mathematics
# mypy: ignore-errors
import json, sys  # noqa: E401
from collections import Counter
from decimal import Decimal
from fractions import Fraction

try:
    from .verify_mechanism import Mechanism, insist, listed, main, number, show, whole
except ImportError:  # run as a file
    from verify_mechanism import Mechanism, insist, listed, main, number, show, whole

def choice(mechanism, certificate):
    """Return the bound on the goal of a mechanism that verify_mechanism.py has accepted."""
    r, d, q, n = mechanism.ratio, mechanism.delta, len(mechanism.outputs), len(mechanism.inputs)
    insist(certificate["aggregate"] == "average", "a choice of boundary needs an average")
    rankings = [[whole(v, 0, q - 1) for v in line] for line in certificate["rankings"]]
    first = [rankings.index(line) for line in rankings]  # a ranking listed twice is one ranking
    code = [first[whole(k, 0, len(first) - 1)] for k in certificate["ranking_of"]]
    meet = {(code[i], code[j]) for i, near in enumerate(mechanism.near) for j in near if code[i] != code[j]}
    boundary = [i for i, near in enumerate(mechanism.near) if any(code[j] != code[i] for j in near)]
    depth = mechanism.spread(dict.fromkeys(boundary, 0), lambda t: t + 1, n)  # n: no boundary is in reach
    insist(max((t for t in depth if t < n), default=0) <= 1000, "a choice is not checked deeper than 1000")
    bound, gain, share = Fraction(0), {}, Counter()
    for i, t in enumerate(depth):
        cost = [mechanism.weights[i] * mechanism.loss[i][v] for v in rankings[code[i]]]
        bound += cost[-1 if t < n else 0]
        for k in range(q - 1 if t < n else 0):
            gain.setdefault((code[i], k), Counter())[t] += cost[k + 1] - cost[k]
    score = [[Fraction(0)] * q for _ in rankings]
    for entry in listed(certificate["choice"]["tangents"]):
        which, place, point, weight = listed(entry, 4)
        c, k, s, w = first[whole(which, 0, len(first) - 1)], whole(place, 0, q - 2), number(point), number(weight)
        insist((c, k) in gain and 0 <= s <= 1 and w >= 0, "a tangent touches nothing")
        share[c, k] += w
        at, steep = s, Fraction(1)  # u^t(s) and a slope of u^t there
        for t in range(1 + max(gain[c, k])):
            bound -= w * gain[c, k][t] * (at - steep * s)
            for v in rankings[c][:k + 1]:
                score[c][v] -= w * gain[c, k][t] * steep
            steep = steep * r if at < (1 - d) / (r + 1) else steep / r if at < 1 - d else 0
            at = min(Fraction(1), r * at + d, 1 - (1 - at - d) / r)
    insist(set(share.values()) <= {1}, "the weights of the tangents do not sum to 1")
    bound -= sum(sum(gained.values()) for key, gained in gain.items() if key not in share)
    entries = [[*(first[whole(k, 0, len(first) - 1)] for k in listed(entry, 4)[:2]), *entry[2:]]
               for entry in listed(certificate["choice"]["multipliers"])]
    return bound + mechanism.weak(score, entries, lambda a, b: (a, b) in meet)

def check(path=""):
    """Print what is proven; the exit status is that of verify_mechanism.py, or 1 where the choice is not proven."""
    status = main(path)
    if status:
        return status
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=Decimal)
        mechanism = Mechanism(document)
        if document.get("certificate") is None or "choice" not in document["certificate"]:
            print("  choice: nothing is claimed of the boundary rows")
            return 0
        value, _, _ = mechanism.prove()
        bound = choice(mechanism, document["certificate"])
    except Exception as problem:
        print("no:", problem if len(problem.args) == 1 else repr(problem))
        return 1
    print(f"  choice: at most {show(value - bound)} above the best among mechanisms whose boundary rows depend on the"
          f" ranking alone (bound {show(bound)})")
    return 0

if __name__ == "__main__":
    sys.exit(check(*sys.argv[1:]))
