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

from recrawl.cli import looking, shared

if TYPE_CHECKING:
    from recrawl.inspect.versions import Comparison, PageVersions
    from recrawl.report.diff.lines import Shown

_FROM = typer.Option(
    "--from",
    metavar="T",
    help="Older version, by a time at which it held, e.g. 2026-01-05 or 3d (ago)  "
    "[default: the one before the newer]",
    show_default=False,
)
_TO = typer.Option(
    "--to",
    metavar="T",
    help="Newer version, likewise  [default: the newest]",
    show_default=False,
)
_HTML = typer.Option(
    metavar="F",
    help="Write a page in HTML to F, or to the standard output (-).",
    show_default=False,
)
_ALL = typer.Option("--all", help="Compare also what does not count as a change.")
_LIST = typer.Option("--list", help="List the versions that are kept instead.")
_CSV = typer.Option("--csv", help="With --list: write CSV instead of a table.")
_JSON = typer.Option("--json", help="Write one JSON object; with --list, JSON lines.")


def diff(
    url: Annotated[str, looking.URL],
    *,
    since: Annotated[str, _FROM] = "",
    until: Annotated[str, _TO] = "",
    everything: Annotated[bool, _ALL] = False,
    html: Annotated[str, _HTML] = "",
    listed: Annotated[bool, _LIST] = False,
    as_csv: Annotated[bool, _CSV] = False,
    as_json: Annotated[bool, _JSON] = False,
    settings: Annotated[Path, looking.SETTINGS] = Path("recrawl.toml"),
) -> None:
    """Show what changed between two versions of a page of a crawl.

    Reads recrawl.toml and the store beside it, whether a crawl is running or
    not; nothing is changed. Compares what a reader sees of both versions, as far
    as it counts: lines that changed (~) with the words that were removed and
    added, lines removed (-) and added (+), and blocks that moved (< where they
    were, > where they are). What watch and ignore leave out does not count, nor
    what the crawl has learnt to differ by itself (…). A version is kept at the
    first copy and at each change; [storage] of recrawl.toml says how many.

    \b
    Examples:
        recrawl diff https://example.org/news
        recrawl diff https://example.org/news --from 2026-01-05 --to 3d
        recrawl diff https://example.org/news --html news.html
        recrawl diff https://example.org/news --list
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.options import past
    from recrawl.inspect.versions import PageVersions

    _check(html, since or until, listed=listed, as_csv=as_csv, as_json=as_json)
    began = past(since, "--from") if since else None
    ended = past(until, "--to") if until else None
    with looking.reading(settings) as (asked, reader):
        versions = PageVersions.of(asked, reader, *looking.page_of(reader, url))
        versions = versions.whole() if everything else versions
        if listed:
            _list(versions, "json" if as_json else "csv" if as_csv else "")
            return
        comparison = versions.compared(*versions.chosen(began, ended))
    if html:
        _write_page(comparison, html)
    elif as_json:
        _say_object(comparison)
    else:
        _show(comparison)


def _check(html: str, times: str, *, listed: bool, as_csv: bool, as_json: bool) -> None:
    """Refuse wishes that exclude each other, and a place where no page can be written."""
    from recrawl.adapters.tables.outputs import check_output

    message = ""
    if listed and (html or times):
        message = "--list stands without --from, --to and --html"
    elif as_csv and not listed:
        message = "--csv stands with --list"
    elif sum([as_csv, as_json, bool(html)]) > 1:
        message = "only one of --csv, --json and --html can be given"
    if message:
        raise typer.BadParameter(message)
    if html and html != "-":
        check_output(Path(html), formats={".html": "html", ".htm": "html"})


def _list(versions: PageVersions, kind: str) -> None:
    """Show or write the versions, each with what changed since the one before."""
    from itertools import pairwise

    from recrawl.arrays.texts import Texts
    from recrawl.cli import screen
    from recrawl.detect.diff.line_diff import gist
    from recrawl.errors import NothingToCompare
    from recrawl.inspect.versions import Side
    from recrawl.report.diff import data

    shares, gists = [nan], [""]
    for older, newer in pairwise(versions.kept):
        share, what = nan, ""
        with suppress(NothingToCompare):  # what is no text is listed, too
            found = versions.compared(older, newer)
            share, what = found.share, gist(found.diff, found.share)
        shares.append(share)
        gists.append(what)
    sides = [Side(each.at_seconds, each.size) for each in versions.kept]
    if shared.is_interactive(kind, None):
        screen.show_table(data.HEADER, data.version_words(sides, shares, gists), left=(0, 3))
        return
    with shared.target(kind, None, data.VERSION_COLUMNS) as writer:
        names = Texts.of([versions.address] * len(sides))
        writer.write(names, data.version_columns(sides, shares, gists))


def _write_page(comparison: Comparison, html: str) -> None:
    from recrawl.adapters.tables.outputs import whole_file
    from recrawl.report.diff.html import diff_page

    page = f"{diff_page(comparison)}\n".encode()
    if html == "-":
        sys.stdout.buffer.write(page)  # in UTF-8, as it says of itself
        return
    with whole_file(Path(html)) as file:
        file.write(page)


def _say_object(comparison: Comparison) -> None:
    from recrawl.cli import screen
    from recrawl.report.diff.data import diff_object

    screen.say(json.dumps(diff_object(comparison)))


def _show(comparison: Comparison) -> None:
    """Print what changed: in colours where there are some, else with signs."""
    from rich.console import Console
    from rich.text import Text

    from recrawl.cli import screen
    from recrawl.report.diff.lines import heading, shown

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # pages have letters that it may not have
    console = Console(highlight=False, soft_wrap=True)
    for sentence in (*heading(comparison), ""):
        screen.say(sentence)
    for line in shown(comparison.diff):
        if console.color_system is None or console.no_color:
            screen.say(line.plain())
        else:
            console.print(Text.assemble(*_coloured(line)))


def _coloured(line: Shown) -> list[tuple[str, str]]:
    """A line with the style of each of its edits; signs tell them apart as well as colours do."""
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
