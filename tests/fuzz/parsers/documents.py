"""Entries of `parse/` that read whole documents: pages, feeds, sitemaps, robots.txt, JSON."""

from __future__ import annotations

import gzip
import math
import pickle
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from recrawl.listings.live.pages import read_page
from recrawl.parse.addresses import LONGEST_ADDRESS, host_of
from recrawl.parse.encodings import decoded
from recrawl.parse.feeds import looks_like_feed, read_feed
from recrawl.parse.items.item import LONGEST_KEY, LONGEST_VALUE, MOST_ITEMS, Layout
from recrawl.parse.items.json import read_json_items
from recrawl.parse.links import MOST_LINKS, feeds_of, links, start_tags
from recrawl.parse.messages import Response
from recrawl.parse.records import MOST_BYTES, MOST_RECORDS, read_records, root_of, unpacked
from recrawl.parse.robots import (
    LONGEST_DELAY,
    MOST_SITEMAPS,
    NOTHING_ALLOWED,
    Permission,
    read_robots,
)
from recrawl.parse.robots_tags import read_robots_tags
from recrawl.parse.sitemaps import read_sitemap
from recrawl.parse.websub import is_signed, push_links, read_question
from recrawl.settings.listing_keys import LISTING
from recrawl.visits.status import RobotsTag
from tests.fuzz.checks import PAGE, as_text, is_canonical, is_instant, is_said
from tests.fuzz.grammar import generator
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from recrawl.parse.items.item import Items


def _read_encodings(data: bytes) -> None:
    header, _, body = data.partition(b"\n")
    text = decoded(body, as_text(header))
    text.encode()  # no half letters
    assert len(text) <= len(body)
    decoded(data)


def _read_feeds(data: bytes) -> None:
    feed = read_feed(data, PAGE)
    assert is_said(feed.broken)
    assert len(feed.entries) <= MOST_RECORDS
    assert len({entry.address for entry in feed.entries}) == len(feed.entries)
    for entry in feed.entries[:20]:
        assert is_canonical(entry.address)
        assert math.isnan(entry.modified) or is_instant(entry.modified)
    for mime in ("", "text/html", "application/rss+xml"):
        looks_like_feed(mime, data)


def _read_websub(data: bytes) -> None:
    header, _, body = data.partition(b"\n")
    links = push_links(as_text(header), read_feed(body, PAGE).links, PAGE)
    assert not links.hub or is_canonical(links.hub)
    assert links.topic.isprintable()
    question = read_question(dict(parse_qsl(as_text(header))))
    assert question is None or question.challenge.isprintable()
    assert not is_signed(body, as_text(header), "secret")


def _read_sitemaps(data: bytes) -> None:
    near, far = (read_sitemap(data, PAGE, anywhere=anywhere) for anywhere in (False, True))
    assert is_said(near.broken)
    assert far.foreign == 0
    assert not (near.pages and near.sitemaps)
    assert len(far.pages) + len(far.sitemaps) <= MOST_RECORDS
    assert set(map(repr, near.pages)) <= set(map(repr, far.pages))
    for entry in (*near.pages[:20], *near.sitemaps[:20]):
        assert is_canonical(entry.address)
        assert host_of(entry.address) == "example.org"
        assert math.isnan(entry.modified) or is_instant(entry.modified)


def _read_records(data: bytes) -> None:
    body, broken = unpacked(data)
    assert len(body) <= MOST_BYTES
    assert is_said(broken)
    found = read_records(body, frozenset({"i", "item"}), frozenset({"a", "link"}))
    assert found.root.isprintable()
    assert is_said(found.broken)
    for record in found.records[:20]:
        assert len(record) <= 20
        assert all(len(child.text) <= 4096 and child.name in {"a", "link"} for child in record)
    assert len(root_of(body)) <= 4096


def layout_of(text: str) -> Layout | None:
    """A layout that settings accept, from selectors between tabs; None where they do not."""
    parts = [*text.split("\t"), "", "", "", ""][:4]
    items, key, following = (
        LISTING[name].read(part) if part else ""
        for name, part in zip(("items", "key", "next"), parts, strict=False)
    )
    attributes = LISTING["attributes"].read({"value": parts[3]} if parts[3] else {})
    if not items or not key or following is None or attributes is None:
        return None
    return Layout(items, key, attributes, following)


