"""`irisdp audit MECH.json`: what a mechanism is, against what it says it is."""

from __future__ import annotations

import json
from collections.abc import Hashable
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._exact import integer, json_bytes, read_json, short_above, short_below, short_text, so_many
from .._files import Output, plan_outputs, write_outputs
from .._frames import printable
from ..errors import BadInput
from .output import AsJson, Force, console, fact, print_json, say, short_path
from .progress_display import waiting

if TYPE_CHECKING:
    from rich.console import Console

    from ..certify import Audit, Optimality
    from ..graphs import DatasetGraph
    from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
    from ..privacy import Privacy


# Show the probabilities of a mechanism as decimals, or the beginning of a large one.

_MOST_INPUTS, _MOST_OUTPUTS = 12, 8
_LONGEST_NAME = 20
_WIDEST = 100_000
"""Outputs of a mechanism given by its factors beyond which even one row takes long."""
_NOTHING = 1e-300
_LEAST = Fraction(1, 20_000)
"""What four decimals would round to 0, or to 1."""


def show_mechanism(view: Any, mechanism: Mechanism | FactoredMechanism | MechanismDocument) -> None:
    """Print the matrix to four decimals: small mechanisms whole, of large ones the first rows and columns, and say so.

    Parameters
    ----------
    view : rich console
    mechanism : Mechanism, FactoredMechanism or MechanismDocument
        Of a document nothing is believed: numbers that are no probabilities are shown as they are.
    """
    from rich.table import Table
    from rich.text import Text

    height, width = len(mechanism.inputs), len(mechanism.outputs)
    rows = _rows(mechanism)
    if rows is None:
        say(view, f"  ({height:,} inputs and {width:,} outputs: too many to show)")
        return
    names = [_name(name) for name in islice(mechanism.outputs, _MOST_OUTPUTS)]
    more = ["…"] * (width > _MOST_OUTPUTS)
    table = Table("input", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in [*names, *more]:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for node, row in zip(islice(mechanism.inputs, _MOST_INPUTS), rows, strict=True):
        table.add_row(Text(_name(node)), *row, *more)
    if height > _MOST_INPUTS:
        table.add_row(*["…"] * (1 + len(names) + len(more)))
    say(view, f"probability of each output, to four decimals{_cut(height, width)}; the exact numbers are in the file")
    view.print(table)


def _rows(mechanism: Mechanism | FactoredMechanism | MechanismDocument) -> list[list[str]] | None:
    """Return the cells of the first rows; none where even these would take long."""
    from ..mechanisms import FactoredMechanism, MechanismDocument

    if isinstance(mechanism, MechanismDocument) and mechanism.factored is not None:
        mechanism = mechanism.factored
    if not isinstance(mechanism, FactoredMechanism):
        chosen = (mechanism.rows[number] for number in mechanism.row_of[:_MOST_INPUTS])
        return [[_decimal(p) for p in row[:_MOST_OUTPUTS]] for row in chosen]
    if len(mechanism.outputs) > _WIDEST:
        return None
    # In floats, where 0 may be a number below every float: shown as less than the last of four decimals.
    lines = (mechanism.approximate_row(node)[:_MOST_OUTPUTS] for node in islice(mechanism.inputs, _MOST_INPUTS))
    return [[_decimal(Fraction(max(float(p), _NOTHING))) for p in line] for line in lines]


def _decimal(p: Fraction) -> str:
    """Write a probability; never 0 or 1 for what is not exactly so."""
    if p in (0, 1):
        return str(p)
    if not 0 < p < 1:
        return short_text(p, 4)
    if p < _LEAST:
        return "<0.0001"
    return ">0.9999" if 1 - p < _LEAST else f"{float(p):.4f}"


def _name(name: Hashable) -> str:
    text = printable(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _cut(height: int, width: int) -> str:
    """Say what of a large table is shown."""
    kinds = (("inputs", height, _MOST_INPUTS), ("outputs", width, _MOST_OUTPUTS))
    parts = [f"the first {most} of {size:,} {kind}" for kind, size, most in kinds if size > most]
    return f", {' and '.join(parts)}" if parts else ""


def sample_command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECH.json", help="A mechanism file.")],
    node: Annotated[str, typer.Option("--input", metavar="NODE", help="Input of the mechanism.")],
    count: Annotated[str, typer.Option("-n", "--count", metavar="N", help="Number of draws.")] = "1",
    as_json: AsJson = False,
) -> None:
    """Draw from a mechanism file exactly, one answer a line. Charges no ledger."""
    from ..graphs import json_node, named_nodes, node_among
    from ..mechanisms import MOST_DRAWS, load

    loaded = load(mechanism)
    chosen = node_among(named_nodes(loaded.inputs), node, "--input")
    names = list(map(json_node, loaded.draw(chosen, integer(count, "-n", at_least=1, at_most=MOST_DRAWS))))
    if as_json:
        print_json({"input": json_node(chosen), "answers": names})
    else:
        typer.echo("\n".join(printable(name if isinstance(name, str) else json.dumps(name)) for name in names))


_REPAIRED = Fraction(1, 10**6)
"""How far from 1 the sums of rows are that `--repair` takes; see `irisdp.design._repair`."""


def audit_command(
    mechanism: Annotated[
        Path, typer.Argument(metavar="MECH.json", help="A mechanism file, or a matrix (.csv, .npy, .json).")
    ],
    graph: Annotated[Path | None, typer.Option(metavar="G.json", help="Check on this graph instead.")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="Check against this ε instead.")] = None,
    ratio: Annotated[str | None, typer.Option(metavar="R", help="Check against this e^ε instead.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Check against this δ instead.")] = None,
    repair: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the nearest mechanism found that is exactly private.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Check the privacy and the certificate of a mechanism exactly. Status 1 if something does not hold."""
    from ..certify import audit, read_mechanism
    from ..graphs import graph_from_document

    judged_on = None if graph is None else graph_from_document(read_json(graph, "--graph"))
    document = read_mechanism(mechanism, graph=judged_on)
    read = [("the mechanism", mechanism), *([] if graph is None else [("the graph", graph)])]
    files = plan_outputs([] if repair is None else [repair], read, field="--repair", force=force)
    against = _privacy(document, epsilon, ratio, delta)
    with waiting("checking every edge"):
        verdict = audit(document, graph=judged_on, privacy=against)
    for target in files:
        with waiting("looking for the nearest that is private"):
            _repair(document, judged_on, verdict, target)
    repaired = [short_path(target.path) for target in files]
    if as_json:
        print_json(verdict.to_document(), status=0 if verdict.holds else 1)
    else:
        _show(mechanism, verdict, document, repaired=bool(repaired))
        show_mechanism(console(), document)
        for path in repaired:
            fact("written", path, width=10)
    return 0 if verdict.holds else 1


def _privacy(document: MechanismDocument, epsilon: str | None, ratio: str | None, delta: str | None) -> Privacy | None:
    """Return the privacy to judge against where an option changes what the file states."""
    from ..privacy import Privacy

    if epsilon is not None and ratio is not None:
        raise BadInput("--epsilon", "says the same as --ratio", "leave one of the two out")
    if epsilon is None and ratio is None:
        if delta is None or document.privacy is None:
            return None
        return document.privacy.with_delta(delta)
    if delta is not None:
        return Privacy(epsilon=epsilon, ratio=ratio, delta=delta)
    # Of several pairs, none says which δ is meant.
    return Privacy(epsilon=epsilon, ratio=ratio, delta=0 if document.privacy is None else document.privacy.delta)


def _repair(document: MechanismDocument, graph: DatasetGraph | None, verdict: Audit, target: Output) -> None:
    from ..design import repair

    where = document.graph if graph is None else graph
    if document.factored is not None or where is None:
        raise BadInput("--repair", "needs a matrix and a graph", "give a matrix file and --graph")
    matrix = [document.rows[number] for number in document.row_of]
    fixed = repair(matrix, where, verdict.privacy, inputs=document.inputs, outputs=document.outputs)
    write_outputs([(target, json_bytes(fixed.to_document()))])


def _show(file: Path, verdict: Audit, document: MechanismDocument, *, repaired: bool) -> None:
    view, stated = console(), document.objective
    held = "holds" if verdict.holds else "DOES NOT HOLD"
    say(view, f"{file}: {held}")
    _show_graph(view, verdict)
    fact("rows", _sums(verdict, document, repaired), width=10)
    if not verdict.non_negative:
        fact("negative", _negative_entry(document), width=10)
    fact("promised", verdict.privacy, width=10)
    _show_pairs(view, verdict)
    if verdict.tightest is not None:
        first, second = verdict.tightest.edge
        fact("tightest", f"{first} and {second}", width=10)
    if verdict.not_judged:
        fact(
            "optimality",
            "not judged: the options replace what the file states, of which its certificate speaks",
            width=10,
        )
    elif verdict.optimality is None:
        unproven = "an objective is stated, and no certificate that would prove it: it was not checked"
        fact("optimality", "nothing is claimed" if stated is None else unproven, width=10)
    else:
        _show_optimality(view, verdict.optimality)


def _sums(verdict: Audit, document: MechanismDocument, repaired: bool) -> str:
    """Say whether rows sum to 1, and what to do where one does not."""
    from ..certify import said_of_sums

    said = said_of_sums(verdict.wrong_row)
    if verdict.rows_sum_to_one:
        return said
    mend = "; give more digits, or quotients such as 1/3"
    if max(abs(sum(row, Fraction(0)) - 1) for row in document.rows) <= _REPAIRED:
        mend = "" if repaired else "; --repair OUT.json writes a mechanism close by whose rows do"
    return said + mend


def _negative_entry(document: MechanismDocument) -> str:
    """Name the first entry below 0."""
    lowest = [min(row) for row in document.rows]
    place, row = next((i, document.rows[number]) for i, number in enumerate(document.row_of) if lowest[number] < 0)
    output, entry = next((v, entry) for v, entry in enumerate(row) if entry < 0)
    return f"the first entry below 0 is that of input {document.inputs[place]}, output {document.outputs[output]}: " + (
        short_text(entry)
    )


def _show_graph(view: Console, verdict: Audit) -> None:
    """Say what was compared: the graph in the file need not be the one that people have in mind."""
    edges = so_many(verdict.edges, "edge") if verdict.edges else "0 edges: nothing is compared"
    alone = ""
    if verdict.alone and verdict.edges:
        alone = f"; {so_many(verdict.alone, 'input')} {'has' if verdict.alone == 1 else 'have'} no neighbour"
    fact("graph", f"{so_many(verdict.inputs or 0, 'input')}, {edges}{alone}", width=10)


def _show_pairs(view: Console, verdict: Audit) -> None:
    """Describe the margin of the claim; of several pairs, that of the one most violated or tightest."""
    worst = verdict.pairs[verdict.worst]
    if len(verdict.pairs) > 1:
        kept = sum(pair.holds for pair in verdict.pairs)
        fact("pairs", f"{kept} of {len(verdict.pairs)} hold", width=10)
        label = "nearest" if worst.holds else "worst"
        fact(label, f"number {verdict.worst + 1}: {worst.pair}", width=10)
    fact("δ needed", f"{short_above(worst.delta_at_epsilon)} at this ε", width=10)
    needed = worst.epsilon_at_delta
    fact("ε needed", f"{'none suffices' if needed is None else short_above(needed, 10)} at this δ", width=10)


def _show_optimality(view: Console, optimality: Optimality) -> None:
    fact("optimality", f"{'holds' if optimality.holds else 'DOES NOT HOLD'}: {optimality.reason}", width=10)
    if optimality.distance is not None:
        fact(
            "rows", f"at most {short_above(optimality.distance)} from the theorem's, of which the rest speaks", width=10
        )
    if optimality.value is None or optimality.lower_bound is None or optimality.gap is None or optimality.goal is None:
        fact("goal", f"none is stated: {optimality.says()}", width=10)
        return
    goal = optimality.goal
    fact("goal", f"{goal.words}, as small as possible", width=10)
    if goal.compares_nothing:
        fact("", "(the same for every mechanism: it compares nothing)", width=10)
    else:
        always = f"always answering {goal.constant_answer!r} reaches {short_text(goal.constant, 10)}"
        free = f"without privacy it could be {short_text(goal.without_privacy, 10)}"
        fact("", f"({free}; {always})", width=10)
    fact("value", short_above(optimality.value, 10), width=10)
    fact("bound", f"{short_below(optimality.lower_bound, 10)}, among {optimality.scope()}", width=10)
    fact("gap", short_above(optimality.gap, 3), width=10)
    if optimality.choice is not None:
        bound = (
            f"{short_below(optimality.choice, 10)}, among mechanisms whose boundary rows depend on the ranking alone"
        )
        fact("choice", f"{bound}; gap {short_above(optimality.value - optimality.choice, 3)}", width=10)


def design_command(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC.json", help="The specification: what to design, and for which goal.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="MECH.json", help="Output file. [default: standard output]")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Design the optimal mechanism for a specification, with a certificate."""
    from ..design import from_spec, progress_to

    wanted = read_json(spec, "spec")
    files = plan_outputs([] if output is None else [output], [("the spec", spec)], field="-o", force=force)
    with waiting("designing", lines=True) as step, progress_to(step):
        mechanism = from_spec(wanted)
    document = mechanism.to_document()
    write_outputs((file, json_bytes(document)) for file in files)
    if as_json or output is None:
        print_json(document)
        return
    view = console()
    say(view, f"{output}: {_summary(mechanism)}")
    show_mechanism(view, mechanism)


def _summary(mechanism: Mechanism | FactoredMechanism) -> str:
    shape = (
        f"{so_many(len(mechanism.inputs), 'input')}, {so_many(len(mechanism.outputs), 'output')}, {mechanism.privacy}"
    )
    objective = mechanism.objective
    if objective is None:
        return shape
    text = f"{shape}; {objective.name} {short_above(objective.value, 10)}"
    if objective.lower_bound is None:
        return f"{text}, not proven optimal"
    gap = objective.value - objective.lower_bound
    proved = "proved optimal" if mechanism.certificate is not None else "optimal (too large for a certificate)"
    among = (mechanism.certificate or {}).get("among")
    proved += f" among {among}" if among and among not in objective.name else ""
    return f"{text}, {proved}" + (" exactly" if gap == 0 else f" up to {short_above(gap, 2)}")
