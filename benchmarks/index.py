"""What an edit of a page costs an index of chunks: by the feed, by page, and all anew.

    python -m benchmarks.index

Pages of Debian's documentation packages, as `tests/extract/documentation.py` chooses them, are
edited one at a time: a sentence is added, a section comes, goes, is renamed or changes places with
the next one, a page has another title. For each edit are counted

- by the feed: chunks to write and to delete by their ids and hashes, as the examples do, and how
  many of those to write have a text that the index does not have yet, and must be embedded;
- by page: all chunks of the page deleted and written;
- all anew: every chunk of every page written.

Beside that, what a list of chunks takes in a store (`chunks = true` in `[feed]`).

Touches: reads `/usr/share`; a temporary folder.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lxml import etree  # type: ignore[import-untyped] # ships no types

from recrawl.entries.entries import PageEvent, PagesFound, VisitMade
from recrawl.extract import chunks_of, manifest_of, read_content
from recrawl.store import create_store
from recrawl.visits.status import FeedKind, VisitOutcome
from tests.extract.documentation import HEADINGS, edited, pages, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.extract.tree import Element
    from tests.extract.documentation import Manual

ADDRESS = "https://docs.example.org/"
WORDS = "Seven zebrafish swam by"
FEWEST = 200


def chunks(page: bytes, name: str) -> dict[str, str]:
    """Hash of each chunk of a page, by its id."""
    content = read_content(page, "text/html", ADDRESS + name)
    assert content is not None
    return {chunk.id: chunk.hash for chunk in chunks_of(content)}


def versions(page: bytes, manual: Manual, name: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Each edit of a page: its kind, the page before, the page after."""
    sentence = edited(page, manual, name, "paragraph")
    if sentence is not None:
        yield "sentence", *sentence
    for kind, edit in EDITS.items():
        tree = parse(page)
        before = etree.tostring(tree, method="html", encoding="utf-8")
        found = sections(tree, manual)
        if found and edit(*found):
            yield kind, before, etree.tostring(tree, method="html", encoding="utf-8")


def sections(tree: Element, manual: Manual) -> tuple[Element, list[list[Element]]] | None:
    """Title of a page, and its sections as elements in a row; None where it has fewer than three.

    Sections are those of the outermost headings below the title that are of one level.
    """
    main = tree.xpath(manual.main)
    outside = {each for some in tree.xpath(manual.outside) for each in some.iter()}
    inside = [each for each in (main[0].iter(*HEADINGS) if main else ()) if each not in outside]
    levels = Counter(each.tag for each in inside[1:])
    level = next((level for level in HEADINGS if levels[level] > 2), None)
    if level is None:
        return None
    rows = [section(each) for each in inside[1:] if each.tag == level]
    rows = [row for row in rows if row[0].getparent() is rows[1][0].getparent()]
    return (inside[0], rows) if len(rows) > 2 else None


def section(heading: Element) -> list[Element]:
    """Elements of a section: what is around it, or its heading and what follows up to the next."""
    around = heading
    while (parent := around.getparent()) is not None and parent.tag in ("div", "section"):
        others = [each for each in parent.iter(heading.tag) if each is not heading]
        if others or parent[0] is not around or (parent.text or "").strip():
            break
        around = parent
    row = [around]
    if len("".join(around.itertext())) > 2 * len("".join(heading.itertext())):
        return row
    for each in around.itersiblings():
        if each.tag in HEADINGS[: HEADINGS.index(heading.tag) + 1]:
            break
        if next(each.iter(*HEADINGS[: HEADINGS.index(heading.tag) + 1]), None) is not None:
            break
        row.append(each)
    return row


def insert(_: Element, rows: list[list[Element]]) -> bool:
    made = etree.fromstring(f"<div><h2>{WORDS}</h2><p>{WORDS}, and nobody saw them.</p></div>")
    made[0].tag = heading_of(rows[1]).tag
    rows[1][0].addprevious(made)
    return True


def delete(_: Element, rows: list[list[Element]]) -> bool:
    for each in rows[1]:
        each.getparent().remove(each)
    return True


def rename(_: Element, rows: list[list[Element]]) -> bool:
    return retitle(heading_of(rows[1]), rows)


def retitle(title: Element, _: list[list[Element]]) -> bool:
    inner = [each for each in title.iter() if (each.text or "").strip()]
    if inner:
        inner[0].text = f"{WORDS}: {inner[0].text}"
    return bool(inner)


def swap(_: Element, rows: list[list[Element]]) -> bool:
    for each in rows[2]:
        rows[1][0].addprevious(deepcopy(each))
        each.getparent().remove(each)
    return True


def heading_of(row: list[Element]) -> Element:
    return next(each for part in row for each in part.iter(*HEADINGS))


EDITS = {
    "section inserted": insert,
    "section deleted": delete,
    "section renamed": rename,
    "title changed": retitle,
    "sections swapped": swap,
}


def list_bytes(some: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Mean bytes that the list of a page's chunks takes in a store, and its body."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pages.db"
        with create_store(path) as store:
            addresses = [f"{ADDRESS}{number}/{name}" for number, (name, _) in enumerate(some)]
            rows = len(some)
            store.write([PagesFound(addresses, ["docs.example.org"] * rows, [0] * rows, 0.0)])
            for number, (_, page) in enumerate(some):
                content = read_content(page, "", addresses[number])
                assert content is not None
                event = PageEvent(FeedKind.NEW, 0.0, manifest=manifest_of(content))
                made = VisitMade(number, 0.0, VisitOutcome.FIRST, body=page, event=event)
                store.write([made])
        with closing(sqlite3.connect(path)) as connection:
            ((lists,),) = connection.execute("select avg(length(data)) from manifests")
            ((bodies,),) = connection.execute("select avg(length(data)) from bodies")
    return lists, bodies


def main() -> None:
    some = [(manual, path.name, path.read_bytes()) for manual, path in pages()]
    assert len(some) >= FEWEST, "needs the packages of tests/extract/documentation.py"
    everything = sum(len(chunks(page, name)) for _, name, page in some)
    print(f"{len(some)} pages, {everything:,} chunks; each edit: mean per page")
    columns = ("edits", "written", "deleted", "embedded", "page written", "page deleted")
    print(f"{'':20}" + "".join(f"{column:>14}" for column in columns) + f"{'all anew':>14}")
    counts: dict[str, Counter[str]] = {}
    for manual, name, page in some:
        for kind, old, new in versions(page, manual, name):
            before, after = chunks(old, name), chunks(new, name)
            written = [each for each in after if before.get(each) != after[each]]
            known = set(before.values())
            counts.setdefault(kind, Counter()).update(
                {
                    "edits": 1,
                    "written": len(written),
                    "deleted": len(before.keys() - after.keys()),
                    "embedded": sum(after[each] not in known for each in written),
                    "page written": len(after),
                    "page deleted": len(before),
                }
            )
    for kind, count in counts.items():
        means = "".join(f"{count[column] / count['edits']:14.2f}" for column in columns[1:])
        print(f"{kind:20}{count['edits']:14}{means}{everything:14,}")
    lists, bodies = list_bytes([(name, page) for _, name, page in some])
    print(f"a list takes {lists:,.0f} bytes per page, a body {bodies:,.0f}")


if __name__ == "__main__":
    main()
