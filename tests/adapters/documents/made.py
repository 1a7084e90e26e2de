"""Documents of every kind that is read, made by the tools of others where these tests have them."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pptx
import xlsxwriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Placed = tuple[float, float, float, str]

WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
PARTS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def pdf(
    pages: Sequence[Iterable[Placed]], *, date: str = "D:20260101000000Z", title: str = ""
) -> bytes:
    """A PDF file with letters at places: left, bottom, size, text."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for number, page in enumerate(pages):
        shown = "\n".join(
            f"BT /F {size:g} Tf {left:g} {bottom:g} Td ({_escaped(text)}) Tj ET"
            for left, bottom, size, text in page
        )
        box = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>"
        objects += [
            f"{box}/Contents {5 + 2 * number} 0 R>>",
            f"<</Length {len(shown.encode('cp1252'))}>>stream\n{shown}\nendstream",
        ]
    objects.append(f"<</CreationDate({date})/Title({_escaped(title)})>>")
    return written(objects, info=len(objects), id_=date)


def written(objects: Sequence[str], info: int = 0, id_: str = "") -> bytes:
    """A PDF file of these objects, of which the first is the catalogue."""
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, each in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{each}\nendobj\n".encode("cp1252"))
    start = out.tell()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    named = f"/Info {info} 0 R" if info else ""
    mark = id_.encode().hex() or "00"
    out.write(
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer"
        f"<</Size {len(objects) + 1}/Root 1 0 R{named}/ID[<{mark}><{mark}>]>>\n"
        f"startxref\n{start}\n%%EOF\n".encode()
    )
    return out.getvalue()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def page_of(lines: Iterable[str], *, size: float = 11.0) -> list[Placed]:
    """Lines below each other, as many as there are."""
    return [(72.0, 770.0 - 14 * row, size, line) for row, line in enumerate(lines)]


def zipped(parts: Mapping[str, str | bytes], year: int = 1980) -> bytes:
    """A zip file; the first part is stored as it is, as OpenDocument files want it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number, (name, content) in enumerate(parts.items()):
            kind = zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED
            part = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            file.writestr(part, content, kind, 1)
    return out.getvalue()


def repacked(body: bytes) -> bytes:
    """The same parts in a zip file of another time."""
    with zipfile.ZipFile(io.BytesIO(body)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    return zipped(parts, 2026)


def docx(paragraphs: Iterable[tuple[str, str]], more: str = "", **parts: str | bytes) -> bytes:
    """A Word document of paragraphs: style, text."""
    made = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    xml = "application/xml"
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="rels" '
            f'ContentType="{rels}"/><Default Extension="xml" ContentType="{xml}"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PARTS}"><Relationship Id="r1" '
            f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{WORDS}"><w:body>{made}{more}</w:body>'
            "</w:document>",
            **parts,
        }
    )


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            if name.startswith("Hidden"):
                sheet.hide()
    return out.getvalue()


def two_cells(row: int, column: int) -> bytes:
    """A workbook with a cell in its first place, and another one far away."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet("A")
        sheet.write(0, 0, 1)
        sheet.write(row, column, 2)
    return out.getvalue()


def slides(texts: Iterable[tuple[str, str, str]]) -> bytes:
    """A presentation of slides: title, text, notes."""
    made = pptx.Presentation()
    for title, text, notes in texts:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def open_document(kind: str, body: str) -> bytes:
    """An OpenDocument file: text, spreadsheet or presentation."""
    spaces = ("office", "text", "table", "drawing")
    names = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in spaces)
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {names}><office:body>{body}</office:body>"
            "</office:document-content>",
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{OPEN}:manifest:1.0"/>',
            "meta.xml": '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tea</dc:title></m>',
        }
    )


def one_of_each(word: str = "black") -> dict[str, bytes]:
    """A document of each kind that tests can make, all with the same words."""
    lines = ["Tea", f"Only {word} tea today"]
    rows: list[list[object]] = [["Tea", "Price"], [f"{word} tea", 5.5]]
    typed = 'office:value-type="string"'
    table = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell {typed}><text:p>{cell}</text:p></table:table-cell>" for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    text = f'<text:h text:outline-level="1">Tea</text:h><text:p>Only {word} tea today</text:p>'
    return {
        "pdf": pdf([page_of(lines)]),
        "docx": docx([("Heading1", "Tea"), ("Normal", lines[1])]),
        "xlsx": xlsx({"Prices": rows}),
        "pptx": slides([("Tea", lines[1], "")]),
        "odt": open_document("text", f"<office:text>{text}</office:text>"),
        "ods": open_document(
            "spreadsheet",
            f'<office:spreadsheet><table:table table:name="Prices">{table}</table:table>'
            "</office:spreadsheet>",
        ),
        "odp": open_document(
            "presentation",
            f"<office:presentation><drawing:page>{text}</drawing:page></office:presentation>",
        ),
    }
