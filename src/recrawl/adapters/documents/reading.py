"""A document in, HTML out: the libraries of the extra `documents`, all of them loaded at once.

Only the worker loads this module: afterwards it can open no file, so that nothing may be loaded
when it is first needed.

Touches: nothing but memory.
"""

from __future__ import annotations

import codecs
import re

from recrawl.adapters.documents.bounds import MOST_HTML, UnreadableDocument
from recrawl.adapters.documents.office import (
    docx_to_html,
    open_document_to_html,
    slides_to_html,
    workbook_to_html,
)
from recrawl.adapters.documents.pdf import pdf_to_html
from recrawl.parse.documents import document_kind

_READERS = {
    "pdf": pdf_to_html,
    "docx": docx_to_html,
    "pptx": slides_to_html,
    "odt": open_document_to_html,
    "odp": open_document_to_html,
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods"), workbook_to_html),
}
_NO_WORDS = re.compile(r"<title>[^<]*</title>|<[^>]*>")
# Codecs that Python would load when a document first uses them.
_CODECS = ("cp437", "cp1252", "latin-1", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


def load_codecs() -> None:
    """Load what Python would load later."""
    for name in _CODECS:
        codecs.lookup(name)


def to_html(body: bytes) -> str:
    """HTML of a document.

    Raises:
        UnreadableDocument: It is none, damaged, encrypted, too large, or has no words.
    """
    read = _READERS.get(document_kind(body))
    if read is None:
        raise UnreadableDocument("its type is unknown")
    made = read(body)
    if not _NO_WORDS.sub("", made).strip():
        raise UnreadableDocument("it has no text")
    if len(made) > MOST_HTML:
        raise UnreadableDocument(f"its text has more than {MOST_HTML >> 20} million characters")
    return made
