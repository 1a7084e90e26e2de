"""`recrawl get`: the copy of a page.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.checks import check_fraction
from recrawl.cli import inspecting, options, screen, shared
from recrawl.errors import Conflict, InvalidParameter

if TYPE_CHECKING:
    from recrawl.publish.reading import PageCopy

_FRESH = typer.Option(
    "--fresh",
    metavar="CHANCE",
    parser=options.fraction,
    help="Visit the page first if its copy is less likely to be fresh than this, e.g. 0.95.",
    show_default=False,
)
_WAIT = typer.Option(
    "--wait", metavar="TIME", help="With --fresh: longest wait for the visit to begin."
)
FORMS = ("html", "text", "markdown")

_AT = typer.Option(
    "--at",
    metavar="TIME",
    help="The version that was current then, e.g. 2026-01-05 or 3d (ago).  [default: the newest]",
    show_default=False,
)
_AS = typer.Option(
    "--as", metavar="FORM", help="Form: html (the body as received, of any type), text or markdown."
)
_OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to FILE instead of the standard output.",
    show_default=False,
)


def get(
    url: Annotated[str, inspecting.URL],
    *,
    at: Annotated[str, _AT] = "",
    fresh: Annotated[float | None, _FRESH] = None,
    wait: Annotated[str, _WAIT] = "30s",
    form: Annotated[str, _AS] = "html",
    output: Annotated[Path | None, _OUTPUT] = None,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
) -> None:
    """Show the copy of a page: as received, as text or as Markdown.

    Reads recrawl.toml and the store beside it, also while a crawl is running. Nothing
    is fetched or changed, unless --fresh is given and the copy is less likely to be
    fresh: then the page is visited first, politely and within the budget. While a
    crawl is running only that visits pages, and a copy that is not fresh enough is an
    error. How likely the copy is fresh is shown on standard error. Text and
    Markdown hold the main content, without navigation, without parts that watch and
    ignore exclude, and without parts that differ on every visit. For PDF and Office
    documents they need an extra: pip install '.[documents]' in the clone of
    recrawl.

    \b
    Examples:
        recrawl get https://example.org/news > news.html
        recrawl get https://example.org/news --as markdown
        recrawl get https://example.org/news --fresh 0.95
        recrawl get https://example.org/news --at 2026-01-05 -o news-in-january.html
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.options import past
    from recrawl.store.scratch import whole_file

    if form not in FORMS:
        raise InvalidParameter(f"--as must be one of {', '.join(FORMS)} (got {form!r})")
    if fresh is not None:
        check_fraction(**{"--fresh": fresh})
    moment = datetime.fromtimestamp(past(at, "--at"), UTC) if at else None
    if fresh is None:
        copy = _copy(settings, url, moment, form)
    elif at:
        raise typer.BadParameter("--fresh and --at exclude each other")
    else:
        copy = _fresh_copy(settings, url, fresh, wait)
    content = _content(copy, form)
    if output is None:
        sys.stdout.buffer.write(content)
        return
    with whole_file(output) as file:
        file.write(content)
    from recrawl.report.words import counted

    screen.remark(f"Wrote {counted(len(content), 'byte')} to {output}.")


def _copy(settings: Path, url: str, moment: datetime | None, form: str) -> PageCopy:
    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.publish.reading import CopyReader

    with inspecting.open_crawl(settings) as (asked, reader), DocumentConverter() as documents:
        page, _ = inspecting.page_of(reader, url)
        return CopyReader(reader, asked, documents if form != "html" else None).copy(page, moment)


def _fresh_copy(settings: Path, url: str, wanted: float, wait: str) -> PageCopy:
    """The copy once it is as fresh as is wanted, as far as that can be; says how fresh it is."""
    from recrawl.crawl.fresh_copy import fresh_copy
    from recrawl.fetch.access import AccessTable
    from recrawl.store.settings_file import load_settings, store_of
    from recrawl.units import SECONDS_A_DAY, days

    asked = load_settings(settings)  # a visit needs a file: a store in its place says too little
    with inspecting.open_crawl(settings) as (_, reader):
        page, address = inspecting.page_of(reader, url)
    seconds = days(wait) * SECONDS_A_DAY
    found = fresh_copy(
        asked,
        store_of(settings, asked),
        page,
        wanted,
        wait_seconds=seconds,
        access=AccessTable(asked, settings.parent, [address]),
    )
    if found.held:
        sure = f"fresh with a probability of {100 * found.fresh:.1f} %"
        said = f"the copy is {sure}: {found.why_not}; leave out --fresh to get it as it is"
        raise Conflict(said)
    screen.remark(fresh_sentence(found.fresh, visited=found.visited, why_not=found.why_not))
    return found.copy


def fresh_sentence(fresh: float, *, visited: bool, why_not: str) -> str:
    """How sure it is that a copy is fresh, and why not more.

    >>> fresh_sentence(0.973, visited=True, why_not="")
    'Visited now: fresh with a probability of 97.3 %.'
    >>> fresh_sentence(0.5, visited=False, why_not="a crawl is running")
    'Fresh with a probability of only 50.0 %: a crawl is running.'
    """
    from math import isnan

    only = "only " if why_not else ""
    chance = f"a probability of {only}{100 * fresh:.1f} %"
    if isnan(fresh):
        chance = "an unknown probability"
    said = f"Visited now: fresh with {chance}" if visited else f"Fresh with {chance}"
    return f"{said}: {why_not}." if why_not else f"{said}."


def _content(copy: PageCopy, form: str) -> bytes:
    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.errors import NoVersion
    from recrawl.parse.documents import document_kind

    if form == "html":
        return copy.body
    text = copy.text if form == "text" else copy.markdown
    if text is None and document_kind(copy.body):
        with DocumentConverter() as documents:
            why = documents.convert(copy.body).problem
        raise NoVersion(f"{copy.address} has no text ({why}); --as html writes its bytes")
    if text is None:
        raise NoVersion(f"{copy.address} is not text; --as html writes its bytes")
    return f"{text}\n".encode(errors="replace")
