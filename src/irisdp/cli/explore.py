"""`irisdp explore`: mechanisms to try, as pages on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["explore_command"]


def explore_command(
    port: Annotated[int, typer.Option(metavar="P", help="Port on 127.0.0.1; 0 takes any that is free.")] = 8715,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open it in the browser.")] = False,
) -> None:
    """Serve pages to design, check and read mechanisms with, to this machine only; touches no table, spends nothing."""
    from ..explorer.server import serve

    serve(port=port, browser=not no_browser)
