"""`recrawl add`: add sites and pages to a crawl.

Touches: files, the network, a store, the standard streams.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.parse.site_lists import SiteList
    from recrawl.settings.blocks import NewBlock
    from recrawl.settings.filters import Admission
    from recrawl.settings.rules import Rule
    from recrawl.settings.settings import Settings

_ADDRESSES = typer.Argument(
    metavar="ADDRESS...",
    help="Addresses of sites or pages, files that list them, or - for standard input.",
    show_default=False,
)
_PAGE = typer.Option("--page-only", help="Only this page, not everything under it.")
_BUDGET = typer.Option(
    "--budget",
    metavar="BUDGET",
    help="Budget of its own, such as 500/1d.  [default: a share of the common budget]",
    show_default=False,
)
_WEIGHT = typer.Option(
    "--weight",
    metavar="NUMBER",
    help="Importance of fresh copies, relative to other sites.",
    show_default=False,
)
_LINKS = typer.Option("--links", metavar="DEPTH", help="How many links deep to follow.")
_LOCAL = typer.Option("--local", help="Allow loopback and private addresses.")
_AGAIN = typer.Option(
    "--again",
    help="Discover the pages of a site that the settings already name, or bring back a removed "
    "page.",
)
_LATER = typer.Option(
    "--later", help="Add without contacting the site; the crawl discovers its pages."
)
_RESTART = "to discover the pages"


def add(
    addresses: Annotated[list[str], _ADDRESSES],
    *,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    page: Annotated[bool, _PAGE] = False,
    budget: Annotated[str, _BUDGET] = "",
    weight: Annotated[float | None, _WEIGHT] = None,
    links: Annotated[int, _LINKS] = 0,
    local: Annotated[bool, _LOCAL] = False,
    again: Annotated[bool, _AGAIN] = False,
    later: Annotated[bool, _LATER] = False,
) -> None:
    """Add sites and pages, and discover their pages.

    Appends a block to recrawl.toml, whose settings `recrawl set` changes, and
    discovers its pages through robots.txt, sitemaps and feeds. They are written to
    the store; `recrawl crawl` visits them. A site that does not answer is not added,
    unless --later is given.

    A file may list addresses, one per line, or be OPML, the urls.yaml of urlwatch,
    or a backup of changedetection.io or the url-watches.json in it. What cannot be
    taken over is counted. Sites of lists are asked by the next crawl. An address under
    a site that is there already becomes a page of that site, on its budget, unless an
    option or the list asks for something else.

    A page that `recrawl remove` took out stays out; --again brings it back, with all
    that is kept of it.

    \b
    Examples:
        recrawl add https://example.org --budget 500/1d
        recrawl add https://example.org/prices --page-only
        recrawl add https://example.org --again
        recrawl add feeds.opml
        recrawl add urls.yaml --weight 2
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.cli.removed_pages import removed_among, removed_sentence
    from recrawl.cli.site_lists import listed
    from recrawl.errors import InvalidInput
    from recrawl.settings.blocks import NewBlock
    from recrawl.state.weights import check_weights
    from recrawl.store import open_store
    from recrawl.store.settings_file import load_settings, store_of

    given = {"budget": budget, "weight": weight, "links": links, "local": local}
    values = {key: value for key, value in given.items() if value not in ("", None, 0, False)}
    before = load_settings(settings)
    store = store_of(settings, before)
    open_store(store).close()  # raises before anything is changed
    check_weights(before)
    if again:
        for address in addresses:
            block = NewBlock(address, page, values)
            if not _brought_back(block, settings, before, later=later):
                _discover_again(before, settings, block, later=later)
        return
    lists = [listed(each) for each in addresses]
    named = [each for each, found in zip(addresses, lists, strict=True) if found is None]
    if out := removed_among(store, before, named):
        raise InvalidInput(removed_sentence(out))
    if len(lists) == 1 and lists[0] is None:
        _add(NewBlock(addresses[0], page, values), settings, before, later=later)
        return
    blocks = []
    for name, found in zip(addresses, lists, strict=True):
        if found is None:
            blocks.append(NewBlock(name, page, values))
        else:
            listed_blocks = _blocks(found, name, page=page, values=values)
            listed_blocks = _not_removed(listed_blocks, before, store)
            blocks += listed_blocks if page else _joined(listed_blocks, before, store)
    if blocks:
        _add_all(blocks, settings, store)


