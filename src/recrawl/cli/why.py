"""`recrawl why`: the reasons for one page's next visit.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import looking

_JSON = typer.Option("--json", help="Write one JSON object instead of lines.")


def why(
    url: Annotated[str, looking.URL],
    *,
    settings: Annotated[Path, looking.SETTINGS] = Path("recrawl.toml"),
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """Say when a page is visited next, why then, and what would change it.

    Reads recrawl.toml and the store beside it, whether a crawl is running or
    not; nothing is changed. The next visit is found by rehearsing the crawl on a
    clock that takes no time, and so is all that would change it, one thing after
    the other. Of a crawl with more than 2,000 pages so many take part, drawn by
    lot. Of a page that the crawl does not know it says whether robots.txt
    forbids it.

    \b
    Examples:
        recrawl why https://example.org/news
        recrawl why https://example.org/news --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import json

    from recrawl.cli import screen
    from recrawl.inspect.why.why import forbidden, reasons
    from recrawl.parse.addresses import canonical
    from recrawl.report.why.object import why_object
    from recrawl.report.why.words import why_lines

    with looking.looked_at(settings) as (sight, reader):
        address, found = canonical(url), None
        if address and reader.find_pages([address]) == [None]:
            found = forbidden(sight, reader, address)
        if found is None:
            page, _ = looking.page_of(reader, url)
            found = reasons(sight, reader, page)
    if as_json:
        screen.say(json.dumps(why_object(found)))
        return
    for line in why_lines(found, screen.width()):
        screen.say(line)
