"""Copies and chunks written to a file or a folder: the parts of `recrawl export` that have content.

Touches: files, the standard streams.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.cli import inspecting, screen
from recrawl.cli.get import FORMS
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from recrawl.entries.store import ReadStore
    from recrawl.publish.content import ContentReader
    from recrawl.publish.copies.rows import KeptCopy
    from recrawl.settings.settings import Settings

_ROWS = 100


def export_copies(settings: Settings, reader: ReadStore, output: str, form: str) -> None:
    """Write all copies to a file, or bring a folder in step with them."""
    from recrawl.publish.content import ContentReader
    from recrawl.publish.copies.rows import COPY_COLUMNS, copy_row, kept_copies
    from recrawl.report.words import counted

    if form not in FORMS:
        raise InvalidParameter(f"--as must be one of {', '.join(FORMS)} (got {form!r})")
    with inspecting.documents() as convert:
        content = ContentReader(reader, settings, convert=convert)
        if output != "-" and _is_folder(output):
            _export_folder(reader, content, Path(output), form)
            return
        _check_ending(output)
        rows = (copy_row(copy, content, form) for copy in kept_copies(reader))
        count = _write_table(reader, Path(output), "copies", COPY_COLUMNS, rows)
    if output != "-":
        screen.remark(f"Wrote {counted(count, 'copy')} to {output}.")


def export_chunks(settings: Settings, reader: ReadStore, output: str) -> None:
    """Write the chunks of all copies to a file."""
    from recrawl.publish.content import ContentReader
    from recrawl.publish.copies.rows import CHUNK_COLUMNS, chunk_rows, kept_copies
    from recrawl.report.words import counted

    if output != "-" and _is_folder(output):
        said = "-o must be a file for chunks: .jsonl, .ndjson, .parquet, .db or .sqlite"
        raise InvalidParameter(f"{said} (got {output!r})")
    with inspecting.documents() as convert:
        content = ContentReader(reader, settings, convert=convert)
        rows = chain.from_iterable(chunk_rows(copy, content) for copy in kept_copies(reader))
        count = _write_table(reader, Path(output), "chunks", CHUNK_COLUMNS, rows)
    if output != "-":
        screen.remark(f"Wrote {counted(count, 'chunk')} to {output}.")


def _is_folder(output: str) -> bool:
    """Whether an output is meant to be a folder: by its end, or because it is one."""
    return output.endswith("/") or Path(output).is_dir() or not Path(output).suffix


def _check_ending(output: str) -> None:
    """Raise for a file of copies of no known format; a folder would do, too."""
    from recrawl.publish.copies.tables import FORMATS

    if output != "-" and Path(output).suffix.lower() not in FORMATS:
        raise InvalidParameter(
            f"-o must be a file that ends in {', '.join(FORMATS)}, or a folder DIR/ "
            f"(got {output!r})"
        )


def _export_folder(reader: ReadStore, content: ContentReader, path: Path, form: str) -> None:
    from recrawl.publish.copies.folder import CopyFolder
    from recrawl.report.words import counted

    def written(copy: KeptCopy) -> bytes | None:
        if form == "html":
            return reader.body(copy.digest)
        found = content.content(copy.page, copy.address, copy.digest)
        if found is None:
            return None
        text = found.text if form == "text" else found.markdown
        return f"{text}\n".encode(errors="replace")

    done = CopyFolder(path, form).export(reader, written)
    screen.remark(
        f"{path} holds {counted(done.files, 'copy')}: "
        f"{done.written:,} written, {done.deleted:,} deleted."
    )
    if done.missing:
        have = "has" if done.missing == 1 else "have"
        pages = counted(done.missing, "page")
        screen.remark(f"{pages} {have} no version that can be written as {form}.")


def _print_rows(rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007 - the number of the last one
        screen.say(json.dumps(row))
    return count


def _write_table(
    reader: ReadStore,
    path: Path,
    name: str,
    columns: Mapping[str, type],
    rows: Iterable[dict[str, Any]],
) -> int:
    """Write rows to a file by its ending, or as JSON lines to the standard output; count them."""
    if str(path) == "-":
        return _print_rows(rows)
    from recrawl.adapters.tables.outputs import check_output
    from recrawl.errors import CannotWrite
    from recrawl.publish.copies.rows import batched
    from recrawl.publish.copies.tables import FORMATS, table_file
    from recrawl.store import is_store

    kind, count = check_output(path, formats=FORMATS), 0
    # Compared by their names first: only SQLite may open the file of a store that is open.
    own = Path(reader.name)
    if path.exists() and ((own.exists() and path.samefile(own)) or is_store(path)):
        raise CannotWrite(f"{path} is a store, which is never overwritten")
    with table_file(path, kind, name, columns) as write:
        for some in batched(rows, _ROWS):
            write(some)
            count += len(some)
    return count
