"""Secrets that settings refer to: `env:NAME` or `file:PATH`.

Touches: files, the environment.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recrawl.errors import InvalidSettings, reason

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 4096  # bytes of a file that are read


def read_reference(reference: str, folder: Path, what: str) -> str:
    """The text that a reference of the settings leads to; errors tell the reference alone.

    Args:
        reference: `env:NAME` or `file:PATH`.
        folder: Where relative paths begin.
        what: What it should be, such as `secret`.
    """
    place, _, name = reference.partition(":")
    if place == "env":
        text = os.environ.get(name, "")
        if not text:
            raise InvalidSettings(f"{what} {reference}: no such environment variable is set")
        return text.strip()
    try:
        with (folder / name).open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace").strip()
    except OSError as error:
        said = f"{what} {reference}: the file cannot be read ({reason(error)})"
        raise InvalidSettings(said) from None