def _add(block: NewBlock, settings: Path, before: Settings, *, later: bool) -> None:
    """Add one block, once its site has answered."""
    import asyncio
    from dataclasses import replace

    from recrawl.cli.crawling import find_pages
    from recrawl.cli.running_crawl import tell_crawl
    from recrawl.errors import StoreLocked
    from recrawl.fetch.access import AccessTable
    from recrawl.settings.blocks import with_block
    from recrawl.settings.settings import read_settings
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_text, store_of

    store = store_of(settings, before)
    text = with_block(load_text(settings), block, name=str(settings))
    asked = replace(read_settings(text, name=str(settings)), weights_file=before.weights_file)
    number = _added(asked, page=block.page)

    def write() -> None:
        with whole_file(settings) as file:
            file.write(text.encode())
        screen.remark(f"Added {block.address} to {settings}.")

    if later:
        write()
        tell_crawl(store, _RESTART)
        return
    access = AccessTable(asked, settings.parent, [asked.rules[number].address])
    try:
        asyncio.run(find_pages(asked, store, [number], access, write))
    except StoreLocked:
        write()
        tell_crawl(store, _RESTART)


def _blocks(
    found: SiteList, name: str, *, page: bool, values: Mapping[str, object]
) -> list[NewBlock]:
    """Blocks of a list; says what is not taken over."""
    from recrawl.errors import InvalidInput, InvalidSettings
    from recrawl.settings.blocks import NewBlock
    from recrawl.settings.keys import is_selector
    from recrawl.settings.settings import read_rule

    read_rule("https://example.org/", values)  # the options themselves
    left_out, blocks = Counter(found.left_out), []
    for each in found.entries:
        one = page or (each.page if each.page is not None else "?" in each.address)
        parts = {}
        for key, selectors in (("watch", each.watch), ("ignore", each.ignore)):
            parts[key] = [selector for selector in selectors if is_selector(selector)]
            left_out["CSS filters that cannot be read"] += len(selectors) - len(parts[key])
        keys = {**values, **{key: part for key, part in parts.items() if part}}
        try:
            read_rule(each.address, keys, page=one)
        except InvalidSettings:
            left_out["invalid addresses"] += 1
        else:
            blocks.append(NewBlock(each.address, one, keys))
    if not blocks:
        first = f" ({found.first_bad})" if found.first_bad else ""
        raise InvalidInput(f"{name} lists no address{first}")
    unit = "address" if len(blocks) == 1 else "addresses"
    kind = "" if found.kind == "addresses" else f" ({found.kind})"
    screen.remark(f"{name}: {len(blocks):,} {unit}{kind}.")
    asked = ", ".join(f"{what}: {count:,}" for what, count in left_out.items() if count)
    if asked:
        first = f" (the first: {found.first_bad})" if found.first_bad else ""
        screen.remark(f"  Not taken over: {asked}{first}.")
    return blocks


def _not_removed(blocks: Sequence[NewBlock], before: Settings, store: Path) -> list[NewBlock]:
    """Blocks of a list but for those of pages that were removed; says which these are."""
    from recrawl.cli.removed_pages import removed_among, removed_sentence
    from recrawl.errors import InvalidInput

    out = removed_among(store, before, [block.address for block in blocks])
    left = [block for block in blocks if block.address not in out]
    if out and not left:
        raise InvalidInput(removed_sentence(out))
    if out:
        screen.warn(f"Not added: {removed_sentence(out)}")
    return left


def _joined(blocks: Sequence[NewBlock], before: Settings, store: Path) -> list[NewBlock]:
    """Hand pages of sites that are there to the crawl; returns the blocks that are left to add."""
    import time

    from recrawl.store import add_hints, open_store

    others, pages, sites = [], [], Counter[str]()
    left_out = 0
    for block in blocks:
        site, admission = _site_of(block, before)
        if site is None:
            others.append(block)
        elif admission.refused is not None:
            left_out += 1
        else:
            pages.append(admission.address)
            sites[site.address] += 1
    with open_store(store) as reader:
        known = reader.find_pages(pages)
    new = [address for address, page in zip(pages, known, strict=True) if page is None]
    if new:
        add_hints(store, new, time.time())
    for address, count in sites.items():
        screen.remark(f"  Pages of [[site]] {address}, on its budget: {count:,}.")
    if left_out:
        screen.remark(f"  Left out by the filters of their site: {left_out:,}.")
    if sites:
        _say_joined(len(new), store)
    return others


