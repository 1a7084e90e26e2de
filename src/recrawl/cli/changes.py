"""`recrawl changes`: the change feed of a crawl.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import inspecting, screen, shared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.publish.content import ContentReader
    from recrawl.publish.events import EventFilter
    from recrawl.settings.settings import Settings

_AFTER = typer.Option(metavar="CURSOR", help="Only events after this one.", show_default=False)
_SINCE = typer.Option(
    metavar="T",
    help="Only events seen since then, e.g. 1d (ago) or 2026-01-05",
    show_default=False,
)
_SNAPSHOT = typer.Option("--snapshot", help="All copies that there are, instead of events.")
_FOLLOW = typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")
_LATEST = typer.Option("--latest", help="Of several events of a page only the newest.")
_LIMIT = typer.Option(metavar="N", min=1, help="Most events.", show_default=False)
_KIND = typer.Option(
    metavar="K", help="Only new, changed, removed, moved or back; may be repeated."
)
_HOST = typer.Option(metavar="H", help="Only pages of this host.", show_default=False)
_WITH = typer.Option(
    "--with", metavar="PARTS", help="Add text, markdown, diff or chunks.", show_default=False
)
_ALL = typer.Option("--all", help="With chunks: also changes of navigation alone.")
_HEAD = typer.Option("--head", help="Begin with how complete the feed is, as a line of JSON.")
_JSON = typer.Option("--json", help="Write JSON lines instead of a table.")
_ATOM = typer.Option(
    "--atom", metavar="F", help="Write an Atom feed of the newest events to F.", show_default=False
)
_OUTPUT = typer.Option(
    "--output", "-o", metavar="F", help="Write JSON lines to F.", show_default=False
)
_DELIVER = typer.Option("--deliver", help="Deliver what waits to webhooks and notifications.")
_UNDELIVERED = typer.Option("--undelivered", help="Show events that could not be delivered.")
_REDELIVER = typer.Option(
    "--redeliver", metavar="ID", help="Deliver one event again.", show_default=False
)
_TEST = typer.Option(
    "--test", metavar="NAME", help="Send a message to a [[notify]] now.", show_default=False
)
_MOST_ENTRIES = 100  # of an Atom feed, where no limit is given
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
    *,
    after: Annotated[str, _AFTER] = "",
    since: Annotated[str, _SINCE] = "",
    snapshot: Annotated[bool, _SNAPSHOT] = False,
    follow: Annotated[bool, _FOLLOW] = False,
    latest: Annotated[bool, _LATEST] = False,
    limit: Annotated[int | None, _LIMIT] = None,
    kind: Annotated[list[str] | None, _KIND] = None,
    host: Annotated[str, _HOST] = "",
    parts: Annotated[str, _WITH] = "",
    everything: Annotated[bool, _ALL] = False,
    head: Annotated[bool, _HEAD] = False,
    as_json: Annotated[bool, _JSON] = False,
    atom: Annotated[Path | None, _ATOM] = None,
    output: Annotated[Path | None, _OUTPUT] = None,
    deliver: Annotated[bool, _DELIVER] = False,
    undelivered: Annotated[bool, _UNDELIVERED] = False,
    redeliver: Annotated[str, _REDELIVER] = "",
    test: Annotated[str, _TEST] = "",
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
) -> None:
    """Show what has changed: pages that are new, changed, removed, moved or back.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. A terminal shows the newest events; in a pipe, or with
    --json, all of them come as JSON lines (CloudEvents), oldest first, each with a
    cursor: keep that of the last one with what you made of it, and go on with
    --after. Events come at least once and in order. --snapshot gives all copies
    first and then the cursor to go on from. A cursor that has expired is told so.
    --latest leaves out what a later event of the same page has made good.

    A crawl delivers events to the webhooks and notifications of the settings by
    itself; --deliver and --redeliver do so when none runs, and write to the store
    how far each is. --test sends the newest changes, if any, to a [[notify]].

    \b
    Examples:
        recrawl changes --since 1d
        recrawl changes --since 1d --with diff
        recrawl changes --snapshot --follow --json | ./index-pages
        recrawl changes --after k3fqabcd-1042 --with chunks --json
        recrawl changes --host example.org --atom changes.xml
        recrawl changes --deliver
        recrawl changes --test me
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.publish.content import ContentReader

    if sum([deliver, undelivered, bool(redeliver), bool(test)]) > 1:
        said = "--deliver, --undelivered, --redeliver and --test exclude each other"
        raise typer.BadParameter(said)
    if deliver or undelivered or redeliver or test:
        _deliveries(settings, redeliver, test, deliver=deliver, as_json=as_json)
        return
    _check(after, since, snapshot=snapshot, follow=follow, atom=atom, output=output)
    wanted = _Wanted(_kinds(kind or []), host.lower(), everything, latest)
    to_screen = not (as_json or atom or output) and screen.is_terminal(sys.stdout)
    with inspecting.open_crawl(settings) as (asked, reader), inspecting.documents() as convert:
        named = [part.strip() for part in parts.split(",") if part.strip()]
        content = ContentReader(reader, asked, named, convert)
        start = _start(reader, after, since)
        if atom is not None:
            said = _how_complete(asked, reader)
            _write_atom(reader, start, wanted, limit or _MOST_ENTRIES, said, atom)
        elif to_screen and not follow and not snapshot:
            _show(reader, start, wanted, limit or screen.MOST_ROWS, content)
            screen.remark(_how_complete(asked, reader))
        else:
            first = [_head(asked, reader)] if head else []
            batches = _batches(reader, content, start, wanted, snapshot=snapshot, follow=follow)
            _write(chain(first, _limited(batches, limit)), output, readable=to_screen)