def _check_items(found: Items) -> None:
    assert is_said(found.problem), found.problem
    assert len(found.objects) + found.nameless <= found.count <= MOST_ITEMS
    assert len(found.following) <= LONGEST_VALUE
    for key, values in list(found.objects.items())[:50]:
        assert 0 < len(key) <= LONGEST_KEY
        for value in (key, *values.values()):
            assert (len(value.encode()) and len(value) <= LONGEST_ADDRESS) or value == ""
            assert "\n" not in value


def _read_html_items(data: bytes) -> None:
    head, _, page = data.partition(b"\n")
    layout = layout_of(as_text(head))
    if layout is not None:
        _check_items(read_page(Response(PAGE, 200, {"content-type": "text/html"}, page), layout))
        _check_items(read_page(Response(PAGE, 200, {}, page), layout))
        _check_items(read_page(Response(PAGE, 404, {}, page), layout))
        _check_items(read_page(Response(PAGE, problem="timeout"), layout))


def _read_json_items(data: bytes) -> None:
    head, _, page = data.partition(b"\n")
    parts = [*as_text(head).split("\t"), "", "", "", ""]
    layout = Layout(parts[0], parts[1], {"value": parts[3]} if parts[3] else {}, parts[2])
    _check_items(read_json_items(as_text(page), layout))
    _check_items(read_page(Response(PAGE, 200, {"content-type": "application/json"}, page), layout))


def _read_links(data: bytes) -> None:
    page = as_text(data)
    for found in (links(page, PAGE), feeds_of(page, PAGE)):
        assert len(found) <= MOST_LINKS
        assert len(set(found)) == len(found)
        assert all(map(is_canonical, found[:20]))
    for tag in start_tags(page, frozenset({"a", "meta", "script", "p"})):
        assert tag.name == tag.name.lower()


_PATHS = ("/", "/a", "/private/a", "/a/b.html?c=1", "/robots.txt", "/%C3%A9$*")


def _read_robots(data: bytes) -> None:
    robots = read_robots(data, "recrawl")
    again = read_robots(robots.body, "*")
    copied = pickle.loads(pickle.dumps(robots))  # noqa: S301 - our own
    for path in _PATHS:
        allowed = robots.allows("https://example.org" + path)
        assert allowed is again.allows("https://example.org" + path), path
        assert allowed is copied.allows("https://example.org" + path)
    assert robots.delay == again.delay
    assert robots.delay is None or 0 <= robots.delay <= LONGEST_DELAY
    assert robots.sitemaps == again.sitemaps
    assert len(robots.sitemaps) <= MOST_SITEMAPS
    assert all(map(is_canonical, robots.sitemaps[:20]))
    status = int.from_bytes(data[:2], "big") % 700
    for found in (
        Permission.of(status, data, 10.0, "bot"),
        Permission.of(None, None, 10.0, "bot", "no route"),
    ):
        assert is_said(found.trouble)
        assert bool(found.trouble) == (found.robots is NOTHING_ALLOWED)
        assert found.holds(10.0)
        assert not found.holds(12.0)


SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://x.example/i">
 <url><loc>https://example.org/a?x=1&amp;y=2</loc><lastmod>2026-01-02T03:04:05+01:00</lastmod>
  <image:image><image:loc>https://example.org/i.png</image:loc></image:image></url>
 <url><loc>https://other.example/b</loc><lastmod>2026-13-02</lastmod></url>
 <url><loc> /c &nbsp; d & e </loc></url><url><lastmod>2026</lastmod></url>
