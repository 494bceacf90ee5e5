"""From Python's spelling of options to the command line's.

Messages of the library name an option as a Python caller writes it, `epsilon=1` or `select_groups=True`; on the command
line the same words are `--epsilon 1` and `--select-groups`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["error_in_options", "in_options"]

_KEYWORD = re.compile(r"""(?<!--limit )\b(?P<name>[a-z][a-z_]*)=(?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|[^\s,;()]*)""")
_PLAIN = re.compile(r"[\w,.=/+…-]*")
"""What no shell reads in a way of its own."""
_NO_OPTION = {"privacy=…": "--epsilon E or --ratio R"}
"""Arguments that the command line spells as several options."""
_QUESTION = re.compile(r"""publish\(data(?P<words>(?:, (?:"(?:[^"\\]|\\.)*"|\d+))*)\)""")
_WORD = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>\d+)""")
_IN_A_SHELL = {
    "grant(ledger, role, may)": "irisdp ledger ADDRESS --grant publish=ROLE, or read=ROLE",
    "write a whole condition, such as": "quote the condition:",  # unquoted, the shell takes > and < for its own
    "Ledger(path).set_limit(E, D)": "irisdp ledger FILE --limit E,D",
    "Ledger(path).set_limit(mu=M)": "irisdp ledger FILE --limit mu=M",
    "Ledger(path).set_limit(rho=R)": "irisdp ledger FILE --limit rho=R",
    "give a list of tuples, or a CSV file": "name a file with a column for each of them: --groups FILE.csv",
    "Ledger(path).set_limit(E, D, audience=NAME)": "irisdp ledger FILE --limit E,D --audience NAME",
    "Ledger(path).set_limit(mu=M, audience=NAME)": "irisdp ledger FILE --limit mu=M --audience NAME",
    "Ledger(path).set_limit(rho=R, audience=NAME)": "irisdp ledger FILE --limit rho=R --audience NAME",
    "design it first, with irisdp.design.from_spec": ("run irisdp design first: irisdp design SPEC.json -o MECH.json"),
}
"""What is done by other means in a shell than in Python."""


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Rewrite the keywords of a message as options, and what Python calls as commands.

    Parameters
    ----------
    text : str
        Such as ``"add epsilon=1"``.
    options : mapping
        From the names, in Python, of the options that the command has to what stands for their values; other words stay
        as they are.

    Examples
    --------
    >>> in_options("add select_groups=True, or groups=['n', 's']", {"groups": "FILE", "select_groups": ""})
    'add --select-groups, or --groups n,s'
    >>> in_options('write publish(data, "at-least", 100, "age > 64")', {})
    'write irisdp publish DATA at-least 100 "age > 64"'
    """
    for python, shell in _IN_A_SHELL.items():
        text = text.replace(python, shell)
    text = _QUESTION.sub(_command, text)

    def option(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if name not in options:
            return _NO_OPTION.get(found[0], found[0])
        if value in ("True", "…"):
            return f"{_option(name)} {options[name] if value == '…' else ''}".rstrip()
        shown = ",".join(part.strip(" '\"") for part in value.strip("[]").split(",")) if value[:1] == "[" else value
        shown = shown[1:-1] if shown[:1] in ("'", '"') else shown
        return f"{_option(name)} {shown if _PLAIN.fullmatch(shown) else _quoted(shown)}".rstrip()

    return _KEYWORD.sub(option, text)


def _command(found: re.Match[str]) -> str:
    """Write a question as the command that asks it: the query's name plain, a condition in quotes."""
    name, *words = (
        json.loads(word["text"]) if word["text"] else word["number"] for word in _WORD.finditer(found["words"])
    )
    shown = (word if word.isdecimal() else _quoted(word) for word in words)
    return " ".join(["irisdp publish DATA", name, *shown])


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _quoted(value: str) -> str:
    return f"'{value}'" if '"' in value else f'"{value}"'


def error_in_options(document: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Return a JSON-ready document with every message under "error" rewritten, at whatever depth."""
    return {
        key: in_options(value, options)
        if key == "error" and isinstance(value, str)
        else error_in_options(value, options)
        if isinstance(value, Mapping)
        else value
        for key, value in document.items()
    }
