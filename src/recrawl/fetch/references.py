"""Secrets that settings refer to: `env:NAME` or `file:PATH`.

Touches: files, the environment.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recrawl.errors import InvalidSettings, reason
from recrawl.parse.secrets import Secret

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST = 4096  # bytes of a file


def read_reference(reference: str, folder: Path, what: str) -> Secret:
    """The secret that a reference of the settings leads to; errors tell the reference alone.

    Args:
        reference: `env:NAME` or `file:PATH`.
        folder: Where relative paths begin.
        what: What it should be, such as `password`.
    """
    place, _, name = reference.partition(":")
    if place == "env":
        text = os.environ.get(name, "")
        if not text:
            raise InvalidSettings(f"{what} {reference}: no such environment variable is set")
        return Secret(text.strip())
    try:
        with (folder / name).open("rb") as file:
            raw = file.read(_LONGEST + 1)
    except OSError as error:
        said = f"{what} {reference}: the file cannot be read ({reason(error)})"
        raise InvalidSettings(said) from None
    if not raw.strip() or len(raw) > _LONGEST:
        said = "is empty" if not raw.strip() else f"has more than {_LONGEST:,} bytes"
        raise InvalidSettings(f"{what} {reference}: the file {said}")
    return Secret(raw.decode("utf-8", "replace").strip())
