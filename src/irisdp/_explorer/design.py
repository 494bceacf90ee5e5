"""The page Design: the best mechanism for a question of the user's, with its proof and its pictures."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from .._child_processes import Phase
from .._exact import short_above, short_below, short_text, so_many
from ..certify import Audit, audit
from ..design import from_spec
from ..errors import Infeasible
from ..graphs import ColouredGraph, colour, colours_by_key, depth, key_of_node, rank
from ..mechanisms import CONSTRAINED, SAME_ROWS, FactoredMechanism, Mechanism
from .design_form import DESIGN_FIELDS, KINDS, DesignFormInput, asked
from .dispatch import answer
from .forms import Tool
from .results import (
    Answer,
    Fact,
    Hint,
    Result,
    ResultFigure,
    ResultFile,
    ResultTable,
    Values,
    as_json_file,
    as_python,
    at_most,
    command_line,
    entry,
    promised,
    proved,
)

_ASKS = ("graph", "family", "spec", "colors", "rankings")
"""Fields that hold nothing before something is asked of a graph, or by a spec."""


def _answer(values: Values) -> Answer:
    kind = KINDS.get(values["kind"])
    on_graph = values["kind"] == "spec" or (kind is not None and kind.graph)
    if on_graph and not any(values[name].strip() for name in _ASKS):
        return Hint("Paste a graph, draw one or choose a family, and say what is true where; then press Design.")
    return answer("design", design, values)


DESIGN = Tool(
    name="design",
    title="Design",
    summary="Paste or draw a graph, or choose a family: the best private mechanism for it, with its proof.",
    introduction=(
        "Inputs are nodes; an edge joins neighbours, which no answer may tell apart. Colours or rankings say what is"
        " true where. Found is the best private mechanism, and what it was compared with."
    ),
    fields=DESIGN_FIELDS,
    answer=_answer,
    submit="Design",
    posts=True,
    example=lambda: {"graph": "a b\nb c\nc d", "colors": "a: no\nb: no\n*: yes"},
)


# Show the result of the page Design: pictures, and rows by position on the graph.

_MOST_ROWS, _MOST_NAMED, _MOST_COLUMNS = 40, 4, 12
_WIDEST = 200_000
"""Answers up to which a heat map is drawn: of many inputs it shows some, and neighbouring answers as one."""


def coloured(wanted: DesignFormInput) -> ColouredGraph | None:
    """Return the graph of a spec with its colours or rankings, if it has any."""
    if wanted.graph is None:
        return None
    if "colors" in wanted.spec:
        return colour(wanted.graph, colours_by_key(wanted.graph, wanted.spec["colors"]))
    if "rankings" in wanted.spec:
        return rank(wanted.graph, colours_by_key(wanted.graph, wanted.spec["rankings"], "rankings"))
    return None


def pictures_of(
    mechanism: Mechanism | FactoredMechanism, wanted: DesignFormInput, classes: ColouredGraph | None
) -> tuple[ResultFigure, ...]:
    """Draw the mechanism, and its graph with colours and depth, where they are small enough to be seen."""
    from ..plots import LARGEST_GRAPH, graph_picture, heat_map

    drawn: list[ResultFigure] = []
    if len(mechanism.outputs) <= _WIDEST:
        drawn.append(heat_map(mechanism))
    if classes is not None and classes.graph.number_of_nodes <= LARGEST_GRAPH:
        drawn.append(graph_picture(classes))
    return tuple(drawn)


def rows_of(mechanism: Mechanism | FactoredMechanism, classes: ColouredGraph | None) -> tuple[ResultTable, ...]:
    """List the different rows by colour and depth, those on the boundary first; nothing where there are no colours."""
    if classes is None or not isinstance(mechanism, Mechanism):
        return ()
    deep = depth(classes)
    rows = mechanism.row_of.tolist()
    places: dict[tuple[int, int, int], list[int]] = {}
    for node in np.lexsort((classes.codes, deep)).tolist():
        places.setdefault((int(deep[node]), int(classes.codes[node]), rows[node]), []).append(node)
    lines = [
        (
            "on the boundary" if steps == 0 else "no boundary near" if steps < 0 else f"{steps} inside",
            _name(classes.classes[code]),
            _nodes(mechanism, nodes),
            *(entry(p, 6) for p in islice(mechanism.rows[row], _MOST_COLUMNS)),
        )
        for (steps, code, row), nodes in islice(places.items(), _MOST_ROWS)
    ]
    caption = "Different rows, by steps from the boundary, where neighbours have another true answer"
    if len(places) > len(lines):
        caption += f" (the first {len(lines)} of {len(places)})"
    names = (_name(output) for output in islice(mechanism.outputs, _MOST_COLUMNS))
    return (ResultTable(caption, ("where", "true answer", "nodes", *names), tuple(lines)),)


def _nodes(mechanism: Mechanism, nodes: list[int]) -> str:
    named = ", ".join(_name(mechanism.inputs[node]) for node in nodes[:_MOST_NAMED])
    more = len(nodes) - _MOST_NAMED
    return f"{named}, and {more} more" if more > 0 else named


def _name(value: object) -> str:
    """Write a node, a colour or a ranking for people."""
    if isinstance(value, tuple):
        return " > ".join(map(str, value))
    return key_of_node(value) if isinstance(value, str | int) and not isinstance(value, bool) else str(value)


# Compute the page Design in another process: the optimum for a spec, and its proof.

Designed = Mechanism | FactoredMechanism

_MOST_ROWS_LISTED, _MOST_COLUMNS_LISTED = 40, 12
_MOST_CHECKED = 2_000_000
"""Probabilities up to which every edge is checked before a design is shown."""
_CONFLICT = {
    "answers": "Answers",
    "distance": "Steps between the two",
    "probability": "Given at the first",
    "other_probability": "Given at the second",
    "bound": "Allowed at most",
    "smallest_epsilon": "Possible from ε",
    "smallest_delta": "Possible from δ",
}
"""What a refusal says of two inputs whose rows contradict each other, in words."""


def design(values: Values, say: Phase) -> Result:
    """Design what a form asks for.

    Raises
    ------
    BadInput
        For a form that asks for nothing that can be designed.
    """
    say("reading what is asked")
    wanted = asked(values)
    say("looking for the optimum")
    try:
        mechanism = from_spec(wanted.spec)
    except Infeasible as refusal:
        return _infeasible(wanted, refusal)
    say("checking every edge, and the proof")
    size = len(mechanism.inputs) * len(mechanism.outputs)
    verdict = audit(mechanism) if size <= _MOST_CHECKED or isinstance(mechanism, FactoredMechanism) else None
    say("drawing")
    python, command, spec = _taken_away(wanted)
    classes = coloured(wanted)
    return Result(
        headline=_headline(mechanism, verdict),
        verdict=None if verdict is None else "good" if verdict.holds else "bad",
        facts=_facts(mechanism, verdict),
        pictures=pictures_of(mechanism, wanted, classes),
        tables=(*rows_of(mechanism, classes), *_matrix(mechanism)),
        files=(as_json_file("mechanism.json", mechanism.to_document()), spec),
        python=python,
        command=command,
        notes=(*_notes(verdict), *_apart(wanted), *wanted.noticed),
    )


def _apart(wanted: DesignFormInput) -> tuple[str, ...]:
    if wanted.graph is None or wanted.graph.number_of_edges:
        return ()
    return ("The graph has no edge, so no two inputs are kept from being told apart. An edge is a line such as a b.",)


def _taken_away(wanted: DesignFormInput) -> tuple[str, str, ResultFile]:
    """Return the Python and the command line that design the same, and the spec as a file."""
    first, named = as_python("spec", wanted.spec, "spec.json")
    python = f'{first}import irisdp\n\n{named}\nirisdp.design.from_spec(spec).save("mechanism.json")'
    lines = ["irisdp", "design", "spec.json", "-o", "mechanism.json"], ["irisdp", "audit", "mechanism.json"]
    return python, "\n".join(map(command_line, lines)), as_json_file("spec.json", wanted.spec)


def _infeasible(wanted: DesignFormInput, refusal: Infeasible) -> Result:
    """Explain why there is no mechanism, or no best one, with the numbers of the refusal."""
    python, command, spec = _taken_away(wanted)
    told = refusal.document
    facts = [Fact("Inputs in conflict", " and ".join(map(_key, told["pair"])))] if "pair" in told else []
    facts += [Fact(label, _told(name, told[name])) for name, label in _CONFLICT.items() if told.get(name) is not None]
    return Result(
        headline=f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.",
        verdict="bad",
        facts=tuple(facts),
        files=(as_json_file("explanation.json", told), spec),
        python=python,
        command=command,
        notes=wanted.noticed,
    )


def _told(name: str, value: Any) -> str:
    if isinstance(value, list):
        return " or ".join(map(_key, value))
    if not isinstance(value, str):
        return str(value)
    # From a smallest ε or δ on there is a mechanism, and no more than the bound is allowed.
    rounded = {"bound": short_below, "smallest_epsilon": short_above, "smallest_delta": short_above}
    return rounded.get(name, short_text)(Fraction(value))


def _key(node: Any) -> str:
    return key_of_node(tuple(node) if isinstance(node, list) else node)


def _headline(mechanism: Designed, verdict: Audit | None) -> str:
    """Say what this is best at, and among what."""
    objective = mechanism.objective
    proof = None if verdict is None else verdict.optimality
    if verdict is not None and not verdict.holds:
        return "This does NOT hold: please report it, with the spec."
    if proof is not None and (objective is None or proof.value is None):
        return f"Private, and proved best: {proof.says()}."
    if objective is None:
        return "Private; nothing is claimed about how good it is."
    value = f"{_goal(mechanism)} {short_above(objective.value, 10)}"
    if proof is not None and proof.gap is not None:
        narrower = {SAME_ROWS: " with the same rows on the boundary", CONSTRAINED: " that meets the constraints"}
        which = "no private mechanism" + narrower.get(proof.among or "", "")
        exactly = "" if proof.gap == 0 else f" by more than {short_above(proof.gap, 2)}"
        return f"Proved best: {value}; {which} has less{exactly}."
    if objective.lower_bound is not None:
        bound = short_below(objective.lower_bound, 10)
        return f"Best, too large for a certificate: {value}; no private mechanism has less than {bound}."
    return f"Private: {value}; nothing is claimed about how much less is possible."


def _goal(mechanism: Designed) -> str:
    """Name what was made small; its name may say already what it is compared with, which is said in other words."""
    return "" if mechanism.objective is None else mechanism.objective.name.partition(", among")[0]


def _facts(mechanism: Designed, verdict: Audit | None) -> tuple[Fact, ...]:
    size = f"{so_many(len(mechanism.inputs), 'input')}, {so_many(len(mechanism.outputs), 'answer')}"
    if verdict is None:
        return (*promised(mechanism.privacy), Fact("Size", size, "too large to check here: irisdp audit checks it"))
    worst = verdict.pairs[verdict.worst]
    needed = worst.epsilon_at_delta
    tight = (
        "" if verdict.tightest is None else f"on the tightest edge, {' and '.join(map(_key, verdict.tightest.edge))}"
    )
    return (
        *promised(mechanism.privacy),
        Fact("ε needed", *(("none suffices", tight) if needed is None else at_most(needed, 10, tight))),
        Fact("δ needed", *at_most(worst.delta_at_epsilon, 6, "at the ε promised")),
        Fact("Size", size, "no edges: nothing is compared" if not verdict.edges else so_many(verdict.edges, "edge")),
        *(() if verdict.optimality is None else proved(verdict.optimality, goal=_goal(mechanism))),
    )


def _matrix(mechanism: Designed) -> tuple[ResultTable, ...]:
    """Write the probabilities as decimals, of many the first."""
    outputs = list(islice(mechanism.outputs, _MOST_COLUMNS_LISTED))
    inputs = list(islice(mechanism.inputs, _MOST_ROWS_LISTED))
    rows = [(_key(node), *_first(mechanism, node, len(outputs))) for node in inputs]
    left = [
        f"the first {len(shown)} of {len(named)} {what}"
        for shown, named, what in ((inputs, mechanism.inputs, "inputs"), (outputs, mechanism.outputs, "answers"))
        if len(shown) < len(named)
    ]
    caption = "Probability of each answer, by input" + (f" ({', '.join(left)})" if left else "")
    return (ResultTable(caption, ("input", *map(_key, outputs)), tuple(rows)),)


def _first(mechanism: Designed, node: Hashable, number: int) -> list[str]:
    """Write the first probabilities of a row; of a formula in floats, as exact ones have as many digits as inputs."""
    if isinstance(mechanism, FactoredMechanism):
        row = mechanism.approximate_row(node)[:number].tolist()
        return [entry(Fraction(p), 4) if p else f"<{sys.float_info.min:.0e}" for p in row]
    return [entry(p, 4) for p in islice(mechanism.row(node), number)]


def _notes(verdict: Audit | None) -> tuple[str, ...]:
    said = ["Numbers are rounded for people; the file has them exactly."]
    if verdict is not None and verdict.optimality is None:
        said.append("The file states no proof of optimality: nothing is claimed but privacy, which was checked.")
    return tuple(said)