def _say_joined(new: int, store: Path) -> None:
    """Say what becomes of new pages of sites that are there."""
    from recrawl.report.words import counted
    from recrawl.store.lock import is_locked

    if not new:
        screen.remark("All of them are known already.")
        return
    who = "The crawl" if is_locked(store) else "The next `recrawl crawl`"
    screen.remark(f"{who} visits {counted(new, 'new page')} of them.")


def _site_of(block: NewBlock, settings: Settings) -> tuple[Rule | None, Admission]:
    """The site whose page an address of a list becomes, if it needs no block of its own."""
    from recrawl.parse.addresses import canonical
    from recrawl.settings.settings import read_rule

    address = canonical(block.address) or block.address
    rule, admission = settings.rule_for(address), settings.admit(address)
    if rule is None or rule.exact or rule.address == address:
        return None, admission
    own = read_rule(block.address, block.values, page=block.page)
    same = all(getattr(own, key) == getattr(rule, key) for key in block.values)
    return rule if same else None, admission


def _add_all(blocks: Sequence[NewBlock], settings: Path, store: Path) -> None:
    """Add many blocks; the crawl discovers their pages."""
    from recrawl.cli.running_crawl import tell_crawl
    from recrawl.settings.blocks import with_blocks
    from recrawl.settings.settings import read_settings
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_text

    text, known = with_blocks(load_text(settings), blocks, name=str(settings))
    read_settings(text, name=str(settings))
    added = len(blocks) - len(known)
    if added:
        with whole_file(settings) as file:
            file.write(text.encode())
    were = "was" if len(known) == 1 else "were"
    there = f"; {len(known):,} {were} there already" if known else ""
    unit = "block" if added == 1 else "blocks"
    screen.remark(f"Added {added:,} {unit} to {settings}{there}.")
    if added and not tell_crawl(store, _RESTART):
        screen.remark("The next `recrawl crawl` discovers their pages.")


def _brought_back(block: NewBlock, settings: Path, before: Settings, *, later: bool) -> bool:
    """Bring a page back that was removed, with a block of its own where none covers it."""
    import time

    from recrawl.cli.removed_pages import removed_among
    from recrawl.crawl.removal import bring_back
    from recrawl.store import open_for_writing, open_store
    from recrawl.store.settings_file import load_settings, store_of

    store = store_of(settings, before)
    removed = removed_among(store, before, [block.address])
    if not removed:
        return False
    (address,) = removed.values()
    if before.rule_for(address) is None:
        open_for_writing(store).close()  # raises while a crawl runs, before anything is changed
        _add(block, settings, before, later=later)
        before = load_settings(settings)
    else:
        _check_no_options(block, later=later)
    with open_for_writing(store) as writer, open_store(store) as reader:
        bring_back(writer, reader, before, [address], time.time())
    screen.remark(f"Brought back {address}; `recrawl crawl` visits it when it is due.")
    return True


def _check_no_options(block: NewBlock, *, later: bool) -> None:
    """Raise for options of a block that is there already."""
    if block.values or block.page or later:
        raise typer.BadParameter(
            "--again takes no options for what the settings name; `recrawl set` changes them"
        )


def _discover_again(asked: Settings, settings: Path, block: NewBlock, *, later: bool) -> None:
    """Look for the pages of a site or page that is there already."""
    import asyncio

    from recrawl.cli.crawling import find_pages
    from recrawl.errors import InvalidSettings
    from recrawl.fetch.access import AccessTable
    from recrawl.parse.addresses import canonical
    from recrawl.store.settings_file import store_of

    _check_no_options(block, later=later)
    wanted = canonical(block.address) or block.address
    blocks = [(row, rule) for row, rule in enumerate(asked.rules) if not rule.listing]
    numbers = [row for row, rule in blocks if rule.address == wanted]
    if not numbers:
        raise InvalidSettings(f"no [[site]] or [[page]] {wanted} yet; leave out --again to add it")
    access = AccessTable(asked, settings.parent, [wanted])
    asyncio.run(find_pages(asked, store_of(settings, asked), numbers[:1], access))


def _added(settings: Settings, *, page: bool) -> int:
    """Number of the rule that was added: the last of its kind."""
    return max(
        row for row, rule in enumerate(settings.rules) if rule.exact == page and not rule.listing
    )
