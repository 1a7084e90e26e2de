"""Documentation that Debian ships, and what each of its generators calls navigation.

Where the main part of a page begins is told by the markup of its generator, which no extractor is
told of: an independent count. What an extractor wrote is read by a Markdown parser of others.
Without the packages there are no pages.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree  # type: ignore[import-untyped] # ships no types

from tests.extract.reparsed import PARSER

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/usr/share")
PACKAGES = (
    *("postgresql-doc", "git-doc", "apache2-doc", "debian-policy", "developers-reference"),
    "debian-reference-en",
)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SMALLEST, _LARGEST = 3_000, 150_000
_SIGNS = re.compile("[¶#]\\s*$")
_WORDS = " Seven zebrafish swam by."


@dataclass(frozen=True)
class Manual:
    """Pages of one generator.

    Args:
        name: What it is.
        pages: Pattern of its files below `/usr/share`.
        main: XPath of the main part.
        outside: XPath of what is navigation.
        most: How many pages are taken.
    """

    name: str
    pages: str
    main: str
    outside: str
    most: int


def _class(*names: str) -> str:
    return " or ".join(f"contains(concat(' ', @class, ' '), ' {name} ')" for name in names)


_SPHINX = f"//div[{_class('related', 'sphinxsidebar', 'footer')}]"
_DOCBOOK = f"//div[{_class('navheader', 'navfooter')}]"
_APACHE = (
    "//div[@id='page-header' or @id='path' or @id='footer' or @id='quickview' or "
    f"{_class('up', 'toplang', 'bottomlang', 'top')}]"
)
MANUALS = (
    Manual("PostgreSQL", "doc/postgresql-doc-*/html/*.html", "//body", _DOCBOOK, 70),
    Manual("git", "doc/git/html/*.html", "//body", "//div[@id='footer']", 50),
    Manual(
        "Apache", "doc/apache2-doc/manual/en/**/*.html", "//div[@id='page-content']", _APACHE, 60
    ),
    Manual("Policy", "doc/debian-policy/policy.html/*.html", "//div[@role='main']", _SPHINX, 24),
    Manual("Reference", "developers-reference/*.html", "//div[@role='main']", _SPHINX, 10),
    Manual("DocBook", "debian-reference/*.en.html", "//body", _DOCBOOK, 10),
)


def pages() -> Iterator[tuple[Manual, Path]]:
    """Some pages of each manual, the same each time."""
    for manual in MANUALS:
        found = sorted(
            path for path in ROOT.glob(manual.pages) if _SMALLEST < path.stat().st_size < _LARGEST
        )
        random.Random(manual.name).shuffle(found)  # noqa: S311 # chance need not be secret
        for path in found[: manual.most]:
            yield manual, path


@dataclass
class Parts:
    """What a page has, without white space."""

    headings: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    text: str = ""


def squeezed(text: str) -> str:
    """Text without white space and what nobody sees."""
    return "".join(text.replace("\u200b", "").replace("\xad", "").split())


def text_of(element: Any) -> str:
    """Text of an element without the sign of its permanent link."""
    return squeezed(_SIGNS.sub("", "".join(element.itertext())))


def parse(page: bytes, encoding: str | None = None) -> Any:
    """Tree of a page; its encoding is what it says, if none is given."""
    parser = etree.HTMLParser(remove_comments=True, huge_tree=True, encoding=encoding)
    return etree.HTML(page, parser)


def main_part(tree: Any, manual: Manual) -> tuple[Any, list[str]]:
    """The main part of a page, and texts of what stood outside of it. The tree is changed."""
    for unseen in tree.xpath("//script | //style | //button | //head"):
        unseen.clear(keep_tail=True)
    for image in tree.iter("img"):
        image.text = f" {image.get('alt') or ''} "
    outside: set[str] = set()
    for each in tree.xpath(manual.outside):
        outside.update(text_of(part) for part in each.iter("a", "p", "th", "td"))
        each.clear(keep_tail=True)
    found = tree.xpath(manual.main)
    return (found[0] if found else None), sorted(outside)


def parts_of(page: bytes, manual: Manual, name: str) -> Parts:
    """Count what the main part of a page has, and what stands outside of it."""
    main, outside = main_part(parse(page), manual)
    if main is None:
        return Parts()
    parts = _counted(main, name)
    parts.outside = [text for text in outside if len(text) > 2 and text not in parts.text]
    return parts


def parts_of_markdown(markdown: str) -> Parts:
    """Count what Markdown has, as a parser of others reads it."""
    html = PARSER.render(markdown)
    return _counted(parse(html.encode() or b"<p>", "utf-8"), "")


def _counted(main: Any, name: str) -> Parts:
    parts = Parts(text=squeezed("".join(main.itertext())))
    parts.headings = [text_of(each) for each in main.iter(*HEADINGS)]
    parts.codes = [text_of(each) for each in main.iter("pre") if not _in_cell(each)]
    for table in main.iter("table"):
        rows = [row for row in table.iter("tr") if next(row.iter("table"), None) is None]
        if len(rows) > 1 and next(table.iter("table"), None) is table:
            parts.rows += ["".join(text_of(cell) for cell in row) for row in rows]
    parts.items = [
        squeezed("".join(_own_texts(each)))
        for each in main.iter("li")
        if not _is_only_inward(each, name)
    ]
    for some in (parts.headings, parts.codes, parts.rows, parts.items):
        some[:] = filter(None, some)
    return parts


def _in_cell(element: Any) -> bool:
    return next(element.iterancestors("td"), None) is not None


def _own_texts(item: Any) -> Iterator[str]:
    """Texts of the first paragraph of an item."""
    yield item.text or ""
    for child in item:
        if child.tag in ("ul", "ol", "dl", "pre", "table", "p", "div"):
            if child.tag in ("p", "div") and not (item.text or "").strip():
                yield from _own_texts(child)
            return
        yield "".join(child.itertext())
        yield child.tail or ""


def _is_only_inward(item: Any, name: str) -> bool:
    """Whether an item is nothing but links to headings of its own page, which it repeats."""
    inward = [
        link
        for link in item.iter("a")
        if name and (link.get("href") or "").removeprefix(name).startswith("#")
    ]
    texts = squeezed("".join(text for link in inward for text in link.itertext()))
    return bool(inward) and texts == squeezed("".join(item.itertext()))


KINDS = ("headings", "rows", "codes", "items")


def kept(page: Parts, found: Parts) -> Counter[str]:
    """How many parts of each kind a page has, and how many were found (`kind kept`)."""
    counts: Counter[str] = Counter()
    for kind in KINDS:
        there = set(getattr(found, kind))
        for text in getattr(page, kind):
            counts[kind] += 1
            counts[f"{kind} kept"] += text in there
    counts["outside"] = len(page.outside)
    counts["outside kept"] = sum(text in found.text for text in page.outside)
    return counts


EDITS = {
    "paragraph": "p",
    "heading": "h2",
    "cell": "td",
    "item": "li",
    "code": "pre",
}


def edited(page: bytes, manual: Manual, name: str, kind: str) -> tuple[bytes, bytes] | None:
    """A page before and after one sentence was added to a part of a kind; None if it has none."""
    tree = parse(page)
    main = tree.xpath(manual.main)
    outside = {each for some in tree.xpath(manual.outside) for each in some.iter()}
    found = [
        each
        for each in (main[0].iter(EDITS[kind]) if main else ())
        if each not in outside
        and "".join(each.itertext()).strip()
        and not _is_only_inward(each, name)
        and not _repeats_headings(each, name)
        and (kind == "cell" or not _in_cell(each))
    ]
    if not found:
        return None
    before = etree.tostring(tree, method="html", encoding="utf-8")
    place = found[len(found) // 2]
    inner = next((each for each in place.iter("p") if each is not place), place)
    texts = [each for each in inner if (each.tail or "").strip()]
    if texts:
        texts[-1].tail += _WORDS
    else:
        inner.text = (inner.text or "") + _WORDS
    return before, etree.tostring(tree, method="html", encoding="utf-8")


def _repeats_headings(element: Any, name: str) -> bool:
    """Whether an element is part of a table of contents of its own page."""
    return any(_is_only_inward(each, name) for each in element.iterancestors("ul", "ol", "dl"))


def moved(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many blocks went, and how many came."""
    old, new = Counter(before), Counter(after)
    return (old - new).total(), (new - old).total()
