"""What the verbs that read a feed share: options, where to begin, lines, Atom.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from recrawl.publish.atom import AtomEntry
    from recrawl.publish.feeds import EventFeed, EventT

AFTER = typer.Option(metavar="CURSOR", help="Only events after this cursor.", show_default=False)
SINCE = typer.Option(
    metavar="TIME",
    help="Only events seen since then, e.g. 1d (ago) or 2026-01-05.",
    show_default=False,
)
FOLLOW = typer.Option("--follow", help="Keep printing new events, until Ctrl-C.")
NEWEST = typer.Option(
    "--newest",
    metavar="N",
    min=1,
    help="Only the newest N events; JSON lines still come oldest first.",
    show_default=False,
)
JSON = typer.Option("--json", help="Write JSON lines instead of a table.")
ATOM = typer.Option(
    "--atom",
    metavar="FILE",
    help="Write an Atom feed of the newest events to FILE.",
    show_default=False,
)
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write JSON lines to FILE.", show_default=False
)
TABLE_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to FILE: JSON lines, or a table if it ends in .csv.",
    show_default=False,
)
MOST_ENTRIES = 100  # of an Atom feed, where no limit is given


def check_newest(newest: int | None, limit: int | None, *, snapshot: bool) -> None:
    """Raise for options that say twice how many events are wanted, and which."""
    if newest is not None and (snapshot or limit is not None):
        raise typer.BadParameter("--newest excludes --limit and --snapshot")


def check(
    after: str,
    since: str,
    *,
    snapshot: bool,
    follow: bool,
    atom: Path | None,
    output: Path | None,
    tables: bool = False,
) -> None:
    """Raise for options that conflict, and for files that cannot be written.

    Args:
        after: What --after says.
        since: What --since says.
        snapshot: Whether a snapshot is wanted.
        follow: Whether new events are.
        atom: What --atom names.
        output: What -o names.
        tables: Whether -o may name a table.
    """
    from recrawl.adapters.tables.outputs import check_output

    if sum([bool(after), bool(since), snapshot]) > 1:
        raise typer.BadParameter("--after, --since and --snapshot exclude each other")
    if atom is not None and (snapshot or follow or output is not None):
        raise typer.BadParameter("--atom excludes --snapshot, --follow and -o")
    if follow and output is not None:
        raise typer.BadParameter("--follow writes to the standard output, not to -o")
    if output is not None:
        formats = {".jsonl": "json", ".ndjson": "json"}
        check_output(output, formats=formats | ({".csv": "csv"} if tables else {}))
    if atom is not None:
        check_output(atom, formats={".xml": "atom", ".atom": "atom"})


def check_kinds(named: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    """Kinds of events, as they were named."""
    for each in named:
        if each not in known:
            raise InvalidParameter(f"--kind must be one of {', '.join(known)} (got {each!r})")
    return frozenset(named)


def start_of(feed: EventFeed[EventT], after: str, since: str) -> int:
    """Number of the event to begin after."""
    from recrawl.cli.options import past

    if since:
        return feed.first_since(past(since, "--since")) - 1
    return feed.after(after or None)


def batches(
    feed: EventFeed[EventT],
    start: int,
    told: Callable[[list[EventT]], list[str]],
    rows: int,
    *,
    follow: bool,
) -> Iterator[list[str]]:
    """Lines of JSON, some at a time: events after a number, and whatever comes."""
    from recrawl.publish.feeds import events_after, follow_events

    read = follow_events if follow else events_after
    for batch in read(feed, start, rows):
        yield told(batch)


def snapshot_batches(
    feed: EventFeed[EventT],
    told: Callable[[list[EventT]], list[str]],
    rows: int,
    *,
    unit: str,
    follow: bool,
) -> Iterator[list[str]]:
    """Lines of JSON, some at a time: all that readers have, the end, and what came after.

    Args:
        feed: The feed.
        told: Makes lines of events.
        rows: Most events at once.
        unit: What the end of a snapshot counts.
        follow: Whether to go on with what comes.
    """
    from recrawl.publish.events import snapshot_end

    kept, found = feed.range(), 0
    for batch in feed.snapshot(rows):
        lines = told(batch)
        found += len(lines)
        yield lines
    yield [json.dumps(snapshot_end(kept.feed, kept.newest, {unit: found}, time.time())) + "\n"]
    if follow:
        yield from batches(feed, kept.newest, told, rows, follow=True)


def limited(found: Iterable[list[str]], limit: int | None) -> Iterator[list[str]]:
    """At most so many lines."""
    left = limit
    for batch in found:
        yield batch if left is None else batch[:left]
        if left is not None:
            left -= len(batch)
            if left <= 0:
                return


def write(
    found: Iterable[list[str]],
    output: Path | None,
    sentence: Callable[[dict[str, Any]], str] | None = None,
) -> None:
    """Write events as JSON lines; Ctrl-C is how a reader that follows ends.

    Args:
        found: Lines, some at a time.
        output: File to write; None for the standard output.
        sentence: Makes a sentence of an event for the standard output, instead of its line.
    """
    from recrawl.store.scratch import whole_file

    if output is not None:
        with whole_file(output) as file:
            for batch in found:
                file.write("".join(batch).encode())
        return
    try:
        for batch in found:
            if sentence is not None:
                for line in batch:
                    screen.say(sentence(json.loads(line)))
            else:
                sys.stdout.buffer.write("".join(batch).encode())
                sys.stdout.buffer.flush()
    except KeyboardInterrupt:
        return


def newest(
    feed: EventFeed[EventT], start: int, pick: Callable[[list[EventT]], list[EventT]], most: int
) -> tuple[list[EventT], int]:
    """The newest events, newest first, and how many there are."""
    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.feeds import events_after

    found: deque[EventT] = deque(maxlen=most)
    total = 0
    for batch in events_after(feed, start, EVENTS_AT_A_TIME):
        ours = pick(batch)
        total += len(ours)
        found.extend(ours)
    return list(reversed(found)), total


def before_newest(
    feed: EventFeed[EventT], start: int, pick: Callable[[list[EventT]], list[EventT]], most: int
) -> int:
    """Number of the event to begin after, for the newest events of those after `start`."""
    found, _ = newest(feed, start, pick, most)
    return found[-1].number - 1 if found else start


def write_atom(
    name: str, entries: Sequence[AtomEntry], path: Path, about: str = "", subtitle: str = ""
) -> None:
    """Write an Atom feed of events, the newest of which comes first."""
    from recrawl.publish.atom import atom_feed
    from recrawl.report.words import counted
    from recrawl.store.scratch import whole_file

    text = atom_feed(name, entries[::-1], about, subtitle)
    with whole_file(path) as file:
        file.write(text.encode())
    screen.remark(f"Wrote {counted(len(entries), 'event')} to {path}.")
