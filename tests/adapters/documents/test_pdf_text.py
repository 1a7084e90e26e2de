"""Lines of PDF files as texts: what belongs to pages is no part of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.documents.pdf_text import HYPHEN, PdfLine, pdf_html, without_margins

WIDTH = 300.0  # of a column of 60 letters


def line(text, row=0, *, left=0.0, size=10.0):
    """A line whose letters are 5 points wide."""
    return PdfLine(text, left, left + 5.0 * len(text), 700.0 - 12 * row, size)


def laid_out(paragraphs, rows, *, head="", number=False, letters=60):
    """Pages of so many rows, as a word processor breaks paragraphs into lines."""
    lines = []
    for paragraph in paragraphs:
        row = ""
        for word in paragraph.split():
            if row and len(row) + 1 + len(word) > letters:
                lines.append(row)
                row = word
            else:
                row = f"{row} {word}".strip()
        lines.append(row)
    pages = [lines[start : start + rows] for start in range(0, len(lines), rows)]
    return [
        [
            *([line(head, 0)] if head else []),
            *(line(text, 3 + row) for row, text in enumerate(page)),
            *([line(f"Page {place} of {len(pages)}", 60)] if number else []),
        ]
        for place, page in enumerate(pages, 1)
    ]


def blocks(pages, **more):
    return re.findall(r"<(\w+)>(.+?)</", pdf_html(pages, "", **more))


words = ("tea", "leaf", "water", "cup", "morning", "steam", "a", "of", "in")
sentences = st.lists(st.sampled_from(words), min_size=8, max_size=80)


@given(st.lists(sentences, min_size=1, max_size=6), st.integers(3, 40), st.integers(3, 40))
def test_words_are_the_same_wherever_pages_end(paragraphs, rows, other_rows):
    """And their blocks are, unless the last line of a paragraph happens to be as long as a line."""
    texts = [" ".join(words).capitalize() + "." for words in paragraphs]

    one = blocks(laid_out(texts, rows, head="THE BOOK OF TEA", number=True))
    two = blocks(laid_out(texts, other_rows))

    said = [text for _, text in one if text != "THE BOOK OF TEA"]
    numbered = [text for text in said if text != "Page 1 of 1"]
    assert " ".join(numbered).split() == " ".join(text for _, text in two).split()


def test_a_paragraph_goes_on_over_the_end_of_a_page():
    texts = [" ".join(f"{a}{b}ea" for b in "bcdfglm") for a in "brst"]
    texts = [" ".join(f"{word} {first}" for first in texts) + "." for word in ("green", "black")]

    for rows in range(1, 12):
        assert blocks(laid_out(texts, rows)) == [("p", text) for text in texts], rows


def test_running_heads_and_page_numbers_go():
    pages = [
        [line(f"iv{'i' * place} THE BOOK OF TEA" if place < 2 else "", 0)] * (place < 2)
        + [line(f"text {'abcdef'[place]}", 5), line(f"- {place + 4} -", 60)]
        for place in range(6)
    ]

    assert [[each.text for each in page] for page in without_margins(pages)] == [
        [f"text {letter}"] for letter in "abcdef"
    ]


def test_a_line_that_repeats_word_by_word_stays_once():
    """It may be the head of a table that goes on."""
    pages = [[line("Kind Price", 0), line(f"tea {5 * place * place}", 1)] for place in range(1, 5)]

    assert [[each.text for each in page] for page in without_margins(pages)] == [
        ["Kind Price", "tea 5"],
        ["tea 20"],
        ["tea 45"],
        ["tea 80"],
    ]


def test_equal_lines_in_the_middle_of_pages_stay():
    pages = [[line(letter, row) for row, letter in enumerate("abc=def")] for _ in range(2)]
    inner = [[each.text for each in page] for page in without_margins(pages)]

    assert "=" in inner[1]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["the docu" + HYPHEN, "ments of"], "the documents of"),
        (["the docu-", "ments of"], "the documents of"),
        (["a well-known tea is well-", "known"], "a well-known tea is well-known"),
        (["from 1990-", "2000"], "from 1990- 2000"),
        (["soft\xad", "ware"], "software"),
    ],
)
def test_hyphens_at_ends_of_lines(lines, text):
    """One stays if the word is written with it elsewhere."""
    size = max(map(len, lines))
    page = [PdfLine(each, 0, 5.0 * size, 700 - 12 * row, 10) for row, each in enumerate(lines)]

    assert blocks([page]) == [("p", text)]


def test_columns_are_read_one_after_the_other():
    left = [
        line(each, row)
        for row, each in enumerate(["tea is made of leaves", "that are dried, and", "of hot"])
    ]
    right = [
        line(each, row, left=200) for row, each in enumerate(["water and nothing more", "besides."])
    ]
    left[-1] = PdfLine("of hot and clear soft", 0, 105, left[-1].bottom, 10)

    whole = " ".join(each.text for each in left + right)
    assert blocks([left + right]) == [("p", whole)]


def test_headings_by_the_outline_or_by_size():
    page = [
        line("1.2 Green tea", 0),
        line("is made of leaves.", 3),
        line("Green tea. . . . . . 12", 6),
    ]
    assert blocks([page], outline={"Green Tea": 2}) == [
        ("h2", "1.2 Green tea"),
        ("p", "is made of leaves."),
        ("p", "Green tea"),
    ]
    large = [line("Tea", 0, size=20), line("Green", 3, size=14), line("leaves " * 20, 5)]
    assert [name for name, _ in blocks([large])] == ["h1", "h2", "p"]


def test_lists_and_signs_of_html():
    page = [line("• a < b", 0), line("• c & d", 1), line("then", 4)]

    assert pdf_html([page], "<T>").split("\n") == [
        *("<title>&lt;T&gt;</title>", "<ul>", "<li>a &lt; b</li>", "<li>c &amp; d</li>", "</ul>"),
        *("<p>then</p>", ""),
    ]
    assert pdf_html([[], []], "no words") == ""
