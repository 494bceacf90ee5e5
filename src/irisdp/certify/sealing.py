"""The seal of a mechanism file: a hash over everything in it, so that no edit, however harmless, goes unnoticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..errors import BadInput
from ..exact import checked

__all__ = ["add_digest", "digest", "is_sealed"]


@checked
def digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical document, in hexadecimal.

    Parameters
    ----------
    document : mapping
        A mechanism document. `certificate.digest` itself is left out of the hash; decimals are hashed as their text.

    Raises
    ------
    BadInput
        For what JSON cannot hold.
    """
    certificate = document.get("certificate")
    if isinstance(certificate, Mapping):
        document = {**document, "certificate": {key: value for key, value in certificate.items() if key != "digest"}}
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise BadInput("mechanism", "is not a document that JSON can hold", "write text, integers and lists") from None


@checked
def add_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the digest of everything else in its certificate.

    Numbers should be text or integers: a float is hashed as Python writes it, which no other reader need agree with.

    Parameters
    ----------
    document : mapping
        A mechanism document with a certificate.

    Raises
    ------
    BadInput
        For a document without one.
    """
    certificate = document.get("certificate")
    if not isinstance(certificate, Mapping):
        raise BadInput("certificate", "must be there to be sealed", 'write {"kind": …}')
    return {**document, "certificate": {**certificate, "digest": digest(document)}}


@checked
def is_sealed(document: Mapping[str, Any]) -> bool:
    """Tell whether the digest in the certificate is that of the document."""
    certificate = document.get("certificate")
    return isinstance(certificate, Mapping) and certificate.get("digest") == digest(document)
