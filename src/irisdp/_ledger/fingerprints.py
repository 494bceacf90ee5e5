"""Telling one version of the data from another without saying anything about either.

The ledger must recognise the data it answered about, or it would charge twice for one question and could be asked about
a changed table as if nothing had happened. A plain digest would reveal more: anyone who sees the ledger could guess a
table, digest the guess and compare. So the digest is keyed with a secret that stays in the folder of the data and never
enters the ledger. It is one secret for the folder, so that a renamed file is recognised. If the secret is lost, the
data looks new: questions are charged again, and nothing is revealed. A secret that others know is replaced
(`rotate_secret`): the old one stays for lookups, because the ledger holds no digest for a new key.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from .._files import create_once, is_there, open_regular, sync_folder
from ..errors import BadInput, Unavailable

_ENDING = ".irisdp-secret"
_NAME = f".tables{_ENDING}"
"""One for all tables of a folder. Version 0.1 kept one for each, as `.NAME.irisdp-secret`; they are still read."""

_OLD = ".old-"
"""How the name of a secret begins that was replaced by another one."""

SECRET_BYTES = 32
"""Length of the secret: as long as the fingerprint, beyond any search."""


def fingerprint(digest: bytes, key: bytes) -> str:
    """Name a version of the data by a keyed digest.

    Parameters
    ----------
    digest : bytes
        Any digest of the data; equal for equal data.
    key : bytes
        The secret of `secret_key_path`, exactly 32 bytes.

    Returns
    -------
    str
        64 hexadecimal digits; keyed BLAKE2b is a pseudorandom function, so without the key they say nothing.

    Raises
    ------
    BadInput
        For a key of any other length; an empty one would leave the digest bare.

    Examples
    --------
    >>> fingerprint(b"digest of a table", b"k" * 32) == fingerprint(b"digest of a table", b"q" * 32)
    False
    """
    if len(key) != SECRET_BYTES:
        raise BadInput("key", f"must have {SECRET_BYTES} bytes, not {len(key)}", "use the secret kept beside the data")
    return hashlib.blake2b(digest, key=key, digest_size=32, person=b"irisdp data").hexdigest()


def unit_key(secret: bytes) -> bytes:
    """Derive the key by which `--unit` chooses a person's record; it says nothing of the secret or a fingerprint."""
    return hashlib.blake2b(key=secret, digest_size=SECRET_BYTES, person=b"irisdp unit").digest()


def name_of_secret(secret: bytes) -> str:
    """Name a secret without saying anything about it."""
    return fingerprint(b"irisdp state", secret)


def secret_key_path(path: str | os.PathLike[str]) -> bytes:
    """Return the secret of a data file or folder, drawn on first use and kept beside it as `.tables.irisdp-secret`.

    Parameters
    ----------
    path : path
        The data; links are followed, so that two names of one table share a secret. Where version 0.1 left a secret of
        this name's own, that one.

    Returns
    -------
    bytes
        32 bytes from the operating system; the same in every process, also when several draw it at once.

    Raises
    ------
    BadInput
        When the secret cannot be read or written, or has another length.
    """
    try:
        file = secret_file(path)
        if not is_there(file):
            create_once(file, _draw_secret)
        with open_regular(file) as kept:
            secret = kept.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no file name"
        raise BadInput(
            "data",
            f"needs a secret file next to {path}, which cannot be read or written ({reason})",
            "make the folder of the data writable once, or restore the secret. To keep both files elsewhere,"
            " give ledger=… and secret=…",
        ) from None
    if len(secret) != SECRET_BYTES:
        raise BadInput(
            "data",
            f"has a damaged secret: {file} must hold {SECRET_BYTES} bytes, not {len(secret)}",
            "restore it; or remove it, and questions asked before will be charged again",
        )
    return secret


def secret_file(path: str | os.PathLike[str]) -> Path:
    """Return where the secret of a data file or folder is kept, whether or not it is there yet."""
    data = Path(path).resolve()
    if not data.name:
        raise BadInput("secret", "cannot be kept beside the root of all folders", "name a file to keep it beside")
    own = data.with_name(f".{data.name}{_ENDING}")
    return own if is_there(own) else data.with_name(_NAME)


def secrets_in(*folders: Path, whole: bool = False) -> list[bytes]:
    """Return all secrets kept in some folders, those of version 0.1 too; draws none.

    Parameters
    ----------
    *folders : Path
    whole : bool
        Whether one that cannot be read is refused, and not passed over: some ledger may know the data by it.
    """
    secrets: list[bytes] = []
    for folder in dict.fromkeys(folders):
        for file in sorted(folder.glob(f".*{_ENDING}")):
            try:
                with open_regular(file) as kept:
                    secret = kept.read(SECRET_BYTES + 1)
                reason = "it is damaged"
            except OSError as error:
                secret, reason = b"", f"{error.strerror}"
            if len(secret) == SECRET_BYTES:
                secrets.append(secret)
            elif whole:
                rule = f"is missing, and {file.name} in its folder cannot be read: {reason}"
                raise BadInput("ledger", rule, "restore it, or name a ledger with ledger=")
    return list(dict.fromkeys(secrets))


def rotate_secret(path: str | os.PathLike[str]) -> tuple[bytes, Path]:
    """Replace the secret of a data file or folder by a new one, and keep the old one beside it for lookups.

    Data that was answered about is recognised by the old secret, so its answers stay free; other data gets fingerprints
    of the new one. At every moment both files together hold the secret in use, and after an interruption a further call
    goes on with the new secret that was drawn.

    Parameters
    ----------
    path : path
        As for `secret_key_path`.

    Returns
    -------
    tuple
        The new secret, and the file that holds the old one.

    Raises
    ------
    BadInput
        Where there is no secret, or it cannot be read or replaced.
    """
    file = secret_file(path)
    if not is_there(file):
        raise BadInput(
            "rotate_secret", f"finds no secret {file}", "name the data, or the file of secret=, with beside="
        )
    drawn = file.with_name(f"{file.name}-next")
    try:
        create_once(drawn, _draw_secret)
        old = secret_key_path(path)
        kept = file.with_name(f"{_OLD}{name_of_secret(old)[:16]}{_ENDING}")
        create_once(kept, lambda draft: _write_secret(draft, old))
        os.replace(drawn, file)
        sync_folder(file.parent)
    except OSError as error:
        rule = f"cannot replace {file} ({error.strerror})"
        raise Unavailable("rotate_secret", rule, "make its folder writable, and ask again") from None
    return secret_key_path(path), kept


def recognise(digest: bytes, keys: Sequence[bytes], known: Callable[[Sequence[str]], set[str]]) -> tuple[str, bytes]:
    """Return the fingerprint by which a ledger knows the data and its key; or else the first key's.

    Parameters
    ----------
    digest : bytes
        Of the data.
    keys : sequence of bytes
        Secrets that the data may have been recognised with, today's first: a file that was renamed or moved since
        version 0.1 is known under the secret of another name.
    known : callable
        Returns those of some fingerprints that a ledger has answered about.
    """
    names = {fingerprint(digest, key): key for key in keys}
    recognised = known(list(names))
    return next((pair for pair in names.items() if pair[0] in recognised), next(iter(names.items())))


def _draw_secret(draft: Path) -> None:
    _write_secret(draft, secrets.token_bytes(SECRET_BYTES))


def _write_secret(draft: Path, secret: bytes) -> None:
    with draft.open("wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
