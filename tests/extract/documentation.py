"""Documentation that Debian ships, and what each of its generators calls navigation.

Where the main part of a page begins is told by the markup of its generator, which no extractor is
told of: an independent count. Without the packages there are no pages.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

ROOT = Path("/usr/share")


@dataclass(frozen=True)
class Manual:
    """Pages of one generator.

    Args:
        name: What it is.
        pages: Pattern of its files below `/usr/share`.
        main: XPath of the main part.
        outside: XPath, within the page, of what is navigation.
    """

    name: str
    pages: str
    main: str
    outside: str


def _class(*names: str) -> str:
    return " or ".join(f"contains(concat(' ', @class, ' '), ' {name} ')" for name in names)


MANUALS = (
    Manual(
        "PostgreSQL",
        "doc/postgresql-doc-*/html/*.html",
        "//body",
        f"//div[{_class('navheader', 'navfooter')}]",
    ),
    Manual("git", "doc/git/html/*.html", "//body", "//div[@id='footer']"),
    Manual(
        "Apache",
        "doc/apache2-doc/manual/en/**/*.html",
        "//div[@id='page-content']",
        "//div[@id='page-header' or @id='path' or @id='footer' or @id='quickview' or "
        f"{_class('up', 'toplang', 'bottomlang', 'top')}]",
    ),
    Manual(
        "Sphinx",
        "doc/debian-policy/policy.html/*.html",
        "//div[@role='main']",
        f"//div[{_class('related', 'sphinxsidebar', 'footer')}]",
    ),
    Manual(
        "Sphinx of another",
        "developers-reference/*.html",
        "//div[@role='main']",
        f"//div[{_class('related', 'sphinxsidebar', 'footer')}]",
    ),
    Manual(
        "DocBook",
        "debian-reference/*.en.html",
        "//body",
        f"//div[{_class('navheader', 'navfooter')}]",
    ),
)


def pages_of(manual: Manual, most: int) -> list[Path]:
    """Some of its pages, the same each time: links, and files of a few words, are none."""
    found = sorted(
        path for path in ROOT.glob(manual.pages) if 3_000 < path.stat().st_size < 400_000
    )
    random.Random(manual.name).shuffle(found)  # noqa: S311 # chance need not be secret
    return found[:most]


@dataclass
class Parts:
    """What a page has, as texts with white space collapsed."""

    headings: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


_SIGNS = re.compile("[¶#]\\s*$")


def squeezed(text: str) -> str:
    """Text without white space and what nobody sees."""
    return "".join(text.replace("\u200b", "").replace("\xad", "").split())


def text_of(element) -> str:
    """Text of an element, white space collapsed, without the sign of its permanent link."""
    return _SIGNS.sub("", " ".join("".join(element.itertext()).split())).strip()


def show_images(tree) -> None:
    """Put what images say into the text."""
    for image in tree.iter("img"):
        image.text = f" {image.get('alt') or ''} "


def parse(page: bytes):
    """Tree of a page."""
    return etree.HTML(page, etree.HTMLParser(remove_comments=True))


def parts_of(tree, manual: Manual, name: str) -> Parts:
    """Count what the main part has, and what stands outside of it. The tree is changed."""
    for unseen in tree.xpath("//script | //style | //button | //head"):
        unseen.clear(keep_tail=True)
    show_images(tree)
    parts = Parts()
    for outside in tree.xpath(manual.outside):
        parts.outside += [text_of(link) for link in outside.iter("a", "p", "th", "td")]
        outside.clear(keep_tail=True)
    main = tree.xpath(manual.main)
    if not main:
        return Parts()
    main = main[0]
    whole = squeezed("".join(main.itertext()))
    parts.outside = [t for t in set(parts.outside) if len(t) > 2 and squeezed(t) not in whole]
    parts.headings = [text_of(each) for each in main.iter("h1", "h2", "h3", "h4", "h5", "h6")]
    for row in main.iter("tr"):
        table = next(row.iterancestors("table"), None)
        if (
            table is None
            or next(row.iter("table"), None) is not None
            or len(list(table.iter("tr"))) < 2
        ):
            continue
        cells = [text_of(cell) for cell in row if cell.tag in ("td", "th")]
        parts.rows.append([cell for cell in cells if cell])
    parts.codes = [
        "".join(each.itertext()) for each in main.iter("pre") if not list(each.iterancestors("td"))
    ]
    parts.items = [
        " ".join("".join(own_texts(each)).split())
        for each in main.iter("li")
        if not is_only_inward(each, name)
    ]
    parts.headings, parts.items = ([t for t in some if t] for some in (parts.headings, parts.items))
    parts.rows = [row for row in parts.rows if row]
    parts.codes = [code for code in parts.codes if code.strip()]
    return parts


def own_texts(item):
    """Texts of the first paragraph of an item."""
    inner = {"ul", "ol", "dl", "pre", "table", "p", "div"}
    yield item.text or ""
    for child in item:
        if child.tag in inner:
            if child.tag in ("p", "div") and not (item.text or "").strip():
                yield "".join(own_texts(child))
            return
        yield "".join(child.itertext())
        yield child.tail or ""


def is_only_inward(item, name: str) -> bool:
    """Whether an item is nothing but a link to a heading of its own page, which it repeats."""
    links = list(item.iter("a"))
    text = squeezed("".join(item.itertext()))
    inward = [a for a in links if (a.get("href") or "").removeprefix(name).startswith("#")]
    return bool(inward) and squeezed("".join(t for a in inward for t in a.itertext())) == text
