"""The seal of what design hands out: a hash of the whole mechanism document, so that no later edit goes unnoticed.

The checkers recompute it with their own code (`irisdp.certify`, and the stand-alone verifier) and share only the
definition. It is the SHA-256 of the document without `certificate.digest`, as JSON with sorted keys, no spaces, in
UTF-8.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ...exact import checked
from ...mechanisms import ALL_PRIVATE, FactoredMechanism, Mechanism

__all__ = ["add_digest", "sealed"]

_M = TypeVar("_M", Mechanism, FactoredMechanism)


@checked
def add_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mechanism document with `certificate.digest` set to the hash of all the rest."""
    certificate = {key: value for key, value in document.get("certificate", {}).items() if key != "digest"}
    unsealed = {**document, "certificate": certificate}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "certificate": {**certificate, "digest": hashlib.sha256(text.encode()).hexdigest()}}


def sealed(mechanism: _M, *, among: str = ALL_PRIVATE) -> _M:
    """Return a mechanism whose certificate says what it is best among, and holds the hash of the file to be written.

    Parameters
    ----------
    among : str
        `ALL_PRIVATE`, or `SAME_ROWS` where rows were given. Checkers derive it again and refuse a wider claim.
    """
    mechanism = replace(mechanism, certificate={**(mechanism.certificate or {}), "among": among})
    return replace(mechanism, certificate=add_digest(mechanism.to_document())["certificate"])
