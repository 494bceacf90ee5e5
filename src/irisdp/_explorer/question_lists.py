"""Values of a plan's question as text in the fields of a form: lists between commas, and numbers as they are typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from .._exact import TomlFile, toml_value
from ..errors import BadInput

_VALUE = re.compile(r"[^\s,\"\[({=](?:[^,\"\n\r]*[^\s,\"\])}])?")
"""A value that needs no quotes between commas."""
_FILE_LIKE = re.compile(r"\.\w{1,8}")


def read_list(name: str, text: str) -> Any:
    """Read values between commas, as text; or a list as a plan file has it."""
    if text.startswith("["):
        document = TomlFile(Path("the list"), name).parse(f"list = {text}".encode())
        return plan_value(document["list"])
    parts = [line.strip() for line in text.split("\n") if line.strip()]
    if name == "groups" and len(parts) > 1:
        from .._queries import split_list

        if all(split_list(part) for part in parts):
            return parts
    return ", ".join(part.strip(" ,") if len(parts) > 1 else part for part in parts)


def shown_list(name: str, value: Any) -> str | None:
    if isinstance(value, str):
        text = value.strip()
        return text if text and text == _read_list_or_none(name, text) else None
    if not isinstance(value, list | tuple) or not value:
        return None
    if name == "groups" and len(value) > 1 and all(_is_of_column(part) for part in value):
        return "\n".join(value)
    plain = [_list_value(name, part) for part in value]
    if any(part is None for part in plain):
        return toml_value(value)
    if len(plain) == 1 and name in ("groups", "categories"):  # a name without quotes might be that of a file
        return f'"{plain[0]}"'
    return ", ".join(map(str, plain))


def _read_list_or_none(name: str, text: str) -> Any:
    try:
        return read_list(name, text)
    except BadInput:
        return None


def in_list(text: str) -> str:
    """Write a value between commas, in double quotes where it needs them."""
    plain = _VALUE.fullmatch(text) and not _FILE_LIKE.search(text)
    return text if plain else '"' + text.replace('"', '""') + '"'


def _list_value(name: str, value: Any) -> str | None:
    """Return a value as it stands between commas; None if a list of a plan file must say it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name == "bins" and isinstance(value, Decimal | float):
        return str(value) if "e" not in str(value).lower() else None
    if isinstance(value, str) and _VALUE.fullmatch(value) and not _FILE_LIKE.search(value):
        return value
    return None


def _is_of_column(part: Any) -> bool:
    from .._queries import split_list

    return isinstance(part, str) and part.isprintable() and part == part.strip() and split_list(part) is not None


def plan_number(text: str) -> int | float | str:
    """Return a number as a plan file has it: plainly where that is exactly what was typed, else as text."""
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) and repr(float(text)) == text:
        return float(text)
    return text


def plan_value(value: Any) -> Any:
    """Return a value of TOML with exact decimals as floats where these are written the same, else as text."""
    if isinstance(value, Decimal):
        return plan_number(str(value))
    if isinstance(value, Mapping):
        return {name: plan_value(part) for name, part in value.items()}
    return [plan_value(part) for part in value] if isinstance(value, list) else value
