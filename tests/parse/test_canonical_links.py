"""The address that a page calls its canonical one."""

import pytest

from recrawl.parse.canonical_links import canonical_link
from recrawl.parse.messages import Response

PAGE = "https://a.org/x/y?from=mail"


def named(body=b"", link="", kind="text/html"):
    headers = {"content-type": kind} | ({"link": link} if link else {})
    return canonical_link(Response(PAGE, status=200, headers=headers, body=body))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"<link rel=canonical href=/x/y>", "https://a.org/x/y"),
        (b"<LINK HREF='https://a.org/z#top' REL='Canonical'>", "https://a.org/z"),
        (b"<link rel='alternate canonical' href=y>", "https://a.org/x/y"),
        (b"<base href=/base/><link rel=canonical href=y>", "https://a.org/base/y"),
        (b"<link rel=canonical href=y><base href=/base/>", "https://a.org/base/y"),
        (b"<link rel=canonical href=/a><link rel=canonical href=/a>", "https://a.org/a"),
        (b"<link rel=canonical href=/a><link rel=canonical href=/b>", None),
        (b"<link rel=canonical><link rel=next href=/b>", None),
        (b"<link rel=canonical href=mailto:a@a.org>", None),
        (b"<link rel=canonical href='http://u:p@a.org/'>", None),
        (b"<!-- <link rel=canonical href=/no> -->", None),
        (b"<script>'<link rel=canonical href=/no>'</script>", None),
        (b"<body><link rel=canonical href=/comment></body>", None),
        (b"", None),
    ],
)
def test_links_of_the_head(head, expected):
    assert named(b"<html><head>" + head + b"<title>canonical</title>") == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('<https://a.org/x/y>; rel="canonical"', "https://a.org/x/y"),
        ("</next>; rel=next, </x>; title=a; rel=canonical", "https://a.org/x"),
        ('</x>; rel="shortlink canonical"', "https://a.org/x"),
        ("</x>; rel=canonical, </y>; rel=canonical", None),
        ("</x>", None),
        ("</x; rel=canonical", None),
        ("<" * 9999, None),
    ],
)
def test_links_of_the_header(header, expected):
    assert named(link=header) == expected


def test_a_header_counts_for_what_is_no_html_and_must_agree_with_the_page():
    body = b"<link rel=canonical href=/b>"

    assert named(body, "</a>; rel=canonical", "application/pdf") == "https://a.org/a"
    assert named(body, "</a>; rel=canonical") is None
    assert named(body, "</b>; rel=canonical") == "https://a.org/b"
