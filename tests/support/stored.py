"""Commands whose outcome at one version is stored, so that later versions can be held to it.

    PYTHONPATH=CHECKOUT/src:tests python -m support.stored FOLDER

runs them all with the library of that checkout, and writes FOLDER/*.json, the ledger and its secret.
"""

import io
import json
import os
import runpy
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from support.commands import irisdp

PATH = {"family": "path", "n": 5}
CYCLE = {"family": "cycle", "n": 6}
SQUARE = {"nodes": ["a", "b", "c", "d"], "edges": [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]}
CUBE = {"family": "hamming", "length": 3, "symbols": 2}
SIDES = {"0": "blue", "1": "blue", "2": "red", "3": "red", "4": "red"}
TURNS = {str(node): [["x", "y", "z"], ["y", "z", "x"], ["z", "x", "y"]][node // 2] for node in range(6)}
R2 = {"ratio": 2}

SPECS = {
    "consumer-absolute": {"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}},
    "consumer-squared": {"kind": "consumer", "n": 4, "loss": "squared", "privacy": {"ratio": "6/5"}},
    "consumer-zero-one": {"kind": "consumer", "n": 4, "loss": "zero-one", "privacy": {"epsilon": 1}},
    "consumer-knows-bounds": {
        "kind": "consumer", "n": 5, "loss": "absolute", "side_information": {"at_least": 1, "at_most": 3},
        "privacy": R2,
    },
    "consumer-knows-a-set": {
        "kind": "consumer", "n": 5, "loss": "absolute", "side_information": [0, 2, 5], "privacy": R2,
    },
    "consumer-prior": {
        "kind": "consumer", "n": 3, "loss": "zero-one", "prior": ["1/4", "1/4", "1/4", "1/4"], "privacy": {"epsilon": 1}
    },
    "consumer-table": {
        "kind": "consumer", "n": 2, "loss": [[0, 1, 3], [1, 0, 1], [3, 1, 0]], "privacy": {"ratio": 3, "delta": "1/10"},
    },
    "consumer-above-32": {"kind": "consumer", "n": 33, "loss": "absolute", "privacy": R2},
    "distance-cycle": {"kind": "distance", "graph": CYCLE, "privacy": {"epsilon": 1}},
    "distance-square": {"kind": "distance", "graph": SQUARE, "privacy": R2},
    "distance-weights": {
        "kind": "distance", "graph": PATH, "weights": ["1/10", "2/10", "3/10", "3/10", "1/10"], "privacy": R2
    },
    "distance-histograms": {
        "kind": "distance", "graph": {"family": "histograms", "total": 3, "types": 2}, "privacy": R2
    },
    "exponential-cube": {"kind": "exponential", "graph": CUBE, "privacy": R2},
    "exponential-path": {"kind": "exponential", "graph": PATH, "privacy": {"epsilon": "0.5"}},
    "exponential-sorted": {
        "kind": "exponential", "graph": {"family": "sorted_histograms", "total": 4, "types": 3}, "privacy": R2
    },
    "geometric": {"kind": "geometric", "n": 6, "privacy": {"epsilon": "0.1"}},
    "geometric-ratio": {"kind": "geometric", "n": 3, "privacy": {"ratio": "6/5"}},
    "randomized-response": {"kind": "randomized-response", "choices": 4, "privacy": {"ratio": 3, "delta": "1/10"}},
    "balanced-line": {"kind": "balanced-line", "n_blue": 3, "n_red": 4, "privacy": {"ratio": 2, "delta": "1/10"}},
    "binary-balanced": {"kind": "binary", "graph": PATH, "colors": SIDES, "privacy": R2},
    "binary-half": {
        "kind": "binary", "graph": PATH, "colors": SIDES, "boundary": "3/5", "privacy": {"ratio": 2, "delta": "0.05"},
    },
    "binary-each": {
        "kind": "binary", "graph": PATH, "colors": SIDES, "boundary": {"1": "1/2", "2": "3/5"}, "privacy": R2
    },
    "rainbow-balanced": {"kind": "rainbow", "graph": CYCLE, "rankings": TURNS, "privacy": R2},
    "rainbow-best": {"kind": "rainbow", "graph": CYCLE, "rankings": TURNS, "boundary": "best", "privacy": R2},
    "rainbow-cube": {
        "kind": "rainbow", "graph": CUBE,
        "rankings": {f"{n:03b}": ["no", "yes"] if n.bit_count() < 2 else ["yes", "no"] for n in range(8)},
        "privacy": {"ratio": 2, "delta": "1/20"},
    },
    "rainbow-rows": {
        "kind": "rainbow", "graph": CYCLE, "rankings": TURNS,
        "boundary": {
            "x>y>z": {"x": "1/2", "y": "1/4", "z": "1/4"},
            "y>z>x": {"x": "1/4", "y": "1/2", "z": "1/4"},
            "z>x>y": {"x": "1/4", "y": "1/4", "z": "1/2"},
        },
        "privacy": R2,
    },
}  # fmt: skip
REFUSED = {
    "binary-infeasible": {
        "kind": "binary", "graph": PATH, "colors": SIDES, "boundary": {"1": 1, "2": 1}, "privacy": R2
    },
    "rainbow-no-optimum": {
        "kind": "rainbow", "graph": {"family": "cycle", "n": 5},
        "rankings": {str(node): [1, 3, 2] if node == 4 else [1, 2, 3] for node in range(5)},
        "boundary": {"0": {"1": ".2", "2": ".1", "3": ".7"}, "3": {"1": ".4", "2": ".1", "3": ".5"}},
        "privacy": R2,
    },
}  # fmt: skip
FILES = {
    "t.csv": "g,v,u\n" + "".join(f"{g},{v},{u}\n" for g, v, u in [
        ("a", 1, 1), ("a", 0, 1), ("a", 1, 2), ("b", 1, 3), ("b", 0, 4), ("b", 0, 5), ("a", 1, 6), ("c", 0, 7),
        ("", 1, 8), ("b", "", 9),
    ]),
    "groups.csv": "g\na\nb\n",
    "matrix.csv": "2/3,1/3\n1/3,2/3\n",
    "graph.json": json.dumps({"family": "complete", "n": 2}),
    "bare.json": json.dumps({"matrix": [[1, 0], [0, 1]]}),
    "leaky.json": json.dumps({"privacy": {"ratio": 2}, "graph": {"family": "complete", "n": 2},
                              "matrix": [["3/4", "1/4"], ["1/3", "2/3"]]}),
    "floats.json": json.dumps({"privacy": {"epsilon": "1.9"}, "graph": {"family": "complete", "n": 2},
                               "matrix": [[0.7, 0.1, 0.2], [0.1, 0.7, 0.2]]}),
    "prior.json": json.dumps(["1/8", "1/8", "1/4", "1/4", "1/8", "1/8"]),
    "loss.json": json.dumps([[0, 1, 3], [1, 0, 1], [3, 1, 0]]),
    "nothing.csv": "",
    **{f"{name}.spec.json": json.dumps(spec) for name, spec in (SPECS | REFUSED).items()},
    "unknown-kind.spec.json": json.dumps({"kind": "unheard of", "privacy": R2}),
    "no-n.spec.json": json.dumps({"kind": "geometric", "privacy": R2}),
    "no-privacy.spec.json": json.dumps({"kind": "geometric", "n": 3}),
    "extra.spec.json": json.dumps({"kind": "geometric", "n": 3, "privacy": R2, "extra": 1}),
    "cubic.spec.json": json.dumps({"kind": "consumer", "n": 3, "loss": "cubic", "privacy": R2}),
}  # fmt: skip

DESIGNS = {name: f"design {name}.spec.json --json" for name in SPECS | REFUSED}
AUDITS = {
    **{name: f"audit {name}.json --json" for name in SPECS},
    "stricter": "audit geometric.json --epsilon 0.09 --json",
    "stricter-with-delta": "audit geometric.json --epsilon 0.09 --delta 1/2 --json",
    "matrix": "audit matrix.csv --graph graph.json --ratio 2 --json",
    "matrix-stricter": "audit matrix.csv --graph graph.json --ratio 1.9 --json",
    "leaky": "audit leaky.json --json",
    "floats": "audit floats.json --json",
}
BY = "--by g --groups a,b"
# In this order, about one ledger. Neighbouring relation, unit and public columns stay the same in each ledger.
PUBLICATIONS = {
    "count": ["count", "--epsilon", "1"],
    "count-again": ["count", "--epsilon", "1"],
    "count-where": ["count", "v = 1", "--ratio", "2"],
    "count-by": ["count", "v = 1", *BY.split(), "--epsilon", "1/2"],
    "count-file-of-groups": ["count", "--by", "g", "--groups", "groups.csv", "--epsilon", "1"],
    "selected": ["count", "--by", "g", "--select-groups", "--epsilon", "1", "--delta", "1/10"],
    "selected-at": [
        "count", "--by", "g", "--select-groups", "--epsilon", "1", "--selection-epsilon", "2", "--selection-delta",
        "0.2",
    ],
    "at-least": ["at-least", "3", "--epsilon", "1"],
    "at-least-by": ["at-least", "2", "v = 1", *BY.split(), "--ratio", "3", "--delta", "1/10"],
    "majority": ["majority", "v = 1", "--epsilon", "1"],
    "majority-by": ["majority", "v = 1", *BY.split(), "--epsilon", "1", "--delta", "1/20"],
    "audiences": ["count", *BY.split(), "--audience", "board=2", "--audience", "press=0.5"],
    "exchange": ["count", "v = 1", "--relation", "exchange", "--epsilon", "1", "--ledger", "e.ledger"],
    "exchange-by": [
        "majority", "v = 1", *BY.split(), "--relation", "exchange", "--epsilon", "1", "--ledger", "e.ledger",
    ],
    "public": [
        "count", "v = 1", *BY.split(), "--relation", "exchange", "--public-membership", "--epsilon", "1", "--ledger",
        "p.ledger",
    ],
    "unit": ["count", "v = 1", "--unit", "u", "--at-most", "1", "--epsilon", "1", "--ledger", "u.ledger"],
    "unit-by": [
        "majority", "v = 1", *BY.split(), "--unit", "u", "--at-most", "1", "--epsilon", "1", "--ledger", "u.ledger",
    ],
}  # fmt: skip
LEDGERS = {"t.ledger": "ledger t.ledger --json", "limited.ledger": "ledger limited.ledger --limit 3,1/10 --json"}
INTERPRETATIONS = {
    "value": "count.csv.release.json --value 7",
    "at-most": "count.csv.release.json --value 7 --at-most 10",
    "at-least": "count.csv.release.json --value 2 --at-least 1 --at-most 6 --loss squared",
    "zero-one": "count-where.csv.release.json --value 3 --at-most 6 --loss zero-one",
    "prior": "count.csv.release.json --value 4 --prior prior.json",
    "asymmetric": "count.csv.release.json --value 4 --at-most 8 --loss asymmetric:1:3",
    "threshold": "count.csv.release.json --value 4 --at-most 8 --loss threshold:1",
    "excess": "count-by.csv.release.json --value 4 --at-most 8 --loss excess:1",
    "exchange": "exchange.csv.release.json --value 4 --loss absolute",
    "audience": "audiences.board.csv.release.json --value 1 --at-most 5",
    "mechanism": "geometric.json --value 2 --at-most 4",
}
ERRORS = {
    "no data": "publish",
    "missing file": "publish none.csv count --epsilon 1",
    "unknown ending": "publish t.xlsx count --epsilon 1",
    "file without columns": "publish nothing.csv count --epsilon 1",
    "no query": "publish t.csv --epsilon 1",
    "unknown query": "publish t.csv total v --epsilon 1",
    "K in words": "publish t.csv at-least many --epsilon 1",
    "majority of nothing": "publish t.csv majority --epsilon 1",
    "syntax error": ["publish", "t.csv", "count", "v = = 1", "--epsilon", "1"],
    "unknown column": ["publish", "t.csv", "count", "w = 1", "--epsilon", "1"],
    "subquery": ["publish", "t.csv", "count", "v = (SELECT 1)", "--epsilon", "1"],
    "aggregate": ["publish", "t.csv", "count", "sum(v) > 1", "--epsilon", "1"],
    "no epsilon": "publish t.csv count",
    "epsilon and ratio": "publish t.csv count --epsilon 1 --ratio 2",
    "NaN epsilon": "publish t.csv count --epsilon nan",
    "negative epsilon": "publish t.csv count --epsilon=-1",
    "ratio below one": "publish t.csv count --ratio 9/10",
    "delta of one": "publish t.csv count --epsilon 1 --delta 1",
    "by without groups": "publish t.csv count --by g --epsilon 1",
    "groups without by": "publish t.csv count --groups a,b --epsilon 1",
    "selection without delta": "publish t.csv count --by g --select-groups --epsilon 1",
    "unknown group column": "publish t.csv count --by w --groups a --epsilon 1",
    "groups twice": "publish t.csv count --by g --groups a,b,a --epsilon 1",
    "unknown relation": "publish t.csv count --relation swap --epsilon 1",
    "unknown unit": "publish t.csv count --unit w --epsilon 1",
    "unknown output": "publish t.csv count --epsilon 1 --out a.xlsx",
    "no such ledger": "ledger none.ledger",
    "limit in words": "ledger new.ledger --limit much",
    "over the limit": "publish t.csv count --epsilon 5 --ledger limited.ledger --secret key --json",
    "missing mechanism": "sample none.json --input 0",
    "unknown input": "sample geometric.json --input 70",
    "draws in words": "sample geometric.json --input 0 -n many",
    "no graph": "audit bare.json --epsilon 1",
    "no mechanism": "audit t.csv",
    "unknown kind": "design unknown-kind.spec.json",
    "no n": "design no-n.spec.json",
    "no privacy": "design no-privacy.spec.json",
    "unknown field": "design extra.spec.json",
    "unknown loss of a spec": "design cubic.spec.json",
    "unknown loss": "interpret count.csv.release.json --value 1 --loss cubic",
    "value in words": "interpret count.csv.release.json --value many",
    "bounds cross": "interpret count.csv.release.json --value 1 --at-least 5 --at-most 2",
    "unknown option": "publish t.csv count --epsilon 1 --frobnicate",
    "unknown command": "frobnicate",
}


def prepare():
    """Write the files that the commands read into this folder."""
    for name, text in FILES.items():
        Path(name).write_text(text)


def publishing(name, *options):
    """Return the command that publishes what has that name."""
    return ["publish", "t.csv", *PUBLICATIONS[name], "--secret", "key", *options]


def outcome(command):
    """Return status and document of a command; or its line where it ends without a document."""
    ended = irisdp(command)
    told = {"status": ended.status}
    if ended.out:
        told["document"] = ended.document
    if ended.err:
        told["line"] = ended.line
    return told


def verdict(verifier, name):
    """Return the status that the stand-alone verifier ends with on a file."""
    arguments, sys.argv = sys.argv, [str(verifier), name]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            runpy.run_path(str(verifier), run_name="__main__")
    except SystemExit as ended:
        return ended.code or 0
    finally:
        sys.argv = arguments
    return 0


def record(folder):
    """Run all commands in an empty folder with the library at hand, and store what they did."""
    import irisdp as library

    verifier = Path(library.__file__).parent / "certify" / "verify_mechanism.py"
    prepare()
    kept = {}
    kept["designs"] = {name: outcome(command) for name, command in DESIGNS.items()}
    for name in SPECS:
        Path(f"{name}.json").write_text(json.dumps(kept["designs"][name]["document"]))
    kept["audits"] = {name: outcome(command) for name, command in AUDITS.items()}
    kept["verdicts"] = {f"{name}.json": verdict(verifier, f"{name}.json") for name in [*SPECS, "leaky", "floats"]}
    kept["plans"] = {name: outcome(publishing(name, "--dry-run", "--json")) for name in PUBLICATIONS}
    kept["publications"] = {name: outcome(publishing(name, "--json", "--out", f"{name}.csv")) for name in PUBLICATIONS}
    kept["sidecars"] = {path.name: json.loads(path.read_text()) for path in sorted(Path().glob("*.release.json"))}
    kept["ledgers"] = {name: outcome(command) for name, command in LEDGERS.items()}
    kept["interpretations"] = {name: outcome(f"interpret {rest} --json") for name, rest in INTERPRETATIONS.items()}
    kept["errors"] = {name: outcome(command) for name, command in ERRORS.items()}
    for name, document in kept.items():
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text.replace('},"', '},\n"') + "\n")
    shutil.copy("t.ledger", folder / "t.ledger")
    (secret,) = Path().glob("*.irisdp-secret")
    shutil.copy(secret, folder / secret.name.removeprefix("."))
    print({name: [case for case, told in document.items() if isinstance(told, dict) and told.get("status")]
           for name, document in kept.items() if name != "errors"})  # fmt: skip


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        record(target)
