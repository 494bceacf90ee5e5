"""The page Check: compare a mechanism file or a bare matrix with its own claims."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from .._child_processes import Phase
from .._exact import json_bytes, json_line, rational_text, short_above, short_text, so_many
from ..certify import Audit, audit, read_mechanism
from ..errors import BadInput
from ..graphs import Complete, DatasetGraph, graph_from_document, graph_from_edges
from ..graphs import Path as Line
from ..mechanisms import Mechanism, MechanismDocument
from ..privacy import Privacy
from .common_fields import as_bytes, upload_field
from .dispatch import answer
from .forms import Field, Tool
from .graph_input import graph_of_text
from .results import Answer, Fact, Hint, Result, ResultFile, Values, at_most, command_line, promised, proved

_FIELDS = (
    upload_field("mechanism", "A mechanism file, or a matrix as .csv, .json or .npy; at most 1 MiB."),
    Field(
        name="mechanism",
        label="Mechanism or matrix",
        kind="area",
        example="3/4, 1/4\n1/4, 3/4",
        help="Or paste it here. A matrix has a line for each input, with the probability of each answer, set apart by"
        " commas, semicolons, tabs or blanks; a first line of words names the answers.",
        also=("*",),
    ),
    Field(
        name="on",
        label="Neighbours are",
        kind="choice",
        default="own",
        choices=(
            ("own", "as the file says"),
            ("path", "inputs next to each other"),
            ("complete", "any two inputs"),
            ("pasted", "as pasted here"),
        ),
        help="A bare matrix says nothing of its neighbours.",
        also=("graph",),
    ),
    Field(
        name="graph",
        label="Graph",
        kind="area",
        example="0 1\n1 2",
        help="An edge on each line, or JSON; nodes are the inputs, in the order of the rows.",
        also=("nodes", "edges", "family"),
        when={"on": ("pasted",)},
    ),
    Field(
        name="epsilon",
        label="ε to judge against",
        kind="number",
        help="Left empty: what the file states.",
        also=("privacy",),
        example="as the file says",
    ),
    Field(name="delta", label="δ to judge against", kind="number", help="Left empty: as with ε.", example="0"),
)


def _answer(values: Values) -> Answer:
    if not values["mechanism"].strip():
        return Hint("Choose a file, or paste a mechanism or a matrix; then press Check.")
    return answer("check", check, values)


CHECK = Tool(
    name="check",
    title="Check",
    summary="Whether a mechanism is one, how private it is on every edge, and whether it is as good as it says: "
    "exactly, also of matrices that other tools wrote.",
    introduction="Upload or paste a mechanism file or a matrix. Every edge is checked in exact arithmetic, and of a "
    "certificate nothing is believed.",
    fields=_FIELDS,
    answer=_answer,
    submit="Check",
    posts=True,
    example=lambda: {"mechanism": "3/4, 1/4\n1/4, 3/4\n", "on": "path", "epsilon": "1.1"},
)


# Compute the page Check in another process: parse like the command line, audit, and word the result.

_MOST_JOINED, _MOST_DRAWN, _MOST_NAMED = 2_000, 10_000, 3
_NUMPY = b"\x93NUMPY"
_KINDS = {".json": "application/json", ".csv": "text/csv", ".npy": "application/octet-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A verdict, and the files and options with which the command line comes to the same."""

    file: ResultFile
    graph: ResultFile | None
    options: dict[str, str]
    document: MechanismDocument
    verdict: Audit


def check(values: Values, say: Phase) -> Result:
    """Audit what was pasted.

    Raises
    ------
    BadInput
        For what is no mechanism or matrix, and where a graph or a privacy is missing.
    """
    say("reading")
    judged = _judge(values, say)
    say("drawing")
    verdict = judged.verdict
    pictures, missing = _pictures(judged)
    files = [judged.file, *([judged.graph] if judged.graph else [])]
    result = ResultFile("audit.json", f"{json_line(verdict.to_document())}\n".encode())
    return Result(
        headline=_headline(verdict),
        verdict="good" if verdict.holds else "bad",
        facts=_facts(judged),
        pictures=pictures,
        files=(result, *files),
        python=_python(judged),
        command=_command(judged),
        notes=missing,
    )


