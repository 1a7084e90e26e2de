"""Entries of `parse/` that read single values and lines: addresses, dates, headers, cells."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidAddress, InvalidInput, InvalidParameter
from recrawl.fetch.http.headers import headers_of, remark, text_of
from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.data.where import where
from recrawl.parse import cells
from recrawl.parse.addresses import LONGEST_ADDRESS, canonical, host_of, origin_of, site_of
from recrawl.parse.conditions import OPERATORS, conditions
from recrawl.parse.dates import http_date, mail_date, w3c_date
from recrawl.parse.headers import LONGEST_ETAG, LONGEST_WAIT, content_type, retry_after, validators
from recrawl.parse.items.json_paths import JsonPath
from recrawl.parse.items.paging import PageParameter, form_text, with_parameter
from recrawl.parse.messages import MOST_HEADERS, Response
from recrawl.parse.site_lists import MOST_ENTRIES, read_site_list
from recrawl.parse.sites import numbered, sites_of
from recrawl.parse.time_forms import TimeForm
from recrawl.parse.time_zones import RepeatedHours, Zone
from recrawl.parse.times import time_rule, times
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS, http_text
from recrawl.visits.rows import UNKNOWN_TIME
from tests.fuzz.checks import PAGE, as_lines, as_text, is_canonical, is_instant, is_said
from tests.fuzz.grammar import generator
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Ints
    from recrawl.listings.data.attributes import Attribute


_BERLIN = ZoneInfo("Europe/Berlin")
_DAY = 86_400_000_000


def _read_site_list(data: bytes) -> None:
    found = read_site_list(data)
    addresses = [each.address for each in found.entries]
    assert len(set(addresses)) == len(addresses) <= MOST_ENTRIES
    assert all(map(is_canonical, addresses))
    assert all(count > 0 for count in found.left_out.values())
    is_said(found.first_bad)


def _read_addresses(data: bytes) -> None:
    base, _, reference = as_text(data).partition("\n")
    page = canonical(base)
    for found in (page, canonical(reference, page or PAGE)):
        if found is None:
            continue
        assert is_canonical(found), found
        assert canonical("", found) == found
        assert origin_of(found).endswith(host_of(found)) or ".:" in origin_of(found) + ":"
        assert site_of(found)
    host_of(reference)


def _read_sites(data: bytes) -> None:
    pages = [line.encode("utf-8", "replace").decode() for line in as_lines(data)]
    assert sites_of(pages[:0])[1] == []
    site, names = sites_of(pages)
    assert len(site) == len(pages)
    assert set(site.tolist()) == set(range(len(names)))
    assert len(set(names)) == len(names)
    assert sites_of(pages[-1:])[1] == [names[site[-1]]]
    number, texts = numbered(Texts.of(pages))
    assert [texts[each] for each in number.tolist()] == pages


def _read_cells(data: bytes) -> None:
    texts = as_lines(data)
    flags, wrong = cells.changes(texts)
    assert set(flags[~wrong].tolist()) <= {-1, 0, 1}
    kinds, wrong = cells.answers(texts)
    assert set(kinds[~wrong].tolist()) <= {0, 1, 2, 3}
    for text, unnamed in zip(texts, cells.unnamed(texts), strict=True):
        assert unnamed or text.encode().strip()


def _read_again(texts: Sequence[str], rows: Ints, zone: Zone) -> Ints:
    return times([texts[row] for row in rows.tolist()], optional=True, zone=zone)[0]


def _read_times(data: bytes) -> None:
    texts = as_lines(data)
    formed = Zone(_BERLIN, TimeForm.of("%d/%m/%Y %H:%M:%S"))
    for optional, zone in ((True, Zone()), (False, Zone(_BERLIN)), (True, formed)):
        at, wrong = times(texts, optional=optional, zone=zone)
        assert len(at) == len(wrong) == len(texts)
        known = at[~wrong & (at != UNKNOWN_TIME)]
        assert ((known > EARLIEST_MICROSECONDS - _DAY) & (known < LATEST_MICROSECONDS + _DAY)).all()
        alone, wrong_alone = times(texts[:1], optional=optional, zone=zone)
        again = partial(_read_again, texts)
        hours = RepeatedHours(zone)
        settled = hours.settle(at, again, lambda rows: [texts[row][:1] for row in rows.tolist()])
        assert (settled >= at).all()
        if not texts[0].strip().isdigit():  # a year or a day is one only among others
            assert wrong_alone[0] == wrong[0]
            assert wrong[0] or alone[0] == at[0]
    assert all(time_rule(text).isprintable() for text in texts)


_CARS: dict[str, Attribute] = {
    "make": Labels.of(["BMW", "Fiat", "", "true"]),
    "new": Labels.of(["true", "false", "true", ""]),
    "year": Numbers(np.array([3.0, 2.0, np.nan, 1e300])),
    "sold": Numbers(np.array([3.0, 2.0, np.nan, 20_000.0]), dated=True),
}


def _read_conditions(data: bytes) -> None:
    text = as_text(data)
    found = conditions(text)
    for each in found:
        assert each.operator in OPERATORS
        assert 1 <= each.place <= len(text)
        assert len(each.values) == 1 or each.operator == "in"
    assert len(where(_CARS, text, 4).wanted) == 4


def _read_dates(data: bytes) -> None:
    for text in as_text(data).split("\n"):
        for read in (http_date, mail_date, w3c_date):
            assert is_instant(read(text))
        seconds = http_date(text)
        if seconds is not None:
            assert http_date(http_text(seconds)) == seconds


def _read_headers(data: bytes) -> None:
    pairs = [line.partition(b":")[::2] for line in data.split(b"\n")]
    headers = headers_of([(name, value.strip()) for name, value in pairs])
    assert len(headers) <= MOST_HEADERS
    assert not any(ord(letter) < 32 for value in headers.values() for letter in value)
    found = validators(headers)
    assert len(found.etag) <= LONGEST_ETAG
    assert found.etag.isascii()
    assert found.etag.isprintable()
    assert math.isnan(found.modified) or is_instant(found.modified)
    for value in (*headers.values(), text_of(data)):
        wait = retry_after(value, 1e9)
        assert wait is None or 0 <= wait <= LONGEST_WAIT
        mime, charset = content_type(value)
        assert mime == mime.lower()
        assert charset is None or charset.isascii()
        assert is_said(remark(value))
    assert Response(PAGE, headers=headers).ok


_DOCUMENT = {"jobs": [{"id": 7, "at": {"city": "Bern"}}, [1, [2]], "x"], "all jobs": {"a": None}}


def _read_json_paths(data: bytes) -> None:
    path = JsonPath.read(as_text(data))
    found = path.all(_DOCUMENT)
    assert len(found) <= 20
    assert path.first(_DOCUMENT) == (found[0] if found else None)


def _read_paging(data: bytes) -> None:
    text, _, address = as_text(data).partition("\n")
    page = canonical(address) or PAGE
    found = PageParameter.read(text)
    if found is None:
        return
    assert found.step >= 1
    second = with_parameter(page, found.name, found.of(1))
    assert canonical(second) is not None or len(second) > LONGEST_ADDRESS
    assert with_parameter(second, found.name, found.of(1)) == second
    form_text([(found.name, found.of(2)), (address, text)]).encode("ascii")


_TIMES = (
    b"2026-01-02",
    b"2026-01-02T03:04:05Z",
    b"2026-01-02 03:04:05.123456",
    b"1767225600",
    b"Sun, 06 Nov 1994 08:49:37 GMT",
    b"Sunday, 06-Nov-94 08:49:37 GMT",
    b"Sun Nov  6 08:49:37 1994",
    b"6 Nov 94 08:49 EST",
    b"Sun, 6 November 1994 23:59:60 +0130",
    b"1994-11-06T08:49:37.5+01:00",
    b"1994-11",
    b"9999-12-31T23:59:60-23:59",
    b"2026-01-02T03:04+24:00",
)

PARSERS = (
    Parser(
        "addresses",
        _read_addresses,
        seeds=(
            b"HTTPS://B\xc3\xbccher.example:443/a/./b c?z=1&a=2#top\n../c?",
            b"http://0x7f.1/\n//other.example/x",
            b"http://user:pw@example.org./%2e%2e/\xe3\x81\x82?\nhttp://[::1]:8080/a",
            b"https://news.bbc.co.uk/1\n?q=%zz",
            b"https://example.org/\nhttps://example.org",
        ),
        modules=("recrawl.parse.addresses",),
        tokens=tuple(
            b"http:// https: //// \\ ../ ./ %2e %00 @ : :0 :65536 [::1] [::ffff:1.2.3.4] 127.1 "
            b"xn-- xn--bcher-kva # ? & ; .co.uk 0x7f.0.0.1 ftp:// javascript: mailto: x:".split()
        ),
        raises=(InvalidAddress,),
        real=("addresses",),
    ),
    Parser(
        "sites",
        _read_sites,
        seeds=(
            b"https://a.example.org/1\nhttp://example.org\npage 3\n\nHTTPS://User@X.co.uk:80/?a",
            b"http://[::1]:80/\nhttp://127.0.0.1/\nhttp://\nhttps:///\nhttp://a.b.c.d.com.",
        ),
        modules=("recrawl.parse.sites",),
        tokens=(b"http://", b"https://", b"@", b":", b".co.uk", b"[", b"]", b"\n", b"a" * 300),
        real=("addresses",),
    ),
    Parser(
        "cells",
        _read_cells,
        seeds=(
            *(b"\n".join([time] * 3) for time in _TIMES),
            b"\n".join(_TIMES),
            b"true\nfalse\n1\n0\n\nTRUE ",
            b"200\n304\n404\n503\nok\nfailed\ngone\n\n999\nOK",
            b"https://example.org/\n \npage\n\xe3\x80\x80",
            b"2026-13-02\n2026-01-02",
            b"2026-01-02\n2026-01-02T00:00:00\n1899-01-01",
        ),
        modules=("recrawl.parse.cells", "recrawl.visits.visit:answer_of"),
        tokens=(*_TIMES, b"\n", b"\n\n", b"true", b"gone", b"304"),
    ),
    Parser(
        "times",
        _read_times,
        seeds=(
            *(b"\n".join([time] * 3) for time in _TIMES),
            b"\n".join(_TIMES),
            b"2025\n2026\n\n20260131",
            b"1767225600000\n1767225600000000000\n20260102030405",
            b"2026-03-29 02:30:00\n2026-10-25 02:30:00",
            b"10/Oct/2000:13:55:36 -0700\n03/04/2026\n2026/01/02 03:04:05 UTC",
            b"31.01.2026 08:05\n1.2.2026, 8:05:00.5\n03/04/2026 01:18:00\n3/4/2026 1:18:00",
        ),
        modules=(
            *("recrawl.parse.times", "recrawl.parse.time_zones", "recrawl.parse.time_forms"),
            "recrawl.units:worded_instant",
        ),
        tokens=(*_TIMES, b"\n", b"+01:00", b" UTC", b"/Oct/", b"0000", b".5", b"z", b"-0730"),
    ),
    Parser(
        "conditions",
        _read_conditions,
        seeds=(
            b"make = BMW and year > 2002",
            b"make in ('3 Series', X5,\"y\") and year<=1e3 AND new == TRUE",
            b"sold >= 2024-01-02 and year in (1, 2) and year!=3",
            b"sold in (2024, 86400) and make != Opel",
            b"year = 'x' and",
            b"make like BMW",
            b'make = "BMW',
        ),
        modules=("recrawl.parse.conditions", "recrawl.listings.data.where"),
        tokens=tuple(
            b"make year new sold in ( ) , and = != == <= >= < > ' \" ! 1e9 nan ''".split()
        ),
        raises=(InvalidParameter,),
        longest_message=1 << 16,
        generate=generator(
            {
                "all": ["<one>", "<one> and <all>", "<one> AND <all>", "<one> <all>"],
                "one": ["<name> <sign> <value>", "<name> in (<values>)", "<name><sign><value>"],
                "name": ["make", "year", "new", "sold", "'make'", "other", ""],
                "sign": ["=", "!=", "<", "<=", ">", ">=", "==", "like", "in"],
                "value": ["1", "BMW", "'3 Series'", '"x"', "2024-01-02", "nan", "TRUE", ")", ""],
                "values": ["<value>", "<value>,<values>", "<value> <values>"],
            },
            "all",
        ),
    ),
    Parser(
        "dates",
        _read_dates,
        seeds=(*_TIMES, b"\n".join(_TIMES)),
        modules=("recrawl.parse.dates",),
        tokens=(*_TIMES, b"GMT", b"+0100", b"-23:59", b"PDT", b"Feb", b"29", b"60", b"T", b".5"),
    ),
    Parser(
        "headers",
        _read_headers,
        seeds=(
            b'ETag: W/"a1"\nLast-Modified: Fri, 02 Jan 1970 00:00:00 GMT\nRetry-After: 43200',
            b'Content-Type: Text/HTML; version=1; charset="UTF-8"\nRetry-After: 1.5e3\nVary: a',
            b"retry-after: Sat, 03 Jan 1970 00:00:00 GMT\nVary: b\xe9\nVARY: \x1b[2J",
            b'content-type: text/html; a="\\"b"; charset=x y\netag: "' + b"a" * 600 + b'"',
        ),
        modules=("recrawl.parse.headers", "recrawl.fetch.http.headers", "recrawl.parse.messages"),
        tokens=tuple(
            b'ETag: Retry-After: Content-Type: W/ " \\ ; charset= , \r\n text/ + -'.split(b" ")
        ),
        real=("headers",),
    ),
    Parser(
        "json paths",
        _read_json_paths,
        seeds=(
            b"$.jobs[*].id",
            b"jobs[0].at.city",
            b'$["all jobs"].a',
            b"$['all jobs'].*",
            b"[*]",
            b"$.jobs[-1]",
            b"$",
            b'$["\\q"]',
            b"",
            b"$." + b"a." * 300,
        ),
        modules=("recrawl.parse.items.json_paths",),
        tokens=tuple(b"$ . .* [*] [0] [-999999999] [\" \"] [' '] jobs at city \\ud800".split(b" ")),
        raises=(InvalidParameter,),
        longest_message=1 << 16,
    ),
    Parser(
        "paging",
        _read_paging,
        seeds=(
            b"p\nhttps://example.org/jobs?p=1&q=baker",
            b"start=0+20\nhttps://example.org/?",
            b"p=0\nhttps://example.org/jobs?p&p=&x",
            b"a b\n",
            b"s\xc3\xa9ite=1\nx",
        ),
        modules=("recrawl.parse.items.paging",),
        tokens=(b"=", b"+", b"&", b"?", b"%", b"#", b"p", b"0", b"1"),
    ),
    Parser(
        "site lists",
        _read_site_list,
        seeds=(
            b"# mine\nhttps://example.org/a tea\nexample.org\n",
            b"<opml><body><outline htmlUrl='https://a.org' xmlUrl='https://a.org/f'/></body></opml>",
            b"url: https://example.org/\nfilter:\n  - css: .price\n---\nnavigate: https://a.org/\n",
            b'{"watching": {"1": {"url": "https://a.org/", "include_filters": [".price"]}}}',
            b"PK\x03\x04",
        ),
        modules=("recrawl.parse.site_lists",),
        tokens=(
            *(b"url: navigate: filter: css: --- - <outline /> htmlUrl= xmlUrl=".split(b" ")),
            *(b'"watching" "url" "include_filters" { } [ ] &a *a https://'.split(b" ")),
        ),
        raises=(InvalidInput,),
    ),
)
