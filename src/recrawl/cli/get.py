"""`recrawl get`: the copy of a page.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import inspecting, screen, shared

if TYPE_CHECKING:
    from recrawl.publish.reading import PageCopy

FORMS = ("html", "text", "markdown")

_AT = typer.Option(
    "--at",
    metavar="T",
    help="The version that was current then, e.g. 2026-01-05 or 3d (ago)  [default: the newest]",
    show_default=False,
)
_AS = typer.Option("--as", metavar="FORM", help="html (the body as it came), text or markdown.")
_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="F",
    help="Write to F instead of the standard output.",
    show_default=False,
)


def get(
    url: Annotated[str, inspecting.URL],
    *,
    at: Annotated[str, _AT] = "",
    form: Annotated[str, _AS] = "html",
    output: Annotated[Path | None, _OUTPUT] = None,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
) -> None:
    """Write the copy of a page: as it came, as text or as Markdown.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is fetched or changed. Text and Markdown are the main content, without
    navigation, without parts that watch and ignore exclude, and without parts that
    differ on every visit.

    \b
    Examples:
        recrawl get https://example.org/news > news.html
        recrawl get https://example.org/news --as markdown
        recrawl get https://example.org/news --at 2026-01-05 -o news-in-january.html
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.options import past
    from recrawl.publish.reading import CopyReader
    from recrawl.store.scratch import whole_file

    if form not in FORMS:
        said = f"must be one of {', '.join(FORMS)} (got {form!r})"
        raise typer.BadParameter(said, param_hint="--as")
    moment = datetime.fromtimestamp(past(at, "--at"), UTC) if at else None
    with inspecting.open_crawl(settings) as (asked, reader):
        page, _ = inspecting.page_of(reader, url)
        copy = CopyReader(reader, asked).copy(page, moment)
    content = _content(copy, form)
    if output is None:
        sys.stdout.buffer.write(content)
        return
    with whole_file(output) as file:
        file.write(content)
    screen.remark(f"Wrote {len(content):,} bytes to {output}.")


def _content(copy: PageCopy, form: str) -> bytes:
    from recrawl.errors import NoVersion

    if form == "html":
        return copy.body
    text = copy.text if form == "text" else copy.markdown
    if text is None:
        raise NoVersion(f"{copy.address} is no text; --as html writes its bytes")
    return f"{text}\n".encode(errors="replace")