</urlset>"""
RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>A</title><link>/a</link><pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item>
<item><guid isPermaLink="true">https://example.org/b</guid><pubDate>no date</pubDate></item>
<item><link></link><guid>name</guid><dc:date>2026-01-02</dc:date></item>
</channel></rss>"""
ATOM = b"""<?xml version="1.0" encoding="utf-8"?><!-- made -->
<feed xmlns="http://www.w3.org/2005/Atom">
<entry><link rel="self" href="/x"/><link href="/c" rel="alternate"/><updated>2026-01-02T03:04:05Z
</updated></entry><entry><link href="/d"/><published>6 Nov 94 08:49 EST</published></entry>
</feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/"><item><link>https://example.org/1</link></item></rdf:RDF>"""
_XML = tuple(
    b'<!DOCTYPE a [<!ENTITY b "c">]> <![CDATA[ ]]> &amp; &nbsp; &#x41; &b; &bogus; & <?xml ?> '
    b"<!-- --> <loc> </loc> <url> </url> <item> </item> <link> </link> <link/> lastmod xmlns= "
    b'<sitemapindex> </sitemapindex> <sitemap> encoding="utf-16" isPermaLink="false" guid '
    b'<entry> </entry> <updated> </updated> rel="alternate" href="" <feed> <rss> '
    b"\xff\xfe \xfe\xff <\0u\0 \0<\0u \xef\xbb\xbf \x1f\x8b\x08 purl.org/rss/".split()
)
HTML = (
    b"""<!DOCTYPE html><html><head><meta charset=utf-8><title>Shop &amp; Co</title>
<base href="/shop/"><link rel=alternate type="application/rss+xml" href=/feed>
<link rel=canonical href="https://example.org/shop"><script>if (a < b) { "<a href=/no>" }</script>
</head><body><h1>Tea</h1><ul><li class=job id=a1><a href="/jobs/1?utm_source=x#top">Baker</a>
<span class=city>Bern</span><li class=job><a href='../2' rel="nofollow">Cook</a></ul>
<p>Costs 5&nbsp;&euro;, 5 minutes ago<br>Next <a class=next href="?p=2">page</a>
<img alt="A cup" src=cup.png><!-- <a href=/hidden> --><textarea><b></textarea></body></html>""",
    b'<meta name=robots content="noindex, nofollow"><a href=/x>x</a><plaintext><a href=/y>',
    "<p>Опубликовано 5 минут назад</p><p>東京の価格は５個。</p>".encode(),
    b"<area href=//other.example/>",
    b"<title>Just a moment...</title><form><input type=password name=p></form>Please log in",
    b"<table><tr><td>1<td>2<tr><td colspan=2>3</table><a href=&#x2f;b&amp;c&copy=1&notit;x>",
)
HTML_TOKENS = tuple(
    b"<a href= <a\thref='x'> </a> <base href= <meta name=robots content=none> <!-- --> <script> "
    b"</script> <style> <textarea> </textarea> <title> </title> <plaintext> <li class=job> </li> "
    b'<img alt="x"> rel=nofollow rel=canonical &amp; &#0; &#x110000; &copy &nosuch; <!DOCTYPE '
    b"<![CDATA[ <?php /> = ' \" <td> <br> <noscript> <iframe> <p> <b> <i> <font> #top javascript: "
    b"//other.example/ ?utm_source=x &fbclid=1 ;jsessionid=2 http://[::1]/ <svg> <template>".split()
)
JSON_PAGE = b"""$.jobs[*]\tid\tnext\tat.city
{"jobs": [{"id": 7, "at": {"city": "Bern"}}, {"id": "x y", "at": {"city": true}}, {"id": null},
 {"id": [1, {"b": 2.5e300}], "at": null}, 5], "next": "?p=2", "total": -1.50}"""
ROBOTS = b"""# robots
User-agent: *
Disallow: /private
Allow: /private/a$
Crawl-delay: 2.5
Request-rate: 1/5
Sitemap: https://example.org/sitemap.xml

User-agent: recrawl/1.0
User-agent: other
Disallow: /*.html?*c=
Visit-time: 0600-0845
Host: example.org
useragent: third
disallow /
Sitemap: sitemap2.xml
"""


def _read_robots_tags(data: bytes) -> None:
    header, _, body = data.partition(b"\n")
    headers = {"x-robots-tag": header.decode("latin-1")}
    found = read_robots_tags(Response(PAGE, 200, headers, body), "recrawl")
    by_header = read_robots_tags(Response(PAGE, 200, headers), "recrawl")
    assert found | by_header == found  # a page never takes back what its header asks
    assert 0 <= found.tags <= sum(RobotsTag)
    assert found.at(-math.inf) == found.tags


