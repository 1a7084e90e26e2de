"""`recrawl status`: how fresh a crawl is, what it costs, what is next.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import looking

_JSON = typer.Option("--json", help="Write one JSON object instead of lines.")


def status(
    *,
    settings: Annotated[Path, looking.SETTINGS] = Path("recrawl.toml"),
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Say how fresh the copies of a crawl are, what that costs and what is next.

    Reads recrawl.toml and the store beside it, whether a crawl is running or
    not; nothing is changed. Says what half and twice the budget would buy,
    whether targets are met and what they take, how good forecasts of changes
    were, and how many visits were made only to learn. Bands hold the truth in
    nine cases of ten. Visits that found nothing new count as unchanged. Of a
    large crawl some copies and visits are looked at, drawn by lot.

    \b
    Examples:
        recrawl status
        recrawl status --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import json
    import time

    from recrawl.cli import screen
    from recrawl.cli.crawling import load_settings, store_of
    from recrawl.inspect.status.overview import overview
    from recrawl.report.status.object import status_object
    from recrawl.report.status.status import status_rows
    from recrawl.store import open_store
    from recrawl.units import SECONDS_A_DAY

    asked = load_settings(settings)
    with open_store(store_of(settings, asked)) as reader:
        found = overview(asked, reader, time.time() / SECONDS_A_DAY)
    if as_json:
        screen.say(json.dumps(status_object(found)))
        return
    width = max(len(subject) for subject, _ in status_rows(found))
    for subject, sentence in status_rows(found):
        screen.say(f"{subject.ljust(width)}  {sentence}")
