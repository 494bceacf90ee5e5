"""HTML as values, for pages; see `irisdp.markup`."""

from ..markup import Content, Html, element, joined, visible

__all__ = ["Content", "Html", "element", "joined", "visible"]
