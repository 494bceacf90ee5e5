"""Tools to try mechanisms in, as pages on this machine; no table is used."""

from .app import create_app
from .server import serve

__all__ = ["create_app", "serve"]
