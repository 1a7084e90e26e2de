"""Office documents as HTML: texts, spreadsheets, presentations.

Each is a zip file of XML, except for old workbooks. What it would unpack to is added up before any
of it is unpacked, and XML with a document type, which could name entities, is none of theirs.

Touches: nothing but memory.
"""

from __future__ import annotations

import datetime as dt
import xml.dom.expatbuilder  # noqa: F401 - mammoth would load it when it can be loaded no more
import zipfile
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import mammoth
import pptx
import python_calamine
from lxml import etree  # type: ignore[import-untyped] # ships no types
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.exc import PythonPptxError

from recrawl.adapters.documents.bounds import (
    MOST_CELLS,
    MOST_PARTS,
    MOST_UNPACKED,
    UnreadableDocument,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DAMAGED = "it is damaged"
_CORE = "docProps/core.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_CONTENT, _META = "content.xml", "meta.xml"
_DOCTYPE = (b"<!DOCTYPE", "<!DOCTYPE".encode("utf-16-le"), "<!DOCTYPE".encode("utf-16-be"))
_DOCTYPE_WITHIN = 1 << 16
_DEEPEST = 50  # groups of shapes, lists in lists
_ENCRYPTED_FLAG = 0x1
_EXACT = 1e15  # up to here a whole number has no other digits


def docx_to_html(body: bytes) -> str:
    """HTML of a Word document."""
    with _opened(body) as parts:
        title = _title(parts, _CORE)
    # Styles that a file maps to HTML by itself, and its pictures, are not heeded.
    made = mammoth.convert_to_html(
        BytesIO(body), convert_image=lambda _: [], include_embedded_style_map=False
    )
    return _page(title, made.value)


def workbook_to_html(body: bytes) -> str:
    """HTML of a spreadsheet: each sheet that is not hidden as a heading and a table."""
    if zipfile.is_zipfile(BytesIO(body)):
        _opened(body).close()
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(body))
        shown = python_calamine.SheetVisibleEnum.Visible
        names = [sheet.name for sheet in book.sheets_metadata if sheet.visible == shown]
        sheets = [_sheet(book, name) for name in names]
    except python_calamine.PasswordError:
        raise UnreadableDocument("it is encrypted") from None
    except python_calamine.CalamineError:
        raise UnreadableDocument(_DAMAGED) from None
    return _page("", "".join(sheets))


def slides_to_html(body: bytes) -> str:
    """HTML of a presentation: the title of each slide as a heading, then its text and its notes."""
    with _opened(body) as parts:
        title = _title(parts, _CORE)
    try:
        slides = pptx.Presentation(BytesIO(body)).slides
        return _page(title, "".join(map(_slide, slides)))
    except (PythonPptxError, KeyError, AttributeError, etree.XMLSyntaxError):
        raise UnreadableDocument(_DAMAGED) from None


def open_document_to_html(body: bytes) -> str:
    """HTML of an OpenDocument text or presentation."""
    with _opened(body) as parts:
        title, content = _title(parts, _META), _xml(parts, _CONTENT)
    if content is None:
        raise UnreadableDocument(_DAMAGED)
    return _page(title, "".join(_open_blocks(content, 0)))


# Zip files.


def _opened(body: bytes) -> zipfile.ZipFile:
    """A zip file whose parts are not too many and not too large, as far as it says itself.

    Nobody unpacks more of a part than it says; what does so all the same runs out of memory.
    """
    try:
        parts = zipfile.ZipFile(BytesIO(body))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise UnreadableDocument(_DAMAGED) from None
    listed = parts.infolist()
    if len(listed) > MOST_PARTS:
        raise UnreadableDocument(f"it has more than {MOST_PARTS:,} parts")
    if sum(part.file_size for part in listed) > MOST_UNPACKED:
        raise UnreadableDocument(f"it unpacks to more than {MOST_UNPACKED >> 20} MB")
    if any(part.flag_bits & _ENCRYPTED_FLAG for part in listed):
        raise UnreadableDocument("it is encrypted")
    for part in listed:
        if part.filename.endswith((".xml", ".rels")) and _has_doctype(parts, part):
            raise UnreadableDocument("its XML has a document type")
    return parts


