"""The checkpoint of a crawl: its learned state as named parts that are replaced all together.

Block 0 of a part is JSON: a value, or the type and shape of an array whose bytes follow in blocks
of a megabyte, so that neither side needs a second copy in memory. It also has a checksum of the
part, its name and the visit up to which it was learned: parts of two savings never mix.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import json
import re
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xxhash
from numpy.lib.format import descr_to_dtype, dtype_to_descr

from recrawl.entries.records import SavedCheckpoint
from recrawl.errors import InvalidParameter
from recrawl.store.rows import meta
from recrawl.store.rows.values import exactly, number

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from recrawl.store.rows.database import Database

_BLOCK = 1 << 20
_WITH_CHECKSUMS = 2  # what `meta` says of a checkpoint; 1 is one that was saved without
_CHECKSUM = "xxh3"
_DEEPEST_TYPE = 4
_OF = "@"  # between the name of a part and whose it is
_NAME = re.compile(r"((?:[^@]|@@)*)(?:@([0-9]+))?", re.DOTALL)
_FORGET_SLOTS = "delete from meta where name like 'checkpoint%@%'"
_SIZES = """
    select part, cast(sum(length(data)) as bigint) from checkpoint where block > 0 group by part
"""
_PUT = """
    insert into checkpoint (part, block, data) values (?, ?, ?)
    on conflict (part, block) do update set data = excluded.data
"""


def save(connection: Database, parts: Mapping[str, Any], visit: int, owner: str = "") -> None:
    """Replace a checkpoint; inside of a transaction.

    Args:
        connection: To the store.
        parts: What was learned, by name.
        visit: Number of the last visit that it was learned from.
        owner: Whose it is: that of the whole crawl, or of a slot.
    """
    named = {_owned(name, owner): part for name, part in parts.items()}
    for name in _names(connection, owner):
        if name not in named:
            connection.execute("delete from checkpoint where part = ?", (name,))
    for name, part in named.items():
        blocks = 0
        checksum = Checksum(name, visit)
        if isinstance(part, np.ndarray):
            blocks = _save_array(connection, name, part, checksum)
        else:
            _put_head(connection, name, {"value": part}, checksum)
        connection.execute("delete from checkpoint where part = ? and block > ?", (name, blocks))
    meta.put(connection, _owned("checkpoint_visit", owner), visit)
    meta.put(connection, _owned("checkpoint", owner), _WITH_CHECKSUMS)


def forget(connection: Database) -> None:
    """Delete all checkpoints: what was learned is to be learned again."""
    connection.execute("delete from checkpoint")
    connection.execute(_FORGET_SLOTS)
    meta.put(connection, "checkpoint", 0)


def forget_slots(connection: Database) -> None:
    """Delete the checkpoints of all slots."""
    rows = connection.execute("select part from checkpoint where block = 0").fetchall()
    for (name,) in rows:
        if _read_name(exactly(str, name))[1]:
            connection.execute("delete from checkpoint where part = ?", (name,))
    connection.execute(_FORGET_SLOTS)


def visits_of_slots(connection: Database) -> dict[int, int]:
    """Number of the last visit that the checkpoint of each slot includes, where it has one."""
    rows = connection.execute("select name, value from meta where name like 'checkpoint%@%'")
    values = {_read_name(exactly(str, name)): int(value) for name, value in rows.fetchall()}
    return {
        int(owner): values["checkpoint_visit", owner]
        for (name, owner), value in values.items()
        if name == "checkpoint" and value and owner
    }


def _owned(name: str, owner: str) -> str:
    """Name of a part of somebody's checkpoint.

    >>> _owned("0.last", ""), _owned("0.last", "3")
    ('0.last', '0.last@3')
    """
    plain = name.replace(_OF, 2 * _OF)
    return f"{plain}{_OF}{owner}" if owner else plain


def _read_name(stored: str) -> tuple[str, str]:
    """Name of a part, and whose it is.

    >>> _read_name("0.last@3"), _read_name("a@@b")
    (('0.last', '3'), ('a@b', ''))
    """
    found = _NAME.fullmatch(stored)
    if found is None:  # nobody wrote it so
        return stored, ""
    return found[1].replace(2 * _OF, _OF), found[2] or ""


def _names(connection: Database, owner: str) -> list[str]:
    """Names of the parts of somebody's checkpoint."""
    rows = connection.execute("select part from checkpoint where block = 0").fetchall()
    names = [exactly(str, name) for (name,) in rows]
    return [name for name in names if _read_name(name)[1] == owner]


