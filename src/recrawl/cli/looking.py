"""What the verbs share that look at a crawl.

Touches: files, the clock.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

URL = typer.Argument(metavar="URL", help="Address of the page.", show_default=False)
SETTINGS = typer.Option("--settings", metavar="FILE", help="Settings of the crawl.")


@contextmanager
def reading(settings: Path, store: Path | None = None) -> Iterator[tuple[Settings, ReadStore]]:
    """Settings of a crawl, and its store for reading.

    Args:
        settings: File of its settings.
        store: File of its store, where that is not the one that the settings name.
    """
    from recrawl.cli.crawling import load_settings, store_of
    from recrawl.store import open_store

    asked = load_settings(settings)
    with open_store(store or store_of(settings, asked)) as reader:
        yield asked, reader


@contextmanager
def looked_at(settings: Path, store: Path | None = None) -> Iterator[tuple[Snapshot, ReadStore]]:
    """A crawl as it stands now, and its store for reading; arguments as those of `reading`."""
    with reading(settings, store) as (asked, reader):
        yield sight_of(asked, reader), reader


def page_of(reader: ReadStore, url: str) -> tuple[int, str]:
    """Number and address of the page that a person means."""
    from itertools import chain

    from recrawl.errors import UnknownPage
    from recrawl.parse.addresses import canonical
    from recrawl.report.histories import nearest

    address = canonical(url) or url
    (page,) = reader.find_pages([address])
    if page is None:
        other = nearest(address, chain.from_iterable(reader.all_addresses()))
        hint = f"; did you mean {other}?" if other else ""
        raise UnknownPage(f"{reader.name}: URL must be a page of the crawl (got {address}){hint}")
    return page, address


def sight_of(settings: Settings, reader: ReadStore) -> Snapshot:
    """A crawl as it stands now."""
    import time

    from recrawl.state.snapshot import load_snapshot
    from recrawl.units import SECONDS_A_DAY

    return load_snapshot(settings, reader, time.time() / SECONDS_A_DAY)


def instant_of(sight: Snapshot) -> np.datetime64:
    """When a crawl was looked at."""
    from recrawl.units import instant_after_epoch

    return instant_after_epoch(sight.now)
