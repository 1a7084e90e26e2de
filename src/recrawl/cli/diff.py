"""`recrawl diff`: what changed between two versions of a page.

Touches: files, the clock, the standard streams.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import inspecting, screen, shared

if TYPE_CHECKING:
    from recrawl.inspect.versions import Comparison, PageVersions
    from recrawl.report.diff.lines import Shown

_FROM = typer.Option(
    "--from",
    metavar="TIME",
    help="Older version: the one current at this time, e.g. 2026-01-05 or 3d (ago).  "
    "[default: the one before the newer]",
    show_default=False,
)
_TO = typer.Option(
    "--to",
    metavar="TIME",
    help="Newer version, in the same way.  [default: the newest]",
    show_default=False,
)
_HTML = typer.Option(
    metavar="FILE",
    help="Write an HTML page to FILE, or to the standard output (-).",
    show_default=False,
)
_ALL = typer.Option("--all", help="Also compare parts that do not count as changes.")
_LIST = typer.Option("--list", help="List the stored versions instead.")
_CSV = typer.Option("--csv", help="With --list: write CSV instead of a table.")
_JSON = typer.Option("--json", help="Write one JSON object; with --list, JSON lines.")


def diff(
    url: Annotated[str, inspecting.URL],
    *,
    since: Annotated[str, _FROM] = "",
    until: Annotated[str, _TO] = "",
    everything: Annotated[bool, _ALL] = False,
    html: Annotated[str, _HTML] = "",
    listed: Annotated[bool, _LIST] = False,
    as_csv: Annotated[bool, _CSV] = False,
    as_json: Annotated[bool, _JSON] = False,
    settings: Annotated[Path, shared.SETTINGS_OR_STORE] = Path("recrawl.toml"),
) -> None:
    """Show what changed between two versions of a page.

    Reads recrawl.toml and the store beside it, also while a crawl is running;
    nothing is changed. Compares the visible text of both versions: lines that
    changed (~) with the words removed and added, lines removed (-) and added (+),
    and blocks that moved (< from there, > to here). Parts that watch and ignore
    exclude do not count, nor do parts that the crawl has masked because they
    differ on every visit (…). A version is stored with the first copy and with
    each change; [storage] of recrawl.toml says how many are kept.

    \b
    Examples:
        recrawl diff https://example.org/news
        recrawl diff https://example.org/news --from 2026-01-05 --to 3d
        recrawl diff https://example.org/news --html news.html
        recrawl diff https://example.org/news --list
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.options import past
    from recrawl.inspect.versions import PageVersions
    from recrawl.report.diff.data import diff_object

    _check(html, since or until, listed=listed, as_csv=as_csv, as_json=as_json)
    began = past(since, "--from") if since else None
    ended = past(until, "--to") if until else None
    with inspecting.open_crawl(settings) as (asked, reader), inspecting.documents() as convert:
        page, address = inspecting.page_of(reader, url)
        versions = PageVersions.of(asked, reader, page, address, convert)
        versions = versions.whole() if everything else versions
        if listed:
            _list(versions, shared.Output.of(as_csv=as_csv or None, as_json=as_json, file=None))
            return
        comparison = versions.compared(*versions.chosen(began, ended))
    if html:
        _write_page(comparison, html)
    elif as_json:
        screen.say(json.dumps(diff_object(comparison)))
    else:
        _show(comparison)


def _check(html: str, times: str, *, listed: bool, as_csv: bool, as_json: bool) -> None:
    """Raise for options that conflict, and for a file that cannot be written."""
    from recrawl.adapters.tables.outputs import check_output

    message = ""
    if listed and (html or times):
        message = "--list excludes --from, --to and --html"
    elif as_csv and not listed:
        message = "--csv needs --list"
    elif sum([as_csv, as_json, bool(html)]) > 1:
        message = "--csv, --json and --html exclude each other"
    if message:
        raise typer.BadParameter(message)
    if html and html != "-":
        check_output(Path(html), formats={".html": "html", ".htm": "html"})


def _list(versions: PageVersions, out: shared.Output) -> None:
    """Show or write the versions, each with what changed since the one before."""
    from itertools import pairwise

    from recrawl.detect.diff.line_diff import gist
    from recrawl.errors import NothingToCompare
    from recrawl.inspect.versions import Side
    from recrawl.report.diff import data

    shares, gists = [nan], [""]
    for older, newer in pairwise(versions.kept):
        share, what = nan, ""
        with suppress(NothingToCompare):  # versions that are not text are listed, too
            found = versions.compared(older, newer)
            share, what = found.share, gist(found.diff, found.share)
        shares.append(share)
        gists.append(what)
    sides = [Side(each.at_seconds, each.size) for each in versions.kept]
    if out.interactive:
        screen.show_table(data.HEADER, data.version_words(sides, shares, gists), left=(0, 3))
    else:
        names = [versions.address] * len(sides)
        out.write(names, data.version_columns(sides, shares, gists))


def _write_page(comparison: Comparison, html: str) -> None:
    from recrawl.report.diff.html import diff_page
    from recrawl.store.scratch import whole_file

    page = f"{diff_page(comparison)}\n".encode()
    if html == "-":
        sys.stdout.buffer.write(page)  # in UTF-8, as its own header says
        return
    with whole_file(Path(html)) as file:
        file.write(page)


def _show(comparison: Comparison) -> None:
    """Print what changed: in colours if the terminal has some, else with signs."""
    from rich.console import Console
    from rich.text import Text

    from recrawl.report.diff.lines import heading, shown

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # pages hold characters that the terminal may lack
    console = Console(highlight=False, soft_wrap=True)
    for sentence in (*heading(comparison), ""):
        screen.say(sentence)
    for line in shown(comparison.diff):
        if console.color_system is None or console.no_color:
            screen.say(line.plain())
        else:
            console.print(Text.assemble(*_coloured(line)))


def _coloured(line: Shown) -> list[tuple[str, str]]:
    """A line with the colour of each of its edits."""
    from recrawl.detect.diff.line_diff import BlockKind
    from recrawl.detect.diff.word_diff import EditKind

    if line.kind is None:
        return [(line.plain(), "dim")]
    whole = {BlockKind.REMOVED: "red", BlockKind.ADDED: "green", BlockKind.CHANGED: "yellow"}
    sign = whole.get(line.kind, "dim" if line.kind is BlockKind.SAME else "cyan")
    words = {EditKind.REMOVED: "red", EditKind.ADDED: "green", EditKind.KEPT: ""}
    if line.kind in (BlockKind.SAME, BlockKind.REMOVED, BlockKind.ADDED):
        words = dict.fromkeys(words, sign)
    return [(f"{line.marker} ", sign), *((edit.text, words[edit.kind]) for edit in line.marked())]
