"""What pages show and offer, kept for a while under its digest; of too much the oldest goes."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any

from ..exact import json_line
from .results import File, Picture

__all__ = ["Store"]

_MOST_BYTES = 48 << 20
_MOST_THINGS = 512


class Store:
    """Files, pictures, and pictures drawn, by digest; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._size = 0

    def keep_file(self, file: File) -> str:
        """Keep a file and return its address."""
        known = file.content if isinstance(file.content, bytes) else file.told.encode()
        key = hashlib.sha256(file.name.encode() + b"\0" + known).hexdigest()[:32]
        self._keep(key, file, len(known))
        return f"files/{key}/{file.name}"

    def keep_picture(self, picture: Picture) -> str:
        """Keep a picture and return its address, which lacks only an ending: .svg, .png or .html."""
        content = json_line(picture.to_document()).encode()
        key = hashlib.sha256(content).hexdigest()[:32]
        self._keep(key, picture, len(content))
        return f"pictures/{key}"

    def file(self, key: str, name: str) -> File | None:
        """Return a file that is still kept."""
        found = self._find(key)
        return found if isinstance(found, File) and found.name == name else None

    def drawn(self, key: str, ending: str) -> bytes | None:
        """Return a picture that is still kept, drawn as .svg, .png or .html."""
        done = self._find(f"{key}.{ending}")
        if done is not None:
            return bytes(done)
        picture = self._find(key)
        if picture is None or isinstance(picture, File):
            return None
        if ending == "png":
            content: bytes = picture.to_png()
        else:
            content = (picture.to_svg() if ending == "svg" else picture.to_html()).encode()
        self._keep(f"{key}.{ending}", content, len(content))
        return content

    def _find(self, key: str) -> Any:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def _keep(self, key: str, thing: Any, size: int) -> None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return
            self._kept[key] = thing, size
            self._size += size
            while len(self._kept) > 1 and (self._size > _MOST_BYTES or len(self._kept) > _MOST_THINGS):
                _, (_, gone) = self._kept.popitem(last=False)
                self._size -= gone
