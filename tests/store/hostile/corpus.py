"""Stores that a stranger made: each does one thing that no crawl does.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.records import digest_of
from tests.store.hostile.stores import array, bomb, execute, mistyped, opened, part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_GIGABYTES = 3 << 30
_DEEP = b'{"value": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"


def _body_bomb(path: Path, size: int) -> None:
    """Newest bodies that become gigabytes, with the size that they say."""
    with opened(path) as connection:
        data = bomb(size)
        connection.execute("update bodies set data = ?, size = ?", (data, size))


def _body_of_zeros(path: Path) -> None:
    """A body whose size and digest are right, as large as none may be."""
    size = 96 << 20
    with opened(path) as connection:
        digest = digest_of(bytes(size))
        connection.execute("delete from bodies where id > 1")
        row = (bomb(size), size, digest)
        connection.execute("update bodies set data = ?, size = ?, digest = ?", row)
        connection.execute("update versions set body = 1")


def _robots_bomb(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("update robots set body = ?", (bomb(_GIGABYTES),))


def _unsized(path: Path) -> None:
    """A frame of zstd that does not say how large it is."""
    with opened(path) as connection:
        connection.execute("update bodies set data = ?", (bomb(2 << 30, sized=False),))


def _endless_tree(path: Path) -> None:
    """The table of visits as a tree of two levels, 400 times 400 branches to one leaf."""
    connection = opened(path)
    query = "select rootpage from sqlite_schema where name = 'visits'"
    root, size = connection.execute(query).get, connection.execute("pragma page_size").get
    connection.close()
    content = bytearray(path.read_bytes())
    page = content[(root - 1) * size : root * size]
    assert page[0] == _INTERIOR
    leaf, last = page[8:12], len(content) // size + 1
    for number, below in ((root, last.to_bytes(4, "big")), (last, bytes(leaf))):
        made = _branches(size, below)
        content[(number - 1) * size : number * size] = made
    content[28:32] = last.to_bytes(4, "big")  # pages of the file
    path.write_bytes(content)


_INTERIOR = 5  # page of a table that only has branches


def _branches(size: int, below: bytes) -> bytes:
    """A page whose branches all lead to one other, with keys that rise."""
    page = bytearray(size)
    count, at = 400, size
    for number in range(count):
        cell = below + bytes([0x80 | (number >> 7), number & 0x7F])
        at -= len(cell)
        page[at : at + len(cell)] = cell
        page[12 + 2 * number : 14 + 2 * number] = at.to_bytes(2, "big")
    page[0], page[3:5], page[5:7] = _INTERIOR, count.to_bytes(2, "big"), at.to_bytes(2, "big")
    page[8:12] = below
    return bytes(page)


_RECURSIVE = (
    "select value from (with recursive n(value) as "
    "(select 1 union all select value + 1 from n) select value from n)"
)

HOSTILE: dict[str, Callable[[Path], None]] = {
    "a body of 3 GB in 100 kB": lambda path: _body_bomb(path, _GIGABYTES),
    "a body of 96 MB with the right digest": _body_of_zeros,
    "a body that does not say how large it is": _unsized,
    "a robots.txt of 3 GB": _robots_bomb,
    "a view without an end in place of a table": execute(
        "alter table days rename to days_before",
        f"create view days as select value as day, 1 as outcome, 1 as visits from ({_RECURSIVE})",  # noqa: S608
    ),
    "one more view": execute("create view mine as select * from pages"),
    "a view whose name moves the cursor": execute('create view "\x1b[2J\nx" as select 1'),
    "a trigger": execute(
        "create trigger t after insert on visits begin delete from visits where id < new.id; end"
    ),
    "a virtual table": execute("create virtual table f using fts5(a)"),
    "an index on an expression": execute("create index i on pages (abs(depth))"),
    "one more column": execute("alter table pages add column x integer default 1"),
    "a lost table": execute("drop table masks"),
    "pages beyond the file": execute(
        "insert into pages (id, address, key, host, rule, found_at) "
        "values (1000000000000, 'http://127.0.0.1:2/x', 1, 1, 0, 0)"
    ),
    "visits beyond the file": execute(
        "insert into visits (id, page, before, at, outcome) values (4000000000000, 1, 0, 0, 1)"
    ),
    "hosts beyond the file": execute("insert into hosts (id, name) values (4000000000000, 'x')"),
    "a host that is not there": execute("update pages set host = 77"),
    "an outcome that nobody knows": execute("update visits set outcome = 99 where id = 40"),
    "a status that nobody knows": execute("update pages set status = 99 where id = 4"),
    "a chain that leads to itself": execute("update visits set before = id"),
    "a chain that leads to others": execute("update visits set before = id - 1"),
    "instants beyond the calendar": execute("update visits set at = 9223372036854775807"),
    "texts as instants": mistyped("update visits set at = 'soon' where id = 12"),
    "numbers as addresses": mistyped("update pages set address = x'ff00ff' where id = 2"),
    "a delay without an end": execute("update hosts set delay_days = 9e999"),
    "a delay of texts": execute("update hosts set latency_seconds = -1.0"),
    "latest visits of others": execute(
        "update latest_visits set data = zeroblob(length(data) - 3)"
    ),
    "latest visits out of range": execute(
        "update latest_visits set data = cast(x'ffffffffffffff7f' || data as blob)"
    ),
    "masks nested deep": execute(
        "update masks set data = printf('%.*c', 500000, '[')",
        "update host_masks set data = printf('%.*c', 500000, '[')",
    ),
    "attributes nested deep": execute(
        "update objects set attributes = printf('%.*c', 500000, '[')"
    ),
    "attributes that are no texts": execute("update objects set attributes = '{\"a\": [1]}'"),
    "an object of no listing": execute("update objects set listing = 9 where id < 5"),
    "an etag that ends a header": execute("update copies set etag = 'a' || x'0d0a' || 'Evil: 1'"),
    "a tree without an end": _endless_tree,
    "a checkpoint part of objects": part("0.last", {"dtype": "|O", "shape": [60]}, bytes(480)),
    "a checkpoint part of 10^12 rows": part("0.last", {"dtype": "<f8", "shape": [10**12]}, b""),
    "a checkpoint part of negative rows": part("0.last", {"dtype": "<f8", "shape": [-1]}, bytes(8)),
    "a checkpoint part without a shape": part("0.last", {"dtype": "<f8"}, bytes(8)),
    "a checkpoint part that is a list": part("0.last", [1, 2], checked=False),
    "a checkpoint part nested deep": part("0.gap", _DEEP, checked=False),
    "a checkpoint type nested deep": part(
        "0.last", b'{"shape": [1], "dtype": ' + b'[["a", ' * 3000 + b'"<f8"' + b"]]" * 3000 + b"}"
    ),
    "a checkpoint with another checksum": execute(
        "update checkpoint set data = zeroblob(length(data)) where part = '0.last' and block = 1"
    ),
    "a checkpoint of pages that are not there": array("0.pages", np.arange(60, dtype="<i4") + 40),
    "a checkpoint of too few pages": array("0.last", np.zeros(3)),
    "sections that lead back to themselves": array("0.sections.parent", [-1, 2, 1, 1, 1, 1, 1]),
    "sections beyond their number": array("0.sections.leaf", np.full(60, 1 << 30, "<i4")),
    "clocks that never were": array("0.clocks.found", np.full((7, 64), np.inf)),
    "a gap that is no number": part("0.gap", {"value": "often"}),
    "10^15 groups": part("0.sections.groups", {"value": 10**15}),
    "bins of hardly any width": part("0.clocks.width", {"value": 1e-8}),
    "a bin of no width": part("0.clocks.width", {"value": 0.0}),
    "announcements of unknown kinds": array("announcements.kind", np.full(60, 9, np.uint8)),
    "pairs of texts": array("checked", np.full(60, "x")),
    "a policy that nobody knows": part("policy", {"value": ["no", "policy"]}),
    "a seed that is none": execute("update meta set value = 'x' where name = 'seed'"),
}
