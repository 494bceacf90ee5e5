"""Python and command lines that reproduce the result of a page, as text to copy."""

from __future__ import annotations

import pprint
import shlex
from collections.abc import Sequence
from typing import Any

from ..exact import json_bytes
from .results import File

__all__ = ["as_json_file", "as_python", "command_line"]

_LONGEST = 6000
"""Letters of a document that Python code holds; longer ones it reads from the file."""


def as_json_file(name: str, document: Any) -> File:
    """Return a document as a file, byte by byte as the command line writes it."""
    return File(name, json_bytes(document))


def as_python(name: str, document: Any, file: str) -> tuple[str, str]:
    """Return an import and a statement that give a document a name: written out, or read from a file if it is long.

    Examples
    --------
    >>> as_python("spec", {"n": 3}, "spec.json")
    ('', "spec = {'n': 3}")
    """
    written = f"{name} = {pprint.pformat(document, width=100, compact=True, sort_dicts=False)}"
    if len(written) <= _LONGEST:
        return "", written
    return "import json\nfrom pathlib import Path\n\n", f'{name} = json.loads(Path("{file}").read_text("utf-8"))'


def command_line(words: Sequence[str]) -> str:
    """Return a line that a shell reads as these words.

    Examples
    --------
    >>> print(command_line(["irisdp", "interpret", "--value", "a b"]))
    irisdp interpret --value 'a b'
    """
    return shlex.join(words)
