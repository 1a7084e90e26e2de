"""What it costs to tell whether a page changed, over parsing it, measured in one run.

    python benchmarks/detection.py                   pages of 40 kB
    python benchmarks/detection.py --size 200000 --rounds 30

Three pages are read: a *shop* as shops and newspapers write them, a third of it scripts and styles,
with menus, cards, images and typographic signs; *prose*, nearly all text; and *links*, a list with
little else. Bytes in, outcome out, as a visit of a crawl does it. Decoding, what a reader sees,
whether that is a wall, masks, signatures, and where these differ the share of words that differ,
all count; the lines of the copy are at hand but where it says that they are unpacked, as a crawl
has them from its store, or that the old body is read again. Peers parse the same bytes once to a
tree and do nothing else; the last column is our own parser, which splits a page into text and tags.
Each figure is the least processor time of many rounds, in which all take turns.

Touches: nothing.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import TYPE_CHECKING

import lxml.html
from resiliparse.parse.html import HTMLTree
from xxhash import xxh3_64_digest

from recrawl.detect.change import Change, OldVersion, compare, read_lines
from recrawl.detect.change import signature as signed
from recrawl.detect.masks.masks import NO_MASKS, apply_masks, learn_masks
from recrawl.detect.simhash import simhash
from recrawl.detect.text.markup import TOKEN
from recrawl.detect.walls.walls import detect_wall
from recrawl.parse.encodings import decoded
from recrawl.store.rows.body_lines import lines_in
from recrawl.store.rows.packing import packed, packed_beside
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.detect.masks.masks import Masks

MOST_RATIO = 1.5  # times parsing
HEADER = "text/html; charset=utf-8"
LETTERS = "abcdefghijklmnopqrstuvwxyzéü"
MASKS = 12


class Writer:
    """Writes pages at random, but the same each time."""

    def __init__(self) -> None:
        self.chance = random.Random(1)  # noqa: S311 # chance need not be secret
        known = ("".join(self.chance.choices(LETTERS, k=self.number(2, 10))) for _ in range(2500))
        self.known = [*known, "it\u2019s", "\u2013", "5 €"]

    def number(self, least: int, most: int) -> int:
        """Any number of these."""
        return self.chance.randint(least, most)

    def words(self, count: int) -> str:
        """So many words."""
        return " ".join(self.chance.choices(self.known, k=count))

    def head(self, build: str, bytes_of_script: int) -> str:
        """The beginning of a page, with a style and a script of so many bytes together."""
        metas = [
            f'  <meta property="og:{name}" content="{self.words(4)}">\n' for name in "abcdefgh"
        ]
        links = [f'  <link rel="stylesheet" href="/{name}.css?{build}">\n' for name in "abcd"]
        script = f'{{"@type": "Product", "name": "<b>{self.words(3)}", "price": 5}}, '
        style = ".card--wide > a:hover { color: #123456; margin: 0 auto } "
        half = bytes_of_script // 2
        return (
            f'<!DOCTYPE html>\n<html lang="en" class="no-js">\n<head>\n'
            f"  <title>{self.words(4)}</title>\n{''.join(metas + links)}"
            f"  <style>{(style * half)[:half]}</style>\n"
            f'  <script type="application/ld+json">[{(script * half)[:half]}]</script>\n</head>\n'
        )

    def link(self) -> str:
        """An item of a menu."""
        where = self.chance.choice(["/read/{}", "/all/{}/?page=2", "https://a.example/{}.html#top"])
        return (
            f'    <li class="menu-item item-{self.number(1, 99)}"><a class="menu-link" '
            f'href="{where.format(self.number(1, 9999))}" title="{self.words(2)}">'
            f"{self.words(2)}</a></li>\n"
        )

    def card(self) -> str:
        """A product as in a list of them."""
        number = self.number(1, 99999)
        return (
            f'  <article class="card card--wide product type-product" id="card-{number}" '
            f'data-item=\'{{"id":{number},"list":"home"}}\'>\n'
            f'    <a class="card__image" href="/item/{number}" aria-hidden="true">'
            f'<img class="lazy" src="/{number}.jpg" srcset="/{number}-2x.jpg 2x" width="320" '
            f'height="240" loading="lazy" alt="{self.words(3)}"></a>\n'
            f'    <h2 class="card__title"><a href="/item/{number}">{self.words(6)}</a></h2>\n'
            f'    <p class="card__text">{self.words(18)} <em>{self.words(1)}</em> {self.words(8)} '
            f"&amp; {self.words(3)}</p>\n"
            f'    <div class="card__foot"><span class="date">2026-01-{number % 28 + 1:02}</span> '
            f'<span class="price"><span class="sign">€</span>{number % 90}.99</span>'
            f'<button type="button" class="button button--small" data-id="{number}" disabled>'
            f'<svg class="icon" width="16" height="16"><use xlink:href="#cart"></use></svg>'
            f"{self.words(1)}</button></div>\n  </article>\n"
        )

    def paragraph(self) -> str:
        """A paragraph, broken into lines as people write it."""
        lines = "\n      ".join(self.words(12) for _ in range(self.number(3, 9)))
        link = f'<a href="/note/{self.number(1, 99)}">{self.words(2)}</a>'
        return f"    <p>{lines} {link}\n      {self.words(9)}</p>\n"


SHAPES: dict[str, tuple[float, Callable[[Writer], str]]] = {
    "shop": (0.3, Writer.card),
    "prose": (0.1, Writer.paragraph),
    "links": (0.1, Writer.link),
}


def made(
    shape: str, size: int, *, clock: int = 1, price: str = "19.99", build: str = "a1"
) -> bytes:
    """A page; with another clock, all that is new at each fetch is new."""
    writer = Writer()
    script, body = SHAPES[shape]
    parts = [writer.head(build, int(script * size)), '<body class="page home">\n<nav><ul>\n']
    parts += [writer.link() for _ in range(30)]
    parts.append('</ul></nav>\n<main id="main">\n')
    parts.append(f"<h1>{writer.words(6)}</h1><p>Price: <b>{price}</b></p>\n")
    parts += [f"<p>{writer.words(2)} {number}: {clock + number}</p>\n" for number in range(MASKS)]
    while sum(map(len, parts)) < size:
        parts += [body(writer) for _ in range(5)]
    return "".join([*parts, "</main>\n</body>\n</html>\n"]).encode()


def told(body: bytes, signature: bytes, copy: OldVersion, masks: Masks) -> Change:
    """As a crawl does it: bytes first, and only then what a reader sees."""
    if xxh3_64_digest(body) == signature:
        return Change(VisitOutcome.SAME, 0.0)
    text = decoded(body, HEADER)
    lines = read_lines(text, html=True)
    if detect_wall(200, {}, lines, text):
        return Change(VisitOutcome.WALLED, 0.0)
    return compare(copy, lines, masks)


def known(lines: tuple[str, ...], masks: Masks) -> OldVersion:
    """A copy whose lines are at hand."""
    seen = apply_masks(lines, masks)
    return OldVersion(lines, signed(seen), simhash(seen))


def anew(body: bytes, signature: bytes) -> OldVersion:
    """A copy whose version is read from where it is kept, as a crawl must where text differs."""
    return OldVersion(read_lines(decoded(body, HEADER), html=True), signature)


def from_store(row: tuple[bytes, int, bytes, int, bytes], signature: bytes) -> OldVersion:
    """A copy whose lines are unpacked from a row of a store, as a crawl does it."""
    return OldVersion(lines_in(*row).lines, signature)


def cases(shape: str, size: int) -> dict[str, tuple[Callable[[], Change], VisitOutcome]]:
    old = made(shape, size)
    lines = read_lines(decoded(old, HEADER), html=True)
    masks = learn_masks(lines, read_lines(decoded(made(shape, size, clock=77)), html=True))
    assert len(masks.masks) >= MASKS, masks
    signature = xxh3_64_digest(old)
    kept, kept_masked = known(lines, NO_MASKS), known(lines, masks)
    text = "\n".join(lines).encode()
    stored = (b"", len(text), packed_beside(text, old), len(old), packed(old))
    unkept = OldVersion(None, kept.signature, kept.simhash)
    other = made(shape, size, build="b2")
    noisy = made(shape, size, build="b2", clock=5555)
    changed = made(shape, size, build="b2", price="21.99")
    both = made(shape, size, build="b2", price="21.99", clock=5555)
    return {
        "equal bytes": (lambda: told(old, signature, kept, NO_MASKS), VisitOutcome.SAME),
        "equal text": (lambda: told(other, signature, kept, NO_MASKS), VisitOutcome.COSMETIC),
        "equal text, 12 masks": (
            lambda: told(noisy, signature, kept_masked, masks),
            VisitOutcome.COSMETIC,
        ),
        "changed": (lambda: told(changed, signature, kept, NO_MASKS), VisitOutcome.CHANGED),
        "changed, 12 masks": (
            lambda: told(both, signature, kept_masked, masks),
            VisitOutcome.CHANGED,
        ),
        "changed, 12 masks, lines unpacked": (
            lambda: told(both, signature, from_store(stored, kept_masked.signature), masks),
            VisitOutcome.CHANGED,
        ),
        "changed, old body read": (
            lambda: told(changed, signature, anew(old, kept.signature), NO_MASKS),
            VisitOutcome.CHANGED,
        ),
        "changed, old text not at hand": (
            lambda: told(changed, signature, unkept, NO_MASKS),
            VisitOutcome.CHANGED,
        ),
    }


def measured(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds of each, the least of all rounds."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.process_time()
            for _ in range(5):
                run()
            best[name] = min(best[name], (time.process_time() - began) / 5 * 1000)
    return best


def shown(shape: str, size: int, rounds: int) -> None:
    """Measure a page, and print what was found."""
    body = made(shape, size, build="b2")
    text = body.decode()
    peers: dict[str, Callable[[], object]] = {
        "resiliparse": lambda: HTMLTree.parse(text),
        "lxml": lambda: lxml.html.fromstring(body),
        "our parser": lambda: TOKEN.split(text),
    }
    ours = cases(shape, size)
    for name, (tell, outcome) in ours.items():
        assert tell().outcome is outcome, (shape, name, tell())
    best = measured(peers | {name: tell for name, (tell, _) in ours.items()}, rounds)
    parsed = " and ".join(f"{best[peer]:.3f} ms by {peer}" for peer in peers)
    print(f"{shape}: {len(body):,} bytes with {body.count(b'<'):,} tags, parsed in {parsed}")
    print(f"{'':36}{'ms':>8}{'/ resiliparse':>16}{'/ lxml':>9}{'/ our parser':>15}")
    for name in ours:
        ratios = {peer: best[name] / best[peer] for peer in peers}
        more = " and ".join(peer for peer, ratio in ratios.items() if ratio > MOST_RATIO)
        mark = f"  more than {MOST_RATIO} of {more}" if more else ""
        print(
            f"  {name:34}{best[name]:8.3f}{ratios['resiliparse']:16.2f}{ratios['lxml']:9.2f}"
            f"{ratios['our parser']:15.2f}{mark}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=40_000, help="bytes of a page")
    options.add_argument("--rounds", type=int, default=60)
    chosen = options.parse_args()
    for shape in SHAPES:
        shown(shape, chosen.size, chosen.rounds)


if __name__ == "__main__":
    main()
