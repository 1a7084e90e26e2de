"""PDF and Office documents, told by their bytes: hosts call them anything, stores keep no type.

Only a few places of a body are looked at, so that a page that is no document costs nothing. What
looks like a document may be damaged all the same.

Pure.
"""

from __future__ import annotations

_PDF = b"%PDF-"
_PDF_WITHIN = 1024  # bytes of white space before it, as readers of PDF allow
_FIRST = frozenset({b"%", b"P", b"\xd0", b" ", b"\t", b"\n", b"\r"})
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORKBOOKS = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))
_OLE_DIRECTORY_SECTOR = slice(48, 52)
_OLE_SECTOR_SHIFT = slice(30, 32)
_OLE_ENTRIES = 1 << 12  # bytes of the directory that are looked at
# A part that each of them has; the list of all parts stands at the end of the file.
_OFFICE_PARTS = (
    (b"word/document.xml", "docx"),
    (b"xl/workbook.xml", "xlsx"),
    (b"xl/workbook.bin", "xlsb"),
    (b"ppt/presentation.xml", "pptx"),
)
_OFFICE_TYPES = b"[Content_Types].xml"
_LIST_OF_PARTS = 1 << 20
# The first part of an OpenDocument file is its type, uncompressed.
_OPEN_NAME, _OPEN_TYPE = slice(30, 38), slice(38, 100)
_OPEN = b"application/vnd.oasis.opendocument."
_OPEN_KINDS = ((b"text", "odt"), (b"spreadsheet", "ods"), (b"presentation", "odp"))


def document_kind(body: bytes) -> str:
    """Kind of a document: pdf, docx, xlsx, xlsb, xls, pptx, odt, ods or odp; empty for none.

    >>> document_kind(b"%PDF-1.7"), document_kind(b"<p>%PDF-1.7"), document_kind(b"PK")
    ('pdf', '', '')
    """
    if body[:1] not in _FIRST:
        return ""
    if body.startswith(_ZIP):
        return _zip_kind(body)
    if body.startswith(_OLE):
        return "xls" if _is_workbook(body) else ""
    start = body[:_PDF_WITHIN]
    return "pdf" if _PDF in start and start.lstrip().startswith(_PDF) else ""


def _zip_kind(body: bytes) -> str:
    if body[_OPEN_NAME] == b"mimetype":
        named = body[_OPEN_TYPE]
        kinds = [kind for name, kind in _OPEN_KINDS if named.startswith(_OPEN + name)]
        return kinds[0] if kinds else ""
    parts = body[-_LIST_OF_PARTS:]
    if _OFFICE_TYPES not in parts and _OFFICE_TYPES not in body[:_LIST_OF_PARTS]:
        return ""
    return next((kind for part, kind in _OFFICE_PARTS if part in parts), "")


def _is_workbook(body: bytes) -> bool:
    """Whether the directory of an OLE file names a workbook, not a text or a message."""
    shift = min(int.from_bytes(body[_OLE_SECTOR_SHIFT], "little"), 16)
    start = (int.from_bytes(body[_OLE_DIRECTORY_SECTOR], "little") + 1) << shift
    entries = body[start : start + _OLE_ENTRIES]
    return any(name in entries for name in _WORKBOOKS)