def _has_doctype(parts: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    try:
        with parts.open(part) as file:
            start = file.read(_DOCTYPE_WITHIN)
    except (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zipfile.error):
        raise UnreadableDocument(_DAMAGED) from None
    except Exception as error:  # zlib.error, which is no other's kind
        raise UnreadableDocument(_DAMAGED) from error
    return any(mark in start for mark in _DOCTYPE)


def _xml(parts: zipfile.ZipFile, name: str) -> etree._Element | None:
    """Root of a part; None where there is no such part, or it is no XML."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=False)
    try:
        return etree.fromstring(parts.read(name), parser)
    except (KeyError, etree.XMLSyntaxError, zipfile.BadZipFile, ValueError):
        return None


def _title(parts: zipfile.ZipFile, name: str) -> str:
    """Title that a document gives itself; empty where it gives none."""
    root = _xml(parts, name)
    found = None if root is None else next(root.iter(_TITLE), None)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _page(title: str, content: str) -> str:
    return f"<title>{escape(title)}</title>\n{content}" if title else content


# Spreadsheets.


def _sheet(book: python_calamine.CalamineWorkbook, name: str) -> str:
    sheet = book.get_sheet_by_name(name)
    if sheet.height * sheet.width > MOST_CELLS:
        raise UnreadableDocument(f"a sheet has more than {MOST_CELLS:,} cells")
    rows = [[_cell(cell) for cell in row] for row in sheet.to_python()]
    return f"<h2>{escape(name)}</h2>\n{_table(rows)}"


def _cell(value: object) -> str:
    """A cell as a reader would write it, the same on every machine.

    >>> [_cell(value) for value in (5.0, 0.1, True, " a ", dt.date(2026, 1, 5))]
    ['5', '0.1', 'TRUE', 'a', '2026-01-05']
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else f"{value:.15g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        value = value.date()
    return " ".join(str(value).split())


def _table(rows: Iterable[Iterable[str]]) -> str:
    made = []
    for row in rows:
        cells = list(row)
        if any(cells):
            made.append("".join(f"<td>{escape(cell, quote=False)}</td>" for cell in cells))
    return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in made) + "</table>\n" if made else ""


# Presentations.


def _slide(slide: Any) -> str:  # noqa: ANN401 - python-pptx has no types
    title = slide.shapes.title
    head = _words(title.text_frame.text) if title is not None and title.has_text_frame else ""
    made = [f"<h2>{escape(head)}</h2>\n"] if head else []
    own = None if title is None else title.shape_id
    for shape in slide.shapes:
        if shape.shape_id != own:
            made.extend(_shape(shape, 0))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        made.extend(_paragraphs(slide.notes_slide.notes_text_frame))
    return f"<section>\n{''.join(made)}</section>\n"


def _shape(shape: Any, depth: int) -> Iterator[str]:  # noqa: ANN401
    if shape.shape_type == MSO_SHAPE_TYPE.GROUP and depth < _DEEPEST:
        for inner in shape.shapes:
            yield from _shape(inner, depth + 1)
    elif shape.has_text_frame:
        yield from _paragraphs(shape.text_frame)
    elif getattr(shape, "has_table", False):
        yield _table(
            [_words(cell.text_frame.text) for cell in row.cells] for row in shape.table.rows
        )


def _paragraphs(frame: Any) -> Iterator[str]:  # noqa: ANN401
    for paragraph in frame.paragraphs:
        text = _words("".join(run.text for run in paragraph.runs))
        if text:
            yield f"<p>{escape(text, quote=False)}</p>\n"


def _words(text: str) -> str:
    return " ".join(text.split())


# OpenDocument.

_LEVEL = "outline-level"
_LEFT_OUT = frozenset(
    {"tracked-changes", "annotation", "notes", "forms", "styles", "automatic-styles", "scripts"}
)


def _open_blocks(element: etree._Element, depth: int) -> Iterator[str]:
    """HTML of the parts of an element, which holds blocks."""
    if depth > 4 * _DEEPEST:
        return
    for child in element.iterchildren(tag=etree.Element):
        name = etree.QName(child).localname
        if name in _LEFT_OUT:
            continue
        if name == "h":
            level = next((v for key, v in child.items() if key.endswith("}" + _LEVEL)), "1")
            number = min(max(int(level), 1), 6) if level.isdecimal() else 1
            yield from _tagged(f"h{number}", child)
        elif name == "p":
            yield from _tagged("p", child)
        elif name == "table-row":
            cells = (
                "<td>" + escape(_words(" ".join(_texts(cell))), quote=False) + "</td>"
                for cell in child.iterchildren(tag=etree.Element)
            )
            yield f"<tr>{''.join(cells)}</tr>\n"
        else:
            tag = {"list": "ul", "list-item": "li", "table": "table", "page": "section"}.get(name)
            inner = "".join(_open_blocks(child, depth + 1))
            yield f"<{tag}>\n{inner}</{tag}>\n" if tag and inner else inner


def _tagged(tag: str, element: etree._Element) -> Iterator[str]:
    text = _words("".join(_texts(element)))
    if text:
        yield f"<{tag}>{escape(text, quote=False)}</{tag}>\n"


def _texts(element: etree._Element) -> Iterator[str]:
    """Text of an element, spaces and line breaks among it, without notes and comments."""
    skipped = 0
    for event, each in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            yield each.tail or ""
            continue
        name = etree.QName(each).localname
        out = name in _LEFT_OUT or name == "note"
        if event == "start":
            skipped += out
            if not skipped:
                yield " " if name in ("s", "tab", "line-break") else each.text or ""
        else:
            skipped -= out
            if not skipped and each is not element:
                yield each.tail or ""
