"""A small crawl with something in every table, and ways to spoil it.

Touches: files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import apsw
import numpy as np

from recrawl.entries.entries import (
    Copy,
    HostBelieved,
    HostSeen,
    PageChange,
    PageEvent,
    PagesFound,
    RobotsRead,
    SitesDiscovered,
    VisitMade,
)
from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.entries.manifests import ListedChunk, Manifest
from recrawl.entries.records import VersionLines
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.settings.settings import read_settings
from recrawl.store import create_store
from recrawl.store.rows import checkpoints
from recrawl.visits.status import FeedKind, VisitOutcome
from tests.inspect.looked import save

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

HOST = "127.0.0.1:2"  # where nobody listens
SITE = f"http://{HOST}"
URL = f"{SITE}/s0/p0.html"
PAGES = 60
BEGAN = 1_767_268_800.0
DAY = 86_400.0
SETTINGS = f"""agent = "bot (me@example.org)"
budget = "5/1d"
[politeness]
delay = "0.001s"
[[site]]
address = "{SITE}/"
local = true
"""


def make(folder: Path) -> Path:
    """A crawl in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recrawl.toml").write_text(SETTINGS)
    path = folder / "recrawl.db"
    names = [f"{SITE}/s{page // 10}/p{page}.html" for page in range(PAGES)]
    with create_store(path) as store:
        store.write([PagesFound(names, [HOST] * PAGES, [0] * PAGES, BEGAN)])
        for number in range(5):
            store.write([_visit(page, number) for page in range(PAGES)])
        masks = '[1,["p",1,1,["Now ",""],8,0,"Top","",1]]'
        store.write(
            [
                RobotsRead(SITE, BEGAN, 200, b"User-agent: *\nDisallow: /no\n", 1e-9),
                HostSeen(HOST, 1e-9, None, 0.01, 0),
                HostBelieved(HOST, {"not_modified": (3.0, 1.0, 0.0, 2.0)}, masks),
                SitesDiscovered([f"{SITE}/"], BEGAN + 5 * DAY),
                SourcesKnown([_feed()]),
                *(_sync(number) for number in range(6)),
            ]
        )
    save(read_settings(SETTINGS), path, (BEGAN + 6 * DAY) / DAY)
    return path


def _feed() -> Source:
    feed = Source(f"{SITE}/feed", SITE, SourceKind.FEED, etag='"f"', signature=b"s" * 16)
    return feed.after_look(BEGAN, 9).after_look(BEGAN + DAY, 3)


def _visit(page: int, number: int) -> VisitMade:
    changed = (page + number) % 3 == 0
    # One page is long enough to have its lines kept.
    words = 200 if page else 2000
    body = b"<p>Page %d at <b>%d</b>" % (page, number if changed else 0) + b" word" * words
    return VisitMade(
        page,
        BEGAN + number * DAY + page,
        VisitOutcome.FIRST if not number else VisitOutcome(1 + 2 * changed),
        http=200,
        size=len(body),
        took_seconds=0.1,
        age=0.1 if changed else None,
        copy=Copy(b"b%d" % number, b"t", '"e"', int(BEGAN), 5) if changed or not number else None,
        body=body if changed or not number else None,
        lines=VersionLines(b"as read", (body[3:].decode(),)) if changed or not number else None,
        masks='[1,["p",1,1,["Now ",""],8,0,"Top","",1]]' if page < 3 else None,
        change=None if number else PageChange(),
        event=_event(page, number) if changed or not number else None,
    )


def _event(page: int, number: int) -> PageEvent:
    kind = FeedKind.CHANGED if number else FeedKind.NEW
    chunk = ListedChunk(str(UUID(int=page)), f"{number:064x}", (f"Page {page}",), 0)
    manifest = Manifest(1, (chunk,))
    return PageEvent(kind, BEGAN + number * DAY, BEGAN, gist="figures", manifest=manifest)


def _sync(number: int) -> ListingSynced:
    return ListingSynced(
        "jobs",
        BEGAN + number * DAY,
        SyncOutcome.FIRST if not number else SyncOutcome.DONE,
        BEGAN + (number + 1) * DAY,
        "recall",
        inserted={f"k{number}{each}": {"city": "Rome"} for each in range(9)},
        deleted=[f"k{number - 1}{each}" for each in range(4)] if number else [],
        items=9 + 5 * number,
    )


