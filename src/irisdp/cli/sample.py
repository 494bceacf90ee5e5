"""`irisdp sample MECH.json --input NODE`: exact draws from any mechanism file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..exact import integer
from .options import AsJson, print_json

__all__ = ["sample_command"]


def sample_command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECH.json", help="A mechanism file.")],
    node: Annotated[str, typer.Option("--input", metavar="NODE", help="Input of the mechanism.")],
    count: Annotated[str, typer.Option("-n", "--count", metavar="N", help="Number of draws.")] = "1",
    as_json: AsJson = False,
) -> None:
    """Draw from a mechanism file exactly, one answer a line. Charges no ledger."""
    from ..graphs.names import json_node, named_nodes, node_among
    from ..mechanisms import load
    from ..mechanisms.writing import MOST_DRAWS
    from ..release.group_names import printable

    loaded = load(mechanism)
    chosen = node_among(named_nodes(loaded.inputs), node, "--input")
    names = list(map(json_node, loaded.draw(chosen, integer(count, "-n", at_least=1, at_most=MOST_DRAWS))))
    if as_json:
        print_json({"input": json_node(chosen), "answers": names})
    else:
        typer.echo("\n".join(printable(name if isinstance(name, str) else json.dumps(name)) for name in names))
