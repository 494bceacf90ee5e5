"""Tools to try mechanisms in, as pages on this machine; only the page Table reads one."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .server import serve
    from .table import ServedTable

exports(__name__)
