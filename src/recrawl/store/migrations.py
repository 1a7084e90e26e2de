"""Numbered SQL files that bring a store from one format to the next.

`0001_first.sql` creates format 1, `0002_...` upgrades 1 to 2, and so on.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import StoreTooNew, StoreTooOld

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def steps_of(folder: Traversable) -> list[str]:
    """SQL of each migration in a folder, in order."""
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    numbers = [int(file.name[:4]) for file in files]
    assert numbers == list(range(1, len(files) + 1)), numbers  # noqa: S101 - a slip of ours
    return [file.read_text("utf-8") for file in files]


def require_newest(name: str, done: int, known: int) -> None:
    """Raise unless a store has the last format."""
    refuse_newer(name, done, known)
    if done < known:
        raise StoreTooOld(
            f"{name}: format {done} is too old to be read (expected {known}); the next crawl "
            "upgrades it"
        )


def refuse_newer(name: str, done: int, known: int) -> None:
    """Raise for a store of a later version of recrawl."""
    if done > known:
        raise StoreTooNew(
            f"{name}: format {done} is from a newer recrawl (this one reads up to {known})"
        )
