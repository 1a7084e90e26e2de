"""Content of the demo's site: pages, robots.txt, sitemaps and feed.

A new version of a page replaces one of its paragraphs, as an editor would. The sitemaps also name
pages that are gone, one that has moved, and a folder that robots.txt forbids.

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recrawl.demo.world import SECTIONS, Says
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.demo.world import ExampleWorld

FORBIDDEN = "/private/"
GONE = ("/docs/retired-1", "/docs/retired-2", "/jobs/filled")
MOVED = {"/archive/old-address": "/archive/1"}
WALL = (
    "<!doctype html><title>Just a moment...</title><h1>Checking your browser</h1>"
    "<p>Please turn on JavaScript and cookies to continue.</p>"
)
HIDDEN = tuple(f"{FORBIDDEN}{number}" for number in (1, 2, 3))

FEED = "/feed.xml"
SITEMAP = "/sitemap.xml"
_NEWEST = 10  # entries of the feed

_PARAGRAPHS, _SENTENCES = 5, 5
_OFFERS = (
    *("Umbrellas, half price.", "Fresh rolls until noon.", "Learn to sail in a week."),
    *("Chairs repaired. Ask at the harbour.", "Wanted: a used accordion."),
)
_WHO = (
    *("The council", "A reader", "The library", "Our editor", "The harbour master", "A neighbour"),
    *("The night train", "The baker", "An old committee", "The museum", "A team", "The choir"),
)
_DID = (
    *("has reopened", "is looking for", "will repair", "no longer needs", "has counted", "paints"),
    *("moved", "has measured", "asks about", "is proud of", "forgot", "keeps a list of"),
)
_WHAT = (
    *("the iron bridge", "forty wooden chairs", "the clock in the square", "a map of the valley"),
    *("the last tram stop", "every lamp in the street", "a box of letters", "the school garden"),
    *("two hundred apple trees", "the ferry timetable", "a leaking roof", "the town's oldest well"),
)
_WHEN = (
    *("since Monday", "before the rain came", "after a long debate", "for the third time"),
    *("without telling anyone", "at half the price", "until further notice", "in broad daylight"),
)


def paragraphs(seed: int, page: int, version: int) -> list[str]:
    """Text of a version of a page, which differs from the version before in one paragraph.

    Examples:
        >>> old, new = paragraphs(1, 7, version=3), paragraphs(1, 7, version=4)
        >>> sum(one != other for one, other in zip(old, new, strict=True))
        1
    """
    return [
        _paragraph(seed, page, place, edition=(version + _PARAGRAPHS - 1 - place) // _PARAGRAPHS)
        for place in range(_PARAGRAPHS)
    ]


# A page differs from its last version in one paragraph, and is mostly asked for as it was.
@lru_cache(maxsize=4096)
def _paragraph(seed: int, page: int, place: int, edition: int) -> str:
    random = np.random.default_rng((seed, page, place, edition))
    parts = (_WHO, _DID, _WHAT, _WHEN)
    chosen = [random.integers(0, len(part), _SENTENCES) for part in parts]
    sentences = [
        " ".join(part[number] for part, number in zip(parts, numbers, strict=True)) + "."
        for numbers in zip(*chosen, strict=True)
    ]
    # The number tells two editions apart whose random sentences are the same.
    return f"{' '.join(sentences)} (No. {edition + 1})"


def page_html(
    world: ExampleWorld, page: int, version: int, token: str = "", number: int | None = None
) -> str:
    """A page as HTML.

    Args:
        world: The world.
        page: Its row.
        version: Which version.
        token: Text hidden in an attribute; empty for none.
        number: Random number that noise is derived from; None for no noise.
    """
    section = SECTIONS[world.section[page]]
    title = f"{section.name.capitalize() or 'The example site'} {world.path[page].strip('/')}"
    text = "\n".join(f"<p>{each}</p>" for each in paragraphs(world.seed, page, version))
    if number is not None:
        text = _with_noise(text, number)
    hidden = f' data-token="{token}"' if token else ""
    return (
        f"<!doctype html>\n<html lang=en{hidden}>\n<meta charset=utf-8>\n"
        f"<title>{title}</title>\n"
        f'<link rel="alternate" type="application/atom+xml" href="{FEED}">\n'
        f"<nav>{_menu()}</nav>\n<main>\n<h1>{title}</h1>\n{text}\n</main>\n</html>\n"
    )


def _with_noise(text: str, number: int) -> str:
    """A page's text with a clock, an advertisement and a counter, which differ on each visit."""
    clock = f"{number % 24:02d}:{number // 24 % 60:02d}:{number // 1440 % 60:02d}"
    offer = _OFFERS[number % len(_OFFERS)]
    return (
        f"<p>It is {clock} by the town clock.</p>\n{text}\n<aside><h2>Advertisement</h2>"
        f"<p>{offer}</p></aside>\n<p>Reader number {number:,} of this page.</p>"
    )


