"""Where a store is, for what has paths: a file, or an address of a server that stands for one.

Touches: nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.parse.store_addresses import is_postgres, read_address

if TYPE_CHECKING:
    from collections.abc import Callable


class ServerPlace(type(Path())):  # type: ignore[misc] # the class of paths on this system
    """Address of a store on a server, where a path is expected.

    No file is there. `os.fspath`, which opens a store, gives the address, and `str`, which tells
    people of it, the address without its password.

    Examples:
        >>> place = ServerPlace("postgresql://me:secret@db.org/pages")
        >>> place, str(place), os.fspath(place)
        (ServerPlace('postgresql://me@db.org/pages'), 'postgresql://me@db.org/pages',
         'postgresql://me:secret@db.org/pages')
        >>> place.exists(), place.parent, place == ServerPlace("postgresql://me@db.org/pages")
        (False, PosixPath('.'), False)
    """

    _address: str
    _name: str

    def __new__(cls, address: str) -> ServerPlace:
        """Read the address; raise `NotAStore` if it is none."""
        name = read_address(address).name
        place: ServerPlace = super().__new__(cls, name)
        place._address, place._name = address, name
        return place

    def __init__(self, address: str) -> None:  # noqa: ARG002 - read by `__new__`
        if sys.version_info >= (3, 12):
            super().__init__(self._name)

    def __fspath__(self) -> str:
        return self._address

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerPlace) and self._address == other._address

    def __hash__(self) -> int:
        return hash(self._address)

    def __reduce__(self) -> tuple[Callable[[str], ServerPlace], tuple[str]]:
        return ServerPlace, (self._address,)

    def exists(self, **_: Any) -> bool:  # noqa: ANN401 - as paths have it
        """Whether there is such a file: there is none."""
        return False

    def resolve(self, strict: bool = False) -> ServerPlace:  # noqa: ARG002, FBT001, FBT002 - as paths have it
        """The place itself: no link leads to it."""
        return self

    @property
    def parent(self) -> Path:
        """Folder for what belongs beside a store: the working directory."""
        return Path()


def place_of(address: str | os.PathLike[str]) -> Path:
    """Where a store is, or another file.

    >>> place_of("recrawl.db"), place_of("postgresql:///pages")
    (PosixPath('recrawl.db'), ServerPlace('postgresql:///pages'))
    """
    text = os.fspath(address)
    return ServerPlace(text) if is_postgres(text) else Path(text)
