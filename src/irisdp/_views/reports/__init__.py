"""Reports: a release as one page to hand over, made of what was published and nothing else."""

from typing import TYPE_CHECKING

from ..._lazy import exports

if TYPE_CHECKING:
    from .blocks import bullets, document, section, table
    from .sentences import odds_of
    from .writing import report

exports(__name__)
