"""The checkpoint of a crawl: its learned state as named parts that are replaced all together.

Block 0 of a part is JSON: a value, or the type and shape of an array whose bytes follow in blocks
of a megabyte, so that neither side needs a second copy in memory.

Touches: files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.format import descr_to_dtype, dtype_to_descr

from recrawl.entries.records import SavedCheckpoint
from recrawl.errors import InvalidParameter
from recrawl.store.sqlite import meta

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import apsw

_BLOCK = 1 << 20
_PUT = """
    insert into checkpoint (part, block, data) values (?, ?, ?)
    on conflict (part, block) do update set data = excluded.data
"""


def save(connection: apsw.Connection, parts: Mapping[str, Any], visit: int) -> None:
    """Replace the checkpoint; inside of a transaction."""
    for (name,) in connection.execute("select distinct part from checkpoint").fetchall():
        if name not in parts:
            connection.execute("delete from checkpoint where part = ?", (name,))
    for name, part in parts.items():
        blocks = 0
        if isinstance(part, np.ndarray):
            blocks = _save_array(connection, name, part)
        else:
            _put_head(connection, name, {"value": part})
        connection.execute("delete from checkpoint where part = ? and block > ?", (name, blocks))
    meta.put(connection, "checkpoint_visit", visit)
    meta.put(connection, "checkpoint", 1)


def forget(connection: apsw.Connection) -> None:
    """Delete the checkpoint: what was learned is to be learned again."""
    connection.execute("delete from checkpoint")
    meta.put(connection, "checkpoint", 0)


def _save_array(connection: apsw.Connection, name: str, part: np.ndarray[Any, Any]) -> int:
    """Write an array's blocks, and return their number."""
    if part.dtype.hasobject:
        raise InvalidParameter(f"checkpoint part {name!r}: an array of objects cannot be stored")
    _put_head(connection, name, {"dtype": dtype_to_descr(part.dtype), "shape": part.shape})
    plain = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
    starts = range(0, len(plain), _BLOCK)
    rows = ((name, at // _BLOCK + 1, plain[at : at + _BLOCK].data) for at in starts)
    connection.executemany(_PUT, rows)
    return len(starts)


def _put_head(connection: apsw.Connection, name: str, head: Mapping[str, Any]) -> None:
    try:
        text = json.dumps(head)
    except (TypeError, ValueError) as error:
        message = f"checkpoint part {name!r}: neither an array nor JSON ({error})"
        raise InvalidParameter(message) from None
    connection.execute(_PUT, (name, 0, text.encode()))


def load(
    connection: apsw.Connection, names: Collection[str] | None = None
) -> SavedCheckpoint | None:
    """The checkpoint, or some of its parts; None where none was ever saved.

    Inside of a read transaction, so that all parts come from one saving.
    """
    if not meta.get(connection, "checkpoint"):
        return None
    query = "select part, data from checkpoint where block = 0"
    heads: list[Any] = connection.execute(query).fetchall()
    parts = {
        name: _part(connection, name, json.loads(head))
        for name, head in heads
        if names is None or name in names
    }
    return SavedCheckpoint(parts, meta.get(connection, "checkpoint_visit"))


def _part(connection: apsw.Connection, name: str, head: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if "value" in head:
        return head["value"]
    array = np.empty(head["shape"], descr_to_dtype(_described(head["dtype"])))
    plain = array.reshape(-1).view(np.uint8)
    at = 0
    blocks = "select data from checkpoint where part = ? and block > 0 order by block"
    for (data,) in connection.execute(blocks, (name,)):
        plain[at : at + len(data)] = np.frombuffer(data, np.uint8)
        at += len(data)
    return array


def _described(descr: Any) -> Any:  # noqa: ANN401 - numpy's own form of a type
    """A type's description with its tuples, which JSON has turned into lists."""
    if isinstance(descr, str):
        return descr
    return [(field[0], _described(field[1]), *map(tuple, field[2:])) for field in descr]
