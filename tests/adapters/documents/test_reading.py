"""Documents as HTML, and hostile ones, each in a worker as a crawl has it."""

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.adapters.documents.converter import DocumentConverter
from recrawl.detect.text.lines import lines
from tests.adapters.documents import made

REAL = [
    path
    for name in (
        "doc/libtasn1-doc/libtasn1.pdf",
        "doc/shared-mime-info/shared-mime-info-spec.pdf",
        "developers-reference/developers-reference.pdf",
    )
    if (path := Path("/usr/share") / name).exists()
]


@pytest.fixture
def converter():
    with DocumentConverter() as converter:
        yield converter


def test_the_words_of_each_kind_are_there(converter):
    said = {kind: lines(converter(body)) for kind, body in made.one_of_each().items()}

    text, price = ("Tea", "Only black tea today"), ("Prices", "Tea Price", "black tea 5.5")
    assert said == {
        **dict.fromkeys(("pdf", "docx", "pptx"), text),
        **dict.fromkeys(("odt", "odp"), ("Tea", *text)),
        **dict.fromkeys(("xlsx", "ods"), price),
    }


def test_a_word_document_keeps_headings_lists_tables_and_links_and_no_pictures(converter):
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell.format('Tea')}{cell.format('5')}</w:tr></w:tbl>"
    deleted = '<w:p><w:del w:id="1"><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
    body = made.docx([("Heading2", "Kinds"), ("Normal", "a &lt; b")], table + deleted)

    assert converter(body) == (
        "<h2>Kinds</h2><p>a &lt; b</p><table><tr><td><p>Tea</p></td><td><p>5</p></td></tr></table>"
    )


def test_cells_read_as_people_write_them_and_hidden_sheets_are_left_out(converter):
    rows = [["a", 5, 0.1 + 0.2, True], ["<b>", "", "x\ny", 1e20]]
    body = made.xlsx({"One": rows, "Hidden": [["secret"]], "Two": [["z"]]})

    assert lines(converter(body)) == ("One", "a 5 0.3 TRUE", "<b> x y 1e+20", "Two", "z")


def test_notes_and_tables_of_slides_are_read(converter):
    body = made.slides([("One", "first\nsecond", "remember"), ("Two", "third", "")])

    assert lines(converter(body)) == ("One", "first", "second", "remember", "Two", "third")


@pytest.mark.skipif(not REAL, reason="documentation of Debian is not installed")
def test_real_manuals_have_headings_and_no_page_numbers(converter):
    """Of as many pages as they have, 36 to 114, at most a few keep their numbers."""
    for path in REAL:
        html = converter(path.read_bytes())

        assert html.count("</h") > 10
        assert sum(line.isdecimal() for line in lines(html)) < 10


# What cannot be read.


def nested_forms(depth=40, times=10):
    """Forms that draw the next one several times: 10 to the 40th letters."""
    forms = [
        f"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {6 + level} 0 R>>>>"
        f"/Length {6 * times}>>stream\n{'/X Do ' * times}\nendstream"
        for level in range(depth)
    ]
    last = "BT /F 9 Tf (tea) Tj ET"
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>"
    form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F 3 0 R>>>>"
    return made.written(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[4 0 R]/Count 1>>",
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            f"{page}/Contents {6 + depth} 0 R>>",
            *forms,
            f"{form}/Length {len(last)}>>stream\n{last}\nendstream",
            "<</Length 5>>stream\n/X Do\nendstream",
        ]
    )


def encrypted_pdf():
    """Standard encryption with a password that nobody knows."""
    good = made.pdf([made.page_of(["secret"])])
    mark = "41" * 32
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/O<{mark}>/U<{mark}>/P -4>>/ID"
    return good.replace(b"/ID", lock.encode())


def bomb(megabytes):
    return made.docx([("Normal", "a")], **{"word/x.xml": b" " * (megabytes << 20)})


def lying_bomb():
    """A text of 50 MB, of which its file says that it has 99 bytes."""
    body = bytearray(made.docx([("Normal", " " * (50 << 20))]))
    place = body.index(b"word/document.xml", body.index(b"PK\x01\x02")) - 46
    body[place + 24 : place + 28] = (99).to_bytes(4, "little")
    return bytes(body)


GARBAGE = random.Random(1).randbytes(1 << 20) * 20  # noqa: S311 - the same in every run
HOSTILE = {
    "encrypted": (encrypted_pdf, "it is encrypted"),
    "truncated": (lambda: made.one_of_each()["docx"][:-30], "it is damaged"),
    "no words": (lambda: made.pdf([[]]), "it has no text"),
    "bomb": (lambda: bomb(260), "it unpacks to more than 256 MB"),
    "lying bomb": (lying_bomb, "it is damaged"),
    "doctype": (
        lambda: made.docx(
            [("Normal", "a")], **{"word/s.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}
        ),
        "its XML has a document type",
    ),
    "many parts": (
        lambda: made.docx([("Normal", "a")], **{f"p{number}": "" for number in range(10_001)}),
        "it has more than 10,000 parts",
    ),
    "far cell": (lambda: made.two_cells(1_048_575, 16_383), None),
    "many cells": (lambda: made.two_cells(1000, 600), "a sheet has more than 500,000 cells"),
    "deep": (
        lambda: made.docx([], "<w:p>" * 30_000 + "</w:p>" * 30_000),
        None,
    ),
    "garbage": (lambda: b"%PDF-1.7\n" + GARBAGE, "it is damaged"),
}


def test_hostile_documents_cost_little_and_only_themselves(converter):
    for name, (make, problem) in HOSTILE.items():
        found = converter.convert(make())

        assert found.html is None, name
        assert found.problem == (problem or found.problem)
        assert found.problem, name
        assert found.seconds < 10, name
        assert converter.convert(made.pdf([made.page_of([name])])).html == f"<p>{name}</p>\n"


def test_a_document_that_takes_too_long_is_given_up():
    """It has 60,000 paragraphs, in 38 kB."""
    with DocumentConverter(cpu_seconds=1) as converter:
        assert converter.convert(made.docx([("Normal", "a")] * 60_000)).problem == (
            "it takes too long to read"
        )
        assert converter(made.one_of_each()["docx"])


def test_a_document_without_end_is_given_up():
    """It has 10 to the 40th letters, in 5 kB: on a fast machine memory is up before time is."""
    with DocumentConverter(cpu_seconds=1) as converter:
        found = converter.convert(nested_forms())

        assert found.problem in {"it takes too long to read", "its reader crashed"}
        assert converter(made.one_of_each()["docx"])


def test_broken_documents_never_break_the_converter(converter):
    """Bytes of each kind are changed, cut and doubled."""
    chance = random.Random(7)  # noqa: S311 - the same in every run
    seeds = list(made.one_of_each().values())
    for _ in range(120):
        body = bytearray(chance.choice(seeds))
        for _ in range(chance.randrange(1, 30)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        found = converter.convert(
            bytes(body[: chance.choice([len(body), chance.randrange(len(body))])])
        )

        assert (found.html is None) == bool(found.problem)


def test_the_same_document_is_the_same_in_every_process():
    """Nothing hangs on the order of sets, the time, or the machine's fonts."""
    script = (
        "import sys, pickle, hashlib\n"
        "from recrawl.adapters.documents.reading import to_html\n"
        "print([hashlib.sha256(to_html(each).encode()).hexdigest()"
        " for each in pickle.load(sys.stdin.buffer)])"
    )
    given = pickle.dumps([*made.one_of_each().values(), *(path.read_bytes() for path in REAL[:2])])
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=given,
            stdout=subprocess.PIPE,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1