def flip(path: Path, chance: random.Random, count: int) -> None:
    """Flip some bits anywhere behind the first hundred bytes."""
    content = bytearray(path.read_bytes())
    for _ in range(count):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def flip_values(path: Path, chance: random.Random, count: int) -> None:
    """Set some values of some rows to what nobody wrote, as a flipped bit within a page does."""
    with opened(path) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "select name from sqlite_schema where type = 'table' order by name"
            )
        ]
        for _ in range(count):
            table = chance.choice(tables)
            columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
            column = chance.choice(columns)
            value = chance.choice(
                [-1, 0, 1, 7, 10**6, 2**31, 2**40, 2**62, -(2**63), 1e300, 0.5, "x", b"\xff", None]
            )
            try:
                rows = f"select {column} from {table} order by {column}"  # noqa: S608 - ours
                kept = connection.execute(rows).fetchall()
                if kept:
                    update = f"update {table} set {column} = ? where {column} is ?"  # noqa: S608
                    connection.execute(update, (value, *chance.choice(kept)))
            except (apsw.ConstraintError, apsw.MismatchError):
                continue


def opened(path: Path) -> apsw.Connection:
    """A connection that minds nothing."""
    return apsw.Connection(str(path))


def execute(*statements: str) -> Callable[[Path], None]:
    """What a stranger does to a store by SQL."""

    def spoil(path: Path) -> None:
        with opened(path) as connection:
            for statement in statements:
                connection.execute(statement)

    return spoil


def mistyped(*statements: str) -> Callable[[Path], None]:
    """Rows of a type that their table does not allow."""

    def spoil(path: Path) -> None:
        strict = "update sqlite_schema set sql = "
        with opened(path) as connection:
            connection.execute("pragma writable_schema = on")
            connection.execute(
                "create temp table had as select name, sql from sqlite_schema where type = 'table'"
            )
            connection.execute(
                strict + "replace(replace(sql, ') STRICT', ')'), 'INTEGER NOT NULL', 'ANY') "
                "where type = 'table'"
            )
            rows = connection.execute("select name, sql from temp.had").fetchall()
            version = connection.execute("pragma schema_version").get
            connection.execute(f"pragma schema_version = {version + 1}")
        with opened(path) as connection:
            for statement in statements:
                connection.execute(statement)
        with opened(path) as connection:
            connection.execute("pragma writable_schema = on")
            connection.executemany(
                "update sqlite_schema set sql = ?2 where name = ?1 and type = 'table'", rows
            )
            version = connection.execute("pragma schema_version").get
            connection.execute(f"pragma schema_version = {version + 1}")

    return spoil


def part(name: str, head: Any, *blocks: bytes, checked: bool = True) -> Callable[[Path], None]:
    """A part of the checkpoint that somebody made up, with a checksum that is right."""

    def spoil(path: Path) -> None:
        with opened(path) as connection:
            visit = connection.execute("select value from meta where name='checkpoint_visit'").get
            connection.execute("delete from checkpoint where part = ?", (name,))
            if isinstance(head, dict) and checked:
                checksum = checkpoints.Checksum(name, visit)
                for block in blocks:
                    checksum.add(block)
                text = json.dumps({**head, "xxh3": checksum.of(head)}).encode()
            else:
                text = head if isinstance(head, bytes) else json.dumps(head).encode()
            for number, block in enumerate([text, *blocks]):
                connection.execute(
                    "insert into checkpoint (part, block, data) values (?, ?, ?)",
                    (name, number, block),
                )

    return spoil


def array(name: str, values: Any) -> Callable[[Path], None]:
    """An array in a checkpoint that somebody made up."""
    made = np.asarray(values)
    head = {"dtype": made.dtype.str, "shape": list(made.shape)}
    return part(name, head, made.tobytes())


def bomb(size: int, *, sized: bool = True) -> bytes:
    """A frame of zstd with many zeros: one block of four bytes for each 128 kB of them.

    Args:
        size: How many zeros, whole megabytes.
        sized: Whether the frame says how many.
    """
    block = 1 << 17
    last, repeated = 1, 1 << 1
    count = size // block
    heads = [block << 3 | repeated] * (count - 1) + [block << 3 | repeated | last]
    window = 7 << 3  # 128 kB
    head = bytes([0xC0, window]) + size.to_bytes(8, "little") if sized else bytes([0, window])
    blocks = b"".join(each.to_bytes(3, "little") + b"\0" for each in heads)
    return b"\x28\xb5\x2f\xfd" + head + blocks
