"""Check a mechanism file without trusting whoever wrote it:  python verify_mechanism.py MECH.json

A mechanism is a table of probabilities: one row for every input, one column for every output. The file says how private
it is on a graph, whose edges join the inputs that must not be told apart; it may also say that no private mechanism
serves some goal better. All claims are recomputed in exact rationals: yes (exit status 0) or no (1), and why; 2 means
that this is not a mechanism file. Nothing but Python's standard library is needed.
 1. Rows: every row in use has no negative entry and sums to exactly 1.
 2. Privacy: with the ratio r and the δ stated, every edge {i, j} has, both ways, Σ_v max(0, x_iv − r·x_jv) ≤ δ. That is
    P_i(event) ≤ r·P_j(event) + δ for every event. A file that states ε means r = e^ε rounded down to 128 bits after the
    leading one: so "yes" implies privacy at the true e^ε, and "no" that an r within 2^-128 of it is broken.
 3. Seal: a certificate carries the SHA-256 of all the rest of the file, so that no edit goes unnoticed.
 4. Optimality: the goal's value is recomputed from the rows, and so is the bound that the certificate proves, by weak
    duality or by a theorem whose hypotheses are checked on this very table. The proofs are in the project's proofs/.
 5. Scope: a bound is printed with the mechanisms it speaks of, as derived from the proof, whatever the file says. Where
    rows were taken as given (usually those on the boundary), others with other rows there may well be better.
All is said of the graph and the privacy in the file, which are printed: whether they are the right ones is for you.
"""

# fmt: off
# ruff: noqa: B905, D101, D103, E401, E731, I001 -- one page of mathematics
# mypy: ignore-errors
import hashlib, json, re, sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate, chain, combinations, islice, pairwise, product
from operator import mul, ne
NUMBER = re.compile(r"[+-]?(\d+(/0*[1-9]\d*)?|(\d+\.\d*|\.\d+|\d+)([eE][+-]?0*([0-3]?\d{1,3}|4000))?)", re.ASCII)
ALL, SAME = "all private mechanisms", "mechanisms with these boundary rows"
LOSSES = {"absolute": lambda i, v: abs(i - v), "squared": lambda i, v: (i - v) ** 2, "zero-one": ne}

def insist(holds, reason):
    if not holds:
        raise ValueError(reason)

def number(value):
    """Read 3, "3", "0.25", "1e-9" or "3/10" exactly; a JSON number is the decimal it is written as."""
    text = str(value).strip() if isinstance(value, (int, str, Decimal)) and not isinstance(value, bool) else ""
    insist(len(text) <= 8000 and NUMBER.fullmatch(text), f"{text[:40]!r} is no number")
    return Fraction(text)

def whole(value, least, most=10**7):
    read = number(value)
    insist(read.denominator == 1 and least <= read <= most, f"{value} is not a whole number from {least} to {most}")
    return int(read)

def listed(value, length=None):
    insist(isinstance(value, list) and length in (None, len(value)), "a list is missing or has the wrong length")
    return value

def name(value):
    insist(isinstance(value, (str, int, list)) and not isinstance(value, bool), "a name is no string, integer or list")
    return tuple(map(name, value)) if isinstance(value, list) else value

def ratio_of_epsilon(epsilon):
    """Return e^ε rounded down to 128 bits after the leading one."""
    insist(0 <= epsilon <= 1000, "epsilon must lie between 0 and 1000")
    top = bottom = 1
    for k in range(510 + 8 * int(epsilon), 0, -1):  # Taylor's series by Horner's rule; the rest is below 2^-700
        bottom *= k * epsilon.denominator
        top = top * epsilon.numerator + bottom
    low = (top << 700) // bottom
    drop = low.bit_length() - 129
    insist(epsilon == 0 or low >> drop == low + 2 >> drop, "e^epsilon is too close to a number of 128 bits")
    return Fraction(low >> drop << drop, 1 << 700)

