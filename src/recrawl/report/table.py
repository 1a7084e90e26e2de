"""Rows of words as lines of text that fit a terminal, or as HTML for a notebook.

Pure.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_APART = "  "
_CELL = "padding: 2px 8px; white-space: nowrap"
_NARROWEST = 12  # a first column is cut to this, and no further
_READABLE = 36  # letters of a first column that tell most addresses apart
_SCHEMES = ("https://", "http://")


def table_lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    left: Collection[int] = (0,),
) -> list[str]:
    """Lay out a table whose first column gives way where the terminal is narrow.

    Args:
        header: Names of the columns.
        rows: Cells.
        width: Letters that fit on a line.
        left: Columns that are text; the others are figures and stand right.

    Examples:
        >>> for line in table_lines(["page", "rate"], [["https://a/b", "0.25"]], width=40):
        ...     print(line)
        page         rate
        https://a/b  0.25
    """
    cells = _printed(header, rows)
    widths = _widths(cells)
    room = max(width - _beside_first(widths), _NARROWEST)
    if widths[0] > room:
        for row in cells:
            row[0] = shortened(_without_scheme(row[0]), room)
        widths = _widths(cells)
    lines = []
    for row in cells:
        padded = [
            cell.ljust(size) if column in left else cell.rjust(size)
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(_APART.join(padded).rstrip())
    return lines


def columns_that_fit(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    spare: Sequence[int],
) -> list[int]:
    """Columns to show so that the first one stays readable where the terminal is narrow.

    Args:
        header: Names of the columns.
        rows: Cells.
        width: Letters that fit on a line.
        spare: Columns that may be left out, the one to be missed least first.

    Examples:
        >>> rows = [["https://example.org/a/long/way/down", "1.9d", "19h - 5.8d"]]
        >>> columns_that_fit(["page", "every", "between"], rows, width=40, spare=[2])
        [0, 1]
        >>> columns_that_fit(["page", "every", "between"], rows, width=80, spare=[2])
        [0, 1, 2]
    """
    cells = _printed(header, rows)
    wanted = min(max(len(_without_scheme(row[0])) for row in cells), _READABLE)
    kept = list(range(len(header)))
    for column in spare:
        widths = _widths([[row[each] for each in kept] for row in cells])
        if width - _beside_first(widths) >= wanted:
            break
        kept.remove(column)
    return kept


def _printed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(header), *(list(map(printable, row)) for row in rows)]


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _beside_first(widths: Sequence[int]) -> int:
    """Letters on a line that all columns but the first take."""
    return sum(widths[1:]) + len(_APART) * (len(widths) - 1)


def _without_scheme(text: str) -> str:
    for scheme in _SCHEMES:
        text = text.removeprefix(scheme)
    return text


def table_html(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    left: Collection[int] = (0,),
) -> str:
    """The same as an HTML table, with a sentence below.

    >>> table_html(["page", "rate"], [["<b>", "2"]], caption="1 page").count("&lt;b&gt;")
    1
    """

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align: {"left" if place in left else "right"}; {_CELL}">'
            f"{escape(printable(cell))}</{tag}>"
            for place, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    table = f"<table><thead><tr>{line(header, 'th')}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}<p>{escape(caption)}</p></div>"


def shortened(text: str, width: int) -> str:
    """Cut a text in its middle: both ends of an address tell it from its neighbours.

    >>> shortened("https://example.org/a/long/way/down", 20)
    'https://ex…/way/down'
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def printable(text: str) -> str:
    r"""Show what a terminal would obey: a page's name may hold anything.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
