"""Scripts of all kinds, played.

Touches: a temporary folder, the modules that are checked.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.politeness.clients import play_client
from tests.politeness.crawls import play_crawls
from tests.politeness.dues import play_dues
from tests.politeness.script import ClientScript, CrawlScript

if TYPE_CHECKING:
    from tests.politeness.dues import Dues
    from tests.politeness.network import ScriptedNetwork
    from tests.politeness.script import DueScript

_MEMORY = Path("/dev/shm")  # noqa: S108 - a store there waits for no disk


def play(script: ClientScript | CrawlScript | DueScript) -> ScriptedNetwork | Dues:
    """Play a script to its end, or to the first request that should not have been sent."""
    if isinstance(script, ClientScript):
        return play_client(script)
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        if isinstance(script, CrawlScript):
            return play_crawls(script, Path(folder))
        return play_dues(script, Path(folder))