def histograms(total, types, most=None):
    """Yield the ways to sort records into types; given `most`, only those with counts descending from it."""
    top, low = (total, 0) if most is None else (min(total, most), -(-total // types))
    for first in range(top, low - 1, -1) if types > 1 else [total]:
        for rest in histograms(total - first, types - 1, None if most is None else first) if types > 1 else [()]:
            yield (first, *rest)
exchanges = lambda nodes, *_: ((a, b) for a, b in combinations(nodes, 2) if sum(abs(c - d) for c, d in zip(a, b)) == 2)
FAMILIES = {  # the sizes, the nodes in order, the edges; words of more than ten symbols are written with commas
    "path": (["n"], range, lambda nodes, _: pairwise(nodes)),
    "cycle": (["n"], range, lambda nodes, _: zip(nodes, nodes[1:] + nodes[:1])),
    "complete": (["n"], range, lambda nodes, _: combinations(nodes, 2)),
    "hamming": (["length", "symbols"],
                lambda n, m: map(("," if m > 10 else "").join, product(map(str, range(m)), repeat=n)),
                lambda nodes, n, m: ((a, b) for a, b in combinations(nodes, 2) if sum(
                    map(ne, *(word.split(",") if m > 10 else word for word in (a, b)))) == 1)),
    "histograms": (["total", "types"], histograms, exchanges),
    "sorted_histograms": (["total", "types"], lambda n, m: histograms(n, m, n), exchanges)}

def graph_of(spec, size):
    """Return the set of neighbours of every node; edges from a node to itself are dropped."""
    if "family" in spec:
        keys, nodes_of, edges_of = FAMILIES[spec["family"]]
        insist(set(spec) == {"family", *keys}, "the family's sizes are others")
        sizes = [whole(spec[key], 0 if key == "total" else 1) for key in keys]
        nodes = list(islice(nodes_of(*sizes), size + 1))
        nodes = sorted(nodes, key=lambda h: h[::-1]) if spec["family"] == "sorted_histograms" else nodes
        edges = edges_of(nodes, *sizes) if len(nodes) == size else ()
    else:
        edges = [tuple(map(name, listed(edge, 2))) for edge in listed(spec["edges"])]
        ends = list(dict.fromkeys(chain(*edges)))
        ends = sorted(ends) if all(isinstance(end, int) for end in ends) else ends
        nodes = ends if spec.get("nodes") is None else list(map(name, listed(spec["nodes"])))
    near = {node: set() for node in nodes}
    insist(len(near) == len(nodes) == size, "the graph's nodes must be the inputs, each once")
    for a, b in edges:
        near[a] |= {b} - {a}
        near[b] |= {a} - {b}
    return near

class Mechanism:
    def __init__(self, file):
        """Read exact numbers and check shapes; nothing that is read is believed."""
        insist(file.get("format", "irisdp/mechanism/1") == "irisdp/mechanism/1", "the format is another one")
        self.document, privacy, self.rows, self.given, self.about = file, file["privacy"], [], set(), ""
        insist(set(privacy) - {"delta"} in ({"epsilon"}, {"ratio"}), "privacy must state epsilon or ratio, and delta")
        self.ratio = number(privacy["ratio"]) if "ratio" in privacy else ratio_of_epsilon(number(privacy["epsilon"]))
        self.delta = number(privacy.get("delta", 0))
        insist(self.ratio >= 1 and 0 <= self.delta < 1, "ratio must be at least 1, delta at least 0 and below 1")
        [(form, lines)] = [(key, listed(file[key])) for key in ("matrix", "rows", "factors") if key in file]
        if form == "factors":  # the geometric mechanism on 0..n, then perhaps a reading of each z as r with p
            insist(len(lines) in (1, 2) and lines[0]["kind"] == "geometric", "factors must be geometric and a reading")
            width = whole(lines[0]["n"], 0) + 1
            self.reading = [Counter() for _ in range(width)]
            for z, r, p in listed(lines[1]["reading"]) if len(lines) == 2 else [[z, z, 1] for z in range(width)]:
                insist(number(p) >= 0, "a reading has a negative probability")
                self.reading[whole(z, 0, width - 1)][whole(r, 0, width - 1)] += number(p)
            insist(all(sum(line.values()) == 1 for line in self.reading), "a reading must spread probability 1")
            file = {"inputs": list(range(width)), "graph": file.get("graph") or {"family": "path", "n": width}}
        else:
            rows = [tuple(map(number, listed(line))) for line in lines]
            [width] = set(map(len, rows)) - {0}
            self.rows = [rows[whole(k, 0, len(rows) - 1)] for k in listed(file["row_of"])] if form == "rows" else rows
        size = len(self.rows) or width
        near = graph_of(file["graph"], size)
        names = lambda key, these: list(these) if file.get(key) is None else list(map(name, listed(file[key])))
        self.inputs, self.outputs = names("inputs", near), names("outputs", range(width))
        insist(len(self.inputs) == size and set(self.inputs) == set(near), "the inputs are not the graph's nodes")
        insist(len(set(self.outputs)) == len(self.outputs) == width, "the outputs must have different names")
        index = {node: i for i, node in enumerate(self.inputs)}
        self.near = [sorted(index[other] for other in near[node]) for node in self.inputs]
        ladder = [[k for k in (i - 1, i + 1) if 0 <= k < size] for i in range(size)]
        self.counts = self.inputs == self.outputs == list(range(size)) and self.near == ladder
        insist(self.rows or self.counts, "factors speak of the path 0..n")

    def check_privacy(self):
        """Check rows, and closeness once for every two rows that meet. Factors are private: reading costs nothing."""
        for row in set(self.rows):
            insist(min(row) >= 0 and sum(row) == 1, "a row is negative somewhere or does not sum to exactly 1")
        meeting = {(id(row), id(self.rows[j])): (i, j) for i, row in enumerate(self.rows) for j in self.near[i]}
        for i, j in meeting.values():
            needed = sum(p - self.ratio * q for p, q in zip(self.rows[i], self.rows[j]) if p > self.ratio * q)
            insist(needed <= self.delta, f"the neighbours {self.inputs[i]} and {self.inputs[j]} are not close")

    def read_goal(self, c):
        """Read what is minimised: Σ w_i·L_i or max L_i over the side information, L_i = Σ_v loss(i, v)·x_iv."""
        n, loss, worst = len(self.inputs), c["loss"], c["aggregate"] == "worst"
        self.named = loss["name"] if isinstance(loss, dict) else None
        if self.named == "graph-distance":
            loss = [self.spread({i: 0}, lambda d: d + 1, n) for i in range(n)]
            insist(self.inputs == self.outputs and n not in chain(*loss), "distances need a connected graph")
        elif self.named:
            loss = [[int(LOSSES[self.named](i, v)) for v in self.outputs] for i in self.inputs]
        self.loss = [list(map(number, listed(line, len(self.outputs)))) for line in listed(loss, n)]
        self.weights = list(map(number, listed(c["weights"], n)))
        among = {whole(k, 0, n - 1) for k in listed(c.get("side_information", list(range(n))))} if worst else range(n)
        known = sum(self.weights) == sum(self.weights[i] for i in among) == 1 if worst else c["aggregate"] == "average"
        positive = min(self.weights) >= 0 and (self.rows or min(map(min, self.loss)) >= 0)
        insist(known and positive, "weights (and losses of factors) are at least 0; a worst case needs a prior")
        each, of = (max, lambda i: 1) if worst else (sum, self.weights.__getitem__)
        self.goal = lambda row: each(of(i) * sum(map(mul, self.loss[i], row(i))) for i in among)
        counted = [i for i in among if worst or self.weights[i]]
        least, most = (each([of(i) * pick(self.loss[i]) for i in counted], **{} if worst else {"start": 0})
                       for pick in (min, max))
        always = [each([0] * (not worst) + [of(i) * x[v] for i, x in enumerate(self.loss) if i in among])
                  for v in range(len(self.outputs))]
        answer, how = always.index(min(always)), f"{self.named or 'tabled'} loss over {len(counted)} of {n} inputs"
        self.about = (f"the largest expected {how}" if worst else f"the expected {how}, added up with weights of "
                      f"{show(sum(self.weights))} in all") + (
            "; it is the same for every mechanism and compares nothing" if least == most else
            f"; {show(least)} without privacy, {show(min(always))} by always answering {self.outputs[answer]!r}")

    def spread(self, start, step, most):
        """Return the smallest values, at most `most`, that reach every input from `start`, a `step` for every edge."""
        found, queue = [start.get(i, most) for i in range(len(self.near))], list(start)
        for i in queue:
            for j in self.near[i]:
                if j not in start and step(found[i]) < found[j]:
                    found[j] = step(found[i])
                    queue.append(j)
        return found

    def released(self, up):
        """Return G_{n,α} as a function of i and z, α = b/a = 1/r; where powers are long, rounded down, or up."""
        n, a, b = len(self.inputs) - 1, self.ratio.numerator, self.ratio.denominator
        fixed = accumulate(range(n), lambda x, _: x * b // a + up, initial=1 << 512)
        long = n * a.bit_length() > 20000
        power = [Fraction(x, 1 << 512) for x in fixed] if long else [Fraction(b, a)**d for d in range(n + 1)]
        return lambda i, z: power[abs(z - i)] * Fraction(a if z in (0, n) else a - b, a + b if n else a)

    def dual(self, c):
        """Every private x has a goal ≥ Σ_i min_v [w_i·loss(i,v) + Σ_j (λ_ij,v − r·λ_ji,v)] − δ·Σ_ij max_v λ_ij,v."""
        score, largest, seen = [[w * x for x in line] for w, line in zip(self.weights, self.loss)], Counter(), set()
        for entry in listed(c["multipliers"]):
            i, j, v = (whole(k, 0) for k in listed(entry, 4)[:3])
            insist(j in self.near[i] and (i, j, v) not in seen, "a multiplier is on no edge, or comes twice")
            insist((size := number(entry[3])) >= 0, "a multiplier is negative")
            seen.add((i, j, v))
            score[i][v] += size
            score[j][v] -= self.ratio * size
            largest[i, j] = max(size, largest[i, j])
        return None, sum(map(min, score)) - self.delta * sum(largest.values())

    def geometric(self, c):
        """Compare with G_{n,1/r}; or some reading of it serves the goal as well as any private mechanism."""
        entry, everyone, bound = self.released(0), range(len(self.inputs)), 0
        insist(self.counts and self.delta == 0, "needs the path 0..n and delta 0")
        if c["theorem"] == "geometric":
            unread = self.rows or self.reading == [Counter([z]) for z in everyone]
            insist(unread and "loss" not in c, "say geometric-reading")
            return [[entry(i, z) for z in everyone] for i in everyone], None
        grow = all(min(x) == x[i] >= 0 and x == sorted(x[:i])[::-1] + sorted(x[i:]) for i, x in enumerate(self.loss))
        insist(grow, "losses must grow with distance on both sides of the truth")
        for z in everyone:
            mass = [w * entry(i, z) for i, w in enumerate(self.weights)]
            total, first, second = (sum(i**k * m for i, m in enumerate(mass)) for k in range(3))
            bound += min({  # Σ_i mass_i·loss(i, v) for every v
                "zero-one": (total - m for m in mass),
                "absolute": accumulate((2 * below - total for below in accumulate(mass)), initial=first),
                "squared": (second - 2 * v * first + v * v * total for v in everyone),
                None: (sum(map(mul, mass, column)) for column in zip(*self.loss))}[self.named])
        return None, bound

    def rainbow(self, c):
        """An event that has probability s at an input whose row is given has at most u^t(s) at t steps from it."""
        q, n, kind, every = len(self.outputs), len(self.inputs), c["theorem"], range(len(self.outputs))
        insist(kind in ("randomized-response", "balanced-line", "homogeneous-rainbow", "rainbow"), "unknown theorem")
        if kind == "randomized-response":  # adding up x_ii ≤ r·x_ji + δ over all i ≠ j bounds the mean of the truths
            c = {**c, "rankings": [[i, *range(i), *range(i + 1, q)] for i in every], "ranking_of": list(every)}
            uniform = {1 / Fraction(q)}, [[i != v for v in every] for i in every]
            plain = "loss" not in c or ({*self.weights}, self.loss) == uniform
            insist(1 < q == n == 1 + min(map(len, self.near)) and plain, "needs a complete graph and zero-one loss")
        rankings = [[whole(v, 0, q - 1) for v in listed(line, q)] for line in listed(c["rankings"])]
        insist(self.rows and all(len(set(line)) == q for line in rankings), "a ranking must list every output once")
        ranking_of = [rankings[whole(k, 0, len(rankings) - 1)] for k in listed(c["ranking_of"], n)]
        boundary = [i for i in range(n) if any(ranking_of[j] != ranking_of[i] for j in self.near[i])]
        start = {whole(i, 0, n - 1): self.rows[i] for i in (listed(c["fixed"]) if kind == "rainbow" else boundary)}
        lie = (1 - self.delta) / (self.ratio + q - 1)
        balanced = {i: [1 - (q - 1) * lie if v == ranking_of[i][0] else lie for v in every] for i in boundary}
        if kind == "randomized-response":
            start = balanced
        else:  # the bound is one on the mechanisms that share these rows of the file
            self.given, self.off_boundary = set(start), set(start) - set(boundary)
        if kind == "balanced-line":
            away = max((abs(p - b) for i in boundary for p, b in zip(start[i], balanced[i])), default=0)
            insist(away <= number(c.get("within", 0)), "the boundary rows are not the balanced ones")
        u = cache(lambda s: min(Fraction(1), self.ratio * s + self.delta, 1 - (1 - s - self.delta) / self.ratio))
        most = cache(lambda event: self.spread({b: sum(x[v] for v in event) for b, x in start.items()}, u, Fraction(1)))
        best = []
        for i, ranking in enumerate(ranking_of):
            sums = [0, *(most(frozenset(ranking[:k]))[i] for k in range(1, q + 1))]
            best.append([p for _, p in sorted(zip(ranking, (b - a for a, b in pairwise(sums))))])
            insist("loss" not in c or sorted(self.loss[i]) == [self.loss[i][v] for v in ranking], "loss?")
        return best, self.goal(best.__getitem__) if "loss" in c else None

    def pullback(self, c):
        """Averaging over the inputs that share an inner one keeps privacy and goal, if the query is equitable."""
        inner = Mechanism(c["mechanism"])
        query = [whole(k, 0, len(inner.inputs) - 1) for k in listed(c["query"], len(self.inputs))]
        here, there = ((m.ratio, m.delta, m.outputs) for m in (self, inner))
        insist(here == there and self.rows == [inner.rows[k] for k in query], "the inner mechanism is another one")
        around = [Counter(query[j] for j in near if query[j] != k) for k, near in zip(query, self.near)]
        below = dict(zip(query, around))
        insist(around == [below[k] for k in query], "the query is not equitable")
        insist([sorted(below[k]) for k in range(len(inner.near))] == inner.near, "the query does not meet every edge")
        value, bound, _ = inner.prove()
        self.goal, self.about = lambda rows: value, inner.about and inner.about + " of the inner mechanism"
        self.given = {i for i, k in enumerate(query) if k in inner.given}
        self.off_boundary = {i for i in self.given if query[i] in inner.off_boundary}
        return None, bound

    def prove(self):
        """Return the goal's value, the bound proven on it, and how far the rows are from a theorem's; or None."""
        c, objective = self.document["certificate"], self.document.get("objective")
        unsealed = {**self.document, "certificate": {key: c[key] for key in c if key != "digest"}}
        text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
        insist(c["digest"] == hashlib.sha256(text.encode()).hexdigest(), "the file was changed after it was sealed")
        kind = {"dual": "dual", "theorem": c.get("theorem")}[c["kind"]]
        if kind == "dual" or "loss" in c:
            self.read_goal(c)
        proofs = {"dual": self.dual, "pullback": self.pullback, "geometric": self.geometric}
        best, bound = proofs.get("geometric" if kind == "geometric-reading" else kind, self.rainbow)(c)
        off = best and max((abs(p - b) for row, line in zip(self.rows, best) for p, b in zip(row, line)), default=0)
        insist((off or 0) <= number(c.get("within", 0)), "the rows are not the theorem's")
        entry = self.released(1)
        if not self.rows and bound is not None:  # a z costs what its reading costs, and the value is an upper bound
            self.loss = [[sum(p * x[r] for r, p in line.items()) for line in self.reading] for x in self.loss]
        row = lambda i: self.rows[i] if self.rows else [entry(i, z) for z in range(len(self.near))]
        value = None if bound is None else self.goal(row)
        insist((objective is None) == (value is None), "an objective and the certificate's goal must come together")
        if objective is not None:
            stated, lower = number(objective["value"]), objective.get("lower_bound")
            insist(stated == value or (stated > value and not self.rows), "the objective's value is another")
            insist(lower is None or number(lower) <= bound, "the lower bound is more than the certificate proves")
        self.among = SAME if self.given else ALL
        insist(c.get("among") in (None, SAME, self.among), "the scope is wider than what the certificate proves")
        return value, bound, off

    def scope(self):
        """Say which mechanisms the bound speaks of."""
        off, n, given = len(self.given and self.off_boundary), len(self.inputs), len(self.given)
        rows = f" (rows taken as given at {given} of {n} inputs" + (f", {off} of them not on the boundary" * (off > 0))
        return self.among + (rows + (": nothing is left to compare)" if given == n else ")") if self.given else "")

def show(value):
    """Write a number for people; a decimal of nine digits."""
    try:
        return f"{float(value):.9g}"
    except OverflowError:
        return "a number beyond 1e308"

def main(path=""):
    status = 2
    try:
        once = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else insist(False, "a key comes twice")
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=Decimal, parse_constant=number, object_pairs_hook=once)
        mechanism, status = Mechanism(document), 1
        mechanism.check_privacy()
        value, bound, off = mechanism.prove() if document.get("certificate") is not None else (None, None, None)
    except Exception as problem:
        print("no:" if status == 1 else "not a mechanism file:", problem if len(problem.args) == 1 else repr(problem))
        return status
    edges, n = sum(map(len, mechanism.near)) // 2, len(mechanism.inputs)
    print(f"yes: private on every edge (inputs: {n}, edges: {edges}{'' if edges else ', so nothing is compared'};"
          f" ratio {show(mechanism.ratio)}, delta {show(mechanism.delta)})")
    if off is not None:
        print(f"  rows: the theorem's up to {show(off)}")
    if document.get("certificate") is None:
        print("  optimality: nothing is claimed")
    elif value is None:
        how = "read well, serves every consumer whose loss grows with distance as well as any of"
        how = "the first choices are as probable together as in any of" if mechanism.given else how
        print(f"  no goal is stated; this mechanism: {how} {mechanism.scope()}")
    else:
        print(f"  goal: {mechanism.about}\n  value {show(value)}, at most {show(value - bound)} above the best"
              f" (bound {show(bound)})\n  best among: {mechanism.scope()}")
    return 0

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
