"""Visit logs as JSON lines: an object a visit.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.adapters.tables.text_lines import cell_text, json_object
from recrawl.adapters.tables.visits import batch_of_texts
from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.adapters.tables.visits import Reading
    from recrawl.visits.batch import Batch

_ROWS = 1 << 16


def read(reading: Reading) -> Iterator[Batch]:
    """Rows of a JSON lines file, a batch at a time."""
    size, position = reading.path.stat().st_size, 0
    names: dict[str, str] = {}
    with reading.path.open("rb") as raw:
        objects = _objects(enumerate(raw, 1), reading)
        while True:
            taken = [pair for pair, _ in zip(objects, range(_ROWS), strict=False)]
            if not taken:
                if not names and not reading.skipped:
                    reading.refuse("must hold an object a line (got none)")
                return
            if not names:
                seen = dict.fromkeys(name for _, found in taken for name in found)
                reading.present(list(seen))
                names = _names(reading)
            columns = {
                ours: [cell_text(found.get(theirs)) for _, found in taken]
                for ours, theirs in names.items()
            }
            nested = [isinstance(found.get(names["page"]), dict | list) for _, found in taken]
            lines = [line for line, _ in taken]
            yield batch_of_texts(reading, columns, lines, position, nested)
            position += len(taken)
            if reading.progress is not None:
                reading.progress(raw.tell() / max(size, 1))


def _names(reading: Reading) -> dict[str, str]:
    """Their name of each of our columns; in a later line there may be one that was not so far."""
    names = {ours: reading.theirs(ours) for ours in (*reading.needed, *reading.optional)}
    if reading.site_column is not None:
        names["site"] = reading.site_column
    return names


def _objects(
    lines: Iterator[tuple[int, bytes]], reading: Reading
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        if not line.strip():
            continue
        found = json_object(line)
        if found is not None:
            yield number, found
        elif reading.skip_bad_rows:
            reading.skipped += 1
        else:
            got = line[:40].decode(errors="replace").strip()
            message = f"{reading.path}, line {number}: must be a JSON object (got {got!r})"
            raise InvalidTable(message)
