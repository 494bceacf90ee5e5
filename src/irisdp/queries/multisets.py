"""Digests of records that have no order: each is hashed for itself, and the hashes are sorted.

A sum of hashes would be linear, and two tables of one digest easily found; sorted, they are as hard to find as for the
hash itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["multiset_digest"]

_RECORDS_PER_PASS = 1 << 24


def multiset_digest(header: tuple[Any, ...], count: int, hashes: Callable[[], Iterable[pa.RecordBatch]]) -> bytes:
    """Return the BLAKE2b digest of a header and of the sorted SHA-256 of each record.

    They are sorted by their first 64 bits; where those are equal and the rest is not, the order of reading decides, and
    the digest may be new. More than 2^24 records are sorted in several passes, each in about 1 GiB.

    Parameters
    ----------
    header : tuple
        Further facts that distinguish tables.
    count : int
        How many records there are: it says how many passes there will be.
    hashes : callable
        Reads the records' digests, again for each pass: batches of one column of 32 bytes.
    """
    hashing = blake2b(repr(header).encode(), digest_size=32)
    passes = -(-count // _RECORDS_PER_PASS)
    for number in range(passes):
        low, high = ((place << 64) // passes for place in (number, number + 1))
        kept = [np.zeros((0, 4), ">u8")]
        for batch in hashes():
            words = np.frombuffer(b"".join(batch.column(0).to_pylist()), ">u8").reshape(-1, 4)
            first = words[:, 0]
            kept.append(words[(first >= low) & (first <= high - 1)])
        words = np.concatenate(kept)
        hashing.update(words[np.argsort(words[:, 0].astype(np.uint64), kind="stable")].tobytes())
    return hashing.digest()
