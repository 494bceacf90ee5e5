"""Pages on this machine: tools to try mechanisms in, and pages to publish from a table."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .server import serve
    from .workspace import ServedTable

exports(__name__)