class Checksum:
    """Checksum of a part: of its name, its visit, what it is and its bytes.

    Args:
        name: Of the part.
        visit: Number of the last visit of its checkpoint.
    """

    def __init__(self, name: str, visit: int) -> None:
        self._hash = xxhash.xxh3_128(f"{visit} {name} ".encode())

    def add(self, data: bytes | memoryview) -> None:
        """Go on with more bytes."""
        self._hash.update(data)

    def of(self, head: Mapping[str, Any]) -> str:
        """The checksum, with what the part is."""
        whole = self._hash.copy()
        whole.update(json.dumps(head).encode())
        return whole.hexdigest()


def _save_array(
    connection: Database, name: str, part: np.ndarray[Any, Any], checksum: Checksum
) -> int:
    """Write an array's blocks, and return their number."""
    if part.dtype.hasobject:
        raise InvalidParameter(f"checkpoint part {name!r}: an array of objects cannot be stored")
    plain = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    starts = range(0, len(plain), _BLOCK)
    rows = ((name, at // _BLOCK + 1, plain[at : at + _BLOCK].data) for at in starts)
    connection.executemany(_PUT, rows)
    checksum.add(plain.data)
    head = {"dtype": dtype_to_descr(part.dtype), "shape": part.shape}
    _put_head(connection, name, head, checksum)
    return len(starts)


def _put_head(connection: Database, name: str, head: Mapping[str, Any], checksum: Checksum) -> None:
    try:
        text = json.dumps({**head, _CHECKSUM: checksum.of(head)})
    except (TypeError, ValueError) as error:
        message = f"checkpoint part {name!r}: neither an array nor JSON ({error})"
        raise InvalidParameter(message) from None
    connection.execute(_PUT, (name, 0, text.encode()))


def load(
    connection: Database, names: Collection[str] | None = None, owner: str = ""
) -> SavedCheckpoint | None:
    """A checkpoint, or some of its parts; None where none was ever saved.

    Inside of a read transaction, so that all parts come from one saving.
    """
    saved = meta.get(connection, _owned("checkpoint", owner))
    if not saved:
        return None
    visit = meta.get(connection, _owned("checkpoint_visit", owner))
    query = "select part, data from checkpoint where block = 0"
    heads: list[Any] = connection.execute(query).fetchall()
    sizes = dict(connection.execute(_SIZES).fetchall())
    room, parts = connection.stored_bytes(), {}
    for part, text in heads:
        name, whose = _read_name(exactly(str, part))
        if whose == owner and (names is None or name in names):
            checksum = Checksum(part, visit) if saved == _WITH_CHECKSUMS else None
            head = exactly(dict, json.loads(text))
            stored = _Stored(part, head, number(sizes.get(part, 0)), room)
            parts[name] = _part(connection, stored, checksum)
    return SavedCheckpoint(parts, visit)


class _Stored(NamedTuple):
    """A part as it lies in the table.

    Args:
        name: Under which name.
        head: What it says of itself.
        size: Bytes of its blocks.
        room: Bytes of the whole store.
    """

    name: str
    head: dict[str, Any]
    size: int
    room: int


def _part(connection: Database, stored: _Stored, checksum: Checksum | None) -> Any:  # noqa: ANN401 - an array, or what JSON holds
    head = stored.head
    said = head.pop(_CHECKSUM, None)
    array = None if "value" in head else _array(connection, stored)
    if checksum is not None:
        if array is not None:
            checksum.add(array.reshape(-1).view(np.uint8).data)
        if checksum.of(head) != said:
            raise ValueError(f"checkpoint part {stored.name!r} is not what was saved")
    return head["value"] if array is None else array


def _array(connection: Database, stored: _Stored) -> Any:  # noqa: ANN401
    name, head, size, room = stored
    dtype = descr_to_dtype(_described(head["dtype"]))
    shape = [number(each) for each in exactly(list, head["shape"])]
    # Before any room is made for it: the head may say anything.
    if dtype.hasobject or prod(shape) * dtype.itemsize != size or size > room:
        raise ValueError(f"checkpoint part {name!r} has {size} bytes for {shape} of {dtype}")
    array = np.empty(shape, dtype)
    plain = array.reshape(-1).view(np.uint8)
    at, blocks = 0, count(1)
    one = "select data from checkpoint where part = ? and block = ?"
    while at < size:
        data = exactly(bytes, connection.execute(one, (name, next(blocks))).get)
        plain[at : at + len(data)] = np.frombuffer(data, np.uint8)
        at += len(data) or size  # an empty block is none of ours: the checksum tells
    return array


def _described(descr: Any, deep: int = 0) -> Any:  # noqa: ANN401 - numpy's own form of a type
    """A type's description with its tuples, which JSON has turned into lists."""
    if isinstance(descr, str):
        return descr
    if deep > _DEEPEST_TYPE:
        raise ValueError("a type within types is not one of ours")
    return [(field[0], _described(field[1], deep + 1), *map(tuple, field[2:])) for field in descr]
