"""Reports: a release as one page to hand over, made of what was published and nothing else."""

from typing import TYPE_CHECKING

from ..._lazy import exports

if TYPE_CHECKING:
    from .blocks import bullets, document, section, table
    from .sentences import odds_of
    from .writing import report

__all__ = ["bullets", "document", "odds_of", "report", "section", "table"]

exports(__name__)