def _how_complete(asked: Settings, reader: ReadStore) -> str:
    """A sentence on how complete the feed is."""
    from recrawl.inspect.status.overview import how_complete
    from recrawl.report.status.status import feed_sentence

    found = how_complete(asked, reader, inspecting.now(reader))
    if found is None:
        return "It is not known yet how complete the feed is."
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


def _check(
    after: str,
    since: str,
    *,
    snapshot: bool,
    follow: bool,
    atom: Path | None,
    output: Path | None,
) -> None:
    """Raise for options that conflict, and for files that cannot be written."""
    from recrawl.adapters.tables.outputs import check_output

    if sum([bool(after), bool(since), snapshot]) > 1:
        raise typer.BadParameter("--after, --since and --snapshot exclude each other")
    if atom is not None and (snapshot or follow or output is not None):
        raise typer.BadParameter("--atom excludes --snapshot, --follow and -o")
    if follow and output is not None:
        raise typer.BadParameter("--follow writes to the standard output, not to -o")
    if output is not None:
        check_output(output, formats={".jsonl": "json", ".ndjson": "json"})
    if atom is not None:
        check_output(atom, formats={".xml": "atom", ".atom": "atom"})


def _kinds(named: list[str]) -> frozenset[str]:
    from recrawl.visits.status import FeedKind

    known = [kind.label for kind in FeedKind if kind is not FeedKind.SNAPSHOT]
    for each in named:
        if each not in known:
            said = f"must be one of {', '.join(known)} (got {each!r})"
            raise typer.BadParameter(said, param_hint="--kind")
    return frozenset(named)


def _start(reader: ReadStore, after: str, since: str) -> int:
    """Number of the event to begin after."""
    from recrawl.cli.options import past
    from recrawl.publish.cursors import position

    kept = reader.feed_range()
    if after:
        return position(after, kept, reader.name)
    if since:
        return reader.first_event_since(past(since, "--since")) - 1
    return kept.oldest - 1


