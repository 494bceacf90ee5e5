"""The list of pages: to add one, write its file and a row here."""

from .ask import ASK
from .check import CHECK
from .design import DESIGN
from .read import READ
from .room import Room

__all__ = ["ROOMS"]

ROOMS: tuple[Room, ...] = (ASK, DESIGN, CHECK, READ)
