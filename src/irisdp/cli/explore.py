"""`irisdp explore`: mechanisms to try, as pages on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["explore_command"]


def explore_command(
    port: Annotated[str, typer.Option(metavar="P", help="Port on 127.0.0.1; 0 takes any that is free.")] = "8715",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open it in the browser.")] = False,
) -> None:
    """Serve pages to design, check and read mechanisms with, to this machine only; touches no table, spends nothing."""
    from ..exact import integer
    from ..explorer.server import serve

    serve(port=integer(port, "port", at_least=0, at_most=65535), browser=not no_browser)
