"""ZipNum: an index in shards of many gzip members, and a list of the members.

    com,example)/ 20140127171200   cdx-00000.gz   0   275   1

The list says which shards there are. They lie beside it, and each is an index of its own.

Touches: files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.adapters.imports.foreign_visits import ImportReading
from recrawl.adapters.imports.streams import open_source
from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(rb"[^\t]*\t([^\t]+)\t[0-9]+\t[0-9]+(?:\t[0-9]+)?\s*")
_ENDINGS = ("", ".gz", ".cdx.gz", ".cdxj.gz", ".cdx")
_NAME = re.compile(r"[\w][\w.=-]{0,200}", re.ASCII)
_SHOWN = 80
_MOST_SHARDS = 100_000


def is_zipnum_line(line: bytes) -> bool:
    """Whether a line is one of such a list."""
    return _LINE.fullmatch(line) is not None


def shards_of(path: Path) -> list[Path]:
    """Shards that a list names, in its order."""
    names: dict[str, None] = {}
    with open_source(path) as source:
        for block in source.line_blocks(ImportReading()):
            for line in block.splitlines():
                found = _LINE.fullmatch(line)
                if found is not None and len(names) < _MOST_SHARDS:
                    names[found[1].decode("utf-8", "replace")] = None
    if not names:
        raise InvalidTable(f"{path}: lists no parts of shards")
    # A list of one shard may have been renamed together with it.
    own = [path.with_suffix(ending) for ending in _ENDINGS[1:]] if len(names) == 1 else []
    return [_shard(path, name, own) for name in names]


def _shard(path: Path, name: str, others: list[Path]) -> Path:
    """File of a shard: in the list's own folder, whatever the list says."""
    if not _NAME.fullmatch(name):
        raise InvalidTable(
            f"{path}: names of shards must be plain, without folders (got {name[:_SHOWN]!a})"
        )
    tried = [path.with_name(name + ending) for ending in _ENDINGS] + others
    found = next((each for each in tried if each.is_file()), None)
    if found is None:
        raise InvalidTable(f"{path}: its shard {name[:_SHOWN]!a} was not found beside it")
    return found
