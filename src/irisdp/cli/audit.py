"""`irisdp audit MECH.json`: what a mechanism is, against what it says it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import BadInput
from ..exact import json_bytes, read_json, short_above, short_below, short_text, so_many
from ..outputs import Output, plan_outputs, write_outputs
from .options import AsJson, Force, console, fact, print_json, say, short_path
from .probabilities import show_mechanism
from .progress import waiting

if TYPE_CHECKING:
    from rich.console import Console

    from ..certify import Audit, Optimality
    from ..graphs import DatasetGraph
    from ..mechanisms import MechanismDocument
    from ..privacy import Privacy

__all__ = ["audit_command"]

_REPAIRED = Fraction(1, 10**6)
"""How far from 1 the sums of rows are that `--repair` takes; see `irisdp.design.programs.repair`."""


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
        print_json(verdict.to_document())
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
    from ..design.programs import repair

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
    from ..certify.words import said_of_sums

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
    """Say what the promise takes; of several pairs the one that is broken worst, or has least to spare."""
    worst = verdict.pairs[verdict.worst]
    if len(verdict.pairs) > 1:
        kept = sum(pair.holds for pair in verdict.pairs)
        fact("pairs", f"{kept} of {len(verdict.pairs)} hold", width=10)
        label = "nearest" if worst.holds else "worst"
        fact(label, f"number {verdict.worst + 1}: {worst.pair}", width=10)
    fact("δ needed", f"{short_above(worst.delta_at_epsilon)} at this ε", width=10)
    needed = worst.epsilon_at_delta
    fact("ε needed", f"{'none suffices' if needed is None else short_above(needed, 10)} at this δ", width=10)


def _show_optimality(view: Console, found: Optimality) -> None:
    fact("optimality", f"{'holds' if found.holds else 'DOES NOT HOLD'}: {found.reason}", width=10)
    if found.distance is not None:
        fact("rows", f"at most {short_above(found.distance)} from the theorem's, of which the rest speaks", width=10)
    if found.value is None or found.lower_bound is None or found.gap is None or found.goal is None:
        fact("goal", f"none is stated: {found.says()}", width=10)
        return
    goal = found.goal
    fact("goal", f"{goal.words}, as small as possible", width=10)
    if goal.compares_nothing:
        say(view, "             (the same for every mechanism: it compares nothing)")
    else:
        always = f"always answering {goal.constant_answer!r} reaches {short_text(goal.constant, 10)}"
        free = f"without privacy it could be {short_text(goal.without_privacy, 10)}"
        say(view, f"             ({free}; {always})")
    fact("value", short_above(found.value, 10), width=10)
    fact("bound", f"{short_below(found.lower_bound, 10)}, among {found.scope()}", width=10)
    fact("gap", short_above(found.gap, 3), width=10)
    if found.choice is not None:
        bound = f"{short_below(found.choice, 10)}, among mechanisms whose boundary rows depend on the ranking alone"
        fact("choice", f"{bound}; gap {short_above(found.value - found.choice, 3)}", width=10)
