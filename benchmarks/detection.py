"""What it costs to tell whether a page changed, over parsing it, measured in one run.

    python benchmarks/detection.py                   pages of 40 kB
    python benchmarks/detection.py --size 200000 --rounds 30
    python benchmarks/detection.py --corpus 3        how often it is wrong, with three seeds

Three pages are read: a *shop* as shops and newspapers write them, a third of it scripts and styles,
with menus, cards, images and typographic signs; *prose*, nearly all text; and *links*, a list with
little else. Bytes in, verdict out, by the very steps of a visit of a crawl: decoding, what a reader
sees, whether that is a wall, masks, signatures, and where these differ the share of words that
differ. What is known of the copy comes packed from the row of a store and is unpacked each time.
*Edited* pages differ from the copy in the addresses of style sheets, and in what their name says;
they must cost at most 1.5 times what one parse by our own parser does, which splits a page into
text and tags. Other figures are for comparison: pages that differ everywhere, pages that must be
read as a whole, and copies of which less is known. Peers parse the same bytes once to a tree and do
nothing else. Each figure is the least processor time of many rounds, in which all take turns.

The corpus is that of `tests/detect`: noise that is called a change, changes that are missed, and
lines that are added right beside a block of varying length.

Touches: nothing.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import lxml.html
from before_after import record
from resiliparse.parse.html import HTMLTree

from recrawl.detect.change import read_lines
from recrawl.detect.masks.masks import NO_MASKS, learn_masks
from recrawl.detect.reading import Criteria, ReadPage, read_response
from recrawl.detect.text.markup import TOKEN
from recrawl.detect.verdict import (
    PageFacts,
    verdict_by_content,
    verdict_by_signature,
    verdict_unread,
)
from recrawl.entries.records import VersionLines
from recrawl.parse.encodings import decoded
from recrawl.parse.messages import Response
from recrawl.store.rows.body_lines import lines_in, text_kept
from recrawl.store.rows.packing import packed, packed_beside
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.detect.masks.masks import Masks
    from recrawl.detect.verdict import Verdict
    from recrawl.entries.entries import Copy

    # What a store has of the old version: its lines, its body alone, or nothing.
    Kept = Callable[[], VersionLines | bytes | None]

sys.path.insert(0, str(Path(__file__).parent.parent))

MOST_RATIO = 1.5  # times one parse by our own parser
HEADER = "text/html; charset=utf-8"
ADDRESS, AT = "https://shop.example/", 1.8e9
CRITERIA = Criteria()
LETTERS = "abcdefghijklmnopqrstuvwxyzéü"
MASKS = 12
# Pages that differ from their copy in some places: those that must cost little.
EDITED = (
    "equal text",
    "equal text, 12 masks",
    "changed",
    "changed, 12 masks",
    "changed at both ends, 12 masks",
)


class Writer:
    """Writes pages at random, but the same each time."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 # chance need not be secret
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
    shape: str,
    size: int,
    *,
    clock: int = 1,
    price: str = "19.99",
    build: str = "a1",
    seed: int = 1,
) -> bytes:
    """A page; with another clock, all that is new at each fetch is new; a seed gives a page."""
    writer = Writer(seed)
    script, body = SHAPES[shape]
    parts = [writer.head(build, int(script * size)), '<body class="page home">\n<nav><ul>\n']
    parts += [writer.link() for _ in range(30)]
    parts.append('</ul></nav>\n<main id="main">\n')
    parts.append(f"<h1>{writer.words(6)}</h1><p>Price: <b>{price}</b></p>\n")
    parts += [f"<p>{writer.words(2)} {number}: {clock + number}</p>\n" for number in range(MASKS)]
    while sum(map(len, parts)) < size:
        parts += [body(writer) for _ in range(5)]
    return "".join([*parts, "</main>\n</body>\n</html>\n"]).encode()


def told(body: bytes, copy: Copy, masks: Masks, kept: Kept) -> Verdict:
    """As a crawl does it: bytes first, then what a reader sees, and only then the old version."""
    response = Response(ADDRESS, 200, {"content-type": HEADER}, body)
    settled = verdict_unread(ADDRESS, response, copy)
    if settled is not None:
        return settled
    version, known = kept(), PageFacts(copy, masks)
    now = read_response(
        response, CRITERIA, kept=version if isinstance(version, VersionLines) else None
    )
    settled = verdict_by_signature(ADDRESS, response, now, known)
    if settled is not None:
        return settled
    old = None
    if isinstance(version, VersionLines):
        old = ReadPage(version.lines)
    elif version is not None:
        old = read_response(response, CRITERIA, version)
    return verdict_by_content(ADDRESS, response, now, known, CRITERIA, old=old, at=AT)


def first(body: bytes, masks: Masks, *, keeps: bool = True) -> Verdict:
    """The first visit to a page."""
    response = Response(ADDRESS, 200, {"content-type": HEADER}, body)
    known = PageFacts(None, masks, keeps=keeps)
    read = read_response(response, CRITERIA)
    return verdict_by_content(ADDRESS, response, read, known, CRITERIA, old=None, at=AT)


def row_of(verdict: Verdict) -> tuple[bytes, int, bytes, int, bytes]:
    """What a store keeps of a version."""
    assert verdict.lines is not None
    assert verdict.body is not None
    text = text_kept(verdict.lines)
    packed_lines = packed_beside(text, verdict.body)
    return verdict.lines.reading, len(text), packed_lines, len(verdict.body), packed(verdict.body)


