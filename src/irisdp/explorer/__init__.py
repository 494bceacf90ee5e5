"""Rooms to try mechanisms in, as pages on this machine; no table is touched."""

from .app import create_app
from .server import serve

__all__ = ["create_app", "serve"]
