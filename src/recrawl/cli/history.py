"""`recrawl history`: the visits to one page, and what they have taught.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import looking, shared

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.state.snapshot import Snapshot


def history(
    url: Annotated[str, looking.URL],
    *,
    settings: Annotated[Path, looking.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show the visits to one page of a crawl, and how often it changes.

    Reads recrawl.toml and the store beside it, whether a crawl is running or
    not; nothing is changed. One row per visit, newest first on a terminal:
    when, what it found, the status code, size and duration of the answer, and how
    long before the visit the page had changed, where the host tells. Files hold
    all visits, oldest first, and can be read as visit logs.

    \b
    Examples:
        recrawl history https://example.org/news
        recrawl history https://example.org/news -o news.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.arrays.texts import Texts
    from recrawl.cli import screen
    from recrawl.report.histories import HEADER, VISIT_COLUMNS, visit_columns, visit_words

    kind = shared.check_one_format(as_csv=as_csv, as_json=as_json, output=output)
    if output is not None:
        shared.check_place(output, settings)
    with looking.reading(settings) as (asked, reader):
        page, address = looking.page_of(reader, url)
        visits = reader.history(page)
        if shared.is_interactive(kind, output):
            words = visit_words(visits, screen.MOST_ROWS)
            screen.show_table(HEADER, words, left=(0, 1))
            if len(visits.at) > len(words):
                left = len(visits.at) - len(words)
                screen.remark(f"... and {left:,} older; --csv, --json or -o has them all.")
            _say(looking.sight_of(asked, reader), reader, page, address)
            return
        with shared.target(kind, output, VISIT_COLUMNS) as writer:
            writer.write(Texts.of([address] * len(visits.at)), visit_columns(visits))


def _say(sight: Snapshot, reader: ReadStore, page: int, address: str) -> None:
    """Say in words what is believed of the page, and what is kept of it."""
    import numpy as np

    from recrawl.cli import screen
    from recrawl.inspect.next_visits import next_visits
    from recrawl.inspect.pages import believed
    from recrawl.report.pages import ahead
    from recrawl.report.words import counted, every, percent
    from recrawl.visits.status import PageStatus

    beliefs, status = believed(sight, page), PageStatus(int(sight.columns.status[page]))
    if status not in (PageStatus.COPIED, PageStatus.SUSPECTED):
        screen.remark(f"{address} is {status.label}.")
    elif beliefs is not None:
        (rate,), (low,), (high,) = beliefs.rate, *beliefs.rate_band()
        between = f"{every(1 / high)} to {every(1 / low)}"
        fresh = percent(float(beliefs.fresh[0]))
        screen.remark(f"{address} changes every {every(1 / rate)} ({between}); {fresh} fresh now.")
    coming = next_visits(sight, reader, np.array([page]))[0]
    if not np.isnat(coming):
        screen.remark(f"Next visit {ahead(coming, looking.instant_of(sight))}.")
    versions = reader.versions(page)
    if versions:
        size = sum(each.size for each in versions)
        screen.remark(f"{counted(len(versions), 'version')} kept, {size:,} bytes.")
