"""Cells of a table put into rows and columns.

A cell that spans several columns or rows stands in the first of each; the others are empty. What a
hostile table may claim is bounded: wide spans are cut, and beyond `_MOST_FILLED` empty cells of a
page no more are filled in.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.extract.nodes import DataTable

if TYPE_CHECKING:
    from recrawl.extract.nodes import Spans

_WIDEST = 50  # columns that spans are followed in
_MOST_ROWS = 1_000  # that a cell may span
_MOST_FILLED = 10_000  # empty cells of a table for spans


class TableRows:
    """Rows of one table while it is read.

    Examples:
        >>> from recrawl.extract.nodes import Span
        >>> table = TableRows()
        >>> for cells in ((("a", 1, 2), ("b", 2, 1)), (("c", 1, 1),)):
        ...     table.open_row(head=False)
        ...     for text, columns, rows in cells:
        ...         table.add((Span(text),), columns=columns, rows=rows, head=False)
        >>> [["".join(span.text for span in cell) for cell in row] for row in table.done().rows]
        [['a', 'b', ''], ['', 'c']]
    """

    def __init__(self) -> None:
        self._rows: list[list[Spans]] = []
        self._heads: list[bool] = []  # of each row, whether all its cells are headers
        self._spanned: dict[int, int] = {}  # by column, rows that a cell above still fills
        self._filled = 0

    def open_row(self, *, head: bool) -> None:
        """Begin a row, which may be part of the table's head."""
        self._end_row()
        self._rows.append([])
        self._heads.append(head)

    def add(self, cell: Spans, *, columns: int, rows: int, head: bool) -> None:
        """Add a cell to the row."""
        if not self._rows:
            self.open_row(head=False)
        row = self._rows[-1]
        while self._spanned.get(len(row), 0) and self._fill():
            row.append(())
        at = len(row)
        self._heads[-1] = head and (at == 0 or self._heads[-1])
        row.append(cell)
        width = min(max(columns, 1), _WIDEST)
        for column in range(at, min(at + width, _WIDEST)):
            if rows > 1:
                # One more: the end of this row counts it, too.
                self._spanned[column] = min(rows, _MOST_ROWS)
        for _ in range(width - 1):
            if self._fill():
                row.append(())

    def done(self) -> DataTable | None:
        """The table; None where all of it is empty."""
        self._end_row()
        kept = [index for index, row in enumerate(self._rows) if any(row)]
        if not kept:
            return None
        rows = [tuple(self._rows[index]) for index in kept]
        width = max(map(len, rows))
        if self._heads[kept[0]]:
            header = rows.pop(0)
            return DataTable(header + ((),) * (width - len(header)), tuple(rows))
        return DataTable(((),) * width, tuple(rows))

    def _fill(self) -> bool:
        self._filled += 1
        return self._filled <= _MOST_FILLED

    def _end_row(self) -> None:
        if self._spanned and self._rows:
            self._spanned = {at: left - 1 for at, left in self._spanned.items() if left > 1}
