"""Text as browsers read it."""
# ruff: noqa: RUF001 - letters of many scripts are the point here

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.encodings import decoded

# Names on the web, and the Python codec that reads what browsers read by that name.
LABELS = {
    "utf-8": "utf-8",
    "UTF8": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "latin1": "cp1252",
    "iso-8859-1": "cp1252",
    "us-ascii": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-9": "cp1254",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "iso-8859-2": "iso8859-2",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "windows-874": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
    "utf-16be": "utf-16-be",
}
SAMPLES = {
    "cp1252": "naïve “café” €",
    "cp1254": "ığdır",
    "cp1251": "Привет, мир",
    "koi8-r": "Привет, мир",
    "iso8859-2": "Łódź",
    "cp932": "日本語①髙",
    "euc_jp": "日本語",
    "iso2022_jp": "日本語",
    "gb18030": "简体中文€",
    "big5hkscs": "繁體中文",
    "cp949": "한국어 똠",
    "cp874": "ภาษาไทย€",
}


@pytest.mark.parametrize("label", LABELS)
def test_names_of_charsets_mean_what_they_mean_on_the_web(label):
    codec = LABELS[label]
    text = SAMPLES.get(codec, "naïve 日本語 €")

    assert decoded(text.encode(codec), f"text/html; charset={label}") == text
    assert decoded(text.encode(codec), f'text/html;CHARSET="{label.upper()}"; x=y') == text


@pytest.mark.parametrize("codec", sorted(set(LABELS.values()) - {"utf-16-le", "utf-16-be"}))
def test_a_page_may_name_its_own(codec):
    label = next(label for label, found in LABELS.items() if found == codec)
    text = SAMPLES.get(codec, "naïve 日本語 €")
    for page in (
        f"<html><head><meta charset={label}><p>{text}",
        f"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset={label}'><p>{text}",
        f'<?xml version="1.0" encoding="{label}"?><p>{text}</p>',
    ):
        assert decoded(page.encode(codec), "text/html") == page


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_mark_goes_before_all_names(mark, codec):
    page = "<meta charset=koi8-r>naïve"

    assert decoded(mark + page.encode(codec), "text/html; charset=windows-1251") == page


def test_the_host_goes_before_the_page():
    page = "<meta charset=koi8-r>Привет"

    assert decoded(page.encode("cp1251"), "text/html; charset=windows-1251") == page


def test_a_page_that_can_be_read_is_not_in_utf16():
    page = "<meta charset=utf-16>naïve"

    assert decoded(page.encode()) == page


def test_a_name_in_a_comment_is_none():
    page = "<!-- <meta charset=koi8-r> --><p>naïve"

    assert decoded(page.encode()) == page


@pytest.mark.parametrize(
    "label", ["bogus", "", "utf-7", "x" * 1000, "rot13", "hex", "zlib", "idna"]
)
def test_names_that_nobody_should_know_are_ignored(label):
    """Python has codecs that are no charsets, and old charsets hide scripts."""
    assert decoded("naïve".encode(), f"text/html; charset={label}") == "naïve"
    assert decoded(f"<meta charset='{label}'>naïve".encode()).endswith("naïve")


def test_without_any_name_utf8_is_tried_and_then_guessed():
    russian = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20

    assert decoded(russian.encode()) == russian
    assert decoded(russian.encode("cp1251")) == russian


def test_wrong_bytes_are_shown_as_such():
    assert decoded(b"a\xffb", "text/html; charset=utf-8") == "a\ufffdb"


def test_only_the_first_kilobyte_may_name_a_charset():
    page = " " * 1024 + "<meta charset=koi8-r>naïve"

    assert decoded(page.encode()) == page


@given(st.text(), st.sampled_from(["", "text/html", "text/html; charset=utf-8"]))
def test_utf8_is_read_back(text, content_type):
    """But for a mark at its start, and for a page that names another charset."""
    if not text.startswith("\ufeff") and "charset" not in text and "encoding" not in text:
        assert decoded(text.encode(), content_type) == text


@given(st.binary(max_size=3000), st.one_of(st.text(max_size=80), st.sampled_from(sorted(LABELS))))
def test_any_bytes_become_text_that_can_be_stored(body, label):
    for content_type in (label, f"text/html; charset={label}"):
        decoded(body, content_type).encode()
