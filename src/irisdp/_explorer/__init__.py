"""Tools to try mechanisms in, as pages on this machine; no table is used."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .server import serve

exports(__name__)
