"""The backends of stores, each with what a law needs to run on it."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.store.rows import latest_visits, read_store, write_store
from tests.servers import postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pytest


@dataclass(frozen=True)
class Backend:
    """A kind of store.

    Args:
        name: Its name.
        place: Gives the address of a store that is not there yet, and cleans up after it.
        shrink: Makes blocks and batches so small that a small store has several of each.
    """

    name: str
    place: Callable[[], AbstractContextManager[str]]
    shrink: Callable[[pytest.MonkeyPatch], None]


@contextmanager
def _sqlite_place() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'pages.db'}"


def _shrink(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(write_store, "SAVED_EVERY", 7)
    patch.setattr(latest_visits, "_PAGES_A_BLOCK", 4)
    patch.setattr(read_store, "_PAGES_AT_A_TIME", 3)
    patch.setattr(read_store, "_ADDRESSES_AT_A_TIME", 3)
    patch.setattr(read_store, "_HOSTS_AT_A_TIME", 2)


BACKENDS = (
    Backend("sqlite", _sqlite_place, _shrink),
    Backend("postgres", postgres.place, _shrink),
)
