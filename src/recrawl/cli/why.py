"""`recrawl why`: the reasons for one page's next visit.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from recrawl.cli import inspecting, screen, shared


def why(
    url: Annotated[str, inspecting.URL],
    *,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
    as_json: Annotated[bool, inspecting.JSON_OBJECT] = False,
) -> None:
    """Show when a page is visited next, why, and what would change it.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. The next visit, and what would change it, is found by
    simulating the crawl ahead. A crawl of more than 2,000 pages is simulated with
    a random sample of that many. For a page that the crawl does not know it says
    whether robots.txt forbids it, which filter leaves it out, or which block of the
    settings would take it in.

    \b
    Examples:
        recrawl why https://example.org/news
        recrawl why https://example.org/news --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.inspect.why.why import reasons, refused
    from recrawl.parse.addresses import canonical
    from recrawl.report.why.object import why_object
    from recrawl.report.why.words import why_lines

    with inspecting.open_snapshot(settings) as (snapshot, reader):
        address, found = canonical(url), None
        if address and reader.find_pages([address]) == [None]:
            found = refused(snapshot, reader, address)
        if found is None:
            page, _ = inspecting.page_of(reader, url, snapshot.settings)
            found = reasons(snapshot, reader, page)
    if as_json:
        screen.say(json.dumps(why_object(found)))
        return
    for line in why_lines(found, screen.width()):
        screen.say(line)