def _judge(values: Values, say: Phase) -> _Judged:
    file = _file(values["mechanism"])
    with tempfile.TemporaryDirectory(prefix="irisdp-explorer-") as folder:
        path = Path(folder) / file.name
        path.write_bytes(file.read())
        try:
            document = read_mechanism(path)
        except BadInput as error:  # pasted text has no path
            told = (part.replace(f"{folder}/", "") for part in (error.rule, error.remedy))
            raise BadInput(error.field, *told) from None
    graph = _graph(values, document)
    if graph is None and document.graph is None:
        raise BadInput("on", "must say which inputs are neighbours: a bare matrix does not", "choose another")
    if graph is not None and graph.number_of_nodes != len(document.inputs):
        nodes, inputs = so_many(graph.number_of_nodes, "node"), so_many(len(document.inputs), "input")
        raise BadInput("graph", f"has {nodes}, and the mechanism has {inputs}", "give a node for each input")
    options = {name: values[name].strip() for name in ("epsilon", "delta") if values[name].strip()}
    if document.privacy is None and "epsilon" not in options:
        raise BadInput("epsilon", "is missing, and the file states none", "give for example 1")
    if graph is not None and not document.source:
        # A bare matrix names no inputs: they are the nodes of the graph. A mechanism file names its own.
        document = replace(document, inputs=graph.nodes, graph=graph)
    say("checking every edge")
    verdict = audit(document, graph=graph, privacy=_privacy(document, options))
    saved = None if graph is None else ResultFile("graph.json", json_bytes(graph.to_document()))
    return _Judged(file=file, graph=saved, options=options, document=document, verdict=verdict)


def _file(text: str) -> ResultFile:
    """Return what was pasted as the file that it is by its first letters."""
    content = as_bytes(text, "mechanism")
    if content.startswith(_NUMPY):
        return ResultFile("matrix.npy", content, _KINDS[".npy"])
    if text.lstrip()[:1] in ("{", "["):
        return ResultFile("mechanism.json" if text.lstrip()[0] == "{" else "matrix.json", content, _KINDS[".json"])
    if text.startswith("base64:"):
        raise BadInput("mechanism", "is neither text nor a NumPy array", "give .json, .csv or .npy")
    return ResultFile("matrix.csv", content, _KINDS[".csv"])


def _graph(values: Values, document: MechanismDocument) -> DatasetGraph | None:
    """Return the graph that was chosen, on the inputs by their names; None for the file's own."""
    how = values["on"]
    if how == "own":
        return None
    if how == "pasted":
        return graph_from_document(graph_of_text(values["graph"])[0])
    if how not in ("path", "complete"):
        raise BadInput("on", "is not one of the choices", "choose own, path, complete or pasted")
    if len(document.inputs) > _MOST_JOINED:
        rule = f"joins at most {_MOST_JOINED:,} inputs here"
        raise BadInput("on", rule, "audit it on the command line, or in Python, for more")
    names = list(document.inputs)
    if not document.source:
        return Line(len(names)) if how == "path" else Complete(len(names))
    pairs = pairwise(names) if how == "path" else combinations(names, 2)
    return graph_from_edges(list(pairs), nodes=names)


def _privacy(document: MechanismDocument, options: dict[str, str]) -> Privacy | None:
    """Return what is judged against, as `irisdp audit` reads --epsilon and --delta."""
    if "epsilon" in options:
        # Of several pairs, none says which δ is meant.
        stated = 0 if document.privacy is None else document.privacy.delta
        return Privacy(epsilon=options["epsilon"], delta=options.get("delta", stated))
    if "delta" in options and document.privacy is not None:
        return document.privacy.with_delta(options["delta"])
    return None


def _headline(verdict: Audit) -> str:
    if not (verdict.rows_sum_to_one and verdict.non_negative):
        return "This is no mechanism: its rows are no probabilities."
    if not verdict.private:
        return f"This does not keep {verdict.privacy}."
    if verdict.optimality is not None and not verdict.optimality.holds:
        return f"This keeps {verdict.privacy}, and its certificate does not hold."
    if verdict.optimality is None:
        return f"This keeps {verdict.privacy}, exactly; of optimality nothing is proved."
    return f"This keeps {verdict.privacy}, exactly, and its certificate holds."


