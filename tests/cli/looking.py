"""A crawl in a folder, and a terminal to look at it on."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tests.cli.running import RECRAWL
from tests.docs.pages import output_of

if TYPE_CHECKING:
    from pathlib import Path


def on_a_terminal(folder: Path, *words: object) -> str:
    """What a person sees who runs `recrawl` in a folder: rows, then remarks."""
    return output_of(f"cd {shlex.quote(str(folder))} && {shlex.join([RECRAWL, *map(str, words)])}")
