"""The change feed of the demo's crawl: the newest changes as diffs of Markdown, how complete it is.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.detect.diff.line_diff import line_diff
from recrawl.inspect.status.overview import how_complete
from recrawl.publish.content import ContentReader
from recrawl.report.changes import page_name, what_happened
from recrawl.report.diff.lines import shown
from recrawl.report.status.status import feed_sentence
from recrawl.report.table import shortened
from recrawl.report.words import percent
from recrawl.units import utc_text
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.values import FeedCompleteness
    from recrawl.settings.settings import Settings

_SHOWN = 3  # changes
_MOST_LINES, _WIDTH = 4, 92  # of each


@dataclass(frozen=True, slots=True)
class ExampleFeed:
    """What the change feed of a demo tells in the end.

    Args:
        events: How many events there are.
        changes: The newest changes, one list of lines each.
        complete: How complete the feed is said to be; None where nothing is known of that.
    """

    events: int
    changes: list[list[str]]
    complete: FeedCompleteness | None

    def sentences(self, outdated: int) -> list[str]:
        """What is said of the feed, beside the truth.

        Args:
            outdated: Copies that are truly outdated in the end.
        """
        said = [f"The change feed holds {self.events:,} events."]
        if self.complete is not None:
            seen = self.complete.seen
            true = percent(seen / (seen + outdated)) if seen + outdated else "-"
            said.append(f"It {feed_sentence(self.complete)}; true: {true}, {outdated:,} not seen.")
        return said


def read_feed(settings: Settings, reader: ReadStore, now: float) -> ExampleFeed:
    """The feed of a demo's store at an instant, in days after 1970."""
    events = [event for batch in reader.events() for event in batch]
    content = ContentReader(reader, settings)
    changes = []
    for event in reversed(events):
        if event.kind is FeedKind.CHANGED and (lines := _markdown_diff(content, event)):
            head = f"{utc_text(event.at_seconds)}  {page_name(event)}  {what_happened(event)}"
            changes.append([head, *lines])
        if len(changes) == _SHOWN:
            break
    return ExampleFeed(len(events), changes, how_complete(settings, reader, now))


def _markdown_diff(content: ContentReader, event: FeedEvent) -> list[str]:
    """What changed in the Markdown of a page; nothing where a version is not kept."""
    old, new = (
        content.content(event.page, event.address, digest)
        for digest in (event.before, event.version)
    )
    if old is None or new is None:
        return []
    diff = line_diff(
        *([line for line in each.markdown.splitlines() if line] for each in (old, new))
    )
    lines = [each.plain() for each in shown(diff) if each.marker.strip()]
    return [f"    {shortened(line, _WIDTH)}" for line in lines[:_MOST_LINES]]
