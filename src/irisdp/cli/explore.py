"""`irisdp explore`: mechanisms to try, as pages on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["explore_command"]


def explore_command(
    port: Annotated[str, typer.Option(metavar="P", help="Port on 127.0.0.1; 0 chooses a free one.")] = "8715",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
) -> None:
    """Serve the explorer on this machine only: plan, design, check and read. Reads no table, spends nothing."""
    from ..exact import integer
    from ..explorer.server import serve

    serve(port=integer(port, "port", at_least=0, at_most=65535), browser=not no_browser)
