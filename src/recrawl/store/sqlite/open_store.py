"""A store that is open for reading, whoever writes meanwhile.

Touches: files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from recrawl.store.sqlite import schema
from recrawl.store.sqlite.connections import connect_to_read

if TYPE_CHECKING:
    from types import TracebackType


class OpenStore:
    """What everybody who reads a store needs.

    Args:
        path: The file.
    """

    def __init__(self, path: Path | str) -> None:
        """Open it, and refuse what cannot be read."""
        self.path = Path(path)
        self._connection = connect_to_read(self.path)
        try:
            schema.require_current(self.path, self._connection, schema.steps_in())
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; again is nothing."""
        self._connection.close(True)  # noqa: FBT003 - also with a read half done