PARSERS = (
    Parser(
        "robots tags",
        _read_robots_tags,
        seeds=(
            (
                b"noarchive, unavailable_after: 25 Jun 2027 15:00:00 PST\n"
                b'<meta name="robots" content="none">'
            ),
            (
                b"recrawl: nofollow; other-bot: noindex, nofollow; all\n"
                b"<META NAME=recrawl content=noarchive>"
            ),
            (
                b"unavailable_after: 2027-06-25T15:00:00Z, max-snippet: 20, nocache\n"
                b"<!--<meta name=robots>-->"
            ),
            (
                b"*: none, :\n"
                b"<script><meta name=robots content=noindex></script><title><meta name=robots>"
            ),
        ),
        modules=("recrawl.parse.robots_tags",),
        tokens=tuple(
            b"noindex nofollow noarchive none unavailable_after: robots recrawl <meta".split()
        ),
        real=("html", "headers"),
    ),
    Parser(
        "encodings",
        _read_encodings,
        seeds=(
            b"text/html; charset=ISO-8859-1\n\xe9t\xe9",
            b'text/html\n<!-- x --><meta charset="koi8-r">\xc4\xc1',
            b"\n<?xml version='1.0' encoding='shift_jis'?>\x83\x65",
            b"text/html; charset=utf-7\n+AGE-",
            b"\n\xff\xfea\0b\0",
            b"\n\xfe\xff\0a\0b",
            b"\n\xef\xbb\xbfabc",
            b"text/plain;charset='big5'\n\xa4\xa4\xa4\xe5\xff",
            b"\n<meta http-equiv=content-type content='text/html; charset=utf-16'>\x80",
            b"\n" + "Привет, мир. Это просто текст.".encode("cp1251"),
        ),
        modules=("recrawl.parse.encodings",),
        tokens=tuple(
            b"charset= gb2312 gbk hz-gb-2312 iso-2022-jp iso-2022-kr utf-16le utf-32 "
            b"x-user-defined replacement euc-kr windows-874 macintosh ibm866 unicode-1-1-utf-8 "
            b"idna punycode rot13 base64 unicode_escape <meta <!-- -->".split()
        ),
        real=("html",),
    ),
    Parser(
        "feeds",
        _read_feeds,
        seeds=(
            RSS,
            ATOM,
            RDF,
            gzip.compress(RSS, 1),
            RSS.decode().encode("utf-16"),
            HTML[0],
            b"<html/>",
        ),
        modules=("recrawl.parse.feeds", "recrawl.parse.records"),
        tokens=_XML,
    ),
    Parser(
        "websub",
        _read_websub,
        seeds=(
            b'<https://b.org/>; rel="hub", </f>; rel=self\n<feed/>',
            b"\n<feed><link rel='hub' href='/hub'/><link rel='self' href='/f'/></feed>",
            b"hub.mode=subscribe&hub.topic=https://a.org/&hub.challenge=x&hub.lease_seconds=9\n",
            b"sha256=00\n<feed/>",
        ),
        modules=("recrawl.parse.websub",),
        tokens=(
            b"<",
            b">",
            b"; rel=",
            b'"hub"',
            b"self",
            b",",
            b"hub.mode=",
            b"denied",
            b"sha512=",
        ),
    ),
    Parser(
        "sitemaps",
        _read_sitemaps,
        seeds=(
            SITEMAP,
            SITEMAP.replace(b"urlset", b"sitemapindex").replace(b"url>", b"sitemap>"),
            gzip.compress(SITEMAP, 1),
            SITEMAP.decode().encode("utf-16"),
            b"\xef\xbb\xbfhttps://example.org/b\nhttps://other.example/\n\n/c\n",
        ),
        once=(b"https://example.org/\n" * 50_010,),
        modules=("recrawl.parse.sitemaps",),
        tokens=_XML,
        cpu_seconds=10.0,  # fifty thousand addresses, twice
    ),
    Parser(
        "records",
        _read_records,
        seeds=(
            b"<r><i><a>1 & 2</a><a b='c'>&nbsp;</a></i><item/></r>",
            RSS,
            gzip.compress(RSS, 1) + gzip.compress(ATOM, 1) + b"\0\0",
            gzip.compress(b"<r>" + b"<i>" * 2000 + b"</r>", 9),
            b"<r>" + b"<item><a></a></item>" * 190 + b"</r>",
            b"<r><i>" + b"<a>x</a>" * 30 + b"</i>&eacute;<![CDATA[&]]>&</r>",
            b"<r><i><a>" + b"x" * 4000 + b"<b/>" + b"y" * 90 + b"</a></i></r>",
            b"<\0r\0>\0<\0/\0r\0>\0",
            b"\0<\0r\0/\0>",
        ),
        once=(
            gzip.compress(b"<r>" + b"<i><a>1</a></i>" * 50_010 + b"</r>", 9),
            gzip.compress(b"<r>" + bytes(MOST_BYTES), 1),
        ),
        modules=("recrawl.parse.records",),
        tokens=_XML,
        cpu_seconds=10.0,  # fifty megabytes, unpacked
        memory_bytes=256 << 20,
    ),
    Parser(
        "html items",
        _read_html_items,
        seeds=(
            *(b"li.job\ta@href\ta.next\t.city\n" + page for page in HTML),
            b"li\t@id\t\tnosuch@title\n" + HTML[0],
            b"*\t@id\ta\tp\n" + b"<div id=1>" * 20,
            b"li:nth-child(2)\ta\t@href\ta@src\n" + HTML[0],
            b"$.jobs[*]\tid\n" + HTML[0],
            b"li\ta\n" + b"<li><a>" + b"x" * 1500 + b"</a>",
            b"p\tb\n<title>Just a moment...</title>Checking your browser before accessing",
        ),
        once=(b"p\t@x\n" + b"<p>" * (MOST_ITEMS + 1),),
        modules=(
            "recrawl.parse.items.html",
            "recrawl.parse.items.item",
            "recrawl.listings.live.pages",
        ),
        tokens=(*HTML_TOKENS, b"\t", b"li", b"a@href", b"@id", b":not(", b"[x='", b">", b"*"),
        real=("html",),
    ),
    Parser(
        "json items",
        _read_json_items,
        seeds=(
            JSON_PAGE,
            JSON_PAGE.replace(b"$.jobs[*]", b"jobs"),
            b'[*]\ta\n[{"a": 1}, {"a": "\\ud800"}, {"a": 1e999}]',
            b'$\tid\n{"id": "' + b"x" * 1500 + b'"}',
            b"li.job\ta@href\n{}",
            b'*\ta["b c"]\t[0]\n{"x": {"a": {"b c": {"z": 1, "y": []}}}}',
        ),
        once=(b"$[*]\tid\n[" + b"1," * MOST_ITEMS + b"1]",),
        modules=("recrawl.parse.items.json", "recrawl.parse.items.json_paths"),
        tokens=tuple(
            b'$ .* [*] [0] [-1] [" "] id jobs { } [ ] : , true null 1e999 \\ud800 " \t'.split(b" ")
        ),
        generate=generator(
            {
                "all": ["<path>\t<path>\t<path>\t<path>\n<json>", "$[*]\tid\n[<members>]"],
                "path": [
                    "jobs",
                    "$.jobs[*]",
                    "$[*]",
                    "id",
                    "$",
                    "a.b",
                    "[0]",
                    "[-1]",
                    "*",
                    "a['b']",
                ],
                "json": [
                    "1",
                    "{<pairs>}",
                    "[<members>]",
                    '"x"',
                    "true",
                    "null",
                    "1e400",
                    '"\\ud8"',
                ],
                "pairs": ['"id": <json>', '"jobs": <json>, <pairs>', '"a": <json>, <pairs>', ""],
                "members": ["<json>", "<json>, <members>", '{"id": <json>}, <members>', ""],
            },
            "all",
        ),
    ),
    Parser(
        "links",
        _read_links,
        seeds=HTML,
        once=(b"".join(b"<a href=/%d>" % number for number in range(MOST_LINKS + 1)),),
        modules=("recrawl.parse.links",),
        tokens=HTML_TOKENS,
        real=("html",),
    ),
    Parser(
        "robots",
        _read_robots,
        seeds=(
            ROBOTS,
            ROBOTS.replace(b"\n", b"\r"),
            b"User-agent: recrawl\nDisallow: /*a*b*c$\nDisallow:\nAllow: /%c3%a9\n" * 3,
            b"User-agent: *\n" + b"Disallow: /*\n" * 1001,
            b"\xef\xbb\xbfuser agent *\ndisallow /a\nsite-maps https://example.org/s.xml",
            b"\x00\xc8User-agent: bot\nDisallow: /",
            b"\x01\xad",
        ),
        once=(b"User-agent: other\n" * 40_000,),
        modules=("recrawl.parse.robots",),
        tokens=tuple(
            b"User-agent: * Disallow: Allow: / $ Crawl-delay: Sitemap: recrawl # : nan inf 1e400 "
            b"-1 Host: Noindex: Clean-param: Request-rate: 1/0 Visit-time: %2F %zz /1.0 bot".split()
        ),
        real=("robots",),
        generate=generator(
            {
                "all": ["<line>", "<line>\n<all>", "<line>\r\n<all>", "<line>\n<all>"],
                "line": [
                    "User-agent: <agent>",
                    "Disallow: <path>",
                    "Allow: <path>",
                    "<key>: <value>",
                    "Sitemap: https://example.org<path>",
                    "# <value>",
                    "<key> <value>",
                    "",
                ],
                "agent": ["*", "recrawl", "bot/1.0 (x)", "rec*", "Recrawl # x", ""],
                "key": [
                    "Crawl-delay",
                    "Disallow ",
                    "Host",
                    "site-map",
                    "useragent",
                    "Request-rate",
                ],
                "path": ["/", "/a", "/*<path>", "/a$", "/%C3%A9<path>", "", "*", "\u2028/b"],
                "value": ["1", "nan", "1e9", "-1", "example.org", "10s", "1/5", "<path>"],
            },
            "all",
        ),
    ),
)
