"""`recrawl history`: the visits to one page.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import inspecting, screen, shared

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.state.snapshot import Snapshot


def history(
    url: Annotated[str, inspecting.URL],
    *,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Show the visits to one page, and how often it changes.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. One row per visit: its time and outcome, the status code,
    size and duration of the response, and how long before the visit the page had
    changed, if the host reports it. A terminal shows the newest visits first;
    files hold all visits, oldest first, and can be read as visit logs.

    \b
    Examples:
        recrawl history https://example.org/news
        recrawl history https://example.org/news -o news.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.histories import HEADER, visit_columns, visit_words

    out = shared.Output.of(settings, as_csv=as_csv, as_json=as_json, file=output)
    with inspecting.open_crawl(settings) as (asked, reader):
        page, address = inspecting.page_of(reader, url)
        visits = reader.history(page)
        if not out.interactive:
            out.write([address] * len(visits.at), visit_columns(visits))
            return
        words = visit_words(visits, screen.most_rows())
        shared.show(HEADER, words, total=len(visits.at), unit="visit", left=(0, 1))
        _summarize(inspecting.snapshot_of(asked, reader), reader, page, address)


def _summarize(snapshot: Snapshot, reader: ReadStore, page: int, address: str) -> None:
    """Print a page's estimated rate, its next visit and its stored versions."""
    import numpy as np

    from recrawl.inspect.next_visits import next_visits
    from recrawl.inspect.pages import believed, hinted_at
    from recrawl.report.pages import ahead
    from recrawl.report.words import counted, every, percent
    from recrawl.units import instant_after_epoch
    from recrawl.visits.status import PageStatus, RobotsTag

    beliefs, status = believed(snapshot, page), PageStatus(int(snapshot.columns.status[page]))
    if status not in (PageStatus.COPIED, PageStatus.SUSPECTED):
        screen.remark(f"{address} is {status.label}.")
    elif beliefs is not None:
        (rate,), (low,), (high,) = beliefs.rate, *beliefs.rate_band()
        between = f"{every(1 / high)} to {every(1 / low)}"
        fresh = percent(float(beliefs.fresh[0]))
        screen.remark(f"{address} changes every {every(1 / rate)} ({between}); {fresh} fresh now.")
    hinted = hinted_at(snapshot, reader, page)
    if not np.isnan(hinted):
        screen.remark(f"Hinted {every(max(snapshot.now - hinted, 0.0))} ago, not visited since.")
    coming = next_visits(snapshot, reader, np.array([page]))[0]
    if not np.isnat(coming):
        screen.remark(f"Next visit {ahead(coming, instant_after_epoch(snapshot.now))}.")
    versions = reader.versions(page)
    if versions:
        size = sum(each.size for each in versions)
        screen.remark(f"{counted(len(versions), 'version')} kept, {size:,} bytes.")
    (copy,) = reader.copies([page])
    if copy is not None and RobotsTag.NOARCHIVE in copy.robots:
        screen.remark("No version is kept: the page asks for noarchive.")
