"""`recrawl status`: freshness, cost and next visit of a crawl.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from recrawl.cli import inspecting, screen, shared


def status(
    *,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
    as_json: Annotated[bool, inspecting.JSON_OBJECT] = False,
) -> None:
    """Show how fresh the copies are, what that costs, and what is next.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. Shows what half and twice the budget would buy, whether
    targets are met and what they take, how good forecasts of changes were, and
    how many visits were made only to learn. Bands are 90 % intervals. Visits that
    found nothing new count as unchanged. For a large crawl the figures come from a
    random sample of its copies and visits.

    \b
    Examples:
        recrawl status
        recrawl status --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.inspect.status.overview import overview
    from recrawl.report.status.object import status_object
    from recrawl.report.status.status import status_rows

    with inspecting.open_crawl(settings) as (asked, reader):
        found = overview(asked, reader, inspecting.now(reader))
    if as_json:
        screen.say(json.dumps(status_object(found)))
        return
    rows = status_rows(found)
    width = max(len(subject) for subject, _ in rows)
    for subject, sentence in rows:
        screen.say(f"{subject.ljust(width)}  {sentence}")