def _menu() -> str:
    names = [section.name for section in SECTIONS if section.name]
    links = [f'<a href="/{name}/1">{name.capitalize()}</a>' for name in names]
    return " ".join(['<a href="/">Home</a>', *links, f'<a href="{HIDDEN[0]}">Staff only</a>'])


def robots_text(origin: str) -> str:
    """The robots.txt of a host.

    >>> print(robots_text("http://127.0.0.1:80"), end="")
    User-agent: *
    Disallow: /private/
    Sitemap: http://127.0.0.1:80/sitemap.xml
    """
    return f"User-agent: *\nDisallow: {FORBIDDEN}\nSitemap: {origin}{SITEMAP}\n"


def sitemap_index(origin: str, host: int = 0) -> str:
    """The sitemap index of a host, with one sitemap per section."""
    rows = [row for row, section in enumerate(SECTIONS) if section.host == host]
    places = [f"<sitemap><loc>{origin}{sitemap_of(row)}</loc></sitemap>" for row in rows]
    return _xml("sitemapindex", places)


def sitemap_of(section: int) -> str:
    """Path of the sitemap of a section.

    >>> sitemap_of(1)
    '/sitemaps/news.xml'
    """
    return f"/sitemaps/{SECTIONS[section].name or 'home'}.xml"


def sitemap(world: ExampleWorld, section: int, origin: str, now: float) -> str:
    """The sitemap of a section: its pages, and some that are gone, moved or forbidden.

    A section that denies its changes dates all pages by the current time.
    """
    pages = np.flatnonzero(world.section == section).tolist()
    made = SECTIONS[section].says is Says.DENIES
    own = [(world.path[page], now if made else world.changed_at(page, now)) for page in pages]
    start = f"/{SECTIONS[section].name}/"
    old = [(path, world.start) for path in (*GONE, *MOVED) if path.startswith(start)]
    hidden = [(path, world.start) for path in HIDDEN if not SECTIONS[section].name]
    return _xml(
        "urlset",
        (
            f"<url><loc>{origin}{path}</loc><lastmod>{_date(at)}</lastmod></url>"
            for path, at in (*own, *old, *hidden)
        ),
    )


def feed(world: ExampleWorld, origin: str, now: float) -> str:
    """The feed: the newest news, and a page that robots.txt forbids."""
    news = np.flatnonzero(world.section == 1).tolist()
    changed = sorted(((world.changed_at(page, now), page) for page in news), reverse=True)
    entries = [(world.path[page], at) for at, page in changed[:_NEWEST]] + [(HIDDEN[-1], now)]
    parts = (
        f'<entry><id>{origin}{path}</id><title>{path.strip("/")}</title><link href="{path}"/>'
        f"<updated>{_date(at)}</updated></entry>"
        for path, at in entries
    )
    head = f"<id>{origin}/</id><title>News</title><updated>{_date(now)}</updated>"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"{head}\n{''.join(parts)}</feed>\n"
    )


def _xml(root: str, parts: Iterable[str]) -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<{root} '
        f'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{"".join(parts)}</{root}>\n'
    )


def _date(days: float) -> str:
    seconds = np.datetime64(int(days * SECONDS_A_DAY), "s")
    return f"{seconds}Z"
