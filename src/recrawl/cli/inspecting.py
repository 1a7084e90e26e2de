"""What the verbs that inspect a crawl share: its settings, its store, a snapshot of its state.

Touches: files, the clock.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import typer

from recrawl.cli import screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.arrays.types import Ints
    from recrawl.cli.shared import Output
    from recrawl.entries.records import Host
    from recrawl.entries.store import ReadStore
    from recrawl.report.rates import Column
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

URL = typer.Argument(metavar="URL", help="Address of the page.", show_default=False)
_AHEAD_SECONDS = 1.0
_ROWS_AT_A_TIME = 1 << 16
JSON_OBJECT = typer.Option("--json", help="Write one JSON object instead of lines.")


def settings_beside(store: Path | None, settings: Path | None) -> Path:
    """File of the settings of a crawl: the one that is named, else the one beside its store."""
    from pathlib import Path

    beside = Path("recrawl.toml") if store is None else store.parent / "recrawl.toml"
    return beside if settings is None else settings


@contextmanager
def open_crawl(settings: Path, store: Path | None = None) -> Iterator[tuple[Settings, ReadStore]]:
    """Settings of a crawl, and its store for reading.

    Args:
        settings: File of its settings, or a store that has them.
        store: File of its store; by default the one that the settings name.
    """
    from recrawl.store import is_store, open_store
    from recrawl.store.settings_file import load_settings, settings_in, store_of

    in_store = is_store(settings)
    from recrawl.state.division import as_divided

    with ExitStack() as stack:
        # First what was named: settings are only looked for beside it.
        named = None if store is None else stack.enter_context(open_store(store))
        asked = None if in_store else load_settings(settings)
        own = settings if asked is None else store_of(settings, asked)
        reader = named or stack.enter_context(open_store(own))
        yield as_divided(asked or settings_in(reader), reader), reader
        for sentence in reader.remarks:
            screen.remark(sentence)


def documents() -> DocumentConverter:
    """Reads PDF and Office documents; says once why some cannot be read."""
    from recrawl.adapters.documents.converter import DocumentConverter

    told: set[str] = set()

    def tell(problem: str) -> None:
        if problem not in told:
            told.add(problem)
            screen.remark(f"A document cannot be read: {problem}.")

    return DocumentConverter(tell)


@contextmanager
def open_snapshot(
    settings: Path, store: Path | None = None
) -> Iterator[tuple[Snapshot, ReadStore]]:
    """Current state of a crawl, and its store for reading; arguments as for `open_crawl`."""
    with open_crawl(settings, store) as (asked, reader):
        yield snapshot_of(asked, reader), reader


def snapshot_of(settings: Settings, reader: ReadStore) -> Snapshot:
    """Current state of a crawl."""
    from recrawl.state.snapshot import load_snapshot

    return load_snapshot(settings, reader, now(reader))


def now(reader: ReadStore) -> float:
    """The current time in days after 1970, or that of a crawl whose clock was ahead of ours."""
    from recrawl.report.words import every
    from recrawl.units import SECONDS_A_DAY

    ahead = (reader.newest_instant() - time.time()) / SECONDS_A_DAY
    if ahead * SECONDS_A_DAY > _AHEAD_SECONDS:
        screen.remark(
            f"{reader.name}: its last visit is {every(ahead)} in the future; the next crawl "
            "corrects that."
        )
    return time.time() / SECONDS_A_DAY + max(ahead, 0.0)


def write_pages(
    out: Output,
    reader: ReadStore,
    pages: Ints,
    header: Sequence[str],
    columns: Callable[[slice], Mapping[str, Column]],
) -> None:
    """Write one row per page in parts, so that not all addresses are in memory at once.

    Args:
        out: Where the rows go.
        reader: Knows the addresses of pages.
        pages: The pages, counted from 0.
        header: Names of the columns, that of the addresses first.
        columns: Gives the other columns of some of the pages.
    """
    from recrawl.arrays.texts import Texts

    with out.writer(header) as writer:
        for start in range(0, max(len(pages), 1), _ROWS_AT_A_TIME):
            some = slice(start, start + _ROWS_AT_A_TIME)
            writer.write(Texts.of(reader.addresses(pages[some].tolist())), columns(some))


def page_of(reader: ReadStore, url: str, settings: Settings | None = None) -> tuple[int, str]:
    """Number and canonical address of a page; raise with the nearest address if it is unknown.

    Args:
        reader: The store.
        url: Address of the page.
        settings: Given where the error is to say which block would take an unknown page in.
    """
    from itertools import chain

    from recrawl.errors import UnknownPage
    from recrawl.parse.addresses import canonical
    from recrawl.report.histories import nearest

    address = canonical(url) or url
    (page,) = reader.find_pages([address])
    if page is None:
        other = nearest(address, chain.from_iterable(reader.all_addresses()))
        hint = f"; did you mean {other}?" if other else ""
        taken = "" if settings is None or not canonical(url) else _taken_in(settings, address)
        raise UnknownPage(f"{reader.name}: no page {address}{taken}{hint}")
    return page, address


def _taken_in(settings: Settings, address: str) -> str:
    """Whether an address that is not known would be taken in, and by what."""
    from recrawl.settings.rules import NO_RULE

    found = settings.admit(address)
    if found.rule == NO_RULE:
        return f"; no block of the settings covers it, `recrawl add {address}` adds one"
    block = settings.rules[found.rule].label
    return f"; block {block} takes it in once it is found, `recrawl hint {address}` adds it now"


def host_of(reader: ReadStore, name: str) -> Host:
    """A host of a crawl by its name; raise with the hosts that begin so if it is unknown."""
    from recrawl.errors import UnknownPage

    host = reader.host(name)
    if host is not None:
        return host
    near = [each.name for each in reader.hosts() if each.name.startswith(f"{name}:")]
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UnknownPage(f"{reader.name}: no host {name!r} in this crawl{hint}")
