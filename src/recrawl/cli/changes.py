"""`recrawl changes`: the change feed of a crawl.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import feeds, inspecting, screen, shared
from recrawl.cli.verbs import LIMIT
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.publish.content import ContentReader
    from recrawl.publish.events import EventFilter
    from recrawl.publish.feeds import EventFeed, LatestEvents
    from recrawl.settings.settings import Settings

_SNAPSHOT = typer.Option("--snapshot", help="Write all current copies instead of events.")
_LATEST = typer.Option("--latest", help="Only the newest event of each page.")
_KIND = typer.Option(
    metavar="KIND", help="Only new, changed, removed, moved or back; may be repeated."
)
_HOST = typer.Option(metavar="HOST", help="Only pages of this host.", show_default=False)
_WITH = typer.Option(
    "--with", metavar="PARTS", help="Add text, markdown, diff or chunks.", show_default=False
)
_ALL = typer.Option("--all", help="With --with chunks: include changes in navigation only.")
_HEAD = typer.Option("--head", help="Start with one JSON line on how complete the feed is.")
_DELIVER = typer.Option("--deliver", help="Deliver waiting events to webhooks and notifications.")
_UNDELIVERED = typer.Option("--undelivered", help="Show events that could not be delivered.")
_REDELIVER = typer.Option(
    "--redeliver", metavar="ID", help="Deliver one event again.", show_default=False
)
_TEST = typer.Option(
    "--test", metavar="NAME", help="Send a message to a [[notify]] now.", show_default=False
)
_SETTINGS = typer.Option(
    "--settings",
    "-c",
    metavar="FILE",
    help="Settings of the crawl, or a store of `recrawl.Scheduler`, which has its own.  "
    "[default: recrawl.toml beside the store]",
    parser=place_of,
    show_default=False,
)
_FEW = 20  # events read at once where each brings its content


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which events are wanted.

    Args:
        kinds: Their kinds; none for all.
        host: Host of their pages; empty for all.
        everything: Whether those whose content is the same are wanted, too.
        latest: Whether of several of a page only the newest is.
    """

    kinds: frozenset[str]
    host: str
    everything: bool
    latest: bool

    @property
    def filter(self) -> EventFilter:
        """What tells whether an event is one of them."""
        from recrawl.publish.events import EventFilter

        return EventFilter(self.kinds, frozenset({self.host} if self.host else ()))


