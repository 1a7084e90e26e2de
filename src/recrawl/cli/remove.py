"""`recrawl remove`: take pages out of a crawl, or erase all that is kept of them.

Touches: files, a store, the clock, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.crawl.removal import PageSelection, TakenOut
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.settings.settings import Settings

_URLS = typer.Argument(
    metavar="URL...",
    help="Addresses of pages; * matches any characters.",
    show_default=False,
)
_ERASE = typer.Option("--erase", help="Erase the pages: versions, copies, masks and addresses.")
_WARC = typer.Option(
    "--warc",
    metavar="DIR",
    help="Also erase the pages from the WARC files in this folder; may be repeated.",
    show_default=False,
)
_SITE = typer.Option(
    "--block", help="Remove blocks of sites or pages from recrawl.toml; their pages stay."
)
_HEADER = ("page", "status", "versions", "bodies", "bytes", "WARC records")


def remove(
    urls: Annotated[list[str], _URLS],
    *,
    erase: Annotated[bool, _ERASE] = False,
    warc: Annotated[list[Path] | None, _WARC] = None,
    site: Annotated[bool, _SITE] = False,
    yes: Annotated[bool, shared.YES] = False,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Take pages out of a crawl, or erase them.

    The pages are not visited again, nor added when found. What is known of them
    stays in the store, unless --erase is given: then their versions, copies, masks
    and addresses are deleted, from WARC files too if --warc names their folder, and
    the store is rewritten so that no byte of them is left. The times and outcomes of
    their visits stay. No crawl of this store may be running. If it is interrupted,
    run the same command again. With --block the addresses are those of blocks in
    recrawl.toml; `recrawl prune` then deletes the pages that belong to no site.

    \b
    Examples:
        recrawl remove https://example.org/old
        recrawl remove --block https://example.org
        recrawl remove --erase --warc archive https://example.org/private/*
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    import time

    from recrawl.crawl.removal import PageSelection, erase_from_files, erase_pages, remove_pages
    from recrawl.store import open_for_writing, open_store
    from recrawl.store.settings_file import load_settings, store_of

    if warc and not erase:
        raise typer.BadParameter("--warc needs --erase")
    if site and erase:
        raise typer.BadParameter(
            "--block and --erase exclude each other; `recrawl prune` deletes the pages"
        )
    if site:
        _remove_sites(urls, settings, yes=yes)
        return
    out = shared.Output.of(settings, as_csv=as_csv, as_json=as_json, file=output)
    asked = load_settings(settings)
    place = store_of(settings, asked)
    with open_for_writing(place) as store, open_store(place) as reader:
        chosen = PageSelection.of(reader, urls)
        if not warc:
            _check_known(reader, chosen)
        _confirm(chosen, erase=erase, yes=yes)
        if erase:
            with screen.progress("reading WARC files") as progress:
                records, targets = erase_from_files(
                    warc or (), asked.agent, chosen, progress or bool
                )
            rows = erase_pages(store, reader, chosen, time.time(), records)
            reader.close()  # what it reads could not be written over
            _wipe(store)
        else:
            rows, targets = remove_pages(store, reader, chosen, time.time()), set()
    _show(rows, out)
    _remark(asked, rows, targets, settings, looked=bool(warc))


def _check_known(reader: ReadStore, chosen: PageSelection) -> None:
    """Raise for an address that is no page."""
    from recrawl.cli.inspecting import page_of

    for address, page in chosen.pages.items():
        if page is None:
            page_of(reader, address)


def _remove_sites(addresses: Sequence[str], settings: Path, *, yes: bool) -> None:
    """Take blocks out of the settings, and say how many pages belong to no site then."""
    from recrawl.crawl.removal import unlisted_pages
    from recrawl.report.words import counted
    from recrawl.settings.blocks import without_blocks
    from recrawl.settings.settings import read_settings
    from recrawl.store import open_store
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_text, store_of

    text, name = load_text(settings), str(settings)
    before, shorter = read_settings(text, name=name), without_blocks(text, addresses, name=name)
    after = read_settings(shorter, name=name)
    with open_store(store_of(settings, before)) as reader:
        had, left = (len(unlisted_pages(each, reader)) for each in (before, after))
    blocks = counted(len(before.rules) - len(after.rules), "block")
    shared.confirm(f"Take {blocks} with {counted(left - had, 'page')} out of {name}?", yes=yes)
    with whole_file(settings) as file:
        file.write(shorter.encode())
    screen.remark(f"Took {blocks} out of {name}.")
    if left:
        stay = "1 page belongs" if left == 1 else f"{left:,} pages belong"
        screen.remark(f"{stay} to no site now; `recrawl prune` deletes what is kept of them.")


def _confirm(chosen: PageSelection, *, erase: bool, yes: bool) -> None:
    """Ask a person at a terminal, who sees the addresses."""
    from recrawl.report.words import counted

    pages = counted(len(chosen.pages), "page")
    question = f"Erase {pages} for good?" if erase else f"Remove {pages} from the crawl?"
    named = [f"  {address}" for address in list(chosen.pages)[: screen.most_rows()]]
    shared.confirm(question, yes=yes, above=named, for_good=erase)


def _wipe(store: WriteStore) -> None:
    from recrawl.errors import StoreLocked

    if not store.wipe():
        raise StoreLocked(
            f"{store.name}: the pages are erased, but another program is reading the store, so "
            "its files may still hold bytes of them; end that program and run the same command "
            "again"
        )


def _show(rows: Sequence[TakenOut], out: shared.Output) -> None:
    import numpy as np

    if out.interactive:
        words = [
            [row.address, row.status.label, *(f"{each:,}" for each in _figures(row))]
            for row in rows[: screen.most_rows()]
        ]
        shared.show(_HEADER, words, total=len(rows), left=(0, 1))
        return
    from recrawl.report.rates import Named
    from recrawl.visits.status import PageStatus

    status = np.array([row.status for row in rows], np.int64)
    figures = np.array([_figures(row) for row in rows], np.int64).reshape(len(rows), 4)
    names = ("versions", "bodies", "bytes", "warc_records")
    columns = {"status": Named(status, [each.label for each in PageStatus])}
    columns |= dict(zip(names, figures.T, strict=True))
    out.write([row.address for row in rows], columns)


def _figures(row: TakenOut) -> tuple[int, ...]:
    return row.erased.versions, row.erased.bodies, row.erased.bytes, row.records


def _remark(
    asked: Settings,
    rows: Sequence[TakenOut],
    targets: set[str],
    settings: Path,
    *,
    looked: bool,
) -> None:
    """Say what else may be there of the pages."""
    from recrawl.visits.status import PageStatus

    if not rows:
        screen.remark("No page matches.")
    named = {rule.address for rule in asked.rules if rule.exact}
    for row in rows:
        if row.address in named:
            screen.remark(f"{settings} still has a [[page]] {row.address}.")
    if len(rows) == 1 and rows[0].status is PageStatus.REMOVED:
        screen.remark(f"`recrawl add --again {rows[0].address}` brings it back.")
    for target in sorted(targets):
        screen.remark(f"A redirect led to {target}, whose WARC records stay.")
    if not looked and any(row.status is PageStatus.ERASED for row in rows):
        screen.remark("WARC files were not changed; --warc DIR erases pages from them too.")
