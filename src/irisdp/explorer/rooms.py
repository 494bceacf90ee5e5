"""The rooms there are: to add one, write its file and a row here."""

from .ask import ASK
from .room import Room

__all__ = ["ROOMS"]

ROOMS: tuple[Room, ...] = (ASK,)
