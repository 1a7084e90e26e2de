"""PDF files as HTML, through PDFium.

Touches: nothing but memory.
"""

from __future__ import annotations

from ctypes import byref, c_double
from typing import TYPE_CHECKING

import pypdfium2
import pypdfium2.raw as pdfium

from recrawl.adapters.documents.bounds import MOST_LETTERS, MOST_PAGES, UnreadableDocument
from recrawl.adapters.documents.pdf_text import HYPHEN, PdfLine, pdf_html

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_HEADINGS = 5_000
_DEEPEST_HEADING = 6
_LINE_ENDS = "\r\n"
_LARGEST = 200.0  # points
_NO_LETTERS = frozenset({0, 0xFFFE, 0xFFFF})
_PASSWORD = "password"  # noqa: S105 - a word of an error


def pdf_to_html(body: bytes) -> str:
    """HTML of a PDF file; empty where it has no words, as one of scanned pages."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        why = "it is encrypted" if _PASSWORD in str(error).lower() else "it is damaged"
        raise UnreadableDocument(why) from None
    with document:
        if len(document) > MOST_PAGES:
            raise UnreadableDocument(f"it has more than {MOST_PAGES:,} pages")
        pages: list[list[PdfLine]] = []
        letters = 0
        for number in range(len(document)):
            lines = list(_lines(document, number))
            letters += sum(len(line.text) for line in lines)
            if letters > MOST_LETTERS:
                raise UnreadableDocument(f"it has more than {MOST_LETTERS:,} letters")
            pages.append(lines)
        return pdf_html(pages, document.get_metadata_value("Title"), _outline(document))


def _lines(document: pypdfium2.PdfDocument, number: int) -> Iterator[PdfLine]:
    """Lines of a page in the order of the file; none of a page that cannot be read."""
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return
    try:
        letters = page.get_textpage()
        try:
            yield from _lines_of(letters)
        finally:
            letters.close()
    finally:
        page.close()


def _lines_of(letters: pypdfium2.PdfTextPage) -> Iterator[PdfLine]:
    count = letters.count_chars()
    if count > MOST_LETTERS:
        raise UnreadableDocument(f"it has more than {MOST_LETTERS:,} letters")
    handle, code_of = letters.raw, pdfium.FPDFText_GetUnicode
    line: list[tuple[int, str]] = []
    for place in range(count):
        code = code_of(handle, place)
        letter = "" if code in _NO_LETTERS else chr(code)
        if letter and letter in _LINE_ENDS:
            if line:
                yield from _line(letters, line)
            line = []
        elif letter:
            line.append((place, letter))
            if letter == HYPHEN:  # PDFium leaves out the end of a line after it
                yield from _line(letters, line)
                line = []
    if line:
        yield from _line(letters, line)


def _line(letters: pypdfium2.PdfTextPage, line: list[tuple[int, str]]) -> Iterator[PdfLine]:
    seen = [place for place, letter in line if not letter.isspace()]
    if not seen:
        return
    text = "".join(letter for _, letter in line).strip()
    first, last = letters.get_charbox(seen[0]), letters.get_charbox(seen[-1])
    size = pdfium.FPDFText_GetFontSize(letters.raw, seen[0])
    yield PdfLine(
        text, first[0], last[2], _baseline(letters, seen[0]), min(max(size, 1.0), _LARGEST)
    )


def _baseline(letters: pypdfium2.PdfTextPage, place: int) -> float:
    """Height of the line that a letter stands on, the same for "g" and "h"."""
    x, y = c_double(), c_double()
    pdfium.FPDFText_GetCharOrigin(letters.raw, place, byref(x), byref(y))
    return y.value


def _outline(document: pypdfium2.PdfDocument) -> dict[str, int]:
    """Headings that the file names, with their levels."""
    found: dict[str, int] = {}
    for number, mark in enumerate(document.get_toc(max_depth=_DEEPEST_HEADING)):
        if number >= _MOST_HEADINGS:
            break
        found.setdefault(mark.get_title(), min(mark.level + 1, _DEEPEST_HEADING))
    return found