def _facts(judged: _Judged) -> tuple[Fact, ...]:
    verdict = judged.verdict
    edges = "0 edges: nothing is compared" if not verdict.edges else so_many(verdict.edges, "edge")
    alone = ""
    if verdict.alone and verdict.edges:
        alone = f"{so_many(verdict.alone, 'input')} {'has' if verdict.alone == 1 else 'have'} no neighbour"
    facts = [
        Fact("Graph", f"{so_many(verdict.inputs or 0, 'input')}, {edges}", alone),
        Fact("Rows", "Sum to exactly 1" if verdict.rows_sum_to_one else "Do not sum to exactly 1", _sums(judged)),
    ]
    if not verdict.non_negative:
        facts.append(Fact("Entries", "Some are negative"))
    facts += promised(verdict.privacy, kept=verdict.private)
    worst = verdict.pairs[verdict.worst]
    if len(verdict.pairs) > 1:
        kept = sum(pair.holds for pair in verdict.pairs)
        facts.append(Fact("Pairs", f"{kept} of {len(verdict.pairs)} hold", f"the hardest: {worst.pair}"))
    needed = worst.epsilon_at_delta
    facts += [
        Fact("ε needed", *(("None suffices", "at this δ") if needed is None else at_most(needed, 10, "at this δ"))),
        Fact("δ needed", *at_most(worst.delta_at_epsilon, 6, "at this ε")),
    ]
    if verdict.tightest is not None:
        first, second = verdict.tightest.edge
        outputs = ", ".join(map(str, verdict.tightest.outputs[:8])) + ("…" if len(verdict.tightest.outputs) > 8 else "")
        told = f"the answers that tell most: {outputs}" if outputs else ""
        facts.append(Fact("Tightest edge", f"{first} and {second}", told))
    return (*facts, *_optimality(judged))


def _sums(judged: _Judged) -> str:
    """Say of the first rows that do not sum to 1 to what they do."""
    document = judged.document
    if judged.verdict.rows_sum_to_one or document.factored is not None:
        return ""
    sums = {number: sum(row, Fraction(0)) for number, row in enumerate(document.rows)}
    places = [place for place, number in enumerate(document.row_of.tolist()) if sums[number] != 1]
    said = []
    for place in places[:_MOST_NAMED]:
        total = sums[int(document.row_of[place])]
        off = f"{short_above(abs(total - 1), 2)} too {'much' if total > 1 else 'little'}"
        told = short_text(total, 12)
        if told == "1":  # which it is not
            told = f"{'more' if total > 1 else 'less'} than 1"
        said.append(f"row {place + 1} to {told} ({off})")
    more = len(places) - len(said)
    return ", ".join(said) + (f", and {so_many(more, 'other row')}" if more else "")


def _optimality(judged: _Judged) -> list[Fact]:
    verdict, optimality = judged.verdict, judged.verdict.optimality
    if verdict.not_judged:
        return [Fact("Optimality", "Not judged", "the certificate speaks of the file's own graph and privacy")]
    if optimality is None:
        stated = judged.document.objective is not None
        why = (
            "an objective is stated, and no certificate that would prove it"
            if stated
            else "the file has no certificate"
        )
        return [Fact("Optimality", "Nothing is claimed" if not stated else "Not checked", why)]
    return proved(optimality)


def _pictures(judged: _Judged) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Draw the matrix where it is one of probabilities; else say why there is no picture."""
    from ..plots import heat_map

    verdict = judged.verdict
    if not (verdict.rows_sum_to_one and verdict.non_negative):
        missing = "There is no picture: what is drawn are probabilities, and these rows are none."
        repaired = "Rows that a computer rounded are mended by irisdp audit --repair."
        return (), (missing, repaired) if verdict.non_negative else (missing,)
    mechanism = replace(judged.document, privacy=verdict.privacy).mechanism()
    if not isinstance(mechanism, Mechanism) or len(mechanism.inputs) * len(mechanism.outputs) > _MOST_DRAWN:
        return (), ("There is no picture: so many probabilities are not told apart on a page.",)
    return (heat_map(mechanism),), ()


def _command(judged: _Judged) -> str:
    words = ["irisdp", "audit", judged.file.name]
    words += ["--graph", "graph.json"] if judged.graph else []
    words += [f"--{name}={value}" for name, value in judged.options.items()]
    return f"{command_line(words)}\n{command_line([*words, '--json'])} > audit.json"


def _python(judged: _Judged) -> str:
    imports = ["from irisdp.certify import audit, read_mechanism"]
    named, lines = "", []
    if judged.graph:
        imports += ["from irisdp._exact import read_json", "from irisdp.graphs import graph_from_document"]
        lines, named = ['graph = graph_from_document(read_json("graph.json", "graph"))'], ", graph=graph"
    lines.append(f'document = read_mechanism("{judged.file.name}"{named})')
    if "epsilon" in judged.options:
        imports.append("from irisdp.privacy import Privacy")
        delta = rational_text(judged.verdict.privacy.delta)
        named += f", privacy=Privacy(epsilon={judged.options['epsilon']!r}, delta={delta!r})"
    elif "delta" in judged.options:
        named += f", privacy=document.privacy.with_delta({judged.options['delta']!r})"
    return "\n".join([*imports, "", *lines, f"verdict = audit(document{named})", "print(verdict)"])
