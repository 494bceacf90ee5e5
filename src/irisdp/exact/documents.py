"""JSON in and out without losing a digit: numbers are read as the decimals they were written as."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import BadInput

__all__ = ["json_bytes", "parse_json", "read_json"]


def parse_json(text: str, field: str) -> Any:
    """Parse JSON with decimals kept exact; NaN, infinities and repeated keys are refused."""

    def refuse(constant: str) -> Any:
        raise BadInput(field, f"holds {constant}", "write finite numbers only")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) != len(pairs):
            raise BadInput(field, "holds a key twice in one object", "write every key once")
        return document

    try:
        return json.loads(text, parse_float=Decimal, parse_constant=refuse, object_pairs_hook=distinct)
    except BadInput:
        raise
    except (ValueError, RecursionError):
        raise BadInput(field, "is not valid JSON", "check quotes, commas and brackets") from None


def read_json(path: str | Path, field: str) -> Any:
    """Read a JSON file; see `parse_json`."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput(field, f"must be the path of a file, not {type(path).__name__}", "give a path")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(field, f"there is no file {path}", "check the path") from None
    except (OSError, ValueError):
        raise BadInput(field, f"cannot read {path} as UTF-8 text", "give a JSON file that can be read") from None
    return parse_json(text, field)


def json_bytes(document: Any) -> bytes:
    """Write a JSON document as a file holds it: UTF-8, indented, with a final newline."""
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
