"""Lines of text, JSON objects and cells of files that somebody else wrote.

Touches: files.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from recrawl.errors import InvalidTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def text_lines(path: Path, raw: IO[bytes]) -> Iterator[str]:
    """Lines of a file as text, each with its end; refuse what is no text."""
    for number, line in enumerate(raw, 1):
        if b"\0" in line:
            message = f"{path}, line {number}: must be text (got a NUL byte)"
            raise InvalidTable(message)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            got = f"0x{line[error.start]:02x}"
            message = f"{path}, line {number}: must be UTF-8 text (got byte {got})"
            raise InvalidTable(message) from None


def json_object(line: str | bytes) -> dict[str, Any] | None:
    """The JSON object that a line holds; None where it holds anything else.

    >>> json_object(b'{"page": "/a"}'), json_object("[1]"), json_object("{")
    ({'page': '/a'}, None, None)
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def cell_text(value: Any) -> str:  # noqa: ANN401 - whatever a file holds
    """A value as a CSV file would have it.

    >>> [cell_text(value) for value in (None, True, 2.0, "a", [1])]
    ['', 'true', '2', 'a', '[1]']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)
