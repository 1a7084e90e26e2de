"""A crawl to be killed: for every line of its input a child writes, and tells what is on disk.

Each line of output is one small write to a pipe, so no kill can cut it in two.
"""

import asyncio
import os
import sys
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    HostSeen,
    PageChange,
    PageEvent,
    Receipt,
)
from recrawl.entries.store import WriteStore
from recrawl.store import open_for_writing
from recrawl.store.writer import Writer
from recrawl.visits.status import FeedKind
from tests.store.made import found, visit

PAGES = 40
SIZE = 200_000


def event_of(number: int) -> PageEvent | None:
    """What every second visit tells readers of the feed."""
    return None if number % 2 else PageEvent(FeedKind.CHANGED, latest_seconds=number)


def tell(*words: object) -> None:
    """Write a line at once."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def tell_visit(number: int, told: asyncio.Future[Receipt]) -> None:
    """Tell that a visit is on disk, under which number."""
    tell("visit", told.result(), number)


def tell_checkpoint(number: int, told: asyncio.Future[Receipt]) -> None:
    """Tell that the checkpoint at a visit is on disk."""
    assert told.result() is None
    tell("checkpoint", number)


async def crawl(store: WriteStore) -> None:
    """Write visits, pages and checkpoints until killed."""
    writer = Writer(store, most_entries=20, longest_wait_seconds=0.002)
    start = store.last_visit()
    for number in count(start + 1):
        page = number * 7919 % PAGES
        made = visit(
            page,
            number,
            size=number,  # what tells one visit from another
            copy=Copy(b"%d" % number) if number % 3 == 0 else None,
            body=b"%d" % number * 100 if number % 5 == 0 else None,
            change=PageChange(failures=number) if number % 4 == 0 else None,
            event=event_of(number),
        )
        told = writer.put(made)
        told.add_done_callback(partial(tell_visit, number))
        if number % 10 == 0:
            writer.put(found(f"https://a.org/more/{number}"))
            writer.put(HostSeen("a.org", failures=number))
        if number % 20 == 0:  # so often that many a kill falls into a saving
            parts = {"a": np.full(SIZE, number), "b": np.full(SIZE, number), "number": number}
            saved = writer.put(Checkpoint(parts, number))
            saved.add_done_callback(partial(tell_checkpoint, number))
        if number % 20 == 0:
            await asyncio.sleep(0)
            await told


def main() -> None:
    """Start a child a line; this process has loaded everything and has no threads."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            asyncio.run(crawl(open_for_writing(Path(line.strip()))))
        tell("child", child)
        os.waitpid(child, 0)
        tell("dead")


if __name__ == "__main__":
    main()