def _batches(
    reader: ReadStore,
    content: ContentReader,
    start: int,
    wanted: _Wanted,
    *,
    snapshot: bool,
    follow: bool,
) -> Iterator[list[str]]:
    """Lines of JSON, some at a time: the copies of a snapshot, then what came after."""
    import time

    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.events import cloud_event, event_line, snapshot_end
    from recrawl.publish.reading import LatestEvents, events_after, follow_events

    rows = _FEW if content.parts else EVENTS_AT_A_TIME
    kept, holds = reader.feed_range(), wanted.filter.holds

    def told(batch: list[FeedEvent], only: LatestEvents | None = None) -> list[str]:
        some = batch if only is None else only.of(batch)
        ours = some if not wanted.kinds and not wanted.host else filter(holds, some)
        if not content.parts:
            return [event_line(kept.feed, event) for event in ours]
        found = [
            cloud_event(
                kept.feed, event, content.of(event, skipped=bool(only and only.skips(event)))
            )
            for event in ours
        ]
        if "chunks" in content.parts and not wanted.everything:
            found = [each for each in found if each["data"].get("content") is not False]
        return [f"{json.dumps(each)}\n" for each in found]

    if snapshot:
        pages, start = 0, kept.newest
        for batch in reader.snapshot(rows):
            copies = told(batch)
            pages += len(copies)
            yield copies
        yield [json.dumps(snapshot_end(kept.feed, kept.newest, pages, time.time())) + "\n"]
        if not follow:
            return
    latest = LatestEvents(reader, start) if wanted.latest else None
    read = follow_events if follow else events_after
    for batch in read(reader, start, rows):
        yield told(batch, latest)


def _limited(batches: Iterable[list[str]], limit: int | None) -> Iterator[list[str]]:
    left = limit
    for batch in batches:
        yield batch if left is None else batch[:left]
        if left is not None:
            left -= len(batch)
            if left <= 0:
                return


def _write(batches: Iterable[list[str]], output: Path | None, *, readable: bool) -> None:
    """Write events as JSON lines, or as sentences; Ctrl-C is how a reader that follows ends."""
    from recrawl.store.scratch import whole_file

    if output is not None:
        with whole_file(output) as file:
            for batch in batches:
                file.write("".join(batch).encode())
        return
    try:
        for batch in batches:
            if readable:
                for line in batch:
                    screen.say(_sentence(json.loads(line)))
            else:
                sys.stdout.buffer.write("".join(batch).encode())
                sys.stdout.buffer.flush()
    except KeyboardInterrupt:
        return


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
    reader: ReadStore, start: int, wanted: _Wanted, most: int, content: ContentReader
) -> None:
    """Print the newest events as a table, and their diffs where they were asked for."""
    from recrawl.report.changes import HEADER, event_words
    from recrawl.report.diff.lines import heading, shown

    newest, total = _newest(reader, start, wanted, most)
    shared.show(HEADER, event_words(newest), total=total, unit="events", left=(0, 1, 3, 4))
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


def _newest(
    reader: ReadStore, start: int, wanted: _Wanted, most: int
) -> tuple[list[FeedEvent], int]:
    """The newest events, newest first, and how many there are."""
    from recrawl.entries.store import EVENTS_AT_A_TIME
    from recrawl.publish.reading import LatestEvents, events_after

    only = LatestEvents(reader, start) if wanted.latest else None
    newest: deque[FeedEvent] = deque(maxlen=most)
    total, holds = 0, wanted.filter.holds
    for batch in events_after(reader, start, EVENTS_AT_A_TIME):
        ours = list(filter(holds, batch if only is None else only.of(batch)))
        total += len(ours)
        newest.extend(ours)
    return list(reversed(newest)), total


def _write_atom(
    reader: ReadStore, start: int, wanted: _Wanted, most: int, subtitle: str, path: Path
) -> None:
    from recrawl.publish.atom import atom_feed
    from recrawl.store.scratch import whole_file

    newest, _ = _newest(reader, start, wanted, most)
    text = atom_feed(reader.feed_range().feed, newest[::-1], wanted.host, subtitle)
    with whole_file(path) as file:
        file.write(text.encode())
    screen.remark(f"Wrote {len(newest):,} event{'s' * (len(newest) != 1)} to {path}.")
