"""`irisdp design SPEC.json`: the optimal mechanism for a spec, as a file that anyone can check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..exact import json_bytes, read_json, short_above, so_many
from ..outputs import plan_outputs, write_outputs
from .options import AsJson, Force, console, print_json, say
from .probabilities import show_mechanism
from .progress import waiting

if TYPE_CHECKING:
    from ..mechanisms import FactoredMechanism, Mechanism

__all__ = ["design_command"]


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
    from ..design import from_spec

    wanted = read_json(spec, "spec")
    files = plan_outputs([] if output is None else [output], [("the spec", spec)], field="-o", force=force)
    with waiting("designing"):
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
