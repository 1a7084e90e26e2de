"""What verbs that change the settings do about a crawl that is running.

Touches: a store, signals, the standard streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.cli import screen

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.settings.reloading import ReloadedSettings
    from recrawl.settings.settings import Settings


def reloaded(old: Settings, new: Settings, store: Path) -> ReloadedSettings:
    """What a crawl of a store that runs with settings makes of others that it reads."""
    from recrawl.settings.reloading import reload_settings
    from recrawl.state.snapshot import needs_replay
    from recrawl.store import open_store

    found = reload_settings(old, new)
    with open_store(store) as reader:
        if needs_replay(found.settings, reader):
            return reload_settings(old, new, regroups=False)
    return found


def tell_crawl(store: Path, reason: str) -> bool:
    """Let a crawl that runs read the settings again; False where none does.

    Args:
        store: Its store.
        reason: What to restart a crawl for that does not listen.
    """
    import os
    import signal

    from recrawl.store.lock import is_locked, reloading_process

    process = reloading_process(store)
    try:
        if process is not None:
            os.kill(process, signal.SIGHUP)
            screen.remark(f"A crawl is running (process {process}); it reloads the settings.")
            return True
    except OSError:  # another user's, or just ended
        pass
    if not is_locked(store):
        return False
    screen.remark(f"A crawl is running: restart it {reason}.")
    return True