def cases(shape: str, size: int) -> dict[str, tuple[Callable[[], Verdict], VisitOutcome]]:
    """What is done with each page, and what must come of it."""
    old = made(shape, size)
    lines = read_lines(decoded(old, HEADER), html=True)
    masks = learn_masks(lines, read_lines(decoded(made(shape, size, clock=77)), html=True))
    assert len(masks.masks) >= MASKS, masks
    plain, masked = first(old, NO_MASKS), first(old, masks)
    unkept = first(old, masks, keeps=False).copy
    row = row_of(plain)
    other = made(shape, size, build="b2")
    noisy = made(shape, size, build="b2", clock=5555)
    changed = made(shape, size, build="b2", price="21.99")
    both = made(shape, size, build="b2", price="21.99", clock=5555)
    tail = both.replace(b"</main>", b"<p>Made in 0.03 s</p></main>")
    rewritten = made(shape, size, build="b2", seed=2)
    assert plain.copy is not None
    assert masked.copy is not None
    assert unkept is not None

    def unpacked() -> VersionLines:
        return lines_in(*row)

    def uncut() -> VersionLines:
        return replace(lines_in(*row), cuts="")

    def case(body: bytes, copy: Copy, masks: Masks, kept: Kept) -> Callable[[], Verdict]:
        return lambda: told(body, copy, masks, kept)

    same, cosmetic, change = VisitOutcome.SAME, VisitOutcome.COSMETIC, VisitOutcome.CHANGED
    return {
        "equal bytes": (case(old, plain.copy, NO_MASKS, unpacked), same),
        "equal text": (case(other, plain.copy, NO_MASKS, unpacked), cosmetic),
        "equal text, 12 masks": (case(noisy, masked.copy, masks, unpacked), cosmetic),
        "changed": (case(changed, plain.copy, NO_MASKS, unpacked), change),
        "changed, 12 masks": (case(both, masked.copy, masks, unpacked), change),
        "changed at both ends, 12 masks": (case(tail, masked.copy, masks, unpacked), change),
        "rewritten": (case(rewritten, plain.copy, NO_MASKS, unpacked), change),
        "changed, 12 masks, all read": (case(both, masked.copy, masks, uncut), change),
        "changed, old body read": (case(changed, plain.copy, NO_MASKS, lambda: old), change),
        "changed, old text not at hand": (case(both, unkept, masks, lambda: None), change),
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


def shown(shape: str, size: int, rounds: int) -> bool:
    """Measure a page, print what was found, and return whether edited pages cost little enough."""
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
        record(f"{shape}, {name}: ms of processor", best[name])
        ratios = {peer: best[name] / best[peer] for peer in peers}
        print(
            f"  {name:34}{best[name]:8.3f}{ratios['resiliparse']:16.2f}{ratios['lxml']:9.2f}"
            f"{ratios['our parser']:15.2f}{'' if name in EDITED else '  (not judged)'}"
        )
    worst = max(EDITED, key=best.__getitem__)
    ratio = best[worst] / best["our parser"]
    verdict = "holds" if ratio <= MOST_RATIO else "FALLS SHORT"
    print(f"  {verdict}: at most {ratio:.2f} parses ({worst}), {MOST_RATIO} asked\n")
    return ratio <= MOST_RATIO


def corpus(seeds: int) -> None:
    """Print how often noise is called a change, and how often changes are missed."""
    from tests.detect import test_corpus as pages
    from tests.detect.beside_blocks import BESIDE, is_found_beside
    from tests.detect.changes import EDITS
    from tests.detect.corpus import LANGUAGES
    from tests.detect.noises import NOISES

    false: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    tried = 0
    for seed in range(seeds):
        for kind in NOISES:
            for language in LANGUAGES:
                false[kind] += pages.falsely_changed([kind], language, seed)
        for kind in EDITS:
            for language in LANGUAGES:
                found = pages.is_found(kind, language, seed)
                tried += found is not None
                missed[kind] += found is False
    visits = seeds * len(NOISES) * len(LANGUAGES) * pages.VISITS
    print(f"noise called a change: {false.total()} of {visits:,} visits", rate(false, visits))
    print(f"changes missed: {missed.total()} of {tried:,}", rate(missed, tried))
    for kind in BESIDE:
        found_beside = [
            is_found_beside(kind, language, seed)
            for language in LANGUAGES
            for seed in range(8 * seeds)
        ]
        lost = found_beside.count(False)
        print(f"{kind}: missed {lost} of {len(found_beside)}, {lost / len(found_beside):.2%}")


def rate(counts: Counter[str], of: int) -> str:
    """The share of all, and what it is made of."""
    worst = ", ".join(f"{kind} {count}" for kind, count in counts.most_common(6) if count)
    return f"({counts.total() / of:.3%}; {worst or 'none'})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=40_000, help="bytes of a page")
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--corpus", type=int, metavar="SEEDS", help="measure errors, not time")
    chosen = options.parse_args()
    if chosen.corpus:
        corpus(chosen.corpus)
        return
    held = [shown(shape, chosen.size, chosen.rounds) for shape in SHAPES]
    print("all hold" if all(held) else "not all hold")


if __name__ == "__main__":
    main()
