"""Documents told by their bytes."""

import pytest

from recrawl.parse.documents import document_kind
from tests.adapters.documents import made

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(22) + (9).to_bytes(2, "little") + bytes(480)


@pytest.mark.parametrize(("kind", "body"), made.one_of_each().items())
def test_each_kind_is_told_by_its_bytes(kind, body):
    assert document_kind(body) == kind


def test_old_workbooks_are_told_from_other_files_of_their_time():
    """The directory begins at the sector that the header names, and has names of 16-bit letters."""
    assert document_kind(OLE + "Root Entry Workbook".encode("utf-16-le")) == "xls"
    assert document_kind(OLE + "Root Entry WordDocument".encode("utf-16-le")) == ""


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>how to write %PDF-1.7",
        b"PK\x03\x04",
        made.zipped({"readme.txt": "word/document.xml is a part of Word documents"}),
        made.zipped({"mimetype": "application/epub+zip"}),
    ],
)
def test_what_is_no_document_is_none(body):
    assert document_kind(body) == ""


def test_white_space_before_a_pdf_file_is_allowed():
    assert document_kind(b"\r\n\n%PDF-1.4\n") == "pdf"
