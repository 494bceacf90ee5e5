"""The command line: a thin view over the public API."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .main import run
    from .output import take_standard_output

exports(__name__)