def changes(
    store: Annotated[Path | None, shared.STORE] = None,
    *,
    after: Annotated[str, feeds.AFTER] = "",
    since: Annotated[str, feeds.SINCE] = "",
    snapshot: Annotated[bool, _SNAPSHOT] = False,
    follow: Annotated[bool, feeds.FOLLOW] = False,
    latest: Annotated[bool, _LATEST] = False,
    limit: Annotated[int | None, LIMIT] = None,
    newest: Annotated[int | None, feeds.NEWEST] = None,
    kind: Annotated[list[str] | None, _KIND] = None,
    host: Annotated[str, _HOST] = "",
    parts: Annotated[str, _WITH] = "",
    everything: Annotated[bool, _ALL] = False,
    head: Annotated[bool, _HEAD] = False,
    csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, feeds.JSON] = False,
    atom: Annotated[Path | None, feeds.ATOM] = None,
    output: Annotated[Path | None, feeds.TABLE_OUTPUT] = None,
    deliver: Annotated[bool, _DELIVER] = False,
    undelivered: Annotated[bool, _UNDELIVERED] = False,
    redeliver: Annotated[str, _REDELIVER] = "",
    test: Annotated[str, _TEST] = "",
    settings: Annotated[Path | None, _SETTINGS] = None,
) -> None:
    """Show which pages are new, changed, removed, moved or back.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. A terminal shows the newest events; in a pipe, or with
    --json, all of them come as JSON lines (CloudEvents), oldest first, each with a
    cursor: store the last cursor with your results, and continue with --after.
    --csv writes the same events as a table.
    Events come in order and at least once. --snapshot writes all copies first, then
    the cursor to continue from. An expired cursor is an error.

    A crawl delivers events to the webhooks and notifications of the settings by
    itself; --deliver and --redeliver do so while no crawl is running, and record
    the progress in the store. --test sends the newest changes, if any, to a
    [[notify]].

    \b
    Examples:
        recrawl changes --since 1d
        recrawl changes --since 1d --with diff
        recrawl changes --newest 10 --json
        recrawl changes news/recrawl.db --csv > changes.csv
        recrawl changes --snapshot --follow --json | ./index-pages
        recrawl changes --after k3fqabcd-1042 --with chunks --json
        recrawl changes --host example.org --atom changes.xml
        recrawl changes --deliver
        recrawl changes --test me
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.publish.content import ContentReader
    from recrawl.publish.feeds import page_feed
    from recrawl.visits.status import FeedKind

    if sum([deliver, undelivered, bool(redeliver), bool(test)]) > 1:
        said = "--deliver, --undelivered, --redeliver and --test exclude each other"
        raise typer.BadParameter(said)
    asked_of = inspecting.settings_beside(store, settings)
    if deliver or undelivered or redeliver or test:
        if store is not None:
            raise typer.BadParameter("deliveries are those of the settings: leave out STORE")
        _deliveries(asked_of, redeliver, test, deliver=deliver, as_json=as_json)
        return
    feeds.check_newest(newest, limit, snapshot=snapshot)
    others = snapshot or follow or head or bool(parts) or atom is not None
    table = _table(csv, output, as_json=as_json, others=others)
    feeds.check(
        after, since, snapshot=snapshot, follow=follow, atom=atom, output=output, tables=True
    )
    kinds = feeds.check_kinds(kind or [], [each.label for each in FeedKind if each])
    wanted = _Wanted(kinds, host.lower(), everything, latest)
    to_screen = not (as_json or atom or output) and screen.is_terminal(sys.stdout)
    with (
        inspecting.open_crawl(asked_of, store) as (asked, reader),
        inspecting.documents() as convert,
    ):
        if host:
            inspecting.host_of(reader, wanted.host)
        named = [part.strip() for part in parts.split(",") if part.strip()]
        content, feed = ContentReader(reader, asked, named, convert), page_feed(reader)
        start = feeds.start_of(feed, after, since)
        if table is not None:
            _write_table(feed, start, wanted, table, (newest, limit))
        elif atom is not None:
            said = _how_complete(asked, reader)
            _write_atom(feed, start, wanted, newest or limit or feeds.MOST_ENTRIES, said, atom)
        elif to_screen and not follow and not snapshot:
            _show(feed, start, wanted, newest or limit or screen.most_rows(), content)
            screen.remark(_how_complete(asked, reader))
        else:
            if newest is not None:
                start = feeds.before_newest(feed, start, _picker(feed, start, wanted), newest)
            first = [_head(asked, reader)] if head else []
            lines = _lines(feed, content, start, wanted, snapshot=snapshot, follow=follow)
            sentence = _sentence if to_screen else None
            feeds.write(chain(first, feeds.limited(lines, limit)), output, sentence)


def _table(
    csv: bool | None, output: Path | None, *, as_json: bool, others: bool
) -> shared.Output | None:
    """Where a table of the events goes; None where they are no table.

    Args:
        csv: What --csv and --spreadsheet say.
        output: What -o names.
        as_json: Whether --json was given.
        others: Whether something is wanted that no table has.
    """
    is_file = output is not None and output.suffix.lower() == ".csv"
    if csv is None and not is_file:
        return None
    if others:
        said = "CSV excludes --snapshot, --follow, --head, --with and --atom; --json takes them"
        raise typer.BadParameter(said)
    return shared.Output.of(as_csv=csv, as_json=as_json, file=output)


def _write_table(
    feed: EventFeed[FeedEvent],
    start: int,
    wanted: _Wanted,
    out: shared.Output,
    most: tuple[int | None, int | None],
) -> None:
    """Write events as a table, oldest first: all, the newest few or the oldest few."""
    from itertools import islice

    from recrawl.arrays.texts import Texts
    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.feeds import events_after
    from recrawl.report.changes import COLUMNS, event_columns

    name, (newest, oldest) = feed.range().feed, most
    if newest is not None:
        start = feeds.before_newest(feed, start, _picker(feed, start, wanted), newest)
    batches = map(_picker(feed, start, wanted), events_after(feed, start, EVENTS_AT_A_TIME))
    events = islice(chain.from_iterable(batches), oldest)
    with out.writer(COLUMNS) as writer:
        while some := list(islice(events, EVENTS_AT_A_TIME)):
            writer.write(Texts.of([event.address for event in some]), event_columns(some, name))


def _how_complete(asked: Settings, reader: ReadStore) -> str:
    """A sentence on how complete the feed is."""
    from recrawl.inspect.status.overview import how_complete
    from recrawl.report.status.status import feed_sentence

    found = how_complete(asked, reader, inspecting.now(reader))
    if found is None:
        return "How complete the feed is cannot be told yet."
    return f"The feed {feed_sentence(found)}."


def _head(asked: Settings, reader: ReadStore) -> list[str]:
    """The head of the feed as a line of JSON."""
    from recrawl.inspect.status.overview import how_complete
    from recrawl.publish.events import head
    from recrawl.report.status.object import feed_object
    from recrawl.units import SECONDS_A_DAY

    now, kept = inspecting.now(reader), reader.feed_range()
    found = how_complete(asked, reader, now)
    complete = None if found is None else feed_object(found)
    return [json.dumps(head(kept.feed, kept.newest, complete, now * SECONDS_A_DAY)) + "\n"]


def _deliveries(settings: Path, redeliver: str, test: str, *, deliver: bool, as_json: bool) -> None:
    """Deliver by hand, or show what was not delivered."""
    from recrawl.cli import deliveries

    if test:
        deliveries.test(settings, test)
    elif deliver:
        deliveries.deliver(settings)
    elif redeliver:
        deliveries.redeliver(settings, redeliver)
    else:
        deliveries.show_undelivered(settings, as_json=as_json)


def _lines(
    feed: EventFeed[FeedEvent],
    content: ContentReader,
    start: int,
    wanted: _Wanted,
    *,
    snapshot: bool,
    follow: bool,
) -> Iterator[list[str]]:
    """Lines of JSON, some at a time: the copies of a snapshot, then what came after."""
    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.feeds import LatestEvents

    rows = _FEW if content.parts else EVENTS_AT_A_TIME
    # A snapshot has the newest of each page, and all that comes later is told.
    only = LatestEvents(feed.store, start) if wanted.latest and not snapshot else None
    told = _teller(feed.range().feed, content, wanted, only)
    if snapshot:
        return feeds.snapshot_batches(feed, told, rows, unit="pages", follow=follow)
    return feeds.batches(feed, start, told, rows, follow=follow)


def _teller(
    feed: str, content: ContentReader, wanted: _Wanted, only: LatestEvents | None
) -> Callable[[list[FeedEvent]], list[str]]:
    """Makes lines of the events that are wanted, with their content."""
    from recrawl.publish.events import cloud_event, event_line

    holds = wanted.filter.holds

    def told(batch: list[FeedEvent]) -> list[str]:
        some = batch if only is None else only.of(batch)
        ours = some if not wanted.kinds and not wanted.host else filter(holds, some)
        if not content.parts:
            return [event_line(feed, event) for event in ours]
        found = [
            cloud_event(feed, event, content.of(event, skipped=bool(only and only.skips(event))))
            for event in ours
        ]
        if "chunks" in content.parts and not wanted.everything:
            found = [each for each in found if each["data"].get("content") is not False]
        return [f"{json.dumps(each)}\n" for each in found]

    return told


def _sentence(event: dict[str, Any]) -> str:
    """An event of a feed that is followed on a terminal."""
    from recrawl.publish.events import HEAD
    from recrawl.report.table import printable

    data = event["data"]
    if event["type"] == HEAD:
        complete = data["completeness"]
        share = f"{100 * complete['complete']:.1f} % complete" if complete else "unknown"
        return f"{event['time']}  {share}"
    what = event["type"].removeprefix("recrawl.page.").removeprefix("recrawl.")
    why = data.get("reason") or data.get("gist") or ""
    page = event.get("subject") or data.get("page", data["cursor"])
    return printable(f"{event['time']}  {what:8} {why:10} {page}")


def _show(
    feed: EventFeed[FeedEvent], start: int, wanted: _Wanted, most: int, content: ContentReader
) -> None:
    """Print the newest events as a table, and their diffs where they were asked for."""
    from recrawl.report.changes import HEADER, event_words
    from recrawl.report.diff.lines import heading, shown

    newest, total = feeds.newest(feed, start, _picker(feed, start, wanted), most)
    shared.show(
        HEADER,
        event_words(newest),
        total=total,
        unit="event",
        left=(0, 1, 3, 4),
        options="--csv, --json or -o",
    )
    if "diff" in content.parts:
        for comparison in filter(None, map(content.compared, newest)):
            for line in (
                "",
                *heading(comparison),
                *(each.plain() for each in shown(comparison.diff)),
            ):
                screen.say(line)
    if not total:
        screen.remark("No events.")


def _picker(
    feed: EventFeed[FeedEvent], start: int, wanted: _Wanted
) -> Callable[[list[FeedEvent]], list[FeedEvent]]:
    """Picks the events that are wanted."""
    from recrawl.publish.feeds import LatestEvents

    only = LatestEvents(feed.store, start) if wanted.latest else None
    holds = wanted.filter.holds
    return lambda batch: [*filter(holds, batch if only is None else only.of(batch))]


def _write_atom(
    feed: EventFeed[FeedEvent], start: int, wanted: _Wanted, most: int, subtitle: str, path: Path
) -> None:
    from recrawl.publish.atom import AtomEntry

    newest, _ = feeds.newest(feed, start, _picker(feed, start, wanted), most)
    entries = [AtomEntry.of_page(event) for event in newest]
    feeds.write_atom(feed.range().feed, entries, path, wanted.host, subtitle)
