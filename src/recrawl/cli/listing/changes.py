"""`recrawl listing changes`: the feed of a crawl's listings.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import feeds, screen, shared
from recrawl.cli.listing import shared as listing_shared
from recrawl.cli.verbs import LIMIT

if TYPE_CHECKING:
    from recrawl.entries.listings import ObjectEvent
    from recrawl.publish.feeds import EventFeed
    from recrawl.publish.object_events import ObjectFilter

_SNAPSHOT = typer.Option("--snapshot", help="Write all listed objects instead of events.")
_KIND = typer.Option(
    metavar="KIND", help="Only arrived, changed, vanished or back; may be repeated."
)


def changes(
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    after: Annotated[str, feeds.AFTER] = "",
    since: Annotated[str, feeds.SINCE] = "",
    snapshot: Annotated[bool, _SNAPSHOT] = False,
    follow: Annotated[bool, feeds.FOLLOW] = False,
    limit: Annotated[int | None, LIMIT] = None,
    newest: Annotated[int | None, feeds.NEWEST] = None,
    kind: Annotated[list[str] | None, _KIND] = None,
    name: Annotated[str, listing_shared.NAME] = "",
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_json: Annotated[bool, feeds.JSON] = False,
    atom: Annotated[Path | None, feeds.ATOM] = None,
    output: Annotated[Path | None, feeds.OUTPUT] = None,
) -> None:
    """Show which objects arrived, changed, vanished or came back.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. A terminal shows the newest events; in a pipe, or with
    --json, all of them come as JSON lines (CloudEvents), oldest first, each with the
    attributes now and before, and with a cursor: store the last cursor with your
    results, and continue with --after. Events come in order and at least once, and
    are kept for ever. --snapshot writes all listed objects first, then the cursor
    to continue from.

    \b
    Examples:
        recrawl listing changes --since 1d
        recrawl listing changes --name jobs --kind arrived --json
        recrawl listing changes --snapshot --follow --json | ./mirror-jobs
        recrawl listing changes --after k3fqabcd-listings-1042 --json
        recrawl listing changes --name jobs --atom jobs.xml
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.stores.listings import wanted_listings
    from recrawl.entries.listings import ObjectChangeKind
    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.feeds import object_feed
    from recrawl.publish.object_events import ObjectFilter, object_cloud_event
    from recrawl.store import open_store

    feeds.check_newest(newest, limit, snapshot=snapshot)
    feeds.check(after, since, snapshot=snapshot, follow=follow, atom=atom, output=output)
    kinds = feeds.check_kinds(kind or [], [each.label for each in ObjectChangeKind if each])
    wanted = ObjectFilter(kinds, frozenset({name} if name else ()))
    to_screen = not (as_json or atom or output) and screen.is_terminal(sys.stdout)
    with open_store(shared.store_in(store, settings)) as reader:
        if not follow:  # one that is followed may have its first sync any moment
            wanted_listings(reader, name)
        feed = object_feed(reader)
        start, source = feeds.start_of(feed, after, since), feed.range().feed
        if atom is not None:
            _write_atom(feed, start, wanted, newest or limit or feeds.MOST_ENTRIES, atom)
            return
        if to_screen and not follow and not snapshot:
            _show(feed, start, wanted, newest or limit or screen.most_rows())
            return

        def told(batch: list[ObjectEvent]) -> list[str]:
            ours = filter(wanted.holds, batch)
            return [json.dumps(object_cloud_event(source, event)) + "\n" for event in ours]

        if newest is not None:
            start = feeds.before_newest(
                feed, start, lambda some: [*filter(wanted.holds, some)], newest
            )
        rows = EVENTS_AT_A_TIME
        if snapshot:
            lines = feeds.snapshot_batches(feed, told, rows, unit="objects", follow=follow)
        else:
            lines = feeds.batches(feed, start, told, rows, follow=follow)
        feeds.write(feeds.limited(lines, limit), output, _sentence if to_screen else None)


def _show(feed: EventFeed[ObjectEvent], start: int, wanted: ObjectFilter, most: int) -> None:
    """Print the newest events as a table."""
    from recrawl.report.listings.changes import HEADER, object_event_words

    newest, total = feeds.newest(feed, start, lambda some: [*filter(wanted.holds, some)], most)
    rows = object_event_words(newest)
    left = (0, 1, 2, 3, 4, 6)
    shared.show(HEADER, rows, total=total, unit="event", left=left, options="--json or -o")
    if not total:
        screen.remark("No events.")


def _write_atom(
    feed: EventFeed[ObjectEvent], start: int, wanted: ObjectFilter, most: int, path: Path
) -> None:
    from recrawl.publish.atom import AtomEntry

    newest, _ = feeds.newest(feed, start, lambda some: [*filter(wanted.holds, some)], most)
    entries = [AtomEntry.of_object(event) for event in newest]
    feeds.write_atom(feed.range().feed, entries, path, "".join(wanted.listings))


def _sentence(event: dict[str, Any]) -> str:
    """An event of a feed that is followed on a terminal."""
    from recrawl.report.table import printable

    what = event["type"].removeprefix("recrawl.object.").removeprefix("recrawl.")
    data = event["data"]
    which = f"{data['listing']} {data['key']}" if "key" in data else data["cursor"]
    return printable(f"{event['time']}  {what:8} {which}")
