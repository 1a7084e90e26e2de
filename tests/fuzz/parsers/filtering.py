"""Entries for what decides on addresses: patterns, dropped parts, shapes, canonical links."""

from __future__ import annotations

from recrawl.errors import InvalidParameter
from recrawl.parse.address_cleaning import TRACKING_PARAMETERS, cleaned
from recrawl.parse.address_patterns import AddressPatterns
from recrawl.parse.address_shapes import LONGEST_SHAPE, repeats, shape_of
from recrawl.parse.addresses import canonical
from recrawl.parse.canonical_links import canonical_link
from recrawl.parse.messages import Response
from recrawl.settings.filters import Filters
from tests.fuzz.checks import PAGE, as_text, is_canonical
from tests.fuzz.parser import Parser

_EXCLUDE = ("/calendar/", "*.pdf", "/shop/**sort=*", r"re:(?:a+)+b$|[0-9a-f]{32}")


def _read_patterns(data: bytes) -> None:
    pattern, _, text = as_text(data).partition("\n")
    address = canonical(text) or PAGE
    found = AddressPatterns((pattern,)).first(address)
    assert found in (pattern, None)
    assert AddressPatterns((pattern, pattern)).first(address) == found


def _read_names(data: bytes) -> None:
    address = canonical(as_text(data)) or PAGE
    clean = cleaned(address, TRACKING_PARAMETERS)
    assert is_canonical(clean.address), clean
    assert len(clean.address) <= len(address)
    assert bool(clean.dropped) == (clean.address != address)
    assert cleaned(clean.address, TRACKING_PARAMETERS).address == clean.address
    assert cleaned(address, ()).address == address
    assert 0 < len(shape_of(address)) <= LONGEST_SHAPE
    folders = repeats(address)
    assert all(each in address for each in folders.split("/"))
    refused = Filters(exclude=_EXCLUDE).refused(address)
    assert refused is None or refused.detail in _EXCLUDE
    assert Filters(include=_EXCLUDE).refused(address) is None or refused is None


def _read_canonical(data: bytes) -> None:
    header, _, page = data.partition(b"\n")
    headers = {"link": header.decode("latin-1"), "content-type": "text/html"}
    found = canonical_link(Response(PAGE, status=200, headers=headers, body=page))
    assert found is None or is_canonical(found), found


PARSERS = (
    Parser(
        "address patterns",
        _read_patterns,
        seeds=(
            b"/calendar/\nhttps://a.org/calendar/2031-01",
            b"*.pdf\nhttps://a.org/a.pdf",
            b"re:^https://a\\.org/(?:[a-z]+/)*\\d{2,5}?$\nhttps://a.org/x/y/123",
            b"re:(a|b)*[^c-e]\\w+|x{3}\nhttps://a.org/abba",
            b"re:((a+)+)+$\nhttps://a.org/" + b"a" * 200 + b"!",
        ),
        modules=("recrawl.parse.address_patterns",),
        once=(b"re:(((a{100}){100}){100}){100}\n", b"re:" + b"(" * 4000, b"re:((){900}){900}\n"),
        tokens=tuple(
            b"re: ( ) (?: | * + ? {2} {2,} {2,5} {0} [^/] [a-z] \\d \\W . ^ $ ** *".split()
        ),
        raises=(InvalidParameter,),
    ),
    Parser(
        "address names",
        _read_names,
        seeds=(
            b"https://a.org/x?id=7&utm_source=mail&FBCLID=1",
            b"https://a.org/x;jsessionid=1A2B;sid=/..;sid=1/?PHPSESSID=3&sid=0123456789abcdef0123",
            b"https://a.org/(S(abcdefghij0123456789abcd))/calendar/2031-04?a&b=&=c&&utm_%73ource=1",
            b"https://a.org/a/b/a/b/a/b/one-two-three/9f86d081884c7d659a?x=1&y=2&z=3",
        ),
        modules=(
            "recrawl.parse.address_cleaning",
            "recrawl.parse.address_shapes",
            "recrawl.settings.filters",
        ),
        tokens=tuple(
            b"? & ; = /.. /. /a/a/a utm_ ;jsessionid= /(S( )) 2031-04 %3d sid= calendar/".split()
        ),
        real=("addresses",),
    ),
    Parser(
        "canonical links",
        _read_canonical,
        seeds=(
            b'<https://example.org/a>; rel="canonical", </b>; rel=next\n<title>x</title>',
            b"\n<base href=/x/><link rel='alternate canonical' href=a?b><body><link rel=canonical>",
            b"<a>;rel=canonical\n<LINK REL=Canonical HREF=//example.org/c>",
        ),
        modules=("recrawl.parse.canonical_links",),
        tokens=tuple(
            b"<link rel=canonical href= <base <body> </ > ; , rel= \" ' canonical".split()
        ),
    ),
)
