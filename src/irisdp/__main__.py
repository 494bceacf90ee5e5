"""Run the command line as `python -m irisdp`."""

from .cli.main import run

run()
