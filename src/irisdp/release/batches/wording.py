"""From Python's spelling of options to a plan's: remedies of the library, in the words of what is to be changed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from ...catalogue import FORMS

__all__ = ["in_keys"]

_KEYWORD = re.compile(r"""\b(?P<name>[a-z][a-z_]*)=(?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|[^\s,;()]*)""")
_QUESTION = re.compile(r"""publish\(data(?P<words>(?:, (?:"(?:[^"\\]|\\.)*"|\d+))+)\)""")


def in_keys(text: str, keys: Collection[str], *, toml: bool = False) -> str:
    """Rewrite the keywords of a message as keys of a plan, and what Python calls as a question of one.

    Parameters
    ----------
    text : str
        Such as ``"add select_groups=True"``.
    keys : collection of str
        Other words stay as they are.
    toml : bool
        Whether the plan is TOML and no JSON.

    Examples
    --------
    >>> in_keys("add select_groups=True, a delta=, or groups='v1,v2'", {"select_groups", "delta", "groups"})
    'add "select_groups": true, a "delta", or "groups": "v1,v2"'
    >>> in_keys('write publish(data, "at-least", 100, "age > 64")', {})
    'write {"query": "at-least 100", "expression": "age > 64"}'
    >>> in_keys('write publish(data, "plurality", "party")', {})
    'write {"query": "plurality party"}'
    >>> in_keys("add select_groups=True, or a delta=", {"select_groups", "delta"}, toml=True)
    'add select_groups = true, or a delta'
    """

    def key(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if name not in keys:
            return found[0]
        shown = {"True": "true", "False": "false"}.get(value, value.replace("'", '"'))
        if toml:
            return f"{name} = {shown}" if shown not in ("", "…") else name
        return f'"{name}": {shown}' if shown else f'"{name}"'

    return _KEYWORD.sub(key, _QUESTION.sub(_question_in_toml if toml else _question, text))


def _question_in_toml(found: re.Match[str]) -> str:
    return ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in _asked(found).items())


def _question(found: re.Match[str]) -> str:
    return json.dumps(_asked(found), ensure_ascii=False)


def _asked(found: re.Match[str]) -> dict[str, str]:
    name, *words = json.loads(f"[{found['words'].removeprefix(', ')}]")
    usage = next((form.usage for form in FORMS if form.name == name), "")
    # A condition stands apart; numbers and columns belong to the query.
    apart = [words.pop()] if words and isinstance(words[-1], str) and "COLUMN" not in usage.split()[-1:] else []
    return {"query": " ".join(map(str, [name, *words]))} | ({"expression": apart[0]} if apart else {})
